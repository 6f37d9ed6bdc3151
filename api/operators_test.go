package api

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/palaver-chat/palaver/internal/guard"
)

// Rules R2, R3.
func TestMetricsAndTheDetailsOfReadinessAreForOperators(t *testing.T) {
	t.Parallel()
	const token = "0123456789abcdef"
	b := setup(t, func(d *Deps) {
		d.Config.Operators = guard.NewOperators(token)
		d.Config.Hosts, _ = guard.NewHosts("0.0.0.0", "")
	})
	handler := b.server.routes()
	for name, c := range map[string]struct {
		peer    string
		headers []string
		allowed bool
	}{
		"a program on this host":       {"127.0.0.1:99", nil, true},
		"the same by IPv6":             {"[::1]:99", nil, true},
		"a local proxy's client":       {"127.0.0.1:99", []string{"X-Forwarded-For", "203.0.113.7"}, false},
		"an empty X-Forwarded-For":     {"127.0.0.1:99", []string{"X-Forwarded-For", ""}, false},
		"a local proxy that sends Via": {"127.0.0.1:99", []string{"Via", "1.1 proxy"}, false},
		"another host":                 {"192.0.2.1:99", nil, false},
		"another container":            {"172.18.0.1:99", nil, false},
		"with the token":               {"192.0.2.1:99", []string{"Authorization", "Bearer " + token}, true},
		"the token through a proxy":    {"127.0.0.1:99", []string{"X-Forwarded-For", "203.0.113.7", "Authorization", "bearer " + token}, true},
		"with another token":           {"192.0.2.1:99", []string{"Authorization", "Bearer 0123456789abcdeF"}, false},
		"with no token":                {"192.0.2.1:99", []string{"Authorization", "Bearer "}, false},
		"with another scheme":          {"192.0.2.1:99", []string{"Authorization", "Basic " + token}, false},
	} {
		ask := func(path string) *httptest.ResponseRecorder {
			r := httptest.NewRequest(http.MethodGet, path, nil)
			r.RemoteAddr, r.Host = c.peer, "127.0.0.1"
			for i := 0; i < len(c.headers); i += 2 {
				r.Header.Set(c.headers[i], c.headers[i+1])
			}
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			return w
		}
		want := http.StatusForbidden
		if c.allowed {
			want = http.StatusOK
		}
		assert.EqualValues(t, want, ask("/metrics").Code, name)
		got := ask("/readyz")
		assert.True(t, got.Code == http.StatusOK && c.allowed != (got.Body.String() == `{"status":"ready"}`), "%s: readiness answers %d %s", name, got.Code, got.Body)
	}
}

func TestWithoutATokenNoTokenMakesAnOperator(t *testing.T) {
	t.Parallel()
	operators := guard.NewOperators("")
	for _, header := range []string{"", "Bearer", "Bearer ", "Bearer x"} {
		r := httptest.NewRequest(http.MethodGet, "/metrics", nil) // from 192.0.2.1
		r.Header.Set("Authorization", header)
		assert.False(t, operators.Allow(r), "%q", header)
	}
}
