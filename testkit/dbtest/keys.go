package dbtest

import (
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

// personalKey returns a key of the owner that is not stored yet.
func (b *fixture) personalKey(name string) db.Key {
	return db.Key{ID: uuid.NewString(), Owner: b.owner, Name: name, Digest: uuid.NewString(), CreatedAt: b.now()}
}

var keyTests = []test{
	{"a key is found by its digest, and a missing one is ErrNotFound", func(b *fixture) {
		want := b.personalKey("Open WebUI")
		want.ExpiresAt = want.CreatedAt.Add(time.Hour)
		b.NoError(b.store.CreateKey(b.ctx, want))
		got := must.Have(b.store.KeyByDigest(b.ctx, want.Digest))(b.t)
		b.Equal(want, got)
		b.ErrorIs(must.ErrOf(b.store.KeyByDigest(b.ctx, uuid.NewString())), db.ErrNotFound)
	}},
	{"keys are listed in the order in which they were made", func(b *fixture) {
		first, second := b.personalKey("first"), b.personalKey("second")
		second.CreatedAt = first.CreatedAt.Add(time.Second)
		b.NoError(b.store.CreateKey(b.ctx, second))
		b.NoError(b.store.CreateKey(b.ctx, first))
		list := must.Have(b.store.Keys(b.ctx, b.owner))(b.t)
		b.Equal([]db.Key{first, second}, list)
	}},
	{"the last use of a key is kept, and an earlier one does not replace it", func(b *fixture) {
		k := b.personalKey("used")
		b.NoError(b.store.CreateKey(b.ctx, k))
		at := k.CreatedAt.Add(time.Minute)
		b.NoError(b.store.UseKey(b.ctx, b.owner, k.ID, at))
		b.NoError(b.store.UseKey(b.ctx, b.owner, k.ID, k.CreatedAt))
		b.NoError(b.store.UseKey(b.ctx, uuid.NewString(), k.ID, at.Add(time.Hour)))
		got := must.Have(b.store.KeyByDigest(b.ctx, k.Digest))(b.t)
		b.Equal(at, got.UsedAt)
	}},
	{"of keys that are made at once, no more are stored than the bound", func(b *fixture) {
		made := b.admitted(db.MaxKeys+10, func() error { return b.store.CreateKey(b.ctx, b.personalKey("mine")) })
		b.Equal(db.MaxKeys, made)
		list := must.Have(b.store.Keys(b.ctx, b.owner))(b.t)
		b.Len(list, db.MaxKeys)
		b.NoError(b.store.DeleteKey(b.ctx, b.owner, list[0].ID))
		b.NoError(b.store.CreateKey(b.ctx, b.personalKey("one more")))
	}},
	{"a revoked key is not found", func(b *fixture) {
		k := b.personalKey("lost")
		b.NoError(b.store.CreateKey(b.ctx, k))
		b.NoError(b.store.DeleteKey(b.ctx, b.owner, k.ID))
		b.ErrorIs(must.ErrOf(b.store.KeyByDigest(b.ctx, k.Digest)), db.ErrNotFound)
		b.ErrorIs(b.store.DeleteKey(b.ctx, b.owner, k.ID), db.ErrNotFound)
	}},
	{"a key that is bound to a space is made by its readers only, and revoked when they leave it", func(b *fixture) {
		sp, other := b.space("Team"), b.space("Other")
		bound := func(owner, space string) db.Key {
			k := b.personalKey("bound")
			k.Owner, k.Space = owner, space
			return k
		}
		b.ErrorIs(b.store.CreateKey(b.ctx, bound(uuid.NewString(), sp.ID)), db.ErrNotFound)
		kept := func(k db.Key) bool {
			got, err := b.store.KeyByDigest(b.ctx, k.Digest)
			b.Equal(err == nil, got == k)
			return err == nil
		}
		member, grouped := b.join(sp.ID, chat.Reader), uuid.NewString()
		b.NoError(b.store.PutSpaceMember(b.ctx, b.owner, other.ID, chat.SpaceMember{ID: member, Role: chat.Reader}))
		b.NoError(b.store.PutSpaceMember(b.ctx, b.owner, sp.ID, chat.SpaceMember{Group: true, ID: "legal", Role: chat.Reader}))
		legal := func(owner string, groups ...string) {
			b.NoError(b.store.PutGroups(b.ctx, owner, groups, time.Now().Add(time.Hour)))
		}
		legal(grouped, "legal")
		mine, elsewhere, free, byGroup := bound(member, sp.ID), bound(member, other.ID), bound(member, ""), bound(grouped, sp.ID)
		for _, k := range []db.Key{mine, elsewhere, free, byGroup} {
			b.NoError(b.store.CreateKey(b.ctx, k))
			b.True(kept(k))
		}

		legal(member, "legal") // who is still a member by a group has not left
		b.NoError(b.store.RemoveSpaceMember(b.ctx, b.owner, sp.ID, false, member))
		b.True(kept(mine))
		legal(member)
		b.False(kept(mine))
		b.True(kept(elsewhere))
		b.True(kept(free))
		b.NoError(b.store.RemoveSpaceMember(b.ctx, member, other.ID, false, member)) // leaves
		b.False(kept(elsewhere))
		b.True(kept(byGroup))
		b.NoError(b.store.RemoveSpaceMember(b.ctx, b.owner, sp.ID, true, "legal"))
		b.False(kept(byGroup))
		b.True(kept(free))

		last := bound(b.owner, sp.ID)
		b.NoError(b.store.CreateKey(b.ctx, last))
		b.NoError(b.store.DeleteSpace(b.ctx, b.owner, sp.ID, "Team", b.now()))
		b.True(kept(last), "the space can be restored")
		b.NoError(b.store.PruneSpaces(b.ctx, time.Now().Add(2*db.SpaceKept)))
		b.False(kept(last))
	}},
	{"an anonymous owner who has only a key is listed as unused after some time", func(b *fixture) {
		k := b.personalKey("mine")
		k.Anonymous = true
		b.NoError(b.store.CreateKey(b.ctx, k))
		owners := must.Have(b.store.UnusedOwners(b.ctx, time.Now().Add(time.Hour), "", 10))(b.t)
		b.Equal([]string{b.owner}, owners)
	}},
	{"turns of a run are listed newest first, from every thread, without those that no history shows", func(b *fixture) {
		run := uuid.NewString()
		first := b.newTurn("one")
		first.StreamRunID = run
		second := b.newTurn("two")
		second.StreamRunID, second.ThreadID = run, uuid.NewString()
		for _, t := range []chat.Turn{first, second} {
			_, _, _, err := b.store.InsertTurn(b.ctx, t)
			b.NoError(err)
		}
		list := must.Have(b.store.TurnsOfRun(b.ctx, b.owner, run))(b.t)
		b.Len(list, 2)
		b.Equal(second.ID, list[0].ID)
		b.Equal(first.ID, list[1].ID)
		list = must.Have(b.store.TurnsOfRun(b.ctx, b.owner, uuid.NewString()))(b.t)
		b.Empty(list)
	}},
}
