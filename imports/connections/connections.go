// Package connections lets people connect their accounts at other services: at Google, from
// which Palaver then imports files that are not shared with everyone, and at MCP servers that
// want OAuth. Tokens are stored encrypted, for their owner only; they never reach a log, a
// history or the page.
package connections

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"sync"
	"time"

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
	OAuthURL               string              // another address of Google's sign-in, for tests
	DriveURL               string              // another address of Drive's API
	Providers              map[string]Provider // beside Google, by name
	Log                    *slog.Logger
}

// Provider is a service at which people have accounts.
type Provider interface {
	// Begin returns the address of the service's page, and puts into the flow what Exchange needs.
	Begin(ctx context.Context, f *Flow) (address string, err error)
	// Exchange returns the grant for the parameters with which the service sent the browser back.
	// Accounts have checked the state.
	Exchange(ctx context.Context, f Flow, answer url.Values) (Grant, error)
	// Refresh returns the grant with a new access token, or ErrRevoked.
	Refresh(ctx context.Context, g Grant) (Grant, error)
	Revoke(ctx context.Context, g Grant) error
	// Offers reports whether people can connect an account now. It may ask the service.
	Offers(ctx context.Context) bool
}

// Grant is the access that a person has given. The fields with JSON names are stored encrypted.
type Grant struct {
	Access  string    `json:"access"`
	Refresh string    `json:"refresh"`
	Expiry  time.Time `json:"expiry"` // zero: unknown
	Client  *Client   `json:"client,omitempty"`
	Asked   []string  `json:"asked,omitempty"`  // scopes that the person was asked for
	Wanted  []string  `json:"wanted,omitempty"` // scopes to ask for, because the service has refused something without them
	Tries   int       `json:"tries,omitempty"`  // how often the person was asked for the same ones because of that
	Name    string    `json:"-"`                // the account's address; empty when the service did not say
	Scope   string    `json:"-"`
}

// Client is Palaver's OAuth client at an authorization server, for services where that differs from
// person to person.
type Client struct {
	Issuer    string `json:"issuer"`
	ID        string `json:"id"`
	Secret    string `json:"secret,omitempty"`
	InHeader  bool   `json:"in_header,omitempty"` // the secret is sent by HTTP Basic
	TokenURL  string `json:"token_url"`
	RevokeURL string `json:"revoke_url,omitempty"`
	Resource  string `json:"resource"`          // RFC 8707
	Private   bool   `json:"private,omitempty"` // the server is in the operator's networks
}

// ErrRevoked means that a grant has expired or was revoked: its owner must connect again.
var ErrRevoked = errors.New("the grant has expired or was revoked")

// Accounts are the accounts that people have connected. Safe for concurrent use.
type Accounts struct {
	store     Store
	keys      *Keys
	google    *google
	providers map[string]Provider // with Google
	log       *slog.Logger
	now       func() time.Time
}

// New returns Accounts. It opens no connection.
func New(o Options) (*Accounts, error) {
	g, err := newGoogle(o.ClientID, o.ClientSecret, o.OAuthURL, o.DriveURL)
	if err != nil {
		return nil, err
	}
	g.log = o.Log
	providers := map[string]Provider{Google: g}
	maps.Copy(providers, o.Providers)
	return &Accounts{store: o.Store, keys: o.Keys, google: g, providers: providers, log: o.Log, now: time.Now}, nil
}

// Available reports whether Google accounts can be connected.
func (a *Accounts) Available() bool { return a != nil && a.google.config.ClientID != "" }

// offerWait is how long services may take to say whether accounts can be connected.
const offerWait = 2 * time.Second

// Offered returns the services at which people can connect an account.
func (a *Accounts) Offered(ctx context.Context) []string {
	if a == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, offerWait)
	defer cancel()
	var (
		all  []string
		mu   sync.Mutex
		done sync.WaitGroup
	)
	for name, p := range a.providers {
		done.Go(func() {
			if p.Offers(ctx) {
				mu.Lock()
				defer mu.Unlock()
				all = append(all, name)
			}
		})
	}
	done.Wait()
	slices.Sort(all)
	return all
}

// Account is a connected account, without its token.
type Account struct {
	Provider    string
	Name        string // the account's address; empty when Google did not say
	Scope       string
	Expired     bool // the owner must connect it again
	Narrow      bool // the service has refused something that needs a wider scope: the owner can connect it again
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
		g, err := a.open(c)
		list[i] = Account{Provider: c.Provider, Name: c.Account, Scope: c.Scope, Expired: err != nil, Narrow: len(g.Wanted) > 0, ConnectedAt: c.CreatedAt}
	}
	return list, nil
}

// Disconnect removes an owner's account, then asks the service to revoke the access. revoked is
// false when that failed; the token is deleted in any case. db.ErrNotFound when nothing is
// connected.
func (a *Accounts) Disconnect(ctx context.Context, owner, provider string) (revoked bool, err error) {
	c, err := a.store.Connection(ctx, owner, provider)
	if err != nil {
		return false, err
	}
	if err := a.store.DeleteConnection(ctx, owner, provider); err != nil {
		return false, err
	}
	return a.revoke(ctx, c), nil
}

// DisconnectAll disconnects all accounts of an owner.
func (a *Accounts) DisconnectAll(ctx context.Context, owner string) error {
	list, err := a.store.Connections(ctx, owner)
	if err != nil {
		return err
	}
	for _, c := range list {
		if _, err := a.Disconnect(ctx, owner, c.Provider); err != nil && !errors.Is(err, db.ErrNotFound) {
			return err
		}
	}
	return nil
}

func (a *Accounts) revoke(ctx context.Context, c db.Connection) (revoked bool) {
	if c.Token == "" { // the service has revoked it already
		return true
	}
	g, err := a.open(c)
	if err == nil {
		err = errNoProvider
		if p := a.providers[c.Provider]; p != nil {
			err = p.Revoke(ctx, g)
		}
	}
	if err != nil {
		a.log.Warn("revoking the access at a service failed; the stored token was deleted", "owner", c.Owner, "provider", c.Provider, "error", err)
	}
	return err == nil
}

// purpose binds an encrypted token to its row: copied to another owner's row, it cannot be
// decrypted.
func purpose(c db.Connection) string {
	return fmt.Sprintf("token of %q at %q", c.Owner, c.Provider)
}

func (a *Accounts) seal(c db.Connection, g Grant) (string, error) {
	text, err := json.Marshal(g)
	return a.keys.Seal(text, purpose(c)), err
}

var (
	errNoToken    = errors.New("the service has revoked the token")
	errNoProvider = errors.New("the service is not configured any more")
)

func (a *Accounts) open(c db.Connection) (g Grant, err error) {
	if c.Token == "" {
		return g, errNoToken
	}
	text, err := a.keys.Open(c.Token, purpose(c))
	if err != nil {
		return g, err
	}
	if err := json.Unmarshal(text, &g); err != nil {
		return g, errors.New("the stored token is damaged")
	}
	return g, nil
}
