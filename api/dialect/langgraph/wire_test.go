package langgraph

import (
	"bufio"
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/chat"
)

func approval() chat.Event {
	return chat.Event{Type: chat.EventInterrupt, N: 9, TurnID: "t", ThreadID: "u", Interrupt: &chat.Interrupt{
		ID: "t.q1", Type: chat.ToolApproval, Message: "May I run generate_image?",
		Calls: []chat.ToolCall{{ID: "c1", Name: "generate_image", Arguments: json.RawMessage(`{"prompt":"a cat"}`), Editable: true}},
	}}
}

// write returns a stream of events as a client reads it, without "data: ".
func write(t *testing.T, w *Wire, events ...chat.Event) []string {
	t.Helper()
	b := w.Begin(nil)
	for _, e := range events {
		b = w.Event(b, e, "t.1")
	}
	var lines []string
	for block := range bytes.SplitSeq(bytes.TrimSuffix(w.End(b), []byte("\n\n")), []byte("\n\n")) {
		data, ok := strings.CutPrefix(string(block), "data: ")
		require.True(t, ok && !strings.Contains(data, "\n"), "block %q", block)
		lines = append(lines, data)
	}
	return lines
}

func same(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	assert.True(t, slices.Equal(got, want), "%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
}

func wire(view dialect.View) *Wire {
	return NewWire(dialect.Stream{Thread: "my-thread", Turn: chat.Turn{ID: "t", ThreadID: "u"}, View: view}, "")
}

// The exact shapes that LangGraph clients read.
// Rule G1.
func TestEveryEventHasTheLangGraphShapeAndKeys(t *testing.T) {
	same(t, "a turn with a tool", write(t, wire(dialect.View{}),
		chat.Event{Type: chat.EventTurnStarted, N: 1},
		chat.Event{Type: chat.EventStatus, N: 2, Node: chat.NodeModel, Message: "Thinking..."},
		chat.Event{Type: chat.EventToken, Piece: 1, Attempt: 1, Text: "One "},
		chat.Event{Type: chat.EventToken, Piece: 1, Attempt: 1, Offset: 4, Text: "moment\n<b>"},
		chat.Event{Type: chat.EventText, N: 3, Piece: 1, Text: "One moment\n<b>"},
		chat.Event{Type: chat.EventToolCall, N: 4, ToolCallID: "c1", ToolName: "search_documents", Arguments: `{"query":"x"}`},
		chat.Event{Type: chat.EventToolResult, N: 5, ToolCallID: "c1", ToolName: "search_documents", Text: "found", IsError: true},
		chat.Event{Type: chat.EventNotice, N: 6, Code: chat.NoticeNoImages, Message: "m"},
		chat.Event{Type: chat.EventToken, Piece: 2, Attempt: 1, Text: "Done."},
		chat.Event{Type: chat.EventText, N: 7, Piece: 2, Text: "Done."},
		chat.Event{Type: chat.EventResponse, N: 8, TurnID: "t", Response: &chat.Response{Text: "Done."}}),
		`{"type":"meta","phase":"start","thread_id":"my-thread","checkpoint_id":null}`,
		`{"type":"token","content":"One "}`,
		`{"type":"token","content":"moment\n\u003cb\u003e"}`,
		`{"type":"tool_call","id":"c1","name":"search_documents","arguments":{"query":"x"}}`,
		`{"type":"tool_result","tool_call_id":"c1","name":"search_documents","content":"found"}`,
		`{"type":"token","content":"\n\nDone."}`,
		`{"type":"meta","phase":"complete","checkpoint_id":"t"}`,
		`{"type":"done"}`,
		`[DONE]`)
	parent := NewWire(dialect.Stream{Thread: "my-thread"}, "t0")
	same(t, "an approval", write(t, parent,
		chat.Event{Type: chat.EventToolCall, N: 2, ToolCallID: "c1", ToolName: "generate_image", Arguments: `{"prompt":"a cat"}`}, approval()),
		`{"type":"meta","phase":"start","thread_id":"my-thread","checkpoint_id":"t0"}`,
		`{"type":"tool_call","id":"c1","name":"generate_image","arguments":{"prompt":"a cat"}}`,
		`{"type":"interrupt","payload":{"type":"tool_approval_required","tool_calls":[{"id":"c1","name":"generate_image","arguments":{"prompt":"a cat"}}]}}`,
		`{"type":"meta","phase":"interrupt","checkpoint_id":"t.q1"}`,
		`{"type":"done"}`,
		`[DONE]`)
	same(t, "a question", write(t, wire(dialect.View{}), chat.Event{Type: chat.EventInterrupt, Interrupt: &chat.Interrupt{
		ID: "t.q2", Type: chat.ActionChoice, Message: "Which?", Options: []chat.Option{{ID: "audit", Label: "Audit"}}}}),
		`{"type":"meta","phase":"start","thread_id":"my-thread","checkpoint_id":null}`,
		`{"type":"interrupt","payload":{"type":"question","interrupt_type":"action_choice","message":"Which?","options":[{"id":"audit","label":"Audit"}]}}`,
		`{"type":"meta","phase":"interrupt","checkpoint_id":"t.q2"}`,
		`{"type":"done"}`,
		`[DONE]`)
	same(t, "a failure", write(t, wire(dialect.View{}),
		chat.Event{Type: chat.EventFailed, Code: chat.CodeModelTimeout, Message: "The model took too long.", Retryable: true, Partial: "x"}),
		`{"type":"meta","phase":"start","thread_id":"my-thread","checkpoint_id":null}`,
		`{"type":"error","error":"The model took too long."}`,
		`[DONE]`)
	same(t, "a stop", write(t, wire(dialect.View{}), chat.Event{Type: chat.EventCancelled, TurnID: "t", Reason: chat.UserCancelled, Partial: "x"}),
		`{"type":"meta","phase":"start","thread_id":"my-thread","checkpoint_id":null}`,
		`{"type":"meta","phase":"complete","checkpoint_id":"t"}`,
		`{"type":"done"}`,
		`[DONE]`)
}

// Rule G5.
func TestRestartIsAParagraphBreak(t *testing.T) {
	same(t, "restarted", write(t, wire(dialect.View{}),
		chat.Event{Type: chat.EventToken, Piece: 1, Attempt: 1, Text: "The ans"},
		chat.Event{Type: chat.EventNotice, Code: chat.NoticeRestarted},
		chat.Event{Type: chat.EventToken, Piece: 1, Attempt: 2, Text: "The answer"},
		chat.Event{Type: chat.EventCancelled, TurnID: "t"})[1:4],
		`{"type":"token","content":"The ans"}`, `{"type":"token","content":"\n\n"}`, `{"type":"token","content":"The answer"}`)
}

func TestStreamAfterAnAnswerBeginsAParagraph(t *testing.T) {
	w := wire(dialect.View{})
	for _, e := range []chat.Event{
		{Type: chat.EventText, N: 2, Piece: 1, Text: "One moment."},
		{Type: chat.EventToolCall, N: 3, ToolCallID: "c1"}, approval(),
	} {
		w.Before(e)
	}
	same(t, "the rest", write(t, w, chat.Event{Type: chat.EventToken, Piece: 2, Attempt: 1, Text: "Done."})[1:2], `{"type":"token","content":"\n\nDone."}`)
	silent := wire(dialect.View{})
	silent.Before(chat.Event{Type: chat.EventText, N: 2, Piece: 1})
	same(t, "after no text", write(t, silent, chat.Event{Type: chat.EventToken, Piece: 2, Attempt: 1, Text: "Done."})[1:2], `{"type":"token","content":"Done."}`)
}

func TestMessagesModeHasFinishedTextAndTheCallsOfAnApproval(t *testing.T) {
	for _, view := range []dialect.View{{Messages: true}, {NoTokens: true}} {
		w := wire(view)
		var shown []chat.Event
		for _, e := range []chat.Event{
			{Type: chat.EventToken, Piece: 1, Attempt: 1, Text: "One moment."},
			{Type: chat.EventText, N: 2, Piece: 1, Text: "One moment."},
			approval(),
		} {
			if view.Shows(e) {
				shown = append(shown, e)
			}
		}
		same(t, "messages", write(t, w, shown...)[1:4],
			`{"type":"token","content":"One moment."}`,
			`{"type":"tool_call","id":"c1","name":"generate_image","arguments":{"prompt":"a cat"}}`,
			`{"type":"interrupt","payload":{"type":"tool_approval_required","tool_calls":[{"id":"c1","name":"generate_image","arguments":{"prompt":"a cat"}}]}}`)
	}
}

func TestPayloadHasNoNulls(t *testing.T) {
	for want, q := range map[string]chat.Interrupt{
		`{"type":"question","interrupt_type":"text_input","message":"m","options":[]}`: {Type: chat.TextInput, Message: "m"},
		`{"type":"tool_approval_required","tool_calls":[]}`:                            {Type: chat.ToolApproval},
		`{"type":"tool_approval_required","tool_calls":[{"id":"c","name":"n","arguments":{}}]}`: {Type: chat.ToolApproval,
			Calls: []chat.ToolCall{{ID: "c", Name: "n", Arguments: json.RawMessage(`[1`)}}},
	} {
		if got, err := json.Marshal(Payload(q)); err != nil || string(got) != want {
			t.Errorf("%s %v, want %s", got, err, want)
		}
	}
}

// For any text of a model or a tool, a stream is lines of valid JSON.
func FuzzStreamIsLinesOfJSON(f *testing.F) {
	f.Add("text", "a\r\nb\u2028c")
	f.Add("\xff\x00\n\ndata: [DONE]", `{"a":1}`)
	f.Fuzz(func(t *testing.T, text, arguments string) {
		w := wire(dialect.View{})
		b := w.Begin(nil)
		for _, e := range []chat.Event{
			{Type: chat.EventToken, Piece: 1, Text: text},
			{Type: chat.EventToolCall, ToolCallID: text, ToolName: text, Arguments: arguments},
			{Type: chat.EventToolResult, ToolCallID: text, Text: text},
			{Type: chat.EventInterrupt, Interrupt: &chat.Interrupt{ID: text, Type: chat.ToolApproval,
				Calls: []chat.ToolCall{{ID: text, Arguments: json.RawMessage(arguments)}}}},
			{Type: chat.EventInterrupt, Interrupt: &chat.Interrupt{ID: text, Type: chat.TextInput, Message: text}},
			{Type: chat.EventFailed, Message: text},
		} {
			b = w.Event(b, e, "")
		}
		sc := bufio.NewScanner(bytes.NewReader(w.End(b)))
		sc.Buffer(nil, 1<<26)
		last := ""
		for sc.Scan() {
			if sc.Text() == "" {
				continue
			}
			data, ok := strings.CutPrefix(sc.Text(), "data: ")
			require.False(t, !ok || data != "[DONE]" && !json.Valid([]byte(data)), "line %q", sc.Text())
			last = data
		}
		require.EqualValues(t, "[DONE]", last, "the stream ends with")
	})
}
