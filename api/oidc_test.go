package api

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/credential"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/testkit/must"
)

// oidc is an OpenID Connect provider, as far as a server that only checks tokens sees it.
type oidc struct {
	url  string
	keys *jwks

	mu       sync.Mutex
	metadata map[string]any // entries that replace the usual ones; nil removes one
	hold     chan struct{}  // not nil: no request is answered before it is closed
	down     bool
}

func newOIDC(t testing.TB, keys ...signer) *oidc {
	t.Helper()
	p := &oidc{keys: newJWKS(t, keys...)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		hold, down := p.hold, p.down
		all := map[string]any{"issuer": p.url, "authorization_endpoint": p.url + "/auth", "token_endpoint": p.url + "/token", "end_session_endpoint": p.url + "/end", "jwks_uri": p.keys.url + "/keys"}
		for name, value := range p.metadata {
			if all[name] = value; value == nil {
				delete(all, name)
			}
		}
		p.mu.Unlock()
		if hold != nil {
			select {
			case <-hold:
			case <-r.Context().Done():
			}
		}
		if down || r.URL.Path != "/.well-known/openid-configuration" {
			http.Error(w, "unreachable", http.StatusBadGateway)
			return
		}
		_ = json.NewEncoder(w).Encode(all)
	}))
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

func (p *oidc) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

// accepts makes the API accept the tokens of p for the audience palaver.
func (p *oidc) accepts(d *Deps) {
	d.Config.Identity.Issuers = append(d.Config.Identity.Issuers, identity.Issuer{URL: p.url, Audiences: []string{"palaver", "also"}, Claims: identity.Claims{Name: "name", Email: "email", Groups: "realm.roles"}})
}

// claims are those of a good token of p, with changes.
func (p *oidc) claims(changes jwt.MapClaims) jwt.MapClaims {
	all := jwt.MapClaims{"iss": p.url, "aud": "palaver", "sub": "ann", "iat": time.Now().Unix()}
	for name, value := range changes {
		all[name] = value
	}
	return all
}

func (b *bundle) statusOf(token string) int {
	b.t.Helper()
	res := b.client().send("GET", "/api/me", nil, "Authorization", "Bearer "+token)
	require.Empty(b.t, res.Cookies())
	return res.StatusCode
}

// Rule I25.
func TestTokenOfAnOpenIDProviderNamesItsUser(t *testing.T) {
	t.Parallel()
	keys := []signer{newSigner(t, "es", jwt.SigningMethodES256), newSigner(t, "rs", jwt.SigningMethodRS256), newSigner(t, "ed", jwt.SigningMethodEdDSA)}
	p := newOIDC(t, keys...)
	b := setup(t, p.accepts, func(d *Deps) { d.Config.Identity.Mode = identity.Required })
	ids := map[any]bool{}
	for _, k := range keys {
		me := b.withToken(200, k.sign(t, p.claims(jwt.MapClaims{"name": "Ann", "email": "ann@example.com", "realm": map[string]any{"roles": []any{"staff", 7, "admins"}}})))
		assert.Equal(t, false, me["anonymous"])
		assert.Equal(t, "Ann", me["name"])
		assert.Equal(t, "ann@example.com", me["email"])
		assert.Equal(t, []any{"staff", "admins"}, me["groups"])
		ids[me["id"]] = true
	}
	assert.Len(t, ids, 1, "the id does not depend on the key")
	assert.Equal(t, 200, b.statusOf(keys[0].sign(t, p.claims(jwt.MapClaims{"aud": []string{"other", "also"}}))))
	assert.Equal(t, 401, b.client().send("GET", "/api/me", nil).StatusCode)

	// Auth0 has only claims whose names are URLs.
	const claim = "https://chat.example.com/groups"
	b = setup(t, p.accepts, func(d *Deps) { d.Config.Identity.Issuers[0].Claims.Groups = claim })
	assert.Equal(t, []any{"staff"}, b.withToken(200, keys[0].sign(t, p.claims(jwt.MapClaims{claim: []any{"staff"}})))["groups"])
}

// Rule I25.
func TestUsersOfDifferentIssuersAreDifferentOwners(t *testing.T) {
	t.Parallel()
	one, two := newSigner(t, "k", jwt.SigningMethodES256), newSigner(t, "k", jwt.SigningMethodES256)
	p, q := newOIDC(t, one), newOIDC(t, two)
	b := setup(t, p.accepts, q.accepts)
	id := func(token string) string { return b.withToken(200, token)["id"].(string) }
	ofP, ofQ := id(one.sign(t, p.claims(nil))), id(two.sign(t, q.claims(nil)))
	ofSupabase := id(accountToken(t, "ann"))
	require.Equal(t, "ann", ofSupabase, "its ids stay")
	require.NotEqual(t, ofP, ofQ)
	require.Equal(t, 401, b.statusOf(accountToken(t, ofP)), "Supabase cannot name another issuer's user")
	b.client().call(403, "GET", "/api/me", nil, "Authorization", "Bearer "+accountToken(t, "ann"), "userid", ofP)
	// A key of one issuer signs for that issuer only, whatever the token says.
	require.Equal(t, 401, b.statusOf(one.sign(t, q.claims(nil))))
	require.Equal(t, 401, b.statusOf(signed(t, "", jwt.SigningMethodHS256, []byte(jwtSecret), p.claims(nil))), "Supabase's secret")
}

// Rule I25.
func TestHostileTokensOfAnOpenIDProviderAreRefused(t *testing.T) {
	t.Parallel()
	es, rs := newSigner(t, "es", jwt.SigningMethodES256), newSigner(t, "rs", jwt.SigningMethodRS256)
	leaked := signer{"oct", jwt.SigningMethodHS256, []byte("a secret that stands in the set by mistake")}
	p := newOIDC(t, es, rs, leaked)
	ago := func(d time.Duration) int64 { return time.Now().Add(-d).Unix() }
	good := es.sign(t, p.claims(nil))
	withHeader := func(name string, value any) string {
		token := jwt.NewWithClaims(es.method, p.claims(jwt.MapClaims{"exp": ago(-time.Hour)}))
		token.Header["kid"], token.Header[name] = "es", value
		return must.Have(token.SignedString(es.key))(t)
	}
	public := func(k signer) []byte { return []byte(fmt.Sprint(k.public())) }
	raw := func(header, claims string) string {
		e := base64.RawURLEncoding.EncodeToString
		return e([]byte(header)) + "." + e([]byte(claims)) + "." + e([]byte("signature"))
	}
	hostile := map[string]string{
		"wrong issuer":                es.sign(t, p.claims(jwt.MapClaims{"iss": "https://evil.example"})),
		"issuer with a slash":         es.sign(t, p.claims(jwt.MapClaims{"iss": p.url + "/"})),
		"issuer in capitals":          es.sign(t, p.claims(jwt.MapClaims{"iss": strings.ToUpper(p.url)})),
		"no issuer":                   es.sign(t, p.claims(jwt.MapClaims{"iss": nil})),
		"issuer of another type":      es.sign(t, p.claims(jwt.MapClaims{"iss": []string{p.url}})),
		"wrong audience":              es.sign(t, p.claims(jwt.MapClaims{"aud": "account"})),
		"audience of Supabase":        es.sign(t, p.claims(jwt.MapClaims{"aud": "authenticated"})),
		"no audience":                 es.sign(t, p.claims(jwt.MapClaims{"aud": nil})),
		"audience of nothing":         es.sign(t, p.claims(jwt.MapClaims{"aud": []string{}})),
		"audience that begins so":     es.sign(t, p.claims(jwt.MapClaims{"aud": "palaver-test"})),
		"expired":                     es.sign(t, p.claims(jwt.MapClaims{"exp": ago(40 * time.Second)})),
		"no expiry":                   es.sign(t, p.claims(jwt.MapClaims{"exp": nil})),
		"not yet valid":               es.sign(t, p.claims(jwt.MapClaims{"nbf": ago(-time.Minute)})),
		"issued in the future":        es.sign(t, p.claims(jwt.MapClaims{"iat": ago(-time.Minute)})),
		"no subject":                  es.sign(t, p.claims(jwt.MapClaims{"sub": nil})),
		"subject of nothing":          es.sign(t, p.claims(jwt.MapClaims{"sub": ""})),
		"subject of another type":     es.sign(t, p.claims(jwt.MapClaims{"sub": 7})),
		"no signature":                signed(t, "es", jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, p.claims(nil)),
		"HS256 with a public key":     signed(t, "rs", jwt.SigningMethodHS256, public(rs), p.claims(nil)),
		"HS256 with a published one":  leaked.sign(t, p.claims(nil)),
		"PS256 with a key for RS256":  signed(t, "rs", jwt.SigningMethodPS256, rs.key, p.claims(nil)),
		"RS512 with a key for RS256":  signed(t, "rs", jwt.SigningMethodRS512, rs.key, p.claims(nil)),
		"RS256 under the ES256 name":  signed(t, "es", jwt.SigningMethodRS256, rs.key, p.claims(nil)),
		"a stranger's key, our name":  newSigner(t, "es", jwt.SigningMethodES256).sign(t, p.claims(nil)),
		"an unknown key":              newSigner(t, "unknown", jwt.SigningMethodES256).sign(t, p.claims(nil)),
		"no key named":                signed(t, "", jwt.SigningMethodES256, es.key, p.claims(nil)),
		"claims of another token":     strings.Join([]string{strings.Split(good, ".")[0], strings.Split(es.sign(t, p.claims(jwt.MapClaims{"sub": "bob"})), ".")[1], strings.Split(good, ".")[2]}, "."),
		"a logout token":              withHeader("typ", "logout+jwt"),
		"a type that is a number":     withHeader("typ", 7),
		"an extension that must hold": withHeader("crit", []string{"exp"}),
		"a key in the header":         withHeader("typ", "JOSE+JSON"),
		"oversized":                   es.sign(t, p.claims(jwt.MapClaims{"pad": strings.Repeat("a", 20<<10)})),
		"a token in a token":          es.sign(t, p.claims(jwt.MapClaims{"iss": nil, "token": good})),
		"nested without end":          raw(`{"alg":"ES256","kid":"es"}`, strings.Repeat(`{"a":`, 2000)+"1"+strings.Repeat("}", 2000)),
		"an encrypted token":          good + ".a.b",
		"two issuers":                 raw(`{"alg":"ES256","kid":"es"}`, `{"iss":"`+p.url+`","iss":"https://evil.example","aud":"palaver","sub":"ann","exp":9999999999}`),
		"not base64":                  "ä.ö.ü",
		"dots":                        "..",
	}
	for name, beside := range map[string]string{"alone": "", "beside Supabase": jwtSecret} {
		b := setup(t, p.accepts, func(d *Deps) { d.Config.Identity.JWTSecret = beside })
		require.Equal(t, 200, b.statusOf(good))
		require.Equal(t, 200, b.statusOf(withHeader("typ", "at+jwt")))
		for what, token := range hostile {
			assert.Equal(t, 401, b.statusOf(token), "%s, %s", what, name)
		}
	}
}

func TestMetadataThatDoNotFitTheirIssuerAreNotUsed(t *testing.T) {
	t.Parallel()
	es := newSigner(t, "es", jwt.SigningMethodES256)
	for name, wrong := range map[string]map[string]any{
		"another issuer":  {"issuer": "https://evil.example"},
		"with a slash":    {"issuer": "https://evil.example/"},
		"no keys":         {"jwks_uri": nil},
		"keys in a file":  {"jwks_uri": "file:///etc/passwd"},
		"an odd endpoint": {"token_endpoint": "https://evil.example; script-src *"},
	} {
		p := newOIDC(t, es)
		p.metadata = wrong
		b := setup(t, p.accepts, func(d *Deps) { d.Config.OIDC = OIDC{Issuer: p.url, ClientID: "palaver"} })
		require.Equal(t, 503, b.statusOf(es.sign(t, p.claims(nil))), name)
		res := b.client().send("GET", "/api/config", nil)
		require.NotContains(t, res.Header.Get("Content-Security-Policy"), "evil", name)
	}
}

func TestPageIsToldWhereToSignIn(t *testing.T) {
	t.Parallel()
	es := newSigner(t, "es", jwt.SigningMethodES256)
	p := newOIDC(t, es)
	p.metadata = map[string]any{"token_endpoint": "http://tokens.example/token"}
	b := setup(t, p.accepts, func(d *Deps) {
		d.Config.OIDC = OIDC{Issuer: p.url, ClientID: "palaver", Scopes: "openid email", NameClaim: "name", EmailClaim: "email"}
	})
	require.Equal(t, map[string]any{"issuer": p.url, "client_id": "palaver", "scopes": "openid email", "name_claim": "name", "email_claim": "email",
		"authorization_endpoint": p.url + "/auth", "token_endpoint": "http://tokens.example/token", "end_session_endpoint": p.url + "/end"},
		b.client().call(200, "GET", "/api/config", nil)["auth"].(map[string]any)["oidc"])
	policy := b.client().send("GET", "/", nil).Header.Get("Content-Security-Policy")
	require.Contains(t, policy, "connect-src 'self' http://tokens.example;")
	require.Equal(t, contentSecurityPolicy, strings.Replace(policy, " http://tokens.example", "", 1))
}

func TestProviderThatIsAwayOrRotatesItsKeys(t *testing.T) {
	t.Parallel()
	old, next := newSigner(t, "old", jwt.SigningMethodES256), newSigner(t, "next", jwt.SigningMethodEdDSA)
	p, other := newOIDC(t, old), newSigner(t, "other", jwt.SigningMethodRS256)
	q := newOIDC(t, other)
	p.down = true
	b := setup(t, p.accepts, q.accepts)
	require.Equal(t, 200, b.statusOf(other.sign(t, q.claims(nil))), "another provider's outage")
	require.Equal(t, "down", b.client().call(200, "GET", "/readyz", nil)["parts"].(map[string]any)["tokens"])
	p.set(func() { p.down = false })
	require.Equal(t, 200, b.statusOf(old.sign(t, p.claims(nil))), "the first token finds the provider")
	require.Nil(t, b.client().call(200, "GET", "/readyz", nil)["parts"].(map[string]any)["tokens"])
	p.set(func() { p.down = true })
	require.Equal(t, 200, b.statusOf(old.sign(t, p.claims(nil))), "known keys stay")

	moved := newJWKS(t, next) // a rotation that also moves the keys to another address
	fresh := newOIDC(t, old)
	b = setup(t, fresh.accepts)
	require.Equal(t, 200, b.statusOf(old.sign(t, fresh.claims(nil))))
	fresh.set(func() { fresh.metadata = map[string]any{"jwks_uri": moved.url} })
	require.Equal(t, 200, b.statusOf(next.sign(t, fresh.claims(nil))))
	require.Equal(t, 401, b.statusOf(old.sign(t, fresh.claims(nil))), "a key that was removed")
	for range 20 {
		require.Equal(t, 401, b.statusOf(newSigner(t, "unknown", jwt.SigningMethodES256).sign(t, fresh.claims(nil))))
	}
	require.Equal(t, 1, moved.fetches(), "unknown keys cause no further fetch within the interval")
}

func TestSlowProviderDelaysNobodyWhoseKeyIsKnown(t *testing.T) {
	t.Parallel()
	known := newSigner(t, "known", jwt.SigningMethodES256)
	p := newOIDC(t, known)
	b := setup(t, p.accepts)
	hold := make(chan struct{})
	p.set(func() { p.hold = hold })
	unknown := newSigner(t, "unknown", jwt.SigningMethodES256).sign(t, p.claims(nil))
	status := make(chan int)
	go func() {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, b.url+"/api/me", nil)
		req.Header.Set("Authorization", "Bearer "+unknown)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			status <- 0
			return
		}
		_ = res.Body.Close()
		status <- res.StatusCode
	}()
	require.Equal(t, 200, b.statusOf(known.sign(t, p.claims(nil))))
	close(hold)
	require.Equal(t, 401, <-status)
}

// Rule R9.
func TestMCPClientsAreToldWhereToSignIn(t *testing.T) {
	t.Parallel()
	es := newSigner(t, "es", jwt.SigningMethodES256)
	p := newOIDC(t, es)
	b := setup(t, func(d *Deps) {
		d.Config.Identity.Issuers = []identity.Issuer{{URL: p.url, Audiences: []string{"https://chat.example.com/mcp"}}}
		d.Config.OIDC.Scopes = "openid email"
	})
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, path := range []string{"/mcp", "/mcp/rpc"} {
		res := b.client().send("POST", path, ping)
		require.Equal(t, http.StatusUnauthorized, res.StatusCode, path)
		require.Empty(t, res.Cookies(), path)
		metadata, err := url.Parse(must.Have(oauthex.ParseWWWAuthenticate(res.Header.Values("WWW-Authenticate")))(t)[0].Params["resource_metadata"])
		require.NoError(t, err)
		got := must.Have(oauthex.GetProtectedResourceMetadata(t.Context(), metadata.String(), b.url+"/mcp", http.DefaultClient))(t)
		require.Equal(t, []string{p.url}, got.AuthorizationServers)
		require.Equal(t, []string{"openid", "email"}, got.ScopesSupported)

		send := func(token string) int {
			return b.client().send("POST", path, ping, "Authorization", "Bearer "+token).StatusCode
		}
		require.Equal(t, http.StatusOK, send(es.sign(t, p.claims(jwt.MapClaims{"aud": "https://chat.example.com/mcp"}))), path)
		require.Equal(t, http.StatusUnauthorized, send(es.sign(t, p.claims(jwt.MapClaims{"aud": "https://other.example.com/mcp"}))), "a token for another resource")
		require.Equal(t, http.StatusOK, b.as(credential.Key, "ann").send("POST", path, ping).StatusCode, "keys go on working")
		c := b.client()
		c.id()
		require.Equal(t, http.StatusOK, c.send("POST", path, ping).StatusCode, "a browser's cookie")
	}
	require.Equal(t, "Bearer", b.client().send("GET", "/api/me", nil, "Authorization", "Bearer x").Header.Get("WWW-Authenticate"))
	b = setup(t)
	require.Equal(t, http.StatusOK, b.client().send("POST", "/mcp", ping).StatusCode, "without an issuer all is as it was")
}
