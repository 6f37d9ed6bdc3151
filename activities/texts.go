package activities

import (
	"context"
	"slices"

	"go.temporal.io/sdk/activity"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
)

// maxAttempts is more than the attempts of any activity.
const maxAttempts = 1 << 20

// putTexts stores texts of the turn with the order of this attempt.
func (k *Kit) PutTexts(ctx context.Context, ref TurnRef, texts ...db.Text) error {
	texts = slices.Clone(texts)
	for i := range texts {
		texts[i].Order = textOrder(ctx, ref)
	}
	err := k.Store.PutTexts(ctx, ref.Owner, ref.TurnID, texts)
	if err == nil {
		k.reads.wrote(ref, texts, textOrder(ctx, ref))
	}
	return err
}

// textOrder orders the writes of a turn: later activities overwrite earlier ones, and
// later attempts earlier attempts, never the reverse.
func textOrder(ctx context.Context, ref TurnRef) int64 {
	return ref.Order*maxAttempts + int64(activity.GetInfo(ctx).Attempt)
}

// CodedText returns the rows of a text that people read: its English, and its message if it
// has a code.
func CodedText(key string, m messages.Message) []db.Text {
	texts := []db.Text{{Key: key, Text: m.Text}}
	if m.Code != "" {
		texts = append(texts, db.Text{Key: chat.CodedKey(key), Text: m.Stored()})
	}
	return texts
}
