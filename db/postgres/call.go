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

// timeouts limit calls to the database even if the caller has no deadline: a
// server that hangs, or a pooler whose server is down, sends no error.
type timeouts struct {
	short        time.Duration // reads or writes a few rows
	long         time.Duration // moves a file, or searches
	bulk         time.Duration // stores a document with its chunks, or deletes a user
	unresponsive time.Duration // replaces short while the last call timed out
	idle         time.Duration // the server's limit between two statements of a transaction
}

var defaultTimeouts = timeouts{short: 5 * time.Second, long: 20 * time.Second, bulk: 5 * time.Minute, unresponsive: time.Second, idle: 5 * time.Second}

// shortCall returns a context with the timeout for a few rows; defer end, which
// wraps the error: it adds the operation and maps driver errors to those of package db.
func (s *Store) shortCall(ctx context.Context, operation string) (_ context.Context, end func(*error)) {
	if s.unresponsive.Load() {
		return s.call(ctx, operation, s.timeouts.unresponsive)
	}
	return s.call(ctx, operation, s.timeouts.short)
}

// longCall is shortCall with the timeout for moving a file or for a search.
func (s *Store) longCall(ctx context.Context, operation string) (_ context.Context, end func(*error)) {
	return s.call(ctx, operation, s.timeouts.long)
}

// bulkCall is shortCall with the timeout for storing a document with its chunks
// or deleting a user.
func (s *Store) bulkCall(ctx context.Context, operation string) (_ context.Context, end func(*error)) {
	return s.call(ctx, operation, s.timeouts.bulk)
}

func (s *Store) call(caller context.Context, operation string, timeout time.Duration) (context.Context, func(*error)) {
	ctx, cancel := context.WithTimeout(caller, timeout)
	return ctx, func(err *error) {
		unanswered := ctx.Err() != nil && caller.Err() == nil
		cancel()
		switch e := *err; {
		case e == nil:
			s.unresponsive.Store(false)
		case unanswered && (errors.Is(e, db.ErrUnavailable) || !record.IsDomain(e) && !errors.Is(e, pgx.ErrNoRows)):
			// Not %w: the caller's own deadline has not passed.
			*err = fmt.Errorf("%s: %w: no answer in %s: %v", operation, db.ErrUnavailable, timeout, e)
			s.unresponsive.Store(true)
		default:
			s.wrap(caller, operation, err)
		}
	}
}
