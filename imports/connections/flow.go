package connections

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"golang.org/x/oauth2"

	"github.com/palaver-chat/palaver/db"
)

// Code says why an account was not connected.
type Code string

const (
	Refused Code = "refused" // the person did not permit it
	Expired Code = "expired" // it was not begun in this browser, took too long, or was finished before
	Partial Code = "partial" // the person permitted something, but not to read files
	Failed  Code = "failed"  // the service did not answer as expected
)

// Error says why an account was not connected. Its text holds no token and no code.
type Error struct {
	Code  Code
	Cause error
}

func (e *Error) Error() string {
	if e.Cause == nil {
		return "connect an account: " + string(e.Code)
	}
	return "connect an account: " + string(e.Code) + ": " + e.Cause.Error()
}

func (e *Error) Unwrap() error { return e.Cause }

// ErrNotConfigured is returned by Begin where no account can be connected.
var ErrNotConfigured = errors.New("GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET are not set")

// ErrUnknownProvider is returned by Begin for a service that is not configured.
var ErrUnknownProvider = errors.New("no such service is configured")

// FlowTime is how long a person has to finish the service's pages.
const FlowTime = 10 * time.Minute

// Flow is the state while an account is being connected. The browser keeps it, encrypted, in
// a cookie while the person is on the service's pages.
type Flow struct {
	Provider  string
	Owner     string
	Anonymous bool   // the owner has no account at Palaver
	Session   string // the caller that the browser's credentials named at the beginning
	Redirect  string // where the service sends the browser
	ReturnTo  string // the path of the page to go back to
	State     string
	Verifier  string // of PKCE
	Expires   time.Time
	Client    *Client  `json:",omitempty"`
	Scopes    []string `json:",omitempty"` // to ask for, beside those that the provider asks for anyway
	Tries     int      `json:",omitempty"` // as in Grant
}

const flowPurpose = "account that is being connected"

// maxCookie is what browsers keep of a cookie, with its name and attributes.
const maxCookie = 3900

// Begin returns the address of the service's page, for the browser, and the flow's cookie.
func (a *Accounts) Begin(ctx context.Context, f Flow) (address, cookie string, err error) {
	p := a.providers[f.Provider]
	if p == nil {
		return "", "", ErrUnknownProvider
	}
	before, err := a.store.Connection(ctx, f.Owner, f.Provider)
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return "", "", err
	}
	if g, unreadable := a.open(before); unreadable == nil {
		f.Scopes, f.Tries = slices.Concat(g.Asked, g.Wanted), g.Tries
	}
	f.State, f.Verifier, f.Expires = randomState(), oauth2.GenerateVerifier(), a.now().Add(FlowTime)
	if address, err = p.Begin(ctx, &f); err != nil {
		return "", "", err
	}
	text, err := json.Marshal(f)
	if err != nil {
		return "", "", err
	}
	if cookie = a.keys.Seal(text, flowPurpose); len(cookie) > maxCookie {
		return "", "", &Error{Code: Failed, Cause: errors.New("what the service sent is too long for a cookie")}
	}
	return address, cookie, nil
}

// Open reads a flow's cookie.
func (a *Accounts) Open(cookie string) (Flow, error) {
	var f Flow
	text, err := a.keys.Open(cookie, flowPurpose)
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil {
		return Flow{}, &Error{Code: Expired, Cause: err}
	}
	return f, nil
}

// Finish connects the account. answer has the parameters with which the service sent the browser
// back to the address of a provider; session is the caller that the browser's credentials name now.
// Its error is an *Error, or the store's.
func (a *Accounts) Finish(ctx context.Context, f Flow, provider, session string, answer url.Values) error {
	p := a.providers[f.Provider]
	switch {
	case p == nil:
		return &Error{Code: Failed, Cause: ErrUnknownProvider}
	case f.Provider != provider:
		return &Error{Code: Expired, Cause: errors.New("the answer is for another service")}
	case subtle.ConstantTimeCompare([]byte(f.State), []byte(answer.Get("state"))) != 1:
		return &Error{Code: Expired, Cause: errors.New("the state does not match")}
	case f.Session != session:
		return &Error{Code: Expired, Cause: errors.New("another person uses the browser now")}
	case a.now().After(f.Expires):
		return &Error{Code: Expired, Cause: errors.New("it took too long")}
	}
	_, _, first, err := db.Take(ctx, a.store, "flow:"+f.State, 1, FlowTime, a.now())
	switch {
	case err != nil:
		return err
	case !first:
		return &Error{Code: Expired, Cause: errors.New("it was finished before")}
	}
	g, err := p.Exchange(ctx, f, answer)
	var said *Error
	switch {
	case errors.As(err, &said):
		return said
	case err != nil:
		return &Error{Code: Failed, Cause: err}
	}
	return a.keep(ctx, f, g)
}

// Refusal returns the error of an answer without a code; nil for one with a code.
func Refusal(answer url.Values) error {
	switch {
	case answer.Get("error") == "access_denied":
		return &Error{Code: Refused}
	case answer.Get("code") == "":
		return &Error{Code: Failed, Cause: fmt.Errorf("no code was sent: %.100q", answer.Get("error"))}
	}
	return nil
}

// keep stores a new grant, and revokes the one of another account that it replaces.
func (a *Accounts) keep(ctx context.Context, f Flow, g Grant) (err error) {
	c := db.Connection{Owner: f.Owner, Provider: f.Provider, Account: g.Name, Scope: g.Scope, CreatedAt: a.now()}
	if c.Token, err = a.seal(c, g); err != nil {
		return err
	}
	before, err := a.store.Connection(ctx, f.Owner, f.Provider)
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return err
	}
	if err := a.store.PutConnection(ctx, c, f.Anonymous); err != nil {
		return err
	}
	// Revoking a token of the same account would revoke the new one, too.
	if before.Token != "" && before.Account != g.Name && before.Account != "" && g.Name != "" {
		a.revoke(ctx, before)
	}
	return nil
}
