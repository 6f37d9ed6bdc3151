package rules

import (
	"context"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

func (s *Store) PutSummary(ctx context.Context, owner string, m db.Summary) (err error) {
	ctx, end := s.short(ctx, "store a summary")
	defer end(&err)
	rows, err := s.db.Write.PutSummary(ctx, sqlcgen.PutSummaryParams{
		Owner: owner, TurnID: m.TurnID, Text: m.Text, CreatedAt: record.Micros(record.OrNow(m.At))})
	if err == nil && rows == 0 {
		err = db.ErrNotFound
	}
	return err
}

func (s *Store) Summary(ctx context.Context, owner, threadID, head string) (_ db.Summary, err error) {
	ctx, end := s.short(ctx, "read a summary")
	defer end(&err)
	row, err := s.db.Read.Summary(ctx, sqlcgen.SummaryParams{Owner: owner, ThreadID: threadID, Head: chat.TurnOf(head)})
	if err != nil {
		return db.Summary{}, err
	}
	show, err := s.shows(ctx, owner, row.SpaceID)
	if err == nil && !show {
		err = db.ErrNotFound
	}
	if err != nil {
		return db.Summary{}, err
	}
	return db.Summary{TurnID: row.TurnID, Text: row.Text, At: record.Time(row.CreatedAt)}, nil
}

func (s *Store) Summaries(ctx context.Context, owner, threadID string) (list []db.Summary, err error) {
	ctx, end := s.short(ctx, "read summaries")
	defer end(&err)
	rows, err := s.db.Read.Summaries(ctx, sqlcgen.SummariesParams{Owner: owner, ThreadID: threadID})
	for _, row := range rows {
		show, err := s.shows(ctx, owner, row.SpaceID)
		if err != nil {
			return nil, err
		}
		if !show {
			continue
		}
		list = append(list, db.Summary{TurnID: row.TurnID, Text: row.Text, At: record.Time(row.CreatedAt)})
	}
	return list, err
}
