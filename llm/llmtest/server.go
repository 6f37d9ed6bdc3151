// Package llmtest is a language model for tests and benches: an
// OpenAI-compatible HTTP server that does what a script says. It speaks real
// HTTP, records what it was sent, plays the faults of real providers, and refuses
// what the strictest of them refuse. With no script it answers every call of a
// turn sensibly; a message "call NAME {…}" makes it call that tool.
package llmtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Server is a scripted model endpoint. Safe for concurrent use.
type Server struct {
	URL string // base URL, with the version: http://127.0.0.1:port/v1

	http   *http.Server
	pace   atomic.Pointer[Pace]
	calls  atomic.Int64
	forget bool // record nothing

	mu      sync.Mutex
	rules   []*rule // the newest first
	seen    []Request
	changed chan struct{} // closed and replaced whenever seen or gone grow
	gone    []Request
}

// Cleaner is the part of testing.TB that New needs.
type Cleaner interface{ Cleanup(func()) }

// New starts a server on a free local port; it closes with t. Without a t (nil)
// the caller closes it.
func New(t Cleaner) *Server {
	s, err := Listen("127.0.0.1:0", Pace{})
	if err != nil {
		panic(err)
	}
	s.forget = false
	if t != nil {
		t.Cleanup(s.Close)
	}
	return s
}

// Pace is how fast the default script answers. Zero is at once.
type Pace struct {
	Structured time.Duration // before a structured answer
	FirstToken time.Duration
	PerToken   time.Duration
	Tokens     int // of a streamed answer; 0: as long as the answer happens to be
	// Stamped makes each token say when it was sent, as Stamp writes it.
	Stamped bool
}

// Listen starts a server on addr that records nothing, so that it can serve for
// days.
func Listen(addr string, pace Pace) (*Server, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	s := &Server{URL: "http://" + l.Addr().String() + "/v1", forget: true, changed: make(chan struct{})}
	s.SetPace(pace)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.chat)
	mux.HandleFunc("POST /v1/embeddings", s.embeddings)
	mux.HandleFunc("POST /v1/images/generations", s.images)
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go s.http.Serve(l)
	return s, nil
}

// SetPace changes the pace of the calls that begin from now on.
func (s *Server) SetPace(p Pace) { s.pace.Store(&p) }

// Pace is that of the calls that begin now.
func (s *Server) Pace() Pace { return *s.pace.Load() }

// Calls is how many calls have come so far, also when the
// server records nothing.
func (s *Server) Calls() int64 { return s.calls.Load() }

// Close ends the server and every open call.
func (s *Server) Close() { s.http.Close() }

// Kind sorts calls.
type Kind string

const (
	Structured Kind = "structured"
	Stream     Kind = "stream"
	Embeddings Kind = "embeddings"
	Images     Kind = "images"
)

// Request is one recorded call.
type Request struct {
	Kind           Kind
	Path           string
	Schema         string // name of the schema or forced tool of a structured call
	Mode           string // how it was asked for: json_schema, tool or prompt
	Model          string
	System         string   // all system messages
	LastUser       string   // the last user message, or the prompt of a picture
	LastResult     string   // what a tool returned, when that is what the messages end with
	Tools          []string // names of the tools that may be called
	Authorization  string
	IdempotencyKey string
	Body           json.RawMessage
}

// record notes a call and wakes who waits for it.
func (s *Server) record(r Request) {
	s.calls.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.forget {
		return
	}
	s.seen = append(s.seen, r)
	s.wake()
}

func (s *Server) left(r Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.forget {
		return
	}
	s.gone = append(s.gone, r)
	s.wake()
}

func (s *Server) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Requests returns the calls so far, in order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.seen...)
}

// Count is how many calls so far m matches; Count(Match{}) counts all.
func (s *Server) Count(m Match) int {
	n := 0
	for _, r := range s.Requests() {
		if m.matches(r) {
			n++
		}
	}
	return n
}

// Gone returns the calls whose client closed the connection before the answer
// was complete.
func (s *Server) Gone() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.gone...)
}

// WaitCount waits until at least n calls that m matches have come.
func (s *Server) WaitCount(ctx context.Context, m Match, n int) error {
	return s.wait(ctx, fmt.Sprintf("%d calls", n), func() bool { return s.Count(m) >= n })
}

// WaitGone waits until at least n clients have closed their connection early.
func (s *Server) WaitGone(ctx context.Context, n int) error {
	return s.wait(ctx, fmt.Sprintf("%d closed connections", n), func() bool { return len(s.Gone()) >= n })
}

func (s *Server) wait(ctx context.Context, what string, done func() bool) error {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if done() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("llmtest: waiting for %s: %w", what, ctx.Err())
		}
	}
}

const maxBody = 64 << 20

func readBody(w http.ResponseWriter, r *http.Request, into any) (json.RawMessage, bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err == nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		fail(w, http.StatusBadRequest, "invalid request body")
		return nil, false
	}
	return body, true
}

func fail(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message, "type": "scripted"}})
}
