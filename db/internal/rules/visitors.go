package rules

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

func markAnonymous(ctx context.Context, q Queries, owner string) error {
	return q.MarkAnonymous(ctx, sqlcgen.MarkAnonymousParams{Owner: owner, At: record.Micros(time.Now())})
}

// Seen reads first, because most visits change nothing.
func (s *Store) Seen(ctx context.Context, owner string, account bool, at time.Time) (err error) {
	ctx, end := s.short(ctx, "record a visit")
	defer end(&err)
	if account {
		return s.seenAccount(ctx, owner)
	}
	seen, err := s.db.Read.AnonymousSeen(ctx, owner)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return err
	case at.Sub(record.Time(seen)) < db.SeenEvery:
		return nil
	}
	return s.db.Write.SetAnonymousSeen(ctx, sqlcgen.SetAnonymousSeenParams{Owner: owner, At: record.Micros(at)})
}

func (s *Store) seenAccount(ctx context.Context, owner string) error {
	sessions, err := s.db.Read.SessionGeneration(ctx, sqlcgen.SessionGenerationParams{Owner: owner, Deleted: deletedOwner(owner)})
	if err != nil {
		return err
	}
	_, err = s.db.Read.AnonymousSeen(ctx, owner)
	switch {
	case errors.Is(err, sql.ErrNoRows) && sessions >= db.NoCookies:
		return nil
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return err
	}
	return s.db.Update(ctx, func(q Queries) error { return nowHasAccount(ctx, q, owner) })
}

// nowHasAccount records that an owner has an account: what they have stored no longer
// counts for an address, and no cookie opens it.
func nowHasAccount(ctx context.Context, q Queries, owner string) error {
	if err := q.RaiseSessions(ctx, sqlcgen.RaiseSessionsParams{Owner: owner, Sessions: db.NoCookies}); err != nil {
		return err
	}
	for _, change := range []func(context.Context, string) error{
		q.ClearThreadAddresses, q.ClearDocumentAddresses, q.ClearSetAddresses, q.ClearAttachmentAddresses, q.ClearRepoAddresses, q.ClearImportsAddress, q.ClearBoardAddresses,
		q.UnmarkAnonymous,
	} {
		if err := change(ctx, owner); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) Retire(ctx context.Context, owner string, before time.Time) (err error) {
	ctx, end := s.short(ctx, "retire an unused owner")
	defer end(&err)
	return s.db.Update(ctx, func(q Queries) error {
		if err := record.Found(q.LockUnused(ctx, sqlcgen.LockUnusedParams{Owner: owner, BeforeAt: record.Micros(before)})); err != nil {
			return err
		}
		if err := q.DeleteUserAccessKeys(ctx, owner); err != nil {
			return err
		}
		return endSessionsOfDeleted(ctx, q, owner)
	})
}

func (s *Store) UnusedOwners(ctx context.Context, before time.Time, after string, limit int) (_ []string, err error) {
	ctx, end := s.short(ctx, "list unused owners")
	defer end(&err)
	return s.db.Read.UnusedOwners(ctx, sqlcgen.UnusedOwnersParams{BeforeAt: record.Micros(before), AfterOwner: after, MaxRows: int64(limit)})
}
