package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"log/slog"
	"os"
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
//
// A checkpoint syncs nothing while a reader, such as a backup, holds an older snapshot. So
// the log itself is synced, too. The first of several errors in a row is logged: while they
// last, a power failure may lose more.
func Sync(path string) (stop func(), err error) {
	s := &syncer{path: path, log: slog.Default()}
	return every(syncEvery, path, []string{"_pragma", "synchronous(normal)"}, s.sync)
}

type syncer struct {
	path    string
	log     *slog.Logger
	failing bool
}

func (s *syncer) sync(ctx context.Context, pool *sql.DB) {
	_, err := pool.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)") // returns busy, without an error, while another one runs
	err = errors.Join(err, syncLog(s.path))
	if ctx.Err() != nil {
		return
	}
	if err != nil && !s.failing {
		s.log.Error("syncing the database failed; until it succeeds a power failure loses what was written since", "database", s.path, "error", err)
	} else if err == nil && s.failing {
		s.log.Info("syncing the database works again", "database", s.path)
	}
	s.failing = err != nil
}

// syncFile syncs an open file; a test counts the calls.
var syncFile = (*os.File).Sync

// syncLog syncs the write-ahead log of the SQLite file at path. SQLite's locks are on other
// files, so opening and closing this one does not release them.
func syncLog(path string) error {
	f, err := os.OpenFile(path+"-wal", os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) { // nothing was written
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(syncFile(f), f.Close())
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
