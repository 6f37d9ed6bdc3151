package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/credential"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/audit"
	"github.com/palaver-chat/palaver/internal/build"
)

// administrated makes the group boss of p the administrators, on the page's client.
func (p *oidc) administrated(d *Deps) {
	p.accepts(d)
	d.Config.Identity.Admins = identity.Admins{Issuer: p.url, ClientID: "page", Audience: "palaver", Groups: []string{"boss", "deputies"}}
}

func inGroups(groups ...any) jwt.MapClaims {
	return jwt.MapClaims{"realm": map[string]any{"roles": groups}}
}

func with(claims jwt.MapClaims, name string, value any) jwt.MapClaims {
	claims[name] = value
	return claims
}

func adminRoutes(s *server) (paths []string) {
	for _, o := range s.operations() {
		if o.Admin {
			paths = append(paths, strings.TrimPrefix(o.Route, "GET "))
		}
	}
	return paths
}

// Rule I26.
func TestOnlyAdministratorsReadWhatIsTheirs(t *testing.T) {
	t.Parallel()
	es, other := newSigner(t, "es", jwt.SigningMethodES256), newSigner(t, "es", jwt.SigningMethodES256)
	p, q := newOIDC(t, es), newOIDC(t, other)
	b := setup(t, p.administrated, q.accepts, func(d *Deps) { d.Config.Identity.ProxySecret = proxySecret })
	sign := func(claims jwt.MapClaims) string { return es.sign(t, p.claims(claims)) }
	get := func(path, token string) int {
		return b.client().send("GET", path, nil, "Authorization", "Bearer "+token).StatusCode
	}
	admins := map[string]string{
		"a group":         sign(inGroups("staff", "boss")),
		"another group":   sign(inGroups("deputies")),
		"the page's azp":  sign(with(inGroups("boss"), "azp", "page")),
		"two audiences":   sign(with(inGroups("boss"), "aud", []string{"also", "palaver"})),
		"its client's id": sign(with(inGroups("boss"), "client_id", "page")),
	}
	others := map[string]string{
		"no groups":                      sign(nil),
		"another group":                  sign(inGroups("staff")),
		"a group in capitals":            sign(inGroups("BOSS")),
		"a part of a group":              sign(inGroups("bos")),
		"groups as one text":             sign(inGroups("boss,staff")),
		"an empty group":                 sign(inGroups("")),
		"a group in another claim":       sign(jwt.MapClaims{"groups": []any{"boss"}}),
		"another audience":               sign(with(inGroups("boss"), "aud", "also")),
		"another program's token":        sign(with(inGroups("boss"), "azp", "mcp-client")),
		"another program's access token": sign(with(inGroups("boss"), "client_id", "mcp-client")),
		"another program's at Okta":      sign(with(inGroups("boss"), "cid", "mcp-client")),
		"a client that is a list":        sign(with(inGroups("boss"), "azp", []any{"page"})),
		"another issuer":                 other.sign(t, q.claims(inGroups("boss"))),
		"Supabase":                       accountToken(t, "ann"),
	}
	routes := adminRoutes(b.server)
	require.Len(t, routes, 8)
	me := b.withToken(200, admins["a group"])
	require.Equal(t, true, me["admin"])
	for _, path := range routes {
		for what, token := range admins {
			assert.Equal(t, http.StatusOK, get(path, token), "%s by %s", path, what)
		}
		for what, token := range others {
			assert.Equal(t, http.StatusForbidden, get(path, token), "%s by %s", path, what)
		}
		// Keys, cookies and proxies of an administrator, and a cookie beside nobody's token.
		for _, by := range []credential.Kinds{credential.Cookie, credential.Key, credential.Proxy} {
			res := b.as(by, me["id"].(string)).send("GET", path, nil)
			assert.Contains(t, []int{http.StatusForbidden, http.StatusUnauthorized}, res.StatusCode, "%s by %s", path, by)
		}
		assert.Equal(t, http.StatusUnauthorized, get(path, "forged"), path)
	}
	require.NotContains(t, b.withToken(200, others["another program's token"]), "admin")

	without := setup(t, p.accepts)
	require.Equal(t, http.StatusForbidden, without.client().send("GET", "/api/admin/status", nil, "Authorization", "Bearer "+admins["a group"]).StatusCode, "without ADMIN_GROUPS there is none")
}

// Rule I27.
func TestEveryLookOfAnAdministratorIsInTheAuditLog(t *testing.T) {
	t.Parallel()
	es := newSigner(t, "es", jwt.SigningMethodES256)
	p := newOIDC(t, es)
	b, entries := audited(t, p.administrated)
	boss := "Bearer " + es.sign(t, p.claims(inGroups("boss")))
	id := b.client().call(200, "GET", "/api/me", nil, "Authorization", boss)["id"]
	routes := adminRoutes(b.server)
	for _, path := range routes {
		b.client().call(200, "GET", path, nil, "Authorization", boss)
	}
	for range 3 {
		b.client().call(403, "GET", "/api/admin/people", nil)
	}
	all := entries("")
	var read []string
	refused := 0
	for _, e := range all {
		switch e.Kind {
		case audit.AdminRead:
			require.Equal(t, id, e.Owner)
			read = append(read, e.Detail["route"].(string))
		case audit.AdminRefused:
			refused += e.Times
		}
	}
	slices.Sort(read)
	slices.Sort(routes)
	require.Equal(t, routes, read)
	require.Equal(t, 3, refused)
}

func TestAdministratorsSeeCountsAndOnlyTheTurnsThatPeopleShare(t *testing.T) {
	t.Parallel()
	es := newSigner(t, "es", jwt.SigningMethodES256)
	p := newOIDC(t, es)
	b := setup(t, p.administrated, func(d *Deps) {
		d.Version = build.Info{Version: "v1.2.3", Commit: "abc", Date: "2026-11-27"}
		d.Config.Limits.Daily.Tokens = 100
	})
	boss := func(path string) map[string]any {
		return b.client().call(200, "GET", path, nil, "Authorization", "Bearer "+es.sign(t, p.claims(inGroups("boss"))))
	}
	ann := b.client()
	ann.h.Set("Authorization", "Bearer "+es.sign(t, p.claims(jwt.MapClaims{"email": "ann@example.com", "sub": "ann"})))
	id := ann.call(200, "GET", "/api/me", nil)["id"].(string)
	b.administer(id)
	var person map[string]any
	require.Eventually(t, func() bool { // who was seen is written in the background
		for _, one := range boss("/api/admin/people")["items"].([]any) {
			if person = one.(map[string]any); person["id"] == id && person["known_as"] == "ann@example.com" {
				return true
			}
		}
		return false
	}, 10*time.Second, 10*time.Millisecond)
	require.Equal(t, 1.0, person["documents"])
	require.Equal(t, 0.0, person["conversations"])
	usage := boss("/api/admin/usage")["items"].([]any)
	require.Equal(t, map[string]any{"day": time.Now().UTC().Format(time.DateOnly), "model": "m1", "calls": 1.0, "tokens_in": 3.0, "tokens_out": 0.0, "cost_usd": 0.5}, usage[0])
	failed := boss("/api/admin/documents")["items"].([]any)[0].(map[string]any)
	require.Equal(t, messages.PDFDamaged.Text, failed["reason"])
	require.EqualValues(t, messages.PDFDamaged.Code, failed["message_code"])
	require.Equal(t, []any{map[string]any{"name": "files", "state": "ok", "tools": 1.0, "notes": []any{map[string]any{"tool": "odd", "problem": "it has no name", "left_out": true}}}}, boss("/api/admin/tools")["items"])
	status := boss("/api/admin/status")
	require.Equal(t, "v1.2.3", status["version"])
	require.Equal(t, "ok", status["parts"].(map[string]any)["database"])
	require.Contains(t, boss("/api/admin/limits")["items"], map[string]any{"name": "daily_tokens", "of": "caller", "limit": 100.0})

	ann.h.Set("Authorization", "Bearer "+es.sign(t, p.claims(jwt.MapClaims{"email": "ann@example.com", "sub": "ann"})))
	turn := func(message string) (path string) {
		c := ann.ask(map[string]any{"message": message})
		c.rest()
		thread, turn := c.res.Header.Get("X-Thread-Id"), c.res.Header.Get("X-Turn-Id")
		return "/api/conversations/" + thread + "/feedback/" + turn
	}
	kept, shared := turn("A private question"), turn("A shared question")
	ann.call(200, "PUT", kept, map[string]any{"rating": "down", "reason": "Wrong"})
	require.Equal(t, true, ann.call(200, "PUT", shared, map[string]any{"rating": "up", "shared": true})["shared"])
	rated := boss("/api/admin/feedback")["items"].([]any)
	require.Len(t, rated, 2)
	require.Equal(t, "A shared question", rated[0].(map[string]any)["question"])
	require.NotEmpty(t, rated[0].(map[string]any)["answer"])
	require.Equal(t, "Wrong", rated[1].(map[string]any)["reason"])
	for _, path := range adminRoutes(b.server) {
		raw, err := json.Marshal(boss(path))
		require.NoError(t, err)
		require.NotContains(t, string(raw), "A private question", path)
		require.NotContains(t, string(raw), "Marzipan", path)
	}

	for _, path := range []string{"/api/admin/audit?kind=odd", "/api/admin/usage?days=0", "/api/admin/people?cursor=odd", "/api/admin/feedback?limit=51"} {
		b.client().call(400, "GET", path, nil, "Authorization", "Bearer "+es.sign(t, p.claims(inGroups("boss"))))
	}
}

// administer stores one of each thing that administrators see, for an owner.
func (b *bundle) administer(owner string) {
	b.t.Helper()
	ctx := b.t.Context()
	doc := chat.Document{ID: uuid.NewString(), Owner: owner, Title: "Marzipan", CreatedAt: time.Now()}
	require.NoError(b.t, b.store.CreateDocument(ctx, doc, []byte("raw")))
	require.NoError(b.t, b.store.FailDocument(ctx, owner, doc.ID, messages.PDFDamaged.Stored()))
	require.NoError(b.t, b.store.AddModelUsage(ctx, []db.ModelUsage{{Day: time.Now(), Model: "m1", Calls: 1, TokensIn: 3, CostUSD: 0.5}}))
	require.NoError(b.t, b.store.PutToolServer(ctx, db.ToolServer{Name: "files", State: "ok", Tools: 1, Notes: []db.ToolNote{{Tool: "odd", Problem: "it has no name", LeftOut: true}}}, time.Now()))
	require.NoError(b.t, b.store.Met(ctx, owner, "ann@example.com", time.Now()))
}
