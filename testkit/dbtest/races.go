package dbtest

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

// together runs f n times concurrently.
func together(n int, f func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			f(i)
		})
	}
	close(start)
	wg.Wait()
}

// admitted runs f n times concurrently and returns how often it succeeded. Every other
// call must have been refused by a bound.
func (b *fixture) admitted(n int, f func() error) (succeeded int) {
	errs := make([]error, n)
	together(n, func(i int) { errs[i] = f() })
	for _, err := range errs {
		if err == nil {
			succeeded++
		} else {
			b.ErrorAs(err, new(*db.Exceeded))
		}
	}
	return succeeded
}

var raceTests = []test{
	{"five concurrent submits of one message make one turn", func(b *fixture) {
		first := b.newTurn("hello")
		var turns [5]chat.Turn
		var created [5]bool
		var errs [5]error
		together(5, func(i int) {
			t := first
			t.ID, t.StreamRunID = uuid.NewString(), uuid.NewString()
			turns[i], created[i], _, errs[i] = b.store.InsertTurn(b.ctx, t)
		})
		made := 0
		for i := range turns {
			b.NoError(errs[i])
			b.Equal(turns[0].ID, turns[i].ID)
			if created[i] {
				made++
			}
		}
		b.Equal(1, made)
	}},
	{"two concurrent settles write one set of messages", func(b *fixture) {
		t := b.running("hello", chat.RootCheckpoint)
		s := [2]db.Settlement{b.ending(t, "one"), b.ending(t, "two")}
		var terminals [2]db.SettledTurn
		var errs [2]error
		together(2, func(i int) { terminals[i], errs[i] = b.store.Settle(b.ctx, s[i]) })
		b.NoError(errs[0])
		b.NoError(errs[1])
		b.Equal(terminals[0].Event, terminals[1].Event)
		b.NotEqual(terminals[0].Again, terminals[1].Again, "one of them has settled the turn")
		b.Equal([]string{"hello", terminals[0].Response.Text}, contents(b.history("", "", 10).Messages))
		events := must.Have(b.store.Events(b.ctx, b.owner, t.ID, 0))(b.t)
		b.Len(events, 2)
	}},
	{"a late text and a settle leave no text behind", func(b *fixture) {
		for range 20 {
			t := b.running("hello", chat.RootCheckpoint)
			b.NoError(b.store.PutText(b.ctx, b.owner, t.ID, "piece:1", "x"))
			s := b.ending(t, "x")
			var errs [3]error
			var read map[string]string
			together(3, func(i int) {
				switch i {
				case 0:
					_, errs[0] = b.store.Settle(b.ctx, s)
				case 1:
					errs[1] = b.store.PutText(b.ctx, b.owner, t.ID, "piece:2", "late")
				default:
					read, errs[2] = b.store.Texts(b.ctx, b.owner, t.ID)
				}
			})
			b.NoError(errs[0])
			if errs[1] != nil {
				b.ErrorIs(errs[1], db.ErrSettled)
			}
			if errs[2] == nil {
				b.Equal("x", read["piece:1"], "an open turn has all of its texts")
			} else {
				b.ErrorIs(errs[2], db.ErrSettled)
			}
			b.ErrorIs(must.ErrOf(b.store.Texts(b.ctx, b.owner, t.ID)), db.ErrSettled)
		}
	}},
	{"a late draft and a settle leave no draft behind", func(b *fixture) {
		for range 20 {
			t := b.running("hello", chat.RootCheckpoint)
			s := b.ending(t, "x")
			var errs [2]error
			together(2, func(i int) {
				if i == 0 {
					_, errs[0] = b.store.Settle(b.ctx, s)
				} else {
					errs[1] = b.store.SaveDraft(b.ctx, b.owner, db.Draft{TurnID: t.ID, Piece: 1, Attempt: 1, Text: "late"})
				}
			})
			b.NoError(errs[0])
			if errs[1] != nil {
				b.ErrorIs(errs[1], db.ErrSettled)
			}
			b.ErrorIs(must.ErrOf(b.store.Draft(b.ctx, b.owner, t.ID, 1)), db.ErrNotFound)
		}
	}},
	{"of a concurrent cancel and submit at least one sees the other", func(b *fixture) {
		for range 20 {
			t := b.sentAt(time.Now())
			ref := db.CancelRef{StreamRunID: t.StreamRunID}
			var cancelled bool
			var findErr, insertErr, cancelErr error
			together(2, func(i int) {
				if i == 0 {
					_, _, cancelled, insertErr = b.store.InsertTurn(b.ctx, t)
				} else if cancelErr = b.store.Cancel(b.ctx, b.owner, ref, chat.UserCancelled); cancelErr == nil {
					_, findErr = b.store.FindTurn(b.ctx, b.owner, ref)
				}
			})
			b.NoError(insertErr)
			b.NoError(cancelErr)
			b.True(cancelled || findErr == nil, "neither saw the other")
		}
	}},
	{"a settle whose caller cancels is done completely or not at all", func(b *fixture) {
		settled := 0
		for i := range 60 {
			b.thread = uuid.NewString()
			t := b.running("hello", chat.RootCheckpoint)
			s := b.ending(t, "x")
			ctx, giveUp := context.WithCancel(b.ctx)
			together(2, func(caller int) {
				if caller == 0 {
					_, _ = b.store.Settle(ctx, s)
					return
				}
				for range i { // cancel later each time
					_, _ = b.store.Turn(b.ctx, b.owner, t.ID)
				}
				giveUp()
			})
			// The commit of a cancelled caller may still be running: a read that
			// sees it must be followed only by reads that see it.
			messages := contents(b.history("", "", 9).Messages)
			events, err := b.store.Events(b.ctx, b.owner, t.ID, 0)
			if err == nil {
				settled++
				b.Len(events, 2)
				messages = contents(b.history("", "", 9).Messages)
				b.Equal([]string{"hello", "x"}, messages)
			} else {
				b.ErrorIs(err, db.ErrNotFound)
				b.Equal([]string{"hello"}, messages)
			}
			b.Equal(s.Terminal, b.settle(s)) // the settle can be repeated
		}
		b.NotZero(settled)
	}},
	{"two owners that create one thread id concurrently do not share it", func(b *fixture) {
		for range 10 {
			b.thread = uuid.NewString()
			t := [2]chat.Turn{b.newTurn("mine"), b.newTurn("theirs")}
			t[1].Owner = uuid.NewString()
			var errs [2]error
			together(2, func(i int) { _, _, _, errs[i] = b.store.InsertTurn(b.ctx, t[i]) })
			loser := 0
			if errs[0] == nil {
				loser = 1
			}
			b.NoError(errs[1-loser])
			b.ErrorIs(errs[loser], db.ErrNotFound)
		}
	}},
	{"a concurrent delete and insert leave nothing, or the insert in a new conversation", func(b *fixture) {
		for range 10 {
			b.thread = uuid.NewString()
			b.exchange("hello", "hi", chat.RootCheckpoint)
			t := b.newTurn("late")
			var errs [2]error
			together(2, func(i int) {
				if i == 0 {
					errs[0] = b.store.DeleteConversation(b.ctx, b.owner, b.thread)
				} else {
					_, _, _, errs[1] = b.store.InsertTurn(b.ctx, t)
				}
			})
			b.NoError(errs[0])
			b.NoError(errs[1])
			made, err := b.store.Turn(b.ctx, b.owner, t.ID)
			if err != nil { // the insert came first and was deleted, too
				b.ErrorIs(err, db.ErrNotFound)
				b.staysDeleted(t)
				continue
			}
			b.Equal(2, made.Generation)
			b.mark(t.ID, chat.TurnAccepted, "")
			b.Equal([]string{"late"}, contents(b.history("", "", 10).Messages))
		}
	}},
	{"a concurrent delete and retry leave nothing under the id", func(b *fixture) {
		for range 10 {
			b.thread = uuid.NewString()
			t := b.running("hello", chat.RootCheckpoint)
			again := t
			again.ID = uuid.NewString()
			var errs [3]error
			together(3, func(i int) {
				switch i {
				case 0:
					errs[0] = b.store.DeleteConversation(b.ctx, b.owner, b.thread)
				case 1:
					_, _, _, errs[1] = b.store.InsertTurn(b.ctx, again)
				default:
					_, _, errs[2] = b.store.SaveTurn(b.ctx, t)
				}
			})
			b.NoError(errs[0])
			for _, err := range errs[1:] {
				if err != nil {
					b.ErrorIs(err, db.ErrNotFound)
				}
			}
			b.ErrorIs(must.ErrOf(b.store.Conversation(b.ctx, b.owner, b.thread)), db.ErrNotFound)
			b.staysDeleted(t)
		}
	}},
	{"a reader sees one complete text while a document is stored again", func(b *fixture) {
		d := b.document(b.owner, "x", "apple v0", "apple v0", "apple v0")
		var errs [4]error
		together(4, func(i int) {
			for n := range 20 {
				if i == 0 {
					v := " v" + strconv.Itoa(n)
					text, chunks := cut(d.ID, "apple"+v, "apple"+v, "apple"+v)
					errs[0] = b.store.StoreText(b.ctx, b.owner, d.ID, text, chunks, nil)
				} else {
					var hits []chat.Hit
					if hits, errs[i] = b.store.DocumentChunks(b.ctx, b.owner, d.ID, 9); errs[i] == nil {
						b.oneText(hits)
					}
				}
				if errs[i] != nil {
					return
				}
			}
		})
		for _, err := range errs {
			b.NoError(err)
		}
		b.Len(b.search("apple"), 3)
		b.Len(b.search("v19"), 3)
		b.Empty(b.search("v18"))
	}},
	{"a document that is deleted while sets add it and its text is stored leaves no row", func(b *fixture) {
		for range 20 {
			d, other := b.document(b.owner, "x", "apple"), b.document(b.owner, "y", "pear")
			set := chat.DocumentSet{ID: uuid.NewString(), Owner: b.owner, Name: "Set", DocIDs: []string{d.ID}}
			b.NoError(b.store.CreateSet(b.ctx, set))
			text, chunks := cut(d.ID, "new apple")
			var errs [4]error
			together(len(errs), func(i int) {
				switch i {
				case 0:
					errs[i] = b.store.DeleteDocument(b.ctx, b.owner, d.ID)
				case 1:
					errs[i] = b.store.StoreText(b.ctx, b.owner, d.ID, text, chunks, [][]float32{{1}})
				default:
					changed := set
					changed.DocIDs = []string{other.ID, d.ID}
					errs[i] = b.store.UpdateSet(b.ctx, changed)
				}
			})
			b.NoError(errs[0])
			for _, err := range errs[1:] {
				if err != nil {
					b.ErrorIs(err, db.ErrNotFound)
				}
			}
			sets := must.Have(b.store.SetsByID(b.ctx, b.owner, []string{set.ID}))(b.t)
			b.NotContains(sets[0].DocIDs, d.ID)
			b.ErrorIs(must.ErrOf(b.store.Document(b.ctx, b.owner, d.ID)), db.ErrNotFound)
			b.Empty(b.searchIn([]string{d.ID}, "apple"))
		}
	}},
	{"many concurrent readers do not deadlock", func(b *fixture) {
		d := b.document(b.owner, "x", "apple", "pear")
		b.exchange("hello", "hi", chat.RootCheckpoint)
		ctx, done := context.WithTimeout(b.ctx, 30*time.Second)
		defer done()
		var errs [32]error
		together(len(errs), func(i int) {
			for range 10 {
				for _, read := range []func() error{
					func() error { _, err := b.store.SearchText(ctx, b.owner, db.Words("apple"), nil, 5); return err },
					func() error { _, err := b.store.SearchVector(ctx, b.owner, []float32{1}, nil, 5); return err },
					func() error { _, _, err := b.store.WordCounts(ctx, b.owner, []string{"apple"}); return err },
					func() error { _, err := b.store.History(ctx, b.owner, b.thread, "", "", 5); return err },
					func() error { _, err := b.store.Chunk(ctx, b.owner, d.ID, chunkID(d.ID, 1)); return err },
					func() error { return b.store.PutProfile(ctx, b.owner, chat.Profile{}) },
				} {
					if err := read(); err != nil {
						errs[i] = err
						return
					}
				}
			}
		})
		for _, err := range errs {
			b.NoError(err)
		}
	}},
	{"concurrent threads lose no write", func(b *fixture) {
		var errs [8]error
		threads := [8]string{}
		for i := range threads {
			threads[i] = uuid.NewString()
		}
		turns, ends := [8][5]chat.Turn{}, [8][5]db.Settlement{}
		for i, thread := range threads {
			parent := chat.RootCheckpoint
			for n := range turns[i] {
				b.thread = thread
				turns[i][n] = b.newTurn("q" + strconv.Itoa(n))
				turns[i][n].Parent, parent = parent, turns[i][n].ID
				ends[i][n] = b.ending(turns[i][n], "a"+strconv.Itoa(n))
			}
		}
		together(8, func(i int) {
			for n, t := range turns[i] {
				if _, _, _, errs[i] = b.store.InsertTurn(b.ctx, t); errs[i] != nil {
					return
				}
				if errs[i] = b.store.MarkTurn(b.ctx, b.owner, t.ID, chat.TurnRunning, t.Parent); errs[i] != nil {
					return
				}
				if _, errs[i] = b.store.Settle(b.ctx, ends[i][n]); errs[i] != nil {
					return
				}
			}
		})
		for i, thread := range threads {
			b.NoError(errs[i])
			b.thread = thread
			b.Equal([]string{"q0", "a0", "q1", "a1", "q2", "a2", "q3", "a3", "q4", "a4"}, contents(b.history("", "", 20).Messages))
		}
		b.Len(b.listed(""), 8)
	}},
}

// oneText checks that hits are all three chunks of one text. It may run on any
// goroutine, so it uses Errorf.
func (b *fixture) oneText(hits []chat.Hit) {
	if len(hits) != 3 || hits[0].Text != hits[1].Text || hits[1].Text != hits[2].Text {
		b.t.Errorf("not one complete text: %v", texts(hits))
	}
}

func texts(hits []chat.Hit) []string { return ids(hits, func(h chat.Hit) string { return h.Text }) }

var closingTests = []test{
	{"an open store answers, a closed one is unavailable", func(b *fixture) {
		b.NoError(b.store.Ping(b.ctx))
		t := b.running("hello", chat.RootCheckpoint)
		b.NoError(b.store.Close())
		b.ErrorIs(b.store.Ping(b.ctx), db.ErrUnavailable)
		b.ErrorIs(must.ErrOf(b.store.Turn(b.ctx, b.owner, t.ID)), db.ErrUnavailable)
		b.ErrorIs(must.ErrOf(b.store.History(b.ctx, b.owner, b.thread, "", "", 10)), db.ErrUnavailable)
		b.ErrorIs(must.ErrOf(b.store.Settle(b.ctx, b.ending(t, "x"))), db.ErrUnavailable)
		b.ErrorIs(must.ErrOf(b.store.SearchText(b.ctx, b.owner, db.Words("x"), nil, 1)), db.ErrUnavailable)
	}},
}
