package agentv2

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/chat"
)

var agents = chat.Agents{{Name: chat.AgentDocuments}, {Name: chat.AgentAssistant}}

func stream(before, events []chat.Event) string {
	w := NewWire(dialect.Stream{Thread: "s", Turn: chat.Turn{ClientTurnID: "c"}, RunID: "r"})
	for _, e := range before {
		w.Before(e)
	}
	b := w.Begin(nil)
	for _, e := range events {
		b = w.Event(b, e, "t.1")
	}
	return string(w.End(b))
}

func TestWire(t *testing.T) {
	const done = `data: {"type":"done","finished_reason":`
	const rest = `,"client_turn_id":"c","stream_run_id":"r","usage":{"tokens_in":0,"tokens_out":0,"cost_usd":0,"calls":0}}`
	for _, c := range []struct {
		name           string
		before, events []chat.Event
		want           []string
	}{
		{"an answer with a tool", nil, []chat.Event{
			{Type: chat.EventTurnStarted}, {Type: chat.EventStatus, Node: chat.NodeModel, Message: "Thinking..."},
			{Type: chat.EventToolCall, ToolCallID: "1", ToolName: "look", Arguments: `{"a":1}`},
			{Type: chat.EventToolResult, ToolCallID: "1", ToolName: "look", Text: "r", IsError: true},
			{Type: chat.EventToken, Text: "Hi", Piece: 1}, {Type: chat.EventText, Text: "Hi", Piece: 1},
			{Type: chat.EventResponse, Response: &chat.Response{Text: "Hi", Usage: chat.Usage{TokensIn: 1, TokensOut: 2, CostUSD: 0.5, Calls: 3}}},
		}, []string{
			`data: {"type":"tool_call","id":"1","name":"look","arguments":{"a":1},"stream_run_id":"r"}`,
			`data: {"type":"tool_result","tool_call_id":"1","name":"look","content":"r","is_error":true,"stream_run_id":"r"}`,
			`data: {"type":"text","content":"Hi","stream_run_id":"r"}`,
			done + `"stop","client_turn_id":"c","stream_run_id":"r","usage":{"tokens_in":1,"tokens_out":2,"cost_usd":0.5,"calls":3}}`,
		}},
		{"without tokens", nil, []chat.Event{
			{Type: chat.EventText, Text: "One", Piece: 1}, {Type: chat.EventCancelled, Reason: chat.Disconnected, Partial: "One\n\nTw"},
		}, []string{
			`data: {"type":"text","content":"One","stream_run_id":"r"}`, `data: {"type":"text","content":"Tw","stream_run_id":"r"}`,
			done + `"cancelled","interrupted_reason":"disconnect"` + rest,
		}},
		{"the rest of a turn", []chat.Event{{Type: chat.EventText, Text: "One", Piece: 1}, {Type: chat.EventInterrupt}}, []chat.Event{
			{Type: chat.EventResumed}, {Type: chat.EventCancelled, Reason: chat.UserCancelled, Partial: "One"},
		}, []string{done + `"cancelled","interrupted_reason":"user_cancelled"` + rest}},
		{"a restart", nil, []chat.Event{
			{Type: chat.EventToken, Text: "Old"}, {Type: chat.EventNotice, Code: chat.NoticeRestarted, Message: "m"},
			{Type: chat.EventFailed, Code: "internal", Message: "m", Retryable: true, Partial: "New"},
		}, []string{
			`data: {"type":"text","content":"Old","stream_run_id":"r"}`, `data: {"type":"notice","code":"restarted","message":"m","stream_run_id":"r"}`,
			`data: {"type":"text","content":"New","stream_run_id":"r"}`,
			done + `"error","error":{"code":"internal","message":"m","retryable":true}` + rest,
		}},
		{"a stop, with citations and no known cost", nil, []chat.Event{
			{Type: chat.EventToken, Text: "A [1]"},
			{Type: chat.EventCancelled, Reason: chat.UserCancelled, Partial: "A [1]", Usage: &chat.Usage{TokensIn: 1, Unpriced: true, Searches: 2},
				Citations: []chat.Citation{{N: 1, Source: "web", Title: "T", URL: "u", Quote: "q"}}, Unverified: []string{"A"}},
		}, []string{
			`data: {"type":"text","content":"A [1]","stream_run_id":"r"}`,
			done + `"cancelled","interrupted_reason":"user_cancelled","client_turn_id":"c","stream_run_id":"r","usage":{"tokens_in":1,"tokens_out":0,"cost_usd":null,"calls":0,"searches":2},` +
				`"citations":[{"n":1,"source":"web","title":"T","url":"u","quote":"q"}],"unverified":["A"]}`,
		}},
		{"a question", nil, []chat.Event{{Type: chat.EventInterrupt, TurnID: "t", Interrupt: &chat.Interrupt{ID: "t.q1", Type: chat.ToolApproval, Message: "m",
			Calls: []chat.ToolCall{{ID: "1", Name: "n", Arguments: json.RawMessage(`{}`), Editable: true}}}}}, []string{
			`data: {"type":"interrupt","interrupt_id":"t.q1","interrupt_type":"tool_approval","message":"m","tool_calls":[{"id":"1","name":"n","arguments":{},"editable":true}],"session_id":"s","turn_id":"t","checkpoint_id":"t.q1","stream_run_id":"r"}`,
			done + `"interrupted"` + rest,
		}},
	} {
		want := strings.Join(append([]string{`data: {"type":"session","session_id":"s","stream_run_id":"r"}`}, c.want...), "\n\n") + "\n\n"
		assert.EqualValues(t, want, stream(c.before, c.events), c.name)
	}
}

// For any text from a model, a tool or a client, a request is read or refused, and an event is one line.
func FuzzAgent(f *testing.F) {
	f.Add(`{"message":"x","session_id":"s","client_turn_id":"c","stream_run_id":"r"}`, "a\r\nb\u2028")
	f.Add(`{"session_id":"s","resume_value":{"type":"cancel","value":null}}`, `{"a":1}`)
	f.Add(`{"stream_run_id":"r","reason":"superseded"}`, "\xff\x00")
	f.Fuzz(func(t *testing.T, body, text string) {
		var p dialect.Problems
		if s, err := ParseStream([]byte(body), agents); err == nil && (s.ClientTurnID == "" || s.StreamRunID == "" || s.Content.Message == "") || err != nil && !errors.As(err, &p) {
			t.Fatalf("%q became %+v, %v", body, s, err)
		}
		if a, err := ParseResume([]byte(body)); err == nil && (a.ThreadAlias == "" || a.Value.Type == "") || err != nil && !errors.As(err, &p) {
			t.Fatalf("%q became %+v, %v", body, a, err)
		}
		if c, err := ParseStop([]byte(body)); err == nil && c.ClientTurnID+c.StreamRunID == "" || err != nil && !errors.As(err, &p) {
			t.Fatalf("%q became %+v, %v", body, c, err)
		}
		out := stream(nil, []chat.Event{
			{Type: chat.EventToken, Text: text}, {Type: chat.EventToolCall, ToolName: text, Arguments: text},
			{Type: chat.EventToolResult, Text: text}, {Type: chat.EventFailed, Message: text, Partial: text},
		})
		for block := range strings.SplitSeq(strings.TrimSuffix(out, "\n\n"), "\n\n") {
			data, found := strings.CutPrefix(block, "data: ")
			require.True(t, found && !strings.ContainsAny(data, "\r\n") && json.Valid([]byte(data)), "%q", block)
		}
	})
}
