package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
)

// wrap turns an error of the driver into one of package db, where there is one,
// and names the operation.
func (s *Store) wrap(ctx context.Context, operation string, err *error) {
	switch e := *err; {
	case e == nil, record.IsDomain(e):
	case errors.Is(e, pgx.ErrNoRows):
		*err = db.ErrNotFound
	case s.closed.Load() && ctx.Err() == nil:
		*err = fmt.Errorf("%s: %w: %w", operation, db.ErrUnavailable, e)
	default:
		*err = fmt.Errorf("%s: %w", operation, classify(ctx, e))
	}
}

// classify marks errors that a retry may cure as ErrUnavailable. A cancelled
// caller gets its cancellation. A deadline that passed counts as unavailable: a
// pooler keeps calls waiting while its server is down.
func classify(ctx context.Context, err error) error {
	switch cause := ctx.Err(); {
	case errors.Is(cause, context.Canceled) && !errors.Is(err, cause):
		return fmt.Errorf("%w: %w", cause, err)
	case errors.Is(cause, context.Canceled):
		return err
	case cause != nil && !errors.Is(err, cause):
		return fmt.Errorf("%w: %w: %w", db.ErrUnavailable, cause, err)
	case unavailable(err):
		return fmt.Errorf("%w: %w", db.ErrUnavailable, err)
	}
	return err
}

// openFailed explains in one line why a store could not be opened.
func openFailed(ctx context.Context, err error) error {
	var refused *pgconn.ConnectError
	if ctx.Err() == nil && errors.As(err, &refused) {
		return &connectError{config: refused.Config, cause: err}
	}
	return classify(ctx, err)
}

// connectError is a failed connection or login in one line; the driver's text has
// several.
type connectError struct {
	config *pgconn.Config
	cause  error
}

func (e *connectError) Error() string {
	return fmt.Sprintf("cannot connect to %s: %s", net.JoinHostPort(e.config.Host, strconv.Itoa(int(e.config.Port))), e.reason())
}

func (e *connectError) reason() string {
	var server *pgconn.PgError
	var dial *net.OpError
	switch {
	case errors.As(e.cause, &server):
		return server.Message
	case errors.As(e.cause, &dial):
		return dial.Err.Error()
	case errors.Is(e.cause, context.DeadlineExceeded):
		return "no answer"
	}
	return strings.Join(strings.Fields(errors.Unwrap(e.cause).Error()), " ")
}

func (e *connectError) Unwrap() []error {
	if unavailable(e.cause) {
		return []error{db.ErrUnavailable, e.cause}
	}
	return []error{e.cause}
}

// unavailable reports whether a retry may succeed.
func unavailable(err error) bool {
	var refused *pgconn.ConnectError
	var network net.Error
	for _, known := range []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, context.DeadlineExceeded} {
		if errors.Is(err, known) {
			return true
		}
	}
	// Checked before the SQLSTATE: a refused login has one, too.
	if errors.As(err, &refused) && sqlState(err) == "" || errors.As(err, &network) {
		return true
	}
	if pgconn.SafeToRetry(err) { // nothing of the statement was sent
		return true
	}
	switch state := sqlState(err); {
	case strings.HasPrefix(state, "08"), // connection lost; poolers use it too
		strings.HasPrefix(state, "53"),    // out of connections, memory or disk
		strings.HasPrefix(state, "57P"),   // shut down, crashed, starting
		strings.HasPrefix(state, "58"),    // input or output failed
		strings.HasPrefix(state, "55P03"): // lock timeout
		return true
	default:
		switch state {
		case "57014", // statement timeout
			"25P03",          // idle in a transaction for too long
			"25006",          // read-only, as a replica is
			"40001", "40P01": // deadlock and the like
			return true
		}
	}
	return strings.Contains(err.Error(), "conn closed")
}

// sqlState is the server's error code, "" when err is not from the server.
func sqlState(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
