package limits

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/identity"
)

func TestRateLimitPrefix(t *testing.T) {
	for address, want := range map[string]string{
		"203.0.113.7": "203.0.113.7", "2001:db8:1:2:3::4": "2001:db8:1:2::/64", "": "invalid IP",
	} {
		a, _ := netip.ParseAddr(address) // the zero Addr for a peer without a valid one
		assert.EqualValues(t, want, networkOf(a, 64), address)
	}
}

// One /60 of IPv6 with 64 slow uploads refused everybody's.
func TestSlotsAreLeftForOtherAddressesAndForAccounts(t *testing.T) {
	var uploads inFlight
	most := concurrency{maxUploads, maxAddressUploads, maxAllUploads}
	begin := func(address, caller string, account bool) bool {
		_, ok := uploads.acquire(most.places(identity.Caller{ID: caller, Anonymous: !account, Address: netip.MustParseAddr(address)}))
		return ok
	}
	for n := range 16 { // one client with a /60
		for id := range 16 {
			begin(fmt.Sprintf("2001:db8:0:f%x::1", n), fmt.Sprint(n, id), false)
		}
	}
	require.LessOrEqual(t, uploads.open[anonymousPlace], maxAddressUploads)
	for n := range 4 {
		for id := range 16 {
			begin(fmt.Sprintf("203.0.113.%d", n), fmt.Sprint(n, id), false)
		}
	}
	require.True(t, begin("198.51.100.1", "ann", false), "five addresses have taken all slots")
	for n := range 100 {
		begin(fmt.Sprintf("192.0.2.%d", n), fmt.Sprint(n), false)
	}
	for n := range 8 {
		require.True(t, begin("198.51.100.1", fmt.Sprint("account", n), true), "anonymous callers have taken the slots of accounts")
	}
}

// Each takes memory and time before its message is counted.
func TestLargeBodiesOfOneCallerAndOneAddressAreReceivedAFewAtATime(t *testing.T) {
	l := &Limiter{}
	admit := func(caller, address string) (func(), error) {
		return l.AdmitLarge(t.Context(), identity.Caller{ID: caller, Anonymous: true, Address: netip.MustParseAddr(address)})
	}
	var release func()
	for _, caller := range []string{"a", "b"} {
		for range maxLarge {
			var err error
			release, err = admit(caller, "203.0.113.1")
			require.NoError(t, err)
		}
		_, err := admit(caller, "198.51.100.1")
		require.Error(t, err, "too many of one caller")
	}
	_, err := admit("c", "203.0.113.1")
	require.Error(t, err, "too many at one address")
	_, err = admit("c", "198.51.100.1")
	require.NoError(t, err)
	release()
	_, err = admit("b", "203.0.113.1")
	require.NoError(t, err)
}
