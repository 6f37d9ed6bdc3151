package dbtest

import (
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

func (b *fixture) count(key string, n int64, now time.Time) db.Window {
	b.t.Helper()
	w := must.Have(b.store.Count(b.ctx, key, n, time.Minute, now))(b.t)
	return w
}

var limitTests = []test{
	{"a window begins with the first count and ends at its reset time", func(b *fixture) {
		key, start := uuid.NewString(), b.now()
		reset := start.Add(time.Minute)
		b.Equal(db.Window{Count: 1, Reset: reset}, b.count(key, 1, start))
		b.Equal(db.Window{Count: 6, Reset: reset}, b.count(key, 5, start.Add(time.Second)))
		b.Equal(db.Window{Count: 7, Reset: reset}, b.count(key, 1, reset.Add(-time.Microsecond)))
		b.Equal(db.Window{Count: 1, Reset: reset.Add(time.Minute)}, b.count(key, 1, reset))
	}},
	{"reading a count changes nothing", func(b *fixture) {
		key, start := uuid.NewString(), b.now()
		counted := func(now time.Time) db.Window {
			w := must.Have(b.store.Counted(b.ctx, key, time.Minute, now))(b.t)
			return w
		}
		for range 2 {
			b.Equal(db.Window{Reset: start.Add(time.Minute)}, counted(start))
		}
		w := b.count(key, 3, start)
		for range 2 {
			b.Equal(w, counted(start.Add(time.Second)))
		}
		b.Equal(db.Window{Reset: w.Reset.Add(time.Minute)}, counted(w.Reset))
	}},
	{"a count can be forgotten, and others stay", func(b *fixture) {
		one, two, now := uuid.NewString(), uuid.NewString(), b.now()
		b.count(one, 3, now)
		b.count(two, 3, now)
		b.NoError(b.store.ForgetCount(b.ctx, one))
		b.NoError(b.store.ForgetCount(b.ctx, "never counted"))
		b.Equal(int64(1), b.count(one, 1, now).Count)
		b.Equal(int64(4), b.count(two, 1, now).Count)
	}},
	{"Take returns how many remain, and refuses beyond the limit", func(b *fixture) {
		key, now := uuid.NewString(), b.now()
		for _, want := range []struct {
			left int64
			ok   bool
		}{{1, true}, {0, true}, {0, false}, {0, false}} {
			left, reset, ok, err := db.Take(b.ctx, b.store, key, 2, time.Minute, now)
			b.NoError(err)
			b.Equal(want.left, left)
			b.Equal(want.ok, ok)
			b.Equal(now.Add(time.Minute), reset)
		}
		_, _, ok, err := db.Take(b.ctx, b.store, key, 2, time.Minute, now.Add(time.Minute))
		b.NoError(err)
		b.True(ok)
	}},
	{"concurrent counts are all added", func(b *fixture) {
		key, now := uuid.NewString(), b.now()
		var errs [8]error
		together(len(errs), func(i int) {
			for range 10 {
				if _, err := b.store.Count(b.ctx, key, 1, time.Minute, now); err != nil {
					errs[i] = err
				}
			}
		})
		for _, err := range errs {
			b.NoError(err)
		}
		b.Equal(int64(81), b.count(key, 1, now).Count)
	}},
	{"open turns are counted for a thread and for the owner's others, without interrupted ones", func(b *fixture) {
		thread := b.thread
		counted := func(here, busy int) {
			h, o, err := b.store.CountOpenTurns(b.ctx, b.owner, thread)
			b.NoError(err)
			b.Equal([2]int{here, busy}, [2]int{h, o})
		}
		counted(0, 0)
		running := b.running("one", chat.RootCheckpoint)
		b.thread = uuid.NewString()
		accepted := b.insert(b.newTurn("two"))
		b.mark(accepted.ID, chat.TurnAccepted, "")
		counted(1, 1)
		b.insert(b.newTurn("sent long ago, never accepted"))
		counted(1, 1)
		b.thread = uuid.NewString()
		sent := b.newTurn("just sent")
		sent.CreatedAt = time.Now()
		b.insert(sent)
		counted(1, 2)
		b.NoError(b.store.AbandonTurn(b.ctx, b.owner, sent.ID))
		counted(1, 1)
		_, created, _, err := b.store.InsertTurn(b.ctx, sent) // the message is sent again
		b.NoError(err)
		b.False(created)
		counted(1, 2)
		b.NoError(b.store.AbandonTurn(b.ctx, b.owner, running.ID), "the thread has accepted it after all")
		counted(1, 2)
		b.mark(running.ID, chat.TurnInterrupted, "")
		counted(0, 2)
		b.settle(b.ending(accepted, "x"))
		counted(0, 1)
		b.owner = uuid.NewString()
		counted(0, 0)
	}},
}
