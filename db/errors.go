package db

import (
	"errors"
	"fmt"
)

// ErrBadCursor means that a cursor does not come from this store.
var ErrBadCursor = errors.New("the cursor is not valid")

// IgnoreNotFound returns nil for the error of a row that does not exist, such as one that was
// deleted meanwhile, else err.
func IgnoreNotFound(err error) error {
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// NewerSchemaError means that a newer release has migrated the database: this release may
// read it wrongly, or write what the newer one cannot read.
type NewerSchemaError struct{ Found, Known int64 }

func (e *NewerSchemaError) Error() string {
	return fmt.Sprintf("a newer release has migrated this database (schema %d, and this release knows %d): start that release, "+
		"or set ALLOW_NEWER_SCHEMA=true if its release notes say that this one can use the schema", e.Found, e.Known)
}

// OpenOptions change how a store is opened.
type OpenOptions struct {
	// AllowNewerSchema opens a database that a newer release has migrated.
	AllowNewerSchema bool
	// Connections limits the connections to Postgres; 0: pool_max_conns of the URL, or 10.
	Connections int
	// KeepAnswers shows people what their own turns took from documents of a space, also after
	// they have left it, and outside of it. Else a remark takes its place.
	KeepAnswers bool
}
