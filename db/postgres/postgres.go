// Package postgres is the db.Store of several processes: Postgres 15 or later,
// Supabase included, reached directly or through a transaction pooler. SQL is
// in queries/, db/queries and migrations/; sqlcgen is generated from them.
package postgres

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/rules"
	"github.com/palaver-chat/palaver/db/internal/schema"
	"github.com/palaver-chat/palaver/db/internal/vector"
	"github.com/palaver-chat/palaver/db/postgres/sqlcgen"
)

// Store is a db.Store in one Postgres database.
type Store struct {
	*rules.Store
	pool         *pgxpool.Pool
	q            *sqlcgen.Queries
	closed       atomic.Bool
	unresponsive atomic.Bool // the last call timed out
	timeouts     timeouts
	known        int64 // newest version of the schema that this release knows
	meanings     meanings
	corpora      corpora
	compared     int // vector.MaxCompared; tests lower it
	indexedFrom  int // indexFrom; tests lower it
}

var _ db.Store = (*Store)(nil)

const (
	// connectTimeout limits each new connection, unless the URL has a
	// connect_timeout.
	connectTimeout = 3 * time.Second
	// poolSize limits the connections of one process, unless OpenOptions or
	// pool_max_conns of the URL say otherwise.
	poolSize = 10
)

// Open connects to the database at url and brings its schema up to date first.
// It waits while another process does the same. An error never repeats the
// URL, which may hold a password.
func Open(ctx context.Context, url string) (*Store, error) {
	return OpenWith(ctx, url, db.OpenOptions{})
}

// OpenWith is Open with options.
func OpenWith(ctx context.Context, url string, options db.OpenOptions) (*Store, error) {
	config, err := parse(url)
	if err != nil {
		return nil, err
	}
	if options.Connections > 0 {
		config.MaxConns = int32(options.Connections)
	}
	found, err := migrate(ctx, config.ConnConfig, options)
	if err != nil {
		return nil, openFailed(ctx, err)
	}
	if found.direct && !namesMode(url) {
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement
		// A plan is made once, while a table may be small, and must serve when it is large. What has no index
		// is read all the same, but it seems so expensive then that Postgres would compile the statement.
		maps.Copy(config.ConnConfig.RuntimeParams, map[string]string{"plan_cache_mode": "force_generic_plan", "enable_seqscan": "off", "jit": "off"})
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, openFailed(ctx, err)
	}
	s := newStore(pool, options)
	s.known, s.meanings = found.known, found.meanings
	return s, nil
}

// server is what Open finds at the URL.
type server struct {
	direct   bool  // no transaction pooler stands between
	known    int64 // newest version of the schema that this release knows
	meanings meanings
}

// namesMode reports whether the URL itself says whether statements are prepared.
func namesMode(url string) bool { return strings.Contains(url, "default_query_exec_mode") }

func newStore(pool *pgxpool.Pool, options db.OpenOptions) *Store {
	s := &Store{pool: pool, q: sqlcgen.New(plain{pool}), timeouts: defaultTimeouts, compared: vector.MaxCompared, indexedFrom: indexFrom}
	s.Store = rules.New(s.database(), options)
	return s
}

func parse(url string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errors.New("not a Postgres URL; use one like postgres://USER:PASSWORD@HOST:5432/DATABASE")
	}
	// Not prepared until Open knows better: a transaction pooler may run the next
	// statement on another connection.
	if !namesMode(url) {
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	config.ConnConfig.ConnectTimeout = cmp.Or(config.ConnConfig.ConnectTimeout, connectTimeout)
	if !strings.Contains(url, "pool_max_conns") {
		config.MaxConns = poolSize
	}
	config.ShouldPing = mayBeLost
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "palaver"
	}
	return config, nil
}

// checkIdleAfter is how long a connection may be idle before it is checked.
const checkIdleAfter = time.Second

// mayBeLost lets the pool ping only idle connections whose socket has ended.
// A ping of every connection would cost a round trip.
func mayBeLost(_ context.Context, p pgxpool.ShouldPingParams) bool {
	//lint:ignore SA1019 Ping, which is recommended instead, is the round trip that this saves
	return p.IdleDuration > checkIdleAfter && p.Conn.PgConn().CheckConn() != nil
}

// Ping reads the version of the schema and refuses one that is too old.
func (s *Store) Ping(ctx context.Context) (err error) {
	ctx, end := s.Call(ctx, "ping", rules.Short)
	defer end(&err)
	var found int64
	if err := s.pool.QueryRow(ctx, schema.Version).Scan(&found); err != nil {
		return err
	}
	return schema.Check(found, s.known)
}

// Sync does nothing: a commit of Postgres is durable when it returns.
func (s *Store) Sync(context.Context) error { return nil }

// Close ends all connections once the running calls are done. Later calls return
// ErrUnavailable.
func (s *Store) Close() error {
	s.closed.Store(true)
	s.pool.Close()
	return nil
}

// plain replaces what Postgres cannot store in the arguments of statements.
type plain struct{ sqlcgen.DBTX }

func (p plain) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	return p.DBTX.Exec(ctx, sql, storable(args)...)
}

func (p plain) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return p.DBTX.Query(ctx, sql, storable(args)...)
}

func (p plain) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return p.DBTX.QueryRow(ctx, sql, storable(args)...)
}

// Pool is the state of the connections.
func (s *Store) Pool() db.Pool {
	stats := s.pool.Stat()
	return db.Pool{Used: int(stats.AcquiredConns()), Idle: int(stats.IdleConns()), Max: int(stats.MaxConns()),
		Waits: stats.EmptyAcquireCount(), Waited: stats.EmptyAcquireWaitTime()}
}
