package pgtest

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// Wire is a way to a server that can go silent, as a network or a machine does
// that is gone without a word: what is sent waits, and nothing comes back.
type Wire struct {
	URL string

	server string
	mu     sync.Mutex
	cond   *sync.Cond
	held   bool
	open   map[net.Conn]bool
	closed bool
}

// NewWire leads to the server of a database's URL. It ends with t.
func NewWire(t testing.TB, database string) *Wire {
	t.Helper()
	server, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &Wire{server: server.Host, open: map[net.Conn]bool{}}
	w.cond = sync.NewCond(&w.mu)
	w.URL = With(database, func(u *url.URL) { u.Host = listener.Addr().String() })
	var running sync.WaitGroup
	running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { w.carry(client) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		w.mu.Lock()
		w.closed, w.held = true, false
		w.mu.Unlock()
		w.Cut()
		running.Wait()
	})
	return w
}

// Hold makes the wire silent until Release.
func (w *Wire) Hold() { w.hold(true) }

// Release lets through what was held back and what comes.
func (w *Wire) Release() { w.hold(false) }

func (w *Wire) hold(on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = on
	w.cond.Broadcast()
}

// Cut ends all connections there are.
func (w *Wire) Cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.open {
		_ = c.Close()
	}
	w.cond.Broadcast()
}

func (w *Wire) carry(client net.Conn) {
	defer func() { _ = client.Close() }()
	if !w.add(client) {
		return
	}
	defer w.remove(client)
	w.pass()
	server, err := net.Dial("tcp", w.server)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	if !w.add(server) {
		return
	}
	defer w.remove(server)
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
		both.Go(func() {
			_, _ = io.Copy(gate{way[1], w}, way[0])
			_, _ = way[0].Close(), way[1].Close() // both ways end together
		})
	}
	both.Wait()
}

// gate is a connection whose writes wait while the wire is silent.
type gate struct {
	net.Conn
	wire *Wire
}

func (g gate) Write(b []byte) (int, error) {
	g.wire.pass()
	return g.Conn.Write(b)
}

func (w *Wire) pass() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.held {
		w.cond.Wait()
	}
}

// add notes a connection; false when the wire has ended.
func (w *Wire) add(c net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.open[c] = true
	}
	return !w.closed
}

func (w *Wire) remove(c net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open, c)
}
