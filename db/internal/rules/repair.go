package rules

import (
	"context"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

func (s *Store) OpenThreads(ctx context.Context, before time.Time, after chat.ThreadRef, limit int) (_ []chat.ThreadRef, err error) {
	ctx, end := s.short(ctx, "list open threads")
	defer end(&err)
	rows, err := s.db.Read.OpenThreads(ctx, sqlcgen.OpenThreadsParams{
		BeforeAt: record.Micros(before), AfterOwner: after.Owner, AfterThread: after.ThreadID, MaxRows: int64(limit)})
	return rowsTo(rows, err, func(r sqlcgen.OpenThreadsRow) chat.ThreadRef {
		return chat.ThreadRef{Owner: r.Owner, ThreadID: r.ThreadID}
	})
}

func (s *Store) ProcessingDocuments(ctx context.Context, before time.Time, after string, limit int) (_ []db.DocumentRef, err error) {
	ctx, end := s.short(ctx, "list processing documents")
	defer end(&err)
	rows, err := s.db.Read.ProcessingDocuments(ctx, sqlcgen.ProcessingDocumentsParams{BeforeAt: record.Micros(before), AfterID: after, MaxRows: int64(limit)})
	return rowsTo(rows, err, func(r sqlcgen.ProcessingDocumentsRow) db.DocumentRef { return db.DocumentRef(r) })
}

func (s *Store) BusyThreads(ctx context.Context, owner string, limit int) (_ []string, err error) {
	ctx, end := s.short(ctx, "list busy threads")
	defer end(&err)
	return s.db.Read.BusyThreads(ctx, sqlcgen.BusyThreadsParams{Owner: owner, MaxRows: int64(limit)})
}

func (s *Store) HasOpenTurns(ctx context.Context, owner, threadID string) (_ bool, err error) {
	ctx, end := s.short(ctx, "look for open turns")
	defer end(&err)
	return s.db.Read.HasOpenTurns(ctx, sqlcgen.HasOpenTurnsParams{Owner: owner, ThreadID: threadID})
}

func (s *Store) UnacceptedTurns(ctx context.Context, before time.Time, after string, limit int) (_ []db.TurnRef, err error) {
	ctx, end := s.short(ctx, "list turns that were not accepted")
	defer end(&err)
	rows, err := s.db.Read.UnacceptedTurns(ctx, sqlcgen.UnacceptedTurnsParams{BeforeAt: record.Micros(before), AfterID: after, MaxRows: int64(limit)})
	return rowsTo(rows, err, func(r sqlcgen.UnacceptedTurnsRow) db.TurnRef {
		return db.TurnRef{Owner: r.Owner, ThreadID: r.ThreadID, TurnID: r.ID}
	})
}

func (s *Store) OpenTurnCounts(ctx context.Context) (_ []db.OpenTurnCount, err error) {
	ctx, end := s.short(ctx, "count open turns")
	defer end(&err)
	rows, err := s.db.Read.OpenTurnCounts(ctx)
	return rowsTo(rows, err, func(r sqlcgen.OpenTurnCountsRow) db.OpenTurnCount {
		return db.OpenTurnCount{Status: chat.TurnStatus(r.Status), Number: int(r.Number), Oldest: record.Time(r.Oldest)}
	})
}
