package freeport_test

import (
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/testkit/freeport"
)

func TestPortsAreDifferentAndCanBeListenedOn(t *testing.T) {
	seen := map[int]bool{}
	for range 100 {
		port, err := freeport.Get()
		require.NoError(t, err)
		require.False(t, seen[port], "port %d was given twice", port)
		seen[port] = true
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		require.NoError(t, err)
		require.NoError(t, l.Close())
	}
}
