package connections

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"
	endpoints "golang.org/x/oauth2/google"
	"google.golang.org/api/drive/v3"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"
)

// Scope is the access that Palaver asks for: only reading files. drive.file would be less,
// but it covers only files that were picked in Google's own dialog, so a pasted link could
// not be read. That dialog would also be a script of another host in Palaver's page.
const Scope = drive.DriveReadonlyScope

const (
	revokeURL   = "https://oauth2.googleapis.com/revoke"
	callTimeout = 5 * time.Second // a flow makes three calls within one request of the browser (api.AnswerTimeout)
)

// google calls Google's sign-in, and asks Drive for the name of an account.
type google struct {
	config    oauth2.Config
	revokeURL string
	driveURL  string
	http      *http.Client
	log       *slog.Logger
}

func newGoogle(id, secret, oauthURL, driveURL string) (*google, error) {
	g := &google{
		config:    oauth2.Config{ClientID: id, ClientSecret: secret, Endpoint: endpoints.Endpoint, Scopes: []string{Scope}},
		revokeURL: revokeURL, driveURL: driveURL,
		// Do not follow redirects: they would send secrets to another address.
		http: &http.Client{Timeout: callTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
	if oauthURL == "" {
		return g, nil
	}
	base, err := url.Parse(oauthURL)
	if err != nil || base.Host == "" {
		return nil, errors.New("GOOGLE_OAUTH_BASE_URL is not an address")
	}
	g.config.Endpoint.AuthURL = base.JoinPath("o/oauth2/v2/auth").String()
	g.config.Endpoint.TokenURL = base.JoinPath("token").String()
	g.revokeURL = base.JoinPath("revoke").String()
	return g, nil
}

// at returns the configuration with the address that Google sends the browser back to.
func (g *google) at(redirect string) *oauth2.Config {
	c := g.config
	c.RedirectURL = redirect
	return &c
}

// Begin asks for consent each time: without it Google gives no second refresh token.
func (g *google) Begin(_ context.Context, f *Flow) (address string, err error) {
	if g.config.ClientID == "" {
		return "", ErrNotConfigured
	}
	return g.at(f.Redirect).AuthCodeURL(f.State, oauth2.AccessTypeOffline, oauth2.ApprovalForce, oauth2.S256ChallengeOption(f.Verifier)), nil
}

func (g *google) Offers(context.Context) bool { return g.config.ClientID != "" }

func (g *google) Exchange(ctx context.Context, f Flow, answer url.Values) (Grant, error) {
	if g.config.ClientID == "" {
		return Grant{}, ErrNotConfigured
	}
	if err := Refusal(answer); err != nil {
		return Grant{}, err
	}
	t, err := g.at(f.Redirect).Exchange(g.with(ctx), answer.Get("code"), oauth2.VerifierOption(f.Verifier))
	if err != nil {
		return Grant{}, Plain(err)
	}
	scope, _ := t.Extra("scope").(string)
	switch {
	case !slices.Contains(strings.Fields(scope), Scope):
		_ = g.revoke(ctx, t.AccessToken) // without the scope it is of no use
		return Grant{}, &Error{Code: Partial}
	case t.RefreshToken == "":
		return Grant{}, errors.New("no refresh token was given")
	}
	name, err := g.accountName(ctx, t.AccessToken)
	if err != nil {
		g.log.Warn("reading the name of a connected Google account failed", "owner", f.Owner, "error", err)
	}
	return Grant{Access: t.AccessToken, Refresh: t.RefreshToken, Expiry: t.Expiry, Name: name, Scope: scope}, nil
}

func (g *google) Refresh(ctx context.Context, old Grant) (Grant, error) {
	t, err := g.config.TokenSource(g.with(ctx), &oauth2.Token{RefreshToken: old.Refresh}).Token()
	if err != nil {
		return Grant{}, Refreshed(err)
	}
	old.Access, old.Refresh, old.Expiry = t.AccessToken, t.RefreshToken, t.Expiry
	return old, nil
}

// Refreshed returns the error of a refresh: ErrRevoked if the service refuses the grant for good.
func Refreshed(err error) error {
	var said *oauth2.RetrieveError
	if errors.As(err, &said) && said.ErrorCode == "invalid_grant" {
		return ErrRevoked
	}
	return Plain(err)
}

func (g *google) Revoke(ctx context.Context, old Grant) error { return g.revoke(ctx, old.Refresh) }

func (g *google) with(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, g.http)
}

// Plain removes the body of the response from an error of OAuth.
func Plain(err error) error {
	var said *oauth2.RetrieveError
	if errors.As(err, &said) {
		return fmt.Errorf("status %d %.100q", said.Response.StatusCode, said.ErrorCode)
	}
	return err
}

// revoke revokes all tokens of the account.
func (g *google) revoke(ctx context.Context, token string) error {
	body := strings.NewReader(url.Values{"token": {token}}.Encode())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, g.revokeURL, body)
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := g.http.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10))
	if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusBadRequest { // 400: the token is invalid already
		return fmt.Errorf("status %d", res.StatusCode)
	}
	return nil
}

// maxName limits the address of an account.
const maxName = 320

// accountName returns the email address of the account. Scope covers this call.
func (g *google) accountName(ctx context.Context, accessToken string) (string, error) {
	client := oauth2.NewClient(g.with(ctx), oauth2.StaticTokenSource(&oauth2.Token{AccessToken: accessToken}))
	client.CheckRedirect = g.http.CheckRedirect
	client.Timeout = callTimeout
	options := []option.ClientOption{option.WithHTTPClient(client)}
	if g.driveURL != "" {
		options = append(options, option.WithEndpoint(strings.TrimSuffix(g.driveURL, "/")+"/"))
	}
	service, err := drive.NewService(ctx, options...)
	if err != nil {
		return "", err
	}
	about, err := service.About.Get().Fields("user(emailAddress)").Context(ctx).Do()
	if said := (*googleapi.Error)(nil); errors.As(err, &said) {
		return "", fmt.Errorf("status %d", said.Code)
	}
	if err != nil || about.User == nil {
		return "", cmp.Or(err, errors.New("no account was named"))
	}
	name := strings.Join(strings.Fields(about.User.EmailAddress), " ")
	if len(name) > maxName {
		return "", errors.New("the account's name is too long")
	}
	return name, nil
}
