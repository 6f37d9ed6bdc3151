package db

import (
	"context"
	"time"
)

// Feedbacks keeps what people think of answers. It is deleted with their turns.
type Feedbacks interface {
	// PutFeedback stores what an owner thinks of the answer of a settled turn, in place of
	// what they thought before. ErrNotFound when no history of the thread shows the turn.
	PutFeedback(ctx context.Context, f Feedback) error
	// DeleteFeedback is ErrNotFound when there is none.
	DeleteFeedback(ctx context.Context, owner, threadID, turnID string) error
	// Feedback lists that of a conversation, of every branch, in the order of its turns.
	Feedback(ctx context.Context, owner, threadID string) ([]Feedback, error)
}

// FeedbackLog is for those who operate an installation.
type FeedbackLog interface {
	// FeedbackAfter lists the feedback of every owner in the order of its last change,
	// after a time and, of those with the same time, after a turn.
	FeedbackAfter(ctx context.Context, after time.Time, turnID string, limit int) ([]Feedback, error)
}

// Feedback is what a person thinks of an answer.
type Feedback struct {
	Owner, ThreadID, TurnID string
	Good                    bool
	Reason                  string // in their words; may be empty
	CreatedAt, UpdatedAt    time.Time
}
