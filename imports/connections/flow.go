package connections

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
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
	Failed  Code = "failed"  // Google did not answer as expected
)

// Error says why an account was not connected. Its text holds no token and no code.
type Error struct {
	Code  Code
	Cause error
}

func (e *Error) Error() string {
	if e.Cause == nil {
		return "connect a Google account: " + string(e.Code)
	}
	return "connect a Google account: " + string(e.Code) + ": " + e.Cause.Error()
}

func (e *Error) Unwrap() error { return e.Cause }

// ErrNotConfigured is returned by Begin where no account can be connected.
var ErrNotConfigured = errors.New("GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET are not set")

// FlowTime is how long a person has to finish Google's pages.
const FlowTime = 10 * time.Minute

// Flow is the state while an account is being connected. The browser keeps it, encrypted, in
// a cookie while the person is on Google's pages.
type Flow struct {
	Owner     string
	Anonymous bool   // the owner has no account at Palaver
	Session   string // the caller that the browser's credentials named at the beginning
	Redirect  string // where Google sends the browser
	ReturnTo  string // the path of the page to go back to
	State     string
	Verifier  string // of PKCE
	Expires   time.Time
}

const flowPurpose = "google account that is being connected"

// Begin returns the address of Google's page, for the browser, and the flow's cookie.
func (a *Accounts) Begin(f Flow) (address, cookie string, err error) {
	if !a.Available() {
		return "", "", ErrNotConfigured
	}
	f.State, f.Verifier, f.Expires = randomState(), oauth2.GenerateVerifier(), a.now().Add(FlowTime)
	text, err := json.Marshal(f)
	if err != nil {
		return "", "", err
	}
	// Ask for consent each time: without it Google gives no second refresh token.
	address = a.google.at(f.Redirect).AuthCodeURL(f.State, oauth2.AccessTypeOffline, oauth2.ApprovalForce, oauth2.S256ChallengeOption(f.Verifier))
	return address, a.keys.Seal(text, flowPurpose), nil
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

// Finish connects the account. answer has the parameters with which Google sent the browser
// back; session is the caller that the browser's credentials name now. Its error is an
// *Error, or the store's.
func (a *Accounts) Finish(ctx context.Context, f Flow, session string, answer url.Values) error {
	switch {
	case !a.Available():
		return &Error{Code: Failed, Cause: ErrNotConfigured}
	case subtle.ConstantTimeCompare([]byte(f.State), []byte(answer.Get("state"))) != 1:
		return &Error{Code: Expired, Cause: errors.New("the state does not match")}
	case f.Session != session:
		return &Error{Code: Expired, Cause: errors.New("another person uses the browser now")}
	case a.now().After(f.Expires):
		return &Error{Code: Expired, Cause: errors.New("it took too long")}
	}
	_, _, first, err := db.Take(ctx, a.store, "google flow:"+f.State, 1, FlowTime, a.now())
	switch {
	case err != nil:
		return err
	case !first:
		return &Error{Code: Expired, Cause: errors.New("it was finished before")}
	case answer.Get("error") == "access_denied":
		return &Error{Code: Refused}
	case answer.Get("code") == "":
		return &Error{Code: Failed, Cause: errors.New("no code was sent")}
	}
	return a.connect(ctx, f, answer.Get("code"))
}

func (a *Accounts) connect(ctx context.Context, f Flow, code string) error {
	t, err := a.google.exchange(ctx, f, code)
	if err != nil {
		return &Error{Code: Failed, Cause: err}
	}
	scope, _ := t.Extra("scope").(string)
	switch {
	case !slices.Contains(strings.Fields(scope), Scope):
		_ = a.google.revoke(ctx, t.AccessToken) // without the scope it is of no use
		return &Error{Code: Partial}
	case t.RefreshToken == "":
		return &Error{Code: Failed, Cause: errors.New("no refresh token was given")}
	}
	name, err := a.google.accountName(ctx, t.AccessToken)
	if err != nil {
		a.log.Warn("reading the name of a connected Google account failed", "owner", f.Owner, "error", err)
	}
	c := db.Connection{Owner: f.Owner, Provider: Google, Account: name, Scope: scope, CreatedAt: a.now()}
	if c.Token, err = a.seal(c, t); err != nil {
		return err
	}
	before, err := a.store.Connection(ctx, f.Owner, Google)
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return err
	}
	if err := a.store.PutConnection(ctx, c, f.Anonymous); err != nil {
		return err
	}
	// Revoking a token of the same account would revoke the new one, too.
	if before.Token != "" && before.Account != name && before.Account != "" && name != "" {
		a.revoke(ctx, before)
	}
	return nil
}
