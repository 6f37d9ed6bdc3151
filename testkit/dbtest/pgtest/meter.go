package pgtest

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Meter is a proxy to a server that records round trips and can add latency, during
// which concurrent requests overlap as they do in a network.
type Meter struct {
	URL string

	server  string
	latency time.Duration
	mu      sync.Mutex
	trips   []Trip
	open    map[net.Conn]bool
	closed  bool
}

// Trip is one round trip: everything that a client sent until it got an answer. Those that
// only prepare statements are not recorded.
type Trip struct {
	Begin, End time.Time
	Statements []string // in the order sent; a text with several counts as several
}

// NewMeter starts a proxy to the server of a database's URL that delays each answer by
// latency. It ends with t.
func NewMeter(t testing.TB, database string, latency time.Duration) *Meter {
	t.Helper()
	server, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &Meter{server: server.Host, latency: latency, open: map[net.Conn]bool{}}
	m.URL = With(database, func(u *url.URL) { u.Host = listener.Addr().String() })
	var running sync.WaitGroup
	running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { m.carry(client) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		m.mu.Lock()
		m.closed = true
		for c := range m.open {
			_ = c.Close()
		}
		m.mu.Unlock()
		running.Wait()
	})
	return m
}

// Reset deletes the recorded trips.
func (m *Meter) Reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.trips = nil
}

// Trips returns the trips that ended since the last Reset, in the order of their ends.
func (m *Meter) Trips() []Trip {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.trips)
}

// Sequential counts these trips; overlapping ones count as one.
func Sequential(trips []Trip) (n int) {
	byEnd := slices.SortedFunc(slices.Values(trips), func(a, b Trip) int { return a.End.Compare(b.End) })
	var last time.Time
	for _, t := range byEnd {
		if !t.Begin.Before(last) {
			n, last = n+1, t.End
		}
	}
	return n
}

var statementName = regexp.MustCompile(`^-- name: (\w+) `)

// StatementName returns the name that sqlc gave a statement, else its text.
func StatementName(sql string) string {
	if name := statementName.FindStringSubmatch(sql); name != nil {
		return name[1]
	}
	return sql
}

func (m *Meter) track(c net.Conn) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		_ = c.Close()
		return false
	}
	m.open[c] = true
	return true
}

func (m *Meter) carry(client net.Conn) {
	server, err := net.Dial("tcp", m.server)
	if err != nil {
		_ = client.Close()
		return
	}
	if !m.track(client) || !m.track(server) {
		_, _ = client.Close(), server.Close()
		return
	}
	line := &meteredLine{meter: m, parsed: map[string]string{}}
	var both sync.WaitGroup
	both.Go(func() { line.requests(client, server) })
	both.Go(func() { line.replies(server, client) })
	both.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.open, client)
	delete(m.open, server)
}

// meteredLine is one connection.
type meteredLine struct {
	meter  *Meter
	parsed map[string]string // the statement of each name; only requests uses it
	mu     sync.Mutex
	due    int // replies that the client waits for
	trip   Trip
}

// requests forwards what the client sends. Its first message has no type.
func (l *meteredLine) requests(client, server net.Conn) {
	defer func() { _, _ = client.Close(), server.Close() }()
	in, out := bufio.NewReader(client), bufio.NewWriter(server)
	first := true
	for {
		var kind byte
		if !first {
			var err error
			if kind, err = in.ReadByte(); err != nil {
				return
			}
			_ = out.WriteByte(kind)
		}
		body, err := message(in, out)
		if err != nil {
			return
		}
		if !first {
			l.sent(kind, body)
		}
		first = false
		if in.Buffered() == 0 && out.Flush() != nil {
			return
		}
	}
}

// message copies the length and the body of one message, and returns the body.
func message(in *bufio.Reader, out *bufio.Writer) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(in, length[:]); err != nil {
		return nil, err
	}
	body := make([]byte, binary.BigEndian.Uint32(length[:])-4)
	if _, err := io.ReadFull(in, body); err != nil {
		return nil, err
	}
	_, _ = out.Write(length[:]) // a bufio.Writer keeps its error
	_, err := out.Write(body)
	return body, err
}

func (l *meteredLine) sent(kind byte, body []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.trip.Begin.IsZero() {
		l.trip.Begin = time.Now()
	}
	switch kind {
	case 'Q': // one text with its own answer
		for sql := range strings.SplitSeq(strings.TrimRight(string(body), "\x00"), ";") {
			if strings.TrimSpace(sql) != "" {
				l.trip.Statements = append(l.trip.Statements, strings.TrimSpace(sql))
			}
		}
		l.due++
	case 'P': // Parse
		name, rest, _ := strings.Cut(string(body), "\x00")
		l.parsed[name], _, _ = strings.Cut(rest, "\x00")
	case 'B': // Bind, of a statement that is executed next
		_, rest, _ := strings.Cut(string(body), "\x00")
		name, _, _ := strings.Cut(rest, "\x00")
		l.trip.Statements = append(l.trip.Statements, l.parsed[name])
	case 'S':
		l.due++
	}
}

// replies forwards what the server sends.
func (l *meteredLine) replies(server, client net.Conn) {
	defer func() { _, _ = client.Close(), server.Close() }()
	in, out := bufio.NewReader(server), bufio.NewWriter(client)
	for {
		kind, err := in.ReadByte()
		if err != nil {
			return
		}
		_ = out.WriteByte(kind)
		if _, err := message(in, out); err != nil {
			return
		}
		if kind == 'Z' {
			<-time.After(l.meter.latency)
			l.answered()
		}
		if in.Buffered() == 0 && out.Flush() != nil {
			return
		}
	}
}

// answered ends the trip when its last reply has arrived.
func (l *meteredLine) answered() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.due = max(l.due-1, 0); l.due > 0 || l.trip.Begin.IsZero() {
		return
	}
	if len(l.trip.Statements) > 0 { // else it prepared statements, once for each connection
		l.trip.End = time.Now()
		l.meter.mu.Lock()
		l.meter.trips = append(l.meter.trips, l.trip)
		l.meter.mu.Unlock()
	}
	l.trip = Trip{}
}
