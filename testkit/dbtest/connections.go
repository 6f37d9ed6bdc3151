package dbtest

import (
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

// account returns a connection of the owner that is not stored yet.
func (b *fixture) account(token string) db.Connection {
	return db.Connection{Owner: b.owner, Provider: "google", Account: "ann@example.com", Scope: "drive.readonly", Token: token, CreatedAt: b.now()}
}

func (b *fixture) connected() db.Connection {
	b.t.Helper()
	c := must.Have(b.store.Connection(b.ctx, b.owner, "google"))(b.t)
	return c
}

var connectionTests = []test{
	{"a connection is read as it was written, and a missing one is ErrNotFound", func(b *fixture) {
		b.ErrorIs(must.ErrOf(b.store.Connection(b.ctx, b.owner, "google")), db.ErrNotFound)
		want := b.account("sealed")
		b.NoError(b.store.PutConnection(b.ctx, want, false))
		want.Version, want.UpdatedAt = 1, want.CreatedAt
		b.Equal(want, b.connected())
		list := must.Have(b.store.Connections(b.ctx, b.owner))(b.t)
		b.Equal([]db.Connection{want}, list)
		b.ErrorIs(must.ErrOf(b.store.Connection(b.ctx, b.owner, "other")), db.ErrNotFound)
	}},
	{"connecting again replaces the account, with a later version", func(b *fixture) {
		b.NoError(b.store.PutConnection(b.ctx, b.account("first"), false))
		again := b.account("second")
		again.Account = "bob@example.com"
		b.NoError(b.store.PutConnection(b.ctx, again, false))
		again.Version, again.UpdatedAt = 2, again.CreatedAt
		b.Equal(again, b.connected())
	}},
	{"a token is renewed only in the version that was read", func(b *fixture) {
		b.NoError(b.store.PutConnection(b.ctx, b.account("first"), false))
		read, at := b.connected(), b.now()
		b.NoError(b.store.RenewConnection(b.ctx, read, "second", at))
		renewed := b.connected()
		b.Equal("second", renewed.Token)
		b.Equal(at, renewed.UpdatedAt)
		b.Equal(read.CreatedAt, renewed.CreatedAt)
		b.ErrorIs(b.store.RenewConnection(b.ctx, read, "late", b.now()), db.ErrVersion)
		b.Equal(renewed, b.connected())

		b.NoError(b.store.PutConnection(b.ctx, b.account("other account"), false))
		b.ErrorIs(b.store.RenewConnection(b.ctx, renewed, "late", b.now()), db.ErrVersion)
		b.Equal("other account", b.connected().Token)
	}},
	{"owners with a token are listed in order, page by page", func(b *fixture) {
		owners := []string{b.owner + "1", b.owner + "2", b.owner + "3"}
		for _, owner := range owners {
			c := b.account("sealed")
			c.Owner = owner
			b.NoError(b.store.PutConnection(b.ctx, c, false))
		}
		revoked := must.Have(b.store.Connection(b.ctx, owners[1], "google"))(b.t)
		b.NoError(b.store.RenewConnection(b.ctx, revoked, "", b.now()))
		page := must.Have(b.store.ConnectedOwners(b.ctx, b.owner, 1))(b.t)
		b.Equal(owners[:1], page)
		page = must.Have(b.store.ConnectedOwners(b.ctx, owners[0], 1))(b.t)
		b.Equal(owners[2:], page, "the service has taken the second token back")
	}},
	{"a removed connection is not brought back by a token that is renewed late", func(b *fixture) {
		b.NoError(b.store.PutConnection(b.ctx, b.account("first"), false))
		read := b.connected()
		b.NoError(b.store.DeleteConnection(b.ctx, b.owner, "google"))
		b.ErrorIs(b.store.RenewConnection(b.ctx, read, "late", b.now()), db.ErrVersion)
		b.ErrorIs(b.store.DeleteConnection(b.ctx, b.owner, "google"), db.ErrNotFound)
		list := must.Have(b.store.Connections(b.ctx, b.owner))(b.t)
		b.Empty(list)
	}},
	{"another owner's token is never renewed", func(b *fixture) {
		b.NoError(b.store.PutConnection(b.ctx, b.account("sealed"), false))
		foreign := b.connected()
		foreign.Owner = uuid.NewString()
		b.ErrorIs(b.store.RenewConnection(b.ctx, foreign, "theirs", b.now()), db.ErrVersion)
		b.Equal("sealed", b.connected().Token)
	}},
	{"an anonymous owner who has only a connection is listed as unused after some time", func(b *fixture) {
		b.NoError(b.store.PutConnection(b.ctx, b.account("sealed"), true))
		owners := must.Have(b.store.UnusedOwners(b.ctx, time.Now().Add(time.Hour), "", 10))(b.t)
		b.Equal([]string{b.owner}, owners)
	}},
}
