package aisdk

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
)

var to = dialect.Stream{Thread: "th", Turn: chat.Turn{ID: "t", ThreadID: "T"}, RunID: "r"}

func write(w *Wire, before, events []chat.Event) string {
	for _, e := range before {
		w.Before(e)
	}
	b := w.Begin(nil)
	for _, e := range events {
		b = w.Event(b, e, "t."+e.Code+e.ToolCallID+string(e.Node))
	}
	return string(w.End(b))
}

func approval(calls ...chat.ToolCall) chat.Event {
	return chat.Event{Type: chat.EventInterrupt, TurnID: "t",
		Interrupt: &chat.Interrupt{ID: "t.q1", Type: chat.ToolApproval, Message: "m", Calls: calls}}
}

func decision(list ...chat.Decision) chat.Event {
	return chat.Event{Type: chat.EventResumed, Interrupt: &chat.Interrupt{ID: "t.q1"},
		Resume: &chat.ResumeValue{Type: chat.ToolApproval, Decisions: list}}
}

func toolCall(id string) chat.Event {
	return chat.Event{Type: chat.EventToolCall, ToolCallID: id, ToolName: "look", Arguments: `{"a":1}`}
}

func toolResult(id, text string, isError bool) chat.Event {
	return chat.Event{Type: chat.EventToolResult, ToolCallID: id, ToolName: "look", Text: text, IsError: isError}
}

func status(node chat.Node) chat.Event {
	return chat.Event{Type: chat.EventStatus, Node: node, Message: "m"}
}

func TestWire(t *testing.T) {
	const (
		start       = `{"type":"start","messageId":"t","messageMetadata":{"stream_run_id":"r","thread_id":"th","turn_id":"t"}}`
		startStep   = `{"type":"start-step"}`
		finishStep  = `{"type":"finish-step"}`
		textStart   = `{"type":"text-start","id":"text-1"}`
		textEnd     = `{"type":"text-end","id":"text-1"}`
		thinking    = `{"type":"data-status","data":{"node":"model","message":"m"},"transient":true}`
		input1      = `{"type":"tool-input-available","toolCallId":"1","toolName":"look","input":{"a":1}}`
		input2      = `{"type":"tool-input-available","toolCallId":"2","toolName":"look","input":{"a":1}}`
		request2    = `{"type":"tool-approval-request","toolCallId":"2","approvalId":"t.q1/2"}`
		cancelled   = `{"type":"message-metadata","messageMetadata":{"finished_reason":"cancelled","interrupted":true,"interrupted_reason":"user_cancelled"}}`
		interrupted = `{"type":"message-metadata","messageMetadata":{"finished_reason":"interrupted"}}`
		response    = `{"type":"message-metadata","messageMetadata":{"cost_usd":0,"finished_reason":"stop","tokens_used":0}}`
		stop        = `{"type":"finish","finishReason":"stop"}`
		other       = `{"type":"finish","finishReason":"other"}`
	)
	delta := func(s string) string { return `{"type":"text-delta","id":"text-1","delta":"` + s + `"}` }
	asks := func(answer string) string {
		return `{"type":"data-interrupt","id":"t.q1","data":{"interrupt_id":"t.q1","interrupt_type":"tool_approval","message":"m",` +
			`"tool_calls":[{"id":"2","name":"look","arguments":{"a":1},"editable":false}],"thread_id":"th","turn_id":"t","checkpoint_id":"t.q1",` + answer + `}}`
	}
	asked := chat.ToolCall{ID: "2", Name: "look", Arguments: json.RawMessage(`{"a":1}`)}
	const (
		input2b      = `{"type":"tool-input-available","toolCallId":"2","toolName":"look","input":{"a":2}}`
		editedAnswer = `"answer":{"type":"tool_approval","value":null,"decisions":[{"id":"2","decision":"approved","arguments":{"a":2}}]}`
	)
	edited := chat.Decision{ID: "2", Decision: chat.Approved, Arguments: json.RawMessage(`{"a":2}`)}
	at, end := 3, 7
	for _, c := range []struct {
		name           string
		wire           *Wire
		before, events []chat.Event
		want           []string
	}{
		{"an answer with sources", nil, nil, []chat.Event{
			{Type: chat.EventTurnStarted}, status(chat.NodeModel),
			{Type: chat.EventStatus, Node: chat.NodeDocs, Message: "m", DocsFound: []chat.DocRef{{ID: "d", Title: "T"}}},
			{Type: chat.EventToken, Text: "Hi ", Piece: 1}, {Type: chat.EventToken, Text: "you", Piece: 1}, {Type: chat.EventText, Text: "Hi you", Piece: 1},
			{Type: chat.EventResponse, Response: &chat.Response{Text: "Hi you", Action: chat.Inquire, InferenceConfidence: chat.High,
				Usage: chat.Usage{TokensIn: 1, TokensOut: 2, CostUSD: 0.5}, Unverified: []string{"you"}, Citations: []chat.Citation{
					{N: 1, Source: "document", DocID: "d", ChunkID: "d.0", Title: "", Quote: "q", Start: &at, End: &end, Page: 2},
					{N: 2, Source: "web", URL: "https://a.example", Quote: "w"}, {N: 3, Source: "web"}}}},
		}, []string{start, startStep, thinking,
			`{"type":"data-status","data":{"node":"doc_resolver","message":"m"},"transient":true}`,
			`{"type":"data-docs","id":"t.doc_resolver","data":{"node":"doc_resolver","docs":[{"id":"d","title":"T"}]}}`,
			textStart, delta("Hi "), delta("you"), textEnd,
			`{"type":"source-document","sourceId":"source-1","mediaType":"text/plain","title":"Document","providerMetadata":{"palaver":{"chunk_id":"d.0","doc_id":"d","end":7,"n":1,"page":2,"quote":"q","start":3}}}`,
			`{"type":"source-url","sourceId":"source-2","url":"https://a.example","providerMetadata":{"palaver":{"n":2,"quote":"w"}}}`,
			`{"type":"message-metadata","messageMetadata":{"action":"inquire","cost_usd":0.5,"finished_reason":"stop","inference_confidence":"high","tokens_used":3,"unverified":["you"]}}`,
			finishStep, stop}},
		{"finished text only", nil, nil, []chat.Event{{Type: chat.EventText, Text: "Hi", Piece: 1}, {Type: chat.EventResponse}},
			[]string{start, startStep, textStart, delta("Hi"), textEnd, response, finishStep, stop}},
		{"tools, and a new step after them", nil, nil, []chat.Event{
			toolCall("1"), toolCall("2"), status(chat.NodeModel), toolResult("1", "", false),
			toolResult("2", "![a](/api/attachments/p1)", false),
			{Type: chat.EventToken, Text: "Done", Piece: 1}, {Type: chat.EventText, Text: "Done", Piece: 1}, {Type: chat.EventResponse},
		}, []string{start, startStep, input1, input2, thinking, `{"type":"tool-output-available","toolCallId":"1","output":""}`,
			`{"type":"tool-output-available","toolCallId":"2","output":"![a](/api/attachments/p1)"}`, `{"type":"file","url":"/api/attachments/p1","mediaType":"image/*"}`,
			finishStep, startStep, textStart, delta("Done"), textEnd, response, finishStep, stop}},
		{"a failed tool", nil, nil, []chat.Event{toolCall("1"), toolResult("1", "no", true), {Type: chat.EventResponse}},
			[]string{start, startStep, input1, `{"type":"tool-output-error","toolCallId":"1","errorText":"no"}`, response, finishStep, stop}},
		{"a restart", nil, nil, []chat.Event{
			{Type: chat.EventToken, Text: "Old", Piece: 1}, {Type: chat.EventNotice, Code: chat.NoticeRestarted, Message: "m"},
			{Type: chat.EventToken, Text: "New", Piece: 1}, {Type: chat.EventText, Text: "New", Piece: 1}, {Type: chat.EventResponse},
		}, []string{start, startStep, textStart, delta("Old"), `{"type":"text-end","id":"text-1","providerMetadata":{"palaver":{"superseded":true}}}`,
			`{"type":"data-notice","id":"t.restarted","data":{"code":"restarted","message":"m"}}`,
			`{"type":"text-start","id":"text-2"}`, `{"type":"text-delta","id":"text-2","delta":"New"}`, `{"type":"text-end","id":"text-2"}`, response, finishStep, stop}},
		{"stopped while a tool runs", nil, nil, []chat.Event{
			{Type: chat.EventToken, Text: "Let me ", Piece: 1}, toolCall("1"), status(chat.NodeModel),
			{Type: chat.EventCancelled, Reason: chat.UserCancelled, Partial: "Let me"},
		}, []string{start, startStep, textStart, delta("Let me "), textEnd, input1, thinking,
			`{"type":"tool-output-error","toolCallId":"1","errorText":"` + messages.ToolStopped.Text + `"}`, `{"type":"data-tool-message","id":"tool-message-1","data":{"tool_call_id":"1","message_code":"tool.stopped"}}`, finishStep, startStep, cancelled, finishStep, other}},
		{"stopped, with sources and no known cost", nil, nil, []chat.Event{
			{Type: chat.EventToken, Text: "A [1]", Piece: 1},
			{Type: chat.EventCancelled, Reason: chat.UserCancelled, Partial: "A [1]", Usage: &chat.Usage{TokensIn: 1, Unpriced: true, Searches: 1},
				Citations: []chat.Citation{{N: 1, Source: "web", URL: "https://a.example", Quote: "w"}}},
		}, []string{start, startStep, textStart, delta("A [1]"), textEnd,
			`{"type":"source-url","sourceId":"source-1","url":"https://a.example","providerMetadata":{"palaver":{"n":1,"quote":"w"}}}`,
			`{"type":"message-metadata","messageMetadata":{"finished_reason":"cancelled","interrupted":true,"interrupted_reason":"user_cancelled","tokens_used":1,"web_searches":1}}`,
			finishStep, other}},
		{"failed, with a partial that was not shown", nil, nil, []chat.Event{
			{Type: chat.EventFailed, Code: "internal", Message: "Sorry.", Retryable: true, Partial: "Half"},
		}, []string{start, startStep, textStart, delta("Half"), textEnd,
			`{"type":"message-metadata","messageMetadata":{"error":{"code":"internal","message":"Sorry.","retryable":true},"finished_reason":"error"}}`,
			finishStep, `{"type":"error","errorText":"Sorry."}`, `{"type":"finish","finishReason":"error"}`}},
		{"a person is asked about one of two calls", nil, nil, []chat.Event{toolCall("1"), toolCall("2"), approval(asked)},
			[]string{start, startStep, input1, finishStep, startStep, input2, request2, asks(`"answered":false`), interrupted, finishStep,
				`{"type":"finish","finishReason":"tool-calls"}`}},
		{"a person is asked, in messages mode", nil, nil, []chat.Event{approval(asked)},
			[]string{start, startStep, input2, request2, asks(`"answered":false`), interrupted, finishStep, `{"type":"finish","finishReason":"tool-calls"}`}},
		{"approved: the message goes on", NewWire(to, &Continue{MessageID: "t", Calls: map[string]bool{"2": true}}),
			[]chat.Event{toolCall("2"), approval(asked)}, []chat.Event{
				decision(chat.Decision{ID: "2", Decision: chat.Approved}), toolResult("2", "ok", false),
				{Type: chat.EventToken, Text: "Done", Piece: 1}, {Type: chat.EventText, Text: "Done", Piece: 1}, {Type: chat.EventResponse},
			}, []string{start, asks(`"answered":true,"answer":{"type":"tool_approval","value":null,"decisions":[{"id":"2","decision":"approved"}]}`),
				`{"type":"tool-output-available","toolCallId":"2","output":"ok"}`, startStep, textStart, delta("Done"), textEnd, response, finishStep, stop}},
		{"rejected: the message goes on", NewWire(to, &Continue{MessageID: "t", Calls: map[string]bool{"2": true}}),
			[]chat.Event{toolCall("2"), approval(asked)}, []chat.Event{
				decision(chat.Decision{ID: "2", Decision: chat.Rejected, Reason: "no"}), toolResult("2", "The person said no.", true), {Type: chat.EventResponse},
			}, []string{start, asks(`"answered":true,"answer":{"type":"tool_approval","value":null,"decisions":[{"id":"2","decision":"rejected","reason":"no"}]}`),
				`{"type":"tool-output-denied","toolCallId":"2"}`, response, stop}},
		{"approved in another message: it has no call of that name", NewWire(dialect.Stream{Thread: "th", Turn: to.Turn, RunID: "r", After: "t.q1"}, nil),
			[]chat.Event{toolCall("2"), approval(asked)}, []chat.Event{
				decision(chat.Decision{ID: "2", Decision: chat.Approved}), toolResult("2", "ok", false), {Type: chat.EventResponse},
			}, []string{strings.Replace(start, `"messageId":"t"`, `"messageId":"t.q1"`, 1), startStep,
				asks(`"answered":true,"answer":{"type":"tool_approval","value":null,"decisions":[{"id":"2","decision":"approved"}]}`),
				input2, `{"type":"tool-output-available","toolCallId":"2","output":"ok"}`, response, finishStep, stop}},
		{"stopped after an approval", NewWire(to, &Continue{MessageID: "t", Calls: map[string]bool{"2": true}}),
			[]chat.Event{toolCall("2"), approval(asked)}, []chat.Event{
				decision(chat.Decision{ID: "2", Decision: chat.Approved}), {Type: chat.EventCancelled, Reason: chat.UserCancelled}},
			[]string{start, asks(`"answered":true,"answer":{"type":"tool_approval","value":null,"decisions":[{"id":"2","decision":"approved"}]}`),
				`{"type":"tool-output-error","toolCallId":"2","errorText":"` + messages.ToolStopped.Text + `"}`, `{"type":"data-tool-message","id":"tool-message-2","data":{"tool_call_id":"2","message_code":"tool.stopped"}}`, startStep, cancelled, finishStep, other}},
		{"approved with edited arguments: the input is replaced", NewWire(to, &Continue{MessageID: "t", Calls: map[string]bool{"2": true}}),
			[]chat.Event{toolCall("2"), approval(asked)}, []chat.Event{decision(edited), toolResult("2", "ok", false), {Type: chat.EventResponse}},
			[]string{start, asks(`"answered":true,` + editedAnswer), input2b, `{"type":"tool-output-available","toolCallId":"2","output":"ok"}`, response, stop}},
		{"edited, and stopped before its result", NewWire(to, &Continue{MessageID: "t", Calls: map[string]bool{"2": true}}),
			[]chat.Event{toolCall("2"), approval(asked)}, []chat.Event{decision(edited), {Type: chat.EventCancelled, Reason: chat.UserCancelled}},
			[]string{start, asks(`"answered":true,` + editedAnswer), input2b, `{"type":"tool-output-error","toolCallId":"2","errorText":"` + messages.ToolStopped.Text + `"}`,
				`{"type":"data-tool-message","id":"tool-message-2","data":{"tool_call_id":"2","message_code":"tool.stopped"}}`, startStep, cancelled, finishStep, other}},
		{"edited, in a replay of the whole message", nil, nil, []chat.Event{toolCall("2"), approval(asked), decision(edited), toolResult("2", "ok", false), {Type: chat.EventResponse}},
			[]string{start, startStep, input2, request2, asks(`"answered":false`), asks(`"answered":true,` + editedAnswer), input2b,
				`{"type":"tool-output-available","toolCallId":"2","output":"ok"}`, response, finishStep, stop}},
		{"edited in another message: its only input is the edited one", NewWire(dialect.Stream{Thread: "th", Turn: to.Turn, RunID: "r", After: "t.q1"}, nil),
			[]chat.Event{toolCall("2"), approval(asked)}, []chat.Event{decision(edited), toolResult("2", "ok", false), {Type: chat.EventResponse}},
			[]string{strings.Replace(start, `"messageId":"t"`, `"messageId":"t.q1"`, 1), startStep, asks(`"answered":true,` + editedAnswer), input2b,
				`{"type":"tool-output-available","toolCallId":"2","output":"ok"}`, response, finishStep, stop}},
		{"edited, in a step that is over: a client would add a second part", NewWire(to, &Continue{MessageID: "t", Calls: map[string]bool{"2": true}}),
			[]chat.Event{toolCall("2"), approval(asked)}, []chat.Event{decision(edited), {Type: chat.EventText, Text: "Done", Piece: 1}, toolResult("2", "ok", false), {Type: chat.EventResponse}},
			[]string{start, asks(`"answered":true,` + editedAnswer), startStep, textStart, delta("Done"), textEnd,
				`{"type":"tool-output-available","toolCallId":"2","output":"ok"}`, response, finishStep, stop}},
		{"stopped while a person is asked", nil, nil, []chat.Event{toolCall("2"), approval(asked), {Type: chat.EventCancelled, Reason: chat.UserCancelled}},
			[]string{start, startStep, input2, request2, asks(`"answered":false`), `{"type":"tool-output-error","toolCallId":"2","errorText":"` + messages.ToolUndecided.Text + `"}`,
				`{"type":"data-tool-message","id":"tool-message-2","data":{"tool_call_id":"2","message_code":"tool.undecided"}}`, finishStep, startStep, cancelled, finishStep, other}},
	} {
		w := c.wire
		if w == nil {
			w = NewWire(to, nil)
		}
		want := "data: " + strings.Join(append(c.want, "[DONE]"), "\n\ndata: ") + "\n\n"
		assert.EqualValues(t, want, write(w, c.before, c.events), c.name)
	}
}

func TestMessageOfTheHistoryEqualsTheOneAClientAssembled(t *testing.T) {
	asked := chat.ToolCall{ID: "2", Name: "look", Arguments: json.RawMessage(`{"a":1}`)}
	events := []chat.Event{
		{Type: chat.EventTurnStarted}, status(chat.NodeModel), toolCall("1"), toolCall("2"), approval(asked),
		decision(chat.Decision{ID: "2", Decision: chat.Rejected, Reason: "no"}),
		toolResult("1", "r", false), toolResult("2", "x", true),
		{Type: chat.EventText, Text: "Done", Piece: 1}, {Type: chat.EventResponse, Response: &chat.Response{Text: "Done"}},
	}
	m := AssistantMessage(to, events)
	var types []string
	for _, p := range m.Parts {
		types = append(types, strings.TrimSuffix(p.Type+" "+p.State, " "))
	}
	want := []string{"step-start", "tool-look output-available", "step-start", "tool-look output-denied", "data-interrupt", "step-start", "text done"}
	assert.True(t, m.ID == "t" && m.Role == "assistant" && reflect.DeepEqual(types, want) && m.Metadata["finished_reason"] == "stop" && m.Metadata["thread_id"] == "th", "%+v", m)
	if denied := m.Parts[3].Approval; denied == nil || denied.ID != "t.q1/2" || *denied.Approved || denied.Reason != "no" {
		t.Errorf("%+v", denied)
	}
	if q := m.Parts[4].Data.(question); !q.Answered {
		t.Errorf("%+v", q)
	}
	pending := AssistantMessage(to, events[:5])
	if p := pending.Parts[3]; p.State != "approval-requested" || p.Approval.ID != "t.q1/2" || p.Approval.Approved != nil || pending.Metadata["finished_reason"] != "interrupted" {
		t.Errorf("%+v", pending)
	}
	raw, err := json.Marshal(AssistantMessage(to, nil))
	assert.True(t, err == nil && strings.Contains(string(raw), `"parts":[{"type":"step-start"}]`), "%s, %v", raw, err)
	user, err := json.Marshal(UserMessage(chat.Message{ID: "t.m0", Content: "x", TurnID: "t", Metadata: map[string]any{"tiptap_json": map[string]any{"type": "doc"}}}, []chat.Attachment{{ID: "p", MIME: "image/png"}}))
	assert.True(t, err == nil && string(user) == `{"id":"t.m0","role":"user","metadata":{"created_at":"0001-01-01T00:00:00Z","tiptap_json":{"type":"doc"},"turn_id":"t"},"parts":[{"type":"file","url":"/api/attachments/p","mediaType":"image/png"},{"type":"text","text":"x"}]}`, "%s, %v", user, err)
}

// Rule U4.
func TestToolCallOfTheHistoryHasTheArgumentsItRanWith(t *testing.T) {
	asked := chat.ToolCall{ID: "2", Name: "look", Arguments: json.RawMessage(`{"a":1}`)}
	for want, d := range map[string]chat.Decision{
		`{"a":2}`: {ID: "2", Decision: chat.Approved, Arguments: json.RawMessage(`{"a":2}`)},
		`{"a":1}`: {ID: "2", Decision: chat.Approved},
	} {
		m := AssistantMessage(to, []chat.Event{{Type: chat.EventTurnStarted}, toolCall("2"), approval(asked), decision(d), toolResult("2", "x", false)})
		assert.EqualValues(t, want, string(m.Parts[1].Input))
		if n := len(m.Parts); n != 3 || m.Parts[1].Approval == nil || !*m.Parts[1].Approval.Approved {
			t.Errorf("%d parts: %+v", n, m.Parts[1])
		}
	}
}

// ai 6 and ai 7 refuse a result whose approval was not given.
// Rule U9.
func TestResultOfTheHistoryHasOnlyApprovalsThatWereDecided(t *testing.T) {
	asked := chat.ToolCall{ID: "2", Name: "look", Arguments: json.RawMessage(`{"a":1}`)}
	for name, end := range map[string][]chat.Event{
		"stopped":  {{Type: chat.EventCancelled, Reason: chat.UserCancelled}},
		"failed":   {{Type: chat.EventFailed, Code: "internal"}},
		"answered": {toolResult("2", "x", false)},
		"refused":  {toolResult("2", "x", true)},
	} {
		m := AssistantMessage(to, append([]chat.Event{{Type: chat.EventTurnStarted}, toolCall("2"), approval(asked)}, end...))
		if p := m.Parts[1]; !strings.HasPrefix(p.State, "output-") || p.Approval != nil {
			t.Errorf("%s: %+v", name, p)
		}
	}
	m := AssistantMessage(to, []chat.Event{{Type: chat.EventTurnStarted}, toolCall("2"), approval(asked),
		decision(chat.Decision{ID: "2", Decision: chat.Approved}), {Type: chat.EventCancelled, Reason: chat.UserCancelled}})
	if p := m.Parts[1]; p.State != "output-error" || p.Approval == nil || !*p.Approval.Approved {
		t.Errorf("approved: %+v", p)
	}
}

func TestMessageWithdrawnWhileItWaitedIsMarked(t *testing.T) {
	started, cancelled := chat.Event{Type: chat.EventTurnStarted}, chat.Event{Type: chat.EventCancelled, Reason: chat.UserCancelled}
	for want, events := range map[string][]chat.Event{
		"taken back": {started, cancelled},
		"stopped":    {started, status(chat.NodeModel), cancelled},
		"asked":      {started, status(chat.NodeModel)},
	} {
		assert.EqualValues(t, (want == "taken back"), AssistantMessage(to, events).Metadata["never_began"] == true, want)
	}
}

// For any events of a turn, a stream keeps the rules that its clients enforce: known types, no null, parts
// that start before their deltas, and one finish.
func FuzzWire(f *testing.F) {
	f.Add("tcicrRTXn", "text")
	f.Add("cciRrXF", "a\r\n\u2028\xff")
	f.Add("ttsTnttx", `{"a":1}`)
	f.Fuzz(func(t *testing.T, story, text string) {
		if len(story) > 64 {
			return
		}
		var events []chat.Event
		for i, kind := range story {
			id := string('0' + rune(i%3))
			events = append(events, map[rune]chat.Event{
				't': {Type: chat.EventToken, Text: text, Piece: 1}, 'T': {Type: chat.EventText, Text: text, Piece: 1},
				'c': {Type: chat.EventToolCall, ToolCallID: id, ToolName: text, Arguments: text},
				'r': {Type: chat.EventToolResult, ToolCallID: id, Text: text}, 'e': {Type: chat.EventToolResult, ToolCallID: id, Text: text, IsError: true},
				'i': approval(chat.ToolCall{ID: id, Name: text, Arguments: json.RawMessage(text)}), 'q': {Type: chat.EventInterrupt},
				'R': decision(chat.Decision{ID: id, Decision: chat.Rejected}), 's': {Type: chat.EventStatus, Message: text, DocsFound: []chat.DocRef{{Title: text}}},
				'n': {Type: chat.EventNotice, Code: chat.NoticeRestarted}, 'x': {Type: chat.EventCancelled, Partial: text},
				'X': {Type: chat.EventResponse, Response: &chat.Response{Citations: []chat.Citation{{Title: text}, {Source: "web", URL: text}}}},
				'F': {Type: chat.EventFailed, Message: text, Partial: text},
			}[kind])
		}
		for _, w := range []*Wire{NewWire(to, nil), NewWire(to, &Continue{MessageID: "t", Calls: map[string]bool{}})} {
			checkStream(t, write(w, nil, events))
		}
		if _, err := json.Marshal(AssistantMessage(to, events)); err != nil {
			t.Fatal(err)
		}
	})
}

func checkStream(t *testing.T, out string) {
	t.Helper()
	blocks := strings.Split(strings.TrimSuffix(out, "\n\n"), "\n\n")
	open, calls, finished := map[string]bool{}, map[string]bool{}, 0
	for i, block := range blocks {
		data, found := strings.CutPrefix(block, "data: ")
		require.True(t, found && !strings.ContainsAny(data, "\r\n"), "%q", block)
		if data == "[DONE]" {
			require.True(t, i == len(blocks)-1 && finished == 1, "%s", out)
			break
		}
		var c map[string]any
		if err := json.Unmarshal([]byte(data), &c); err != nil || finished > 0 {
			t.Fatalf("%v: %s", err, out)
		}
		for name, value := range c {
			require.True(t, value != nil, "%s is null: %s", name, data)
		}
		id, _ := c["id"].(string)
		call, _ := c["toolCallId"].(string)
		ok := true
		switch kind := c["type"].(string); kind {
		case typeTextStart:
			ok, open[id] = !open[id], true
		case typeTextDelta:
			ok = open[id] && c["delta"] != nil
		case typeTextEnd:
			ok, open[id] = open[id], false
		case typeToolInput:
			ok, calls[call] = c["toolName"] != nil && c["input"] != nil, true
		case typeApprovalRequest:
			ok = calls[call] && c["approvalId"] != nil
		case typeToolOutput:
			ok = calls[call] && c["output"] != nil
		case typeToolError:
			ok = calls[call] && c["errorText"] != nil
		case typeToolDenied:
			ok = calls[call]
		case typeSourceDocument:
			ok = c["sourceId"] != nil && c["title"] != nil && c["mediaType"] != nil
		case typeSourceURL:
			ok = c["sourceId"] != nil && c["url"] != nil
		case typeFinish:
			finished++
			ok = c["finishReason"] != nil
			for part, is := range open {
				ok = ok && !is || part == ""
			}
		case typeError:
			ok = c["errorText"] != nil
		case dataStatus, dataDocs, dataInterrupt, dataNotice, dataTool:
			ok = c["data"] != nil
		case typeFile:
			ok = c["url"] != nil && c["mediaType"] != nil
		case typeMetadata:
			ok = c["messageMetadata"] != nil
		case typeStart, typeStartStep, typeFinishStep:
		default:
			t.Fatalf("unknown type %s", kind)
		}
		require.True(t, ok, "%s in %s", data, out)
	}
}
