package service

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRequestsInTheSameNetworkAreNotCompressed(t *testing.T) {
	for address, want := range map[string]bool{
		"":                                    true,
		"localhost:7233":                      true,
		"127.0.0.1:7233":                      true,
		"[::1]:7233":                          true,
		"10.1.2.3:7233":                       true,
		"[fd00::1]:7233":                      true,
		"temporal:7233":                       true,
		"temporal-frontend.temporal.svc:7233": true,
		"temporal.svc.cluster.local.:7233":    true,
		"203.0.113.7:7233":                    false,
		"ns.acct.tmprl.cloud:7233":            false,
		"svc.example.com:7233":                false,
		"temporal":                            false, // no port: not an address
	} {
		require.Equal(t, want, inNetwork(address), address)
	}
}
