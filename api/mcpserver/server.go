// Package mcpserver offers Palaver's tools to MCP clients.
package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/follow"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// name and Version identify Palaver to MCP clients. The version is that of the offered
// tools.
const (
	name    = "palaver"
	Version = "1.0.0"
)

// Server serves the offered tools.
type Server struct {
	Backend  Backend
	Describe func(error) *problem.Problem
	Log      *slog.Logger
	Stop     <-chan struct{} // closed when the process shuts down
	Ping     time.Duration   // interval of the filler that keeps connections open
	// AllowedNames means that clients may address the server by names other than localhost.
	AllowedNames bool
	// Expiry fires when a caller's token expires.
	Expiry func(identity.Caller) (expired <-chan time.Time, stop func())

	http http.Handler // MCP's streamable HTTP
}

// Backend is what the tools need of the API.
type Backend interface {
	// EnterSpace returns a context in which the caller works in a space that they read; empty:
	// that of ctx, or none.
	EnterSpace(ctx context.Context, who identity.Caller, space string) (context.Context, error)
	// Documents returns a page of the owner's documents, and its JSON.
	Documents(ctx context.Context, owner, cursor string, limit int) (page db.Page[chat.Document], shown any, _ error)
	// Search returns the passages that fit a query best, and their JSON.
	Search(ctx context.Context, who identity.Caller, query string, docIDs []string, limit int) (found []chat.Hit, shown any, _ error)
	// Import begins an import and reports its steps until it has ended or ctx ends. Its
	// error describes a link that cannot be imported.
	Import(ctx context.Context, who identity.Caller, link string, report func(chat.Import)) (i chat.Import, shown any, _ error)
	// Imports lists the caller's imports, and their JSON.
	Imports(ctx context.Context, owner string) (list []chat.Import, shown any, _ error)
	// CheckVisible refuses ids of documents that the caller cannot see.
	CheckVisible(ctx context.Context, who identity.Caller, field string, ids []string) error
	// InScope returns a context that sees what a message to a thread sees that names spaces. It
	// refuses those that the caller does not read.
	InScope(ctx context.Context, who identity.Caller, thread string, spaces []string) (context.Context, error)
	// Ask submits a turn and follows it; close the viewer.
	Ask(ctx context.Context, who identity.Caller, in dialect.Submit) (chat.Turn, *follow.Viewer, error)
	// Question returns the question that a thread of the owner's waits on, nil for none.
	Question(ctx context.Context, owner, threadID string) (*chat.Question, error)
	// Answer answers a thread's question and follows its turn; close the viewer.
	Answer(ctx context.Context, who identity.Caller, r chat.Resume) (chat.Turn, *follow.Viewer, error)
}

// New prepares a server. It keeps no sessions, so that any API process can answer any
// request.
func New(s Server) *Server {
	server := sdk.NewServer(&sdk.Implementation{Name: name, Title: "Palaver", Version: Version}, &sdk.ServerOptions{
		Instructions: instructions,
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
	})
	for _, o := range offers {
		server.AddTool(o.tool, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			in := ctx.Value(requestKey{}).(*call)
			result, err := s.runOffer(in, o, req.Params.Arguments, progress(ctx, req))
			if err != nil { // the calling model gets the error, so that it can correct its call
				p := s.describe(err)
				data := map[string]any{"error": p.Code}
				p.Message.Put(data)
				p.AddRetryAfter(data)
				result = toolResult(p.Message.Text+problemsOf(p), data)
				result.IsError = true
			}
			return result, nil
		})
	}
	s.http = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
		Stateless: true,
		// The API has made a stricter check. The SDK's own would refuse the names of
		// ALLOWED_HOSTS when a proxy on this host passes them on.
		DisableLocalhostProtection: s.AllowedNames,
		MaxRequestBodyBytes:        dialect.MaxBody,
	})
	return &s
}

// problemsOf lists the fields of a problem as text.
func problemsOf(p *problem.Problem) string {
	text := ""
	for _, d := range p.Details {
		text += " " + d.Field + ": " + d.Problem + "."
	}
	return text
}

// progress returns a function that sends progress notifications, if the client
// requested them.
func progress(ctx context.Context, req *sdk.CallToolRequest) func(string) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func(string) {}
	}
	n := 0.0
	return func(message string) {
		n++
		_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Message: message, Progress: n})
	}
}

// requestKey is the context key of the *call.
type requestKey struct{}

// call is the request of a tool call.
type call struct {
	ctx           context.Context // ends at the request's deadline
	clientContext context.Context // ends when the client disconnects
	who           identity.Caller
	id            string
	keepAlive     func() // sends filler that keeps the connection open
}

func callOf(c *gin.Context, l *response) *call {
	return &call{ctx: c.Request.Context(), clientContext: request.ClientContext(c), who: identity.Of(c), id: request.ID(c), keepAlive: l.keepAlive}
}

// runOffer runs an offered tool and converts a panic to an error.
func (s *Server) runOffer(in *call, o offer, arguments json.RawMessage, report func(string)) (result *sdk.CallToolResult, err error) {
	defer func() {
		if v := recover(); v != nil {
			s.Log.Error("panic in an MCP tool", "request_id", in.id, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			err = errors.New("panic")
		}
		if err != nil && in.clientContext.Err() == nil {
			p := s.Describe(err)
			p.SetRetryAfter(in.who.Header)
			if p.Status >= http.StatusInternalServerError {
				s.Log.Error("MCP tool failed", "request_id", in.id, "tool", o.tool.Name, "code", p.Code, "error", err)
			}
			err = described{p}
		}
	}()
	if len(bytes.TrimSpace(arguments)) == 0 || string(arguments) == "null" {
		arguments = json.RawMessage("{}")
	}
	return o.run(s, in, arguments, report)
}

// Stream answers a request of MCP's streamable HTTP.
func (s *Server) Stream(c *gin.Context) error {
	if c.Request.Method == http.MethodPost {
		raw, err := request.Body(c, dialect.MaxBody)
		if err != nil {
			return err
		}
		if err := checkMessage(raw); err != nil { // the SDK's error messages reveal internals
			return err
		}
		c.Request.Body = io.NopCloser(bytes.NewReader(raw))
		if c.GetHeader("Accept") == "" { // no Accept header means any type
			c.Request.Header.Set("Accept", "*/*")
		}
	}
	out := newResponse(c.Writer, ": ping\n\n")
	defer out.close()
	in := callOf(c, out)
	s.http.ServeHTTP(out, c.Request.WithContext(context.WithValue(in.clientContext, requestKey{}, in)))
	return nil
}

// response is the response to an MCP request. A tool writes filler to keep the
// connection open, while another goroutine may write the result.
type response struct {
	http.ResponseWriter
	rc     *http.ResponseController
	filler []byte

	mu     sync.Mutex
	closed bool // the handler has returned, so nothing may be written
}

func newResponse(w http.ResponseWriter, filler string) *response {
	return &response{ResponseWriter: w, rc: http.NewResponseController(w), filler: []byte(filler)}
}

var errResponseComplete = errors.New("the response is complete")

func (l *response) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, errResponseComplete
	}
	return l.ResponseWriter.Write(p)
}

func (l *response) WriteHeader(status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.ResponseWriter.WriteHeader(status)
	}
}

// FlushError implements flushing for http.ResponseController.
func (l *response) FlushError() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return errResponseComplete
	}
	return l.rc.Flush()
}

func (l *response) keepAlive() {
	if _, err := l.Write(l.filler); err == nil {
		_ = l.FlushError()
	}
}

func (l *response) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}

// toolResult returns a result with text for models and structured data for programs.
func toolResult(text string, structured any) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: strings.TrimSpace(text)}}, StructuredContent: structured}
}

// described is an error that Describe has converted already.
type described struct{ *problem.Problem }

// describe calls Describe only once for an error, because Describe counts refusals.
func (s *Server) describe(err error) *problem.Problem {
	var known described
	if errors.As(err, &known) {
		return known.Problem
	}
	return s.Describe(err)
}
