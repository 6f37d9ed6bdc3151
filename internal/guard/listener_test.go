package guard_test

import (
	"io"
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/internal/guard"
	"github.com/palaver-chat/palaver/testkit/must"
)

// fakeListener accepts connections from the addresses that it is sent.
type fakeListener struct {
	net.Listener
	from chan string
}

func (l fakeListener) Accept() (net.Conn, error) {
	address, open := <-l.from
	if !open {
		return nil, io.EOF
	}
	return &fakeConn{address: address}, nil
}

type fakeConn struct {
	net.Conn
	address string
	closed  bool
}

func (c *fakeConn) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.address))
}

func (c *fakeConn) Close() error {
	c.closed = true
	return nil
}

func TestConnectionsOfOneAddressAreBounded(t *testing.T) {
	from := make(chan string, 100)
	l := guard.LimitConnections(fakeListener{from: from}, 2, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")})
	accept := func(addresses ...string) net.Conn {
		for _, a := range addresses {
			from <- a
		}
		c := must.Have(l.Accept())(t)
		return c
	}
	first := accept("192.0.2.1:1000")
	accept("192.0.2.1:1001")
	// The third is closed; the next one of another address is accepted.
	other := accept("192.0.2.1:1002", "192.0.2.2:1000")
	require.Equal(t, "192.0.2.2:1000", other.RemoteAddr().String())
	require.NoError(t, first.Close())
	require.NoError(t, first.Close()) // closing twice counts once
	require.Equal(t, "192.0.2.1:1003", accept("192.0.2.1:1003").RemoteAddr().String())
	require.Equal(t, "[2001:db8::1]:1", accept("192.0.2.1:1004", "[2001:db8::1]:1").RemoteAddr().String())
	accept("[2001:db8::2]:1")
	require.Equal(t, "[2001:db8:0:1::1]:1", accept("[2001:db8::3]:1", "[2001:db8:0:1::1]:1").RemoteAddr().String(), "one /64 is one client")
	for range 10 { // proxies and this machine
		accept("10.1.2.3:1")
		accept("127.0.0.1:1")
	}
	close(from)
	require.ErrorIs(t, must.ErrOf(l.Accept()), io.EOF)
}
