package api

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"github.com/palaver-chat/palaver/api/identity"
)

// Without a secret, no combination of headers lets a client choose its user id.
func FuzzNoHeadersMakeACallerOfTheirChoice(f *testing.F) {
	es := newSigner(f, "es", jwt.SigningMethodES256)
	endpoint := newJWKS(f, es)
	b := setup(f, endpoint.with(jwtSecret), func(d *Deps) { d.Config.Identity.ProxySecret = proxySecret })
	h := b.server.routes()
	whole := es.sign(f, nil)
	parts := strings.Split(whole, ".")
	for _, seed := range []string{
		"", "a.b.c", parts[0] + "." + parts[1] + ".", "eyJhbGciOiJub25lIn0.e30.", parts[0] + ".e30." + parts[2],
		"eyJhbGciOiJIUzI1NiIsImtpZCI6ImVzIn0." + parts[1] + "." + parts[2], whole[:len(whole)-4] + "AAAA",
	} {
		f.Add("Bearer "+seed, "user-1", "secret", identity.CookieName+"="+seed)
	}
	f.Add("", "*", proxySecret[1:], identity.CookieName+"=7b1f6f0e-2f0c-4a53-9a39-6b5d3c2c1f11.AAAA")
	f.Fuzz(func(t *testing.T, authorization, user, secret, cookie string) {
		if secret == proxySecret || strings.Contains(authorization, whole) {
			return
		}
		r := httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost/api/me", nil)
		for name, value := range map[string]string{"Authorization": authorization, identity.UserHeader: user, identity.ProxySecretHeader: secret, "Cookie": cookie} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		switch w.Code {
		case 401, 403:
		case 200: // a new anonymous user, with an id that we made
			var me meJSON
			if err := json.Unmarshal(w.Body.Bytes(), &me); err != nil || !me.Anonymous || me.ID == user || strings.Contains(cookie, me.ID) {
				t.Fatalf("%q %q %q %q: %s", authorization, user, secret, cookie, w.Body)
			}
		default:
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	})
}
