package pgtest

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// Proxy forwards connections to a server and can stall them, like a dead machine or
// a network partition: connections stay open, and nothing arrives.
type Proxy struct {
	URL string

	server  string
	mu      sync.Mutex
	cond    *sync.Cond
	stalled bool
	open    map[net.Conn]bool
	closed  bool
}

// NewProxy starts a proxy to the server of a database's URL. It ends with t.
func NewProxy(t testing.TB, database string) *Proxy {
	t.Helper()
	server, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{server: server.Host, open: map[net.Conn]bool{}}
	p.cond = sync.NewCond(&p.mu)
	p.URL = With(database, func(u *url.URL) { u.Host = listener.Addr().String() })
	var running sync.WaitGroup
	running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { p.forward(client) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		p.mu.Lock()
		p.closed, p.stalled = true, false
		p.mu.Unlock()
		p.Cut()
		running.Wait()
	})
	return p
}

// Stall stops forwarding until Resume.
func (p *Proxy) Stall() { p.stall(true) }

// Resume forwards the bytes that were held back, and all that follow.
func (p *Proxy) Resume() { p.stall(false) }

func (p *Proxy) stall(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stalled = on
	p.cond.Broadcast()
}

// Cut closes all current connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		_ = c.Close()
	}
	p.cond.Broadcast()
}

func (p *Proxy) forward(client net.Conn) {
	defer func() { _ = client.Close() }()
	if !p.add(client) {
		return
	}
	defer p.remove(client)
	p.waitWhileStalled()
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	if !p.add(server) {
		return
	}
	defer p.remove(server)
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
		both.Go(func() {
			_, _ = io.Copy(gate{way[1], p}, way[0])
			_, _ = way[0].Close(), way[1].Close() // both directions end together
		})
	}
	both.Wait()
}

// gate is a connection whose writes wait while the proxy is stalled.
type gate struct {
	net.Conn
	proxy *Proxy
}

func (g gate) Write(b []byte) (int, error) {
	g.proxy.waitWhileStalled()
	return g.Conn.Write(b)
}

func (p *Proxy) waitWhileStalled() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.stalled {
		p.cond.Wait()
	}
}

// add registers a connection; false when the proxy has ended.
func (p *Proxy) add(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.open[c] = true
	}
	return !p.closed
}

func (p *Proxy) remove(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
}
