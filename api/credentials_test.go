package api

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/accesskey"
	"github.com/palaver-chat/palaver/api/credential"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/db/audit"
	"github.com/palaver-chat/palaver/testkit/must"
)

// takes lists the routes that do not take every kind of credential (docs/identity.md). A key
// must not become a stronger credential, and only an account takes over data.
var takes = map[string]credential.Kinds{
	"DELETE /api/me":                         notKey,
	"DELETE /api/me/sessions":                notKey,
	"GET /api/me/keys":                       notKey,
	"POST /api/me/keys":                      notKey,
	"DELETE /api/me/keys/:id":                notKey,
	"GET /api/connections/google/start":      notKey,
	"DELETE /api/connections/google":         notKey,
	"DELETE /api/connections/mcp/:server":    notKey,
	"GET /api/connections/mcp/:server/start": notKey,
	"POST /api/me/claim":                     credential.Token | credential.Proxy,
}

// as returns a client of the user who has exactly this kind of credential. It keeps no
// cookies.
func (b *bundle) as(by credential.Kinds, user string) *client {
	c := b.client()
	c.Client = &http.Client{Transport: c.Transport, Timeout: c.Timeout}
	switch by {
	case credential.Cookie:
		c.h.Set("Cookie", identity.CookieName+"="+b.server.identity.CookieValue(user))
	case credential.Token:
		c.h.Set("Authorization", "Bearer "+accountToken(b.t, user))
	case credential.Key:
		key, _, err := accesskey.Create(b.t.Context(), b.store, accesskey.New{Owner: user, Anonymous: true, Name: "k", Days: 1})
		require.NoError(b.t, err)
		c.h.Set("Authorization", "Bearer "+key)
	case credential.Proxy:
		c.h["Userid"], c.h["X-Proxy-Secret"] = []string{user}, []string{proxySecret}
	}
	return c
}

// anonymousToken returns the token of an anonymous user of Supabase.
func anonymousToken(t testing.TB, user string) string {
	t.Helper()
	return token(t, jwt.SigningMethodHS256, []byte(jwtSecret), jwt.MapClaims{"sub": user, "is_anonymous": true, "exp": time.Now().Add(time.Hour).Unix()})
}

// Rule I21.
func TestEveryRouteTakesOnlyItsKindsOfCredentials(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *Deps) { d.Config.Identity.ProxySecret = proxySecret })
	declared := map[string]credential.Kinds{}
	for _, o := range b.server.operations() {
		if o.Takes != 0 {
			declared[o.Route] = o.Takes
		}
	}
	require.Equal(t, takes, declared)
	nothing := unknown()
	for name, r := range walked(t, b) {
		if r.open {
			continue
		}
		accepted := credential.Any
		if only, some := takes[name]; some {
			accepted = only
		}
		if strings.HasPrefix(name, "GET /api/admin/") {
			accepted = 0 // only an administrator's token: admin_test.go
		}
		for _, by := range []credential.Kinds{credential.Cookie, credential.Token, credential.Key, credential.Proxy} {
			c := b.as(by, uuid.NewString())
			for _, w := range r.ways(nothing, nothing) {
				res := c.send(method(name), w.path, orNil(w.body))
				assert.Equal(t, accepted&by == 0, res.StatusCode == http.StatusForbidden, "%s %s by %s: %s", name, w.path, by, res.Status)
				assert.NotEqual(t, http.StatusUnauthorized, res.StatusCode, "%s by %s", name, by)
				givesNoCookie(t, res)
			}
		}
	}
}

// givesNoCookie checks that a response sets no cookie that identifies somebody.
func givesNoCookie(t *testing.T, res *http.Response) {
	t.Helper()
	for _, cookie := range res.Cookies() {
		assert.Less(t, cookie.MaxAge, 0, "%s gives the cookie %s", res.Request.URL, cookie)
	}
}

// Rules I13, I21.
func TestOnlyACookieIsReplacedByACookie(t *testing.T) {
	t.Parallel()
	for name, by := range map[string]func(*bundle, string) *client{
		"a key of an anonymous user": func(b *bundle, user string) *client { return b.as(credential.Key, user) },
		"a token of an account":      func(b *bundle, user string) *client { return b.as(credential.Token, user) },
		"a proxy":                    func(b *bundle, user string) *client { return b.as(credential.Proxy, user) },
		"a token of an anonymous user": func(b *bundle, user string) *client {
			c := b.as(credential.Token, user)
			c.h.Set("Authorization", "Bearer "+anonymousToken(b.t, user))
			return c
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, func(d *Deps) { d.Config.Identity.ProxySecret = proxySecret })
			c := by(b, uuid.NewString())
			for _, which := range []string{"this", "others", "all"} {
				res := c.send("DELETE", "/api/me/sessions?which="+which, nil)
				if which == "others" {
					assert.GreaterOrEqual(t, res.StatusCode, 400, which)
				}
				givesNoCookie(t, res)
			}
		})
	}
}

func TestKeyOfAnAnonymousUserDoesNotEndTheirSessions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	id := c.id()
	key := b.as(credential.Key, id)
	for _, which := range []string{"", "?which=this", "?which=others", "?which=all"} {
		key.call(403, "DELETE", "/api/me/sessions"+which, nil)
	}
	require.Equal(t, id, c.id(), "the browser has lost its user")
}

func TestSessionsThatAnAccountEndsAreAudited(t *testing.T) {
	t.Parallel()
	b, entries := audited(t)
	for _, c := range []*client{b.client(), b.as(credential.Token, "ann")} {
		c.id()
		require.Equal(t, http.StatusNoContent, c.send("DELETE", "/api/me/sessions?which=all", nil).StatusCode)
	}
	require.Len(t, entries(audit.SessionsEnded), 2)
}

// Whoever once had a short token of an anonymous user must not keep the account that the
// user makes later.
func TestCookieOfAUserWithAnAccountIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	user := uuid.NewString()
	stolen := b.client().with(identity.CookieName, b.server.identity.CookieValue(user))
	elsewhere := stolen.at(b.another())
	require.Equal(t, user, stolen.id())
	account := b.as(credential.Token, user)
	account.h.Set("Authorization", "Bearer "+anonymousToken(t, user))
	account.call(202, "POST", "/api/documents", map[string]any{"title": "before", "text": "x"})
	account.h.Set("Authorization", "Bearer "+accountToken(t, user))
	account.call(202, "POST", "/api/documents", map[string]any{"title": "payroll", "text": "x"})
	require.NotEqual(t, user, stolen.id(), "at this process, at once")
	require.NoError(t, b.store.Seen(t.Context(), user, true, time.Now())) // in the background, too
	require.NotEqual(t, user, elsewhere.id(), "at a process that has not seen the account")
	require.Empty(t, stolen.call(200, "GET", "/api/documents", nil)["items"])
	require.Equal(t, user, account.id())
}

// A person's keys and cookies end with the person.
func TestCredentialsOfADeletedPersonAreRefusedAtOnceByEveryProcess(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	id := c.id()
	copied := b.client().with(identity.CookieName, b.server.identity.CookieValue(id))
	key := b.as(credential.Key, id)
	elsewhere := key.at(b.another())
	for _, k := range []*client{key, elsewhere} {
		k.call(200, "GET", "/api/me", nil) // each process knows the key now
	}
	require.Equal(t, http.StatusNoContent, c.send("DELETE", "/api/me?confirm="+id, nil).StatusCode)
	for where, k := range map[string]*client{"here": key, "elsewhere": elsewhere} {
		assert.Equal(t, http.StatusUnauthorized, k.send("POST", "/api/conversations", map[string]any{}).StatusCode, where)
	}
	require.NotEqual(t, id, copied.at(b.another()).id())
	require.True(t, must.Have(b.store.UserData(t.Context(), id))(t).Empty())
}

func TestRevokedKeyIsRefusedAtOnceByEveryProcess(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	made := c.call(201, "POST", "/api/me/keys", map[string]any{"name": "k"})
	other := b.client()
	other.h.Set("Authorization", "Bearer "+made["key"].(string))
	elsewhere := other.at(b.another())
	elsewhere.call(200, "GET", "/api/me", nil)
	require.Equal(t, http.StatusNoContent, c.send("DELETE", "/api/me/keys/"+made["id"].(string), nil).StatusCode)
	elsewhere.call(401, "GET", "/api/me", nil)
}

func TestClaimOfOneselfChangesNothing(t *testing.T) {
	t.Parallel()
	b, _, _ := withGoogle(t)
	user := uuid.NewString()
	ann := b.as(credential.Token, user)
	ann.call(200, "PUT", "/api/me", map[string]any{"industry": "law"})
	ann.call(201, "POST", "/api/me/keys", map[string]any{"name": "k"})
	ann.h.Set("Cookie", identity.CookieName+"="+b.server.identity.CookieValue(user))
	require.Equal(t, map[string]any{"conversations": 0.0, "documents": 0.0, "left": 0.0}, ann.call(200, "POST", "/api/me/claim", nil))
	require.Equal(t, "law", ann.call(200, "GET", "/api/me", nil)["industry"])
	require.Len(t, ann.call(200, "GET", "/api/me/keys", nil)["items"], 1)
}

// A sibling host or a page over plain HTTP can set a cookie without the prefix.
func TestPlantedCookieIsNotAcceptedOverHTTPS(t *testing.T) {
	t.Parallel()
	b := setup(t, proxied)
	attacker := uuid.NewString()
	victim := b.client().with(identity.CookieName, b.server.identity.CookieValue(attacker))
	for _, path := range []string{"/api/me", "/"} {
		res := victim.send("GET", path, nil, https...)
		got := cookie(res)
		require.True(t, got != nil && got.Name == identity.HostCookieName, "%s: cookie %v", path, got)
		assert.NotContains(t, got.Value, attacker, path)
	}
	account := b.as(credential.Token, "ann")
	account.h.Set("Cookie", victim.h.Get("Cookie"))
	require.Equal(t, map[string]any{"conversations": 0.0, "documents": 0.0, "left": 0.0}, account.call(200, "POST", "/api/me/claim", nil, https...))
}

// Rule I6.
func TestRevocationEndsOpenStreams(t *testing.T) {
	t.Parallel()
	type scene struct {
		b     *bundle
		owner *client // a browser
		id    string
	}
	credentials := map[string]func(scene) *client{
		"a key":            func(s scene) *client { return s.b.as(credential.Key, s.id) },
		"another's cookie": func(s scene) *client { return s.b.as(credential.Cookie, s.id) },
		"a token": func(s scene) *client {
			c := s.b.as(credential.Token, s.id)
			c.h.Set("Authorization", "Bearer "+anonymousToken(s.b.t, s.id))
			return c
		},
	}
	revoke := map[string]func(scene){
		"a key": func(s scene) {
			for _, k := range must.Have(s.b.store.Keys(s.b.t.Context(), s.id))(s.b.t) {
				require.Equal(s.b.t, 204, s.owner.send("DELETE", "/api/me/keys/"+k.ID, nil).StatusCode)
			}
		},
		"cookies": func(s scene) {
			require.Equal(s.b.t, 204, s.owner.send("DELETE", "/api/me/sessions?which=others", nil).StatusCode)
		},
		"the person": func(s scene) {
			require.Equal(s.b.t, 204, s.owner.send("DELETE", "/api/me?confirm="+s.id, nil).StatusCode)
		},
	}
	for _, c := range [][2]string{{"a key", "a key"}, {"a key", "the person"}, {"another's cookie", "cookies"}, {"another's cookie", "the person"}, {"a token", "the person"}} {
		for _, where := range []string{"here", "at another process"} {
			t.Run(c[0]+", "+c[1]+" "+where, func(t *testing.T) {
				t.Parallel()
				b := setup(t, func(d *Deps) { d.Config.Identity.WatchEvery = 10 * time.Millisecond })
				owner := b.client()
				s := scene{b, owner, owner.id()}
				owner.call(201, "POST", "/api/conversations", map[string]any{"id": someThread})
				thief := credentials[c[0]](s)
				if where != "here" {
					thief = thief.at(b.another())
				}
				stream := thief.stream("GET", wholeThread, nil)
				revoke[c[1]](s)
				last := ""
				for line, more := stream.block(); more; line, more = stream.block() {
					last = line
				}
				require.Contains(t, last, "unauthenticated")
			})
		}
	}
}

func TestStreamsGoOnWhileTheirCredentialIsValid(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *Deps) {
		d.Config.Identity.WatchEvery = time.Millisecond
		d.Config.Identity.ProxySecret = proxySecret
	})
	user := uuid.NewString()
	for _, by := range []credential.Kinds{credential.Cookie, credential.Key, credential.Proxy, credential.Token} {
		c := b.as(by, user)
		s := c.ask(map[string]any{"message": "What is the answer?"})
		all := s.rest()
		require.NotEqual(t, "error", all[len(all)-1]["type"], by)
	}
}
