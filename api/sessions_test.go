package api

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/api/identity"
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
			if got == nil || got.Secure != c.secure || (got.Name == identity.HostCookieName) != c.secure {
				t.Fatalf("cookie %v", got)
			}
			if got.Path != "/" || got.Domain != "" || !got.HttpOnly || got.SameSite != http.SameSiteLaxMode {
				t.Errorf("cookie %v", got)
			}
		})
	}
}

func TestOldCookieKeepsItsUserWhenTLSComes(t *testing.T) {
	t.Parallel()
	b := setup(t, proxied)
	user := uuid.NewString()
	old := b.client().with(identity.CookieName, b.server.identity.CookieValue(user))
	for _, path := range []string{"/api/me", "/"} {
		res := old.send("GET", path, nil, https...)
		got := cookie(res)
		if got == nil || got.Name != identity.HostCookieName || !got.Secure {
			t.Fatalf("%s: cookie %v", path, got)
		}
		if id := b.client().with(got.Name, got.Value).id(); id != user {
			t.Errorf("%s: the new cookie names %s, not %s", path, id, user)
		}
	}
	if res := old.send("GET", "/api/me", nil); len(res.Cookies()) > 0 {
		t.Errorf("without TLS: %v", res.Cookies())
	}
}

// A subdomain can set the unprotected cookie for its parent domain, but not the other.
func TestProtectedCookieCountsBeforeTheOther(t *testing.T) {
	t.Parallel()
	b := setup(t, proxied)
	ann, mallory := uuid.NewString(), uuid.NewString()
	c := b.client().with(identity.CookieName, b.server.identity.CookieValue(mallory)+"; "+identity.HostCookieName+"="+b.server.identity.CookieValue(ann))
	if got := c.id(); got != ann {
		t.Errorf("the caller is %s", got)
	}
}

// Rule I13.
func TestSignOutDeletesTheCookie(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	id := c.id()
	res := c.send("DELETE", "/api/me/sessions", nil)
	if res.StatusCode != http.StatusNoContent {
		t.Fatal(res.Status)
	}
	var taken []string
	for _, cookie := range res.Cookies() {
		if cookie.MaxAge >= 0 || cookie.Value != "" || cookie.Path != "/" {
			t.Errorf("cookie %v", cookie)
		}
		taken = append(taken, cookie.Name)
	}
	slices.Sort(taken)
	if !slices.Equal(taken, []string{identity.HostCookieName, identity.CookieName}) {
		t.Errorf("deleted cookies: %v", taken)
	}
	u, err := url.Parse(b.url)
	if err != nil {
		t.Fatal(err)
	}
	if left := c.Jar.Cookies(u); len(left) > 0 {
		t.Errorf("the browser keeps %v", left)
	}
	if c.id() == id {
		t.Error("the browser still has the same user")
	}
}

// Rule I13.
func TestEndedSessionsAreRefusedEverywhere(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	id := c.id()
	jar := c.Jar.(*cookiejar.Jar)
	u, err := url.Parse(b.url)
	if err != nil {
		t.Fatal(err)
	}
	first := jar.Cookies(u)[0]
	stolen := b.client().with(first.Name, first.Value)
	elsewhere := b.client().with(first.Name, first.Value).at(b.another())
	if stolen.id() != id {
		t.Fatal("the cookie does not work")
	}

	if res := c.send("DELETE", "/api/me/sessions?which=others", nil); res.StatusCode != http.StatusNoContent {
		t.Fatal(res.Status)
	}
	if c.id() != id {
		t.Error("this browser lost its user")
	}
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

	if res := c.send("DELETE", "/api/me/sessions?which=all", nil); res.StatusCode != http.StatusNoContent {
		t.Fatal(res.Status)
	}
	if c.id() == id || b.client().with(second.Name, second.Value).id() == id {
		t.Error("a session is still valid")
	}
}

func TestOtherSessionsOfATokensUserCannotBeEndedHere(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, which := range []string{"others", "all"} {
		body := b.client().call(400, "DELETE", "/api/me/sessions?which="+which, nil, "Authorization", bearerOf(t, "ann"))
		if field(body) != "which" {
			t.Errorf("%v", body)
		}
	}
	if res := b.client().send("DELETE", "/api/me/sessions", nil, "Authorization", bearerOf(t, "ann")); res.StatusCode != http.StatusNoContent {
		t.Error(res.Status)
	}
}

func TestCookieCountsWhileTheDatabaseIsUnavailable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	user := uuid.NewString()
	c := b.client().with(identity.CookieName, b.server.identity.CookieValue(user))
	if err := b.store.Close(); err != nil {
		t.Fatal(err)
	}
	if res := c.send("GET", "/api/me", nil); res.StatusCode != http.StatusServiceUnavailable || len(res.Cookies()) > 0 {
		t.Errorf("%s, cookies %v: the caller would be somebody else from now on", res.Status, res.Cookies())
	}
}

func TestProxyThatIsNotTrustedIsLoggedOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change []func(*Deps)
		header string
		logged int
	}{
		"X-Forwarded-For":        {nil, "X-Forwarded-For", 1},
		"X-Forwarded-Proto":      {nil, "X-Forwarded-Proto", 1},
		"Forwarded":              {nil, "Forwarded", 1},
		"from a trusted proxy":   {[]func(*Deps){proxied}, "X-Forwarded-For", 0},
		"a header of the client": {nil, "X-Other", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			b := setup(t, append(c.change, func(d *Deps) { d.Log = slog.New(slog.NewTextHandler(&log, nil)) })...)
			for range 3 {
				b.client().call(200, "GET", "/api/me", nil, c.header, "203.0.113.7")
			}
			if n := strings.Count(log.String(), "TRUSTED_PROXIES"); n != c.logged {
				t.Errorf("logged %d times: %s", n, log.String())
			}
		})
	}
}
