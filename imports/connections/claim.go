package connections

import (
	"context"
	"errors"

	"github.com/palaver-chat/palaver/db"
)

// Claim moves the accounts that an anonymous owner has connected to another owner, unless
// that one has connected an account of the same service already. A token that cannot be read is
// deleted.
func (a *Accounts) Claim(ctx context.Context, from, to string) error {
	if a == nil || from == to {
		return nil
	}
	list, err := a.store.Connections(ctx, from)
	if err != nil {
		return err
	}
	for _, c := range list {
		if err := a.claim(ctx, c, to); err != nil {
			return err
		}
	}
	return nil
}

func (a *Accounts) claim(ctx context.Context, c db.Connection, to string) error {
	_, err := a.store.Connection(ctx, to, c.Provider)
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
	return db.IgnoreNotFound(a.store.DeleteConnection(ctx, c.Owner, c.Provider))
}
