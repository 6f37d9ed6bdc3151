package api

import (
	"context"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/bus"
	"github.com/palaver-chat/palaver/internal/probe"
)

type (
	healthJSON struct {
		Status string `json:"status"`
	}
	readyJSON struct {
		Status string            `json:"status"`
		Parts  map[string]string `json:"parts,omitempty"` // for operators
		Down   []string          `json:"down,omitzero"`   // for operators
	}
	configJSON struct {
		Model         modelJSON          `json:"model"`
		Models        []choiceJSON       `json:"models"` // that people can choose
		Agents        []agentJSON        `json:"agents"`
		DocumentTypes []documentTypeJSON `json:"document_types"`
		ImportSources []importSourceJSON `json:"import_sources"`
		Limits        limitsJSON         `json:"limits"`
		Features      map[string]bool    `json:"features"`
		Auth          authJSON           `json:"auth"`
	}
	modelJSON struct {
		Label    string `json:"label"`
		Offline  bool   `json:"offline"`
		Vision   bool   `json:"vision"` // sees pictures, as far as is known
		Provider string `json:"provider"`
	}
	choiceJSON struct {
		Name    string `json:"name"`
		Default bool   `json:"default"`
		Vision  bool   `json:"vision"` // sees pictures, as far as is known
	}
	agentJSON struct {
		Name        chat.Agent `json:"name"`
		Label       string     `json:"label"`
		Description string     `json:"description"`
	}
	documentTypeJSON struct {
		Label      string   `json:"label"`
		Extensions []string `json:"extensions"`
	}
	// importSourceJSON is an added source of imports: the page recognises its links.
	importSourceJSON struct {
		Type  chat.SourceType `json:"type"`
		Label string          `json:"label"`
		Links []string        `json:"links"`
	}
	limitsJSON struct {
		MessageChars int   `json:"message_chars"`
		UploadBytes  int64 `json:"upload_bytes"`
		TipTapBytes  int   `json:"tiptap_bytes"`
		TaggedIDs    int   `json:"tagged_ids"`
	}
	authJSON struct {
		Mode   string `json:"mode"`
		Tokens bool   `json:"tokens"`
		// SignIn is how the page lets people sign in; left out when it does not.
		SignIn *signInJSON `json:"sign_in,omitempty"`
		// OIDC is the same at an OpenID Connect provider.
		OIDC *oidcJSON `json:"oidc,omitempty"`
	}
	oidcJSON struct {
		Issuer     string `json:"issuer"`
		ClientID   string `json:"client_id"`
		Scopes     string `json:"scopes"`
		Audience   string `json:"audience,omitempty"` // of the access tokens that the page sends; left out: it sends id tokens
		NameClaim  string `json:"name_claim"`
		EmailClaim string `json:"email_claim"`
		// The provider's endpoints; left out while the provider cannot be reached.
		Authorization string `json:"authorization_endpoint,omitempty"`
		Token         string `json:"token_endpoint,omitempty"`
		EndSession    string `json:"end_session_endpoint,omitempty"`
	}
	signInJSON struct {
		URL       string   `json:"url"` // of the Supabase project
		Key       string   `json:"key"` // its publishable key
		Methods   []string `json:"methods"`
		Providers []string `json:"providers"` // OAuth
	}
)

// health says only that the process answers.
func (s *server) health(c *gin.Context) error {
	return respond(c, http.StatusOK, healthJSON{"ok"})
}

// ready reports whether all required parts are available. It also shows operators which
// parts are down, including optional ones.
func (s *server) ready(c *gin.Context) error {
	parts, down, required := s.parts(c.Request.Context())
	status, word := http.StatusOK, "ready"
	if required > 0 {
		status, word = http.StatusServiceUnavailable, "unavailable"
	}
	if !s.Config.Operators.Allow(c.Request) {
		parts, down = nil, nil
	}
	c.JSON(status, readyJSON{word, parts, down})
	return nil
}

// parts returns the states of all parts by name, which of them are down, and how many of
// these the server needs to answer messages. The log has the reasons.
func (s *server) parts(ctx context.Context) (parts map[string]string, down []string, required int) {
	parts = map[string]string{"stream": "ok", "model": s.Model.Provider, "vectors": s.Store.VectorSearch()}
	down = []string{}
	fail := func(part string, err error) {
		required++
		parts[part] = "down"
		down = append(down, part)
		s.Log.Warn("readiness check failed", "part", part, "error", err)
	}
	checks := map[string]probe.Check{"database": s.Store.Ping}
	maps.Copy(checks, s.Ready)
	for part, err := range probe.Run(ctx, checks, s.Log) {
		if err != nil {
			fail(part, err)
		} else {
			parts[part] = "ok"
		}
	}
	if _, without := s.Bus.(bus.Noop); without {
		parts["stream"] = "none" // not configured: text arrives in larger steps
	} else if !s.Bus.Ready() {
		parts["stream"] = "down" // answers still arrive, in larger steps
		down = append(down, "stream")
	}
	if s.Model.Provider == "" || s.Model.Provider == "none" {
		fail("model", nil)
	}
	if err := s.identity.CheckTokens(); err != nil {
		if s.identity.Mode == identity.Required {
			fail("tokens", err)
		} else {
			parts["tokens"] = "down" // requests without a token are served
		}
	}
	if s.Optional != nil {
		for part, state := range s.Optional() {
			parts[part] = state
			if state == "down" {
				down = append(down, part)
			}
		}
	}
	slices.Sort(down)
	return parts, down, required
}

// serveMetrics serves the metrics to operators.
func (s *server) serveMetrics(c *gin.Context) error {
	if !s.Config.Operators.Allow(c.Request) {
		return problem.Operators
	}
	return s.metrics.serve(c)
}

// config serves the settings that the page needs before it renders.
func (s *server) config(c *gin.Context) error {
	features := s.Config.Features
	if features == nil {
		features = map[string]bool{}
	}
	agents := []agentJSON{}
	for _, a := range s.Agents.Chosen() {
		agents = append(agents, agentJSON{a.Name, a.Label, a.Description})
	}
	models := []choiceJSON{}
	for _, name := range s.Model.Choices {
		models = append(models, choiceJSON{name, name == s.Model.Name, s.Model.Sees(name)})
	}
	types := []documentTypeJSON{}
	for _, t := range s.DocumentTypes {
		types = append(types, documentTypeJSON{t.Label, t.Extensions})
	}
	sources := []importSourceJSON{}
	for _, x := range s.ImportSources {
		sources = append(sources, importSourceJSON{x.Type, x.Label, x.Links})
	}
	c.JSON(http.StatusOK, configJSON{
		DocumentTypes: types,
		ImportSources: sources,
		Agents:        agents,
		Models:        models,
		Model:         modelJSON{Label: s.modelLabel(), Offline: s.Model.Offline, Vision: s.Model.Vision, Provider: s.Model.Provider},
		Limits:        limitsJSON{chat.MaxMessage, s.Config.MaxUploadBytes, dialect.MaxTipTap, dialect.MaxTags},
		Features:      features,
		Auth:          authJSON{s.identity.Mode, s.identity.AcceptsTokens(), s.signIn(), s.oidc()},
	})
	return nil
}

// signIn returns nil if no Supabase project is set, or its tokens are not accepted.
func (s *server) signIn() *signInJSON {
	in := s.Config.SignIn
	if in.URL == "" || !s.identity.AcceptsTokens() {
		return nil
	}
	return &signInJSON{in.URL, in.Key, append([]string{}, in.Methods...), append([]string{}, in.Providers...)}
}

// oidc returns nil if people cannot sign in at an OpenID Connect provider.
func (s *server) oidc() *oidcJSON {
	in := s.Config.OIDC
	if in.Issuer == "" {
		return nil
	}
	out := oidcJSON{Issuer: in.Issuer, ClientID: in.ClientID, Scopes: in.Scopes, Audience: in.Audience, NameClaim: in.NameClaim, EmailClaim: in.EmailClaim}
	if e := s.identity.Endpoints(in.Issuer); e != nil {
		out.Authorization, out.Token, out.EndSession = e.Authorization, e.Token, e.EndSession
	}
	return &out
}

func (s *server) modelLabel() string {
	switch {
	case s.Model.Offline:
		return "Offline engine (no model is configured)"
	case s.Model.Name == "":
		return s.Model.Provider
	}
	return s.Model.Name
}

// page serves the web page for all paths that are not the API's. A new anonymous user gets the cookie
// with the page, so that the page's first concurrent requests have the same caller.
func (s *server) page(c *gin.Context) {
	p := c.Request.URL.Path
	read := c.Request.Method == http.MethodGet || c.Request.Method == http.MethodHead
	if s.Page == nil || !read || s.dialectBelow(p) != nil || p == "/api" || strings.HasPrefix(p, "/api/") || strings.HasPrefix(p, "/mcp/") {
		s.fail(c, problem.NotFound)
		return
	}
	if s.identity.Mode == identity.Anonymous && path.Ext(p) == "" && p != framePath && !strings.HasPrefix(p, "/s/") { // a reader of a shared copy needs no identity; a frame has a cookie of its own
		s.identity.SetCookie(c)
	}
	c.Status(http.StatusOK) // gin sets 404 for a path without a route
	var w http.ResponseWriter = c.Writer
	if w.Header().Get("Set-Cookie") != "" {
		w = uncacheable{w}
	}
	s.Page.ServeHTTP(w, c.Request)
}

// uncacheable keeps a response that sets an identity cookie out of shared caches, which
// would give the same identity to others.
type uncacheable struct{ http.ResponseWriter }

func (p uncacheable) WriteHeader(status int) {
	p.Header().Set("Cache-Control", "private, no-store")
	p.ResponseWriter.WriteHeader(status)
}

func (p uncacheable) Write(b []byte) (int, error) {
	p.Header().Set("Cache-Control", "private, no-store")
	return p.ResponseWriter.Write(b)
}

func (p uncacheable) Unwrap() http.ResponseWriter { return p.ResponseWriter }
