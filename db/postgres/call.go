package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
)

// patience is how long calls wait for the database, whatever their caller would.
// A server that hangs, or a pooler before one that is away, says nothing at all.
type patience struct {
	few    time.Duration // a call of a few rows
	large  time.Duration // one that moves a file, or searches
	whole  time.Duration // one that stores a whole document, or removes a user
	silent time.Duration // a call of a few rows while the last one got no answer
	idle   time.Duration // the server, between two statements of a transaction
}

var patient = patience{few: 5 * time.Second, large: 20 * time.Second, whole: 5 * time.Minute, silent: time.Second, idle: 5 * time.Second}

// few begins a call of a few rows; end is deferred. It names the operation in
// the error and turns an error of the driver into one of package db.
func (s *Store) few(ctx context.Context, operation string) (_ context.Context, end func(*error)) {
	if s.silent.Load() {
		return s.call(ctx, operation, s.patience.silent)
	}
	return s.call(ctx, operation, s.patience.few)
}

// large is few for a call that moves a file or searches.
func (s *Store) large(ctx context.Context, operation string) (_ context.Context, end func(*error)) {
	return s.call(ctx, operation, s.patience.large)
}

// whole is few for a call that stores a whole document or removes a user.
func (s *Store) whole(ctx context.Context, operation string) (_ context.Context, end func(*error)) {
	return s.call(ctx, operation, s.patience.whole)
}

func (s *Store) call(caller context.Context, operation string, patience time.Duration) (context.Context, func(*error)) {
	ctx, cancel := context.WithTimeout(caller, patience)
	return ctx, func(err *error) {
		unanswered := ctx.Err() != nil && caller.Err() == nil
		cancel()
		switch e := *err; {
		case e == nil:
			s.silent.Store(false)
		case unanswered && (errors.Is(e, db.ErrUnavailable) || !record.IsDomain(e) && !errors.Is(e, pgx.ErrNoRows)):
			// Not %w: it is not the caller's time that ran out.
			*err = fmt.Errorf("%s: %w: no answer in %s: %v", operation, db.ErrUnavailable, patience, e)
			s.silent.Store(true)
		default:
			s.wrap(caller, operation, err)
		}
	}
}
