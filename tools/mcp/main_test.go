package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/internal/guard"
	"github.com/palaver-chat/palaver/tools"
)

// childVariable makes the test binary an MCP server on its standard streams.
const childVariable = "PALAVER_TEST_MCP_CHILD"

func TestMain(m *testing.M) {
	if mode := os.Getenv(childVariable); mode != "" {
		child(mode)
		return
	}
	os.Exit(m.Run())
}

// child runs an MCP server on the standard streams. With mode "dies" it exits when its tool
// is called; with mode "ignores-shutdown" it does not end when its input is closed.
func child(mode string) {
	if name, is := strings.CutPrefix(mode, "quirk:"); is {
		quirkyChild(name)
		return
	}
	if mode == "conformance" {
		runConformanceClient()
		return
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "child"}, nil)
	s.AddTool(object("work"), func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if mode == "dies" {
			os.Exit(1)
		}
		return says(fmt.Sprint(os.Getpid())), nil
	})
	_ = s.Run(context.Background(), &sdk.StdioTransport{})
	if mode == "ignores-shutdown" {
		signal.Ignore(syscall.SIGTERM)
		<-time.After(time.Hour)
	}
}

// object returns the declaration of a tool that takes any object.
func object(name string) *sdk.Tool {
	return &sdk.Tool{Name: name, Description: "Test tool " + name, InputSchema: json.RawMessage(`{"type":"object"}`)}
}

func says(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

// testTimeout is reached only by a failing test.
const testTimeout = 2 * time.Minute

// state is the result of one refresh of a server.
type state struct {
	server string
	err    error
}

// rig is Servers under test.
type rig struct {
	*Servers
	t      *testing.T
	states chan state
}

var testPace = pace{refresh: time.Hour, min: 20 * time.Millisecond, max: 200 * time.Millisecond, first: testTimeout}

func setup(t *testing.T, change func(*Options), servers ...Server) *rig {
	t.Helper()
	allowed, err := guard.ParsePrefixes("127.0.0.0/8")
	require.NoError(t, err)
	for i := range servers {
		if servers[i].Approve == "" {
			servers[i].Approve = tools.Ask
		}
		if servers[i].Timeout == 0 {
			servers[i].Timeout = testTimeout
		}
	}
	o := Options{pace: testPace, Servers: servers, Guard: guard.New(allowed), Version: "test", Log: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&o)
	}
	r := &rig{t: t, states: make(chan state, 10_000)}
	r.Servers = open(o, func(server string, err error) { r.states <- state{server, err} })
	t.Cleanup(r.Close)
	return r
}

// until waits for a refresh whose state satisfies ok. what says in the failure what it
// waited for.
func (r *rig) until(what string, ok func(state) bool) state {
	r.t.Helper()
	deadline := time.After(testTimeout)
	for {
		select {
		case s := <-r.states:
			if ok(s) {
				return s
			}
		case <-deadline:
			r.t.Fatalf("timeout waiting for %s: %v", what, r.States())
		}
	}
}

// up waits until a server has listed its tools.
func (r *rig) up(server string) {
	r.t.Helper()
	r.until(server+" up", func(s state) bool { return s.server == server && s.err == nil })
}

func (r *rig) down(server string) error {
	r.t.Helper()
	return r.until(server+" down", func(s state) bool { return s.server == server && s.err != nil }).err
}

func (r *rig) names() (out []string) {
	for _, t := range r.Tools(r.t.Context(), "somebody") {
		out = append(out, t.Name)
	}
	return out
}

func (r *rig) tool(name string) tools.Tool {
	r.t.Helper()
	all := r.Tools(r.t.Context(), "somebody")
	i := slices.IndexFunc(all, func(t tools.Tool) bool { return t.Name == name })
	if i < 0 {
		r.t.Fatalf("%s is not one of %v", name, r.names())
	}
	return all[i]
}

func call(owner, arguments string) tools.Call {
	return tools.Call{Owner: owner, ThreadID: "thread", TurnID: "turn", ID: "call-1", Arguments: json.RawMessage(arguments)}
}

// run calls a tool, which must return a result.
func (r *rig) run(name, arguments string) tools.Result {
	r.t.Helper()
	result, err := r.tool(name).Run(r.t.Context(), call("somebody", arguments))
	require.NoError(r.t, err)
	return result
}

// serve runs an SDK server over HTTP. see gets each request first and may answer it.
func serve(t *testing.T, s *sdk.Server, options *sdk.StreamableHTTPOptions, see func(http.ResponseWriter, *http.Request) (answered bool)) *httptest.Server {
	t.Helper()
	inner := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, options)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if see == nil || !see(w, r) {
			inner.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	return web
}

func newServer() *sdk.Server { return sdk.NewServer(&sdk.Implementation{Name: "test"}, nil) }
