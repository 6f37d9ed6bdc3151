package connections

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/palaver-chat/palaver/db"
)

const (
	// minTokenLifetime is how long a token must still be valid, so that it outlasts the longest
	// IMPORT_TIMEOUT.
	minTokenLifetime = 11 * time.Minute
	// leaseTime is longer than a refresh. After a crash, another process can refresh when
	// the lease has expired.
	leaseTime  = 20 * time.Second
	leaseRetry = 100 * time.Millisecond
)

// Token returns an access token of owner's Google account that is valid now. ok is false, without
// an error, when owner has connected no account, or when it has to be connected again.
func (a *Accounts) Token(ctx context.Context, owner string) (access string, ok bool, err error) {
	if !a.Available() {
		return "", false, nil
	}
	return a.TokenFor(ctx, owner, Google, "", minTokenLifetime)
}

// TokenFor returns an access token for a service that is valid for lifetime, and is another one than
// rejected, which the service did not accept. ok is false as in Token.
func (a *Accounts) TokenFor(ctx context.Context, owner, provider, rejected string, lifetime time.Duration) (access string, ok bool, err error) {
	if a == nil || a.providers[provider] == nil {
		return "", false, nil
	}
	for {
		c, err := a.store.Connection(ctx, owner, provider)
		if errors.Is(err, db.ErrNotFound) || err == nil && c.Token == "" {
			return "", false, nil
		}
		if err != nil {
			return "", false, err
		}
		g, err := a.open(c)
		if err != nil {
			a.log.Error("the token of a connected account cannot be read; check TOKEN_ENCRYPTION_KEY and COOKIE_SECRET", "owner", owner, "provider", provider, "error", err)
			return "", false, nil
		}
		if g.Access != "" && g.Access != rejected && (g.Expiry.IsZero() || a.now().Add(lifetime).Before(g.Expiry)) {
			return g.Access, true, nil
		}
		fresh, err := a.refreshOnce(ctx, c)
		if err != nil || fresh.Access != "" {
			return fresh.Access, fresh.Access != "", err
		}
	}
}

// Connected reports whether owner has connected an account of a service that need not be connected
// again.
func (a *Accounts) Connected(ctx context.Context, owner, provider string) (bool, error) {
	if a == nil {
		return false, nil
	}
	c, err := a.store.Connection(ctx, owner, provider)
	if errors.Is(err, db.ErrNotFound) {
		return false, nil
	}
	return err == nil && c.Token != "", err
}

const (
	maxWiderTries = 2    // how often the owner is asked again for scopes that they were asked for
	maxScopes     = 1000 // characters of all scopes of an account
)

// NeedScope records that a service has refused a call of owner's account because its scope is too
// narrow. The owner is asked for scope when they connect the account again. again is false when that
// would not help: it was tried maxWiderTries times.
func (a *Accounts) NeedScope(ctx context.Context, owner, provider, scope string) (again bool, err error) {
	for {
		c, err := a.store.Connection(ctx, owner, provider)
		if err != nil {
			return false, err
		}
		g, err := a.open(c)
		if err != nil {
			return false, err
		}
		has := func(list []string) bool {
			return !slices.ContainsFunc(strings.Fields(scope), func(s string) bool { return !slices.Contains(list, s) })
		}
		if len(g.Wanted) > 0 && has(slices.Concat(g.Asked, g.Wanted)) {
			return true, nil // it is to be asked for already
		}
		if !has(g.Asked) {
			g.Tries = 0
		}
		for _, s := range strings.Fields(scope) {
			if !slices.Contains(g.Wanted, s) {
				g.Wanted = append(g.Wanted, s)
			}
		}
		if g.Tries++; g.Tries > maxWiderTries || len(g.Wanted) == 0 || len(strings.Join(slices.Concat(g.Asked, g.Wanted), " ")) > maxScopes {
			return false, nil
		}
		sealed, err := a.seal(c, g)
		if err != nil {
			return false, err
		}
		if err := a.store.RenewConnection(ctx, c, sealed, a.now()); !errors.Is(err, db.ErrVersion) {
			return err == nil, err
		}
	}
}

// refreshOnce refreshes the connection, or waits a moment while another process does. If it
// returns neither a token nor an error, the caller reads the connection again. The lease is
// a counter that all processes share.
func (a *Accounts) refreshOnce(ctx context.Context, read db.Connection) (Grant, error) {
	lease := read.Provider + " refresh:" + read.Owner
	_, _, mine, err := db.Take(ctx, a.store, lease, 1, leaseTime, a.now())
	if err != nil {
		return Grant{}, err
	}
	if !mine {
		select {
		case <-time.After(leaseRetry):
			return Grant{}, nil
		case <-ctx.Done():
			return Grant{}, ctx.Err()
		}
	}
	defer func() {
		if err := a.store.ForgetCount(context.WithoutCancel(ctx), lease); err != nil {
			a.log.Warn("releasing the lease of a token refresh failed; it expires by itself", "owner", read.Owner, "error", err)
		}
	}()
	c, err := a.store.Connection(ctx, read.Owner, read.Provider) // another process may have refreshed it
	if errors.Is(err, db.ErrNotFound) {
		return Grant{}, nil
	}
	if err != nil || c.Version != read.Version {
		return Grant{}, err
	}
	return a.refresh(ctx, c)
}

func (a *Accounts) refresh(ctx context.Context, c db.Connection) (Grant, error) {
	old, err := a.open(c)
	if err != nil {
		return Grant{}, err
	}
	sealed := ""
	g, err := Grant{}, ErrRevoked
	if old.Refresh != "" {
		g, err = a.providers[c.Provider].Refresh(ctx, old)
	}
	switch {
	case errors.Is(err, ErrRevoked):
		g = Grant{}
		a.log.Info("a token cannot be refreshed; its owner must connect the account again", "owner", c.Owner, "provider", c.Provider)
	case err != nil:
		return Grant{}, &Error{Code: Failed, Cause: err}
	default:
		if sealed, err = a.seal(c, g); err != nil {
			return Grant{}, err
		}
	}
	err = a.store.RenewConnection(ctx, c, sealed, a.now())
	if errors.Is(err, db.ErrVersion) { // the account was connected again or disconnected meanwhile
		return Grant{}, nil
	}
	return g, err
}
