package guard_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/internal/guard"
)

func TestOnlyOperatorsAreAnswered(t *testing.T) {
	const token = "0123456789abcdef"
	handler := guard.NewOperators(token).Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	for name, c := range map[string]struct {
		peer, header, value string
		allowed             bool
	}{
		"this host":               {"127.0.0.1:9", "", "", true},
		"this host, IPv4 in IPv6": {"[::ffff:127.0.0.1]:9", "", "", true},
		"a proxy on this host":    {"127.0.0.1:9", "X-Forwarded-Proto", "https", false},
		"another host":            {"192.0.2.1:9", "", "", false},
		"another, with the token": {"192.0.2.1:9", "Authorization", "Bearer " + token, true},
		"a part of the token":     {"192.0.2.1:9", "Authorization", "Bearer " + token[:15], false},
		"a peer without address":  {"@", "", "", false},
	} {
		r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		r.RemoteAddr = c.peer
		if c.header != "" {
			r.Header.Set(c.header, c.value)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		want := http.StatusForbidden
		if c.allowed {
			want = http.StatusNoContent
		}
		require.Equal(t, want, w.Code, name)
	}
}
