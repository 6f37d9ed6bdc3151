package dbtest

import (
	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

// share returns a link to the fixture's thread that is not stored yet.
func (b *fixture) share(title string) db.Share {
	return db.Share{ID: uuid.NewString(), Owner: b.owner, ThreadID: b.thread, Digest: uuid.NewString(), Title: title,
		Content: []byte(`[{"role":"user","text":"hello"}]`), CreatedAt: b.now()}
}

// listedShare returns a link in the form in which Shares lists it.
func listedShare(s db.Share) db.Share {
	s.Digest, s.Content = "", nil
	return s
}

var shareTests = []test{
	{"a link is found by its digest, with the messages that it was made with", func(b *fixture) {
		b.exchange("hello", "hi", chat.RootCheckpoint)
		want := b.share("Greetings")
		b.NoError(b.store.CreateShare(b.ctx, want))
		got := must.Have(b.store.ShareByDigest(b.ctx, want.Digest))(b.t)
		want.Digest = ""
		b.Equal(want, got)
		b.ErrorIs(must.ErrOf(b.store.ShareByDigest(b.ctx, uuid.NewString())), db.ErrNotFound)
	}},
	{"links are listed in the order in which they were made", func(b *fixture) {
		b.exchange("hello", "hi", chat.RootCheckpoint)
		first, second := b.share("first"), b.share("second")
		b.NoError(b.store.CreateShare(b.ctx, second))
		b.NoError(b.store.CreateShare(b.ctx, first))
		list := must.Have(b.store.Shares(b.ctx, b.owner))(b.t)
		b.Equal([]db.Share{listedShare(first), listedShare(second)}, list)
	}},
	{"a revoked link is not found", func(b *fixture) {
		b.exchange("hello", "hi", chat.RootCheckpoint)
		s := b.share("x")
		b.NoError(b.store.CreateShare(b.ctx, s))
		b.ErrorIs(b.store.DeleteShare(b.ctx, b.owner, uuid.NewString(), s.ID), db.ErrNotFound, "of another conversation")
		b.NoError(b.store.DeleteShare(b.ctx, b.owner, b.thread, s.ID))
		b.ErrorIs(must.ErrOf(b.store.ShareByDigest(b.ctx, s.Digest)), db.ErrNotFound)
		b.ErrorIs(b.store.DeleteShare(b.ctx, b.owner, b.thread, s.ID), db.ErrNotFound)
	}},
	{"a link is deleted with its conversation", func(b *fixture) {
		b.exchange("hello", "hi", chat.RootCheckpoint)
		s := b.share("x")
		b.NoError(b.store.CreateShare(b.ctx, s))
		b.NoError(b.store.DeleteConversation(b.ctx, b.owner, b.thread))
		b.ErrorIs(must.ErrOf(b.store.ShareByDigest(b.ctx, s.Digest)), db.ErrNotFound)
		b.ErrorIs(b.store.CreateShare(b.ctx, b.share("late")), db.ErrNotFound)
	}},
	{"of links that are made at once, no more are stored than the bound", func(b *fixture) {
		b.exchange("hello", "hi", chat.RootCheckpoint)
		b.Equal(db.MaxShares, b.admitted(db.MaxShares+10, func() error {
			return b.store.CreateShare(b.ctx, db.Share{
				ID: uuid.NewString(), Owner: b.owner, ThreadID: b.thread, Digest: uuid.NewString(), Content: []byte("[]")})
		}))
	}},
}
