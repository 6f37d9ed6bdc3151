package activities

import (
	"context"
	"encoding/json"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// KeepAnswer stores an answer that the API has not stored, and returns its key.
func (a *Activities) KeepAnswer(ctx context.Context, r KeepRequest) (key string, err error) {
	b, err := json.Marshal(r.Value)
	if err == nil {
		key = chat.AnswerKey(r.InterruptID)
		err = a.PutTexts(ctx, r.TurnRef, db.Text{Key: key, Text: string(b)})
	}
	return key, a.Fail(ctx, r.TurnRef, "keep the answer", err)
}
