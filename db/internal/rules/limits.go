package rules

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"
	"time"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

func (s *Store) Count(ctx context.Context, key string, n int64, window time.Duration, now time.Time) (_ db.Window, err error) {
	ctx, end := s.short(ctx, "count")
	defer end(&err)
	if s.pruned.due(now) {
		if err := s.db.Write.PruneCounts(ctx, record.Micros(now.Add(-record.PruneCountsAfter))); err != nil {
			return db.Window{}, err
		}
	}
	row, err := s.db.Write.Count(ctx, sqlcgen.CountParams{
		Key: record.Digest(key), N: n, ResetAt: record.Micros(now.Add(window)), Now: record.Micros(now)})
	return db.Window{Count: row.Count, Reset: record.Time(row.ResetAt)}, err
}

func (s *Store) Counted(ctx context.Context, key string, window time.Duration, now time.Time) (_ db.Window, err error) {
	ctx, end := s.short(ctx, "read a count")
	defer end(&err)
	row, err := s.db.Read.Counted(ctx, sqlcgen.CountedParams{Key: record.Digest(key), Now: record.Micros(now)})
	if errors.Is(err, sql.ErrNoRows) {
		return db.Window{Reset: record.Time(record.Micros(now.Add(window)))}, nil
	}
	return db.Window{Count: row.Count, Reset: record.Time(row.ResetAt)}, err
}

func (s *Store) ForgetCount(ctx context.Context, key string) (err error) {
	ctx, end := s.short(ctx, "forget a count")
	defer end(&err)
	return s.db.Write.ForgetCount(ctx, record.Digest(key))
}

// lastPrune is when counts were last pruned.
type lastPrune struct{ at atomic.Int64 }

// due returns true once per record.PruneCountsAfter.
func (p *lastPrune) due(now time.Time) bool {
	last := p.at.Load()
	return now.UnixMicro()-last >= record.PruneCountsAfter.Microseconds() && p.at.CompareAndSwap(last, now.UnixMicro())
}
