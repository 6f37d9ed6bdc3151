package sqlite

import (
	"context"
	"database/sql"
	"path/filepath"
	"sync"
	"time"
)

// syncEvery is how much of what was committed a power cut may take.
const syncEvery = time.Second

// Sync makes sure, until stop is called, that what is committed to the SQLite
// file at path, in WAL mode, is on disk a second later: a checkpoint writes the
// log through to the disk. With synchronous=normal SQLite itself does so only
// when the log has grown to 4 MB, and synchronous=full, at every commit, costs
// more than a fifth of the turns per second (docs/reliability.md).
func Sync(path string) (stop func(), err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	pool, err := sql.Open("sqlite", dsn(path, "_pragma", "synchronous(normal)"))
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		ticker := time.NewTicker(syncEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			// Somebody else's checkpoint under way is as good.
			_, _ = pool.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
		}
	})
	return sync.OnceFunc(func() {
		cancel()
		running.Wait()
		_ = pool.Close()
	}), nil
}
