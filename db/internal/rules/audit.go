package rules

import (
	"context"
	"time"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

func (s *Store) AppendAudit(ctx context.Context, entries []db.AuditEntry) (err error) {
	ctx, end := s.short(ctx, "append to the audit log")
	defer end(&err)
	return s.db.Update(ctx, func(q Queries) error {
		for _, e := range entries {
			if e.Detail == nil {
				e.Detail = map[string]any{}
			}
			detail, err := record.JSON(e.Detail)
			if err != nil {
				return err
			}
			err = q.AppendAudit(ctx, sqlcgen.AppendAuditParams{
				At: record.Micros(record.OrNow(e.At)), Kind: e.Kind, Owner: e.Owner, Channel: e.Channel, Address: e.Address,
				RequestID: e.RequestID, Times: int64(max(e.Times, 1)), Detail: detail})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// pruneBatch is how many entries one statement removes.
const pruneBatch = 1000

func (s *Store) PruneAudit(ctx context.Context, before time.Time) (removed int64, _ error) {
	for {
		n, err := s.pruneAudit(ctx, before)
		if removed += n; err != nil || n < pruneBatch {
			return removed, err
		}
	}
}

func (s *Store) pruneAudit(ctx context.Context, before time.Time) (n int64, err error) {
	ctx, end := s.long(ctx, "prune the audit log")
	defer end(&err)
	return s.db.Write.PruneAudit(ctx, sqlcgen.PruneAuditParams{BeforeAt: record.Micros(before), MaxRows: pruneBatch})
}

func (s *Store) AuditEntries(ctx context.Context, filter db.AuditFilter, after int64, limit int) (entries []db.AuditEntry, err error) {
	ctx, end := s.long(ctx, "read the audit log")
	defer end(&err)
	rows, err := s.db.Read.AuditEntries(ctx, sqlcgen.AuditEntriesParams{
		After: after, Since: record.Micros(filter.Since), Owner: filter.Owner, Kind: filter.Kind, MaxRows: int64(limit)})
	for _, r := range rows {
		e, err := auditEntry(r)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, err
}
