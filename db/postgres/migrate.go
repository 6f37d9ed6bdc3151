package postgres

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/schema"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrationLock is the number of the advisory lock that one process migrates under.
const migrationLock = 0x70616c61766572 // "palaver"

// migrate brings the schema up to date, one process at a time.
//
// goose's own advisory lock belongs to a session, which a transaction pooler
// does not keep; the lock here belongs to a transaction, held on a connection of
// its own, and is released at once if the process dies.
func migrate(ctx context.Context, config *pgx.ConnConfig, options db.OpenOptions) (found server, err error) {
	locked, unlock, err := lock(ctx, config)
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := checkOwnership(ctx, locked); err != nil {
		return found, err
	}
	if found.direct, err = isDirect(ctx, locked); err != nil {
		return found, err
	}

	pool := stdlib.OpenDB(*config)
	defer func() { _ = pool.Close() }()
	folder, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return found, err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, pool, folder, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return found, err
	}
	if found.known, err = schema.Migrate(ctx, provider, options.AllowNewerSchema); err != nil {
		return found, err
	}
	found.meanings, err = prepareMeanings(ctx, pool)
	return found, err
}

// isDirect reports whether no transaction pooler stands between: a pooler tells its clients
// other process ids than the server's.
func isDirect(ctx context.Context, tx pgx.Tx) (bool, error) {
	var pid uint32
	err := tx.QueryRow(ctx, "SELECT pg_backend_pid()::bigint").Scan(&pid)
	return pid == tx.Conn().PgConn().PID(), err
}

// lock polls, so that waiting processes do not hold the pooler connections that
// the migrating process needs.
func lock(ctx context.Context, config *pgx.ConnConfig) (_ pgx.Tx, unlock func() error, err error) {
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, nil, err
	}
	for {
		tx, err := conn.Begin(ctx)
		if err != nil {
			return nil, nil, errors.Join(err, conn.Close(ctx))
		}
		locked := false
		if err := tx.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock($1)", int64(migrationLock)).Scan(&locked); err != nil {
			return nil, nil, errors.Join(err, conn.Close(ctx))
		}
		if locked {
			return tx, func() error { return errors.Join(tx.Rollback(ctx), conn.Close(ctx)) }, nil
		}
		if err := tx.Rollback(ctx); err != nil {
			return nil, nil, errors.Join(err, conn.Close(ctx))
		}
		select {
		case <-ctx.Done():
			return nil, nil, errors.Join(ctx.Err(), conn.Close(context.WithoutCancel(ctx)))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// checkOwnership refuses a role that row-level security applies to: it would
// silently see no rows.
func checkOwnership(ctx context.Context, tx pgx.Tx) error {
	var bound bool
	err := tx.QueryRow(ctx, `SELECT coalesce(bool_or(row_security_active(c.oid)), false)
		FROM pg_class c WHERE c.oid = to_regclass('goose_db_version')`).Scan(&bound)
	if err == nil && bound {
		return errors.New("the role of the database URL must own Palaver's tables; row-level security hides them from others")
	}
	return err
}
