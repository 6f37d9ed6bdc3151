package db

import (
	"context"
	"time"
)

// UnsentAfter is the age from which a message that no thread has accepted counts as given
// up. A request sends it for seconds only; the rest is for clocks of API processes that
// differ.
const UnsentAfter = 6 * time.Minute

// Claim says that all that an anonymous owner has stored goes to an account.
type Claim struct {
	Owner, Account string
	Began          time.Time
}

// Claimer moves what an anonymous owner has stored to an account. A move from an owner to
// the same owner changes nothing.
type Claimer interface {
	// BeginClaim records, before anything moves, that all of from goes to an account, so that
	// the repair sweep can finish it. It returns the account that was recorded first.
	BeginClaim(ctx context.Context, from, to string, at time.Time) (account string, _ error)
	// EndClaim removes that record; nothing of from moves any more.
	EndClaim(ctx context.Context, c Claim) error
	// ClaimThread moves a conversation, with all that belongs to it, to another owner.
	// ErrNotFound when from does not have it; ErrTurnRuns while a turn of it runs, waits
	// or was just sent (UnsentAfter).
	ClaimThread(ctx context.Context, from, to, threadID string) error
	// Unfinished counts an owner's documents that are being processed, imports that have not
	// ended, and messages that are being sent (UnsentAfter).
	Unfinished(ctx context.Context, owner string) (int, error)
	// ClaimRest moves the rest: documents, sets, pictures, boards and, if the account has
	// none of its own, the profile. It deletes the personal keys of from, because a key must
	// not open an account for which it was not made. It changes nothing and returns
	// false while something of from is Unfinished.
	ClaimRest(ctx context.Context, from, to string) (documents int, done bool, _ error)
}
