// Package oauthtest is a fake MCP server that wants OAuth, with its authorization server, and their
// failures.
package oauthtest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Settings say what the servers do.
type Settings struct {
	Account string // who signs in

	NoChallenge    bool   // 401 without WWW-Authenticate
	OpenLists      bool   // the server lists its tools without a token
	NoResourceMeta bool   // no protected resource metadata
	Resource       string // that the metadata name; empty: the server's address
	Authority      string // that the metadata name; empty: this server
	Issuer         string // of the metadata; empty: as it is asked for
	OpenID         bool   // only OpenID Connect's metadata
	NoPKCE         bool
	NoAuthMeta     bool
	TokenEndpoint  string // another one; empty: this server's
	RedirectToken  string // the token endpoint redirects there
	Iss            string // of the answer; empty: none
	IssSupported   bool

	NoRegistration     bool
	RefuseRegistration bool
	Secret             bool // registered clients get a secret, sent by HTTP Basic
	Deny               bool
	Lifetime           int // seconds; 0: not said
	NoRefresh          bool
	TokenType          string
	Down               bool // the token endpoint answers 503

	Needs  string // scope that a call of a tool needs
	Grants string // the only scopes that are ever granted; empty: those that are asked for
}

// Server is a running fake.
type Server struct {
	URL      string // of the authorization server, and origin of MCP
	Endpoint string // of MCP

	mu            sync.Mutex
	Settings      Settings
	clients       map[string]client
	codes         map[string]grant
	access        map[string]grant // by token
	refresh       map[string]grant
	registrations int
	refreshes     int
	resources     []string // of token requests
}

type client struct {
	secret, redirect string
}

type grant struct{ client, account, redirect, challenge, scope string }

// ClientID and ClientSecret are a client that is known from the beginning.
const (
	ClientID     = "configured-client"
	ClientSecret = "configured-secret"
)

// New starts a server that ends with the test. Its only tool, whoami, says whose token a call has.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{Settings: Settings{Account: "ann@example.com"}, clients: map[string]client{ClientID: {secret: ClientSecret}}, codes: map[string]grant{}, access: map[string]grant{}, refresh: map[string]grant{}}
	tools := mcp.NewServer(&mcp.Implementation{Name: "fake"}, nil)
	tools.AddTool(&mcp.Tool{Name: "whoami", Description: "Says who calls.", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		account := s.AccountOf(strings.TrimPrefix(r.Extra.Header.Get("Authorization"), "Bearer "))
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "you are " + account}}}, nil
	})
	endpoint := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return tools }, &mcp.StreamableHTTPOptions{Stateless: true})
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) { s.guard(w, r, endpoint) })
	mux.HandleFunc("GET /.well-known/oauth-protected-resource/mcp", s.resourceMeta)
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", func(w http.ResponseWriter, r *http.Request) { s.authMeta(w, r, false) })
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, r *http.Request) { s.authMeta(w, r, true) })
	mux.HandleFunc("GET /authorize", s.authorize)
	mux.HandleFunc("POST /token", s.token)
	mux.HandleFunc("POST /register", s.register)
	mux.HandleFunc("POST /revoke", s.revoke)
	web := httptest.NewServer(mux)
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	s.URL, s.Endpoint = web.URL, web.URL+"/mcp"
	return s
}

// Set changes the server.
func (s *Server) Set(change func(*Settings)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.Settings)
}

// AccountOf returns the account of an access token; empty for an invalid one.
func (s *Server) AccountOf(access string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.access[access].account
}

// Counts returns how often a client was registered and a token refreshed.
func (s *Server) Counts() (registrations, refreshes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.registrations, s.refreshes
}

// Grants returns how many refresh tokens are valid, and Resources what token requests were for.
func (s *Server) Grants() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.refresh)
}

func (s *Server) Resources() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.resources)
}

// ExpireAccess makes all access tokens invalid; RevokeAll the refresh tokens, too.
func (s *Server) ExpireAccess() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.access)
}

func (s *Server) RevokeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.access)
	clear(s.refresh)
}

func (s *Server) guard(w http.ResponseWriter, r *http.Request, next http.Handler) {
	raw, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(strings.NewReader(string(raw)))
	s.mu.Lock()
	v := s.Settings
	g, ok := s.access[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	s.mu.Unlock()
	if ok && v.Needs != "" && strings.Contains(string(raw), `"tools/call"`) && !slices.Contains(strings.Fields(g.scope), v.Needs) {
		w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+v.Needs+`", error_description="more is needed"`)
		w.WriteHeader(http.StatusForbidden)
		return
	}
	if ok || v.OpenLists && !strings.Contains(string(raw), `"tools/call"`) {
		next.ServeHTTP(w, r)
		return
	}
	if !v.NoChallenge {
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token", resource_metadata="`+s.URL+`/.well-known/oauth-protected-resource/mcp", scope="read write"`)
	}
	w.WriteHeader(http.StatusUnauthorized)
}

func (s *Server) resourceMeta(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Settings.NoResourceMeta {
		http.NotFound(w, r)
		return
	}
	answer(w, http.StatusOK, map[string]any{"resource": or(s.Settings.Resource, s.Endpoint), "authorization_servers": []string{or(s.Settings.Authority, s.URL)}})
}

func (s *Server) authMeta(w http.ResponseWriter, r *http.Request, openID bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.Settings
	if v.NoAuthMeta || v.OpenID != openID {
		http.NotFound(w, r)
		return
	}
	m := map[string]any{"issuer": or(v.Issuer, s.URL), "authorization_endpoint": s.URL + "/authorize", "token_endpoint": or(v.TokenEndpoint, s.URL+"/token"), "revocation_endpoint": s.URL + "/revoke",
		"response_types_supported": []string{"code"}, "scopes_supported": []string{"read", "write", "offline_access"}, "authorization_response_iss_parameter_supported": v.IssSupported}
	if !v.NoPKCE {
		m["code_challenge_methods_supported"] = []string{"S256"}
	}
	if !v.NoRegistration {
		m["registration_endpoint"] = s.URL + "/register"
	}
	m["token_endpoint_auth_methods_supported"] = []string{"none"}
	if v.Secret {
		m["token_endpoint_auth_methods_supported"] = []string{"client_secret_basic"}
	}
	answer(w, http.StatusOK, m)
}

func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	var in struct {
		RedirectURIs []string `json:"redirect_uris"`
		Method       string   `json:"token_endpoint_auth_method"`
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if json.NewDecoder(r.Body).Decode(&in) != nil || len(in.RedirectURIs) != 1 || s.Settings.RefuseRegistration {
		answer(w, http.StatusBadRequest, map[string]string{"error": "invalid_redirect_uri", "error_description": "not allowed"})
		return
	}
	s.registrations++
	id := "client-" + rand.Text()
	c := client{redirect: in.RedirectURIs[0]}
	out := map[string]any{"client_id": id, "redirect_uris": in.RedirectURIs, "token_endpoint_auth_method": in.Method}
	if s.Settings.Secret {
		c.secret = "secret-" + rand.Text()
		out["client_secret"], out["client_secret_expires_at"] = c.secret, 0
	}
	s.clients[id] = c
	answer(w, http.StatusCreated, out)
}

// authorize sends the browser back at once, with what the person has decided.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := r.URL.Query()
	c, known := s.clients[q.Get("client_id")]
	back, err := url.Parse(q.Get("redirect_uri"))
	if !known || err != nil || c.redirect != "" && c.redirect != q.Get("redirect_uri") || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("state") == "" || q.Get("resource") == "" {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	said := url.Values{"state": {q.Get("state")}}
	if s.Settings.Iss != "" {
		said.Set("iss", s.Settings.Iss)
	}
	if s.Settings.Deny {
		said.Set("error", "access_denied")
	} else {
		code := "code-" + rand.Text()
		s.codes[code] = grant{q.Get("client_id"), s.Settings.Account, q.Get("redirect_uri"), q.Get("code_challenge"), q.Get("scope")}
		said.Set("code", code)
	}
	back.RawQuery = said.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

// identified returns the client of a token request; false if its secret is wrong.
func (s *Server) identified(r *http.Request) (id string, ok bool) {
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = r.FormValue("client_id"), r.FormValue("client_secret")
	}
	c, known := s.clients[id]
	return id, known && c.secret == secret
}

func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.Settings
	id, ok := s.identified(r)
	s.resources = append(s.resources, r.FormValue("resource"))
	var g grant
	var problem string
	switch grantType := r.FormValue("grant_type"); {
	case v.Down:
		http.Error(w, "down", http.StatusServiceUnavailable)
		return
	case v.RedirectToken != "":
		http.Redirect(w, r, v.RedirectToken, http.StatusTemporaryRedirect)
		return
	case !ok:
		problem = "invalid_client"
	case grantType == "authorization_code":
		g = s.codes[r.FormValue("code")]
		delete(s.codes, r.FormValue("code"))
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		if g.client != id || g.redirect != r.FormValue("redirect_uri") || g.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
			problem = "invalid_grant"
		}
	case grantType == "refresh_token":
		s.refreshes++
		g = s.refresh[r.FormValue("refresh_token")]
		delete(s.refresh, r.FormValue("refresh_token")) // they are rotated
		if g.client != id {
			problem = "invalid_grant"
		}
	default:
		problem = "unsupported_grant_type"
	}
	if problem != "" {
		answer(w, http.StatusBadRequest, map[string]string{"error": problem})
		return
	}
	access := "access-" + rand.Text()
	g.scope = or(v.Grants, g.scope)
	s.access[access] = g
	out := map[string]any{"access_token": access, "token_type": or(v.TokenType, "Bearer"), "scope": g.scope}
	if !v.NoRefresh {
		token := "refresh-" + rand.Text()
		s.refresh[token] = g
		out["refresh_token"] = token
	}
	if v.Lifetime > 0 {
		out["expires_in"] = v.Lifetime
	}
	answer(w, http.StatusOK, out)
}

func (s *Server) revoke(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.identified(r); !ok || s.Settings.Down {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	account := s.refresh[r.FormValue("token")].account
	delete(s.refresh, r.FormValue("token"))
	for token, of := range s.access {
		if of.account == account {
			delete(s.access, token)
		}
	}
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
