package mcp

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/sqlite"
	"github.com/palaver-chat/palaver/imports/connections"
	"github.com/palaver-chat/palaver/internal/guard"
	"github.com/palaver-chat/palaver/testkit/oauthtest"
	"github.com/palaver-chat/palaver/testkit/testlog"
	"github.com/palaver-chat/palaver/tools"
)

// people connect accounts at a server named s.
type people struct {
	*testing.T
	fake     *oauthtest.Server
	server   Server
	store    *sqlite.Store
	accounts *connections.Accounts
	log      testlog.Buffer
}

const provider = ProviderPrefix + "s"

func loopback(t *testing.T) *guard.Guard {
	allowed, err := guard.ParsePrefixes("127.0.0.0/8")
	require.NoError(t, err)
	return guard.New(allowed)
}

func signingIn(t *testing.T, change func(*Server)) *people {
	t.Helper()
	p := &people{T: t, fake: oauthtest.New(t)}
	p.server = Server{Name: "s", Transport: HTTP, Approve: tools.Ask, Timeout: testTimeout, URL: p.fake.Endpoint}
	if change != nil {
		change(&p.server)
	}
	var err error
	p.store, err = sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "palaver.db"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.store.Close() })
	keys, err := connections.NewKeys([]byte("a secret of tests"))
	require.NoError(t, err)
	p.accounts, err = connections.New(connections.Options{Store: p.store, Keys: keys, Providers: OAuthProviders([]Server{p.server}, loopback(t)),
		Log: slog.New(slog.NewTextHandler(&p.log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	require.NoError(t, err)
	return p
}

// begin returns the page that the person is sent to, and the flow.
func (p *people) begin(owner string) (string, connections.Flow, error) {
	page, cookie, err := p.accounts.Begin(p.Context(), connections.Flow{Provider: provider, Owner: owner, Redirect: "http://localhost/back"})
	if err != nil {
		return "", connections.Flow{}, err
	}
	flow, err := p.accounts.Open(cookie)
	require.NoError(p, err)
	return page, flow, nil
}

// consent opens the page, and returns the parameters of the address that it sends the browser to.
func (p *people) consent(page string) url.Values {
	p.Helper()
	browser := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := browser.Get(page)
	require.NoError(p, err)
	require.NoError(p, res.Body.Close())
	require.Equal(p, http.StatusFound, res.StatusCode)
	back, err := url.Parse(res.Header.Get("Location"))
	require.NoError(p, err)
	return back.Query()
}

func (p *people) connect(owner string) error {
	p.Helper()
	page, flow, err := p.begin(owner)
	if err != nil {
		return err
	}
	return p.accounts.Finish(p.Context(), flow, provider, "", p.consent(page))
}

// servers opens the server with the people's tokens.
func (p *people) servers(change func(*Options)) *rig {
	p.Helper()
	return setup(p.T, func(o *Options) {
		o.Tokens = p.accounts
		if change != nil {
			change(o)
		}
	}, p.server)
}

func (p *people) signIn(r *rig) {
	p.Helper()
	r.until("sign in", func(s state) bool { return errors.Is(s.err, errSignIn) })
}

func namesOf(list []tools.Tool) (out []string) {
	for _, t := range list {
		out = append(out, t.Name)
	}
	return out
}

func (p *people) call(r *rig, owner, name string) tools.Result {
	p.Helper()
	for _, t := range r.Tools(p.Context(), owner) {
		if t.Name == name {
			result, err := t.Run(p.Context(), call(owner, `{}`))
			require.NoError(p, err)
			return result
		}
	}
	p.Fatalf("%s is not one of %v", name, namesOf(r.Tools(p.Context(), owner)))
	return tools.Result{}
}

var notConnectedResult = tools.Failed(messages.ToolConnect.With(messages.Params{"server": "s"}))

// Row B48.
func TestPeopleConnectAccountsAtAServerAndCallItsToolsWithThem(t *testing.T) {
	t.Parallel()
	p := signingIn(t, nil)
	require.Equal(t, []string{provider}, p.accounts.Offered(t.Context()))
	r := p.servers(nil)
	p.signIn(r)
	require.Equal(t, map[string]string{"mcp:s": "sign_in"}, r.States())
	require.Equal(t, []string{"s__connect"}, namesOf(r.Tools(t.Context(), "ann")))
	require.Equal(t, notConnectedResult, p.call(r, "ann", "s__connect"), "the model is told, and the person reads a code")

	require.NoError(t, p.connect("ann"))
	p.fake.Set(func(s *oauthtest.Settings) { s.Account = "bob@example.com" })
	require.NoError(t, p.connect("bob"))
	require.Equal(t, "you are ann@example.com", p.call(r, "ann", "s__whoami").Content)
	require.Equal(t, "you are bob@example.com", p.call(r, "bob", "s__whoami").Content)
	require.Equal(t, []string{"s__connect"}, namesOf(r.Tools(t.Context(), "eve")))
	for _, resource := range p.fake.Resources() {
		require.Equal(t, p.fake.Endpoint, resource)
	}
	registrations, _ := p.fake.Counts()
	require.Equal(t, 1, registrations, "one client for all people")

	whoami := r.Tools(t.Context(), "ann")[0]
	revoked, err := p.accounts.Disconnect(t.Context(), "ann", provider)
	require.NoError(t, err)
	require.True(t, revoked)
	require.Equal(t, 1, p.fake.Grants())
	result, err := whoami.Run(t.Context(), call("ann", `{}`))
	require.NoError(t, err)
	require.Equal(t, notConnectedResult, result, "a call that was approved before")
	require.Equal(t, []string{"s__connect"}, namesOf(r.Tools(t.Context(), "ann")))
	require.Equal(t, "you are bob@example.com", p.call(r, "bob", "s__whoami").Content)
}

func TestServerThatListsItsToolsWithoutATokenOffersThemToAll(t *testing.T) {
	t.Parallel()
	for _, transport := range []Transport{HTTP} {
		p := signingIn(t, func(s *Server) { s.Transport = transport })
		p.fake.Set(func(s *oauthtest.Settings) { s.OpenLists = true })
		r := p.servers(nil)
		r.up("s")
		require.Equal(t, notConnectedResult, p.call(r, "ann", "s__whoami"))
		require.NoError(t, p.connect("ann"))
		require.Equal(t, "you are ann@example.com", p.call(r, "ann", "s__whoami").Content)
		require.Equal(t, notConnectedResult, p.call(r, "bob", "s__whoami"))
	}
}

func TestServersAndAuthorizationServersOfAllAgesCanBeConnected(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*oauthtest.Settings){
		"as the specification says":         func(*oauthtest.Settings) {},
		"without a challenge":               func(s *oauthtest.Settings) { s.NoChallenge = true },
		"with metadata of OpenID Connect":   func(s *oauthtest.Settings) { s.OpenID = true },
		"without metadata of the resource":  func(s *oauthtest.Settings) { s.NoResourceMeta = true },
		"without any metadata":              func(s *oauthtest.Settings) { s.NoResourceMeta, s.NoAuthMeta = true, true },
		"with a secret for each client":     func(s *oauthtest.Settings) { s.Secret = true },
		"without refresh tokens":            func(s *oauthtest.Settings) { s.NoRefresh = true },
		"with tokens of a named lifetime":   func(s *oauthtest.Settings) { s.Lifetime = 3600 },
		"with the issuer in its answer":     func(s *oauthtest.Settings) { s.Iss, s.IssSupported = "self", true },
		"with an issuer that it has hidden": func(s *oauthtest.Settings) { s.Iss = "self" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := signingIn(t, nil)
			p.fake.Set(change)
			p.fake.Set(func(s *oauthtest.Settings) { s.Iss = strings.Replace(s.Iss, "self", p.fake.URL, 1) })
			require.NoError(t, p.connect("ann"))
			token, ok, err := p.accounts.TokenFor(t.Context(), "ann", provider, "", time.Minute)
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, "ann@example.com", p.fake.AccountOf(token))
		})
	}
	t.Run("of before 2025-06-18, with an issuer below its origin", func(t *testing.T) {
		t.Parallel()
		p := signingIn(t, nil)
		p.fake.Set(func(s *oauthtest.Settings) { s.NoResourceMeta, s.Issuer = true, p.fake.URL+"/oauth" })
		require.NoError(t, p.connect("ann"))
	})
	t.Run("which names its origin as the resource", func(t *testing.T) {
		t.Parallel()
		p := signingIn(t, nil)
		p.fake.Set(func(s *oauthtest.Settings) { s.Resource = p.fake.URL + "/" })
		require.NoError(t, p.connect("ann"))
		require.Equal(t, []string{p.fake.URL + "/"}, p.fake.Resources())
	})
}

func TestOperatorsClientIsUsed(t *testing.T) {
	t.Parallel()
	p := signingIn(t, func(s *Server) {
		s.OAuth = OAuthSettings{Wanted: true, ClientID: oauthtest.ClientID, ClientSecret: oauthtest.ClientSecret, Scope: "read"}
	})
	p.fake.Set(func(s *oauthtest.Settings) { s.NoRegistration = true })
	page, _, err := p.begin("ann")
	require.NoError(t, err)
	require.Contains(t, page, "scope="+url.QueryEscape("read offline_access")+"&")
	require.NoError(t, p.connect("ann"))
	registrations, _ := p.fake.Counts()
	require.Zero(t, registrations)
}

// What a wrong, hostile or confused server says connects nothing.
func TestAccountIsNotConnectedWhenSomethingIsWrong(t *testing.T) {
	t.Parallel()
	var got []string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		got = append(got, r.Form.Encode())
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(other.Close)
	for name, c := range map[string]struct {
		set    func(p *people, s *oauthtest.Settings)
		answer func(url.Values) // changes what the browser brings back
		want   connections.Code
		cause  string
	}{
		"the person refuses":     {set: func(_ *people, s *oauthtest.Settings) { s.Deny = true }, want: connections.Refused},
		"the state is another":   {answer: func(q url.Values) { q.Set("state", q.Get("state")+"x") }, want: connections.Expired},
		"there is no state":      {answer: func(q url.Values) { q.Del("state") }, want: connections.Expired},
		"the code is another":    {answer: func(q url.Values) { q.Set("code", "x") }, want: connections.Failed},
		"another issuer answers": {answer: func(q url.Values) { q.Set("iss", "https://evil.example") }, want: connections.Failed, cause: "another authorization server"},
		"another issuer denies": {answer: func(q url.Values) {
			q.Del("code")
			q.Set("error", "access_denied")
			q.Set("iss", "https://evil.example")
		}, want: connections.Failed, cause: "another authorization server"},
		"the issuer is missing":                             {set: func(_ *people, s *oauthtest.Settings) { s.IssSupported = true }, want: connections.Failed, cause: "another authorization server"},
		"the metadata of an old server name another issuer": {set: func(_ *people, s *oauthtest.Settings) { s.NoResourceMeta, s.Issuer = true, "https://evil.example" }, want: connections.Failed, cause: "another issuer"},
		"the metadata name another issuer":                  {set: func(_ *people, s *oauthtest.Settings) { s.Issuer = "https://evil.example" }, want: connections.Failed, cause: "another issuer"},
		"the metadata name another resource":                {set: func(_ *people, s *oauthtest.Settings) { s.Resource = "https://bank.example/mcp" }, want: connections.Failed, cause: "another resource"},
		"the resource is beside the server":                 {set: func(p *people, s *oauthtest.Settings) { s.Resource = p.fake.URL + "/mc" }, want: connections.Failed, cause: "another resource"},
		"there is no PKCE":                                  {set: func(_ *people, s *oauthtest.Settings) { s.NoPKCE = true }, want: connections.Failed, cause: "PKCE"},
		"registration is refused":                           {set: func(_ *people, s *oauthtest.Settings) { s.RefuseRegistration = true }, want: connections.Failed, cause: "refused to register"},
		"there is no registration":                          {set: func(_ *people, s *oauthtest.Settings) { s.NoRegistration = true }, want: connections.Failed, cause: "oauth.client_id"},
		"an endpoint is no address":                         {set: func(_ *people, s *oauthtest.Settings) { s.TokenEndpoint = "file:///etc/passwd" }, want: connections.Failed, cause: "not an address"},
		"an endpoint has a password":                        {set: func(_ *people, s *oauthtest.Settings) { s.TokenEndpoint = "https://a:b@evil.example/token" }, want: connections.Failed, cause: "not an address"},
		"tokens are of another type":                        {set: func(_ *people, s *oauthtest.Settings) { s.TokenType = "DPoP" }, want: connections.Failed, cause: "DPoP"},
		"the token endpoint redirects":                      {set: func(_ *people, s *oauthtest.Settings) { s.RedirectToken = other.URL }, want: connections.Failed},
		"the token endpoint is down":                        {set: func(_ *people, s *oauthtest.Settings) { s.Down = true }, want: connections.Failed},
		"the authority is at an address of the operator's networks that is not allowed": {set: func(_ *people, s *oauthtest.Settings) { s.Authority = "http://10.1.2.3" }, want: connections.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			p := signingIn(t, nil)
			if c.set != nil {
				p.fake.Set(func(s *oauthtest.Settings) { c.set(p, s) })
			}
			page, flow, err := p.begin("ann")
			if err == nil {
				answer := p.consent(page)
				if c.answer != nil {
					c.answer(answer)
				}
				err = p.accounts.Finish(t.Context(), flow, provider, "", answer)
			}
			var said *connections.Error
			require.ErrorAs(t, err, &said)
			require.Equal(t, c.want, said.Code, said)
			if c.cause != "" {
				require.ErrorContains(t, said.Cause, c.cause)
			}
			_, err = p.store.Connection(t.Context(), "ann", provider)
			require.ErrorIs(t, err, db.ErrNotFound)
		})
	}
	require.Empty(t, got, "secrets went to another address")
}

func TestAnswerCountsOnceForItsServerAndInItsBrowserOnly(t *testing.T) {
	t.Parallel()
	p := signingIn(t, nil)
	page, flow, err := p.begin("ann")
	require.NoError(t, err)
	answer := p.consent(page)
	var said *connections.Error
	require.ErrorAs(t, p.accounts.Finish(t.Context(), flow, connections.Google, "", answer), &said, "at the address of another provider")
	require.Equal(t, connections.Expired, said.Code)
	require.ErrorAs(t, p.accounts.Finish(t.Context(), flow, provider, "somebody else", answer), &said)
	require.Equal(t, connections.Expired, said.Code)
	require.NoError(t, p.accounts.Finish(t.Context(), flow, provider, "", answer))
	require.ErrorAs(t, p.accounts.Finish(t.Context(), flow, provider, "", answer), &said)
	require.Equal(t, connections.Expired, said.Code)
}

func TestServerThatDoesNotAnswerIsAskedOnceAndDelaysNobodyForLong(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 100)
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_ = peek(r)
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	o := OAuthProviders([]Server{{Name: "s", Transport: HTTP, URL: web.URL}}, loopback(t))[provider].(*OAuth)
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-asked; cancel(); asked <- struct{}{} }()
		require.False(t, o.Offers(ctx))
	}
	require.Len(t, asked, 1)
}

// A public server that names private addresses does not reach them, though the operator allows them for
// other servers.
func TestPublicServerDoesNotReachTheOperatorsNetworks(t *testing.T) {
	t.Parallel()
	fake := oauthtest.New(t)
	o := OAuthProviders([]Server{{Name: "s", Transport: HTTP, URL: "https://mcp.example.com/mcp"}}, loopback(t))[provider].(*OAuth)
	var m map[string]any
	_, err := o.read(t.Context(), fake.URL+"/.well-known/oauth-authorization-server", false, &m)
	require.Error(t, err)
	_, err = o.read(t.Context(), strings.Replace(fake.URL, "http://", "https://", 1), false, &m)
	require.ErrorAs(t, err, new(*guard.Refused))
	require.Error(t, (&discovery{private: false}).check())
	require.Error(t, checkEndpoint("http://auth.example.com", false))
	require.Error(t, checkEndpoint("javascript:alert(1)", true))
}

func TestTokenIsRefreshedBeforeItEndsAndWhenTheServerRefusesIt(t *testing.T) {
	t.Parallel()
	p := signingIn(t, nil)
	p.fake.Set(func(s *oauthtest.Settings) { s.Lifetime = 30 }) // less than a request needs
	require.NoError(t, p.connect("ann"))
	r := p.servers(nil)
	p.signIn(r)
	p.fake.Set(func(s *oauthtest.Settings) { s.Lifetime = 3600 })
	require.Equal(t, "you are ann@example.com", p.call(r, "ann", "s__whoami").Content)
	_, refreshes := p.fake.Counts()
	require.Equal(t, 1, refreshes)
	p.fake.ExpireAccess()
	require.Equal(t, "you are ann@example.com", p.call(r, "ann", "s__whoami").Content)
	_, refreshes = p.fake.Counts()
	require.Equal(t, 2, refreshes)
	require.NotContains(t, p.fake.Resources(), "")

	p.fake.ExpireAccess()
	p.fake.Set(func(s *oauthtest.Settings) { s.Down = true })
	result := p.call(r, "ann", "s__whoami")
	require.True(t, result.IsError)
	require.Contains(t, result.Content, "Nothing was done")
	p.fake.Set(func(s *oauthtest.Settings) { s.Down = false })
	require.Equal(t, "you are ann@example.com", p.call(r, "ann", "s__whoami").Content, "a failed refresh keeps the connection")

	p.fake.RevokeAll()
	require.Equal(t, notConnectedResult, p.call(r, "ann", "s__whoami"))
	list, err := p.accounts.List(t.Context(), "ann")
	require.NoError(t, err)
	require.True(t, list[0].Expired)
	require.NoError(t, p.connect("ann"))
	require.Equal(t, "you are ann@example.com", p.call(r, "ann", "s__whoami").Content)
}

func TestRefusedTokenWithoutARefreshTokenMustBeConnectedAgain(t *testing.T) {
	t.Parallel()
	p := signingIn(t, nil)
	p.fake.Set(func(s *oauthtest.Settings) { s.NoRefresh = true })
	require.NoError(t, p.connect("ann"))
	r := p.servers(nil)
	p.signIn(r)
	require.Equal(t, "you are ann@example.com", p.call(r, "ann", "s__whoami").Content)
	p.fake.ExpireAccess()
	require.Equal(t, notConnectedResult, p.call(r, "ann", "s__whoami"))
	require.Equal(t, []string{"s__connect"}, namesOf(r.Tools(t.Context(), "ann")))
}

// A server that wants OAuth gets no token of ours instead: it is not told who asks.
func TestServerThatTheOperatorSaysWantsOAuthGetsNoTokenOfOurs(t *testing.T) {
	t.Parallel()
	var got []string
	p := signingIn(t, func(s *Server) { s.OAuth.Wanted = true })
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(web.Close)
	p.server.URL = web.URL
	r := p.servers(func(o *Options) { o.Secret = secret })
	p.signIn(r)
	r.Close()
	require.NotEmpty(t, got)
	for _, authorization := range got {
		require.Empty(t, authorization)
	}
}

func TestTokensOfServersAreStoredEncryptedAndNotLogged(t *testing.T) {
	t.Parallel()
	p := signingIn(t, nil)
	require.NoError(t, p.connect("ann"))
	token, _, err := p.accounts.TokenFor(t.Context(), "ann", provider, "", time.Minute)
	require.NoError(t, err)
	row, err := p.store.Connection(t.Context(), "ann", provider)
	require.NoError(t, err)
	require.NotContains(t, row.Token, token)
	row.Owner = "bob"
	require.NoError(t, p.store.PutConnection(t.Context(), row, false))
	_, ok, err := p.accounts.TokenFor(t.Context(), "bob", provider, "", time.Minute)
	require.NoError(t, err)
	require.False(t, ok, "a token that was copied to another owner's row")
	require.NotContains(t, p.log.String(), token)
	require.False(t, bytes.Contains([]byte(p.log.String()), []byte("refresh-")))
}

// The specification's step-up authorization.
func TestCallThatNeedsAWiderScopeLeadsToAConsentForIt(t *testing.T) {
	t.Parallel()
	p := signingIn(t, nil)
	require.NoError(t, p.connect("ann"))
	r := p.servers(nil)
	p.signIn(r)
	require.Equal(t, "you are ann@example.com", p.call(r, "ann", "s__whoami").Content)

	p.fake.Set(func(s *oauthtest.Settings) { s.Needs = "admin" })
	wider := tools.Failed(messages.ToolScope.With(messages.Params{"server": "s", "scope": "admin"}))
	for range 2 { // a second call asks for nothing more
		require.Equal(t, wider, p.call(r, "ann", "s__whoami"))
	}
	list, err := p.accounts.List(t.Context(), "ann")
	require.NoError(t, err)
	require.True(t, list[0].Narrow)
	page, _, err := p.begin("ann")
	require.NoError(t, err)
	require.Contains(t, page, "scope="+url.QueryEscape("read write offline_access admin")+"&", "what was permitted stays")
	require.NoError(t, p.connect("ann"))
	require.Equal(t, "you are ann@example.com", p.call(r, "ann", "s__whoami").Content)
	list, err = p.accounts.List(t.Context(), "ann")
	require.NoError(t, err)
	require.False(t, list[0].Narrow)

	page, _, err = p.begin("bob")
	require.NoError(t, err)
	require.NotContains(t, page, "admin", "another person is not asked for it")
}

func TestPeopleAreAskedForTheSameWiderScopeTwiceAtMost(t *testing.T) {
	t.Parallel()
	p := signingIn(t, nil)
	p.fake.Set(func(s *oauthtest.Settings) { s.Needs, s.Grants = "admin", "read write" })
	require.NoError(t, p.connect("ann"))
	r := p.servers(nil)
	p.signIn(r)
	refused := failure("The tool's server refused the call (status 403 Forbidden). Nothing was done.")
	for range 2 {
		require.Equal(t, messages.ToolScope.Code, p.call(r, "ann", "s__whoami").Coded.Code)
		require.NoError(t, p.connect("ann"))
	}
	require.Equal(t, refused, p.call(r, "ann", "s__whoami"))
	p.fake.Set(func(s *oauthtest.Settings) { s.Needs = "billing" })
	require.Equal(t, messages.ToolScope.Code, p.call(r, "ann", "s__whoami").Coded.Code, "another scope")
	p.fake.Set(func(s *oauthtest.Settings) { s.Needs = strings.Repeat("x", 2000) })
	require.Equal(t, refused, p.call(r, "ann", "s__whoami"), "a scope without end")
}

func TestScopeOfTheOperatorIsNotWidened(t *testing.T) {
	t.Parallel()
	p := signingIn(t, func(s *Server) { s.OAuth = OAuthSettings{Wanted: true, Scope: "read"} })
	p.fake.Set(func(s *oauthtest.Settings) { s.Needs = "admin" })
	require.NoError(t, p.connect("ann"))
	r := p.servers(nil)
	p.signIn(r)
	require.Contains(t, p.call(r, "ann", "s__whoami").Content, "403")
}
