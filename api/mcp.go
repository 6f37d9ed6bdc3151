package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/palaver-chat/palaver/api/dialect"
)

// mcpName and mcpVersion are how Palaver introduces itself to MCP clients. The
// version is that of what it offers there.
const (
	mcpName    = "palaver"
	mcpVersion = "1.0.0"
)

// newMCP serves what is offered as MCP's streamable HTTP. It keeps no sessions,
// so that any API process can answer any request.
func (s *server) newMCP() http.Handler {
	server := sdk.NewServer(&sdk.Implementation{Name: mcpName, Title: "Palaver", Version: mcpVersion}, &sdk.ServerOptions{
		Instructions: mcpInstructions,
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
	})
	for _, o := range offers {
		server.AddTool(o.tool, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			in := ctx.Value(mcpKey{}).(*mcpRequest)
			result, err := s.runOffer(in, o, req.Params.Arguments, progress(ctx, req))
			if err != nil { // the model that called is told, so that it can do better
				p := describe(err)
				told := map[string]any{"error": p.code}
				p.tellWait(told)
				result = says(p.message+problemsOf(p), told)
				result.IsError = true
			}
			return result, nil
		})
	}
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
		Stateless: true,
		// The identity middleware has looked at where the request comes from, and a
		// proxy on this host may pass on its own Host.
		DisableLocalhostProtection: true,
		MaxRequestBodyBytes:        dialect.MaxBody,
	})
}

// problemsOf names the fields of a problem.
func problemsOf(p *problem) string {
	text := ""
	for _, d := range p.details {
		text += " " + d.Field + ": " + d.Problem + "."
	}
	return text
}

// progress sends what a turn is doing to a client that asked to be told.
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

// mcpKey finds the mcpRequest in the context of a tool.
type mcpKey struct{}

// mcpRequest is what a tool has to know of the request that it was called by.
type mcpRequest struct {
	ctx   context.Context // ends when the request has to be answered
	life  context.Context // ends when the client disconnects
	who   caller
	id    string
	alive func() // keeps the line open while nothing else is sent
}

func mcpRequestOf(c *gin.Context, l *line) *mcpRequest {
	return &mcpRequest{ctx: c.Request.Context(), life: life(c), who: callerOf(c), id: requestID(c), alive: l.alive}
}

// runOffer runs a tool that we offer. One that panics has failed.
func (s *server) runOffer(in *mcpRequest, o offer, arguments json.RawMessage, tell func(string)) (result *sdk.CallToolResult, err error) {
	defer func() {
		if v := recover(); v != nil {
			s.Log.Error("panic in an offered tool", "request_id", in.id, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			err = errors.New("panic")
		}
		if err != nil && in.life.Err() == nil {
			p := describe(err)
			in.who.rate.retryAfter(p.wait)
			if p.status >= http.StatusInternalServerError {
				s.Log.Error("offered tool failed", "request_id", in.id, "tool", o.tool.Name, "code", p.code, "error", err)
			}
		}
	}()
	if len(bytes.TrimSpace(arguments)) == 0 || string(arguments) == "null" {
		arguments = json.RawMessage("{}")
	}
	return o.run(s, in, arguments, tell)
}

// mcp answers a request of MCP's streamable HTTP.
func (s *server) mcp(c *gin.Context) error {
	if c.Request.Method == http.MethodPost {
		raw, err := body(c, dialect.MaxBody)
		if err != nil {
			return err
		}
		if err := checkMessage(raw); err != nil { // the SDK's own words tell of its insides
			return err
		}
		c.Request.Body = io.NopCloser(bytes.NewReader(raw))
		if c.GetHeader("Accept") == "" { // which means anything
			c.Request.Header.Set("Accept", "*/*")
		}
	}
	line := newLine(c.Writer, ": ping\n\n")
	defer line.close()
	in := mcpRequestOf(c, line)
	s.offered.ServeHTTP(line, c.Request.WithContext(context.WithValue(in.life, mcpKey{}, in)))
	return nil
}

// line is the response to an MCP request. A tool keeps it open by writing
// something that means nothing, while another goroutine may write its result.
type line struct {
	http.ResponseWriter
	rc     *http.ResponseController
	filler []byte

	mu     sync.Mutex
	closed bool // the response belongs to somebody else now
}

func newLine(w http.ResponseWriter, filler string) *line {
	return &line{ResponseWriter: w, rc: http.NewResponseController(w), filler: []byte(filler)}
}

var errLineClosed = errors.New("the response is complete")

func (l *line) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, errLineClosed
	}
	_ = l.rc.SetWriteDeadline(time.Now().Add(writePatience))
	return l.ResponseWriter.Write(p)
}

func (l *line) WriteHeader(status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.ResponseWriter.WriteHeader(status)
	}
}

// FlushError is what http.ResponseController flushes by.
func (l *line) FlushError() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return errLineClosed
	}
	return l.rc.Flush()
}

func (l *line) alive() {
	if _, err := l.Write(l.filler); err == nil {
		_ = l.FlushError()
	}
}

func (l *line) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	_ = l.rc.SetWriteDeadline(time.Time{}) // the connection may serve another request
}

// says is a result for programs and, in the same words or better, for models.
func says(text string, structured any) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: strings.TrimSpace(text)}}, StructuredContent: structured}
}
