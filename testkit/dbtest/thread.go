package dbtest

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

// Thread is a conversation with many turns; every tenth is a branch without a
// continuation.
type Thread struct {
	Owner, ID string
	Head      string   // the end of the longest branch
	Turns     []string // in their order
}

// LongThread makes a thread of that many settled turns.
func LongThread(t testing.TB, store db.Store, turns int) Thread {
	t.Helper()
	b := &fixture{Assertions: require.New(t), t: t, ctx: t.Context(), store: store, owner: "owner of " + strconv.Itoa(turns), thread: "thread of " + strconv.Itoa(turns)}
	thread := Thread{Owner: b.owner, ID: b.thread, Head: chat.RootCheckpoint}
	for i := range turns {
		turn := b.insertOnly(b.newTurn("q" + strconv.Itoa(i)))
		turn.Parent = thread.Head
		b.NoError(store.MarkTurn(b.ctx, b.owner, turn.ID, chat.TurnRunning, thread.Head))
		end := b.ending(turn, "a"+strconv.Itoa(i))
		end.Approvals = []string{"draw"}
		must.Have(store.Settle(b.ctx, end))(b.t)
		if i%10 != 9 {
			thread.Head = turn.ID
		}
		thread.Turns = append(thread.Turns, turn.ID)
	}
	return thread
}

func (b *fixture) insertOnly(t chat.Turn) chat.Turn {
	stored, _, _, err := b.store.InsertTurn(b.ctx, t)
	b.NoError(err)
	return stored
}

// Uses lists the calls that the next turn in the thread makes, in a possible order.
func (th Thread) Uses(t testing.TB, store db.Store) []Use {
	b := &fixture{Assertions: require.New(t), t: t, ctx: t.Context(), store: store, owner: th.Owner, thread: th.ID}
	next := b.newTurn("next")
	next.Parent = th.Head
	middle := th.Turns[len(th.Turns)/2]
	return []Use{
		{"Conversation", func() error { _, err := store.Conversation(b.ctx, b.owner, b.thread); return err }},
		{"ListConversations", func() error { _, err := store.ListConversations(b.ctx, b.owner, "", "", 20); return err }},
		{"CountOpenTurns", func() error { _, _, err := store.CountOpenTurns(b.ctx, b.owner, b.thread); return err }},
		{"TurnOfMessage", func() error { _, err := store.TurnOfMessage(b.ctx, b.owner, b.thread, middle+".m0"); return err }},
		{"InsertTurn", func() error { _, _, _, err := store.InsertTurn(b.ctx, next); return err }},
		{"OpenTurns", func() error { _, err := store.OpenTurns(b.ctx, b.owner, b.thread); return err }},
		{"TurnsAfter", func() error {
			_, err := store.TurnsAfter(b.ctx, b.owner, b.thread, len(th.Turns)/2, 1)
			return err
		}},
		{"LastPlace", func() error { _, err := store.LastPlace(b.ctx, b.owner, b.thread); return err }},
		{"Head", func() error { _, err := store.Head(b.ctx, b.owner, b.thread); return err }},
		{"MarkTurn", func() error { return store.MarkTurn(b.ctx, b.owner, next.ID, chat.TurnRunning, th.Head) }},
		{"Registry", func() error { _, err := store.Registry(b.ctx, b.owner, b.thread, th.Head); return err }},
		{"Approvals", func() error { _, err := store.Approvals(b.ctx, b.owner, b.thread, th.Head); return err }},
		{"Recent", func() error { _, err := store.Recent(b.ctx, b.owner, b.thread, th.Head, 10); return err }},
		{"History", func() error { _, err := store.History(b.ctx, b.owner, b.thread, "", "", 10); return err }},
		{"History of a branch", func() error { _, err := store.History(b.ctx, b.owner, b.thread, middle, "", 10); return err }},
		{"History before a message", func() error {
			_, err := store.History(b.ctx, b.owner, b.thread, "", middle+".m0", 10)
			return err
		}},
		{"Settle", func() error { _, err := store.Settle(b.ctx, b.ending(next, "answer")); return err }},
		{"Events", func() error { _, err := store.Events(b.ctx, b.owner, next.ID, 0); return err }},
	}
}

// Use is a call of a store.
type Use struct {
	Name string
	Call func() error
}
