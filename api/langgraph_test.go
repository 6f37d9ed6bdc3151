package api

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/testkit/must"
)

const sample = `{"type":"meta","phase":"start","thread_id":"my-thread","checkpoint_id":null}`

// human is a body of POST /api/v1/chat/stream.
func human(thread string, checkpoint any, text string, more ...string) map[string]any {
	body := map[string]any{"thread_id": thread, "checkpoint_id": checkpoint,
		"message": map[string]any{"role": "human", "content": text}, "messages": []any{}}
	for i := 0; i+1 < len(more); i += 2 {
		body[more[i]] = more[i+1]
	}
	return body
}

// say sends a message in the LangGraph dialect.
func (c *client) say(thread string, checkpoint any, text string, more ...string) *events {
	c.t.Helper()
	return c.stream("POST", "/api/v1/chat/stream", human(thread, checkpoint, text, more...))
}

func feedback(thread string, checkpoint any, approval map[string]any) map[string]any {
	return map[string]any{"thread_id": thread, "checkpoint_id": checkpoint, "approval_data": approval}
}

func decided(decisions ...map[string]any) map[string]any {
	return map[string]any{"type": "tool_approval", "decisions": decisions}
}

// lines returns the remaining blocks of a stream without "data: ". Consecutive tokens are
// joined.
func (e *events) lines() []string {
	e.t.Helper()
	var out []string
	text := ""
	for {
		block, ok := e.block()
		var token struct{ Type, Content string }
		data, found := strings.CutPrefix(block, "data: ")
		_ = json.Unmarshal([]byte(data), &token)
		switch {
		case token.Type == "token":
			text += token.Content
			continue
		case text != "":
			whole, _ := json.Marshal(map[string]string{"type": "token", "content": text})
			out, text = append(out, string(whole)), ""
		}
		switch {
		case !ok:
			return out
		case found:
			out = append(out, data)
		case !strings.HasPrefix(block, ":"):
			e.t.Fatalf("block %q", block)
		}
	}
}

func wantLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	assert.True(t, slices.Equal(got, want), "got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
}

// painting is the script of a turn that asks before it calls two tools.
func painting(u *turn) {
	refs := []chat.CallRef{{ID: "c1", Name: "generate_image", Editable: true}, {ID: "c2", Name: "generate_image"}}
	for i, ref := range refs {
		u.must(u.e.store.PutText(context.Background(), u.ref.Owner, u.ref.TurnID, chat.CallKey(ref.ID), []string{`{"prompt":"a cat"}`, `{"prompt":"a dog"}`}[i]))
		u.must(u.e.store.PutText(context.Background(), u.ref.Owner, u.ref.TurnID, chat.SchemaKey(ref.Name),
			`{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"],"additionalProperties":false}`))
		u.must(u.e.store.PutText(context.Background(), u.ref.Owner, u.ref.TurnID, chat.ToolKey(ref.Name), `{"name":"generate_image","description":"Draw a picture.","effect":"changes"}`))
		u.add(chat.Entry{Type: chat.EventToolCall, Call: &ref})
	}
	v, ok := u.ask(chat.Question{Type: chat.ToolApproval, Prompt: chat.PromptApproveTools, Calls: refs})
	if !ok {
		return
	}
	for i, d := range v.Decisions {
		u.must(u.e.store.PutText(context.Background(), u.ref.Owner, u.ref.TurnID, chat.ResultKey(d.ID), string(d.Decision)+" "+string(d.Arguments)+d.Reason))
		u.add(chat.Entry{Type: chat.EventToolResult, Call: &refs[i], IsError: d.Decision == chat.Rejected})
	}
	u.say(1, "Here ", "it is.")
	u.finish()
}

const (
	call1    = `{"id":"c1","name":"generate_image","arguments":{"prompt":"a cat"}}`
	call2    = `{"id":"c2","name":"generate_image","arguments":{"prompt":"a dog"}}`
	approval = `{"type":"tool_approval_required","tool_calls":[` + call1 + `,` + call2 + `]}`
)

// Rule G1.
func TestLangGraphMessageIsStreamedInLangGraphShapesOnly(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	s := c.say("my-thread", nil, "What is the answer?")
	for name, want := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "X-Accel-Buffering": "no"} {
		assert.EqualValues(t, want, s.res.Header.Get(name), name)
	}
	turnID, thread := s.res.Header.Get("X-Turn-Id"), s.res.Header.Get("X-Thread-Id")
	wantLines(t, s.lines(), sample, `{"content":"The answer is 42.","type":"token"}`,
		`{"type":"meta","phase":"complete","checkpoint_id":"`+turnID+`"}`, `{"type":"done"}`, `[DONE]`)
	turn, err := b.store.Turn(t.Context(), c.id(), turnID)
	assert.True(t, err == nil && turn.Content.Agent == chat.AgentAssistant && turn.Content.Message == "What is the answer?", "%+v %v", turn, err)
	// Each user has their own thread of this name, and it is the same in every dialect.
	assert.EqualValues(t, 2, len(c.call(200, "GET", "/api/chat/history/"+thread, nil)["messages"].([]any)), "history")
	other := b.client().say("my-thread", nil, "What is the answer?")
	other.lines()
	assert.True(t, other.res.Header.Get("X-Thread-Id") != thread, "two people share a thread by its name")
	byUUID := c.say(strings.ToUpper(someThread), nil, "x")
	if got := byUUID.lines()[0]; byUUID.res.Header.Get("X-Thread-Id") != someThread || !strings.Contains(got, strings.ToUpper(someThread)) {
		t.Errorf("a UUID: %s, %s", byUUID.res.Header.Get("X-Thread-Id"), got)
	}
}

// Rule G3.
func TestLangGraphCheckpointIsTheParentOfTheNewTurn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	first := c.say("t", nil, "one")
	first.lines()
	parent := first.res.Header.Get("X-Turn-Id")
	second := c.say("t", parent, "two")
	assert.EqualValues(t, `{"type":"meta","phase":"start","thread_id":"t","checkpoint_id":"`+parent+`"}`, second.lines()[0], "start")
	turn, err := b.store.Turn(t.Context(), c.id(), second.res.Header.Get("X-Turn-Id"))
	assert.True(t, err == nil && turn.Content.ParentRequest == parent, "%+v %v", turn.Content, err)
	for _, bad := range []string{"nowhere", uuid.NewString(), "x.q1"} {
		assert.EqualValues(t, "checkpoint_id", field(c.call(400, "POST", "/api/v1/chat/stream", human("t", bad, "x"))), bad)
	}
	assert.EqualValues(t, "checkpoint_id", field(c.call(400, "POST", "/api/v1/chat/stream", human("another", parent, "x"))), "of another thread")
	c.say("t", "root", "three").lines()
}

// Rules G5, G6.
func TestLangGraphFeedbackOnAnApprovalContinuesTheTurn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.script = painting
	c := b.client()
	s := c.say("my-thread", nil, "Draw a cat and a dog")
	turnID := s.res.Header.Get("X-Turn-Id")
	checkpoint := turnID + ".q1"
	wantLines(t, s.lines(), sample, `{"type":"tool_call",`+call1[1:], `{"type":"tool_call",`+call2[1:],
		`{"type":"interrupt","payload":`+approval+`}`, `{"type":"meta","phase":"interrupt","checkpoint_id":"`+checkpoint+`"}`, `{"type":"done"}`, `[DONE]`)

	interrupt := func(query string) string {
		t.Helper()
		raw := must.Have(json.Marshal(c.call(200, "GET", "/api/v1/chat/interrupt?thread_id=my-thread"+query, nil)))(t)
		return string(raw)
	}
	pending := `{"checkpoint_id":"` + checkpoint + `","interrupted":true,"payload":` + sorted(t, approval) + `,"thread_id":"my-thread"}`
	for _, query := range []string{"", "&checkpoint_id=" + checkpoint, "&checkpoint_id=" + turnID} {
		assert.EqualValues(t, pending, interrupt(query), query)
	}
	assert.EqualValues(t, `{"checkpoint_id":"another","interrupted":false,"thread_id":"my-thread"}`, interrupt("&checkpoint_id=another"), "at another checkpoint")

	yes, no := map[string]any{"id": "c1", "decision": "approved", "arguments": map[string]any{"prompt": "two cats"}}, map[string]any{"id": "c2", "decision": "rejected", "reason": "too many"}
	for name, bad := range map[string]map[string]any{
		"one undecided": feedback("my-thread", checkpoint, decided(yes)),
		"another call":  feedback("my-thread", checkpoint, decided(yes, no, map[string]any{"id": "c3", "decision": "approved"})),
		"decided twice": feedback("my-thread", checkpoint, decided(yes, yes, no)),
		"no decision":   feedback("my-thread", checkpoint, decided()),
		"arguments that break the schema": feedback("my-thread", checkpoint, decided(
			map[string]any{"id": "c1", "decision": "approved", "arguments": map[string]any{"prompt": 7}}, no)),
		"an answer instead": feedback("my-thread", checkpoint, map[string]any{"type": "answer", "value": "yes"}),
	} {
		if got := c.call(400, "POST", "/api/v1/chat/feedback", bad); errorCode(got) != chat.CodeBadResume || !strings.HasPrefix(field(got), "approval_data") {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := c.call(400, "POST", "/api/v1/chat/feedback", feedback("my-thread", turnID+".q2", decided(yes, no))); errorCode(got) != chat.CodeNoInterrupt || field(got) != "checkpoint_id" {
		t.Errorf("another checkpoint: %v", got)
	}
	assert.EqualValues(t, chat.CodeNotFound, errorCode(b.client().call(404, "POST", "/api/v1/chat/feedback", feedback("my-thread", checkpoint, decided(yes, no)))), "somebody else")
	assert.EqualValues(t, pending, interrupt(""), "nothing has run, but")

	wantLines(t, c.stream("POST", "/api/v1/chat/feedback", feedback("my-thread", checkpoint, decided(yes, no))).lines(),
		`{"type":"meta","phase":"start","thread_id":"my-thread","checkpoint_id":"`+checkpoint+`"}`,
		`{"type":"tool_result","tool_call_id":"c1","name":"generate_image","content":"approved {\"prompt\":\"two cats\"}"}`,
		`{"type":"tool_result","tool_call_id":"c2","name":"generate_image","content":"rejected too many"}`,
		`{"content":"Here it is.","type":"token"}`,
		`{"type":"meta","phase":"complete","checkpoint_id":"`+turnID+`"}`, `{"type":"done"}`, `[DONE]`)
	assert.EqualValues(t, chat.CodeNoInterrupt, errorCode(c.call(400, "POST", "/api/v1/chat/feedback", feedback("my-thread", checkpoint, decided(yes, no)))), "answered already")
	assert.EqualValues(t, `{"checkpoint_id":"`+turnID+`","interrupted":false,"thread_id":"my-thread"}`, interrupt(""), "when answered")
}

// sorted returns JSON with its keys sorted.
func sorted(t *testing.T, s string) string {
	t.Helper()
	var v any
	err := json.Unmarshal([]byte(s), &v)
	out, again := json.Marshal(v)
	require.True(t, err == nil && again == nil, "%v %v", err, again)
	return string(out)
}

// Rule G4.
func TestLangGraphQuestionIsAnsweredByAValue(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.script = asking
	c := b.client()
	s := c.say("t", nil, "Do it", "agent", "documents")
	got := s.lines()
	checkpoint := s.res.Header.Get("X-Turn-Id") + ".q1"
	if want := `{"type":"interrupt","payload":{"type":"question","interrupt_type":"action_choice","message":"I'm not sure what action you'd like. Please choose:",` +
		`"options":[{"id":"inquire","label":"Inquire"},{"id":"audit","label":"Audit"}]}}`; len(got) != 5 || got[1] != want {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	for _, bad := range []map[string]any{{"type": "answer", "value": "dance"}, {"type": "answer", "value": nil}, decided()} {
		assert.EqualValues(t, chat.CodeBadResume, errorCode(c.call(400, "POST", "/api/v1/chat/feedback", feedback("t", nil, bad))), bad)
	}
	rest := c.stream("POST", "/api/v1/chat/feedback", feedback("t", checkpoint, map[string]any{"type": "answer", "value": "audit"})).lines()
	assert.True(t, len(rest) == 5 && rest[1] == `{"content":"The answer is 42.","type":"token"}`, "%s", strings.Join(rest, "\n"))
}

// Rule G7.
func TestUnusedThreadIsNotInterrupted(t *testing.T) {
	t.Parallel()
	c := setup(t).client()
	for _, thread := range []string{"never-seen", uuid.NewString()} {
		got := c.call(200, "GET", "/api/v1/chat/interrupt?thread_id="+thread, nil)
		assert.True(t, got["thread_id"] == thread && got["interrupted"] == false && got["checkpoint_id"] == nil && len(got) == 3, "%v", got)
	}
	for _, query := range []string{"", "?thread_id=", "?thread_id=a%20b", "?thread_id=" + strings.Repeat("x", 129)} {
		assert.EqualValues(t, "thread_id", field(c.call(400, "GET", "/api/v1/chat/interrupt"+query, nil)), query)
	}
	assert.EqualValues(t, "checkpoint_id", field(c.call(400, "GET", "/api/v1/chat/interrupt?thread_id=t&checkpoint_id=%0a", nil)))
}

func TestLangGraphRetryJoinsItsTurn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	first := c.say("t", nil, "x", "client_turn_id", "c1")
	one := first.lines()
	again := c.say("t", nil, "x", "client_turn_id", "c1", "stream_mode", "messages")
	two := again.lines()
	assert.True(t, first.res.Header.Get("X-Turn-Id") == again.res.Header.Get("X-Turn-Id") && slices.Equal(one, two) && b.engine.submitCount() == 1, "%v\n%v", one, two)
	assert.EqualValues(t, chat.CodeTurnConflict, errorCode(c.call(409, "POST", "/api/v1/chat/stream", human("t", nil, "y", "client_turn_id", "c1"))))
}

func TestLangGraphMessageHasPictures(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	id := c.upload(201, "file", "x.png", tinyPNG)["id"].(string)
	body := human("t", nil, "")
	content := func(image string) map[string]any {
		body["message"] = map[string]any{"role": "human", "content": []any{
			map[string]any{"type": "text", "text": "What is this?"}, map[string]any{"type": "image", "image": image}}}
		return body
	}
	s := c.stream("POST", "/api/v1/chat/stream", content("chatbot://"+id))
	s.lines()
	turn, err := b.store.Turn(t.Context(), c.id(), s.res.Header.Get("X-Turn-Id"))
	assert.True(t, err == nil && turn.Content.Message == "What is this?" && slices.Equal(turn.Content.Attachments, []string{id}), "%+v %v", turn.Content, err)
	assert.EqualValues(t, "message.content", field(c.call(400, "POST", "/api/v1/chat/stream", content("chatbot://"+uuid.NewString()))))
	assert.EqualValues(t, "message.content", field(b.client().call(400, "POST", "/api/v1/chat/stream", content("chatbot://"+id))), "somebody else's")
}

func TestFailureAndStopEndALangGraphStream(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.script = func(u *turn) { u.failed(chat.CodeModelTimeout) }
	c := b.client()
	wantLines(t, c.say("my-thread", nil, "x").lines(), sample, `{"type":"error","error":"The model took too long to answer. Please try again."}`, `[DONE]`)
	b.engine.set(func() { b.engine.script = waiting })
	s := c.say("my-thread", nil, "x")
	turnID := s.res.Header.Get("X-Turn-Id")
	c.call(202, "POST", "/api/chat/cancel", map[string]any{"turn_id": turnID})
	wantLines(t, s.lines(), sample, `{"type":"meta","phase":"complete","checkpoint_id":"`+turnID+`"}`, `{"type":"done"}`, `[DONE]`)
	b.engine.set(func() { b.engine.unavailable = context.DeadlineExceeded })
	assert.EqualValues(t, chat.CodeInternal, errorCode(c.call(503, "POST", "/api/v1/chat/feedback", feedback("my-thread", nil, decided(map[string]any{"id": "c", "decision": "rejected"})))))
}
