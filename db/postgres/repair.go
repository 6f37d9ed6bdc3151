package postgres

import (
	"context"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/postgres/sqlcgen"
)

func (s *Store) OpenThreads(ctx context.Context, before time.Time, after chat.ThreadRef, limit int) (_ []chat.ThreadRef, err error) {
	ctx, end := s.shortCall(ctx, "list open threads")
	defer end(&err)
	rows, err := s.q.OpenThreads(ctx, sqlcgen.OpenThreadsParams{
		BeforeAt: record.Micros(before), AfterOwner: after.Owner, AfterThread: after.ThreadID, MaxRows: int32(limit)})
	if err != nil {
		return nil, err
	}
	threads := make([]chat.ThreadRef, len(rows))
	for i, row := range rows {
		threads[i] = chat.ThreadRef{Owner: row.Owner, ThreadID: row.ThreadID}
	}
	return threads, nil
}

func (s *Store) ProcessingDocuments(ctx context.Context, before time.Time, after string, limit int) (_ []db.DocumentRef, err error) {
	ctx, end := s.shortCall(ctx, "list processing documents")
	defer end(&err)
	rows, err := s.q.ProcessingDocuments(ctx, sqlcgen.ProcessingDocumentsParams{BeforeAt: record.Micros(before), AfterID: after, MaxRows: int32(limit)})
	if err != nil {
		return nil, err
	}
	documents := make([]db.DocumentRef, len(rows))
	for i, row := range rows {
		documents[i] = db.DocumentRef{Owner: row.Owner, ID: row.ID}
	}
	return documents, nil
}

func (s *Store) BusyThreads(ctx context.Context, owner string, limit int) (_ []string, err error) {
	ctx, end := s.shortCall(ctx, "list busy threads")
	defer end(&err)
	return s.q.BusyThreads(ctx, sqlcgen.BusyThreadsParams{Owner: owner, MaxRows: int32(limit)})
}

func (s *Store) HasOpenTurns(ctx context.Context, owner, threadID string) (_ bool, err error) {
	ctx, end := s.shortCall(ctx, "look for open turns")
	defer end(&err)
	return s.q.HasOpenTurns(ctx, sqlcgen.HasOpenTurnsParams{Owner: owner, ThreadID: threadID})
}

func (s *Store) UnacceptedTurns(ctx context.Context, before time.Time, after string, limit int) (_ []db.TurnRef, err error) {
	ctx, end := s.shortCall(ctx, "list turns that were not taken")
	defer end(&err)
	rows, err := s.q.UntakenTurns(ctx, sqlcgen.UntakenTurnsParams{BeforeAt: record.Micros(before), AfterID: after, MaxRows: int32(limit)})
	if err != nil {
		return nil, err
	}
	turns := make([]db.TurnRef, len(rows))
	for i, row := range rows {
		turns[i] = db.TurnRef{Owner: row.Owner, ThreadID: row.ThreadID, TurnID: row.ID}
	}
	return turns, nil
}
