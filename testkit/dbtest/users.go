package dbtest

import (
	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

// everything makes a property and everything else that the store keeps of an owner: an
// unlisted conversation and cancels of every kind.
func (b *fixture) everything() property {
	b.t.Helper()
	p := b.property()
	unlisted := b.newTurn("never accepted")
	unlisted.ThreadID = uuid.NewString()
	b.insert(unlisted)
	for _, ref := range []db.CancelRef{
		{TurnID: p.open.ID}, {ClientTurnID: p.open.ClientTurnID}, {ThreadID: b.thread, ClientTurnID: "early"}, {StreamRunID: "early"},
	} {
		b.NoError(b.store.Cancel(b.ctx, b.owner, ref, chat.UserCancelled))
	}
	return p
}

func (b *fixture) userData(owner string) db.UserData {
	b.t.Helper()
	d := must.Have(b.store.UserData(b.ctx, owner))(b.t)
	return d
}

var userTests = []test{
	{"a user's data is counted, and an unknown user has none", func(b *fixture) {
		p := b.everything()
		d := b.userData(b.owner)
		b.Len(d.Threads, 2)
		b.Contains(d.Threads, b.thread)
		b.ElementsMatch([]string{p.doc.ID, p.processing.ID}, d.Documents)
		b.Equal(3, d.Turns)
		b.Equal(1, d.Sets)
		b.Equal(1, d.Profiles)
		b.Equal(4, d.Cancels)
		b.Equal(2, d.Attachments)
		b.Equal(1, d.Repos)
		b.Equal(1, d.Connections)
		b.Equal(1, d.Keys)
		b.Equal(1, d.Shares)
		b.Equal(1, d.Feedback)
		b.Equal(1, d.Boards)
		b.GreaterOrEqual(d.Messages, 3)
		b.False(d.Empty())
		for _, unknown := range []string{uuid.NewString(), "", "%"} {
			b.True(b.userData(unknown).Empty(), unknown)
		}
	}},
	{"deleting a user removes all of their rows and none of others", func(b *fixture) {
		deleted, thread := b.owner, b.thread
		p := b.everything()
		unlisted := b.userData(deleted).Threads
		b.owner, b.thread = uuid.NewString(), uuid.NewString()
		others := b.everything()
		b.document(chat.PublicOwner, "Everybody's", "apple tart")
		before := b.view(others)
		counted := b.userData(b.owner)

		had := b.userData(deleted)
		removed := must.Have(b.store.DeleteUser(b.ctx, deleted))(b.t)
		b.Equal(had, removed)
		b.True(b.userData(deleted).Empty())
		b.Equal(before, b.view(others))
		b.Equal(counted, b.userData(b.owner))
		hits := must.Have(b.store.SearchText(b.ctx, deleted, db.Words("apple"), nil, 10))(b.t)
		b.Len(hits, 1, "the public document only")

		for _, a := range []chat.Attachment{p.used, p.unused} {
			_, _, err := b.store.Attachment(b.ctx, deleted, a.ID)
			b.ErrorIs(err, db.ErrNotFound)
		}

		// Workflows that still run cannot write, not even as the user.
		for _, id := range unlisted {
			t := b.newTurn("late")
			t.Owner, t.ThreadID = deleted, id
			_, _, _, err := b.store.InsertTurn(b.ctx, t)
			b.ErrorIs(err, db.ErrNotFound)
		}
		_, err := b.store.Settle(b.ctx, db.Settlement{Owner: deleted, ThreadID: thread, TurnID: p.open.ID, Status: chat.TurnCompleted,
			Text: "late", At: b.now(), Terminal: chat.Event{N: 1, Type: chat.EventResponse}})
		b.ErrorIs(err, db.ErrNotFound)
		for _, id := range had.Threads {
			b.ErrorIs(must.ErrOf(b.store.CreateConversation(b.ctx, chat.Conversation{ID: id, Owner: deleted})), db.ErrNotFound)
		}
		b.ErrorIs(b.store.FailDocument(b.ctx, deleted, p.processing.ID, "late"), db.ErrNotFound)
		b.True(b.userData(deleted).Empty())
	}},
	{"deleting an unknown or deleted user removes nothing", func(b *fixture) {
		b.everything()
		must.Have(b.store.DeleteUser(b.ctx, b.owner))(b.t)
		for _, owner := range []string{b.owner, uuid.NewString(), ""} {
			removed := must.Have(b.store.DeleteUser(b.ctx, owner))(b.t)
			b.True(removed.Empty(), owner)
		}
	}},
	{"a deleted user may start again", func(b *fixture) {
		b.everything()
		must.Have(b.store.DeleteUser(b.ctx, b.owner))(b.t)
		b.thread = uuid.NewString()
		b.exchange("hello again", "hi", chat.RootCheckpoint)
		b.Len(b.userData(b.owner).Threads, 1)
	}},
	{"PublicOwner cannot be deleted", func(b *fixture) {
		d := b.document(chat.PublicOwner, "Everybody's", "apple tart")
		b.ErrorIs(must.ErrOf(b.store.DeleteUser(b.ctx, chat.PublicOwner)), db.ErrForbidden)
		must.Have(b.store.Document(b.ctx, b.owner, d.ID))(b.t)
	}},
	{"the cancels of a deleted conversation are deleted with it, by any id", func(b *fixture) {
		p := b.property()
		for _, ref := range []db.CancelRef{
			{TurnID: p.open.ID}, {ClientTurnID: p.open.ClientTurnID}, {ThreadID: b.thread, ClientTurnID: p.open.ClientTurnID},
			{ThreadID: b.thread, ClientTurnID: "early"}, {StreamRunID: p.open.StreamRunID},
		} {
			b.NoError(b.store.Cancel(b.ctx, b.owner, ref, chat.UserCancelled))
		}
		b.NoError(b.store.Cancel(b.ctx, b.owner, db.CancelRef{ClientTurnID: "another conversation's"}, chat.UserCancelled))
		b.NoError(b.store.DeleteConversation(b.ctx, b.owner, b.thread))
		d := b.userData(b.owner)
		b.Equal(1, d.Cancels)
		b.Zero(d.Turns+d.Messages+len(d.Threads), "%+v", d)
	}},
}
