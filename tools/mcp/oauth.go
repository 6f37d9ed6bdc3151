package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"github.com/palaver-chat/palaver/imports/connections"
	"github.com/palaver-chat/palaver/internal/guard"
	"github.com/palaver-chat/palaver/internal/language"
)

// ProviderPrefix begins the names of servers among the providers of connected accounts.
const ProviderPrefix = "mcp:"

const (
	oauthTimeout  = 5 * time.Second // of one request; the browser waits for several
	discoveryTime = 10 * time.Minute
	maxMetadata   = 1 << 20
)

// OAuth lets people connect their accounts at one server, as the MCP specification describes
// (2025-11-25, basic/authorization): the server names its authorization server, at which Palaver
// registers, or is registered by the operator. Safe for concurrent use.
type OAuth struct {
	server Server
	public http.RoundTripper // reaches public addresses only
	own    http.RoundTripper // reaches the operator's networks, too
	now    func() time.Time

	asking  singleflight.Group
	mu      sync.Mutex
	found   *discovery
	err     error
	at      time.Time                     // of the discovery; zero: none was made
	clients map[string]connections.Client // registered, by issuer and redirect address
}

var _ connections.Provider = (*OAuth)(nil)

// OAuthProviders returns the servers at which people may have accounts, by provider.
func OAuthProviders(servers []Server, g *guard.Guard) map[string]connections.Provider {
	public, own := guard.New(nil).EncryptedTransport(), g.EncryptedTransport()
	all := map[string]connections.Provider{}
	for _, s := range servers {
		if s.mayWantOAuth() {
			all[ProviderPrefix+s.Name] = &OAuth{server: s, public: public, own: own, now: time.Now, clients: map[string]connections.Client{}}
		}
	}
	return all
}

// discovery is what a server and its authorization server say.
type discovery struct {
	oauthex.AuthServerMeta
	resource string
	scopes   []string
	private  bool // the server is in the operator's networks
}

var errNoOAuth = errors.New("the server does not ask for OAuth")

// Offers reports whether people can connect an account. The first call waits for the server.
func (o *OAuth) Offers(ctx context.Context) bool {
	d, err := o.discover(ctx)
	return err == nil && (o.server.OAuth.ClientID != "" || d.RegistrationEndpoint != "")
}

// discover asks the server, unless it has been asked lately. No caller's context ends the questions,
// because all callers share the answer.
func (o *OAuth) discover(ctx context.Context) (*discovery, error) {
	o.mu.Lock()
	found, err, at := o.found, o.err, o.at
	o.mu.Unlock()
	keep := discoveryTime
	if err != nil {
		keep = failedRetry
	}
	if !at.IsZero() && o.now().Sub(at) < keep {
		return found, err
	}
	asked := o.asking.DoChan("", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.Background(), 2*oauthTimeout)
		defer cancel()
		found, err := o.ask(ctx)
		o.mu.Lock()
		defer o.mu.Unlock()
		o.found, o.err, o.at = found, err, o.now()
		return found, err
	})
	select {
	case got := <-asked:
		found, _ := got.Val.(*discovery)
		return found, got.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (o *OAuth) ask(ctx context.Context) (*discovery, error) {
	challenges, asked, private, err := o.challenge(ctx)
	if err != nil {
		return nil, err
	}
	d := &discovery{private: private}
	authority, err := o.resourceMetadata(ctx, d, challenges)
	if err != nil {
		return nil, err
	}
	if authority == "" && !asked && !o.server.OAuth.Wanted {
		return nil, errNoOAuth
	}
	fallback := authority == ""
	if fallback { // servers of before 2025-06-18
		authority = originOf(o.server.URL)
	}
	found, err := o.authorityMetadata(ctx, d, authority, fallback)
	if err != nil {
		return nil, err
	}
	if !found {
		if !fallback {
			return nil, fmt.Errorf("the authorization server %.200q has no metadata", authority)
		}
		d.AuthServerMeta = oauthex.AuthServerMeta{Issuer: authority, AuthorizationEndpoint: authority + "/authorize", TokenEndpoint: authority + "/token", RegistrationEndpoint: authority + "/register"}
	}
	return d, d.check()
}

// challenge asks the server for something without a token. asked is true if it refuses that.
func (o *OAuth) challenge(ctx context.Context) (all []oauthex.Challenge, asked, private bool, err error) {
	message := encode(rpcRequest{Version: "2.0", ID: "1", Method: "initialize", Params: map[string]any{
		"protocolVersion": olderProtocol, "capabilities": map[string]any{}, "clientInfo": map[string]string{"name": "palaver", "version": "1"}}})
	for _, private = range []bool{false, true} {
		var req *http.Request
		req, err = http.NewRequestWithContext(ctx, http.MethodPost, o.server.URL, bytes.NewReader(message))
		if err != nil {
			return nil, false, false, err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		for name, value := range o.server.Headers {
			req.Header.Set(name, value)
		}
		var res *http.Response
		if res, err = o.client(private).Do(req); err != nil {
			if errors.As(err, new(*guard.Refused)) || errors.As(err, new(*guard.NotEncrypted)) {
				continue // it may be in the operator's networks
			}
			return nil, false, private, err
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusUnauthorized {
			return nil, false, private, nil
		}
		all, _ = oauthex.ParseWWWAuthenticate(res.Header.Values("WWW-Authenticate")) // a malformed one says nothing
		return all, true, private, nil
	}
	return nil, false, private, err
}

// resourceMetadata reads what the server says about itself (RFC 9728), and returns the issuer of its
// authorization server; "" if it says nothing.
func (o *OAuth) resourceMetadata(ctx context.Context, d *discovery, challenges []oauthex.Challenge) (issuer string, err error) {
	server, err := url.Parse(o.server.URL)
	if err != nil {
		return "", err
	}
	const wellKnown = "/.well-known/oauth-protected-resource"
	var places []string
	for _, c := range challenges {
		if c.Scheme != "bearer" {
			continue
		}
		if place := c.Params["resource_metadata"]; place != "" {
			places = append(places, place)
		}
		d.scopes = strings.Fields(c.Params["scope"])
	}
	if path := strings.TrimRight(server.EscapedPath(), "/"); path != "" {
		places = append(places, originOf(o.server.URL)+wellKnown+path)
	}
	places = append(places, originOf(o.server.URL)+wellKnown)
	d.resource = resourceOf(server)
	for _, place := range places {
		var m oauthex.ProtectedResourceMetadata
		ok, err := o.read(ctx, place, d.private, &m)
		if err != nil || !ok || len(m.AuthorizationServers) == 0 {
			continue
		}
		if !within(server, m.Resource) {
			return "", fmt.Errorf("the server's metadata are those of another resource: %.200q", m.Resource)
		}
		d.resource = m.Resource
		if len(d.scopes) == 0 {
			d.scopes = m.ScopesSupported
		}
		return m.AuthorizationServers[0], nil
	}
	return "", nil
}

// resourceOf returns the identifier of a server as RFC 8707 wants it.
func resourceOf(server *url.URL) string {
	u := *server
	u.Fragment, u.RawQuery, u.Scheme, u.Host = "", "", strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	return u.String()
}

// within reports whether a server is the resource, or below it. Many servers name their origin.
func within(server *url.URL, resource string) bool {
	r, err := url.Parse(resource)
	if err != nil || origin(r) != origin(server) {
		return false
	}
	above, path := strings.TrimRight(r.Path, "/"), strings.TrimRight(server.Path, "/")
	return path == above || strings.HasPrefix(path, above+"/")
}

// authorityMetadata reads the metadata of an authorization server (RFC 8414, OpenID Connect
// Discovery); false if it has none. A server of before 2025-06-18 is found by its origin, and may name
// an issuer below that.
func (o *OAuth) authorityMetadata(ctx context.Context, d *discovery, issuer string, byOrigin bool) (found bool, err error) {
	u, err := url.Parse(issuer)
	if err != nil {
		return false, errors.New("the issuer is not an address")
	}
	base, path := originOf(issuer), strings.Trim(u.EscapedPath(), "/")
	places := []string{base + "/.well-known/oauth-authorization-server", base + "/.well-known/openid-configuration"}
	if path != "" {
		places = []string{places[0] + "/" + path, places[1] + "/" + path, base + "/" + path + "/.well-known/openid-configuration"}
	}
	for _, place := range places {
		var m oauthex.AuthServerMeta
		ok, err := o.read(ctx, place, d.private, &m)
		switch {
		case err != nil:
			return false, err
		case !ok:
			continue
		case strings.TrimSuffix(m.Issuer, "/") != strings.TrimSuffix(issuer, "/") && !(byOrigin && originOf(m.Issuer) == issuer):
			return false, fmt.Errorf("the metadata at %.200q are those of another issuer", place)
		case !slices.Contains(m.CodeChallengeMethodsSupported, "S256"):
			return false, errors.New("the authorization server does not support PKCE with S256")
		}
		d.AuthServerMeta = m
		return true, nil
	}
	return false, nil
}

// check returns an error unless the addresses can be used.
func (d *discovery) check() error {
	for name, address := range map[string]string{"authorization": d.AuthorizationEndpoint, "token": d.TokenEndpoint} {
		if address == "" {
			return fmt.Errorf("the authorization server has no %s endpoint", name)
		}
	}
	for _, address := range []string{d.AuthorizationEndpoint, d.TokenEndpoint, d.RegistrationEndpoint, d.RevocationEndpoint} {
		if err := checkEndpoint(address, d.private); address != "" && err != nil {
			return err
		}
	}
	return nil
}

// checkEndpoint returns an error for an address that is not https, or http in the operator's networks.
func checkEndpoint(address string, private bool) error {
	u, err := url.Parse(address)
	if err == nil {
		err = guard.CheckURL(u)
	}
	if err != nil || u.Scheme != "https" && !private {
		return fmt.Errorf("%.200q is not an address of an authorization server", address)
	}
	return nil
}

// read reads JSON; false if there is none.
func (o *OAuth) read(ctx context.Context, address string, private bool, into any) (bool, error) {
	if err := checkEndpoint(address, private); err != nil {
		return false, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false, err
	}
	req.Header.Set("Accept", "application/json")
	res, err := o.client(private).Do(req)
	if err != nil {
		return false, err
	}
	defer res.Body.Close()
	if res.StatusCode/100 == 5 {
		return false, fmt.Errorf("status %d", res.StatusCode)
	}
	if res.StatusCode != http.StatusOK {
		return false, nil
	}
	return json.NewDecoder(io.LimitReader(res.Body, maxMetadata)).Decode(into) == nil, nil // a page is no metadata
}

// client makes requests that are redirected within their origin only, and never as a POST: they carry
// secrets.
func (o *OAuth) client(private bool) *http.Client {
	c := newClient(o.public)
	if private {
		c = newClient(o.own)
	}
	c.Timeout = oauthTimeout
	follow := c.CheckRedirect
	c.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if via[0].Method != http.MethodGet {
			return http.ErrUseLastResponse
		}
		return follow(r, via)
	}
	return c
}

// Begin implements connections.Provider.
func (o *OAuth) Begin(ctx context.Context, f *connections.Flow) (string, error) {
	d, err := o.discover(ctx)
	if err != nil {
		return "", &connections.Error{Code: connections.Failed, Cause: err}
	}
	client, err := o.register(ctx, d, f.Redirect)
	if err != nil {
		return "", &connections.Error{Code: connections.Failed, Cause: err}
	}
	f.Client = &client
	c := config(client, f.Redirect)
	f.Scopes = o.scopes(d, f.Scopes...)
	c.Endpoint.AuthURL, c.Scopes = d.AuthorizationEndpoint, f.Scopes
	return c.AuthCodeURL(f.State, oauth2.S256ChallengeOption(f.Verifier), oauth2.SetAuthURLParam("resource", client.Resource)), nil
}

// scopes returns what is asked for: what the operator says, or the server and its refusals; and a
// refresh token.
func (o *OAuth) scopes(d *discovery, wider ...string) []string {
	scopes := slices.Concat(d.scopes, wider)
	if o.server.OAuth.Scope != "" {
		scopes = strings.Fields(o.server.OAuth.Scope)
	}
	if refresh := "offline_access"; slices.Contains(d.ScopesSupported, refresh) {
		scopes = append(scopes, refresh)
	}
	return language.Distinct(scopes)
}

// register returns Palaver's client: the operator's, one that is registered already, or a new one
// (RFC 7591).
func (o *OAuth) register(ctx context.Context, d *discovery, redirect string) (connections.Client, error) {
	client := connections.Client{Issuer: d.Issuer, TokenURL: d.TokenEndpoint, RevokeURL: d.RevocationEndpoint, Resource: d.resource, Private: d.private}
	methods := d.TokenEndpointAuthMethodsSupported
	if o.server.OAuth.ClientID != "" {
		client.ID, client.Secret = o.server.OAuth.ClientID, o.server.OAuth.ClientSecret
		client.InHeader = !slices.Contains(methods, "client_secret_post")
		return client, nil
	}
	if d.RegistrationEndpoint == "" {
		return client, errors.New("the authorization server registers no clients; set oauth.client_id of the server in MCP_SERVERS")
	}
	key := d.Issuer + " " + redirect
	o.mu.Lock()
	known, ok := o.clients[key]
	o.mu.Unlock()
	if ok {
		return known, nil
	}
	method := "client_secret_basic"
	for _, m := range []string{"client_secret_post", "none"} {
		if slices.Contains(methods, m) {
			method = m
		}
	}
	kind := "web"
	if u, err := url.Parse(redirect); err == nil && u.Scheme == "http" {
		kind = "native" // OpenID Connect allows http for those only
	}
	got, err := oauthex.RegisterClient(ctx, d.RegistrationEndpoint, &oauthex.ClientRegistrationMetadata{
		RedirectURIs: []string{redirect}, TokenEndpointAuthMethod: method, GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		ClientName: "Palaver", Scope: strings.Join(o.scopes(d), " "), ApplicationType: kind}, o.client(d.private))
	if err != nil {
		return client, fmt.Errorf("the authorization server refused to register Palaver: %.300s", err)
	}
	if got.TokenEndpointAuthMethod != "" {
		method = got.TokenEndpointAuthMethod
	}
	client.ID, client.Secret, client.InHeader = got.ClientID, got.ClientSecret, method == "client_secret_basic" && got.ClientSecret != ""
	if got.ClientSecretExpiresAt.IsZero() {
		o.mu.Lock()
		o.clients[key] = client
		o.mu.Unlock()
	}
	return client, nil
}

func config(c connections.Client, redirect string) *oauth2.Config {
	style := oauth2.AuthStyleInParams
	if c.InHeader {
		style = oauth2.AuthStyleInHeader
	}
	return &oauth2.Config{ClientID: c.ID, ClientSecret: c.Secret, RedirectURL: redirect, Endpoint: oauth2.Endpoint{TokenURL: c.TokenURL, AuthStyle: style}}
}

// Exchange implements connections.Provider.
func (o *OAuth) Exchange(ctx context.Context, f connections.Flow, answer url.Values) (connections.Grant, error) {
	if f.Client == nil {
		return connections.Grant{}, errors.New("the flow has no client")
	}
	d, err := o.discover(ctx)
	if err != nil {
		return connections.Grant{}, err
	}
	// RFC 9207 and the mix-up defence of OAuth 2.1, section 7.14: the code goes only to the
	// authorization server that the person was sent to, which is still the server's own.
	iss := answer.Get("iss")
	if d.Issuer != f.Client.Issuer || iss != "" && iss != d.Issuer || iss == "" && d.AuthorizationResponseIssParameterSupported {
		return connections.Grant{}, errors.New("the answer is of another authorization server")
	}
	if err := connections.Refusal(answer); err != nil {
		return connections.Grant{}, err
	}
	t, err := config(*f.Client, f.Redirect).Exchange(o.with(ctx, *f.Client), answer.Get("code"), oauth2.VerifierOption(f.Verifier))
	if err != nil {
		return connections.Grant{}, connections.Plain(err)
	}
	if !strings.EqualFold(t.Type(), "bearer") {
		return connections.Grant{}, fmt.Errorf("tokens of type %.40q are not supported", t.Type())
	}
	scope, _ := t.Extra("scope").(string)
	return connections.Grant{Access: t.AccessToken, Refresh: t.RefreshToken, Expiry: t.Expiry, Client: f.Client, Asked: f.Scopes, Tries: f.Tries, Scope: scope}, nil
}

// Refresh implements connections.Provider.
func (o *OAuth) Refresh(ctx context.Context, g connections.Grant) (connections.Grant, error) {
	if g.Client == nil {
		return connections.Grant{}, connections.ErrRevoked
	}
	t, err := config(*g.Client, "").TokenSource(o.with(ctx, *g.Client), &oauth2.Token{RefreshToken: g.Refresh}).Token()
	var said *oauth2.RetrieveError
	if errors.As(err, &said) && (said.ErrorCode == "invalid_client" || said.ErrorCode == "unauthorized_client") {
		return connections.Grant{}, connections.ErrRevoked // it does not know Palaver any more
	}
	if err != nil {
		return connections.Grant{}, connections.Refreshed(err)
	}
	g.Access, g.Refresh, g.Expiry = t.AccessToken, t.RefreshToken, t.Expiry
	return g, nil
}

// Revoke implements connections.Provider (RFC 7009).
func (o *OAuth) Revoke(ctx context.Context, g connections.Grant) error {
	if g.Client == nil || g.Client.RevokeURL == "" {
		return errors.New("the authorization server revokes no tokens")
	}
	form := url.Values{"token": {g.Refresh}, "token_type_hint": {"refresh_token"}}
	if g.Refresh == "" {
		form = url.Values{"token": {g.Access}, "token_type_hint": {"access_token"}}
	}
	if !g.Client.InHeader {
		form.Set("client_id", g.Client.ID)
		if g.Client.Secret != "" {
			form.Set("client_secret", g.Client.Secret)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.Client.RevokeURL, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if g.Client.InHeader {
		req.SetBasicAuth(url.QueryEscape(g.Client.ID), url.QueryEscape(g.Client.Secret))
	}
	res, err := o.client(g.Client.Private).Do(req)
	if err != nil {
		return err
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", res.StatusCode)
	}
	return nil
}

// with returns a context whose token requests name the resource (RFC 8707).
func (o *OAuth) with(ctx context.Context, c connections.Client) context.Context {
	client := o.client(c.Private)
	client.Transport = resourceAdder{client.Transport, c.Resource}
	return context.WithValue(ctx, oauth2.HTTPClient, client)
}

type resourceAdder struct {
	base     http.RoundTripper
	resource string
}

func (a resourceAdder) RoundTrip(r *http.Request) (*http.Response, error) {
	form, err := io.ReadAll(r.Body)
	_ = r.Body.Close()
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	form = append(form, "&resource="+url.QueryEscape(a.resource)...)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(form)), int64(len(form))
	return a.base.RoundTrip(r)
}

func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return origin(u)
}
