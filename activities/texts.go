package activities

import (
	"context"
	"slices"

	"go.temporal.io/sdk/activity"

	"github.com/palaver-chat/palaver/db"
)

// maxAttempts is more than an activity is ever tried.
const maxAttempts = 1 << 20

// putTexts stores texts of the turn, under the order of this attempt.
func (a *Activities) putTexts(ctx context.Context, ref TurnRef, texts ...db.Text) error {
	texts = slices.Clone(texts)
	for i := range texts {
		texts[i].Order = textOrder(ctx, ref)
	}
	return a.Store.PutTexts(ctx, ref.Owner, ref.TurnID, texts)
}

// textOrder is the place of this attempt among all that write for the turn: of
// two activities the later one's is higher, of two attempts the later one's.
func textOrder(ctx context.Context, ref TurnRef) int64 {
	return ref.Order*maxAttempts + int64(activity.GetInfo(ctx).Attempt)
}
