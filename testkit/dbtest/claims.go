package dbtest

import (
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

// claim moves everything of the fixture's owner to another owner, and returns that one.
func (b *fixture) claim(p property) (to string) {
	b.t.Helper()
	to = uuid.NewString()
	b.mark(p.open.ID, chat.TurnInterrupted, p.open.Parent)
	for _, id := range b.userData(b.owner).Threads {
		b.NoError(b.store.ClaimThread(b.ctx, b.owner, to, id))
	}
	b.NoError(b.store.FailDocument(b.ctx, b.owner, p.processing.ID, "unreadable"))
	documents, done, err := b.store.ClaimRest(b.ctx, b.owner, to)
	b.NoError(err)
	b.True(done)
	b.Equal(2, documents)
	return to
}

var claimTests = []test{
	{"an account gets everything that an anonymous owner has stored, but no keys and connections", func(b *fixture) {
		p := b.everything()
		from := b.owner
		b.NoError(b.store.DeleteConnection(b.ctx, from, "google"))
		had := b.userData(from)
		texts := must.Have(b.store.Texts(b.ctx, from, p.open.ID))(b.t)

		to := b.claim(p)
		left := b.userData(from)
		b.Equal(db.UserData{}, left)
		got := b.userData(to)
		b.Zero(got.Keys)
		had.Keys, had.Cancels, had.Connections = 0, 0, 0
		b.Equal(had, got)

		b.owner = to
		b.Len(b.history("", "", 10).Messages, 3)
		moved := must.Have(b.store.Texts(b.ctx, to, p.open.ID))(b.t)
		b.Equal(texts, moved)
		found := must.Have(b.store.FindTurn(b.ctx, to, db.CancelRef{StreamRunID: p.open.StreamRunID}))(b.t)
		b.Equal(p.open.ID, found.ID)
		b.settle(b.ending(withOwner(p.open, to), "the answer"))
		hits := must.Have(b.store.SearchText(b.ctx, to, db.Words("apple"), nil, 10))(b.t)
		b.Len(hits, 1)
		profile := must.Have(b.store.Profile(b.ctx, to))(b.t)
		b.Equal("banking", profile.Industry)
		b.Zero(b.session(to), "the account's own sessions")
		b.NotZero(b.session(from))
		b.ErrorIs(must.ErrOf(b.store.KeyByDigest(b.ctx, p.key.Digest)), db.ErrNotFound)
		for name, call := range notFoundFor(b, from, p) {
			if name != "Connection" && name != "DeleteConnection" && name != "DeleteKey" && name != "ImportedDocument" {
				b.ErrorIs(call(), db.ErrNotFound, name)
			}
		}
	}},
	{"a claim leaves what the account has and what others have", func(b *fixture) {
		b.everything()
		own, ownThread := b.owner, b.thread
		b.owner, b.thread = uuid.NewString(), uuid.NewString()
		stranger := b.everything()
		before := b.view(stranger)
		strangers := b.owner

		b.owner, b.thread = uuid.NewString(), uuid.NewString()
		p := b.property()
		b.NoError(b.store.PutProfile(b.ctx, own, chat.Profile{Industry: "farming"}))
		b.mark(p.open.ID, chat.TurnInterrupted, p.open.Parent)
		b.NoError(b.store.ClaimThread(b.ctx, b.owner, own, b.thread))
		_, done, err := b.store.ClaimRest(b.ctx, b.owner, own)
		b.NoError(err)
		b.False(done, "a document is still being processed")
		b.Len(b.userData(b.owner).Documents, 2)
		b.NoError(b.store.FailDocument(b.ctx, b.owner, p.processing.ID, "unreadable"))
		_, done, err = b.store.ClaimRest(b.ctx, b.owner, own)
		b.NoError(err)
		b.True(done)

		d := b.userData(own)
		b.Contains(d.Threads, ownThread)
		b.Contains(d.Threads, b.thread)
		b.Len(d.Documents, 4)
		b.Equal(1, d.Keys, "the account's own")
		b.Equal(1, d.Connections, "the account's own")
		profile := must.Have(b.store.Profile(b.ctx, own))(b.t)
		b.Equal("farming", profile.Industry)
		b.owner = strangers
		b.thread = stranger.open.ThreadID
		b.Equal(before, b.view(stranger))
	}},
	{"a claim that has begun is listed until its end, for the account that came first", func(b *fixture) {
		first, second := uuid.NewString(), uuid.NewString()
		listed := func(before time.Time, after string) (all []db.Claim) {
			for _, c := range must.Have(b.store.Claims(b.ctx, before, after, 1000))(b.t) {
				if c.Owner == b.owner {
					all = append(all, c)
				}
			}
			return all
		}
		began := b.now()
		for _, account := range []string{first, second, first} {
			b.Equal(first, must.Have(b.store.BeginClaim(b.ctx, b.owner, account, began))(b.t))
			began = began.Add(time.Hour) // of a later request, which changes nothing
		}
		began = began.Add(-3 * time.Hour)
		want := []db.Claim{{Owner: b.owner, Account: first, Began: began}}
		b.Equal(want, listed(began.Add(time.Second), ""))
		b.Empty(listed(began, ""))
		b.Empty(listed(began.Add(time.Second), b.owner))
		b.Len(must.Have(b.store.Claims(b.ctx, began.Add(time.Second), "", 1))(b.t), 1)

		b.NoError(b.store.EndClaim(b.ctx, db.Claim{Owner: b.owner, Account: second}))
		b.Equal(want, listed(began.Add(time.Second), ""), "another account's")
		b.NoError(b.store.EndClaim(b.ctx, want[0]))
		b.Empty(listed(began.Add(time.Second), ""))
		for _, deleted := range []string{b.owner, first} {
			must.Have(b.store.BeginClaim(b.ctx, b.owner, first, began))(b.t)
			must.Have(b.store.DeleteUser(b.ctx, deleted))(b.t)
			b.Empty(listed(began.Add(time.Second), ""), "a deleted user gets nothing and gives nothing")
		}
		for _, owners := range [][2]string{{chat.PublicOwner, first}, {first, chat.PublicOwner}} {
			b.ErrorIs(must.ErrOf(b.store.BeginClaim(b.ctx, owners[0], owners[1], began)), db.ErrForbidden)
		}
	}},
	{"a claimed thread is claimed once, and only from its owner", func(b *fixture) {
		b.exchange("hello", "hi", chat.RootCheckpoint)
		first, second := uuid.NewString(), uuid.NewString()
		b.ErrorIs(b.store.ClaimThread(b.ctx, second, second, b.thread), db.ErrNotFound)
		b.NoError(b.store.ClaimThread(b.ctx, b.owner, first, b.thread))
		b.ErrorIs(b.store.ClaimThread(b.ctx, b.owner, second, b.thread), db.ErrNotFound)
		b.Len(b.userData(first).Threads, 1)
		b.True(b.userData(second).Empty())
		for _, owners := range [][2]string{{chat.PublicOwner, first}, {first, chat.PublicOwner}} {
			b.ErrorIs(b.store.ClaimThread(b.ctx, owners[0], owners[1], b.thread), db.ErrForbidden)
			_, _, err := b.store.ClaimRest(b.ctx, owners[0], owners[1])
			b.ErrorIs(err, db.ErrForbidden)
		}
	}},
	{"a file that both have imported stays twice, and only the account's own is imported again", func(b *fixture) {
		to := uuid.NewString()
		theirs := b.imported("file-1", "v1")
		must.Have(b.store.PutImport(b.ctx, theirs, []byte("raw")))(b.t)
		b.NoError(b.store.FailDocument(b.ctx, b.owner, theirs.ID, "unreadable"))
		from := b.owner
		b.owner = to
		own := b.imported("file-1", "v1")
		must.Have(b.store.PutImport(b.ctx, own, []byte("raw")))(b.t)
		_, done, err := b.store.ClaimRest(b.ctx, from, to)
		b.NoError(err)
		b.True(done)
		b.ElementsMatch([]string{own.ID, theirs.ID}, b.userData(to).Documents)
		found := must.Have(b.store.ImportedDocument(b.ctx, to, own.SourceType, "file-1"))(b.t)
		b.Equal(own.ID, found.ID)
	}},
	{"a thread whose message was just sent, waits or runs is not claimed", func(b *fixture) {
		turn := b.insert(b.sentAt(time.Now()))
		b.Equal(1, must.Have(b.store.Unfinished(b.ctx, b.owner))(b.t))
		_, done, err := b.store.ClaimRest(b.ctx, b.owner, uuid.NewString())
		b.NoError(err)
		b.False(done)
		refused := func() {
			b.t.Helper()
			b.ErrorIs(b.store.ClaimThread(b.ctx, b.owner, uuid.NewString(), b.thread), db.ErrTurnRuns)
		}
		refused()
		b.mark(turn.ID, chat.TurnAccepted, "")
		refused()
		b.mark(turn.ID, chat.TurnRunning, chat.RootCheckpoint)
		refused()
		b.mark(turn.ID, chat.TurnInterrupted, chat.RootCheckpoint)
		b.NoError(b.store.ClaimThread(b.ctx, b.owner, uuid.NewString(), b.thread))
	}},
	{"a message that was given up, or that nobody sends any more, does not keep its thread from being claimed", func(b *fixture) {
		turn := b.insert(b.sentAt(time.Now()))
		b.NoError(b.store.AbandonTurn(b.ctx, b.owner, turn.ID))
		b.NoError(b.store.ClaimThread(b.ctx, b.owner, uuid.NewString(), b.thread))
		b.thread = uuid.NewString()
		b.insert(b.sentAt(time.Now().Add(-2 * db.UnsentAfter)))
		b.NoError(b.store.ClaimThread(b.ctx, b.owner, uuid.NewString(), b.thread))
	}},
	{"an open import keeps the rest from being claimed", func(b *fixture) {
		b.createImport(b.newImport("key"))
		_, done, err := b.store.ClaimRest(b.ctx, b.owner, uuid.NewString())
		b.NoError(err)
		b.False(done)
	}},
	{"what was stored without an account counts for no address after a claim", func(b *fixture) {
		s := b.store.Within(db.Bounds{Anonymous: true, Address: "address"})
		_, _, _, err := s.InsertTurn(b.ctx, b.newTurn("hello"))
		b.NoError(err)
		b.NoError(s.CreateSet(b.ctx, chat.DocumentSet{ID: uuid.NewString(), Owner: b.owner, Name: "Set"}))
		to := uuid.NewString()
		b.NoError(b.store.ClaimThread(b.ctx, b.owner, to, b.thread))
		_, _, err = b.store.ClaimRest(b.ctx, b.owner, to)
		b.NoError(err)
		b.Equal("", b.unusedOwners(time.Now().Add(time.Hour), "", 10))
		stored := must.Have(b.store.Stored(b.ctx, "", "address"))(b.t)
		b.Zero(stored)
	}},
	{"a claim of oneself changes nothing", func(b *fixture) {
		b.exchange("hello", "hi", chat.RootCheckpoint)
		b.NoError(b.store.PutProfile(b.ctx, b.owner, chat.Profile{Industry: "law"}))
		b.NoError(b.store.CreateKey(b.ctx, db.Key{ID: uuid.NewString(), Owner: b.owner, Name: "k", Digest: uuid.NewString()}))
		before := must.Have(b.store.UserData(b.ctx, b.owner))(b.t)
		b.NoError(b.store.ClaimThread(b.ctx, b.owner, b.owner, b.thread))
		documents, done, err := b.store.ClaimRest(b.ctx, b.owner, b.owner)
		b.NoError(err)
		b.True(done)
		b.Zero(documents)
		b.Equal(before, must.Have(b.store.UserData(b.ctx, b.owner))(b.t))
		b.Equal(chat.Profile{Industry: "law"}, must.Have(b.store.Profile(b.ctx, b.owner))(b.t))
	}},
	{"no cookie is valid for an owner with an account, nor one of before a deletion", func(b *fixture) {
		b.NoError(b.store.Seen(b.ctx, b.owner, false, time.Now()))
		b.Zero(b.session(b.owner))
		b.NoError(b.store.Seen(b.ctx, b.owner, true, time.Now()))
		b.Equal(int64(db.NoCookies), b.session(b.owner))
		left := must.Have(b.store.UserData(b.ctx, b.owner))(b.t)
		b.True(left.Empty())
		other := uuid.NewString()
		for range 2 {
			before := b.session(other)
			must.Have(b.store.DeleteUser(b.ctx, other))(b.t)
			b.Greater(b.session(other), before)
			b.NoError(b.store.PutProfile(b.ctx, other, chat.Profile{}))
			ended := must.Have(b.store.EndSessions(b.ctx, other))(b.t)
			b.Equal(ended, b.session(other), "of a user who came back")
		}
	}},
	{"a document knows the address of an anonymous sender only", func(b *fixture) {
		anonymous, account := chat.Document{ID: uuid.NewString(), Owner: b.owner, Title: "x"}, chat.Document{ID: uuid.NewString(), Owner: b.owner, Title: "y"}
		b.NoError(b.store.Within(db.Bounds{Anonymous: true, Address: "digest"}).CreateDocument(b.ctx, anonymous, []byte("x")))
		b.NoError(b.store.CreateDocument(b.ctx, account, []byte("y")))
		b.Equal("digest", must.Have(b.store.DocumentAddress(b.ctx, b.owner, anonymous.ID))(b.t))
		b.Empty(must.Have(b.store.DocumentAddress(b.ctx, b.owner, account.ID))(b.t))
		_, err := b.store.DocumentAddress(b.ctx, uuid.NewString(), anonymous.ID)
		b.ErrorIs(err, db.ErrNotFound)
	}},
}

func withOwner(t chat.Turn, owner string) chat.Turn {
	t.Owner = owner
	return t
}

// session returns the generation of an owner's cookies.
func (b *fixture) session(owner string) int64 {
	b.t.Helper()
	n := must.Have(b.store.SessionGeneration(b.ctx, owner))(b.t)
	return n
}
