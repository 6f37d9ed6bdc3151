package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/pressly/goose/v3"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/schema"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrating serializes migrations in this process: closing a file drops all locks
// of its process on it, so only one goroutine may create files.
var migrating sync.Mutex

// migrate creates the file and brings its schema up to date, one process at a
// time. goose has no lock for SQLite, and switching to WAL does not wait for other
// connections; so it takes a lock, which the system releases if the process dies.
func migrate(ctx context.Context, path string, options db.OpenOptions) (known int64, err error) {
	migrating.Lock()
	defer migrating.Unlock()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return 0, err
	}
	if err := create(path + ".lock"); err != nil {
		return 0, err
	}
	unlock, err := lock(ctx, path+".lock")
	if err != nil {
		return 0, err
	}
	defer unlock()
	if err := create(path); err != nil {
		return 0, err
	}

	pool, err := sql.Open("sqlite", dsn(path, "_pragma", "busy_timeout(30000)"))
	if err != nil {
		return 0, err
	}
	defer pool.Close()
	pool.SetMaxOpenConns(1)
	if _, err := pool.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
		return 0, err
	}
	folder, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return 0, err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, pool, folder, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return 0, err
	}
	if known, err = schema.Migrate(ctx, provider, options.AllowNewerSchema); err != nil {
		return 0, err
	}
	return known, pool.Close()
}

// lock holds an exclusive transaction on an empty database file: a lock between
// processes on every system that SQLite supports.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	pool, err := sql.Open("sqlite", dsn(path, "_txlock", "exclusive", "_pragma", "busy_timeout(60000)"))
	if err != nil {
		return nil, err
	}
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return func() {
		_ = tx.Rollback()
		_ = pool.Close()
	}, nil
}

// create makes a file that only its user can read, unless it exists.
func create(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return file.Close()
}
