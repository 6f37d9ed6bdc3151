// Package llmtest is a language model for tests and benchmarks: an
// OpenAI-compatible HTTP server with scripted answers. It records requests,
// simulates provider faults, and rejects what the strictest providers reject.
// Without a script it gives every call of a turn a valid answer; a message
// "call NAME {…}" makes it call that tool.
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

	http     *http.Server
	pace     atomic.Pointer[Pace]
	windowed atomic.Pointer[Window]
	calls    atomic.Int64
	noRecord bool // record nothing

	mu           sync.Mutex
	rules        []*rule // newest first
	seen         []Request
	changed      chan struct{} // closed and replaced whenever seen or disconnected grow
	disconnected []Request
}

// Cleaner is the part of testing.TB that New needs.
type Cleaner interface{ Cleanup(func()) }

// New starts a server on a free local port; t's cleanup closes it. With a nil t
// the caller closes it.
func New(t Cleaner) *Server {
	s, err := Listen("127.0.0.1:0", Pace{})
	if err != nil {
		panic(err)
	}
	s.noRecord = false
	if t != nil {
		t.Cleanup(s.Close)
	}
	return s
}

// Pace is the speed of the default script. Zero answers at once.
type Pace struct {
	Structured time.Duration // before a structured answer
	FirstToken time.Duration
	PerToken   time.Duration
	Tokens     int // of a streamed answer; 0: the answer's natural length
	// Stamped replaces each token with its time of sending, see Stamp.
	Stamped bool
}

// Listen starts a server on addr. It records nothing, so that its memory does not
// grow.
func Listen(addr string, pace Pace) (*Server, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	s := &Server{URL: "http://" + l.Addr().String() + "/v1", noRecord: true, changed: make(chan struct{})}
	s.SetPace(pace)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.chat)
	mux.HandleFunc("POST /v1/embeddings", s.embeddings)
	mux.HandleFunc("POST /v1/images/generations", s.images)
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go s.http.Serve(l)
	return s, nil
}

// SetPace changes the pace of new calls.
func (s *Server) SetPace(p Pace) { s.pace.Store(&p) }

// Pace returns the pace of new calls.
func (s *Server) Pace() Pace { return *s.pace.Load() }

// Calls returns the number of calls so far, even when the server records nothing.
func (s *Server) Calls() int64 { return s.calls.Load() }

// Close ends the server and every open call.
func (s *Server) Close() { s.http.Close() }

// Kind is the kind of a call.
type Kind string

const (
	Structured Kind = "structured"
	Stream     Kind = "stream"
	Embeddings Kind = "embeddings"
	Images     Kind = "images"
)

// Request is one recorded call.
type Request struct {
	Truncated      bool // the window cut the oldest messages off, as Ollama does
	Kind           Kind
	Path           string
	Schema         string // name of the schema or forced tool of a structured call
	Mode           string // json_schema, tool or prompt
	Model          string
	System         string   // all system messages
	LastUser       string   // the last user message, or the prompt of a picture
	LastResult     string   // the tool result that ends the messages, if one does
	Tools          []string // names of the tools that may be called
	Authorization  string
	IdempotencyKey string
	Body           json.RawMessage
}

// record stores a call and wakes the waiters.
func (s *Server) record(r Request) {
	s.calls.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.noRecord {
		return
	}
	s.seen = append(s.seen, r)
	s.wake()
}

func (s *Server) recordDisconnect(r Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.noRecord {
		return
	}
	s.disconnected = append(s.disconnected, r)
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

// Count returns the number of calls that m matches; Count(Match{}) counts all.
func (s *Server) Count(m Match) int {
	n := 0
	for _, r := range s.Requests() {
		if m.matches(r) {
			n++
		}
	}
	return n
}

// Disconnected returns the calls whose client closed the connection before the
// answer was complete.
func (s *Server) Disconnected() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.disconnected...)
}

// WaitCount waits until m matches at least n calls.
func (s *Server) WaitCount(ctx context.Context, m Match, n int) error {
	return s.wait(ctx, fmt.Sprintf("%d calls", n), func() bool { return s.Count(m) >= n })
}

// WaitDisconnected waits until at least n clients have closed their connection early.
func (s *Server) WaitDisconnected(ctx context.Context, n int) error {
	return s.wait(ctx, fmt.Sprintf("%d closed connections", n), func() bool { return len(s.Disconnected()) >= n })
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
