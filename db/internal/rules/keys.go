package rules

import (
	"context"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

func (s *Store) CreateKey(ctx context.Context, k db.Key) (err error) {
	ctx, end := s.short(ctx, "write a personal key")
	defer end(&err)
	return s.db.Update(ctx, func(q Queries) error {
		if err := q.LockQuotas(ctx, []string{"keys:" + k.Owner}); err != nil {
			return err
		}
		list, err := q.AccessKeys(ctx, k.Owner)
		if err != nil {
			return err
		}
		if len(list) >= db.MaxKeys {
			return &db.Exceeded{Bound: db.BoundKeys, Scope: db.OfOwner, Limit: db.MaxKeys}
		}
		if k.Space != "" {
			if _, err := lockedSpace(ctx, q, k.Owner, k.Space, chat.Reader); err != nil {
				return err
			}
		}
		if k.Anonymous {
			if err := markAnonymous(ctx, q, k.Owner); err != nil {
				return err
			}
		}
		return q.CreateAccessKey(ctx, sqlcgen.CreateAccessKeyParams{ID: k.ID, Owner: k.Owner, Name: k.Name, Digest: k.Digest, Anonymous: k.Anonymous,
			CreatedAt: record.Micros(record.OrNow(k.CreatedAt)), ExpiresAt: record.Micros(k.ExpiresAt), SpaceID: k.Space})
	})
}

func (s *Store) Keys(ctx context.Context, owner string) (_ []db.Key, err error) {
	ctx, end := s.short(ctx, "list personal keys")
	defer end(&err)
	rows, err := s.db.Read.AccessKeys(ctx, owner)
	return rowsTo(rows, err, accessKey)
}

func (s *Store) KeyByDigest(ctx context.Context, digest string) (_ db.Key, err error) {
	ctx, end := s.short(ctx, "find a personal key")
	defer end(&err)
	row, err := s.db.Read.AccessKeyByDigest(ctx, digest)
	if err != nil {
		return db.Key{}, err
	}
	return accessKey(row), nil
}

func (s *Store) UseKey(ctx context.Context, owner, id string, at time.Time) (err error) {
	ctx, end := s.short(ctx, "note the use of a personal key")
	defer end(&err)
	return s.db.Write.UseAccessKey(ctx, sqlcgen.UseAccessKeyParams{UsedAt: record.Micros(at), Owner: owner, ID: id})
}

func (s *Store) DeleteKey(ctx context.Context, owner, id string) (err error) {
	ctx, end := s.short(ctx, "delete a personal key")
	defer end(&err)
	deleted, err := s.db.Write.DeleteAccessKey(ctx, sqlcgen.DeleteAccessKeyParams{Owner: owner, ID: id})
	if err == nil && deleted == 0 {
		return db.ErrNotFound
	}
	return err
}

func accessKey(row sqlcgen.AccessKey) db.Key {
	return db.Key{ID: row.ID, Owner: row.Owner, Name: row.Name, Digest: row.Digest, Anonymous: row.Anonymous,
		CreatedAt: record.Time(row.CreatedAt), UsedAt: record.Time(row.UsedAt), ExpiresAt: record.Time(row.ExpiresAt), Space: row.SpaceID}
}

// revokeLeftKeys deletes the keys that are bound to a space, or to any space of a person,
// whose owner does not read the space any more.
func revokeLeftKeys(ctx context.Context, q Queries, space, person string) error {
	return q.RevokeLeftKeys(ctx, sqlcgen.RevokeLeftKeysParams{SpaceID: space, Owner: person, Now: record.Micros(time.Now())})
}
