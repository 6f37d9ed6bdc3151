package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
	Tokens  Tokens // of people who have connected accounts at servers; nil: there are none
	// Pictures stores pictures in results; nil: results only mention them.
	Pictures tools.Pictures
	Reported func(Report) // gets each server's state at the start and after each try to list its tools; nil: nobody
	Version  string       // of this program, sent to servers
	Log      *slog.Logger

	pace pace
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
	first    time.Duration // for the first way to open a session by HTTP
}

var defaultPace = pace{refresh: 5 * time.Minute, min: time.Second, max: time.Minute, first: 5 * time.Second}

// Open connects in the background and reconnects when needed; an unavailable server blocks nothing.
// Close it when done.
func Open(o Options) *Servers {
	o.pace = defaultPace
	return open(o, nil)
}

// open calls notified, unless it is nil, after each refresh of a server.
func open(o Options, notified func(server string, err error)) *Servers {
	ctx, stop := context.WithCancel(context.Background())
	all := &Servers{base: o.Guard.EncryptedTransport(), stop: stop}
	for _, cfg := range o.Servers {
		s := &server{cfg: cfg, pace: o.pace, notified: notified, pictures: o.Pictures, reported: o.Reported, log: o.Log.With("part", "mcp", "server", cfg.Name),
			refreshNow: make(chan struct{}, 1), err: errNotYet}
		s.link = s.dial(all.base, o)
		all.all = append(all.all, s)
		all.done.Go(func() { s.run(ctx) })
	}
	return all
}

// Tools returns the last known tools of every server, for a server that wants OAuth those of the
// owner's own account. The tools of an unavailable server stay in the
// list, and their calls report that it is unavailable: a call that a person has approved must not
// become an unknown tool.
func (a *Servers) Tools(ctx context.Context, owner string) []tools.Tool {
	var out []tools.Tool
	for _, s := range a.all {
		out = append(out, s.toolsOf(ctx, owner)...)
	}
	return out
}

// Report is the state of a server.
type Report struct {
	Server string
	State  State
	Tools  int
	Names  []string // of the tools, as agents know them
	Notes  []Note
	Err    string // why it is down
}

// State is what is known of a server.
type State string

const (
	StateOK       State = "ok"
	StateDown     State = "down"
	StateStarting State = "starting" // until its first answer or failure
	StateSignIn   State = "sign_in"  // it wants the access token of a person who has connected an account
)

// Report returns the state of every server, in the order of the configuration.
func (a *Servers) Report() []Report {
	out := make([]Report, len(a.all))
	for i, s := range a.all {
		out[i] = s.report()
	}
	return out
}

func (s *server) report() Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := Report{Server: s.cfg.Name, State: StateDown, Tools: len(s.tools), Notes: s.notes}
	for _, t := range s.tools {
		out.Names = append(out.Names, t.Name)
	}
	switch s.err {
	case nil:
		out.State = StateOK
	case errNotYet:
		out.State = StateStarting
	case errSignIn:
		out.State = StateSignIn
	default:
		out.Err = s.brief(s.err)
	}
	return out
}

// Settle returns the state of every server when each has answered or failed, or after wait.
func (a *Servers) Settle(wait time.Duration) []Report {
	for end := time.Now().Add(wait); ; time.Sleep(50 * time.Millisecond) {
		all := a.Report()
		if !slices.ContainsFunc(all, func(r Report) bool { return r.State == StateStarting }) || time.Now().After(end) {
			return all
		}
	}
}

// Print writes the state of servers for operators.
func Print(out io.Writer, all []Report) error {
	var b strings.Builder
	for _, r := range all {
		fmt.Fprintf(&b, "%s\t%s\t%d tools\n", r.Server, r.State, r.Tools)
		if r.Err != "" {
			fmt.Fprintf(&b, "\t%s\n", r.Err)
		}
		for _, name := range r.Names {
			fmt.Fprintf(&b, "\t%s\n", name)
		}
		for _, n := range r.Notes {
			fmt.Fprintf(&b, "\t%s\n", n)
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// String says what is not used.
func (n Note) String() string {
	switch {
	case n.Tool == "" && !n.LeftOut:
		return "note: " + n.Problem
	case n.LeftOut:
		return fmt.Sprintf("left out: tool %q: %s", n.Tool, n.Problem)
	}
	return fmt.Sprintf("note: tool %q: %s", n.Tool, n.Problem)
}

// States returns the state of every server under "mcp:<name>".
func (a *Servers) States() map[string]string {
	out := map[string]string{}
	for _, r := range a.Report() {
		out["mcp:"+r.Server] = string(r.State)
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
	list(ctx context.Context, owner string) ([]*sdk.Tool, error)
	call(ctx context.Context, c tools.Call, tool string, alive func()) (*sdk.CallToolResult, error)
	close()
}

var (
	errNotYet = errors.New("not connected yet")
	errSignIn = errors.New("the server wants OAuth: each person connects an account in the page")
)

// server is one server.
type server struct {
	cfg        Server
	link       link
	pace       pace
	log        *slog.Logger
	pictures   tools.Pictures
	notified   func(string, error)
	reported   func(Report) // nil: nobody wants the state
	personal   bool         // requests carry a token of ours for their owner
	tokens     Tokens       // nil: people cannot connect accounts at this server
	signIn     atomic.Bool  // the server wants their access tokens
	own        ownTools
	refreshNow chan struct{} // signals that the tools should be listed soon

	mu    sync.Mutex
	tools []tools.Tool
	notes []Note // about the tools
	err   error
}

// Note says what of a server's tools is not used.
type Note struct {
	Tool    string // as the server names it; empty: the server itself
	Problem string
	LeftOut bool // the tool is not offered at all
}

func (s *server) dial(base http.RoundTripper, o Options) link {
	if s.cfg.mayWantOAuth() {
		s.tokens = o.Tokens
	}
	s.signIn.Store(s.tokens != nil && s.cfg.OAuth.Wanted)
	c := credentials{server: s.cfg.Name, headers: s.cfg.Headers, signer: signer{o.Secret}, tokens: s.tokens, oauth: s.cfg.OAuth.Wanted}
	s.personal = c.personal() && s.cfg.Transport != Stdio
	switch s.cfg.Transport {
	case RPC:
		if !c.personal() && s.cfg.Headers["Authorization"] == "" && !s.cfg.OAuth.Wanted {
			s.log.Warn("requests carry no token: neither MCP_JWT_SECRET nor an Authorization header is set")
		}
		return &rpc{url: s.cfg.URL, base: base, credentials: c}
	case Stdio:
		return newSessions(o.Version, func() bool { return false }, s.refreshSoon, stdioWays, func(ctx context.Context, _ string, _ way) (sdk.Transport, *wire) {
			return stdioTransport(ctx, s.cfg, s.log), nil
		})
	}
	return newSessions(o.Version, func() bool { return c.personal() || s.signIn.Load() }, s.refreshSoon, httpWays(s.pace.first), func(_ context.Context, owner string, w way) (sdk.Transport, *wire) {
		return httpTransport(s.cfg, base, c, owner, w.sse)
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
	if s.reported != nil {
		s.reported(s.report())
	}
	for wait := s.pace.min; ctx.Err() == nil; {
		err := s.refresh(ctx)
		if ctx.Err() != nil {
			return
		}
		if s.wantsSignIn(err) {
			err = errSignIn
		}
		s.note(err)
		if err != nil && err != errSignIn {
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
	case err == errSignIn:
		if before != errSignIn {
			s.log.Info("MCP server wants OAuth; people connect their accounts in the page, or set the header Authorization or oauth in MCP_SERVERS")
		}
	case err != nil && (before == nil || before == errNotYet):
		s.log.Warn("MCP server is unavailable; retrying", "error", s.brief(err))
	case err == nil && before != nil:
		s.log.Info("MCP server connected", "tools", n)
	}
	if s.reported != nil {
		s.reported(s.report())
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
	found, err := s.link.list(ctx, "")
	if err != nil {
		return err
	}
	offered, notes := s.offer(found)
	s.mu.Lock()
	before, said := s.tools, s.notes
	s.tools, s.notes = offered, notes
	s.mu.Unlock()
	s.noteChanges(before, offered)
	for _, n := range notes {
		if !slices.Contains(said, n) {
			s.log.Warn("part of an MCP server's tools is not used", "tool", n.Tool, "left_out", n.LeftOut, "problem", n.Problem)
		}
	}
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
	maxNotes       = 200 // of one server
	maxNoted       = 500 // bytes of a text in a note
)

// offer converts the allowed tools, and says what of them is not used.
func (s *server) offer(found []*sdk.Tool) (out []tools.Tool, notes []Note) {
	seen := map[string]bool{}
	for _, t := range found {
		if t == nil || s.cfg.Allow != nil && !slices.Contains(s.cfg.Allow, t.Name) {
			continue
		}
		note := func(leftOut bool, problem string) {
			if len(notes) < maxNotes {
				notes = append(notes, Note{Tool: clean(t.Name, maxNoted), Problem: clean(problem, maxNoted), LeftOut: leftOut})
			}
		}
		why, _ := t.Meta[leftOutKey].(string)
		switch {
		case t.Name == "":
			why = "it has no name"
		case seen[t.Name]:
			why = "another tool has the same name"
		}
		if why != "" {
			note(true, why)
			continue
		}
		seen[t.Name] = true
		if removed, _ := t.Meta[removedKey].([]any); len(removed) > 0 {
			note(false, fmt.Sprintf("these fields cannot be read: %v", removed))
		}
		schema, removed := inputSchema(t.InputSchema)
		if len(removed) > 0 {
			note(false, "these parts of its input schema are not used: "+strings.Join(removed, ", "))
		}
		out = append(out, s.tool(t, schema))
	}
	slices.SortFunc(out, func(a, b tools.Tool) int { return strings.Compare(a.Name, b.Name) })
	if len(out) > maxTools {
		notes = append(notes, Note{Problem: fmt.Sprintf("it has %d tools, of which %d are offered; choose with allow", len(out), maxTools)})
		out = out[:maxTools]
	}
	return out, notes
}

func (s *server) tool(t *sdk.Tool, schema json.RawMessage) tools.Tool {
	description := t.Description
	description = cmp.Or(description, t.Title)
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
		Timeout:    s.cfg.Timeout + 2*time.Second,
		MaxTimeout: longestTimeout + 2*time.Second,
		Run: func(ctx context.Context, c tools.Call) (tools.Result, error) {
			return s.call(ctx, c, t.Name, readOnly)
		},
	}
}

// call runs a tool. Answers, server errors and timeouts are results for the model. An error means
// that the outcome of the call is unknown.
func (s *server) call(ctx context.Context, c tools.Call, tool string, readOnly bool) (tools.Result, error) {
	limited, cancel := context.WithTimeout(ctx, longestTimeout)
	defer cancel()
	silence := time.AfterFunc(s.cfg.Timeout, cancel)
	defer silence.Stop()
	result, err := s.link.call(limited, c, tool, func() {
		if limited.Err() == nil {
			silence.Reset(s.cfg.Timeout) // the server reports progress
		}
	})
	log := s.log.With("tool", tool, "call", c.ID, "turn", c.TurnID, "thread", c.ThreadID)
	if err == nil {
		r := reader{pictures: s.pictures, call: c, log: log}
		return r.read(ctx, result), nil
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return tools.Result{}, ctx.Err()
	}
	if said := s.needsScope(ctx, c.Owner, err); said != nil {
		log.Info("tool call refused: the person has not permitted enough at the server")
		return *said, nil
	}
	var status *statusError
	answer, answered := serverError(err)
	switch {
	case s.wantsSignIn(err):
		log.Info("tool call refused: the person has not connected an account at the server")
		return s.notConnected(), nil
	case errors.As(err, &status):
		log.Warn("tool call refused", "status", status.code)
		if status.code == http.StatusUnauthorized && s.personal {
			log.Warn("the server may check tokens with another key; palaver mcp-keys prints its own")
		}
		return failure(fmt.Sprintf("The tool's server refused the call (%s). Nothing was done.", status)), nil
	case answered:
		log.Warn("tool call failed", "code", answer.Code, "error", s.brief(answer))
		text := fmt.Sprintf("The tool's server answered with error %d: %s", answer.Code, clean(answer.Message, maxMessage))
		if len(answer.Data) > 0 && string(answer.Data) != "null" {
			text += "\n" + clean(string(answer.Data), maxMessage)
		}
		return failure(text), nil
	case limited.Err() != nil:
		text := fmt.Sprintf("The tool did not answer within %s and the call was cancelled.", s.cfg.Timeout)
		if errors.Is(limited.Err(), context.DeadlineExceeded) {
			text = fmt.Sprintf("The tool did not end within %s and the call was cancelled.", longestTimeout)
		}
		log.Warn("tool call timed out and was cancelled", "timeout", s.cfg.Timeout)
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
