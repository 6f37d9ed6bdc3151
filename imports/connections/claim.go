package connections

import (
	"context"
	"errors"

	"github.com/palaver-chat/palaver/db"
)

// Claim moves the account that an anonymous owner has connected to another owner, unless
// that one has connected an account already. A token that cannot be read is deleted.
func (a *Accounts) Claim(ctx context.Context, from, to string) error {
	if a == nil {
		return nil
	}
	c, err := a.store.Connection(ctx, from, Google)
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = a.store.Connection(ctx, to, Google)
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return err
	}
	token, unreadable := a.open(c)
	if err != nil && unreadable == nil {
		moved := c
		moved.Owner = to
		if moved.Token, err = a.seal(moved, token); err != nil {
			return err
		}
		if err := a.store.PutConnection(ctx, moved, false); err != nil {
			return err
		}
	}
	err = a.store.DeleteConnection(ctx, from, Google)
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	return err
}
