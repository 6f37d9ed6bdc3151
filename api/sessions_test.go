package api

import (
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/testkit/must"
)

// proxied trusts this machine as a proxy.
func proxied(d *Deps) {
	d.Config.Identity.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
}

// https has the headers of a proxy whose client uses HTTPS.
var https = []string{"X-Forwarded-Proto", "https"}

// with returns a client that sends one cookie and no other.
func (c *client) with(name, value string) *client {
	other := *c
	other.h = http.Header{"Cookie": {name + "=" + value}}
	other.Client = &http.Client{Transport: c.Transport, Timeout: c.Timeout}
	return &other
}

// cookie returns the last cookie that a response sets, nil for none.
func cookie(res *http.Response) *http.Cookie {
	all := res.Cookies()
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}

// Rule I2.
func TestCookieBehindTLSIsProtectedWhenATrustedProxySaysSo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change  []func(*Deps)
		headers []string
		secure  bool
	}{
		"a trusted proxy with TLS":          {[]func(*Deps){proxied}, https, true},
		"two proxies, the first with TLS":   {[]func(*Deps){proxied}, []string{"X-Forwarded-Proto", "HTTPS, http"}, true},
		"a trusted proxy without TLS":       {[]func(*Deps){proxied}, []string{"X-Forwarded-Proto", "http"}, false},
		"only the second proxy has TLS":     {[]func(*Deps){proxied}, []string{"X-Forwarded-Proto", "http, https"}, false},
		"a trusted proxy that says nothing": {[]func(*Deps){proxied}, nil, false},
		"an untrusted proxy with TLS":       {nil, https, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := cookie(setup(t, c.change...).client().send("GET", "/", nil, c.headers...))
			require.True(t, got != nil && got.Secure == c.secure && (got.Name == identity.HostCookieName) == c.secure, "cookie %v", got)
			assert.True(t, got.Path == "/" && got.Domain == "" && got.HttpOnly && got.SameSite == http.SameSiteLaxMode, "cookie %v", got)
		})
	}
}

// A subdomain can set the unprotected cookie for its parent domain, but not the other.
func TestProtectedCookieCountsBeforeTheOther(t *testing.T) {
	t.Parallel()
	b := setup(t, proxied)
	ann, mallory := uuid.NewString(), uuid.NewString()
	c := b.client().with(identity.CookieName, b.server.identity.CookieValue(mallory)+"; "+identity.HostCookieName+"="+b.server.identity.CookieValue(ann))
	assert.EqualValues(t, ann, c.id(), "the caller is")
}

// Rule I13.
func TestSignOutDeletesTheCookie(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	id := c.id()
	res := c.send("DELETE", "/api/me/sessions", nil)
	require.EqualValues(t, http.StatusNoContent, res.StatusCode, res.Status)
	var taken []string
	for _, cookie := range res.Cookies() {
		assert.True(t, cookie.MaxAge < 0 && cookie.Value == "" && cookie.Path == "/", "cookie %v", cookie)
		taken = append(taken, cookie.Name)
	}
	slices.Sort(taken)
	assert.True(t, slices.Equal(taken, []string{identity.HostCookieName, identity.CookieName}), "deleted cookies: %v", taken)
	u := must.Have(url.Parse(b.url))(t)
	if left := c.Jar.Cookies(u); len(left) > 0 {
		t.Errorf("the browser keeps %v", left)
	}
	assert.True(t, c.id() != id, "the browser still has the same user")
}

// Rule I13.
func TestEndedSessionsAreRefusedEverywhere(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	id := c.id()
	jar := c.Jar.(*cookiejar.Jar)
	u := must.Have(url.Parse(b.url))(t)
	first := jar.Cookies(u)[0]
	stolen := b.client().with(first.Name, first.Value)
	elsewhere := b.client().with(first.Name, first.Value).at(b.another())
	require.EqualValues(t, id, stolen.id(), "the cookie does not work")

	require.EqualValues(t, http.StatusNoContent, c.send("DELETE", "/api/me/sessions?which=others", nil).StatusCode)
	assert.EqualValues(t, id, c.id(), "this browser lost its user")
	for name, old := range map[string]*client{"here": stolen, "at a process that has not seen the cookie": elsewhere} {
		if got := old.id(); got == id {
			t.Errorf("%s: the old cookie still works", name)
		}
	}
	second := jar.Cookies(u)[0]
	for _, forged := range []string{strings.Replace(second.Value, ".1.", ".2.", 1), id + ".9." + first.Value[37:], id + ".." + first.Value[37:]} {
		if got := b.client().with(first.Name, forged).id(); got == id {
			t.Errorf("the forged cookie %q was accepted", forged)
		}
	}

	require.EqualValues(t, http.StatusNoContent, c.send("DELETE", "/api/me/sessions?which=all", nil).StatusCode)
	assert.True(t, c.id() != id && b.client().with(second.Name, second.Value).id() != id, "a session is still valid")
}

func TestCookieCountsWhileTheDatabaseIsUnavailable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	user := uuid.NewString()
	c := b.client().with(identity.CookieName, b.server.identity.CookieValue(user))
	require.NoError(t, b.store.Close())
	if res := c.send("GET", "/api/me", nil); res.StatusCode != http.StatusServiceUnavailable || len(res.Cookies()) > 0 {
		t.Errorf("%s, cookies %v: the caller would be somebody else from now on", res.Status, res.Cookies())
	}
}
