package sqlite

import (
	"context"
	"database/sql"
	"path/filepath"
	"sync"
	"time"
)

// syncEvery limits how much committed data a power failure may lose.
const syncEvery = time.Second

// Sync checkpoints the SQLite file at path, which is in WAL mode, every second until
// stop is called, so that commits reach the disk. With synchronous=normal SQLite
// does so only when the log has grown to 4 MB; synchronous=full, which syncs every
// commit, costs more than a fifth of the turns per second (docs/reliability.md).
func Sync(path string) (stop func(), err error) {
	return every(syncEvery, path, []string{"_pragma", "synchronous(normal)"}, func(ctx context.Context, pool *sql.DB) {
		// An error is fine: then another connection's checkpoint is running.
		_, _ = pool.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
	})
}

// every calls f once an interval, with a connection of its own to the SQLite file at path,
// until stop is called.
func every(interval time.Duration, path string, options []string, f func(context.Context, *sql.DB)) (stop func(), err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	pool, err := sql.Open("sqlite", dsn(path, options...))
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				f(ctx, pool)
			}
		}
	})
	return sync.OnceFunc(func() {
		cancel()
		running.Wait()
		_ = pool.Close()
	}), nil
}
