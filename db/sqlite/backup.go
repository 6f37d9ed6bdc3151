package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrInUse means that another connection has the database file open.
var ErrInUse = errors.New("another process uses the database")

// Backup copies the SQLite file at path to a new file, as it is at one moment. Other
// processes may read and write it meanwhile.
func Backup(ctx context.Context, path, to string) error {
	return withConn(ctx, path, func(conn *sql.Conn) error {
		if err := create(to); err != nil {
			return err
		}
		return conn.Raw(func(of any) error {
			source, ok := of.(interface {
				NewBackup(uri string) (*driver.Backup, error)
			})
			if !ok {
				return errors.New("the SQLite driver has no backups")
			}
			copying, err := source.NewBackup(to)
			if err != nil {
				return err
			}
			// In one step: a backup in several begins again after every write of another
			// process, and would not end under load. In WAL mode it blocks no writer.
			_, err = copying.Step(-1)
			return errors.Join(err, copying.Finish())
		})
	})
}

// Verify checks that the SQLite file at path is not damaged.
func Verify(ctx context.Context, path string) error {
	return withConn(ctx, path, func(conn *sql.Conn) error {
		var found string
		if err := conn.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&found); err != nil {
			return err
		}
		if found != "ok" {
			return fmt.Errorf("damaged: %s", strings.ReplaceAll(found, "\n", "; "))
		}
		return nil
	})
}

// Detach moves everything from the log of the SQLite file at path into the file, so that
// the file alone is the database. It returns ErrInUse while another connection is open.
func Detach(ctx context.Context, path string) error {
	err := withConn(ctx, path, func(conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, "PRAGMA journal_mode = DELETE") // SQLite refuses it while there is another connection
		return err
	})
	var failed *driver.Error
	if errors.As(err, &failed) && failed.Code()&0xff == sqlite3.SQLITE_BUSY {
		return ErrInUse
	}
	return err
}

// Damaged reports whether an error says that a file is not a readable SQLite database.
func Damaged(err error) bool {
	var failed *driver.Error
	return errors.As(err, &failed) && (failed.Code()&0xff == sqlite3.SQLITE_CORRUPT || failed.Code()&0xff == sqlite3.SQLITE_NOTADB)
}

// withConn calls f with a connection to an existing file.
func withConn(ctx context.Context, path string, f func(*sql.Conn) error) (err error) {
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	pool, err := sql.Open("sqlite", dsn(path, "mode", "rw", "_pragma", "busy_timeout(1000)"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return f(conn)
}
