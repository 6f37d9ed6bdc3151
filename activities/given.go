package activities

import (
	"context"
	"errors"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// TakeGiven copies messages that the person wrote while the turn worked to the turn, as texts
// (chat.GivenKey). Their own turns stay until the thread has recorded that the messages were copied:
// DropGiven, Settle and SettleLost drop them. So a message is never in neither place. It is idempotent.
func (a *Activities) TakeGiven(ctx context.Context, r GivenRequest) error {
	var texts []db.Text
	for i, id := range r.TurnIDs {
		t, err := a.Store.Turn(ctx, r.Owner, id)
		if errors.Is(err, db.ErrNotFound) { // it was deleted
			continue
		}
		if err != nil {
			return a.Fail(ctx, r.TurnRef, "take given messages", err)
		}
		texts = append(texts, db.Text{Key: chat.GivenKey(r.First + i), Text: t.Content.Message},
			db.Text{Key: chat.GivenTurnKey(r.First + i), Text: id})
	}
	if len(texts) == 0 {
		return nil
	}
	return a.Fail(ctx, r.TurnRef, "take given messages", a.PutTexts(ctx, r.TurnRef, texts...))
}

// DropGiven drops the turns of messages that TakeGiven has copied. It is idempotent.
func (a *Activities) DropGiven(ctx context.Context, r GivenRequest) error {
	return a.Fail(ctx, r.TurnRef, "drop given messages", a.dropGiven(ctx, r.Owner, r.TurnIDs))
}

func (a *Activities) dropGiven(ctx context.Context, owner string, turnIDs []string) error {
	if len(turnIDs) == 0 {
		return nil
	}
	return db.IgnoreNotFound(a.Store.DropWaiting(ctx, owner, turnIDs)) // they may have been dropped before
}
