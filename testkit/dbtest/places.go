package dbtest

import (
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

// made returns a new turn of an API process whose clock shows at.
func (b *fixture) made(message string, at time.Time) chat.Turn {
	t := b.newTurn(message)
	id := uuid.Must(uuid.NewV7())
	for i := range 6 {
		id[i] = byte(at.UnixMilli() >> (40 - 8*i))
	}
	t.ID, t.CreatedAt = id.String(), at
	return t
}

// ran returns one page of the ids of the turns after a place.
func (b *fixture) ran(place int) []string {
	b.t.Helper()
	turns := must.Have(b.store.TurnsAfter(b.ctx, b.owner, b.thread, place, 100))(b.t)
	for _, t := range turns {
		b.Greater(t.Place, place)
		place = t.Place
	}
	return ids(turns, turnID)
}

func (b *fixture) lastPlace() int {
	b.t.Helper()
	place := must.Have(b.store.LastPlace(b.ctx, b.owner, b.thread))(b.t)
	return place
}

var placeTests = []test{
	{"turns are listed in the order in which they ran, even if clocks differ", func(b *fixture) {
		now, parent := b.now(), chat.RootCheckpoint
		var want []string
		for i, clock := range []time.Duration{0, -5 * time.Second, 5 * time.Second, -5 * time.Second, 0} {
			t := b.insert(b.made("x", now.Add(time.Duration(i)*time.Millisecond+clock)))
			b.mark(t.ID, chat.TurnRunning, parent)
			t.Parent = parent
			b.settle(b.ending(t, "y"))
			want, parent = append(want, t.ID), t.ID
		}
		b.Equal(want, b.ran(0))
		for i, id := range want {
			t := must.Have(b.store.Turn(b.ctx, b.owner, id))(b.t)
			b.Equal(want[i+1:], b.ran(t.Place))
		}
		head := must.Have(b.store.Head(b.ctx, b.owner, b.thread))(b.t)
		b.Equal(want[4], head)
		var listed []string
		for _, m := range b.history("", "", 100).Messages {
			if m.Role == "user" {
				listed = append(listed, m.TurnID)
			}
		}
		b.Equal(want, listed)
	}},
	{"a turn is listed when it begins, not while it waits", func(b *fixture) {
		running := b.running("running", chat.RootCheckpoint)
		first, second := b.insert(b.newTurn("first")), b.insert(b.newTurn("second"))
		b.Equal([]string{running.ID}, b.ran(0))
		b.mark(first.ID, chat.TurnAccepted, "")
		b.mark(second.ID, chat.TurnAccepted, "")
		b.Equal([]string{running.ID}, b.ran(0))

		// The second is stopped while it waits, and takes its place before the first.
		s := b.ending(second, "")
		s.Status, s.Parent = chat.TurnCancelled, running.ID
		b.settle(s)
		b.Equal([]string{running.ID, second.ID}, b.ran(0))
		b.settle(b.ending(running, "1"))
		b.mark(first.ID, chat.TurnRunning, second.ID)
		b.Equal([]string{running.ID, second.ID, first.ID}, b.ran(0))
		b.mark(first.ID, chat.TurnInterrupted, "")
		b.mark(first.ID, chat.TurnRunning, "")
		b.Equal([]string{running.ID, second.ID, first.ID}, b.ran(0), "its place is kept")
	}},
	{"a rolled back turn is listed among those that ran", func(b *fixture) {
		one := b.exchange("one", "1", chat.RootCheckpoint)
		undone := b.running("oops", one)
		s := b.ending(undone, "partial")
		s.Status, s.Hidden = chat.TurnCancelled, true
		b.settle(s)
		b.Equal(2, b.lastPlace())
		next := b.running("instead", undone.ID)
		b.Equal([]string{one, undone.ID, next.ID}, b.ran(0))
	}},
	{"the place of an unmarked turn is not reused", func(b *fixture) {
		one := b.exchange("one", "1", chat.RootCheckpoint)
		early := b.running("begun too early", one)
		passed := b.lastPlace() // a client has read it
		b.NoError(b.store.UnmarkTurn(b.ctx, b.owner, early.ID, chat.TurnAccepted))
		b.Empty(b.ran(passed))
		b.Equal([]string{one}, b.ran(0))
		other := b.running("before it", one)
		b.settle(b.ending(other, "2"))
		b.mark(early.ID, chat.TurnRunning, other.ID)
		b.Equal([]string{other.ID, early.ID}, b.ran(passed))
	}},
	{"places continue in a new conversation with a deleted id", func(b *fixture) {
		b.exchange("old", "1", chat.RootCheckpoint)
		open := b.running("older", chat.RootCheckpoint)
		passed := b.lastPlace()
		b.NoError(b.store.DeleteConversation(b.ctx, b.owner, b.thread))
		next := b.insert(b.newTurn("new"))
		b.Equal(0, b.lastPlace())
		b.mark(next.ID, chat.TurnRunning, chat.RootCheckpoint)
		b.Equal([]string{next.ID}, b.ran(passed))
		b.NotContains(b.ran(0), open.ID)
	}},
	{"a thread without turns lists none, and an unknown thread is not found", func(b *fixture) {
		b.thread = b.conversation("").ID
		b.Empty(b.ran(0))
		b.Equal(0, b.lastPlace())
		b.insert(b.newTurn("never accepted"))
		b.Empty(b.ran(0))
		b.Equal(0, b.lastPlace())
		for _, other := range []struct{ owner, thread string }{{b.owner, uuid.NewString()}, {uuid.NewString(), b.thread}} {
			b.ErrorIs(must.ErrOf(b.store.TurnsAfter(b.ctx, other.owner, other.thread, 0, 1)), db.ErrNotFound)
			b.ErrorIs(must.ErrOf(b.store.LastPlace(b.ctx, other.owner, other.thread)), db.ErrNotFound)
		}
	}},
	{"polling while turns begin concurrently lists each turn exactly once", func(b *fixture) {
		const turns = 12
		var waiting []chat.Turn
		for range turns {
			t := b.insert(b.newTurn("x"))
			b.mark(t.ID, chat.TurnAccepted, "")
			waiting = append(waiting, t)
		}
		seen, place := map[string]int{}, 0
		together(turns+1, func(i int) {
			if i < turns {
				if err := b.store.MarkTurn(b.ctx, b.owner, waiting[i].ID, chat.TurnRunning, chat.RootCheckpoint); err != nil {
					b.t.Error(err)
				}
				return
			}
			for len(seen) < turns && !b.t.Failed() {
				next, err := b.store.TurnsAfter(b.ctx, b.owner, b.thread, place, 1)
				if err != nil {
					b.t.Error(err)
				}
				for _, t := range next {
					seen[t.ID]++
					place = t.Place
				}
			}
		})
		for _, t := range waiting {
			b.Equal(1, seen[t.ID])
		}
		b.Empty(b.ran(place))
	}},
}
