package identity

import (
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAddressOfAClient(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, c := range []struct{ name, peer, forwarded, leftmost, rightmost string }{
		{"no header", "10.0.0.1:99", "", "10.0.0.1", "10.0.0.1"},
		{"untrusted peer", "192.0.2.1:99", "203.0.113.7", "192.0.2.1", "192.0.2.1"},
		{"one client", "10.0.0.1:99", "203.0.113.7", "203.0.113.7", "203.0.113.7"},
		{"appended to a forged address", "10.0.0.1:99", "1.2.3.4, 203.0.113.7", "1.2.3.4", "203.0.113.7"},
		{"a chain of proxies", "10.0.0.1:99", "203.0.113.7, 10.1.1.1,10.2.2.2", "203.0.113.7", "203.0.113.7"},
		{"only proxies", "10.0.0.1:99", "10.3.3.3, 10.1.1.1", "10.3.3.3", "10.3.3.3"},
		{"with a port", "10.0.0.1:99", "203.0.113.7:1234", "203.0.113.7", "203.0.113.7"},
		{"IPv6 with a port", "[fd00::1]:99", "[2001:db8::1]:443", "2001:db8::1", "2001:db8::1"},
		{"IPv4 in IPv6", "[::ffff:10.0.0.1]:99", "::ffff:203.0.113.7", "203.0.113.7", "203.0.113.7"},
		{"garbage", "10.0.0.1:99", "<script>, unknown", "10.0.0.1", "10.0.0.1"},
		{"garbage before a proxy", "10.0.0.1:99", "unknown, 10.1.1.1", "10.0.0.1", "10.1.1.1"},
	} {
		for mode, want := range map[string]string{Leftmost: c.leftmost, RightmostUntrusted: c.rightmost, "": c.rightmost} {
			s := Config{TrustedProxies: trusted, ForwardedFor: mode}
			r := httptest.NewRequest("GET", "/", nil)
			r.RemoteAddr = c.peer
			if c.forwarded != "" {
				r.Header.Set("X-Forwarded-For", c.forwarded)
			}
			assert.EqualValues(t, want, s.clientAddress(r).String(), "%v %v", c.name, mode)
		}
	}
}

func FuzzForwardedFor(f *testing.F) {
	f.Add("203.0.113.7, 10.0.0.1", "10.0.0.1:99")
	f.Add("[2001:db8::1]:443,,", "[::1]:1")
	f.Add(strings.Repeat(",", 300), "")
	f.Fuzz(func(t *testing.T, forwarded, peer string) {
		for _, mode := range []string{Leftmost, RightmostUntrusted} {
			s := Config{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, ForwardedFor: mode}
			r := httptest.NewRequest("GET", "/", nil)
			r.RemoteAddr = peer
			r.Header["X-Forwarded-For"] = []string{forwarded}
			a := s.clientAddress(r)
			require.False(t, !s.trusted(parseAddress(peer)) && a != parseAddress(peer), "an untrusted peer %q counts as %v", peer, a)
		}
	})
}
