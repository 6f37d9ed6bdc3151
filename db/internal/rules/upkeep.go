package rules

import (
	"context"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

func (s *Store) OldThreads(ctx context.Context, before time.Time, after string, limit int) (old []chat.ThreadRef, err error) {
	ctx, end := s.long(ctx, "list old threads")
	defer end(&err)
	rows, err := s.db.Read.OldThreads(ctx, sqlcgen.OldThreadsParams{BeforeAt: record.Micros(before), AfterID: after, MaxRows: int64(limit)})
	for _, row := range rows {
		old = append(old, chat.ThreadRef{Owner: row.Owner, ThreadID: row.ID})
	}
	return old, err
}

func (s *Store) DeleteUnusedThread(ctx context.Context, t chat.ThreadRef, before time.Time) (err error) {
	ctx, end := s.long(ctx, "delete an unused conversation")
	defer end(&err)
	return s.db.Update(ctx, func(q Queries) error {
		if err := q.LockThread(ctx, t.ThreadID); err != nil {
			return err
		}
		unused, err := q.ThreadIsUnused(ctx, sqlcgen.ThreadIsUnusedParams{Owner: t.Owner, ID: t.ThreadID, BeforeAt: record.Micros(before)})
		if err != nil {
			return err
		}
		if !unused {
			return db.ErrNotFound
		}
		return deleteConversation(ctx, q, t.Owner, t.ThreadID)
	})
}

func (s *Store) LeftImports(ctx context.Context, before time.Time) (n int64, err error) {
	ctx, end := s.long(ctx, "count left imports")
	defer end(&err)
	return s.db.Read.LeftImports(ctx, record.Micros(before))
}

func (s *Store) PruneImports(ctx context.Context, before time.Time) (removed int64, _ error) {
	for {
		n, err := s.pruneImports(ctx, before)
		if removed += n; err != nil || n < pruneBatch {
			return removed, err
		}
	}
}

func (s *Store) pruneImports(ctx context.Context, before time.Time) (n int64, err error) {
	ctx, end := s.long(ctx, "prune imports")
	defer end(&err)
	return s.db.Write.PruneImports(ctx, sqlcgen.PruneImportsParams{BeforeAt: record.Micros(before), MaxRows: pruneBatch})
}

func (s *Store) OldAudit(ctx context.Context, before time.Time) (n int64, err error) {
	ctx, end := s.long(ctx, "count the audit log")
	defer end(&err)
	return s.db.Read.OldAudit(ctx, record.Micros(before))
}

func (s *Store) UsageByOwner(ctx context.Context, limit int) (usage []db.OwnerUsage, err error) {
	ctx, end := s.Call(ctx, "sum up what owners have stored", Bulk)
	defer end(&err)
	rows, err := s.db.Read.UsageByOwner(ctx, int64(limit))
	for _, r := range rows {
		usage = append(usage, db.OwnerUsage{Owner: r.Owner, Threads: r.Threads, Turns: r.Turns, Documents: r.Documents,
			Pictures: r.Pictures, MessageBytes: r.MessageBytes, Bytes: r.Bytes})
	}
	return usage, err
}
