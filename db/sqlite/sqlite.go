// Package sqlite is the embedded db.Store: one SQLite file in WAL mode, one
// writing connection and a pool of reading ones. SQL is in queries/,
// db/queries and migrations/; sqlcgen is generated from them.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // registers the driver

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/rules"
	"github.com/palaver-chat/palaver/db/internal/schema"
	"github.com/palaver-chat/palaver/db/internal/vector"
	"github.com/palaver-chat/palaver/db/sqlite/sqlcgen"
)

// Store is a db.Store in one SQLite file. Several processes may open the same
// file on one machine.
type Store struct {
	*rules.Store
	writer, reader *sql.DB
	write, read    *sqlcgen.Queries
	stopSync       func()
	search         searchStatements
	closed         atomic.Bool
	path           string
	known          int64 // newest version of the schema that this release knows
	compared       int   // vector.MaxCompared; tests lower it
}

var _ db.Store = (*Store)(nil)

// Open opens the database file at path; it creates its folder and updates its
// schema first. It waits while another process does the same.
func Open(ctx context.Context, path string) (*Store, error) {
	return OpenWith(ctx, path, db.OpenOptions{})
}

// OpenWith is Open with options.
func OpenWith(ctx context.Context, path string, options db.OpenOptions) (*Store, error) {
	return open(ctx, path, 5*time.Second, options)
}

// open waits at most busy for another process's write.
func open(ctx context.Context, path string, busy time.Duration, options db.OpenOptions) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	known, err := migrate(ctx, path, options)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	s := &Store{known: known, path: path, compared: vector.MaxCompared}
	if err := s.connect(ctx, path, busy, options); err != nil {
		return nil, errors.Join(fmt.Errorf("open database %s: %w", path, err), s.Close())
	}
	return s, nil
}

func (s *Store) connect(ctx context.Context, path string, busy time.Duration, options db.OpenOptions) (err error) {
	// IMMEDIATE takes the write lock at the beginning: a transaction that began with a
	// read cannot wait for the write lock of another process.
	if s.writer, err = openPool(path, busy, 1, "_txlock", "immediate", "_pragma", "cache_size(-16000)", "_pragma", "journal_size_limit(67108864)"); err != nil {
		return err
	}
	if s.reader, err = openPool(path, busy, max(4, runtime.NumCPU()), "_pragma", "query_only(1)"); err != nil {
		return err
	}
	if s.write, err = sqlcgen.Prepare(ctx, s.writer); err != nil {
		return err
	}
	if s.read, err = sqlcgen.Prepare(ctx, s.reader); err != nil {
		return err
	}
	s.Store = rules.New(s.database(), options)
	if err := s.search.prepare(ctx, s.writer, s.reader); err != nil {
		return err
	}
	s.stopSync, err = Sync(path)
	return err
}

// openPool opens a pool that never closes idle connections, because each holds
// its prepared statements.
func openPool(path string, busy time.Duration, connections int, options ...string) (*sql.DB, error) {
	pool, err := sql.Open("sqlite", dsn(path, append(options,
		"_pragma", fmt.Sprintf("busy_timeout(%d)", busy.Milliseconds()),
		"_pragma", "foreign_keys(1)",
		"_pragma", "synchronous(normal)",
		"_pragma", "temp_store(memory)")...))
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	return pool, nil
}

func dsn(path string, options ...string) string {
	q := url.Values{}
	for i := 0; i < len(options); i += 2 {
		q.Add(options[i], options[i+1])
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: q.Encode()}).String()
}

// Ping reads the version of the schema and refuses one that is too old.
func (s *Store) Ping(ctx context.Context) (err error) {
	ctx, end := s.Call(ctx, "ping", rules.Short)
	defer end(&err)
	var found int64
	if err := s.reader.QueryRowContext(ctx, schema.Version).Scan(&found); err != nil {
		return err
	}
	return schema.Check(found, s.known)
}

// Sync makes what was committed so far survive a power failure.
func (s *Store) Sync(ctx context.Context) (err error) {
	_, end := s.Call(ctx, "sync", rules.Short)
	defer end(&err)
	return syncLog(s.path)
}

// Close ends all connections. Running calls return ErrUnavailable.
func (s *Store) Close() error {
	s.closed.Store(true)
	if s.stopSync != nil {
		s.stopSync()
	}
	var errs []error
	for _, pool := range []*sql.DB{s.reader, s.writer} { // the writer last: it empties the WAL
		if pool != nil {
			errs = append(errs, pool.Close())
		}
	}
	return errors.Join(errs...)
}

// update runs f in a writing transaction.
func (s *Store) update(ctx context.Context, f func(q *sqlcgen.Queries) error) error {
	return inTx(ctx, s.writer, func(tx *sql.Tx) error { return f(s.write.WithTx(tx)) })
}

// view runs f in a read-only transaction on one snapshot.
func (s *Store) view(ctx context.Context, f func(q *sqlcgen.Queries) error) error {
	return inTx(ctx, s.reader, func(tx *sql.Tx) error { return f(s.read.WithTx(tx)) })
}

func inTx(ctx context.Context, pool *sql.DB, f func(tx *sql.Tx) error) error {
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return reasonOf(ctx, err)
	}
	defer tx.Rollback() // no effect after Commit
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// Pool returns the state of the reading connections; there is one more, for writing.
func (s *Store) Pool() db.Pool {
	stats := s.reader.Stats()
	return db.Pool{Used: stats.InUse, Idle: stats.Idle, Max: stats.MaxOpenConnections, Waits: stats.WaitCount, Waited: stats.WaitDuration}
}
