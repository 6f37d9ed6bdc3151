package connections

import (
	"context"
	"errors"

	"github.com/palaver-chat/palaver/db"
)

const ownersPerPage = 100

// Reseal encrypts the stored tokens of all owners that another key than the first has
// encrypted with the first one, so that the other keys can be dropped. It returns how many
// it has changed. A token that no key opens stays as it is. Any process may run it at any
// time: a token that changes meanwhile is left alone.
func (a *Accounts) Reseal(ctx context.Context) (resealed int, _ error) {
	for after := ""; ; {
		owners, err := a.store.ConnectedOwners(ctx, after, ownersPerPage)
		if err != nil || len(owners) == 0 {
			return resealed, err
		}
		for _, owner := range owners {
			n, err := a.resealOf(ctx, owner)
			resealed += n
			if err != nil {
				return resealed, err
			}
		}
		after = owners[len(owners)-1]
	}
}

func (a *Accounts) resealOf(ctx context.Context, owner string) (resealed int, _ error) {
	list, err := a.store.Connections(ctx, owner)
	if err != nil {
		return 0, err
	}
	for _, c := range list {
		if c.Token == "" || a.keys.Current(c.Token) {
			continue
		}
		text, err := a.keys.Open(c.Token, purpose(c))
		if err != nil {
			a.log.Warn("no key decrypts the token of a connected account; the account must be connected again", "owner", owner, "provider", c.Provider)
			continue
		}
		switch err := a.store.RenewConnection(ctx, c, a.keys.Seal(text, purpose(c)), c.UpdatedAt); {
		case err == nil:
			resealed++
		case !errors.Is(err, db.ErrVersion): // it was renewed, replaced or removed meanwhile
			return resealed, err
		}
	}
	return resealed, nil
}
