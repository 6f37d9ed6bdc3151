// Package googletest is a fake of Google's sign-in for tests: the pages that a browser is
// sent to, the tokens, and their failures.
package googletest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"
)

// The client that the server knows.
const (
	ClientID     = "google-test-client"
	ClientSecret = "google-test-client-secret"
)

// Server is a running sign-in. Its URL is a value for GOOGLE_OAUTH_BASE_URL, and with /drive/v3/
// behind it one for GOOGLE_DRIVE_BASE_URL.
type Server struct {
	URL string

	mu        sync.Mutex
	account   string
	scope     string // the scope that the person permits; empty: as requested
	deny      bool
	down      bool
	lifetime  time.Duration
	codes     map[string]grant
	grants    map[string]string // account by refresh token
	access    map[string]string // account by access token
	refreshes int
	before    func() // runs before a refresh is answered
}

type grant struct{ account, scope, redirect, challenge string }

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{account: "ann@example.com", lifetime: time.Hour, codes: map[string]grant{}, grants: map[string]string{}, access: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /o/oauth2/v2/auth", s.authorize)
	mux.HandleFunc("POST /token", s.token)
	mux.HandleFunc("POST /revoke", s.revoke)
	mux.HandleFunc("GET /drive/v3/about", s.about)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Set changes the server.
func (s *Server) Set(change func(*Settings)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := Settings{s.account, s.scope, s.deny, s.down, s.lifetime, s.before}
	change(&v)
	s.account, s.scope, s.deny, s.down, s.lifetime, s.before = v.Account, v.Scope, v.Deny, v.Down, v.Lifetime, v.BeforeRefresh
}

// Settings say what the person and Google do.
type Settings struct {
	Account       string // the account that the person signs in with
	Scope         string // the scope that they permit; empty: as requested
	Deny          bool   // they permit nothing
	Down          bool   // every call gets a 503
	Lifetime      time.Duration
	BeforeRefresh func()
}

// Grants lists the accounts that are connected now, and Refreshes how often a token was
// refreshed.
func (s *Server) Grants() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Values(s.grants))
}

func (s *Server) Refreshes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refreshes
}

// Tokens lists every token that was given.
func (s *Server) Tokens() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Concat(slices.Collect(maps.Keys(s.grants)), slices.Collect(maps.Keys(s.access)), slices.Collect(maps.Keys(s.codes)))
}

// RevokeAll revokes all access, as a person can do at Google.
func (s *Server) RevokeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.grants)
	clear(s.access)
}

// Account returns the account of an access token; empty for an invalid one.
func (s *Server) Account(accessToken string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.access[accessToken]
}

// authorize sends the browser back at once, with what the person has decided.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || q.Get("client_id") != ClientID || q.Get("response_type") != "code" || q.Get("access_type") != "offline" ||
		q.Get("code_challenge_method") != "S256" || q.Get("state") == "" {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	answer := url.Values{"state": {q.Get("state")}}
	if s.deny {
		answer.Set("error", "access_denied")
	} else {
		scope := s.scope
		if scope == "" {
			scope = q.Get("scope")
		}
		code := "code-" + rand.Text()
		s.codes[code] = grant{s.account, scope, q.Get("redirect_uri"), q.Get("code_challenge")}
		answer.Set("code", code)
	}
	back.RawQuery = answer.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	before := s.before
	s.mu.Unlock()
	if before != nil && r.FormValue("grant_type") == "refresh_token" {
		before()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.down:
		http.Error(w, "down", http.StatusServiceUnavailable)
	case r.FormValue("client_id") != ClientID || r.FormValue("client_secret") != ClientSecret:
		refuse(w, "invalid_client")
	case r.FormValue("grant_type") == "authorization_code":
		s.exchange(w, r)
	default:
		s.refreshes++
		account, ok := s.grants[r.FormValue("refresh_token")]
		if !ok {
			refuse(w, "invalid_grant")
			return
		}
		s.answer(w, account, "", "")
	}
}

func (s *Server) exchange(w http.ResponseWriter, r *http.Request) {
	g, ok := s.codes[r.FormValue("code")]
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if !ok || g.redirect != r.FormValue("redirect_uri") || g.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
		refuse(w, "invalid_grant")
		return
	}
	delete(s.codes, r.FormValue("code")) // it works once
	refresh := "refresh-" + rand.Text()
	s.grants[refresh] = g.account
	s.answer(w, g.account, refresh, g.scope)
}

func (s *Server) answer(w http.ResponseWriter, account, refresh, scope string) {
	access := "access-" + rand.Text()
	s.access[access] = account
	body := map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": int(s.lifetime.Seconds()), "scope": scope}
	if refresh != "" {
		body["refresh_token"] = refresh
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

// revoke revokes all access to the account, as Google does.
func (s *Server) revoke(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	token := r.FormValue("token")
	account, ok := s.grants[token]
	if !ok {
		account, ok = s.access[token]
	}
	switch {
	case s.down:
		http.Error(w, "down", http.StatusServiceUnavailable)
	case !ok:
		refuse(w, "invalid_token")
	default:
		for _, tokens := range []map[string]string{s.grants, s.access} {
			maps.DeleteFunc(tokens, func(_, of string) bool { return of == account })
		}
	}
}

func (s *Server) about(w http.ResponseWriter, r *http.Request) {
	account := s.Account(r.Header.Get("Authorization")[len("Bearer "):])
	if account == "" {
		refuse(w, "invalid_token")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"user": map[string]any{"emailAddress": account}})
}

func refuse(w http.ResponseWriter, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": code})
}
