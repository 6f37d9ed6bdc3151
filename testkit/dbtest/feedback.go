package dbtest

import (
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

// opinion returns feedback on a turn that is not stored yet.
func (b *fixture) opinion(turn string, good bool, reason string) db.Feedback {
	at := b.now()
	return db.Feedback{Owner: b.owner, ThreadID: b.thread, TurnID: turn, Good: good, Reason: reason, CreatedAt: at, UpdatedAt: at}
}

func (b *fixture) feedback() []db.Feedback {
	b.t.Helper()
	list := must.Have(b.store.Feedback(b.ctx, b.owner, b.thread))(b.t)
	return list
}

var feedbackTests = []test{
	{"feedback on every branch is listed in the order of the turns", func(b *fixture) {
		first := b.exchange("one", "1", chat.RootCheckpoint)
		second, branch := b.exchange("two", "2", first), b.exchange("other", "3", first)
		want := []db.Feedback{b.opinion(first, true, ""), b.opinion(second, false, "Wrong figures"), b.opinion(branch, true, "Short")}
		for _, i := range []int{2, 0, 1} {
			b.NoError(b.store.PutFeedback(b.ctx, want[i]))
		}
		b.Equal(want, b.feedback())
	}},
	{"feedback can be changed and deleted", func(b *fixture) {
		turn := b.exchange("one", "1", chat.RootCheckpoint)
		first, second := b.opinion(turn, true, "Good"), b.opinion(turn, false, "")
		b.NoError(b.store.PutFeedback(b.ctx, first))
		b.NoError(b.store.PutFeedback(b.ctx, second))
		second.CreatedAt = first.CreatedAt
		b.Equal([]db.Feedback{second}, b.feedback())
		b.ErrorIs(b.store.DeleteFeedback(b.ctx, b.owner, uuid.NewString(), turn), db.ErrNotFound, "of another conversation")
		b.NoError(b.store.DeleteFeedback(b.ctx, b.owner, b.thread, turn))
		b.Empty(b.feedback())
		b.ErrorIs(b.store.DeleteFeedback(b.ctx, b.owner, b.thread, turn), db.ErrNotFound)
	}},
	{"only settled turns that a history shows have feedback", func(b *fixture) {
		open := b.running("open", chat.RootCheckpoint)
		b.ErrorIs(b.store.PutFeedback(b.ctx, b.opinion(open.ID, true, "")), db.ErrNotFound)
		end := b.ending(open, "")
		end.Status, end.Hidden = chat.TurnCancelled, true
		b.settle(end)
		b.ErrorIs(b.store.PutFeedback(b.ctx, b.opinion(open.ID, true, "")), db.ErrNotFound)
		turn := b.exchange("one", "1", chat.RootCheckpoint)
		elsewhere := b.opinion(turn, true, "")
		elsewhere.ThreadID = uuid.NewString()
		b.ErrorIs(b.store.PutFeedback(b.ctx, elsewhere), db.ErrNotFound)
		b.Empty(b.feedback())
	}},
	{"feedback is deleted with its conversation", func(b *fixture) {
		turn := b.exchange("one", "1", chat.RootCheckpoint)
		b.NoError(b.store.PutFeedback(b.ctx, b.opinion(turn, true, "")))
		b.NoError(b.store.DeleteConversation(b.ctx, b.owner, b.thread))
		b.Empty(b.feedback())
		b.Zero(b.userData(b.owner).Feedback)
	}},
	{"operators read the feedback of every owner page by page, in the order of its last change", func(b *fixture) {
		var want []db.Feedback
		for range 3 {
			b.owner, b.thread = uuid.NewString(), uuid.NewString()
			f := b.opinion(b.exchange("one", "1", chat.RootCheckpoint), false, "x")
			b.NoError(b.store.PutFeedback(b.ctx, f))
			want = append(want, f)
		}
		want[0].UpdatedAt, want[0].Reason = b.now(), "changed"
		b.NoError(b.store.PutFeedback(b.ctx, want[0]))
		want = append(want[1:], want[0])
		var got []db.Feedback
		for last := (db.Feedback{}); ; {
			page := must.Have(b.store.FeedbackAfter(b.ctx, last.UpdatedAt, last.TurnID, 2))(b.t)
			if len(page) == 0 {
				break
			}
			b.LessOrEqual(len(page), 2)
			got, last = append(got, page...), page[len(page)-1]
		}
		b.Equal(want, got)
		page := must.Have(b.store.FeedbackAfter(b.ctx, want[2].UpdatedAt.Add(time.Second), "", 10))(b.t)
		b.Empty(page)
	}},
}
