package api

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/credential"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/audit"
	"github.com/palaver-chat/palaver/imports/connections"
	"github.com/palaver-chat/palaver/internal/guard"
	"github.com/palaver-chat/palaver/testkit/googletest"
	"github.com/palaver-chat/palaver/testkit/must"
	"github.com/palaver-chat/palaver/testkit/oauthtest"
	"github.com/palaver-chat/palaver/tools/mcp"
)

// withGoogle starts an API whose callers can connect accounts of a fake Google.
func withGoogle(t *testing.T, change ...func(*Deps)) (*bundle, *googletest.Server, *connections.Accounts) {
	t.Helper()
	google, servers := googletest.New(t), withServer(t)
	var accounts *connections.Accounts
	b := setup(t, append(change, func(d *Deps) {
		keys := must.Have(connections.NewKeys([]byte("a secret that is only used in tests")))(t)
		var err error
		accounts, err = connections.New(connections.Options{Store: d.Store, Keys: keys, ClientID: googletest.ClientID, ClientSecret: googletest.ClientSecret,
			OAuthURL: google.URL, DriveURL: google.URL + "/drive/v3/", Providers: servers, Log: d.Log})
		require.NoError(t, err)
		d.Accounts = accounts
		state := db.ToolServer{Name: "fake", State: "sign_in", Tools: 1, Notes: []db.ToolNote{{Tool: "odd", Problem: "it has no name", LeftOut: true}}}
		require.NoError(t, d.Store.PutToolServer(t.Context(), state, time.Now()))
		require.NoError(t, d.Store.PutToolServer(t.Context(), db.ToolServer{Name: "removed", State: "ok"}, time.Now().Add(-time.Hour)))
	})...)
	return b, google, accounts
}

// withServer returns an MCP server called fake that wants OAuth.
func withServer(t *testing.T) map[string]connections.Provider {
	t.Helper()
	allowed := must.Have(guard.ParsePrefixes("127.0.0.0/8"))(t)
	return mcp.OAuthProviders([]mcp.Server{{Name: "fake", Transport: mcp.HTTP, URL: oauthtest.New(t).Endpoint}}, guard.New(allowed))
}

// begin returns Google's page for a browser.
func (c *client) begin(returnTo string) string {
	c.t.Helper()
	return c.call(200, "GET", "/api/connections/google/start?return_to="+url.QueryEscape(returnTo), nil)["url"].(string)
}

// stepwise stops at redirects.
func (c *client) stepwise() {
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
}

// consent opens Google's page and returns the address that it sends the browser to.
func consent(t *testing.T, page string) *url.URL {
	t.Helper()
	plain := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res := must.Have(plain.Get(page))(t)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusFound, res.StatusCode)
	back := must.Have(url.Parse(res.Header.Get("Location")))(t)
	return back
}

// comeBack lets the browser follow the address, and returns the address where it ends.
func (c *client) comeBack(back *url.URL) string {
	c.t.Helper()
	res := c.send("GET", back.RequestURI(), nil)
	if res.StatusCode != http.StatusSeeOther {
		c.t.Fatalf("status %d", res.StatusCode)
	}
	return res.Header.Get("Location")
}

func (c *client) connections() []any {
	c.t.Helper()
	return c.call(200, "GET", "/api/connections", nil)["items"].([]any)
}

const connectedTo = "?connect=google"

// Rules I17, I19.
func TestPersonConnectsAndDisconnectsTheirGoogleAccount(t *testing.T) {
	b, google, accounts := withGoogle(t)
	c := b.client()
	c.stepwise()
	require.Equal(t, []any{"google", "mcp:fake"}, c.call(200, "GET", "/api/connections", nil)["available"])
	page := c.begin("/chat/abc")
	require.Contains(t, page, "scope="+url.QueryEscape("https://www.googleapis.com/auth/drive.readonly")+"&", "no other scope")
	require.Equal(t, "/chat/abc"+connectedTo, c.comeBack(consent(t, page)))

	item := c.connections()[0].(map[string]any)
	require.Equal(t, "google", item["provider"])
	require.Equal(t, "ann@example.com", item["account"])
	require.Equal(t, "connected", item["state"])
	me := c.call(200, "GET", "/api/me", nil)["id"].(string)
	token, ok, err := accounts.Token(t.Context(), me)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "ann@example.com", google.Account(token))

	require.Empty(t, b.client().connections(), "other people's are not shown")
	require.Equal(t, true, c.call(200, "DELETE", "/api/connections/google", nil)["revoked"])
	require.Empty(t, google.Grants(), "revoked at Google, too")
	require.Empty(t, c.connections())
	c.call(404, "DELETE", "/api/connections/google", nil)
	_, ok, err = accounts.Token(t.Context(), me)
	require.NoError(t, err)
	require.False(t, ok)
}

func TestPersonConnectsAndDisconnectsTheirAccountAtAnMCPServer(t *testing.T) {
	b, _, accounts := withGoogle(t)
	c := b.client()
	c.stepwise()
	page := c.call(200, "GET", "/api/connections/mcp/fake/start?return_to=/chat/abc", nil)["url"].(string)
	back := consent(t, page)
	require.Equal(t, "/api/connections/mcp/fake/callback", back.Path)
	other := b.client()
	other.stepwise()
	require.Equal(t, "/?connect=mcp%3Afake&connect_error=expired", other.comeBack(back), "another browser")
	require.Equal(t, "/chat/abc?connect=mcp%3Afake", c.comeBack(back))
	listed := c.call(200, "GET", "/api/connections", nil)
	require.Equal(t, "mcp:fake", listed["items"].([]any)[0].(map[string]any)["provider"])
	require.Equal(t, []any{map[string]any{"name": "fake", "state": "sign_in", "tools": 1.0, "notes": []any{map[string]any{"tool": "odd", "problem": "it has no name", "left_out": true}}}}, listed["servers"])
	me := c.call(200, "GET", "/api/me", nil)["id"].(string)
	connected, err := accounts.Connected(t.Context(), me, "mcp:fake")
	require.NoError(t, err)
	require.True(t, connected)
	require.Empty(t, b.client().connections(), "other people's are not shown")
	require.Equal(t, true, c.call(200, "DELETE", "/api/connections/mcp/fake", nil)["revoked"])
	require.Empty(t, c.connections())
	c.call(404, "DELETE", "/api/connections/mcp/fake", nil)
	c.call(404, "GET", "/api/connections/mcp/unknown/start", nil)
}

// Rule I18.
func TestAccountIsNotConnectedWithoutThePersonsConsent(t *testing.T) {
	b, google, _ := withGoogle(t)
	c := b.client()
	c.stepwise()

	google.Set(func(s *googletest.Settings) { s.Deny = true })
	require.Equal(t, "/"+connectedTo+"&connect_error=refused", c.comeBack(consent(t, c.begin("/"))))

	google.Set(func(s *googletest.Settings) { s.Deny, s.Scope = false, "openid" })
	require.Equal(t, "/"+connectedTo+"&connect_error=partial", c.comeBack(consent(t, c.begin("/"))))
	require.Empty(t, google.Grants(), "what was permitted is given back")

	google.Set(func(s *googletest.Settings) { s.Scope, s.Down = "", true })
	require.Equal(t, "/"+connectedTo+"&connect_error=failed", c.comeBack(consent(t, c.begin("/"))))
	require.Empty(t, c.connections())
}

func TestAnswerOfGoogleCountsOnceAndOnlyInTheBrowserThatAsked(t *testing.T) {
	b, google, _ := withGoogle(t)
	expired := "/" + connectedTo + "&connect_error=expired"
	c := b.client()
	c.stepwise()

	back := consent(t, c.begin("/"))
	victim := b.client()
	victim.stepwise()
	victim.begin("/")
	require.Equal(t, expired, victim.comeBack(back), "another browser, with a flow of its own: the state is another one")
	other := b.client()
	other.stepwise()
	require.Equal(t, expired, other.comeBack(back), "another browser, without a flow")

	// The same browser can still finish, but only once, even when its cookie was copied.
	flow := c.flowCookie(t)
	require.Equal(t, "/"+connectedTo, c.comeBack(back))
	require.Equal(t, expired, c.comeBack(back))
	res := c.send("GET", back.RequestURI(), nil, "Cookie", flow)
	require.Equal(t, expired, res.Header.Get("Location"), "a copied cookie and a used code")
	require.Len(t, google.Grants(), 1)

	forged := consent(t, c.begin("/"))
	q := forged.Query()
	q.Set("state", q.Get("state")+"x")
	forged.RawQuery = q.Encode()
	require.Equal(t, expired, c.comeBack(forged))
	require.Empty(t, victim.connections())
}

// flowCookie returns all cookies of the browser in a Cookie header.
func (c *client) flowCookie(t *testing.T) string {
	u := must.Have(url.Parse(c.url))(t)
	var all []string
	for _, cookie := range c.Jar.Cookies(u) {
		all = append(all, cookie.Name+"="+cookie.Value)
	}
	require.Len(t, all, 2)
	return strings.Join(all, "; ")
}

func TestAccountIsNotConnectedAfterSignOut(t *testing.T) {
	b, _, _ := withGoogle(t)
	c := b.client()
	c.stepwise()
	back := consent(t, c.begin("/"))
	before := c.call(200, "GET", "/api/me", nil)["id"]
	c.send("DELETE", "/api/me/sessions", nil)
	require.NotEqual(t, before, c.call(200, "GET", "/api/me", nil)["id"])
	require.Equal(t, "/"+connectedTo+"&connect_error=expired", c.comeBack(back))
}

func TestCallerWithATokenConnectsTheirAccount(t *testing.T) {
	b, _, accounts := withGoogle(t)
	c := b.client()
	c.stepwise()
	page := c.call(200, "GET", "/api/connections/google/start", nil, "Authorization", bearerOf(t, "ann"))["url"].(string)
	require.Equal(t, "/"+connectedTo, c.comeBack(consent(t, page)), "the browser comes back without the token")
	_, ok, err := accounts.Token(t.Context(), "ann")
	require.NoError(t, err)
	require.True(t, ok)
}

// Rule I18.
func TestBrowserIsSentBackToThePageOnly(t *testing.T) {
	b, _, _ := withGoogle(t)
	for _, path := range []string{"//evil.example", "https://evil.example/", "/\\evil.example", "/chat/../api/me", "/chat/x?y", "chat/x", "/chat/x\n"} {
		body := b.client().call(400, "GET", "/api/connections/google/start?return_to="+url.QueryEscape(path), nil)
		require.Contains(t, errorText(body), "return_to", path)
	}
}

func errorText(body map[string]any) string {
	var b strings.Builder
	for _, d := range body["error"].(map[string]any)["details"].([]any) {
		b.WriteString(d.(map[string]any)["field"].(string))
	}
	return b.String()
}

func TestServerWithoutAGoogleClientSaysSo(t *testing.T) {
	c := setup(t).client()
	require.Empty(t, c.call(200, "GET", "/api/connections", nil)["available"])
	c.call(404, "GET", "/api/connections/google/start", nil)
	c.call(404, "DELETE", "/api/connections/google", nil)
}

// A connection's tokens, codes and the browser's state are in no log, audit entry,
// response or export, and are never stored as plain text.
func TestTokensOfAccountsAreSecret(t *testing.T) {
	var log bytes.Buffer
	var entries *audit.Log
	b, google, accounts := withGoogle(t, func(d *Deps) {
		d.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		entries = audit.Open(d.Store, d.Log)
		d.Audit = entries
	})
	c := b.client()
	c.stepwise()
	back := consent(t, c.begin("/"))
	code := back.Query().Get("code")
	require.Equal(t, "/"+connectedTo, c.comeBack(back))
	google.Set(func(s *googletest.Settings) { s.Down = true })
	c.comeBack(consent(t, c.begin("/"))) // fails, and is logged
	me := c.call(200, "GET", "/api/me", nil)["id"].(string)
	_, ok, err := accounts.Token(t.Context(), me)
	require.NoError(t, err)
	require.True(t, ok)
	files, archive := unzip(t, c.send("GET", "/api/me/export", nil))
	row := must.Have(b.store.Connection(t.Context(), me, connections.Google))(t)
	require.Equal(t, false, c.call(200, "DELETE", "/api/connections/google", nil)["revoked"], "Google is down, the row is deleted all the same")
	require.Empty(t, c.connections())
	entries.Close()
	kept := must.Have(b.store.AuditEntries(t.Context(), db.AuditFilter{Since: time.Now().Add(-time.Hour), Owner: me}, 0, 10))(t)
	var kinds []string
	for _, e := range kept {
		kinds = append(kinds, e.Kind)
	}
	require.Equal(t, []string{audit.Connected, audit.Exported, audit.Disconnected}, kinds)

	secrets := append(google.Tokens(), code, back.Query().Get("state"), googletest.ClientSecret)
	require.Greater(t, len(secrets), 4)
	for _, secret := range secrets {
		require.NotContains(t, log.String(), secret)
		require.NotContains(t, row.Token, secret)
	}
	require.Contains(t, files, "connections.json")
	require.Contains(t, archive, "ann@example.com")
	for _, secret := range append(secrets, row.Token) {
		require.NotContains(t, archive, secret)
	}
}

// The flow ends on this server's page, in a browser that has its cookie.
func TestPageOfAnotherOriginConnectsNoAccount(t *testing.T) {
	b, _, _ := withGoogle(t, withOrigins)
	for _, path := range []string{"/api/connections/google/start", "/api/connections/mcp/fake/start"} {
		res := b.as(credential.Token, "ann").send("GET", path, nil, "Origin", appOrigin)
		require.Equal(t, http.StatusForbidden, res.StatusCode, path)
		require.Empty(t, res.Header.Values("Set-Cookie"))
		require.Equal(t, http.StatusOK, b.as(credential.Token, "ann").send("GET", path, nil).StatusCode, path)
	}
	res := b.client().send("GET", "/api/connections/google/callback?state=x&code=y", nil, "Origin", appOrigin)
	require.Empty(t, res.Header.Values("Set-Cookie"))
}
