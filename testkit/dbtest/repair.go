package dbtest

import (
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

// openThreads reads all pages of open threads whose turn was sent before a time.
func (b *fixture) openThreads(before time.Time, limit int) []chat.ThreadRef {
	b.t.Helper()
	all := []chat.ThreadRef{}
	for after := (chat.ThreadRef{}); ; {
		page := must.Have(b.store.OpenThreads(b.ctx, before, after, limit))(b.t)
		if len(page) == 0 {
			return all
		}
		b.LessOrEqual(len(page), limit)
		after = page[len(page)-1]
		all = append(all, page...)
	}
}

var repairTests = []test{
	{"imports that have not ended are listed once a key, in pages, and those that have changed since are not", func(b *fixture) {
		ours := func() (keys []string) {
			for after := ""; ; {
				page, err := b.store.UnfinishedImports(b.ctx, b.now().Add(time.Hour), after, 2)
				b.NoError(err)
				if len(page) == 0 {
					return keys
				}
				after = page[len(page)-1].Key
				for _, i := range page {
					if i.Owner == b.owner {
						keys = append(keys, i.Key)
					}
				}
			}
		}
		for _, key := range []string{"a", "b", "b", "c", "d"} {
			b.createImport(b.newImport(key))
		}
		b.NoError(b.store.AdvanceImports(b.ctx, b.owner, b.owner+"c", chat.ImportStep{State: chat.ImportFailed, Code: "x"}, b.now()))
		b.Equal([]string{b.owner + "a", b.owner + "b", b.owner + "d"}, ours())
		young, err := b.store.UnfinishedImports(b.ctx, b.clock.Add(-24*time.Hour), "", 100)
		b.NoError(err)
		b.NotContains(young, db.ImportRef{Owner: b.owner, Key: b.owner + "a"})
	}},
	{"the owner of a turn is found by its id alone", func(b *fixture) {
		turn := b.insert(b.newTurn("hello"))
		owner, err := b.store.OwnerOfTurn(b.ctx, turn.ID)
		b.NoError(err)
		b.Equal(b.owner, owner)
		_, err = b.store.OwnerOfTurn(b.ctx, uuid.NewString())
		b.ErrorIs(err, db.ErrNotFound)
	}},
	{"a lease has one holder until it ends it or its beat stands still", func(b *fixture) {
		name := uuid.NewString()
		take := func(holder string, dead db.Lease) bool {
			taken, err := b.store.TakeLease(b.ctx, name, holder, dead)
			b.NoError(err)
			return taken
		}
		b.True(take("a", db.Lease{}))
		b.False(take("b", db.Lease{}))
		seen, err := b.store.Lease(b.ctx, name)
		b.NoError(err)
		b.Equal("a", seen.Holder)
		b.True(take("a", db.Lease{}), "it renews it")
		b.False(take("b", seen), "it was renewed since")
		seen, err = b.store.Lease(b.ctx, name)
		b.NoError(err)
		b.True(take("b", seen))
		b.False(take("a", seen))
		b.NoError(b.store.EndLease(b.ctx, name, "a"))
		b.False(take("a", db.Lease{}), "only its holder ends a lease")
		b.NoError(b.store.EndLease(b.ctx, name, "b"))
		b.True(take("a", db.Lease{}))
	}},
	{"open turns are counted by status, those of every owner", func(b *fixture) {
		counts := func() map[chat.TurnStatus]int {
			all := must.Have(b.store.OpenTurnCounts(b.ctx))(b.t)
			by := map[chat.TurnStatus]int{}
			for _, c := range all {
				by[c.Status] = c.Number
				b.WithinDuration(b.clock, c.Oldest, time.Hour)
			}
			return by
		}
		before := counts()
		for range 2 {
			b.owner, b.thread = uuid.NewString(), uuid.NewString()
			b.running("one", chat.RootCheckpoint)
			b.insert(b.newTurn("not accepted"))
			waits := b.insert(b.newTurn("two"))
			b.mark(waits.ID, chat.TurnAccepted, "")
		}
		after := counts()
		b.Equal(2, after[chat.TurnRunning]-before[chat.TurnRunning])
		b.Equal(2, after[chat.TurnAccepted]-before[chat.TurnAccepted])
		b.NotContains(after, chat.TurnNew)
	}},
	{"threads with open turns are listed for all owners, in pages, each once", func(b *fixture) {
		var want []chat.ThreadRef
		for range 5 {
			b.owner, b.thread = uuid.NewString(), uuid.NewString()
			b.running("one", chat.RootCheckpoint)
			waits := b.insert(b.newTurn("two"))
			b.mark(waits.ID, chat.TurnAccepted, "")
			want = append(want, chat.ThreadRef{Owner: b.owner, ThreadID: b.thread})
		}
		b.thread = uuid.NewString()
		asked := b.running("three", chat.RootCheckpoint)
		b.mark(asked.ID, chat.TurnInterrupted, "")
		want = append(want, chat.ThreadRef{Owner: b.owner, ThreadID: b.thread})
		later := b.now()
		for _, limit := range []int{1, 2, 100} {
			b.ElementsMatch(want, b.openThreads(later, limit))
		}
		b.Empty(b.openThreads(b.clock.Add(-time.Hour), 100), "all of them were sent later")
	}},
	{"a thread whose turns are settled or not accepted is not open", func(b *fixture) {
		b.exchange("one", "answer", chat.RootCheckpoint)
		b.insert(b.newTurn("never accepted"))
		b.Empty(b.openThreads(b.now(), 100))
	}},
	{"documents that wait for their ingest are listed for all owners, in pages", func(b *fixture) {
		var want []db.DocumentRef
		for _, owner := range []string{uuid.NewString(), uuid.NewString(), chat.PublicOwner} {
			d := b.upload(owner, "Later", []byte("raw"))
			want = append(want, db.DocumentRef{Owner: owner, ID: d.ID})
		}
		before := b.now()
		b.upload(b.owner, "Too late", []byte("raw"))
		failed := b.upload(b.owner, "Failed", []byte("raw"))
		b.NoError(b.store.FailDocument(b.ctx, b.owner, failed.ID, "no"))
		b.document(b.owner, "Ready", "apple")
		got := []db.DocumentRef{}
		for after := ""; ; {
			page := must.Have(b.store.ProcessingDocuments(b.ctx, before, after, 2))(b.t)
			if len(page) == 0 {
				break
			}
			got, after = append(got, page...), page[len(page)-1].ID
		}
		b.ElementsMatch(want, got)
	}},
	{"turns that no thread has accepted are listed for all owners, in pages, and dropped", func(b *fixture) {
		before := b.now()
		b.clock = before.Add(-time.Hour)
		var want []db.TurnRef
		for range 3 {
			b.owner, b.thread = uuid.NewString(), uuid.NewString()
			t := b.insert(b.newTurn("never taken"))
			want = append(want, db.TurnRef{Owner: t.Owner, ThreadID: t.ThreadID, TurnID: t.ID})
		}
		taken := b.running("taken", chat.RootCheckpoint)
		again := b.insert(b.newTurn("sent again"))
		again.CreatedAt = before.Add(time.Second)
		_, _, _, err := b.store.InsertTurn(b.ctx, again)
		b.NoError(err)
		unaccepted := func() (got []db.TurnRef) {
			for after := ""; ; {
				page := must.Have(b.store.UnacceptedTurns(b.ctx, before, after, 2))(b.t)
				if len(page) == 0 {
					return got
				}
				got, after = append(got, page...), page[len(page)-1].TurnID
			}
		}
		b.ElementsMatch(want, unaccepted())

		for _, t := range []string{taken.ID, again.ID} {
			b.NoError(b.store.DropTurn(b.ctx, b.owner, t, before))
			must.Have(b.store.Turn(b.ctx, b.owner, t))(b.t)
		}
		for i, t := range want {
			b.NoError(b.store.DropTurn(b.ctx, t.Owner, t.TurnID, before))
			b.ErrorIs(must.ErrOf(b.store.Turn(b.ctx, t.Owner, t.TurnID)), db.ErrNotFound)
			_, err = b.store.Conversation(b.ctx, t.Owner, t.ThreadID)
			if i == 2 { // this conversation has another turn
				b.NoError(err)
			} else {
				b.ErrorIs(err, db.ErrNotFound)
			}
		}
		b.Empty(unaccepted())
		b.owner, b.thread = want[0].Owner, want[0].ThreadID
		b.exchange("sent once more", "answer", chat.RootCheckpoint)
		b.Equal([]string{"sent once more", "answer"}, contents(b.history("", "", 10).Messages))
	}},
	{"a created conversation stays when its only turn is dropped", func(b *fixture) {
		b.thread = b.conversation("Mine").ID
		t := b.insert(b.newTurn("never taken"))
		b.NoError(b.store.DropTurn(b.ctx, b.owner, t.ID, b.now()))
		b.Equal("Mine", b.title())
	}},
	{"Newest reports whether a thread has open turns", func(b *fixture) {
		has := func(want bool) {
			newest := must.Have(b.store.Newest(b.ctx, b.owner, b.thread))(b.t)
			b.Equal(want, newest.Open)
		}
		b.ErrorIs(must.ErrOf(b.store.Newest(b.ctx, b.owner, b.thread)), db.ErrNotFound)
		b.insert(b.newTurn("never accepted"))
		has(false)
		turn := b.running("one", chat.RootCheckpoint)
		has(true)
		b.mark(turn.ID, chat.TurnInterrupted, "")
		has(true)
		b.settle(b.ending(turn, "answer"))
		has(false)
	}},
	{"the busy threads of an owner are listed", func(b *fixture) {
		var want []string
		for range 3 {
			b.thread = uuid.NewString()
			b.running("one", chat.RootCheckpoint)
			want = append(want, b.thread)
		}
		b.thread = uuid.NewString()
		b.mark(b.running("asks", chat.RootCheckpoint).ID, chat.TurnInterrupted, "")
		b.insert(b.newTurn("never accepted"))
		got := must.Have(b.store.BusyThreads(b.ctx, b.owner, 10))(b.t)
		b.ElementsMatch(want, got)
		got = must.Have(b.store.BusyThreads(b.ctx, b.owner, 2))(b.t)
		b.Len(got, 2)
	}},
}
