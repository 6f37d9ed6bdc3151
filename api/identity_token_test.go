package api

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/testkit/must"
)

// signer is a key pair of an identity provider.
type signer struct {
	kid    string
	method jwt.SigningMethod
	key    any
}

func newSigner(t testing.TB, kid string, method jwt.SigningMethod) signer {
	t.Helper()
	var key any
	var err error
	switch method {
	case jwt.SigningMethodES256:
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case jwt.SigningMethodRS256:
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	default:
		_, key, err = ed25519.GenerateKey(rand.Reader)
	}
	require.NoError(t, err)
	return signer{kid, method, key}
}

func (s signer) public() any {
	return s.key.(interface{ Public() crypto.PublicKey }).Public()
}

// sign returns a token with this key's id. claims are added to the usual ones or replace
// them.
func (s signer) sign(t testing.TB, claims jwt.MapClaims) string {
	t.Helper()
	return signed(t, s.kid, s.method, s.key, claims)
}

func signed(t testing.TB, kid string, method jwt.SigningMethod, key any, claims jwt.MapClaims) string {
	t.Helper()
	all := jwt.MapClaims{"sub": "user-1", "aud": "authenticated", "exp": time.Now().Add(time.Hour).Unix()}
	for name, value := range claims {
		if all[name] = value; value == nil {
			delete(all, name)
		}
	}
	token := jwt.NewWithClaims(method, all)
	if kid != "" {
		token.Header["kid"] = kid
	}
	text := must.Have(token.SignedString(key))(t)
	return text
}

// jwks is an identity provider's key endpoint.
type jwks struct {
	url     string
	mu      sync.Mutex
	body    []byte
	down    bool
	fetched int
}

func newJWKS(t testing.TB, keys ...signer) *jwks {
	t.Helper()
	e := &jwks{}
	e.publish(t, keys...)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.fetched++
		if e.down {
			http.Error(w, "away", http.StatusBadGateway)
			return
		}
		_, _ = w.Write(e.body)
	}))
	t.Cleanup(server.Close)
	e.url = server.URL
	return e
}

// publish replaces the set.
func (e *jwks) publish(t testing.TB, keys ...signer) {
	t.Helper()
	set := jwkset.NewMemoryStorage()
	for _, k := range keys {
		public := k.key
		if _, secret := public.([]byte); !secret {
			public = k.public()
		}
		jwk, err := jwkset.NewJWKFromKey(public, jwkset.JWKOptions{
			Marshal:  jwkset.JWKMarshalOptions{Private: true},
			Metadata: jwkset.JWKMetadataOptions{KID: k.kid, USE: jwkset.UseSig, ALG: jwkset.ALG(k.method.Alg())},
		})
		require.NoError(t, err)
		require.NoError(t, set.KeyWrite(t.Context(), jwk))
	}
	body := must.Have(set.JSONPrivate(t.Context()))(t)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.body = body
}

func (e *jwks) set(down bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.down = down
}

func (e *jwks) fetches() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.fetched
}

// with makes the API accept the keys of e and, unless it is empty, a secret.
func (e *jwks) with(secret string) func(*Deps) {
	return func(d *Deps) { d.Config.Identity.JWKSURL, d.Config.Identity.JWTSecret = e.url, secret }
}

func (b *bundle) withToken(status int, token string) map[string]any {
	b.t.Helper()
	return b.client().call(status, "GET", "/api/me", nil, "Authorization", "Bearer "+token)
}

// Rule I1.
func TestTokenSignedWithAPublishedKeyGivesTheUserID(t *testing.T) {
	t.Parallel()
	keys := []signer{newSigner(t, "es", jwt.SigningMethodES256), newSigner(t, "rs", jwt.SigningMethodRS256), newSigner(t, "ed", jwt.SigningMethodEdDSA)}
	b := setup(t, newJWKS(t, keys...).with(jwtSecret), func(d *Deps) { d.Config.Identity.Mode = identity.Required })
	for _, k := range keys {
		if me := b.withToken(200, k.sign(t, nil)); me["id"] != "user-1" || me["anonymous"] != false {
			t.Errorf("%s: %v", k.kid, me)
		}
	}
	// While a project moves from the secret to keys, both are accepted.
	assert.EqualValues(t, "user-1", b.withToken(200, signed(t, "", jwt.SigningMethodHS256, []byte(jwtSecret), nil))["id"], "by the secret")
}

// Rule I1.
func TestClaimsOfATokenAreChecked(t *testing.T) {
	t.Parallel()
	es := newSigner(t, "es", jwt.SigningMethodES256)
	b := setup(t, newJWKS(t, es).with(jwtSecret))
	ago := func(d time.Duration) int64 { return time.Now().Add(-d).Unix() }
	for name, c := range map[string]struct {
		claims jwt.MapClaims
		status int
	}{
		"no audience":                           {jwt.MapClaims{"aud": nil}, 200},
		"one audience of several":               {jwt.MapClaims{"aud": []string{"other", "authenticated"}}, 200},
		"another audience":                      {jwt.MapClaims{"aud": "other"}, 401},
		"an audience of nothing":                {jwt.MapClaims{"aud": ""}, 401},
		"an audience that is a list of numbers": {jwt.MapClaims{"aud": []int{1}}, 401},
		"expired within the leeway":             {jwt.MapClaims{"exp": ago(20 * time.Second)}, 200},
		"expired":                               {jwt.MapClaims{"exp": ago(40 * time.Second)}, 401},
		"no end":                                {jwt.MapClaims{"exp": nil}, 401},
		"from a clock a little fast":            {jwt.MapClaims{"nbf": ago(-20 * time.Second), "iat": ago(-20 * time.Second)}, 200},
		"not valid yet":                         {jwt.MapClaims{"nbf": ago(-50 * time.Second)}, 401},
		"no subject":                            {jwt.MapClaims{"sub": nil}, 401},
		"a subject of nothing":                  {jwt.MapClaims{"sub": ""}, 401},
		"a subject that is a number":            {jwt.MapClaims{"sub": 7}, 401},
		"the public owner":                      {jwt.MapClaims{"sub": chat.PublicOwner}, 401},
		"a subject too long":                    {jwt.MapClaims{"sub": strings.Repeat("a", 129)}, 401},
		"a long subject":                        {jwt.MapClaims{"sub": strings.Repeat("é", 128)}, 200},
		"an unprintable subject":                {jwt.MapClaims{"sub": "a\u202eb"}, 401},
	} {
		for kind, token := range map[string]string{
			"key":    es.sign(t, c.claims),
			"secret": signed(t, "", jwt.SigningMethodHS256, []byte(jwtSecret), c.claims),
		} {
			res := b.client().send("GET", "/api/me", nil, "Authorization", "Bearer "+token)
			assert.True(t, res.StatusCode == c.status && len(res.Cookies()) <= 0, "%s, by %s: status %d, want %d; cookies %v", name, kind, res.StatusCode, c.status, res.Cookies())
		}
	}
}

func TestIssuerOfATokenIsChecked(t *testing.T) {
	t.Parallel()
	const issuer = "https://project.supabase.co/auth/v1"
	es := newSigner(t, "es", jwt.SigningMethodES256)
	b := setup(t, newJWKS(t, es).with(jwtSecret), func(d *Deps) { d.Config.Identity.Issuer = issuer })
	for name, c := range map[string]struct {
		issuer any
		status int
	}{
		"this project's":  {issuer, 200},
		"another's":       {"https://other.supabase.co/auth/v1", 401},
		"with more":       {issuer + "/", 401},
		"in other case":   {strings.ToUpper(issuer), 401},
		"nobody's":        {nil, 401},
		"of nothing":      {"", 401},
		"of another type": {[]string{issuer}, 401},
	} {
		for kind, token := range map[string]string{
			"key":    es.sign(t, jwt.MapClaims{"iss": c.issuer}),
			"secret": signed(t, "", jwt.SigningMethodHS256, []byte(jwtSecret), jwt.MapClaims{"iss": c.issuer}),
		} {
			assert.EqualValues(t, c.status, b.client().send("GET", "/api/me", nil, "Authorization", "Bearer "+token).StatusCode, "%v %v", name, kind)
		}
	}
}

func TestKeyIsRefusedWithAnotherKindsAlgorithm(t *testing.T) {
	t.Parallel()
	es, rs := newSigner(t, "es", jwt.SigningMethodES256), newSigner(t, "rs", jwt.SigningMethodRS256)
	leaked := signer{"oct", jwt.SigningMethodHS256, []byte("a secret that stands in the set by mistake")}
	der := must.Have(x509.MarshalPKIXPublicKey(rs.public()))(t)
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	stranger := newSigner(t, "es", jwt.SigningMethodES256)
	tokens := map[string]string{
		"HS256 with the public key in DER":      signed(t, "rs", jwt.SigningMethodHS256, der, nil),
		"HS256 with the public key in PEM":      signed(t, "rs", jwt.SigningMethodHS256, public, nil),
		"HS256 with a secret of the set":        leaked.sign(t, nil),
		"HS256 with nothing":                    signed(t, "", jwt.SigningMethodHS256, []byte{}, nil),
		"HS384 with the secret":                 signed(t, "", jwt.SigningMethodHS384, []byte(jwtSecret), nil),
		"no signature":                          signed(t, "rs", jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, nil),
		"RS512 with a key for RS256":            signed(t, "rs", jwt.SigningMethodRS512, rs.key, nil),
		"PS256 with a key for RS256":            signed(t, "rs", jwt.SigningMethodPS256, rs.key, nil),
		"RS256 under the name of the ES256 key": signed(t, "es", jwt.SigningMethodRS256, rs.key, nil),
		"a stranger's key under a name of ours": stranger.sign(t, nil),
		"a key without a name":                  signed(t, "", jwt.SigningMethodES256, es.key, nil),
		"a good token with its signature cut":   strings.TrimRight(es.sign(t, nil), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"),
	}
	for name, secret := range map[string]string{"next to a secret": jwtSecret, "without a secret": ""} {
		b := setup(t, newJWKS(t, es, rs, leaked).with(secret))
		b.withToken(200, rs.sign(t, nil)) // the endpoint works
		for what, token := range tokens {
			assert.EqualValues(t, 401, b.client().send("GET", "/api/me", nil, "Authorization", "Bearer "+token).StatusCode, "%v %v", what, name)
		}
	}
	// With only a secret, tokens that are signed with a key are refused.
	b := setup(t)
	b.withToken(401, rs.sign(t, nil))
}

func TestUnknownKeyTriggersOneFetchPerInterval(t *testing.T) {
	t.Parallel()
	old, next := newSigner(t, "old", jwt.SigningMethodES256), newSigner(t, "next", jwt.SigningMethodES256)
	endpoint := newJWKS(t, old)
	b := setup(t, endpoint.with(""))
	b.withToken(200, old.sign(t, nil))
	require.EqualValues(t, 1, endpoint.fetches())
	endpoint.publish(t, next)
	b.withToken(200, next.sign(t, nil))
	b.withToken(401, old.sign(t, nil)) // a key that was removed from the set is refused
	// The interval between two fetches is not over: clients can neither cause further
	// fetches nor wait for one.
	for range 20 {
		b.withToken(401, newSigner(t, "unknown", jwt.SigningMethodES256).sign(t, nil))
	}
	b.withToken(200, next.sign(t, nil))
	assert.EqualValues(t, 2, endpoint.fetches())
}

func TestUnavailableKeyEndpointDoesNotPreventTheStartAndIsNamed(t *testing.T) {
	t.Parallel()
	es := newSigner(t, "es", jwt.SigningMethodES256)
	for mode, ready := range map[string]int{identity.Anonymous: 200, identity.Required: 503} {
		endpoint := newJWKS(t, es)
		endpoint.set(true)
		b := setup(t, endpoint.with(jwtSecret), func(d *Deps) { d.Config.Identity.Mode = mode })
		parts := func(status int) any {
			return b.client().call(status, "GET", "/readyz", nil)["parts"].(map[string]any)["tokens"]
		}
		assert.EqualValues(t, "down", parts(ready), mode)
		b.withToken(200, signed(t, "", jwt.SigningMethodHS256, []byte(jwtSecret), nil)) // needs no endpoint
		endpoint.set(false)
		assert.EqualValues(t, 200, b.client().send("GET", "/api/me", nil, "Authorization", "Bearer "+es.sign(t, nil)).StatusCode, mode)
		assert.EqualValues(t, nil, parts(200), mode)
		endpoint.set(true) // once known, keys stay
		b.withToken(200, es.sign(t, nil))
		b.withToken(401, newSigner(t, "other", jwt.SigningMethodES256).sign(t, nil))
	}
}

func TestTokenThatCannotBeCheckedYetGetsA503(t *testing.T) {
	t.Parallel()
	es := newSigner(t, "es", jwt.SigningMethodES256)
	endpoint := newJWKS(t, es)
	endpoint.set(true)
	b := setup(t, endpoint.with(""))
	for range 3 { // the first asks the endpoint again, the others may not
		res := b.client().send("GET", "/api/me", nil, "Authorization", "Bearer "+es.sign(t, nil))
		assert.True(t, res.StatusCode == 503 && len(res.Cookies()) <= 0, "status %d, cookies %v", res.StatusCode, res.Cookies())
	}
	assert.EqualValues(t, 2, endpoint.fetches())
	b.withToken(401, "no token at all")
}
