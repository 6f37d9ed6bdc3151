package rules

import (
	"context"
	"encoding/json"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

func (s *Store) CreateShare(ctx context.Context, share db.Share) (err error) {
	ctx, end := s.short(ctx, "write a shared link")
	defer end(&err)
	return s.db.Update(ctx, func(q Queries) error {
		if err := q.LockQuotas(ctx, []string{"shares:" + share.Owner}); err != nil {
			return err
		}
		n, err := q.CountShares(ctx, share.Owner)
		if err != nil {
			return err
		}
		if n >= db.MaxShares {
			return &db.Exceeded{Bound: db.BoundShares, Scope: db.OfOwner, Limit: db.MaxShares}
		}
		return record.Found(q.CreateShare(ctx, sqlcgen.CreateShareParams{ID: share.ID, Owner: share.Owner, ThreadID: share.ThreadID, Digest: share.Digest,
			Title: share.Title, Content: string(share.Content), CreatedAt: record.Micros(record.OrNow(share.CreatedAt))}))
	})
}

func (s *Store) Shares(ctx context.Context, owner string) (_ []db.Share, err error) {
	ctx, end := s.short(ctx, "list shared links")
	defer end(&err)
	rows, err := s.db.Read.Shares(ctx, owner)
	return rowsTo(rows, err, func(r sqlcgen.SharesRow) db.Share {
		title := here(ctx, chat.Conversation{Title: r.Title, Space: r.SpaceID}).Title
		return db.Share{ID: r.ID, Owner: r.Owner, ThreadID: r.ThreadID, Title: title, CreatedAt: record.Time(r.CreatedAt)}
	})
}

func (s *Store) ShareByDigest(ctx context.Context, digest string) (_ db.Share, err error) {
	ctx, end := s.short(ctx, "find a shared link")
	defer end(&err)
	r, err := s.db.Read.ShareByDigest(ctx, digest)
	if err == nil && r.SpaceID != "" {
		var sp chat.Space
		if sp, err = spaceFor(ctx, s.db.Read, r.Owner, r.SpaceID, chat.Reader); err == nil && !sp.Links {
			err = db.ErrNotFound
		}
	}
	if err != nil {
		return db.Share{}, err
	}
	return db.Share{ID: r.ID, Owner: r.Owner, ThreadID: r.ThreadID, Title: r.Title, CreatedAt: record.Time(r.CreatedAt), Content: json.RawMessage(r.Content)}, nil
}

func (s *Store) DeleteShare(ctx context.Context, owner, threadID, id string) (err error) {
	ctx, end := s.short(ctx, "delete a shared link")
	defer end(&err)
	return record.Found(s.db.Write.DeleteShare(ctx, sqlcgen.DeleteShareParams{Owner: owner, ThreadID: threadID, ID: id}))
}
