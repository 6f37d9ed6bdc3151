package db

import "context"

// Claimer gives what an anonymous owner has stored to an account.
type Claimer interface {
	// ClaimThread gives a conversation with all that belongs to it to another owner.
	// ErrNotFound when from does not have it. No activity of the thread may run.
	ClaimThread(ctx context.Context, from, to, threadID string) error
	// ClaimRest gives the rest: documents, sets, pictures, boards and, if the account has
	// none of its own, the profile. Personal keys of from are deleted, because a key must
	// not open an account for which it was not made. It changes nothing and returns
	// false while an upload or import of from is not finished.
	ClaimRest(ctx context.Context, from, to string) (documents int, done bool, _ error)
}
