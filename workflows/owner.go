package workflows

import (
	"context"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/chat"
)

// validateOwner refuses a new owner while activities may run for the old one. A question
// that waits for a person stays open.
func (t *thread) validateOwner(_ workflow.Context, owner string) error {
	if owner == "" || owner == chat.PublicOwner {
		return temporal.NewApplicationError("a thread needs an owner", chat.CodeValidation)
	}
	if owner != t.Owner && !t.mayChangeOwner() {
		running, _ := t.busy()
		return temporal.NewApplicationError("a turn is running", chat.CodeTurnRunning, running)
	}
	return nil
}

// mayChangeOwner reports whether no activity runs for the owner.
func (t *thread) mayChangeOwner() bool {
	asking := t.turn != nil && t.turn.asking && t.turn.Pending != nil && !t.turn.checking && t.turn.answers.Len() == 0 && t.turn.Stopped == ""
	return t.withdrawn == nil && len(t.allWaiting()) == 0 && (t.turn == nil || asking)
}

// changeOwner makes the thread act for another owner from now on. The API moves its rows to
// that owner next. If it cannot, the next message of the rows' owner changes it back.
func (t *thread) changeOwner(ctx workflow.Context, owner string) error {
	if owner == t.Owner {
		return nil
	}
	t.Owner = owner
	if t.turn != nil {
		t.turn.Owner = owner
	}
	return workflow.UpsertTypedSearchAttributes(ctx, UserAttribute.ValueSet(owner))
}

// ChangeOwner gives an open thread to another owner; it does nothing when none is open.
// A *chat.RefusedError with CodeTurnRunning says that a turn runs.
func (c *Client) ChangeOwner(ctx context.Context, threadID, owner string) error {
	return c.update(ctx, threadID, UpdateOwner, owner, nil)
}
