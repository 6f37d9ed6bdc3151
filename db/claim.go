package db

import (
	"context"
	"time"
)

// UnsentAfter is the age from which a message that no thread has accepted counts as given
// up. A request sends it for seconds only; the rest is for clocks of API processes that
// differ.
const UnsentAfter = 6 * time.Minute

// Claimer moves what an anonymous owner has stored to an account.
type Claimer interface {
	// ClaimThread moves a conversation, with all that belongs to it, to another owner.
	// ErrNotFound when from does not have it; ErrTurnRuns while a turn of it runs, waits
	// or was just sent (UnsentAfter).
	ClaimThread(ctx context.Context, from, to, threadID string) error
	// UnfinishedFiles counts an owner's documents that are being processed and imports that
	// have not ended.
	UnfinishedFiles(ctx context.Context, owner string) (int, error)
	// ClaimRest moves the rest: documents, sets, pictures, boards and, if the account has
	// none of its own, the profile. It deletes the personal keys of from, because a key must
	// not open an account for which it was not made. It changes nothing and returns
	// false while an upload or import of from is not finished.
	ClaimRest(ctx context.Context, from, to string) (documents int, done bool, _ error)
}
