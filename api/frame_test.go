package api

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/identity"
)

// Rule I28.
func TestOnlyPagesOfAllowedOriginsMayHaveTheChatInAFrame(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path string
		deps []func(*Deps)
		want string
	}{
		"a listed origin":                     {"/embed?origin=" + appOrigin, []func(*Deps){withOrigins}, appOrigin},
		"another origin":                      {"/embed?origin=https://evil.example.com", []func(*Deps){withOrigins}, "'none'"},
		"an origin that begins like it":       {"/embed?origin=" + appOrigin + ".evil.com", []func(*Deps){withOrigins}, "'none'"},
		"a policy in place of an origin":      {"/embed?origin=" + appOrigin + "%20*", []func(*Deps){withOrigins}, "'none'"},
		"no origin":                           {"/embed", []func(*Deps){withOrigins}, "'none'"},
		"another page":                        {"/?origin=" + appOrigin, []func(*Deps){withOrigins}, "'none'"},
		"a page below":                        {"/embed/x?origin=" + appOrigin, []func(*Deps){withOrigins}, "'none'"},
		"an installation without the setting": {"/embed?origin=" + appOrigin, nil, "'none'"},
	} {
		res := setup(t, c.deps...).client().send("GET", c.path, nil)
		_, ancestors, _ := strings.Cut(res.Header.Get("Content-Security-Policy"), "frame-ancestors ")
		assert.Equal(t, c.want, ancestors, name)
		assert.Equal(t, c.want == "'none'", res.Header.Get("X-Frame-Options") == "DENY", name)
	}
}

// Rule I28.
func TestAPersonInAFrameHasAPartitionedCookieOfTheirOwn(t *testing.T) {
	t.Parallel()
	b := setup(t, withOrigins)
	in := func(c *client, origin string, more ...string) *http.Response {
		return c.send("GET", "/api/me", nil, append([]string{identity.FrameHeader, origin}, more...)...)
	}
	first := in(b.client(), appOrigin)
	require.Equal(t, http.StatusOK, first.StatusCode)
	cookie := first.Cookies()[0]
	assert.True(t, cookie.Partitioned && cookie.Secure && cookie.HttpOnly && cookie.SameSite == http.SameSiteNoneMode, "%v", cookie)

	id := func(name string, headers ...string) any {
		return b.client().with(name, cookie.Value).call(200, "GET", "/api/me", nil, headers...)["id"]
	}
	me := id(cookie.Name, identity.FrameHeader, appOrigin)
	assert.Equal(t, me, id(cookie.Name, identity.FrameHeader, appOrigin))
	assert.NotEqual(t, me, id(cookie.Name), "outside of the frame the cookie is not read")
	assert.NotEqual(t, me, id(identity.CookieName, identity.FrameHeader, appOrigin), "in the frame no other cookie is read")

	for name, res := range map[string]*http.Response{
		"an origin that is not listed": in(b.client(), "https://evil.example.com"),
		"two origins":                  in(b.client(), appOrigin, identity.FrameHeader, "https://evil.example.com"),
		"the page around the frame":    in(b.client(), appOrigin, "Origin", appOrigin, "Sec-Fetch-Site", "cross-site"),
		"a page of a site not listed":  b.client().send("POST", "/api/documents", map[string]any{"title": "x", "text": "x"}, identity.FrameHeader, appOrigin, "Sec-Fetch-Site", "cross-site"),
		"an installation without it":   in(setup(t).client(), appOrigin),
	} {
		assert.Equal(t, http.StatusForbidden, res.StatusCode, name)
		assert.Empty(t, res.Cookies(), name)
	}
	pre := b.client().send("OPTIONS", "/api/me", nil, "Origin", appOrigin, "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "authorization,"+strings.ToLower(identity.FrameHeader))
	assert.Equal(t, "authorization", pre.Header.Get("Access-Control-Allow-Headers"))
}
