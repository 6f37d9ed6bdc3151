package connections

import (
	"context"
	"errors"
	"time"

	"golang.org/x/oauth2"

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

// Token returns an access token of owner that is valid now. ok is false, without an error,
// when owner has connected no account, or when it has to be connected again.
func (a *Accounts) Token(ctx context.Context, owner string) (access string, ok bool, err error) {
	if !a.Available() {
		return "", false, nil
	}
	for {
		c, err := a.store.Connection(ctx, owner, Google)
		if errors.Is(err, db.ErrNotFound) || err == nil && c.Token == "" {
			return "", false, nil
		}
		if err != nil {
			return "", false, err
		}
		t, err := a.open(c)
		if err != nil {
			a.log.Error("the token of a connected Google account cannot be read; check TOKEN_ENCRYPTION_KEY and COOKIE_SECRET", "owner", owner, "error", err)
			return "", false, nil
		}
		if t.AccessToken != "" && a.now().Add(minTokenLifetime).Before(t.Expiry) {
			return t.AccessToken, true, nil
		}
		if t, err = a.refreshOnce(ctx, c); t != nil || err != nil {
			return accessOf(t), t != nil, err
		}
	}
}

func accessOf(t *oauth2.Token) string {
	if t == nil {
		return ""
	}
	return t.AccessToken
}

// refreshOnce refreshes the connection, or waits a moment while another process does. If it
// returns neither a token nor an error, the caller reads the connection again. The lease is
// a counter that all processes share.
func (a *Accounts) refreshOnce(ctx context.Context, read db.Connection) (*oauth2.Token, error) {
	lease := "google refresh:" + read.Owner
	_, _, mine, err := db.Take(ctx, a.store, lease, 1, leaseTime, a.now())
	if err != nil {
		return nil, err
	}
	if !mine {
		select {
		case <-time.After(leaseRetry):
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	defer func() {
		if err := a.store.ForgetCount(context.WithoutCancel(ctx), lease); err != nil {
			a.log.Warn("releasing the lease of a token refresh failed; it expires by itself", "owner", read.Owner, "error", err)
		}
	}()
	c, err := a.store.Connection(ctx, read.Owner, Google) // another process may have refreshed it
	if errors.Is(err, db.ErrNotFound) {
		return nil, nil
	}
	if err != nil || c.Version != read.Version {
		return nil, err
	}
	return a.refresh(ctx, c)
}

func (a *Accounts) refresh(ctx context.Context, c db.Connection) (*oauth2.Token, error) {
	old, err := a.open(c)
	if err != nil {
		return nil, err
	}
	sealed := ""
	t, err := a.google.refresh(ctx, old.RefreshToken)
	switch {
	case errors.Is(err, errRevoked):
		a.log.Info("Google refused to refresh a token; its owner must connect the account again", "owner", c.Owner)
	case err != nil:
		return nil, &Error{Code: Failed, Cause: err}
	default:
		if sealed, err = a.seal(c, t); err != nil {
			return nil, err
		}
	}
	err = a.store.RenewConnection(ctx, c, sealed, a.now())
	if errors.Is(err, db.ErrVersion) { // the account was connected again or disconnected meanwhile
		return nil, nil
	}
	return t, err
}
