package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/sqlite/sqlcgen"
)

func (s *Store) Count(ctx context.Context, key string, n int64, window time.Duration, now time.Time) (_ db.Window, err error) {
	defer s.wrap("count", &err)
	if s.pruned.Due(now) {
		if err := s.write.PruneCounts(ctx, record.Micros(now.Add(-record.PruneCountsAfter))); err != nil {
			return db.Window{}, err
		}
	}
	row, err := s.write.Count(ctx, sqlcgen.CountParams{
		Key: record.Digest(key), N: n, ResetAt: record.Micros(now.Add(window)), Now: record.Micros(now)})
	return db.Window{Count: row.Count, Reset: record.Time(row.ResetAt)}, err
}

func (s *Store) Counted(ctx context.Context, key string, window time.Duration, now time.Time) (_ db.Window, err error) {
	defer s.wrap("read a count", &err)
	row, err := s.read.Counted(ctx, sqlcgen.CountedParams{Key: record.Digest(key), Now: record.Micros(now)})
	if errors.Is(err, sql.ErrNoRows) {
		return db.Window{Reset: record.Time(record.Micros(now.Add(window)))}, nil
	}
	return db.Window{Count: row.Count, Reset: record.Time(row.ResetAt)}, err
}

func (s *Store) ForgetCount(ctx context.Context, key string) (err error) {
	defer s.wrap("forget a count", &err)
	return s.write.ForgetCount(ctx, record.Digest(key))
}
