package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/internal/guard"
	"github.com/palaver-chat/palaver/testkit/must"
	"github.com/palaver-chat/palaver/tools"
	"github.com/palaver-chat/palaver/tools/mcp"
)

// bearerOf returns a user's Authorization header.
func bearerOf(t *testing.T, user string) string {
	t.Helper()
	return "Bearer " + token(t, jwt.SigningMethodHS256, []byte(jwtSecret), jwt.MapClaims{"sub": user, "exp": time.Now().Add(time.Hour).Unix()})
}

// as is a transport that sends a user's token.
type as struct{ authorization string }

func (a as) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", a.authorization)
	return http.DefaultTransport.RoundTrip(r)
}

// mcpClient is the SDK's own client, as a user.
func (b *bundle) mcpClient(user string, options *sdk.ClientOptions) *sdk.ClientSession {
	b.t.Helper()
	c := sdk.NewClient(&sdk.Implementation{Name: "test"}, options)
	session, err := c.Connect(b.t.Context(), &sdk.StreamableClientTransport{
		Endpoint: b.url + "/mcp", HTTPClient: &http.Client{Transport: as{bearerOf(b.t, user)}},
	}, nil)
	require.NoError(b.t, err)
	b.t.Cleanup(func() { _ = session.Close() })
	return session
}

// callTool calls a tool and returns its text and structured content.
func callTool(t *testing.T, s *sdk.ClientSession, tool string, arguments map[string]any) (text string, structured map[string]any, isError bool) {
	t.Helper()
	result := must.Have(s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments}))(t)
	require.Len(t, result.Content, 1)
	structured, _ = result.StructuredContent.(map[string]any)
	return result.Content[0].(*sdk.TextContent).Text, structured, result.IsError
}

// rpcCall posts one JSON-RPC request as a user.
func (b *bundle) rpcCall(user, method string, params any) map[string]any {
	b.t.Helper()
	out := b.client().call(200, "POST", "/mcp/rpc", map[string]any{"jsonrpc": "2.0", "id": "an id", "method": method, "params": params},
		"Authorization", bearerOf(b.t, user))
	require.Equal(b.t, "an id", out["id"])
	require.Equal(b.t, "2.0", out["jsonrpc"])
	return out
}

// addDocument stores a document for a user.
func (b *bundle) addDocument(owner, title, text string) string {
	b.t.Helper()
	id := b.client().call(202, "POST", "/api/documents", map[string]any{"title": title, "text": text}, "Authorization", bearerOf(b.t, owner))["id"].(string)
	require.NoError(b.t, b.store.StoreText(b.t.Context(), owner, id, text, []chat.Chunk{{ID: id + ".0", DocID: id, Text: text, End: len(text)}}, nil))
	return id
}

func TestMCPSDKClientAsksAndSearches(t *testing.T) {
	t.Parallel()
	b := setup(t)
	doc := b.addDocument("ann", "Travel policy", "Flights need approval.")
	s := b.mcpClient("ann", nil)
	require.Equal(t, "palaver", s.InitializeResult().ServerInfo.Name)
	list := must.Have(s.ListTools(t.Context(), nil))(t)
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	require.ElementsMatch(t, []string{"ask", "search_documents", "list_documents", "import_document", "list_imports"}, names)

	text, structured, failed := callTool(t, s, "list_documents", nil)
	require.False(t, failed)
	require.Contains(t, text, doc)
	require.Equal(t, doc, structured["items"].([]any)[0].(map[string]any)["id"])

	text, structured, failed = callTool(t, s, "search_documents", map[string]any{"query": "approval", "doc_ids": []string{doc}})
	require.False(t, failed)
	require.Contains(t, text, "Flights need approval.")
	require.Equal(t, doc, structured["hits"].([]any)[0].(map[string]any)["doc_id"])

	text, structured, failed = callTool(t, s, "ask", map[string]any{"message": "What is the answer?", "doc_ids": []string{doc}, "action": "inquire"})
	require.False(t, failed)
	require.Contains(t, text, "The answer is 42.")
	require.Equal(t, "completed", structured["status"])
	thread := structured["thread_id"].(string)
	require.Contains(t, text, thread)
	turn := must.Have(b.store.Turn(t.Context(), "ann", structured["turn_id"].(string)))(t)
	require.Equal(t, chat.Content{Message: "What is the answer?", TaggedDocs: []string{doc}, Action: chat.Inquire, Agent: chat.AgentDocuments}, turn.Content)

	_, structured, _ = callTool(t, s, "ask", map[string]any{"message": "And then?", "thread_id": thread})
	require.Equal(t, thread, structured["thread_id"], "the conversation goes on")
}

func TestMCPAnswerHasItsSources(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.script = func(u *turn) {
		u.settle(chat.TurnCompleted, chat.Event{Type: chat.EventResponse, Response: &chat.Response{Text: "Yes [1].",
			Citations: []chat.Citation{{N: 1, Source: "document", DocID: "d", Title: "Policy", Quote: "It is so."}}}})
	}
	text, structured, _ := callTool(t, b.mcpClient("ann", nil), "ask", map[string]any{"message": "Is it so?"})
	require.Contains(t, text, "Yes [1].\n\nSources:\n[1] Policy: \"It is so.\"")
	require.Equal(t, "It is so.", structured["citations"].([]any)[0].(map[string]any)["quote"])
}

func TestMCPQuestionIsReturnedAndItsAnswerContinuesTheTurn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.script = asking
	s := b.mcpClient("ann", nil)
	text, structured, failed := callTool(t, s, "ask", map[string]any{"message": "Do it"})
	require.False(t, failed)
	require.Equal(t, "interrupted", structured["status"])
	require.Contains(t, text, "Palaver asks: I'm not sure what action you'd like. Please choose:\n- inquire: Inquire\n- audit: Audit")
	thread := structured["thread_id"]

	text, _, failed = callTool(t, s, "ask", map[string]any{"thread_id": thread, "answer": "dance"})
	require.True(t, failed)
	require.Contains(t, text, "does not fit")

	text, structured, failed = callTool(t, s, "ask", map[string]any{"thread_id": thread, "answer": "audit"})
	require.False(t, failed)
	require.Equal(t, "completed", structured["status"])
	require.Contains(t, text, "The answer is 42.")

	text, _, failed = callTool(t, s, "ask", map[string]any{"thread_id": thread, "answer": "audit"})
	require.True(t, failed)
	require.Contains(t, text, "This question is not open")
}

func TestMCPQuestionCanBeCancelled(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.script = asking
	s := b.mcpClient("ann", nil)
	_, structured, _ := callTool(t, s, "ask", map[string]any{"message": "Do it"})
	text, structured, failed := callTool(t, s, "ask", map[string]any{"thread_id": structured["thread_id"], "answer": "cancel"})
	require.True(t, failed)
	require.Equal(t, "cancelled", structured["status"])
	require.Contains(t, text, "user_cancelled")
}

func TestMCPClientCannotApproveTools(t *testing.T) {
	t.Parallel()
	b := setup(t)
	decisions := make(chan chat.ResumeValue, 1)
	b.engine.script = func(u *turn) {
		call := chat.CallRef{ID: chat.CallID(u.ref.TurnID, 1), Name: "files__write_file"}
		u.must(u.e.store.PutText(context.Background(), u.ref.Owner, u.ref.TurnID, chat.CallKey(call.ID), `{}`))
		if v, ok := u.ask(chat.Question{Type: chat.ToolApproval, Prompt: chat.PromptApproveTools, Calls: []chat.CallRef{call}}); ok {
			decisions <- v
			answer(u)
		}
	}
	s := b.mcpClient("ann", nil)
	text, structured, _ := callTool(t, s, "ask", map[string]any{"message": "Write it"})
	require.Contains(t, text, "Only a person can approve them")
	require.Contains(t, text, "files__write_file")
	for _, say := range []string{"approve", "approved", "yes", ""} {
		text, _, failed := callTool(t, s, "ask", map[string]any{"thread_id": structured["thread_id"], "answer": say})
		require.True(t, failed)
		require.Contains(t, text, "only a person can approve")
	}
	_, structured, failed := callTool(t, s, "ask", map[string]any{"thread_id": structured["thread_id"], "answer": "reject"})
	require.False(t, failed)
	require.Equal(t, "completed", structured["status"])
	v := <-decisions
	require.Len(t, v.Decisions, 1)
	require.Equal(t, chat.Rejected, v.Decisions[0].Decision)
}

func TestMCPErrorsAreReadableForTheModel(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.script = func(u *turn) { u.failed(chat.CodeModelUnavailable) }
	s := b.mcpClient("ann", nil)
	text, structured, failed := callTool(t, s, "ask", map[string]any{"message": "x"})
	require.True(t, failed)
	require.Equal(t, "failed", structured["status"])
	require.Equal(t, chat.CodeModelUnavailable, structured["error"])
	require.Contains(t, text, "The model did not answer.")

	for _, c := range []struct {
		tool, arguments, field string
	}{
		{"ask", `{}`, "message:"},
		{"ask", `{"message":" "}`, "message:"},
		{"ask", `{"message":"` + strings.Repeat("x", chat.MaxMessage+1) + `"}`, "message:"},
		{"ask", `{"message":7}`, "message:"},
		{"ask", `{"message":"x","thread_id":"mine"}`, "thread_id:"},
		{"ask", `{"message":"x","action":"dance"}`, "action:"},
		{"ask", `{"message":"x","doc_ids":["d"]}`, "doc_ids:"},
		{"ask", `{"message":"x","doc_ids":["` + someThread + `"]}`, "doc_ids:"},
		{"ask", `{"message":"x","answer":"y","thread_id":"` + someThread + `"}`, "message:"},
		{"ask", `{"answer":"y"}`, "thread_id:"},
		{"search_documents", `{}`, "query:"},
		{"search_documents", `{"query":"x","limit":51}`, "limit:"},
		{"search_documents", `{"query":"x","doc_ids":["` + someThread + `"]}`, "doc_ids:"},
		{"list_documents", `{"limit":0}`, "limit:"},
		{"list_documents", `{"cursor":"nonsense"}`, "cursor:"},
	} {
		result := must.Have(s.CallTool(t.Context(), &sdk.CallToolParams{Name: c.tool, Arguments: json.RawMessage(c.arguments)}))(t)
		require.True(t, result.IsError, c.arguments)
		require.Contains(t, result.Content[0].(*sdk.TextContent).Text, c.field)

		out := b.rpcCall("ann", "tools/call", map[string]any{"name": c.tool, "arguments": json.RawMessage(c.arguments)})
		e := out["error"].(map[string]any)
		require.EqualValues(t, -32602, e["code"], c.arguments)
		require.Contains(t, e["message"], c.field)
		require.Equal(t, chat.CodeValidation, e["data"].(map[string]any)["code"])
	}
}

func TestMCPToolsShowOnlyTheCallersResources(t *testing.T) {
	t.Parallel()
	b := setup(t)
	doc := b.addDocument("ann", "Marzipan", "Marzipan is private.")
	_, structured, _ := callTool(t, b.mcpClient("ann", nil), "ask", map[string]any{"message": "Marzipan"})
	thread := structured["thread_id"].(string)
	bob := b.mcpClient("bob", nil)
	nobodys := "0b0b0b0b-0000-4000-8000-000000000000"
	for _, c := range []struct {
		tool      string
		arguments map[string]any
		unknown   map[string]any
	}{
		{"list_documents", nil, nil},
		{"search_documents", map[string]any{"query": "Marzipan"}, nil},
		{"search_documents", map[string]any{"query": "Marzipan", "doc_ids": []string{doc}}, map[string]any{"query": "Marzipan", "doc_ids": []string{nobodys}}},
		{"ask", map[string]any{"message": "x", "doc_ids": []string{doc}}, map[string]any{"message": "x", "doc_ids": []string{nobodys}}},
		{"ask", map[string]any{"answer": "x", "thread_id": thread}, map[string]any{"answer": "x", "thread_id": nobodys}},
		{"ask", map[string]any{"message": "x", "thread_id": thread}, nil},
	} {
		text, _, _ := callTool(t, bob, c.tool, c.arguments)
		require.NotContains(t, text, "Marzipan")
		require.NotContains(t, text, doc)
		require.NotContains(t, text, thread)
		if c.unknown != nil {
			same, _, _ := callTool(t, bob, c.tool, c.unknown)
			require.Equal(t, same, text, "it reveals that it exists")
		}
	}
}

func TestMCPAskTakesTheEffortOfTheAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.mcpClient("ann", nil)
	_, _, failed := callTool(t, s, "ask", map[string]any{"message": "Once", "effort": "thorough"})
	require.False(t, failed)
	b.engine.mu.Lock()
	asked := b.engine.submits[0]
	b.engine.mu.Unlock()
	turn, err := b.store.Turn(t.Context(), asked.Owner, asked.TurnID)
	require.NoError(t, err)
	require.Equal(t, chat.Thorough, turn.Content.Effort)
	text, _, failed := callTool(t, s, "ask", map[string]any{"message": "Once", "effort": "huge"})
	require.True(t, failed)
	require.Contains(t, text, "effort")
}

func TestMCPRetryJoinsItsTurn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.mcpClient("ann", nil)
	_, first, _ := callTool(t, s, "ask", map[string]any{"message": "Once", "client_turn_id": "c-1"})
	_, second, _ := callTool(t, s, "ask", map[string]any{"message": "Once", "client_turn_id": "c-1"})
	require.Equal(t, first, second)
	require.Equal(t, 1, b.engine.submitCount())
	text, _, failed := callTool(t, s, "ask", map[string]any{"message": "Twice", "client_turn_id": "c-1"})
	require.True(t, failed)
	require.Contains(t, text, "client_turn_id")
}

func TestTurnGoesOnWhenItsMCPClientDisconnects(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"/mcp", "/mcp/rpc"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			goOn := make(chan struct{})
			submitted := make(chan chat.Submit, 1)
			b.engine.submitted = func(s chat.Submit) { submitted <- s }
			b.engine.script = func(u *turn) {
				u.add(chat.Entry{Type: chat.EventStatus, Node: chat.NodeInquire})
				<-goOn
				answer(u)
			}
			ctx, leave := context.WithCancel(t.Context())
			req, err := http.NewRequestWithContext(ctx, "POST", b.url+way,
				strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"message":"x"}}}`))
			require.NoError(t, err)
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Authorization", bearerOf(t, "ann"))
			gone := make(chan error, 1)
			go func() {
				res, err := http.DefaultClient.Do(req)
				if err == nil {
					_, err = io.ReadAll(res.Body)
					_ = res.Body.Close()
				}
				gone <- err
			}()
			turn := <-submitted
			leave()
			require.ErrorIs(t, <-gone, context.Canceled)
			viewer := b.client().stream("GET", "/api/chat/stream/"+turn.ThreadID+"?turn_id="+turn.TurnID, nil, "Authorization", bearerOf(t, "ann"))
			close(goOn)
			viewer.until("response")
		})
	}
}

func TestLongMCPCallIsKeptOpenAndReportsProgress(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.server.mcp.Ping = 5 * time.Millisecond
	goOn := make(chan struct{})
	b.engine.script = func(u *turn) {
		u.add(chat.Entry{Type: chat.EventStatus, Node: chat.NodeInquire})
		<-goOn
		answer(u)
	}
	told := make(chan string, 10)
	s := b.mcpClient("ann", &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
		told <- r.Params.Message
	}})
	params := &sdk.CallToolParams{Name: "ask", Arguments: map[string]any{"message": "x"}}
	params.SetProgressToken("p")
	done := make(chan error, 1)
	go func() {
		_, err := s.CallTool(t.Context(), params)
		done <- err
	}()
	require.Equal(t, messages.StatusInquire.Text, <-told)

	// The filler that keeps the connection open shows only on raw connections.
	for way, filler := range map[string]string{"/mcp": ": ping\n\n", "/mcp/rpc": " "} {
		res := b.client().send("POST", way, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"message":"x"}}}`,
			"Authorization", bearerOf(t, "bob"))
		start := make([]byte, 2*len(filler))
		must.Have(io.ReadFull(res.Body, start))(t)
		require.Equal(t, filler+filler, string(start))
	}
	close(goOn)
	require.NoError(t, <-done)
}

func TestServerShutdownEndsMCPCalls(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	b := setup(t, func(d *Deps) { d.Stop = stop })
	b.engine.script = waiting
	b.engine.submitted = func(chat.Submit) { close(stop) }
	text, _, failed := callTool(t, b.mcpClient("ann", nil), "ask", map[string]any{"message": "x"})
	require.True(t, failed)
	require.Contains(t, text, "try again in a moment")
}

func TestJSONRPCRequestsAndResponses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	doc := b.addDocument("ann", "Travel policy", "Flights need approval.")
	list := b.rpcCall("ann", "tools/list", map[string]any{})["result"].(map[string]any)["tools"].([]any)
	require.Len(t, list, 5)
	for _, tool := range list {
		require.Equal(t, "object", tool.(map[string]any)["inputSchema"].(map[string]any)["type"])
	}
	hello := b.rpcCall("ann", "initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}})["result"].(map[string]any)
	require.Equal(t, "palaver", hello["serverInfo"].(map[string]any)["name"])
	require.Equal(t, map[string]any{}, b.rpcCall("ann", "ping", nil)["result"])
	found := b.rpcCall("ann", "tools/call", map[string]any{"name": "list_documents"})["result"].(map[string]any)
	require.Contains(t, found["content"].([]any)[0].(map[string]any)["text"], doc)
	answered := b.rpcCall("ann", "tools/call", map[string]any{"name": "ask", "arguments": map[string]any{"message": "x"}})["result"].(map[string]any)
	require.Equal(t, "completed", answered["structuredContent"].(map[string]any)["status"])

	for body, want := range map[string]struct {
		id   any
		code int
	}{
		`{`:  {nil, -32700},
		``:   {nil, -32700},
		`[]`: {nil, -32600},
		`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`: {nil, -32600},
		`7`:                        {nil, -32600},
		`{"id":1,"method":"ping"}`: {nil, -32600},
		`{"jsonrpc":"1.0","id":1,"method":"ping"}`:                                                        {nil, -32600},
		`{"jsonrpc":"2.0","id":1}`:                                                                        {nil, -32600},
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`:                                                       {nil, -32600},
		`{"jsonrpc":"2.0","id":7,"method":"tools/drop"}`:                                                  {7.0, -32601},
		`{"jsonrpc":"2.0","id":"a","method":"tools/call"}`:                                                {"a", -32602},
		`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":[1]}`:                                   {"a", -32602},
		`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"drop"}}`:                       {"a", -32602},
		`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"ask","arguments":[]}}`:         {"a", -32602},
		`{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"ask","arguments":"message"}}`: {nil, -32602},
	} {
		out := b.client().call(200, "POST", "/mcp/rpc", body, "Authorization", bearerOf(t, "ann"))
		require.Contains(t, out, "id", body)
		require.Equal(t, want.id, out["id"], body)
		require.EqualValues(t, want.code, out["error"].(map[string]any)["code"], body)
		require.NotContains(t, out, "result")
	}
	b.client().call(202, "POST", "/mcp/rpc", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Authorization", bearerOf(t, "ann"))
	b.client().call(413, "POST", "/mcp/rpc", strings.Repeat(" ", 2<<20), "Authorization", bearerOf(t, "ann"))
	b.client().call(415, "POST", "/mcp/rpc", `{}`, "Authorization", bearerOf(t, "ann"), "Content-Type", "text/plain")
}

func TestMalformedMCPMessageIsRefusedWithOurError(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for body, field := range map[string]string{
		``: "body", `{`: "body", `{"jsonrpc":"2.0","method":"ping"`: "body",
		`5`: "body", `"x"`: "body", `null`: "body", `{}`: "body", `[]`: "body", `[5]`: "body", `[[]]`: "body",
		`{"jsonrpc":"1.0","id":1,"method":"ping"}`:                         "body",
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`:                        "body",
		`{"jsonrpc":"2.0","id":1,"method":5}`:                              "body",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":5}`:        "params",
		`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`:                       "body",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"params"}`: "params",
	} {
		out := b.client().call(400, "POST", "/mcp", body, "Authorization", bearerOf(t, "ann"))["error"].(map[string]any)
		require.Equal(t, chat.CodeValidation, out["code"], body)
		require.Equal(t, field, out["details"].([]any)[0].(map[string]any)["field"], body)
	}
	b.client().call(202, "POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Authorization", bearerOf(t, "ann"))
}

func TestMCPInternalErrorsRevealNoInternals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.set(func() { b.engine.unavailable = errors.New("inner secret") })
	text, structured, failed := callTool(t, b.mcpClient("ann", nil), "ask", map[string]any{"message": "x"})
	require.True(t, failed)
	require.Equal(t, chat.CodeInternal, structured["error"])
	require.NotContains(t, text, "inner secret")
	out := b.rpcCall("ann", "tools/call", map[string]any{"name": "ask", "arguments": map[string]any{"message": "x"}})
	require.EqualValues(t, -32000, out["error"].(map[string]any)["code"])
	raw := must.Have(json.Marshal(out))(t)
	require.NotContains(t, string(raw), "inner secret")
}

func TestPanickingMCPToolIsAnInternalError(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *Deps) { d.Search = panics{} })
	text, _, failed := callTool(t, b.mcpClient("ann", nil), "search_documents", map[string]any{"query": "x"})
	require.True(t, failed)
	require.Contains(t, text, "Something went wrong on our side")
	out := b.rpcCall("ann", "tools/call", map[string]any{"name": "search_documents", "arguments": map[string]any{"query": "x"}})
	require.EqualValues(t, -32603, out["error"].(map[string]any)["code"])
}

type panics struct{}

func (panics) Search(context.Context, string, string, []string, int) ([]chat.Hit, error) {
	panic("within a search")
}

// Palaver's MCP client and server understand each other, both ways.
func TestPalaversMCPClientWorksWithPalaversMCPServer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	doc := b.addDocument("ann", "Travel policy", "Flights need approval.")
	allowed := must.Have(guard.ParsePrefixes("127.0.0.0/8"))(t)
	headers := map[string]string{"Authorization": bearerOf(t, "ann")}
	other := mcp.Open(mcp.Options{Guard: guard.New(allowed), Version: "test", Log: slog.New(slog.DiscardHandler), Servers: []mcp.Server{
		{Name: "http", Transport: mcp.HTTP, URL: b.url + "/mcp", Headers: headers, Approve: tools.Never, Timeout: time.Minute},
		{Name: "rpc", Transport: mcp.RPC, URL: b.url + "/mcp/rpc", Headers: headers, Approve: tools.Never, Timeout: time.Minute},
	}})
	t.Cleanup(other.Close)
	var all []tools.Tool
	require.Eventually(t, func() bool { all = other.Tools(t.Context(), "x"); return len(all) == 10 }, time.Minute, 5*time.Millisecond)
	for _, tool := range all {
		require.NoError(t, tools.CheckSchema(tool.Schema), tool.Name)
	}
	for _, name := range []string{"http__list_documents", "rpc__list_documents"} {
		i := slices.IndexFunc(all, func(t tools.Tool) bool { return t.Name == name })
		require.False(t, all[i].SideEffects)
		result := must.Have(all[i].Run(t.Context(), tools.Call{Owner: "x", ID: "c"}))(t)
		require.Contains(t, result.Content, doc)
	}
}

func TestReadyzNamesAnMCPServerThatIsDownAndStaysReady(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *Deps) {
		d.Optional = func() map[string]string {
			return map[string]string{"mcp:files": "down", "mcp:search": "ok", "mcp:crm": "starting"}
		}
	})
	got := b.client().call(200, "GET", "/readyz", nil)
	require.Equal(t, "ready", got["status"])
	require.Equal(t, []any{"mcp:files"}, got["down"])
	parts := got["parts"].(map[string]any)
	require.Equal(t, "down", parts["mcp:files"])
	require.Equal(t, "ok", parts["mcp:search"])
	require.Equal(t, "starting", parts["mcp:crm"], "not checked yet, so its state is unknown")
}

func FuzzRPC(f *testing.F) {
	for _, s := range []string{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"search_documents","arguments":{"query":"x"}}}`,
		`{"jsonrpc":"2.0","method":"ping"}`, `[]`, `{"jsonrpc":"2.0","id":[],"method":""}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_documents","arguments":{"limit":1e9}}}`} {
		f.Add([]byte(s))
	}
	b := setup(f)
	h, cookie := b.server.routes(), identity.CookieName+"="+b.server.identity.CookieValue("7b1f6f0e-2f0c-4a53-9a39-6b5d3c2c1f11")
	f.Fuzz(func(t *testing.T, raw []byte) {
		if strings.Contains(string(raw), "ask") { // ask would start turns
			return
		}
		r := httptest.NewRequestWithContext(t.Context(), "POST", "http://localhost/mcp/rpc", bytes.NewReader(raw))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Cookie", cookie)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		var out struct{ Result, Error any }
		switch err := json.Unmarshal(w.Body.Bytes(), &out); {
		case w.Code == http.StatusAccepted && w.Body.Len() == 0: // the response to a notification
		case w.Code != http.StatusOK || err != nil:
			t.Fatalf("%s: %d %s: %v", raw, w.Code, w.Body, err)
		case (out.Result == nil) == (out.Error == nil):
			t.Fatalf("%s: the response must have either a result or an error: %s", raw, w.Body)
		}
	})
}
