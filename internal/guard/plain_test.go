package guard

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/testkit/must"
)

func TestPlainHTTPStaysWithinTheOperatorsNetworks(t *testing.T) {
	g := New(prefixes(t, "127.0.0.0/8,fd00::/8"))
	for address, allowed := range map[string]bool{
		"127.0.0.1:80": true, "127.9.9.9:8080": true, "[::ffff:127.0.0.1]:80": true, "[fd12::1]:80": true,
		"1.1.1.1:80": false, "[2606:4700::1111]:80": false, // public
		"10.0.0.1:80": false, "169.254.169.254:80": false, // neither public nor allowed
	} {
		network := "tcp4"
		if netip.MustParseAddrPort(address).Addr().Is6() {
			network = "tcp6"
		}
		err := g.controlPlain(network, address, nil)
		if allowed {
			require.NoError(t, err, address)
		} else {
			require.Error(t, err, address)
		}
	}
	require.ErrorAs(t, g.controlPlain("tcp4", "1.1.1.1:80", nil), new(*NotEncrypted))
	require.NoError(t, g.control("tcp4", "1.1.1.1:443", nil), "https reaches public addresses")
}

func TestPlainHTTPReachesAnAllowedAddress(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	client := &http.Client{Transport: New(prefixes(t, "127.0.0.0/8,::1/128")).EncryptedTransport()}
	defer client.CloseIdleConnections()
	res := must.Have(client.Get(server.URL))(t)
	require.NoError(t, res.Body.Close())
}
