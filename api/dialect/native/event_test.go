package native

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
)

// Rule N2.
func TestEncode(t *testing.T) {
	at, end := 3, 7
	for _, c := range []struct {
		name string
		e    chat.Event
		want string
	}{
		{"status", chat.Event{Type: chat.EventStatus, Node: chat.NodeInquire, Message: "Researching your question..."},
			`{"type":"status","node":"inquire","message":"Researching your question...","event_id":"id"}`},
		{"status with what was found", chat.Event{Type: chat.EventStatus, Node: chat.NodeDocs, Message: "m", WebQuery: "q",
			DocsFound: []chat.DocRef{{ID: "d", Title: "T"}}},
			`{"type":"status","node":"doc_resolver","message":"m","docs_found":[{"id":"d","title":"T"}],"web_query":"q","event_id":"id"}`},
		{"status of a tool call", chat.Event{Type: chat.EventStatus, Node: chat.NodeImport, Message: "m", ToolCallID: "c", Report: "progress:c:1"},
			`{"type":"status","node":"import","message":"m","tool_call_id":"c","event_id":"id"}`},
		{"status of a turn that has used a model", chat.Event{Type: chat.EventStatus, Node: chat.NodeModel, Message: "m", Took: 1200,
			Usage: &chat.Usage{TokensIn: 2, TokensOut: 3, CostUSD: 0.5, Calls: 2}},
			`{"type":"status","node":"model","message":"m","so_far":{"took_ms":1200,"calls":2,"tokens_used":5,"cost_usd":0.5},"event_id":"id"}`},
		{"token", chat.Event{Type: chat.EventToken, Text: "a\nb"}, `{"type":"token","content":"a\nb","event_id":"id"}`},
		{"notice", chat.Event{Type: chat.EventNotice, Code: "restarted", Message: "m"},
			`{"type":"notice","code":"restarted","message":"m","event_id":"id"}`},
		{"tool call", chat.Event{Type: chat.EventToolCall, ToolCallID: "c", ToolName: "n", Arguments: `{"a":1}`},
			`{"type":"tool_call","id":"c","name":"n","arguments":{"a":1},"event_id":"id"}`},
		{"tool call with broken arguments", chat.Event{Type: chat.EventToolCall, ToolCallID: "c", ToolName: "n", Arguments: `{"a`},
			`{"type":"tool_call","id":"c","name":"n","arguments":{},"event_id":"id"}`},
		{"tool result", chat.Event{Type: chat.EventToolResult, ToolCallID: "c", ToolName: "n", Text: "r", IsError: true},
			`{"type":"tool_result","tool_call_id":"c","name":"n","content":"r","is_error":true,"event_id":"id"}`},
		{"interrupt", chat.Event{Type: chat.EventInterrupt, ThreadID: "th", TurnID: "t", Interrupt: &chat.Interrupt{ID: "t.q1",
			Type: chat.ActionChoice, Message: "m", Options: []chat.Option{{ID: "audit", Label: "Audit"}}}},
			`{"type":"interrupt","interrupt_id":"t.q1","interrupt_type":"action_choice","message":"m","options":[{"id":"audit","label":"Audit"}],"thread_id":"th","turn_id":"t","checkpoint_id":"t.q1","event_id":"id"}`},
		{"response", chat.Event{Type: chat.EventResponse, ThreadID: "th", TurnID: "t", Response: &chat.Response{Text: "A [1]", Action: chat.Inquire,
			InferenceConfidence: chat.High, RetrievalConfidence: chat.Low, Usage: chat.Usage{TokensIn: 2, TokensOut: 3, CostUSD: 0.5},
			Citations: []chat.Citation{{N: 1, Source: "document", DocID: "d", Title: "T", ChunkID: "d.0", Quote: "q", Start: &at, End: &end}}}},
			`{"type":"response","response":"A [1]","citations":[{"n":1,"source":"document","doc_id":"d","title":"T","chunk_id":"d.0","quote":"q","start":3,"end":7}],"action":"inquire","inference_confidence":"high","retrieval_confidence":"low","tokens_used":5,"cost_usd":0.5,"finish_reason":"stop","thread_id":"th","turn_id":"t","checkpoint_id":"t","event_id":"id"}`},
		{"response without citations", chat.Event{Type: chat.EventResponse, ThreadID: "th", TurnID: "t", Response: &chat.Response{}},
			`{"type":"response","response":"","citations":[],"action":"","inference_confidence":"","retrieval_confidence":"","tokens_used":0,"cost_usd":0,"finish_reason":"stop","thread_id":"th","turn_id":"t","checkpoint_id":"t","event_id":"id"}`},
		{"response with unverified words", chat.Event{Type: chat.EventResponse, ThreadID: "th", TurnID: "t", Response: &chat.Response{Text: "A b", Unverified: []string{"b"}}},
			`{"type":"response","response":"A b","citations":[],"unverified":["b"],"action":"","inference_confidence":"","retrieval_confidence":"","tokens_used":0,"cost_usd":0,"finish_reason":"stop","thread_id":"th","turn_id":"t","checkpoint_id":"t","event_id":"id"}`},
		{"cancelled", chat.Event{Type: chat.EventCancelled, TurnID: "t", Reason: chat.Superseded},
			`{"type":"cancelled","reason":"superseded","partial":"","turn_id":"t","event_id":"id"}`},
		{"cancelled with citations", chat.Event{Type: chat.EventCancelled, TurnID: "t", Reason: chat.UserCancelled, Partial: "A [1]",
			Citations: []chat.Citation{{N: 1, Source: "web", Title: "T", URL: "u", Quote: "q"}}},
			`{"type":"cancelled","reason":"user_cancelled","partial":"A [1]","citations":[{"n":1,"source":"web","title":"T","url":"u","quote":"q"}],"turn_id":"t","event_id":"id"}`},
		{"failed with citations", chat.Event{Type: chat.EventFailed, TurnID: "t", Code: "internal", Message: "m", Partial: "p [1]",
			Citations: []chat.Citation{{N: 1, Source: "web", Title: "T", URL: "u", Quote: "q"}}},
			`{"type":"error","message":"m","code":"internal","retryable":false,"partial":"p [1]","citations":[{"n":1,"source":"web","title":"T","url":"u","quote":"q"}],"turn_id":"t","event_id":"id"}`},
		{"response without a known cost", chat.Event{Type: chat.EventResponse, ThreadID: "th", TurnID: "t", Response: &chat.Response{Usage: chat.Usage{TokensIn: 1, Unpriced: true, Searches: 2}}},
			`{"type":"response","response":"","citations":[],"action":"","inference_confidence":"","retrieval_confidence":"","tokens_used":1,"cost_usd":null,"web_searches":2,"finish_reason":"stop","thread_id":"th","turn_id":"t","checkpoint_id":"t","event_id":"id"}`},
		{"failed", chat.Event{Type: chat.EventFailed, TurnID: "t", Code: "internal", Message: "m", Retryable: true, Partial: "p"},
			`{"type":"error","message":"m","code":"internal","retryable":true,"partial":"p","turn_id":"t","event_id":"id"}`},
		{"the beginning", chat.Event{Type: chat.EventTurnStarted}, ``},
		{"a finished piece", chat.Event{Type: chat.EventText, Text: "x"}, ``},
		{"an answer", chat.Event{Type: chat.EventResumed}, ``},
		{"an interrupt without its question", chat.Event{Type: chat.EventInterrupt}, ``},
	} {
		assert.EqualValues(t, c.want, string(Encode(c.e, "id")), c.name)
	}
}

// For any text of a model or a document, an event is one line of valid JSON.
func FuzzEncodeIsOneLineOfJSON(f *testing.F) {
	f.Add("text", "a\r\nb\u2028c")
	f.Add("\xff\x00", `{"a":1}`)
	f.Fuzz(func(t *testing.T, text, arguments string) {
		for _, e := range []chat.Event{
			{Type: chat.EventToken, Text: text},
			{Type: chat.EventStatus, Message: text, WebQuery: text, DocsFound: []chat.DocRef{{Title: text}}},
			{Type: chat.EventToolCall, ToolName: text, Arguments: arguments},
			{Type: chat.EventInterrupt, Interrupt: &chat.Interrupt{Message: text, Options: []chat.Option{{Label: text}}}},
			{Type: chat.EventResponse, Response: &chat.Response{Text: text, Citations: []chat.Citation{{Quote: text}}}},
			{Type: chat.EventFailed, Message: text, Partial: text},
		} {
			got := Encode(e, "t.1")
			require.True(t, json.Valid(got) && !strings.ContainsAny(string(got), "\r\n"), "%s: %q", e.Type, got)
		}
	})
}
