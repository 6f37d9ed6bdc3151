package sqlite

import (
	"context"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/sqlite/sqlcgen"
)

func (s *Store) OpenThreads(ctx context.Context, before time.Time, after chat.ThreadRef, limit int) (_ []chat.ThreadRef, err error) {
	defer s.wrap("list open threads", &err)
	rows, err := s.read.OpenThreads(ctx, sqlcgen.OpenThreadsParams{
		BeforeAt: record.Micros(before), AfterOwner: after.Owner, AfterThread: after.ThreadID, MaxRows: int64(limit)})
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
	defer s.wrap("list processing documents", &err)
	rows, err := s.read.ProcessingDocuments(ctx, sqlcgen.ProcessingDocumentsParams{BeforeAt: record.Micros(before), AfterID: after, MaxRows: int64(limit)})
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
	defer s.wrap("list busy threads", &err)
	return s.read.BusyThreads(ctx, sqlcgen.BusyThreadsParams{Owner: owner, MaxRows: int64(limit)})
}

func (s *Store) HasOpenTurns(ctx context.Context, owner, threadID string) (_ bool, err error) {
	defer s.wrap("look for open turns", &err)
	return s.read.HasOpenTurns(ctx, sqlcgen.HasOpenTurnsParams{Owner: owner, ThreadID: threadID})
}

func (s *Store) UnacceptedTurns(ctx context.Context, before time.Time, after string, limit int) (_ []db.TurnRef, err error) {
	defer s.wrap("list turns that were not taken", &err)
	rows, err := s.read.UntakenTurns(ctx, sqlcgen.UntakenTurnsParams{BeforeAt: record.Micros(before), AfterID: after, MaxRows: int64(limit)})
	if err != nil {
		return nil, err
	}
	turns := make([]db.TurnRef, len(rows))
	for i, row := range rows {
		turns[i] = db.TurnRef{Owner: row.Owner, ThreadID: row.ThreadID, TurnID: row.ID}
	}
	return turns, nil
}
