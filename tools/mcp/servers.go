package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/palaver-chat/palaver/internal/guard"
	"github.com/palaver-chat/palaver/tools"
)

// Options configure Servers.
type Options struct {
	Servers []Server // as Parse returns them
	Secret  string   // the keys that sign the owners' tokens are derived from it; empty: no tokens are sent
	Guard   *guard.Guard
	// Pictures stores pictures in results; nil: results only mention them.
	Pictures tools.Pictures
	Version  string // of this program, sent to servers
	Log      *slog.Logger
}

// Servers holds the connections to MCP servers and their tools. Safe for concurrent use.
type Servers struct {
	all  []*server
	base *guard.Encrypted
	stop context.CancelFunc
	done sync.WaitGroup
}

var _ tools.Source = (*Servers)(nil)

// pace says how often servers are asked for their tools.
type pace struct {
	refresh  time.Duration // interval while the server works
	min, max time.Duration // back-off after failures
}

var defaultPace = pace{refresh: 5 * time.Minute, min: time.Second, max: time.Minute}

// Open connects in the background and reconnects when needed; an unavailable server blocks nothing.
// Close it when done.
func Open(o Options) *Servers { return open(o, defaultPace, nil) }

// open calls notified, unless it is nil, after each refresh of a server.
func open(o Options, p pace, notified func(server string, err error)) *Servers {
	ctx, stop := context.WithCancel(context.Background())
	all := &Servers{base: o.Guard.EncryptedTransport(), stop: stop}
	for _, cfg := range o.Servers {
		s := &server{cfg: cfg, pace: p, notified: notified, pictures: o.Pictures, log: o.Log.With("part", "mcp", "server", cfg.Name),
			refreshNow: make(chan struct{}, 1), err: errNotYet}
		s.link = s.dial(all.base, o)
		all.all = append(all.all, s)
		all.done.Go(func() { s.run(ctx) })
	}
	return all
}

// Tools returns the last known tools of every server. The tools of an unavailable server stay in the
// list, and their calls report that it is unavailable: a call that a person has approved must not
// become an unknown tool.
func (a *Servers) Tools(context.Context, string) []tools.Tool {
	var out []tools.Tool
	for _, s := range a.all {
		s.mu.Lock()
		out = append(out, s.tools...)
		s.mu.Unlock()
	}
	return out
}

// States returns the state of every server under "mcp:<name>": "ok", "down", or "starting" until its
// first answer or failure.
func (a *Servers) States() map[string]string {
	out := map[string]string{}
	for _, s := range a.all {
		state := "down"
		s.mu.Lock()
		switch s.err {
		case nil:
			state = "ok"
		case errNotYet:
			state = "starting"
		}
		s.mu.Unlock()
		out["mcp:"+s.cfg.Name] = state
	}
	return out
}

// Close ends sessions and child processes. It takes a few seconds at most.
func (a *Servers) Close() {
	a.stop()
	a.done.Wait()
	a.base.CloseIdleConnections()
}

// link is the connection to a server.
type link interface {
	list(ctx context.Context) ([]*sdk.Tool, error)
	call(ctx context.Context, c tools.Call, tool string) (*sdk.CallToolResult, error)
	close()
}

var errNotYet = errors.New("not connected yet")

// server is one server.
type server struct {
	cfg        Server
	link       link
	pace       pace
	log        *slog.Logger
	pictures   tools.Pictures
	notified   func(string, error)
	personal   bool          // requests carry a token of their owner
	refreshNow chan struct{} // signals that the tools should be listed soon

	mu    sync.Mutex
	tools []tools.Tool
	err   error
}

func (s *server) dial(base http.RoundTripper, o Options) link {
	c := credentials{server: s.cfg.Name, headers: s.cfg.Headers, signer: signer{o.Secret}}
	s.personal = c.personal() && s.cfg.Transport != Stdio
	switch s.cfg.Transport {
	case RPC:
		if !c.personal() && s.cfg.Headers["Authorization"] == "" {
			s.log.Warn("requests carry no token: neither MCP_JWT_SECRET nor an Authorization header is set")
		}
		return &rpc{url: s.cfg.URL, client: newClient(base), credentials: c}
	case Stdio:
		return newSessions(o.Version, false, s.refreshSoon, func(ctx context.Context, _ string) (sdk.Transport, *wire) {
			return stdioTransport(ctx, s.cfg, s.log), nil
		})
	}
	return newSessions(o.Version, c.personal(), s.refreshSoon, func(_ context.Context, owner string) (sdk.Transport, *wire) {
		return httpTransport(s.cfg, base, c, owner)
	})
}

// refreshSoon makes run list the tools soon.
func (s *server) refreshSoon() {
	select {
	case s.refreshNow <- struct{}{}:
	default:
	}
}

// run keeps the list of tools up to date until ctx ends. It never lists them more often than the pace
// allows, even if the server reports changes all the time.
func (s *server) run(ctx context.Context) {
	defer s.link.close()
	for wait := s.pace.min; ctx.Err() == nil; {
		err := s.refresh(ctx)
		if ctx.Err() != nil {
			return
		}
		s.note(err)
		if err != nil {
			pause(ctx, wait/2+rand.N(wait/2+1), nil)
			wait = min(2*wait, s.pace.max)
			continue
		}
		wait = s.pace.min
		pause(ctx, s.pace.min, nil)
		pause(ctx, s.pace.refresh, s.refreshNow)
	}
}

// pause returns after d, on a message from soon, or when ctx ends.
func pause(ctx context.Context, d time.Duration, soon <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-soon:
	case <-timer.C:
	}
}

// note records a server's state and logs changes.
func (s *server) note(err error) {
	s.mu.Lock()
	before, n := s.err, len(s.tools)
	s.err = err
	s.mu.Unlock()
	switch {
	case err != nil && (before == nil || before == errNotYet):
		s.log.Warn("MCP server is unavailable; retrying", "error", s.brief(err))
	case err == nil && before != nil:
		s.log.Info("MCP server connected", "tools", n)
	}
	if s.notified != nil {
		s.notified(s.cfg.Name, err)
	}
}

const listTimeout = 20 * time.Second

// refresh lists the server's tools.
func (s *server) refresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	found, err := s.link.list(ctx)
	if err != nil {
		return err
	}
	offered := s.offer(found)
	s.mu.Lock()
	before := s.tools
	s.tools = offered
	s.mu.Unlock()
	s.noteChanges(before, offered)
	return nil
}

// noteChanges logs tools whose definition has changed. Their calls need approval again.
func (s *server) noteChanges(before, after []tools.Tool) {
	for _, t := range after {
		i := slices.IndexFunc(before, func(b tools.Tool) bool { return b.Name == t.Name })
		if i >= 0 && before[i].Pin != t.Pin {
			s.log.Warn("MCP tool definition changed; remembered approvals no longer apply", "tool", t.Name, "before", before[i].Pin, "after", t.Pin)
		}
	}
}

// Limits of a server's tools.
const (
	maxDescription = 4000 // bytes
	maxSchema      = 32 << 10
	maxTools       = 100 // of one server; models accept few more in total
)

// offer converts the allowed tools with a valid schema.
func (s *server) offer(found []*sdk.Tool) []tools.Tool {
	var out []tools.Tool
	seen := map[string]bool{}
	for _, t := range found {
		if t == nil || seen[t.Name] || s.cfg.Allow != nil && !slices.Contains(s.cfg.Allow, t.Name) {
			continue
		}
		seen[t.Name] = true
		schema, err := inputSchema(t)
		if err != nil {
			s.log.Warn("MCP tool ignored: invalid schema", "tool", clean(t.Name, 128), "error", err)
			continue
		}
		out = append(out, s.tool(t, schema))
	}
	slices.SortFunc(out, func(a, b tools.Tool) int { return strings.Compare(a.Name, b.Name) })
	if len(out) > maxTools {
		s.log.Warn("MCP server has more tools than the limit; choose tools with allow", "tools", len(out), "offered", maxTools)
		out = out[:maxTools]
	}
	return out
}

func (s *server) tool(t *sdk.Tool, schema json.RawMessage) tools.Tool {
	description := t.Description
	if description == "" {
		description = t.Title
	}
	readOnly := t.Annotations != nil && t.Annotations.ReadOnlyHint
	destructive := !readOnly && t.Annotations != nil && t.Annotations.DestructiveHint != nil && *t.Annotations.DestructiveHint
	openWorld := t.Annotations != nil && t.Annotations.OpenWorldHint != nil && *t.Annotations.OpenWorldHint
	return tools.Tool{
		Name:        toolName(s.cfg.Name, t.Name),
		Description: clean(description, maxDescription),
		Schema:      schema,
		Pin:         tools.Fingerprint(t.Name, clean(description, maxDescription), schema),
		// A server's own hints never replace an approval. A read-only hint only permits
		// retries.
		Approval:    s.cfg.Approve,
		SideEffects: !readOnly,
		Destructive: destructive,
		Server:      s.cfg.Name,
		Web:         openWorld, // MCP's openWorldHint, for example of a web search
		// s.call's own timeout must expire first: its message says more.
		Timeout: s.cfg.Timeout + 2*time.Second,
		Run: func(ctx context.Context, c tools.Call) (tools.Result, error) {
			return s.call(ctx, c, t.Name, readOnly)
		},
	}
}

// inputSchema returns a tool's schema with the properties that models require.
func inputSchema(t *sdk.Tool) (json.RawMessage, error) {
	schema, isObject := t.InputSchema.(map[string]any)
	if !isObject || schema["type"] != "object" {
		return nil, errors.New("its input schema is not that of an object")
	}
	if schema["properties"] == nil {
		schema["properties"] = map[string]any{}
	}
	raw, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	if len(raw) > maxSchema {
		return nil, errors.New("its input schema is too large")
	}
	return raw, tools.CheckSchema(raw)
}

// call runs a tool. Answers, server errors and timeouts are results for the model. An error means
// that the outcome of the call is unknown.
func (s *server) call(ctx context.Context, c tools.Call, tool string, readOnly bool) (tools.Result, error) {
	limited, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	result, err := s.link.call(limited, c, tool)
	log := s.log.With("tool", tool, "call", c.ID, "turn", c.TurnID, "thread", c.ThreadID)
	if err == nil {
		r := reader{pictures: s.pictures, call: c, log: log}
		return r.read(ctx, result), nil
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return tools.Result{}, ctx.Err()
	}
	var status *statusError
	answer, answered := serverError(err)
	switch {
	case errors.As(err, &status):
		log.Warn("tool call refused", "status", status.code)
		if status.code == http.StatusUnauthorized && s.personal {
			log.Warn("the server may check tokens with another key; palaver mcp-keys prints its own")
		}
		return failure(fmt.Sprintf("The tool's server refused the call (%s). Nothing was done.", status)), nil
	case answered:
		log.Warn("tool call failed", "code", answer.Code, "error", s.brief(answer))
		return failure(fmt.Sprintf("The tool's server answered with error %d: %s", answer.Code, clean(answer.Message, maxMessage))), nil
	case limited.Err() != nil:
		log.Warn("tool call timed out and was cancelled", "timeout", s.cfg.Timeout)
		text := fmt.Sprintf("The tool did not answer within %s and the call was cancelled.", s.cfg.Timeout)
		if !readOnly && !isNotSent(err) {
			text += " Whether it took effect is not known: do not simply call it again."
		}
		return failure(text), nil
	case isNotSent(err):
		s.refreshSoon()
		log.Warn("tool call was not sent: server unavailable", "error", s.brief(err))
		return failure("The tool's server cannot be reached right now. Nothing was done."), nil
	}
	s.refreshSoon()
	return tools.Result{}, fmt.Errorf("mcp server %s: tool %s: %s", s.cfg.Name, tool, s.brief(err))
}

// serverError returns the JSON-RPC error of a server. The SDK's own errors have the same type and are
// told apart by their message.
func serverError(err error) (*jsonrpc.Error, bool) {
	var answer *jsonrpc.Error
	if !errors.As(err, &answer) {
		return nil, false
	}
	switch answer.Message {
	case "rejected by transport", "client is closing", "server is closing":
		return nil, false
	}
	return answer, true
}

const maxMessage = 2000 // bytes of a server's error

// brief returns an error for the log: of limited length, because it may quote a server, and without
// the query of the server's URL, which may hold a key.
func (s *server) brief(err error) string {
	text := err.Error()
	if u, failed := url.Parse(s.cfg.URL); failed == nil && u.RawQuery != "" {
		text = strings.ReplaceAll(text, u.RawQuery, "…")
	}
	return clean(text, maxMessage)
}
