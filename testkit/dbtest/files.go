package dbtest

import (
	"bytes"
	"strconv"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

// attachment stores a picture of owner that no message uses yet.
func (b *fixture) attachment(owner, data string) chat.Attachment {
	b.t.Helper()
	a := chat.Attachment{ID: uuid.NewString(), Owner: owner, Space: uuid.NewString(), MIME: "image/png", Bytes: len(data)}
	b.NoError(b.store.PutAttachment(b.ctx, a, []byte(data)))
	return a
}

// stored reads an attachment, and checks its bytes.
func (b *fixture) stored(id, data string) chat.Attachment {
	b.t.Helper()
	a, got, err := b.store.Attachment(b.ctx, b.owner, id)
	b.NoError(err)
	b.Equal(data, string(got))
	return a
}

func (b *fixture) assertDeleted(id string) {
	b.t.Helper()
	_, _, err := b.store.Attachment(b.ctx, b.owner, id)
	b.ErrorIs(err, db.ErrNotFound)
}

func (b *fixture) unused() (int, int64) {
	b.t.Helper()
	number, bytes, err := b.store.UnusedAttachments(b.ctx, b.owner)
	b.NoError(err)
	return number, bytes
}

// showing returns a turn whose message has pictures.
func (b *fixture) showing(ids ...string) chat.Turn {
	t := b.newTurn("look")
	t.Content.Attachments = ids
	t.ContentHash = t.Content.Hash()
	return t
}

var fileTests = []test{
	{"a picture reads back as stored and cannot be overwritten", func(b *fixture) {
		data := "\x00\xff\x89PNG" + string(bytes.Repeat([]byte{7}, 300_000))
		a := b.attachment(b.owner, data)
		b.Equal(a, b.stored(a.ID, data))
		b.NoError(b.store.PutAttachment(b.ctx, chat.Attachment{ID: a.ID, Owner: b.owner, MIME: "image/webp"}, []byte("other")))
		b.Equal(a, b.stored(a.ID, data))
		empty := b.attachment(b.owner, "")
		b.Equal(empty, b.stored(empty.ID, ""))
	}},
	{"pictures by id keep their order, and unknown ones are left out", func(b *fixture) {
		one, two := b.attachment(b.owner, "1"), b.attachment(b.owner, "22")
		list := must.Have(b.store.AttachmentsByID(b.ctx, b.owner, []string{two.ID, "unknown", one.ID}))(b.t)
		b.Equal([]chat.Attachment{two, one}, list)
		list = must.Have(b.store.AttachmentsByID(b.ctx, b.owner, nil))(b.t)
		b.Empty(list)
	}},
	{"a picture belongs to the conversation of its message and is deleted with it", func(b *fixture) {
		a, other := b.attachment(b.owner, "x"), b.attachment(b.owner, "y")
		b.insert(b.showing(a.ID))
		b.Equal(b.thread, b.stored(a.ID, "x").ThreadID)
		first := b.thread
		b.thread = uuid.NewString()
		b.insert(b.showing(a.ID, other.ID))
		b.Equal(first, b.stored(a.ID, "x").ThreadID, "it stays in its conversation")
		b.Equal(b.thread, b.stored(other.ID, "y").ThreadID)
		b.NoError(b.store.DeleteConversation(b.ctx, b.owner, first))
		b.assertDeleted(a.ID)
		b.stored(other.ID, "y")
	}},
	{"pictures can be assigned to an existing conversation", func(b *fixture) {
		a := b.attachment(b.owner, "x")
		b.ErrorIs(b.store.UseAttachments(b.ctx, b.owner, b.thread, []string{a.ID}), db.ErrNotFound)
		b.thread = b.conversation("").ID
		b.NoError(b.store.UseAttachments(b.ctx, b.owner, b.thread, []string{"unknown", a.ID}))
		b.NoError(b.store.UseAttachments(b.ctx, b.owner, b.thread, nil))
		b.Equal(b.thread, b.stored(a.ID, "x").ThreadID)
	}},
	{"a picture made in a conversation is stored once, and refused after the conversation was deleted", func(b *fixture) {
		b.thread = b.conversation("").ID
		made := chat.Attachment{ID: uuid.NewString(), Owner: b.owner, ThreadID: b.thread, MIME: "image/png", Bytes: 1}
		for range 2 {
			b.NoError(b.store.PutAttachment(b.ctx, made, []byte("x")))
		}
		b.Equal(made, b.stored(made.ID, "x"))
		number, _ := b.unused()
		b.Zero(number)
		b.NoError(b.store.DeleteConversation(b.ctx, b.owner, b.thread))
		b.assertDeleted(made.ID)
		b.ErrorIs(b.store.PutAttachment(b.ctx, made, []byte("x")), db.ErrNotFound)
		b.assertDeleted(made.ID)
	}},
	{"an unused picture counts until a message uses it", func(b *fixture) {
		a := b.attachment(b.owner, "12345")
		b.attachment(b.owner, "123")
		b.attachment(uuid.NewString(), "somebody else's")
		number, size := b.unused()
		b.Equal(2, number)
		b.Equal(int64(8), size)
		b.insert(b.showing(a.ID))
		number, size = b.unused()
		b.Equal(1, number)
		b.Equal(int64(3), size)
	}},
	{"a user's message has its pictures in its metadata", func(b *fixture) {
		a := b.attachment(b.owner, "x")
		b.mark(b.insert(b.showing(a.ID)).ID, chat.TurnRunning, chat.RootCheckpoint)
		b.Equal([]any{a.ID}, b.history("", "", 10).Messages[0].Metadata["attachments"])
	}},
	{"a repo's versions count from one, and the last one is kept", func(b *fixture) {
		b.ErrorIs(must.ErrOf(b.store.Repo(b.ctx, b.owner, b.thread)), db.ErrNotFound)
		for i, data := range []string{"\x1f\x8b\x00one", "two", "three"} {
			put := must.Have(b.store.PutRepo(b.ctx, b.owner, b.thread, []byte(data), "digest "+strconv.Itoa(i), nil))(b.t)
			b.Equal(i+1, put.Version)
			got := must.Have(b.store.Repo(b.ctx, b.owner, b.thread))(b.t)
			b.Equal(db.Repo{Version: i + 1, SHA256: "digest " + strconv.Itoa(i), Gzipped: []byte(data), UpdatedAt: put.UpdatedAt}, got)
		}
	}},
	{"a repo creates its conversation, or leaves an existing one unchanged", func(b *fixture) {
		must.Have(b.store.PutRepo(b.ctx, b.owner, b.thread, []byte("x"), "d", nil))(b.t)
		b.Equal([]string{b.thread}, b.listed(""))
		b.exchange("hello", "hi", chat.RootCheckpoint)
		before := must.Have(b.store.Conversation(b.ctx, b.owner, b.thread))(b.t)
		must.Have(b.store.PutRepo(b.ctx, b.owner, b.thread, []byte("x"), "d", nil))(b.t)
		after := must.Have(b.store.Conversation(b.ctx, b.owner, b.thread))(b.t)
		b.Equal(before, after)
	}},
	{"a repo is stored only over the version that was expected", func(b *fixture) {
		put := func(match int) error {
			_, err := b.store.PutRepo(b.ctx, b.owner, b.thread, []byte("x"), "d", &match)
			return err
		}
		b.ErrorIs(put(1), db.ErrVersion)
		b.ErrorIs(must.ErrOf(b.store.Repo(b.ctx, b.owner, b.thread)), db.ErrNotFound)
		b.NoError(put(0))
		b.ErrorIs(put(0), db.ErrVersion)
		b.ErrorIs(put(2), db.ErrVersion)
		b.NoError(put(1))
		got := must.Have(b.store.Repo(b.ctx, b.owner, b.thread))(b.t)
		b.Equal(2, got.Version)
	}},
	{"a repo is deleted with its conversation and cannot be stored again", func(b *fixture) {
		must.Have(b.store.PutRepo(b.ctx, b.owner, b.thread, []byte("x"), "d", nil))(b.t)
		b.NoError(b.store.DeleteConversation(b.ctx, b.owner, b.thread))
		b.ErrorIs(must.ErrOf(b.store.Repo(b.ctx, b.owner, b.thread)), db.ErrNotFound)
		b.ErrorIs(must.ErrOf(b.store.PutRepo(b.ctx, b.owner, b.thread, []byte("x"), "d", nil)), db.ErrNotFound)
	}},
	{"of several writers that expect the same version, one succeeds", func(b *fixture) {
		var errs [5]error
		none := 0
		together(len(errs), func(i int) {
			_, errs[i] = b.store.PutRepo(b.ctx, b.owner, b.thread, []byte("x"), "d", &none)
		})
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
			} else {
				b.ErrorIs(err, db.ErrVersion)
			}
		}
		b.Equal(1, won)
	}},
	{"a picture stored while its conversation is deleted leaves no row", func(b *fixture) {
		for range 10 {
			b.thread = b.conversation("").ID
			a := b.attachment(b.owner, "x")
			var errs [2]error
			together(2, func(i int) {
				if i == 0 {
					errs[i] = b.store.DeleteConversation(b.ctx, b.owner, b.thread)
				} else {
					errs[i] = b.store.UseAttachments(b.ctx, b.owner, b.thread, []string{a.ID})
				}
			})
			b.NoError(errs[0])
			if errs[1] == nil {
				b.assertDeleted(a.ID)
			} else {
				b.ErrorIs(errs[1], db.ErrNotFound)
				b.Empty(b.stored(a.ID, "x").ThreadID)
			}
		}
	}},
}
