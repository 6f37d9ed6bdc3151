package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	codes "modernc.org/sqlite/lib"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
)

// wrap turns an error of the driver into one of package db, where there is one,
// and names the operation.
func (s *Store) wrap(operation string, err *error) {
	switch e := *err; {
	case e == nil, record.IsDomain(e):
	case errors.Is(e, sql.ErrNoRows):
		*err = db.ErrNotFound
	case errors.Is(e, context.Canceled):
		*err = fmt.Errorf("%s: %w", operation, e)
	case s.closed.Load(), unavailable(e):
		*err = fmt.Errorf("%s: %w: %w", operation, db.ErrUnavailable, e)
	default:
		*err = fmt.Errorf("%s: %w", operation, e)
	}
}

// unavailable reports whether a retry may succeed.
func unavailable(err error) bool {
	// The database did not answer before the deadline.
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	switch code(err) & 0xff {
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED, codes.SQLITE_NOMEM, codes.SQLITE_READONLY,
		codes.SQLITE_IOERR, codes.SQLITE_FULL, codes.SQLITE_CANTOPEN, codes.SQLITE_PROTOCOL:
		return true
	}
	return false
}

// reasonOf returns the reason why ctx ended in place of an error of BEGIN: the driver returns
// that of the interrupt.
func reasonOf(ctx context.Context, err error) error {
	if code(err) == codes.SQLITE_INTERRUPT && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// code is SQLite's extended result code, 0 when err is not from SQLite.
func code(err error) int {
	var e interface{ Code() int }
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

func isForeignKey(err error) bool { return code(err) == codes.SQLITE_CONSTRAINT_FOREIGNKEY }
