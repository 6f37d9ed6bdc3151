package limits

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRateLimitPrefix(t *testing.T) {
	for address, want := range map[string]string{
		"203.0.113.7": "203.0.113.7", "2001:db8:1:2:3::4": "2001:db8:1:2::/64", "": "invalid IP",
	} {
		a, _ := netip.ParseAddr(address) // the zero Addr for a peer without a valid one
		assert.EqualValues(t, want, rateLimitPrefix(a), address)
	}
}
