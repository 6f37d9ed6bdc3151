// Package connections lets people connect their own Google account, from which Palaver
// then imports files that are not shared with everyone. Tokens are stored encrypted, for
// their owner only; they never reach a log, a history or the page.
package connections

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/oauth2"

	"github.com/palaver-chat/palaver/db"
)

// Google is the provider's name.
const Google = "google"

// Store is the part of db.Store that Accounts use.
type Store interface {
	db.Connections
	db.Limits
}

// Options are the options of New.
type Options struct {
	Store Store
	Keys  *Keys
	// ClientID and ClientSecret are Palaver's OAuth client at Google. Without them no account
	// can be connected; connected ones can still be listed and disconnected.
	ClientID, ClientSecret string
	OAuthURL               string // another address of Google's sign-in, for tests
	DriveURL               string // another address of Drive's API
	Log                    *slog.Logger
}

// Accounts are the Google accounts that people have connected. Safe for concurrent use.
type Accounts struct {
	store  Store
	keys   *Keys
	google *google
	log    *slog.Logger
	now    func() time.Time
}

// New returns Accounts. It opens no connection.
func New(o Options) (*Accounts, error) {
	g, err := newGoogle(o.ClientID, o.ClientSecret, o.OAuthURL, o.DriveURL)
	if err != nil {
		return nil, err
	}
	return &Accounts{store: o.Store, keys: o.Keys, google: g, log: o.Log, now: time.Now}, nil
}

// Available reports whether accounts can be connected.
func (a *Accounts) Available() bool { return a != nil && a.google.config.ClientID != "" }

// Account is a connected account, without its token.
type Account struct {
	Provider    string
	Name        string // the account's address; empty when Google did not say
	Scope       string
	Expired     bool // the owner must connect it again
	ConnectedAt time.Time
}

// List returns what an owner has connected.
func (a *Accounts) List(ctx context.Context, owner string) ([]Account, error) {
	rows, err := a.store.Connections(ctx, owner)
	if err != nil {
		return nil, err
	}
	list := make([]Account, len(rows))
	for i, c := range rows {
		_, err := a.open(c)
		list[i] = Account{Provider: c.Provider, Name: c.Account, Scope: c.Scope, Expired: err != nil, ConnectedAt: c.CreatedAt}
	}
	return list, nil
}

// Disconnect removes an owner's account, then asks Google to revoke the access. revoked is
// false when that failed; the token is deleted in any case. db.ErrNotFound when nothing is
// connected.
func (a *Accounts) Disconnect(ctx context.Context, owner string) (revoked bool, err error) {
	c, err := a.store.Connection(ctx, owner, Google)
	if err != nil {
		return false, err
	}
	if err := a.store.DeleteConnection(ctx, owner, Google); err != nil {
		return false, err
	}
	return a.revoke(ctx, c), nil
}

func (a *Accounts) revoke(ctx context.Context, c db.Connection) (revoked bool) {
	if c.Token == "" { // Google has revoked it already
		return true
	}
	token, err := a.open(c)
	if err == nil {
		err = a.google.revoke(ctx, token.RefreshToken)
	}
	if err != nil {
		a.log.Warn("revoking the access at Google failed; the stored token was deleted", "owner", c.Owner, "error", err)
	}
	return err == nil
}

// purpose binds an encrypted token to its row: copied to another owner's row, it cannot be
// decrypted.
func purpose(c db.Connection) string {
	return fmt.Sprintf("token of %q at %q", c.Owner, c.Provider)
}

// token is the content of an encrypted token.
type token struct {
	Access  string    `json:"access"`
	Refresh string    `json:"refresh"`
	Expiry  time.Time `json:"expiry"`
}

func (a *Accounts) seal(c db.Connection, t *oauth2.Token) (string, error) {
	text, err := json.Marshal(token{t.AccessToken, t.RefreshToken, t.Expiry})
	return a.keys.Seal(text, purpose(c)), err
}

var errNoToken = errors.New("the service has revoked the token")

func (a *Accounts) open(c db.Connection) (*oauth2.Token, error) {
	if c.Token == "" {
		return nil, errNoToken
	}
	text, err := a.keys.Open(c.Token, purpose(c))
	if err != nil {
		return nil, err
	}
	var t token
	if err := json.Unmarshal(text, &t); err != nil {
		return nil, errors.New("the stored token is damaged")
	}
	return &oauth2.Token{AccessToken: t.Access, RefreshToken: t.Refresh, Expiry: t.Expiry}, nil
}
