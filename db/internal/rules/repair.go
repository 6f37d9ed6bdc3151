package rules

import (
	"context"
	"database/sql"
	"errors"
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

func (s *Store) UnfinishedImports(ctx context.Context, before time.Time, after string, limit int) (_ []db.ImportRef, err error) {
	ctx, end := s.short(ctx, "list unfinished imports")
	defer end(&err)
	rows, err := s.db.Read.UnfinishedImports(ctx, sqlcgen.UnfinishedImportsParams{BeforeAt: record.Micros(before), AfterKey: after, MaxRows: int64(limit)})
	return rowsTo(rows, err, func(r sqlcgen.UnfinishedImportsRow) db.ImportRef { return db.ImportRef(r) })
}

func (s *Store) OwnerOfTurn(ctx context.Context, id string) (_ string, err error) {
	ctx, end := s.short(ctx, "read the owner of a turn")
	defer end(&err)
	return s.db.Read.OwnerOfTurn(ctx, id)
}

func (s *Store) TakeLease(ctx context.Context, name, holder string, dead db.Lease) (_ bool, err error) {
	ctx, end := s.short(ctx, "take a lease")
	defer end(&err)
	taken, err := s.db.Write.InsertLease(ctx, sqlcgen.InsertLeaseParams{Name: name, Holder: holder})
	if taken > 0 || err != nil {
		return taken > 0, err
	}
	taken, err = s.db.Write.TakeLease(ctx, sqlcgen.TakeLeaseParams{Name: name, Holder: holder, DeadHolder: dead.Holder, DeadBeat: dead.Beat})
	return taken > 0, err
}

func (s *Store) Lease(ctx context.Context, name string) (_ db.Lease, err error) {
	ctx, end := s.short(ctx, "read a lease")
	defer end(&err)
	row, err := s.db.Read.Lease(ctx, name)
	if errors.Is(err, sql.ErrNoRows) {
		return db.Lease{}, nil
	}
	return db.Lease(row), err
}

func (s *Store) EndLease(ctx context.Context, name, holder string) (err error) {
	ctx, end := s.short(ctx, "end a lease")
	defer end(&err)
	return s.db.Write.EndLease(ctx, sqlcgen.EndLeaseParams{Name: name, Holder: holder})
}
