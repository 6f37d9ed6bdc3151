package mcpserver

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTheSDKsGuardIsOnUnlessNamesAreAllowed(t *testing.T) {
	for allowed, forbidden := range map[bool]bool{false: true, true: false} {
		s := New(Server{AllowedNames: allowed})
		r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
		r.Host = "rebound.example"
		loopback := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}
		w := httptest.NewRecorder()
		s.http.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, loopback)))
		assert.EqualValues(t, forbidden, (w.Code == http.StatusForbidden), "names allowed %t: status %d: %s", allowed, w.Code, w.Body)
	}
}
