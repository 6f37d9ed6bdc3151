package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sync/singleflight"

	"github.com/palaver-chat/palaver/tools"
)

const (
	connectTimeout = 15 * time.Second
	idleTimeout    = 5 * time.Minute // of a session that serves one owner
	maxPages       = 50
	maxListed      = 2000

	// callKey is the metadata key of a call's id, which is the same for every retry.
	callKey = "palaver/call-id"
)

// sessions are the SDK's sessions with one server: one for all owners, or one for each owner if requests
// identify the owner, because servers bind a session to its first user. The shared session, which lists
// the tools, has no owner.
type sessions struct {
	dial     func(ctx context.Context, owner string, w way) (sdk.Transport, *wire)
	ways     []way
	personal func() bool // each owner has a session of their own
	changed  func()      // called when the server's tools may have changed or it disconnected
	ctx      context.Context
	stop     context.CancelFunc
	version  string

	progress   sync.Map     // of running calls, by id: a func() that keeps the call alive
	way        atomic.Int32 // index of the way that connected last
	connecting singleflight.Group
	mu         sync.Mutex
	open       map[string]*session // by owner
	closed     bool
	closing    sync.WaitGroup // sessions being closed, except those that end after closed is set
}

var errClosed = errors.New("closed")

// olderProtocol is the newest version of the protocol that begins with "initialize". Servers of older
// versions may end, or never answer, when another request comes first.
const olderProtocol = "2025-11-25"

// way is one way to open a session.
type way struct {
	version string        // of the protocol; empty: the SDK's newest
	sse     bool          // HTTP with one event stream for all answers, as before 2025-03-26
	limit   time.Duration // of an attempt
}

// A child process may take long to start, and must not be ended for a question that it does not know.
var stdioWays = []way{{version: olderProtocol, limit: connectTimeout}, {limit: connectTimeout}}

// httpWays gives the first question less time, so that the others come within the time for listing.
func httpWays(first time.Duration) []way {
	return []way{{limit: first}, {version: olderProtocol, limit: connectTimeout}, {version: olderProtocol, sse: true, limit: connectTimeout}}
}

// session is one session. All fields except the first two are guarded by sessions.mu.
type session struct {
	*sdk.ClientSession
	wire    *wire // nil for a child process
	owner   string
	cancel  func() // ends its transport
	users   int
	dropped bool        // it gets no new users; the last user closes it
	idle    *time.Timer // closes it
}

func newSessions(version string, personal func() bool, changed func(), ways []way, dial func(context.Context, string, way) (sdk.Transport, *wire)) *sessions {
	ctx, stop := context.WithCancel(context.Background())
	return &sessions{dial: dial, ways: ways, personal: personal, changed: changed, ctx: ctx, stop: stop, version: version, open: map[string]*session{}}
}

// acquire returns the session for an owner and connects if needed. Call release when done. An error
// means that no request was sent.
func (l *sessions) acquire(ctx context.Context, owner string) (*session, error) {
	if !l.personal() {
		owner = ""
	}
	for {
		if s := l.take(owner); s != nil {
			return s, nil
		}
		select {
		case r := <-l.connecting.DoChan(owner, func() (any, error) { return nil, l.connect(owner) }):
			if r.Err != nil {
				return nil, &notConnected{r.Err}
			}
		case <-ctx.Done():
			return nil, &notConnected{ctx.Err()}
		}
		if ctx.Err() != nil { // a server that always disconnects at once must not cause an endless loop
			return nil, &notConnected{ctx.Err()}
		}
	}
}

func (l *sessions) take(owner string) *session {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.open[owner]
	if s != nil {
		s.users++
		if s.idle != nil {
			s.idle.Stop()
		}
	}
	return s
}

// connect opens a session, in the way that worked last or in another one. Several callers may wait
// for it, so no caller's context ends it.
func (l *sessions) connect(owner string) error {
	var first error
	last := int(l.way.Load())
	for i := range l.ways {
		n := (last + i) % len(l.ways)
		w := l.ways[n]
		status, err := l.try(owner, w)
		if err == nil {
			l.way.Store(int32(n))
			return nil
		}
		if first == nil {
			first = err
		}
		if l.ctx.Err() != nil || final(err) {
			return err
		}
		if n+1 < len(l.ways) && l.ways[n+1].sse && status != http.StatusNotFound && status != http.StatusMethodNotAllowed && status != http.StatusBadRequest {
			break // the server knows the newer transport
		}
	}
	return first
}

// final reports whether no other way can succeed after err.
func final(err error) bool {
	return isNotSent(err) || errors.As(err, new(*statusError)) || errors.As(err, new(*exec.Error)) || errors.Is(err, errTooLarge)
}

// try opens a session in one way. status is that of the last request by HTTP.
func (l *sessions) try(owner string, by way) (status int, err error) {
	ctx, cancel := context.WithCancel(l.ctx)
	timer := time.AfterFunc(by.limit, cancel)
	options := &sdk.ClientOptions{
		// Servers get no client features: no files, no model, no questions to people.
		Capabilities:   &sdk.ClientCapabilities{},
		MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			token, _ := r.Params.ProgressToken.(string)
			if alive, ok := l.progress.Load(token); ok {
				alive.(func())()
			}
		},
	}
	if owner == "" {
		options.ToolListChangedHandler = func(context.Context, *sdk.ToolListChangedRequest) { l.changed() }
	}
	transport, w := l.dial(ctx, owner, by)
	opened, err := sdk.NewClient(&sdk.Implementation{Name: "palaver", Version: l.version}, options).Connect(ctx, transport, &sdk.ClientSessionOptions{ProtocolVersion: by.version})
	if w != nil {
		status = int(w.status.Load())
	}
	inTime := timer.Stop()
	if err == nil && !inTime {
		_ = opened.Close()
		err = context.DeadlineExceeded
	}
	if err != nil {
		cancel()
		if !inTime && l.ctx.Err() == nil {
			err = fmt.Errorf("no answer within %s: %w", by.limit, err)
		}
		return status, err
	}
	return status, l.add(opened, w, owner, cancel)
}

// add takes a session into use.
func (l *sessions) add(opened *sdk.ClientSession, w *wire, owner string, cancel func()) error {
	s := &session{ClientSession: opened, wire: w, owner: owner, cancel: cancel}
	l.mu.Lock()
	closed := l.closed
	if !closed {
		l.open[owner] = s
	}
	l.mu.Unlock()
	if closed {
		_ = s.Close()
		cancel()
		return errClosed
	}
	go func() {
		_ = opened.Wait() // the reason shows when the session is opened again
		cancel()
		l.drop(s)
		if owner == "" && l.ctx.Err() == nil {
			l.changed()
		}
	}()
	return nil
}

// release ends one use of a session.
func (l *sessions) release(s *session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.users--
	switch {
	case s.users > 0:
	case s.dropped:
		l.end(s)
	case s.owner != "":
		s.idle = time.AfterFunc(idleTimeout, func() { l.drop(s) })
	}
}

// drop takes a session out of use; current users may finish.
func (l *sessions) drop(s *session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.dropped {
		return
	}
	s.dropped = true
	if l.open[s.owner] == s {
		delete(l.open, s.owner)
	}
	if s.users == 0 {
		l.end(s)
	}
}

// list lists all tools on the session of an owner, or on the shared one. It is dropped after an error.
func (l *sessions) list(ctx context.Context, owner string) (all []*sdk.Tool, err error) {
	s, err := l.acquire(ctx, owner)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			l.drop(s)
		}
		l.release(s)
	}()
	return pages(func(cursor string) (*sdk.ListToolsResult, error) {
		return s.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
	})
}

// pages reads a paged list up to maxListed tools.
func pages(next func(cursor string) (*sdk.ListToolsResult, error)) ([]*sdk.Tool, error) {
	var all []*sdk.Tool
	cursor := ""
	for range maxPages {
		page, err := next(cursor)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Tools...)
		if page.NextCursor == "" || page.NextCursor == cursor || len(all) >= maxListed {
			break
		}
		cursor = page.NextCursor
	}
	return all, nil
}

// call runs a tool. If the server does not know the session any more, it has not run the tool, and the
// call is retried once on a new session.
func (l *sessions) call(ctx context.Context, c tools.Call, tool string, alive func()) (*sdk.CallToolResult, error) {
	l.progress.Store(c.ID, alive)
	defer l.progress.Delete(c.ID)
	for again := false; ; again = true {
		s, err := l.acquire(ctx, c.Owner)
		if err != nil {
			return nil, err
		}
		params := &sdk.CallToolParams{Meta: sdk.Meta{callKey: c.ID}, Name: tool, Arguments: arguments(c)}
		params.SetProgressToken(c.ID)
		result, err := s.CallTool(ctx, params)
		sessionLost := err != nil && (errors.Is(err, sdk.ErrSessionMissing) || s.wire != nil && s.wire.sessionLost.Load())
		if sessionLost {
			l.drop(s)
		}
		l.release(s)
		if sessionLost && !again {
			continue
		}
		return result, err
	}
}

// arguments returns a call's arguments, or an empty object if it has none.
func arguments(c tools.Call) json.RawMessage {
	if len(c.Arguments) == 0 {
		return json.RawMessage("{}")
	}
	return c.Arguments
}

const closeTimeout = 5 * time.Second

// close ends every session. After closeTimeout it ends them by force.
func (l *sessions) close() {
	l.mu.Lock()
	for _, s := range l.open {
		s.dropped = true
		l.end(s)
	}
	clear(l.open)
	l.closed = true
	l.mu.Unlock()
	done := make(chan struct{})
	go func() { l.closing.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(closeTimeout):
	}
	l.stop()
}

// end closes a session in the background, because that may be slow. The caller holds mu.
func (l *sessions) end(s *session) {
	if l.closed {
		go s.Close()
		return
	}
	l.closing.Go(func() { _ = s.Close() })
}
