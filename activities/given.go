package activities

import (
	"context"
	"errors"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// TakeGiven copies messages that the person wrote while the turn worked to the turn, as texts
// (chat.GivenKey), and drops their own turns. It is idempotent.
func (a *Activities) TakeGiven(ctx context.Context, r GivenRequest) error {
	var texts []db.Text
	for i, id := range r.TurnIDs {
		t, err := a.Store.Turn(ctx, r.Owner, id)
		if errors.Is(err, db.ErrNotFound) { // an attempt before has taken it
			continue
		}
		if err != nil {
			return a.Fail(ctx, r.TurnRef, "take given messages", err)
		}
		texts = append(texts, db.Text{Key: chat.GivenKey(r.First + i), Text: t.Content.Message})
	}
	if len(texts) == 0 {
		return nil
	}
	if err := a.PutTexts(ctx, r.TurnRef, texts...); err != nil {
		return a.Fail(ctx, r.TurnRef, "take given messages", err)
	}
	err := a.Store.DropWaiting(ctx, r.Owner, r.TurnIDs)
	if errors.Is(err, db.ErrNotFound) { // another attempt was faster
		err = nil
	}
	return a.Fail(ctx, r.TurnRef, "take given messages", err)
}
