package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

const (
	// Rewriting a file is worth it from a quarter of the file and 16 MB on.
	worthShare = 4
	worthBytes = 16 << 20

	// A step moves 2 MB: other writers wait for some milliseconds.
	shrinkPages = 500
	shrinkEvery = time.Second
)

// freeSpace says how much of a file is free because rows were deleted.
type freeSpace struct{ pages, free, pageSize int64 }

func (f freeSpace) bytes() int64 { return f.free * f.pageSize }
func (f freeSpace) worth() bool  { return f.free*worthShare >= f.pages && f.bytes() >= worthBytes }

type rowQuerier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func readFreeSpace(ctx context.Context, q rowQuerier) (f freeSpace, err error) {
	err = q.QueryRowContext(ctx, `SELECT c.page_count, f.freelist_count, p.page_size
		FROM pragma_page_count c, pragma_freelist_count f, pragma_page_size p`).Scan(&f.pages, &f.free, &f.pageSize)
	return f, err
}

// Shrink returns the free space of the SQLite file at path to the file system, in small
// steps while others use the file, until stop is called. It begins when much is free. Files
// without auto_vacuum = INCREMENTAL stay as they are.
func Shrink(path string) (stop func(), err error) {
	var s shrinking
	return every(shrinkEvery, path, []string{"mode", "rw", "_pragma", "busy_timeout(1000)"}, func(ctx context.Context, pool *sql.DB) {
		s.pool = pool
		_, _ = s.step(ctx) // the next step tries again
	})
}

// shrinking is the state of Shrink for one file.
type shrinking struct {
	pool   *sql.DB
	active bool // steps go on until nothing is free
}

// step frees some pages and returns how many bytes that are.
func (s *shrinking) step(ctx context.Context) (freed int64, err error) {
	before, err := readFreeSpace(ctx, s.pool)
	if err != nil || !s.active && !before.worth() {
		return 0, err
	}
	if err := vacuumPages(ctx, s.pool); err != nil {
		return 0, err
	}
	after, err := readFreeSpace(ctx, s.pool)
	if err != nil {
		return 0, err
	}
	freed = (before.pages - after.pages) * before.pageSize
	s.active = freed > 0 && after.free > 0
	return freed, nil
}

// vacuumPages reads all rows, because SQLite frees one page with each.
func vacuumPages(ctx context.Context, pool *sql.DB) error {
	rows, err := pool.QueryContext(ctx, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", shrinkPages))
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
	}
	return rows.Err()
}
