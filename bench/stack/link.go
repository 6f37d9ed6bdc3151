package stack

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Link is the network between two programs: a TCP relay whose address stays and
// that can be cut, or fall silent, or be slow, and be mended. Safe for
// concurrent use.
type Link struct {
	listener net.Listener

	mu     sync.Mutex
	target string
	state  linkState
	delay  time.Duration // of a round trip
	mended chan struct{} // closed and replaced when the link is no longer silent
	conns  map[net.Conn]struct{}
	ended  chan struct{}
}

type linkState int

const (
	linkUp linkState = iota
	linkCut
	linkSilent
)

// NewLink opens a relay to target, a host:port. Close it.
func NewLink(target string) (*Link, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open a link: %w", err)
	}
	l := &Link{listener: listener, target: target, mended: make(chan struct{}), conns: map[net.Conn]struct{}{}, ended: make(chan struct{})}
	go l.serve()
	return l, nil
}

// Address is where programs reach the target through the link.
func (l *Link) Address() string { return l.listener.Addr().String() }

// To sends new connections to another target.
func (l *Link) To(target string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.target = target
}

// Cut ends every connection and, until Mend, each new one at once: as when the
// program at the other end is gone.
func (l *Link) Cut() {
	l.set(linkCut)
	l.Reset()
}

// Silence keeps every connection and takes new ones, and lets nothing through
// until Mend: as when a network drops packets, or the other program hangs.
func (l *Link) Silence() { l.set(linkSilent) }

// Mend lets everything through again. A Delay stays.
func (l *Link) Mend() { l.set(linkUp) }

// Delay makes every round trip take d longer, half of it in each direction, and
// connecting one round trip: as when the other program is far away. It limits no
// bandwidth: what is sent together arrives together. 0 ends it.
func (l *Link) Delay(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.delay = d
}

// roundTrip is the delay of a round trip now.
func (l *Link) roundTrip() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.delay
}

// Reset ends every connection; new ones come up.
func (l *Link) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		reset(c)
	}
	clear(l.conns)
}

// Close ends the link for good.
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
		close(l.mended)
		l.mended = make(chan struct{})
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

// keep notes a connection; false when none may be.
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

// pass waits while the link is silent; false when it has ended.
func (l *Link) pass() bool {
	for {
		l.mu.Lock()
		state, mended := l.state, l.mended
		l.mu.Unlock()
		if state != linkSilent {
			return state == linkUp
		}
		select {
		case <-mended:
		case <-l.ended:
			return false
		}
	}
}

// wait returns at a time, or false when the link has ended.
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

// packet is what came in one piece, and when it is due at the other end.
type packet struct {
	data []byte
	due  time.Time
}

// inFlight is how many packets one direction of a connection holds; a sender of
// more waits.
const inFlight = 64

// copy moves what comes until either side ends; then both end.
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

// receive takes packets from a connection until it ends or stopped is closed.
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

// reset ends a connection the hard way, as a dead program's kernel does.
func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}
