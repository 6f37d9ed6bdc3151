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

// mcpName and mcpVersion identify Palaver to MCP clients. The version is that of the
// offered tools.
const (
	mcpName    = "palaver"
	mcpVersion = "1.0.0"
)

// newMCP serves the offered tools over MCP's streamable HTTP. It keeps no sessions, so
// that any API process can answer any request.
func (s *server) newMCP() http.Handler {
	server := sdk.NewServer(&sdk.Implementation{Name: mcpName, Title: "Palaver", Version: mcpVersion}, &sdk.ServerOptions{
		Instructions: mcpInstructions,
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
	})
	for _, o := range offers {
		server.AddTool(o.tool, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			in := ctx.Value(mcpKey{}).(*mcpRequest)
			result, err := s.runOffer(in, o, req.Params.Arguments, progress(ctx, req))
			if err != nil { // the calling model gets the error, so that it can correct its call
				p := describe(err)
				data := map[string]any{"error": p.code}
				p.addRetryAfter(data)
				result = toolResult(p.message+problemsOf(p), data)
				result.IsError = true
			}
			return result, nil
		})
	}
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
		Stateless: true,
		// checkHost has made the same check, and knows the names of ALLOWED_HOSTS, too.
		DisableLocalhostProtection: true,
		MaxRequestBodyBytes:        dialect.MaxBody,
	})
}

// problemsOf lists the fields of a problem as text.
func problemsOf(p *problem) string {
	text := ""
	for _, d := range p.details {
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

// mcpKey finds the mcpRequest in the context of a tool.
type mcpKey struct{}

// mcpRequest is the request of a tool call.
type mcpRequest struct {
	ctx           context.Context // ends at the request's deadline
	clientContext context.Context // ends when the client disconnects
	who           caller
	id            string
	keepAlive     func() // sends filler that keeps the connection open
}

func mcpRequestOf(c *gin.Context, l *mcpResponse) *mcpRequest {
	return &mcpRequest{ctx: c.Request.Context(), clientContext: clientContext(c), who: callerOf(c), id: requestID(c), keepAlive: l.keepAlive}
}

// runOffer runs an offered tool and converts a panic to an error.
func (s *server) runOffer(in *mcpRequest, o offer, arguments json.RawMessage, report func(string)) (result *sdk.CallToolResult, err error) {
	defer func() {
		if v := recover(); v != nil {
			s.Log.Error("panic in an offered tool", "request_id", in.id, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			err = errors.New("panic")
		}
		if err != nil && in.clientContext.Err() == nil {
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
	return o.run(s, in, arguments, report)
}

// mcp answers a request of MCP's streamable HTTP.
func (s *server) mcp(c *gin.Context) error {
	if c.Request.Method == http.MethodPost {
		raw, err := body(c, dialect.MaxBody)
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
	response := newMCPResponse(c.Writer, ": ping\n\n")
	defer response.close()
	in := mcpRequestOf(c, response)
	s.offered.ServeHTTP(response, c.Request.WithContext(context.WithValue(in.clientContext, mcpKey{}, in)))
	return nil
}

// mcpResponse is the response to an MCP request. A tool writes filler to keep the
// connection open, while another goroutine may write the result.
type mcpResponse struct {
	http.ResponseWriter
	rc     *http.ResponseController
	filler []byte

	mu     sync.Mutex
	closed bool // the handler has returned, so nothing may be written
}

func newMCPResponse(w http.ResponseWriter, filler string) *mcpResponse {
	return &mcpResponse{ResponseWriter: w, rc: http.NewResponseController(w), filler: []byte(filler)}
}

var errResponseComplete = errors.New("the response is complete")

func (l *mcpResponse) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, errResponseComplete
	}
	_ = l.rc.SetWriteDeadline(time.Now().Add(writeTimeout))
	return l.ResponseWriter.Write(p)
}

func (l *mcpResponse) WriteHeader(status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.ResponseWriter.WriteHeader(status)
	}
}

// FlushError implements flushing for http.ResponseController.
func (l *mcpResponse) FlushError() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return errResponseComplete
	}
	return l.rc.Flush()
}

func (l *mcpResponse) keepAlive() {
	if _, err := l.Write(l.filler); err == nil {
		_ = l.FlushError()
	}
}

func (l *mcpResponse) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	_ = l.rc.SetWriteDeadline(time.Time{}) // the connection may serve another request
}

// toolResult returns a result with text for models and structured data for programs.
func toolResult(text string, structured any) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: strings.TrimSpace(text)}}, StructuredContent: structured}
}
