package api

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/credential"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/internal/guard"
)

const appOrigin = "https://app.example.com"

func withOrigins(d *Deps) {
	d.Config.Identity.Origins = guard.Origins{appOrigin}
	d.Config.Identity.ProxySecret = proxySecret
}

// Rule I24.
func TestEveryRouteAnswersPagesOfAllowedOriginsByTheirTokenOnly(t *testing.T) {
	t.Parallel()
	b := setup(t, withOrigins)
	for name, r := range walked(t, b) {
		for n, w := range r.ways(unknown(), unknown()) {
			pre := b.client().send("OPTIONS", w.path, nil, "Origin", appOrigin, "Access-Control-Request-Method", method(name),
				"Access-Control-Request-Headers", "authorization,content-type,last-event-id,x-stainless-lang,"+strings.ToLower(identity.PageHeader))
			assert.Equal(t, http.StatusNoContent, pre.StatusCode, name)
			assert.Equal(t, appOrigin, pre.Header.Get("Access-Control-Allow-Origin"), name)
			assert.Contains(t, strings.Split(pre.Header.Get("Access-Control-Allow-Methods"), ", "), method(name))
			assert.Equal(t, "authorization, content-type, last-event-id, x-stainless-lang", pre.Header.Get("Access-Control-Allow-Headers"), name)
			assert.Equal(t, "7200", pre.Header.Get("Access-Control-Max-Age"), name)
			assert.Contains(t, pre.Header.Values("Vary"), "Origin", name)

			for _, by := range []credential.Kinds{credential.Token, credential.Key, credential.Cookie, credential.Proxy} {
				w := r.ways(unknown(), unknown())[n] // what a request makes belongs to its caller
				own := b.as(by, uuid.NewString()).send(method(name), w.path, orNil(w.body))
				w = r.ways(unknown(), unknown())[n]
				there := b.as(by, uuid.NewString()).send(method(name), w.path, orNil(w.body), "Origin", appOrigin, "Sec-Fetch-Site", "cross-site")
				want := own.StatusCode
				switch {
				case r.open:
				case by == credential.Cookie || by == credential.Proxy:
					want = http.StatusUnauthorized
				}
				assert.Equal(t, want, there.StatusCode, "%s %s by %s", name, w.path, by)
				assert.Empty(t, there.Header.Values("Set-Cookie"), "%s by %s", name, by)
				assert.Equal(t, appOrigin, there.Header.Get("Access-Control-Allow-Origin"), name)
				assert.Empty(t, there.Header.Get("Access-Control-Allow-Credentials"), name)
				assert.Equal(t, exposedHeaders, there.Header.Get("Access-Control-Expose-Headers"), name)
				assert.Contains(t, there.Header.Values("Vary"), "Origin", name)
				assert.Contains(t, own.Header.Values("Vary"), "Origin", "%s: a cache must not give it to another origin", name)
				assert.Empty(t, own.Header.Get("Access-Control-Allow-Origin"), name)
			}
		}
	}
}

func TestOnlyExactOriginsGetCORSHeaders(t *testing.T) {
	t.Parallel()
	b, without := setup(t, withOrigins), setup(t)
	c := b.client()
	c.id()
	bearer := "Bearer " + accountToken(t, "ann")
	for _, origin := range []string{
		"null", "*", "https://app.example.com.evil.example", "https://evil-app.example.com", "https://evilapp.example.com", "https://sub.app.example.com",
		"https://example.com", "https://app.example.co", "http://app.example.com", "https://app.example.com:443", "https://app.example.com:8443", "https://app.example.com.",
		"https://app.example.com/", "https://APP.example.com", "HTTPS://app.example.com", "https://app.example.com@evil.example", "https://evil.example#https://app.example.com",
		"https://app.example.com https://evil.example", "https://app.example.com,https://evil.example", " https://app_example.com",
	} {
		for _, at := range []*bundle{b, without} {
			pre := at.client().send("OPTIONS", "/api/me", nil, "Origin", origin, "Access-Control-Request-Method", "GET")
			assert.Equal(t, http.StatusMethodNotAllowed, pre.StatusCode, origin)
			assert.Empty(t, pre.Header.Get("Access-Control-Allow-Origin"), origin)
			res := at.client().send("GET", "/api/me", nil, "Origin", origin, "Authorization", bearer)
			assert.Equal(t, http.StatusOK, res.StatusCode, origin)
			for name := range res.Header {
				assert.False(t, strings.HasPrefix(name, "Access-Control-"), "%s: %s", origin, name)
			}
		}
		c.call(403, "PUT", "/api/me", map[string]any{}, "Origin", origin)
	}
	res := without.client().send("GET", "/api/me", nil, "Origin", appOrigin)
	assert.Empty(t, res.Header.Values("Vary"), "without the setting all is as it was")
	assert.Empty(t, res.Header.Get("Access-Control-Allow-Origin"))
}

// The page itself sends Origin, too, and may be among the allowed origins.
func TestOurOwnPageKeepsItsCookieWhenItsOriginIsAllowed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.server.identity.Origins = guard.Origins{b.url}
	b.server.Config.Identity.Origins = b.server.identity.Origins
	c := b.client()
	id := c.id()
	require.Equal(t, id, c.call(200, "PUT", "/api/me", map[string]any{}, "Origin", b.url)["id"])
	require.Equal(t, id, c.call(200, "PUT", "/api/me", map[string]any{}, "Origin", b.url, "Sec-Fetch-Site", "same-origin")["id"])
	c.call(401, "PUT", "/api/me", map[string]any{}, "Origin", b.url, "Sec-Fetch-Site", "same-site")
}

// Rules I24, N1, N14, D3.
func TestPageOfAnotherOriginStreamsUploadsAndDownloads(t *testing.T) {
	t.Parallel()
	b := setup(t, withOrigins)
	c := b.as(credential.Token, "ann")
	c.h.Set("Origin", appOrigin)
	c.h.Set("Sec-Fetch-Site", "cross-site")
	s := c.ask(map[string]any{"message": "hello"})
	exposed := strings.Split(s.res.Header.Get("Access-Control-Expose-Headers"), ", ")
	for _, name := range []string{"X-Thread-Id", "X-Turn-Id", "X-Stream-Run-Id", "Last-Event-ID", "Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"} {
		require.Contains(t, exposed, name)
	}
	thread := s.res.Header.Get("X-Thread-Id")
	require.NotEmpty(t, thread)
	s.rest()
	again := c.send("GET", "/api/chat/stream/"+thread+"?turn_id="+s.res.Header.Get("X-Turn-Id"), nil, "Last-Event-ID", s.res.Header.Get("X-Turn-Id")+".1")
	require.Equal(t, http.StatusOK, again.StatusCode)
	require.Equal(t, appOrigin, again.Header.Get("Access-Control-Allow-Origin"))
	raw, err := io.ReadAll(again.Body)
	require.NoError(t, err)
	require.Contains(t, string(raw), `"response"`)
	picture := c.upload(201, "file", "x", tinyPNG)["id"].(string)
	got := c.send("GET", "/api/attachments/"+picture, nil)
	require.Equal(t, http.StatusOK, got.StatusCode)
	require.Equal(t, []string{"Origin", "Authorization, Cookie, Userid"}, got.Header.Values("Vary"))
}
