package rules

import (
	"context"
	"time"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

func (s *Store) PutFeedback(ctx context.Context, f db.Feedback) (err error) {
	ctx, end := s.short(ctx, "write feedback")
	defer end(&err)
	return record.Found(s.db.Write.PutFeedback(ctx, sqlcgen.PutFeedbackParams{Owner: f.Owner, ThreadID: f.ThreadID, TurnID: f.TurnID,
		Good: f.Good, Reason: f.Reason, Shared: f.Shared, At: record.Micros(record.OrNow(f.UpdatedAt))}))
}

func (s *Store) DeleteFeedback(ctx context.Context, owner, threadID, turnID string) (err error) {
	ctx, end := s.short(ctx, "delete feedback")
	defer end(&err)
	return record.Found(s.db.Write.DeleteFeedback(ctx, sqlcgen.DeleteFeedbackParams{Owner: owner, ThreadID: threadID, TurnID: turnID}))
}

func (s *Store) Feedback(ctx context.Context, owner, threadID string) (_ []db.Feedback, err error) {
	ctx, end := s.short(ctx, "list feedback")
	defer end(&err)
	rows, err := s.db.Read.FeedbackOfThread(ctx, sqlcgen.FeedbackOfThreadParams{Owner: owner, ThreadID: threadID})
	return rowsTo(rows, err, feedback)
}

func (s *Store) FeedbackAfter(ctx context.Context, after time.Time, turnID string, limit int) (_ []db.Feedback, err error) {
	ctx, end := s.long(ctx, "list the feedback of all owners")
	defer end(&err)
	rows, err := s.db.Read.FeedbackAfter(ctx, sqlcgen.FeedbackAfterParams{AfterAt: record.Micros(after), AfterID: turnID, MaxRows: int64(limit)})
	return rowsTo(rows, err, func(r sqlcgen.FeedbackAfterRow) db.Feedback { return feedback(sqlcgen.FeedbackOfThreadRow(r)) })
}

func feedback(r sqlcgen.FeedbackOfThreadRow) db.Feedback {
	return db.Feedback{Owner: r.Owner, ThreadID: r.ThreadID, TurnID: r.TurnID, Good: r.Good, Reason: r.Reason, Shared: r.Shared,
		CreatedAt: record.Time(r.CreatedAt), UpdatedAt: record.Time(r.UpdatedAt)}
}
