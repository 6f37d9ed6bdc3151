// Package litetest opens SQLite stores for tests, and can lock a database as another
// process would.
package litetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"

	_ "modernc.org/sqlite" // registers the driver
)

// Hold takes the write lock of a database file, like a backup or a hanging process,
// until release: other writes wait and then fail as busy.
func Hold(ctx context.Context, path string) (release func() error, err error) {
	file := url.URL{Scheme: "file", Path: path, RawQuery: "_pragma=busy_timeout(30000)&_txlock=immediate"}
	db, err := sql.Open("sqlite", file.String())
	if err != nil {
		return nil, fmt.Errorf("hold the database: %w", err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("hold the database: %w", err), db.Close())
	}
	return func() error { return errors.Join(tx.Rollback(), db.Close()) }, nil
}
