package agui

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/chat"
)

var agents = chat.Agents{{Name: chat.AgentDocuments}, {Name: chat.AgentAssistant}}

// Rule P1.
func TestARunSendsAnswersOrOpens(t *testing.T) {
	parse := func(body string) Run {
		r, err := Parse([]byte(body), agents)
		require.NoError(t, err, body)
		return r
	}
	r := parse(`{"threadId":"t","runId":"r","state":{"a":1},"tools":[],"context":[],"forwardedProps":{"x":5,"palaver":{"agent":"documents","on_disconnect":"continue"}},
		"messages":[{"id":"a","role":"user","content":"one"},{"id":"b","role":"assistant"},{"id":"c","role":"user","content":[{"type":"text","text":"two"},{"type":"image","source":{"type":"data","value":"AAAA","mimeType":"image/png"}}]}]}`)
	require.Equal(t, "two", r.Message.Text)
	require.Len(t, r.Message.Files, 1)
	require.Equal(t, []string{"b", "a"}, r.Earlier)
	require.Equal(t, chat.AgentDocuments, r.Submit.Content.Agent)
	require.False(t, r.Submit.CancelOnDisconnect)
	require.JSONEq(t, "1", string(r.State["a"]))

	for _, body := range []string{`{"threadId":"t","runId":"r","messages":[]}`, `{"threadId":"t","runId":"r","messages":[{"id":"b","role":"assistant","content":"x"}],"forwardedProps":"x","state":[1]}`} {
		r := parse(body)
		require.Nil(t, r.Message)
		require.Nil(t, r.Answer)
		require.True(t, r.Submit.CancelOnDisconnect)
	}

	answer := func(payload string) Answer {
		r := parse(`{"threadId":"t","runId":"r","messages":[{"id":"a","role":"user","content":"x"}],"resume":[{"interruptId":"q","status":"resolved","payload":` + payload + `}]}`)
		require.Nil(t, r.Message)
		return *r.Answer
	}
	require.Equal(t, "audit", answer(`"audit"`).Value.Text())
	require.Equal(t, chat.ResumeValue{Value: new("audit")}, answer(`{"value":"audit"}`).Value)
	require.Equal(t, chat.Approved, answer(`true`).Approved.Decision)
	edited := answer(`{"approved":true,"arguments":{"a":1},"remember":true}`).Approved
	require.JSONEq(t, `{"a":1}`, string(edited.Arguments))
	require.True(t, edited.Remember)
	require.Equal(t, "why", answer(`{"approved":false,"reason":"why"}`).Approved.Reason)
	whole := answer(`{"type":"tool_approval","decisions":[{"id":"c","decision":"approved"}]}`)
	require.Equal(t, chat.ToolApproval, whole.Value.Type)
	require.Equal(t, "c", whole.Value.Decisions[0].ID)
	require.Equal(t, chat.CancelResume, parse(`{"threadId":"t","runId":"r","messages":[],"resume":[{"interruptId":"q","status":"cancelled"}]}`).Answer.Value.Type)
	cancels := parse(`{"threadId":"t","runId":"r","messages":[{"id":"a","role":"user","content":"x"}],"resume":[{"interruptId":"q","status":"cancelled"}]}`)
	require.True(t, cancels.Cancels())
	require.Equal(t, "x", cancels.Message.Text)

	opens := parse(`{"threadId":"t","runId":"r","messages":[{"id":"a","role":"user","content":"x"},{"id":"019a0000-0000-7000-8000-000000000001.m2","role":"user","content":"yes"}]}`)
	require.Nil(t, opens.Message, "an answer from a snapshot is no new message")
	require.True(t, opens.Known["a"])
}

func TestParseNamesTheInvalidField(t *testing.T) {
	const ok = `"threadId":"t","runId":"r","messages":[]`
	for body, field := range map[string]string{
		`5`:                              "body",
		`{"runId":"r","messages":[]}`:    "threadId",
		`{"threadId":"t","messages":[]}`: "runId",
		`{"threadId":"t","runId":"r","messages":[{"role":"user","content":"x"}]}`:                                   "messages[0].id",
		`{"threadId":"t","runId":"r","messages":[{"id":"a","role":"user","content":" "}]}`:                          "messages[0].content",
		`{"threadId":"t","runId":"r","messages":[{"id":"a","role":"user","content":5}]}`:                            "messages[0].content",
		`{"threadId":"t","runId":"r","messages":[{"id":"a","role":"user","content":[{"type":"video"}]}]}`:           "messages[0].content[0].type",
		`{` + ok + `,"resume":[{"interruptId":"a","status":"resolved"},{"interruptId":"b","status":"resolved"}]}`:   "resume",
		`{` + ok + `,"resume":[{"status":"cancelled"}]}`:                                                            "resume[0].interruptId",
		`{` + ok + `,"resume":[{"interruptId":"a","status":"x"}]}`:                                                  "resume[0].status",
		`{` + ok + `,"resume":[{"interruptId":"a","status":"resolved","payload":5}]}`:                               "resume[0].payload",
		`{` + ok + `,"resume":[{"interruptId":"a","status":"resolved","payload":{"approved":true,"arguments":5}}]}`: "resume[0].payload.decisions[0].arguments",
		`{` + ok + `,"forwardedProps":{"palaver":{"agent":"x"}}}`:                                                   "forwardedProps.palaver.agent",
		`{` + ok + `,"forwardedProps":{"palaver":5}}`:                                                               "forwardedProps.palaver",
	} {
		_, err := Parse([]byte(body), agents)
		var p dialect.Problems
		require.True(t, errors.As(err, &p), body)
		require.Equal(t, field, p[0].Field, body)
	}
}

// run writes events and returns the types of what a client reads, and the last event.
func run(t *testing.T, before []chat.Event, events ...chat.Event) (types string, last map[string]any, all []map[string]any) {
	t.Helper()
	w := NewWire(dialect.Stream{Turn: chat.Turn{ID: "turn"}}, Run{Thread: "t", RunID: "r", State: map[string]json.RawMessage{"own": json.RawMessage(`1`)}}, nil)
	for _, e := range before {
		w.Before(e)
	}
	b := w.Begin(nil)
	for _, e := range events {
		b = w.Event(b, e, "")
	}
	var list []string
	for _, line := range strings.Split(strings.TrimSpace(string(w.End(b))), "\n\n") {
		last = map[string]any{}
		require.NoError(t, json.Unmarshal([]byte(strings.TrimPrefix(line, "data: ")), &last))
		list, all = append(list, last["type"].(string)), append(all, last)
	}
	return strings.Join(list, " "), last, all
}

func TestEveryStepTextAndCallThatBeginsEnds(t *testing.T) {
	types, last, all := run(t, nil,
		chat.Event{Type: chat.EventStatus, Node: chat.NodeDocs, Message: "Finding"},
		chat.Event{Type: chat.EventStatus, Node: chat.NodeDocs, DocsFound: []chat.DocRef{{ID: "d", Title: "T"}}},
		chat.Event{Type: chat.EventStatus, Node: chat.NodeModel},
		chat.Event{Type: chat.EventToken, Text: "Hi"}, chat.Event{Type: chat.EventText, Text: "Hi"},
		chat.Event{Type: chat.EventToolCall, ToolCallID: "c", ToolName: "look", Arguments: `{"a":1}`},
		chat.Event{Type: chat.EventToolResult, ToolCallID: "c", ToolName: "look", Text: "r", IsError: true},
		chat.Event{Type: chat.EventText, Text: "Done"},
		chat.Event{Type: chat.EventResponse, TurnID: "turn", Response: &chat.Response{Text: "Done", Usage: chat.Usage{TokensIn: 1, TokensOut: 2}, Citations: []chat.Citation{{N: 1, DocID: "d"}}}})
	require.Equal(t, "RUN_STARTED STEP_STARTED STATE_SNAPSHOT STEP_FINISHED STEP_STARTED TEXT_MESSAGE_START TEXT_MESSAGE_CONTENT TEXT_MESSAGE_END "+
		"TOOL_CALL_START TOOL_CALL_ARGS TOOL_CALL_END TOOL_CALL_RESULT TEXT_MESSAGE_START TEXT_MESSAGE_CONTENT TEXT_MESSAGE_END STATE_SNAPSHOT STEP_FINISHED RUN_FINISHED", types)
	require.Equal(t, map[string]any{"type": "success"}, last["outcome"])
	require.Equal(t, []any{map[string]any{"inputTokens": 1.0, "outputTokens": 2.0, "totalTokens": 3.0}}, last["usage"])
	state := all[len(all)-3]["snapshot"].(map[string]any)
	require.Equal(t, 1.0, state["own"], "the client's own state stays")
	require.Equal(t, "d", state["palaver"].(map[string]any)["documents"].([]any)[0].(map[string]any)["id"])
	require.NotEqual(t, all[5]["messageId"], all[12]["messageId"])
}

func TestHowARunEnds(t *testing.T) {
	q := &chat.Interrupt{ID: "turn.q1", Type: chat.ToolApproval, Message: "May I?", Calls: []chat.ToolCall{{ID: "c", Name: "draw", Arguments: json.RawMessage(`{}`)}}}
	types, last, _ := run(t, nil, chat.Event{Type: chat.EventInterrupt, TurnID: "turn", Interrupt: q})
	require.Equal(t, "RUN_STARTED TOOL_CALL_START TOOL_CALL_ARGS TOOL_CALL_END RUN_FINISHED", types)
	asked := last["outcome"].(map[string]any)["interrupts"].([]any)[0].(map[string]any)
	require.Equal(t, []any{"turn.q1", "tool_approval", "c"}, []any{asked["id"], asked["reason"], asked["toolCallId"]})
	require.Contains(t, asked["responseSchema"].(map[string]any)["properties"], "approved")

	types, last, _ = run(t, []chat.Event{{Type: chat.EventToolCall, ToolCallID: "c"}, {Type: chat.EventText, Text: "One"}},
		chat.Event{Type: chat.EventToolResult, ToolCallID: "c"}, chat.Event{Type: chat.EventCancelled, Partial: "One\n\nTwo"})
	require.Equal(t, "RUN_STARTED TOOL_CALL_RESULT TEXT_MESSAGE_START TEXT_MESSAGE_CONTENT TEXT_MESSAGE_END RUN_FINISHED", types, "what an earlier run has shown is not repeated")
	require.Equal(t, map[string]any{"type": "cancelled"}, last["outcome"])

	types, last, _ = run(t, nil, chat.Event{Type: chat.EventToken, Text: "Hal"}, chat.Event{Type: chat.EventFailed, Code: "internal", Message: "m", Partial: "Half"})
	require.True(t, strings.HasSuffix(types, "TEXT_MESSAGE_END RUN_ERROR"), types)
	require.Equal(t, []any{"m", "internal"}, []any{last["message"], last["code"]})
}

// stored returns the messages of a turn in the store.
func stored(more ...chat.Message) []chat.Message {
	all := append([]chat.Message{{Role: "user", Content: "Hi", Metadata: map[string]any{"client_turn_id": "mine#2"}}}, more...)
	for i := range all {
		all[i].TurnID, all[i].ID = "turn", "turn.m"+strconv.Itoa(i)
	}
	return all
}

// snapshot returns what a snapshot has of a turn, in short.
func snapshot(t *testing.T, rows []chat.Message, view dialect.View, known []string, events ...chat.Event) (list []string) {
	t.Helper()
	has := map[string]bool{}
	for _, id := range known {
		has[id] = true
	}
	for _, m := range messagesOf(rows, dialect.TurnLog{Turn: chat.Turn{ID: "turn"}, Events: events}, nil, view, has) {
		require.Equal(t, "turn", m.Metadata["turn_id"])
		text := ""
		if m.ToolCalls != nil {
			require.Nil(t, m.Content)
			text = m.ToolCalls[0].Function.Name + m.ToolCalls[0].Function.Arguments
		} else {
			text = m.Content.(string)
		}
		if m.Metadata["is_error"] == true {
			text += "!"
		}
		list = append(list, m.Role+" "+m.ID+": "+text)
	}
	return list
}

var approval = &chat.Interrupt{ID: "turn.q1", Type: chat.ToolApproval, Message: "May I?", Calls: []chat.ToolCall{{ID: "d", Name: "draw", Arguments: json.RawMessage(`{"b":2}`)}}}

// turnWithQuestion is the log of a turn with two calls and a question about one.
var turnWithQuestion = []chat.Event{
	{N: 1, Type: chat.EventText, Text: "One"},
	{N: 2, Type: chat.EventToolCall, ToolCallID: "c", ToolName: "look", Arguments: `{"a":1}`},
	{N: 3, Type: chat.EventInterrupt, Interrupt: approval},
	{N: 4, Type: chat.EventResumed, Interrupt: &chat.Interrupt{ID: "turn.q1"}},
	{N: 5, Type: chat.EventToolResult, ToolCallID: "c", ToolName: "look", Text: "no", IsError: true},
	{N: 6, Type: chat.EventToolResult, ToolCallID: "d", ToolName: "draw", Text: "yes"},
	{N: 7, Type: chat.EventCancelled, Partial: "One\n\nTw", Citations: []chat.Citation{{N: 1, DocID: "d"}}},
}

// Rule P3.
func TestASnapshotHasTheMessagesOfTheStream(t *testing.T) {
	rows := stored(
		chat.Message{Role: "system", Content: "May I?", Metadata: map[string]any{"kind": "question", "interrupt_id": "turn.q1"}},
		chat.Message{Role: "user", Content: "Approved", Metadata: map[string]any{"kind": "answer", "interrupt_id": "turn.q1"}},
		chat.Message{Role: "system", Content: "Restored", Metadata: map[string]any{"kind": "notice"}},
		chat.Message{Role: "assistant", Content: "One\n\nTw"})
	live := []string{"user mine: Hi", "assistant turn.t1: One", `assistant c: look{"a":1}`, "tool c-result: no!", `assistant d: draw{"b":2}`, "tool d-result: yes", "assistant turn.t2: Tw"}
	require.Equal(t, live, snapshot(t, rows, dialect.View{}, []string{"mine"}, turnWithQuestion...))
	require.Equal(t, live, snapshot(t, rows, dialect.View{}, []string{"turn.t1"}, turnWithQuestion...))

	fresh := slices.Insert(slices.Clone(live), 6, "assistant turn.m1: May I?", "user turn.m2: Approved")
	require.Equal(t, fresh, snapshot(t, rows, dialect.View{}, nil, turnWithQuestion...), "a client without the turn gets its questions in their place")
	require.Equal(t, fresh, snapshot(t, rows, dialect.View{}, []string{"mine", "turn.m1", "turn.m2"}, turnWithQuestion...), "and keeps them")

	require.Equal(t, []string{"user mine: Hi", "assistant turn.t1: One", `assistant d: draw{"b":2}`, "tool d-result: yes", "assistant turn.t2: Tw"},
		snapshot(t, rows, dialect.View{Messages: true}, []string{"mine"}, turnWithQuestion...), "as the view shows the turn")
	require.Equal(t, []string{"user mine: Hi"}, snapshot(t, stored(), dialect.View{}, nil), "a turn that runs")

	all := messagesOf(rows, dialect.TurnLog{Turn: chat.Turn{ID: "turn"}, Events: turnWithQuestion}, []chat.Attachment{{ID: "p"}}, dialect.View{}, nil)
	require.Equal(t, []partJSON{{Type: "text", Text: "Hi"}, {Type: "image", Source: &sourceJSON{"url", "/api/attachments/p"}}}, all[0].Content)
	require.Contains(t, all[len(all)-1].Metadata, "citations")
}

func TestAPieceHasTheSameIDInEveryRunAndInTheSnapshot(t *testing.T) {
	ids := func(before []chat.Event, events ...chat.Event) (ids []string) {
		_, _, all := run(t, before, events...)
		for _, e := range all {
			if e["type"] == textStart {
				ids = append(ids, e["messageId"].(string))
			}
		}
		return ids
	}
	restarted := []chat.Event{{Type: chat.EventToken, Text: "Ha"}, {Type: chat.EventNotice, Code: chat.NoticeRestarted}, {Type: chat.EventToken, Text: "Half"}, {Type: chat.EventText, Text: "Half"}}
	require.Equal(t, []string{"turn.t1", "turn.t1.r1", "turn.t2"}, ids(nil, append(restarted, chat.Event{Type: chat.EventText, Text: "Two"})...))
	require.Equal(t, []string{"turn.t2"}, ids([]chat.Event{{Type: chat.EventText, Text: "Half"}}, chat.Event{Type: chat.EventText, Text: "Two"}))
}

func TestACallOfAnAnsweredQuestionIsShownOnce(t *testing.T) {
	types, _, _ := run(t, turnWithQuestion[:4], turnWithQuestion[4:]...)
	require.NotContains(t, types, "TOOL_CALL_START")
	w := NewWire(dialect.Stream{Turn: chat.Turn{ID: "turn"}}, Run{}, nil)
	out := string(w.Event(w.Answered(nil, turnWithQuestion[2], ""), turnWithQuestion[5], ""))
	require.Equal(t, 1, strings.Count(out, "TOOL_CALL_START"))
	require.Contains(t, out, `{\"b\":2}`)
}

// For any body, Parse returns a run or an error that names a field, and never panics.
func FuzzParse(f *testing.F) {
	f.Add(`{"threadId":"t","runId":"r","messages":[{"id":"a","role":"user","content":"x"}],"resume":[{"interruptId":"q","status":"resolved","payload":{"approved":true}}]}`)
	f.Add(`{"threadId":"t","runId":"r","messages":[{"id":"a","role":"user","content":[{"type":"image","source":{"type":"data","value":"AAAA"}}]}],"forwardedProps":{"palaver":{"tagged_doc_ids":["x"]}}}`)
	f.Fuzz(func(t *testing.T, body string) {
		r, err := Parse([]byte(body), agents)
		var p dialect.Problems
		require.False(t, err != nil && (!errors.As(err, &p) || len(p) == 0), "%q: %v", body, err)
		require.False(t, err == nil && r.Message != nil && r.Message.Text == "" && len(r.Message.Files)+len(r.Message.Attachments) == 0, "%q: the message is empty", body)
	})
}

func TestAPartialKeepsItsCitations(t *testing.T) {
	cited := []chat.Citation{{N: 1, Source: "web", URL: "https://e.x/", Title: "W"}}
	for _, e := range []chat.Event{
		{Type: chat.EventCancelled, TurnID: "turn", Partial: "Half [1]", Citations: cited},
		{Type: chat.EventFailed, TurnID: "turn", Code: "internal", Message: "m", Partial: "Half [1]", Citations: cited},
	} {
		_, _, all := run(t, nil, e)
		state := all[len(all)-2]
		require.Equal(t, "STATE_SNAPSHOT", state["type"], e.Type)
		kept := state["snapshot"].(map[string]any)["palaver"].(map[string]any)["citations"].([]any)
		require.Equal(t, "https://e.x/", kept[0].(map[string]any)["url"], e.Type)
	}
}
