package dbtest

import (
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

// newBoard creates a board with revision 1.
func (b *fixture) newBoard(title string) db.Board {
	b.t.Helper()
	board := db.Board{ID: uuid.NewString(), Owner: b.owner, Title: title, Items: 2, Revision: 1, Content: []byte(`{"title":"` + title + `"}`)}
	b.NoError(b.store.CreateBoard(b.ctx, board))
	return board
}

func (b *fixture) boards(cursor string, limit int) db.Page[db.Board] {
	b.t.Helper()
	page := must.Have(b.store.ListBoards(b.ctx, b.owner, cursor, limit))(b.t)
	return page
}

// said inserts a turn with a message that its thread has accepted.
func (b *fixture) said(thread string, c chat.Content) {
	b.t.Helper()
	turn, _, _, err := b.store.InsertTurn(b.ctx, chat.Turn{ID: uuid.NewString(), ThreadID: thread, Owner: b.owner, Content: c, Status: chat.TurnNew})
	b.NoError(err)
	b.NoError(b.store.MarkTurn(b.ctx, b.owner, turn.ID, chat.TurnRunning, chat.RootCheckpoint))
}

func boardID(board db.Board) string { return board.ID }

var boardTests = []test{
	{"a board is read as it was written", func(b *fixture) {
		want := b.newBoard("Churn")
		got := must.Have(b.store.Board(b.ctx, b.owner, want.ID))(b.t)
		b.False(got.CreatedAt.IsZero())
		b.Equal(got.CreatedAt, got.UpdatedAt)
		want.CreatedAt, want.UpdatedAt = got.CreatedAt, got.UpdatedAt
		b.Equal(want, got)
	}},
	{"a board that is created again stays as it is", func(b *fixture) {
		board := b.newBoard("Churn")
		other := board
		other.Title, other.Content = "Other", []byte("{}")
		b.NoError(b.store.CreateBoard(b.ctx, other))
		got := must.Have(b.store.Board(b.ctx, b.owner, board.ID))(b.t)
		b.Equal("Churn", got.Title)
	}},
	{"of two writes of one revision the second is refused", func(b *fixture) {
		board := b.newBoard("Churn")
		board.Title, board.Items, board.Content = "First", 3, []byte(`{"first":1}`)
		revision := must.Have(b.store.PutBoard(b.ctx, board))(b.t)
		b.Equal(2, revision)
		second := board
		second.Title = "Second"
		b.ErrorIs(must.ErrOf(b.store.PutBoard(b.ctx, second)), db.ErrVersion)
		got := must.Have(b.store.Board(b.ctx, b.owner, board.ID))(b.t)
		b.Equal("First", got.Title)
		b.Equal(3, got.Items)
		b.Equal(2, got.Revision)
		b.JSONEq(`{"first":1}`, string(got.Content))
	}},
	{"boards are listed by their last change, in pages, without content", func(b *fixture) {
		var want []string
		for range 5 {
			want = append([]string{b.newBoard("x").ID}, want...)
		}
		must.Have(b.store.PutBoard(b.ctx, db.Board{ID: want[3], Owner: b.owner, Revision: 1, Content: []byte("{}")}))(b.t)
		want = append([]string{want[3]}, append(want[:3:3], want[4])...)
		var got []string
		for cursor := ""; ; {
			page := b.boards(cursor, 2)
			got = append(got, ids(page.Items, boardID)...)
			for _, board := range page.Items {
				b.Nil(board.Content)
			}
			if cursor = page.Next; cursor == "" {
				break
			}
		}
		b.Equal(want, got)
	}},
	{"a deleted board can be restored, and is not found until then", func(b *fixture) {
		board := b.newBoard("Churn")
		b.ErrorIs(b.store.RestoreBoard(b.ctx, b.owner, board.ID), db.ErrNotFound)
		b.NoError(b.store.DeleteBoard(b.ctx, b.owner, board.ID))
		b.ErrorIs(b.store.DeleteBoard(b.ctx, b.owner, board.ID), db.ErrNotFound)
		b.ErrorIs(must.ErrOf(b.store.Board(b.ctx, b.owner, board.ID)), db.ErrNotFound)
		b.ErrorIs(must.ErrOf(b.store.PutBoard(b.ctx, board)), db.ErrNotFound)
		b.ErrorIs(b.store.CreateBoard(b.ctx, board), db.ErrNotFound)
		b.Empty(b.boards("", 10).Items)
		b.NoError(b.store.RestoreBoard(b.ctx, b.owner, board.ID))
		b.Len(b.boards("", 10).Items, 1)
	}},
	{"the thread of a board exists without a message, and is never listed", func(b *fixture) {
		board := b.newBoard("Churn")
		b.NoError(b.store.HasBoard(b.ctx, b.owner, board.ID))
		b.ErrorIs(b.store.HasBoard(b.ctx, "other", board.ID), db.ErrNotFound)
		h := must.Have(b.store.History(b.ctx, b.owner, board.ID, "", "", 10))(b.t)
		b.Empty(h.Messages)
		open := must.Have(b.store.OpenTurns(b.ctx, b.owner, board.ID))(b.t)
		b.Empty(open)
		b.ErrorIs(must.ErrOf(b.store.History(b.ctx, "other", board.ID, "", "", 10)), db.ErrNotFound)
		b.said(board.ID, chat.Content{Message: "Why?", Agent: chat.AgentDiscovery, References: []string{"F-1"}})
		b.said(uuid.NewString(), chat.Content{Message: "Why not?", Agent: chat.AgentDiscovery, Board: []byte("{}")})
		list := must.Have(b.store.ListConversations(b.ctx, b.owner, "", "", 10))(b.t)
		b.Empty(list.Items)
		list = must.Have(b.store.ListConversations(b.ctx, b.owner, "why", "", 10))(b.t)
		b.Empty(list.Items)
		unsaid := b.newBoard("Unsaid")
		for _, id := range []string{board.ID, unsaid.ID} {
			must.Have(b.store.PutRepo(b.ctx, b.owner, id, []byte("repo"), "digest", nil))(b.t)
		}
		list = must.Have(b.store.ListConversations(b.ctx, b.owner, "", "", 10))(b.t)
		b.Empty(list.Items, "a client's message repository does not list the thread either")
		h = must.Have(b.store.History(b.ctx, b.owner, board.ID, "", "", 10))(b.t)
		b.Equal([]any{"F-1"}, h.Messages[0].Metadata["references"])
	}},
	{"threads are left behind by deleted boards, single turns and temporary conversations, not by boards that can be restored", func(b *fixture) {
		stays, deleted := b.newBoard("Stays"), b.newBoard("Deleted")
		for _, id := range []string{stays.ID, deleted.ID} {
			b.said(id, chat.Content{Message: "Why?", Agent: chat.AgentDiscovery})
		}
		b.NoError(b.store.DeleteBoard(b.ctx, b.owner, deleted.ID))
		abandoned, once, temporary := uuid.NewString(), uuid.NewString(), uuid.NewString()
		b.said(temporary, chat.Content{Message: "Why?", Agent: chat.AgentDocuments, Temporary: true})
		b.said(abandoned, chat.Content{Message: "Why?", Agent: chat.AgentDiscovery})
		b.said(once, chat.Content{Message: "Why?", Agent: chat.AgentDiscovery, Board: []byte("{}")})
		b.said(uuid.NewString(), chat.Content{Message: "Why?", Agent: chat.AgentDocuments})
		left := func(now time.Time) (ids []string) {
			for after := ""; ; {
				page := must.Have(b.store.LeftThreads(b.ctx, now, after, 1))(b.t)
				if len(page) == 0 {
					return ids
				}
				if after = page[0].ThreadID; page[0].Owner == b.owner {
					ids = append(ids, after)
				}
			}
		}
		b.ElementsMatch([]string{abandoned, once, temporary}, left(time.Now().Add(2*time.Hour)))
		b.Equal([]string{abandoned}, left(time.Now()), "a single turn may still run")
		b.ElementsMatch([]string{abandoned, once, temporary, deleted.ID}, left(time.Now().Add(25*time.Hour)), "the deleted board cannot be restored any more")
	}},
	{"an owner who has reached the quota can still make a board smaller", func(b *fixture) {
		board := b.newBoard("Churn")
		in := b.store.Within(db.Bounds{Owner: db.Quota{Bytes: 5}})
		board.Content = []byte("{}")
		must.Have(in.PutBoard(b.ctx, board))(b.t)
		board.Revision, board.Content = 2, []byte(strings.Repeat(" ", 6))
		_, err := in.PutBoard(b.ctx, board)
		b.Equal(1, b.refusedBy([]error{err}, db.BoundBytes, db.OfOwner))
	}},
}
