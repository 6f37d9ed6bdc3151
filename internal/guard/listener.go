package guard

import (
	"net"
	"net/netip"
	"sync"
)

// LimitConnections closes new connections of an address that has limit open ones. Loopback
// addresses and the exempt networks, which are those of proxies, have no limit. If limit is
// 0, no address has a limit. An IPv6 client counts by its /64.
func LimitConnections(l net.Listener, limit int, exempt []netip.Prefix) net.Listener {
	if limit == 0 {
		return l
	}
	return &limitedListener{Listener: l, limit: limit, exempt: exempt, open: map[netip.Prefix]int{}}
}

type limitedListener struct {
	net.Listener
	limit  int
	exempt []netip.Prefix
	mu     sync.Mutex
	open   map[netip.Prefix]int
}

func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		client, limited := l.client(c)
		if !limited {
			return c, nil
		}
		if l.take(client) {
			return &limitedConn{Conn: c, free: sync.OnceFunc(func() { l.free(client) })}, nil
		}
		_ = c.Close()
	}
}

// client returns the network that a connection counts for.
func (l *limitedListener) client(c net.Conn) (client netip.Prefix, limited bool) {
	remote, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return netip.Prefix{}, false // not an IP connection
	}
	address := remote.Addr().Unmap().WithZone("")
	if address.IsLoopback() {
		return netip.Prefix{}, false
	}
	for _, p := range l.exempt {
		if p.Contains(address) {
			return netip.Prefix{}, false
		}
	}
	bits := 32
	if address.Is6() {
		bits = 64
	}
	client, err = address.Prefix(bits)
	return client, err == nil
}

func (l *limitedListener) take(client netip.Prefix) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[client] >= l.limit {
		return false
	}
	l.open[client]++
	return true
}

func (l *limitedListener) free(client netip.Prefix) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[client]--; l.open[client] == 0 {
		delete(l.open, client)
	}
}

type limitedConn struct {
	net.Conn
	free func()
}

func (c *limitedConn) Close() error {
	defer c.free()
	return c.Conn.Close()
}
