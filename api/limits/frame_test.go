package limits

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/palaver-chat/palaver/api/identity"
)

func TestAnonymousCallersAreCountedPerAddressAndOriginOfTheFrame(t *testing.T) {
	t.Parallel()
	l := &Limiter{Key: []byte("secret")}
	at := func(address, frame string, anonymous bool) string {
		return l.key("turns", identity.Caller{ID: "ann", Anonymous: anonymous, Address: netip.MustParseAddr(address), Frame: frame})
	}
	own := at("192.0.2.1", "", true)
	app := at("192.0.2.1", "https://app.example.com", true)
	assert.Equal(t, app, at("192.0.2.1", "https://app.example.com", true))
	assert.NotEqual(t, own, app)
	assert.NotEqual(t, app, at("192.0.2.1", "https://shop.example.com", true))
	assert.NotEqual(t, app, at("192.0.2.2", "https://app.example.com", true))
	assert.Equal(t, at("192.0.2.1", "", false), at("192.0.2.1", "https://app.example.com", false), "a user has one budget everywhere")
}
