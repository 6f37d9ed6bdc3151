package api

import (
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/testkit/must"
)

func token(t testing.TB, method jwt.SigningMethod, key any, claims jwt.MapClaims) string {
	t.Helper()
	s := must.Have(jwt.NewWithClaims(method, claims).SignedString(key))(t)
	return s
}

// Rule I1.
func TestTokenGivesTheUserIDAndABadTokenIsNeverAnonymous(t *testing.T) {
	t.Parallel()
	b := setup(t)
	hour := time.Now().Add(time.Hour).Unix()
	hs := jwt.SigningMethodHS256
	good := token(t, hs, []byte(jwtSecret), jwt.MapClaims{"sub": "user-1", "exp": hour})
	me := b.client().call(200, "GET", "/api/me", nil, "Authorization", "Bearer "+good)
	assert.True(t, me["id"] == "user-1" && me["anonymous"] == false, "me: %v", me)
	for name, bad := range map[string]string{
		"empty":            "",
		"nonsense":         "abc.def.ghi",
		"another secret":   token(t, hs, []byte("another secret, as long as the first"), jwt.MapClaims{"sub": "user-1", "exp": hour}),
		"another method":   token(t, jwt.SigningMethodHS512, []byte(jwtSecret), jwt.MapClaims{"sub": "user-1", "exp": hour}),
		"unsigned":         token(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, jwt.MapClaims{"sub": "user-1", "exp": hour}),
		"expired":          token(t, hs, []byte(jwtSecret), jwt.MapClaims{"sub": "user-1", "exp": time.Now().Add(-time.Hour).Unix()}),
		"without an end":   token(t, hs, []byte(jwtSecret), jwt.MapClaims{"sub": "user-1"}),
		"nobody":           token(t, hs, []byte(jwtSecret), jwt.MapClaims{"exp": hour}),
		"the public owner": token(t, hs, []byte(jwtSecret), jwt.MapClaims{"sub": chat.PublicOwner, "exp": hour}),
		"a strange name":   token(t, hs, []byte(jwtSecret), jwt.MapClaims{"sub": "a\x00b", "exp": hour}),
	} {
		res := b.client().send("GET", "/api/me", nil, "Authorization", "Bearer "+bad)
		assert.True(t, res.StatusCode == 401 && len(res.Cookies()) <= 0, "%s: status %d, cookies %v", name, res.StatusCode, res.Cookies())
	}
}

func TestWithoutASecretNoTokenIsAccepted(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *Deps) { d.Config.Identity.JWTSecret = "" })
	empty := token(t, jwt.SigningMethodHS256, []byte{}, jwt.MapClaims{"sub": "x", "exp": time.Now().Add(time.Hour).Unix()})
	b.client().call(401, "GET", "/api/me", nil, "Authorization", "Bearer "+empty)
}

// Rule I2.
func TestAnonymousCookieIsSignedAndReused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	res := c.send("GET", "/chat/"+someThread, nil) // the page sets the cookie before its concurrent requests
	cookies := res.Cookies()
	require.True(t, len(cookies) == 1 && cookies[0].HttpOnly && cookies[0].SameSite == http.SameSiteLaxMode && cookies[0].MaxAge > 0, "cookies: %v", cookies)
	assert.EqualValues(t, "private, no-store", res.Header.Get("Cache-Control"), "a shared cache could give this identity to others: Cache-Control")
	id := c.id()
	assert.True(t, id == c.id() && strings.HasPrefix(cookies[0].Value, id+"."), "the cookie does not keep the identity")
	assert.True(t, b.client().id() != id, "two browsers have the same user")
	assert.Zero(t, len(b.client().send("GET", "/assets/app.js", nil).Cookies()), "a static file sets")
	forged := uuid.NewString()
	_, signature, _ := strings.Cut(cookies[0].Value, ".")
	for _, value := range []string{forged + "." + signature, id, id + ".", forged + ".AAAA", "..", "x." + signature} {
		jar, _ := cookiejar.New(nil)
		u := must.Have(url.Parse(b.url))(t)
		jar.SetCookies(u, []*http.Cookie{{Name: identity.CookieName, Value: value, Path: "/"}})
		c := &client{t: t, url: b.url, Client: &http.Client{Jar: jar}}
		if got := c.id(); got == forged || got == id {
			t.Errorf("the forged cookie %q was accepted", value)
		}
	}
}

func TestOtherSitesCannotUseACallersCookie(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	c.id()
	for _, headers := range [][]string{
		{"Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "same-site"},
		{"Origin", "https://evil.example"},
		{"Origin", "null"},
	} {
		body := c.call(403, "POST", "/api/chat", map[string]any{"message": "x"}, headers...)
		assert.EqualValues(t, chat.CodeForbidden, errorCode(body), "%v: %v", headers, body)
		c.call(403, "DELETE", "/api/conversations/"+someThread, nil, headers...)
	}
	for _, headers := range [][]string{
		{"Sec-Fetch-Site", "same-origin"}, {"Origin", b.url},
		{"Origin", "https://app.example", "Authorization", "Bearer " + // a token is not sent by itself
			token(t, jwt.SigningMethodHS256, []byte(jwtSecret), jwt.MapClaims{"sub": "u", "exp": time.Now().Add(time.Hour).Unix()})},
	} {
		c.call(200, "PUT", "/api/me", map[string]any{}, headers...)
	}
	res := c.send("POST", "/api/chat", `{"message":"x"}`, "Content-Type", "text/plain")
	assert.EqualValues(t, 415, res.StatusCode, "a form's content type: %d", res.StatusCode)
}

const proxySecret = "a proxy's secret, only used in tests"

// Rule I5.
func TestUserIDHeaderIsTheCallersOwnOrFromATrustedProxy(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *Deps) { d.Config.Identity.ProxySecret = proxySecret })
	bearer := "Bearer " + token(t, jwt.SigningMethodHS256, []byte(jwtSecret), jwt.MapClaims{"sub": "user-1", "exp": time.Now().Add(time.Hour).Unix()})
	c := b.client()
	cookie := c.id()
	viaProxy := func(headers ...string) []string { return append(headers, identity.ProxySecretHeader, proxySecret) }
	for name, x := range map[string]struct {
		headers []string
		id      string // "": refused
	}{
		"no header":                                {nil, cookie},
		"an empty one":                             {[]string{"userid", ""}, cookie},
		"the cookie's own":                         {[]string{"userid", cookie}, cookie},
		"the token's own":                          {[]string{"userid", "user-1", "Authorization", bearer}, "user-1"},
		"somebody else, by cookie":                 {[]string{"userid", "user-2"}, ""},
		"somebody else, by token":                  {[]string{"userid", "user-2", "Authorization", bearer}, ""},
		"the cookie's, with a token":               {[]string{"userid", cookie, "Authorization", bearer}, ""},
		"somebody, with a wrong secret":            {[]string{"userid", "user-2", identity.ProxySecretHeader, proxySecret + "x"}, ""},
		"somebody, with half the secret":           {[]string{"userid", "user-2", identity.ProxySecretHeader, proxySecret[:10]}, ""},
		"somebody, with an empty secret":           {[]string{"userid", "user-2", identity.ProxySecretHeader, ""}, ""},
		"the caller's own, with a wrong secret":    {[]string{"userid", cookie, identity.ProxySecretHeader, "wrong"}, cookie},
		"from a proxy":                             {viaProxy("userid", "user-2"), "user-2"},
		"from a proxy, with another user's token":  {viaProxy("userid", "user-2", "Authorization", bearer), "user-2"},
		"a proxy without a userid header":          {viaProxy(), cookie},
		"a long name":                              {viaProxy("userid", strings.Repeat("é", 128)), strings.Repeat("é", 128)},
		"a name too long":                          {viaProxy("userid", strings.Repeat("a", 129)), ""},
		"the public owner's name":                  {viaProxy("userid", chat.PublicOwner), ""},
		"a name that cannot be printed":            {viaProxy("userid", "a\u200bb"), ""},
		"a name that is not UTF-8":                 {viaProxy("userid", "a\xffb"), ""},
		"a name with a space":                      {viaProxy("userid", "Ada Lovelace"), "Ada Lovelace"},
		"a name with other letters than ASCII":     {viaProxy("userid", "Łukasz"), "Łukasz"},
		"the public owner's name, without a proxy": {[]string{"userid", chat.PublicOwner}, ""},
	} {
		res := c.send("GET", "/api/me", nil, x.headers...)
		var me map[string]any
		require.NoError(t, json.NewDecoder(res.Body).Decode(&me))
		switch {
		case x.id == "":
			assert.True(t, res.StatusCode == 403 && errorCode(me) == chat.CodeForbidden, "%s: %d %v", name, res.StatusCode, me)
		case res.StatusCode != 200 || me["id"] != x.id || me["anonymous"] != (x.id == cookie):
			t.Errorf("%s: %d %v", name, res.StatusCode, me)
		}
	}
}

func TestProxyCallersGetNoCookieAndNewClientsCannotChooseAnID(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *Deps) { d.Config.Identity.ProxySecret = proxySecret })
	if res := b.client().send("GET", "/api/me", nil, "userid", "user-1", identity.ProxySecretHeader, proxySecret); res.StatusCode != 200 || len(res.Cookies()) > 0 {
		t.Errorf("by a proxy: %d, %v", res.StatusCode, res.Cookies())
	}
	if res := b.client().send("GET", "/api/me", nil, "userid", uuid.NewString()); res.StatusCode != 403 || len(res.Cookies()) > 0 {
		t.Errorf("a new client: %d, %v", res.StatusCode, res.Cookies())
	}
}

func TestTwoUserIDHeadersAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *Deps) { d.Config.Identity.ProxySecret = proxySecret })
	c := b.client()
	c.h["Userid"] = []string{"user-1", "user-2"} // the proxy also passed on the client's own header
	c.call(403, "GET", "/api/me", nil, identity.ProxySecretHeader, proxySecret)
}

func TestWithoutASharedSecretNoProxyIsTrusted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, secret := range []string{"", "undefined", proxySecret} {
		b.client().call(403, "GET", "/api/me", nil, "userid", "user-1", identity.ProxySecretHeader, secret)
	}
}

func TestNewRefusesInvalidSettings(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Deps){
		"AUTH_MODE":           func(d *Deps) { d.Config.Identity.Mode = "sometimes" },
		"SUPABASE_JWT_SECRET": func(d *Deps) { d.Config.Identity.Mode, d.Config.Identity.JWTSecret = identity.Required, "" },
		"SUPABASE_JWKS_URL":   func(d *Deps) { d.Config.Identity.JWKSURL = "keys" },
		"COOKIE_SECRET":       func(d *Deps) { d.Config.Identity.CookieSecret = []byte("short") },
		"Store":               func(d *Deps) { d.Store = nil },
	} {
		b := setup(t)
		d := b.server.Deps
		d.Metrics = nil
		change(&d)
		if _, err := New(d); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
