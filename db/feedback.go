package db

import (
	"context"
	"time"
)

// Feedbacks keeps what people think of answers. Feedback is deleted with its turn.
type Feedbacks interface {
	// PutFeedback stores what an owner thinks of the answer of a settled turn. It replaces
	// earlier feedback. ErrNotFound when no history of the thread shows the turn.
	PutFeedback(ctx context.Context, f Feedback) error
	// DeleteFeedback returns ErrNotFound when there is none.
	DeleteFeedback(ctx context.Context, owner, threadID, turnID string) error
	// Feedback lists the feedback on all branches of a conversation, in the order of its turns.
	Feedback(ctx context.Context, owner, threadID string) ([]Feedback, error)
}

// FeedbackLog reads the feedback of all owners, for operators.
type FeedbackLog interface {
	// FeedbackAfter lists the feedback of every owner in the order of its last change. It
	// starts after the time and turn id of the last entry that was read.
	FeedbackAfter(ctx context.Context, after time.Time, turnID string, limit int) ([]Feedback, error)
}

// Feedback is what a person thinks of an answer.
type Feedback struct {
	Owner, ThreadID, TurnID string
	Good                    bool
	Reason                  string // in their words; may be empty
	Shared                  bool   // administrators may read the question and the answer
	CreatedAt, UpdatedAt    time.Time
}
