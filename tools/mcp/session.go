package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
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
	dial     func(ctx context.Context, owner string) (sdk.Transport, *wire)
	personal bool
	changed  func() // called when the server's tools may have changed or it disconnected
	ctx      context.Context
	stop     context.CancelFunc
	version  string

	connecting singleflight.Group
	mu         sync.Mutex
	open       map[string]*session // by owner
	closed     bool
	closing    sync.WaitGroup // sessions being closed, except those that end after closed is set
}

var errClosed = errors.New("closed")

// session is one session. All fields except the first two are guarded by sessions.mu.
type session struct {
	*sdk.ClientSession
	wire    *wire // nil for a child process
	owner   string
	users   int
	dropped bool        // it gets no new users; the last user closes it
	idle    *time.Timer // closes it
}

func newSessions(version string, personal bool, changed func(), dial func(context.Context, string) (sdk.Transport, *wire)) *sessions {
	ctx, stop := context.WithCancel(context.Background())
	return &sessions{dial: dial, personal: personal, changed: changed, ctx: ctx, stop: stop, version: version, open: map[string]*session{}}
}

// acquire returns the session for an owner and connects if needed. Call release when done. An error
// means that no request was sent.
func (l *sessions) acquire(ctx context.Context, owner string) (*session, error) {
	if !l.personal {
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

// connect opens a session. Several callers may wait for it, so no caller's context ends it.
func (l *sessions) connect(owner string) error {
	ctx, cancel := context.WithTimeout(l.ctx, connectTimeout)
	defer cancel()
	options := &sdk.ClientOptions{
		// Servers get no client features: no files, no model, no questions to people.
		Capabilities:   &sdk.ClientCapabilities{},
		MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
	}
	if owner == "" {
		options.ToolListChangedHandler = func(context.Context, *sdk.ToolListChangedRequest) { l.changed() }
	}
	transport, w := l.dial(l.ctx, owner)
	opened, err := sdk.NewClient(&sdk.Implementation{Name: "palaver", Version: l.version}, options).Connect(ctx, transport, nil)
	if err != nil {
		return err
	}
	s := &session{ClientSession: opened, wire: w, owner: owner}
	l.mu.Lock()
	closed := l.closed
	if !closed {
		l.open[owner] = s
	}
	l.mu.Unlock()
	if closed {
		_ = s.Close()
		return errClosed
	}
	go func() {
		_ = opened.Wait() // the reason shows when the session is opened again
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

// list lists all tools on the shared session, which is dropped after an error.
func (l *sessions) list(ctx context.Context) (all []*sdk.Tool, err error) {
	s, err := l.acquire(ctx, "")
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
		if cursor = page.NextCursor; cursor == "" || len(all) >= maxListed {
			break
		}
	}
	return all, nil
}

// call runs a tool. If the server does not know the session any more, it has not run the tool, and the
// call is retried once on a new session.
func (l *sessions) call(ctx context.Context, c tools.Call, tool string) (*sdk.CallToolResult, error) {
	for again := false; ; again = true {
		s, err := l.acquire(ctx, c.Owner)
		if err != nil {
			return nil, err
		}
		result, err := s.CallTool(ctx, &sdk.CallToolParams{Meta: sdk.Meta{callKey: c.ID}, Name: tool, Arguments: arguments(c)})
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
