package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/rules"
)

// timeouts limit calls to the database even if the caller has no deadline: a
// server that hangs, or a pooler whose server is down, sends no error.
type timeouts struct {
	short        time.Duration // of a rules.Short call, and so on
	long         time.Duration
	bulk         time.Duration
	unresponsive time.Duration // replaces short while the last call timed out
	idle         time.Duration // the server's limit between two statements of a transaction
}

func (t timeouts) of(size rules.Size) time.Duration {
	switch size {
	case rules.Long:
		return t.long
	case rules.Bulk:
		return t.bulk
	}
	return t.short
}

var defaultTimeouts = timeouts{short: 5 * time.Second, long: 20 * time.Second, bulk: 5 * time.Minute, unresponsive: time.Second, idle: 5 * time.Second}

// call returns a context with the timeout for a call of this size; defer end, which
// wraps the error: it adds the operation and maps driver errors to those of package db.
func (s *Store) call(caller context.Context, operation string, size rules.Size) (_ context.Context, end func(*error)) {
	timeout := s.timeouts.of(size)
	if size == rules.Short && s.unresponsive.Load() {
		timeout = s.timeouts.unresponsive
	}
	ctx, cancel := context.WithTimeout(caller, timeout)
	return ctx, func(err *error) {
		unanswered := ctx.Err() != nil && caller.Err() == nil
		cancel()
		switch e := *err; {
		case e == nil:
			s.unresponsive.Store(false)
		case unanswered && (errors.Is(e, db.ErrUnavailable) || !record.IsDomain(e) && !errors.Is(e, pgx.ErrNoRows)):
			// Not %w: the caller's own deadline has not passed.
			*err = fmt.Errorf("%s: %w (%s): %v", operation, db.ErrTimeout, timeout, e)
			s.unresponsive.Store(true)
		default:
			s.wrap(caller, operation, err)
		}
	}
}
