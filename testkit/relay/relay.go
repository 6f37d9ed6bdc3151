// Package relay simulates the network between two programs.
package relay

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Link simulates the network between two programs: a TCP relay with a fixed address
// that can drop connections, stall or delay them, and be restored. Safe for
// concurrent use.
type Link struct {
	listener net.Listener

	mu       sync.Mutex
	target   string
	state    linkState
	delay    time.Duration // of a round trip
	restored chan struct{} // closed and replaced when the link is no longer silent
	conns    map[net.Conn]struct{}
	ended    chan struct{}
}

type linkState int

const (
	linkUp linkState = iota
	linkCut
	linkSilent
)

// New opens a relay to target, a host:port. The caller must Close it.
func New(target string) (*Link, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open a link: %w", err)
	}
	l := &Link{listener: listener, target: target, restored: make(chan struct{}), conns: map[net.Conn]struct{}{}, ended: make(chan struct{})}
	go l.serve()
	return l, nil
}

// Address returns the link's address, for programs that connect to the target through it.
func (l *Link) Address() string { return l.listener.Addr().String() }

// To sends new connections to another target.
func (l *Link) To(target string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.target = target
}

// Cut closes every connection and, until Restore, each new one at once, like a
// target that is not running.
func (l *Link) Cut() {
	l.set(linkCut)
	l.Reset()
}

// Silence keeps connections and accepts new ones but transfers nothing until
// Restore, like a network that drops packets or a target that hangs.
func (l *Link) Silence() { l.set(linkSilent) }

// Restore undoes Cut and Silence. A Delay stays.
func (l *Link) Restore() { l.set(linkUp) }

// Delay adds d to every round trip, half in each direction; connecting takes one
// round trip. It does not limit bandwidth: data sent together arrives together. 0
// removes the delay.
func (l *Link) Delay(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.delay = d
}

// roundTrip returns the current delay of a round trip.
func (l *Link) roundTrip() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.delay
}

// Reset closes every connection; new ones work.
func (l *Link) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		reset(c)
	}
	clear(l.conns)
}

// Close closes the link and its connections.
func (l *Link) Close() {
	l.mu.Lock()
	select {
	case <-l.ended:
		l.mu.Unlock()
		return
	default:
		close(l.ended)
	}
	l.mu.Unlock()
	_ = l.listener.Close()
	l.Reset()
}

func (l *Link) set(s linkState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state = s; s != linkSilent {
		close(l.restored)
		l.restored = make(chan struct{})
	}
}

func (l *Link) serve() {
	for {
		c, err := l.listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			continue
		}
		go l.relay(c)
	}
}

func (l *Link) relay(near net.Conn) {
	if !l.keep(near) || !l.pass() {
		reset(near)
		return
	}
	if !l.wait(time.Now().Add(l.roundTrip())) {
		l.drop(near)
		return
	}
	l.mu.Lock()
	target := l.target
	l.mu.Unlock()
	far, err := net.Dial("tcp", target)
	if err != nil || !l.keep(far) {
		if far != nil {
			reset(far)
		}
		l.drop(near)
		return
	}
	var both sync.WaitGroup
	both.Go(func() { l.copy(far, near) })
	both.Go(func() { l.copy(near, far) })
	both.Wait()
	l.drop(near)
	l.drop(far)
}

// keep registers a connection. It returns false if the link is cut or closed.
func (l *Link) keep(c net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.ended:
		return false
	default:
	}
	if l.state == linkCut {
		return false
	}
	l.conns[c] = struct{}{}
	return true
}

func (l *Link) drop(c net.Conn) {
	l.mu.Lock()
	delete(l.conns, c)
	l.mu.Unlock()
	_ = c.Close()
}

// pass waits while the link is silent. It returns false if the link is cut or closed.
func (l *Link) pass() bool {
	for {
		l.mu.Lock()
		state, restored := l.state, l.restored
		l.mu.Unlock()
		if state != linkSilent {
			return state == linkUp
		}
		select {
		case <-restored:
		case <-l.ended:
			return false
		}
	}
}

// wait waits until a time. It returns false if the link is closed before.
func (l *Link) wait(until time.Time) bool {
	left := time.Until(until)
	if left <= 0 {
		return true
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-l.ended:
		return false
	}
}

// packet is the data of one read and its time of delivery.
type packet struct {
	data []byte
	due  time.Time
}

// inFlight is the number of packets that one direction of a connection buffers.
const inFlight = 64

// copy transfers data until either side closes, then closes both.
func (l *Link) copy(to, from net.Conn) {
	packets, stopped := make(chan packet, inFlight), make(chan struct{})
	go func() {
		defer close(packets)
		l.receive(from, packets, stopped)
	}()
	for p := range packets {
		if !l.wait(p.due) || !l.pass() {
			break
		}
		if _, err := to.Write(p.data); err != nil {
			break
		}
	}
	close(stopped)
	_ = to.Close()
	_ = from.Close()
}

// receive reads packets from a connection until it ends or stopped is closed.
func (l *Link) receive(from net.Conn, packets chan<- packet, stopped <-chan struct{}) {
	for {
		buffer := make([]byte, 32<<10)
		n, err := from.Read(buffer)
		if n > 0 {
			select {
			case packets <- packet{buffer[:n], time.Now().Add(l.roundTrip() / 2)}:
			case <-stopped:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// reset closes a connection with RST, as the kernel does for a killed program.
func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}
