package api

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
)

// session posts a message in the agent v2 dialect.
func (c *client) session(fields map[string]any) *events {
	c.t.Helper()
	body := map[string]any{"message": "What is the answer?", "client_turn_id": "c1", "stream_run_id": "r1"}
	for name, value := range fields {
		body[name] = value
	}
	return c.stream("POST", "/api/agent/v2/stream", body)
}

// content returns the text of all text events.
func content(all []map[string]any) (s string) {
	for _, e := range all {
		if e["type"] == "text" {
			s += e["content"].(string)
		}
	}
	return s
}

// agentTypes lists the types of events, with one text for consecutive texts.
func agentTypes(all []map[string]any) string {
	var out []string
	for _, e := range all {
		if kind := e["type"].(string); kind != "text" || out[len(out)-1] != "text" {
			out = append(out, kind)
		}
	}
	return strings.Join(out, " ")
}

// Rules A1, A2.
func TestAgentV2StreamBeginsWithItsSessionAndEndsWithDone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	s := c.session(map[string]any{"session_id": "my-session"})
	all := s.rest()
	require.EqualValues(t, "session text done", agentTypes(all), "events")
	assert.True(t, all[0]["session_id"] == "my-session" && content(all) == "The answer is 42.", "%v", all)
	for _, e := range all {
		assert.EqualValues(t, "r1", e["stream_run_id"], "run of %v", e)
	}
	done := all[len(all)-1]
	usage := done["usage"].(map[string]any)
	if done["finished_reason"] != "stop" || done["client_turn_id"] != "c1" || usage["tokens_in"] != 10.0 || usage["cost_usd"] != 0.001 ||
		done["error"] != nil || done["interrupted_reason"] != nil {
		t.Errorf("done: %v", done)
	}
	turn, err := b.store.Turn(t.Context(), c.id(), s.res.Header.Get("X-Turn-Id"))
	assert.True(t, err == nil && turn.Content.Agent == chat.AgentAssistant && turn.ThreadID == s.res.Header.Get("X-Thread-Id"), "%+v, %v", turn, err)
	assert.EqualValues(t, "session text done", agentTypes(c.session(map[string]any{"client_turn_id": "c2", "stream_mode": "messages"}).rest()), "messages")
}

func TestAgentV2RetryOfTheFirstMessageJoinsItsSession(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	first := c.session(nil)
	one := first.rest()
	again := c.session(map[string]any{"stream_run_id": "r2"})
	two := again.rest()
	assert.True(t, one[0]["session_id"] == two[0]["session_id"] && first.res.Header.Get("X-Turn-Id") == again.res.Header.Get("X-Turn-Id"), "%v, %v", one[0], two[0])
	assert.True(t, content(one) == content(two) && two[len(two)-1]["stream_run_id"] == "r2" && len(b.engine.submits) == 1, "%v", two)
	// The session continues under the id that the first response had.
	next := c.session(map[string]any{"session_id": one[0]["session_id"], "client_turn_id": "c2"})
	assert.EqualValues(t, first.res.Header.Get("X-Thread-Id"), next.res.Header.Get("X-Thread-Id"), "the next message began another session")
	next.rest()
}

// Rule A1.
func TestAgentV2ShowsEveryWayThatATurnEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]struct {
		script  func(*turn)
		reason  string
		why     any
		code    any
		content string
	}{
		"cancelled": {func(u *turn) { u.cancelled(chat.Superseded) }, "cancelled", "superseded", nil, "The ans"},
		"failed":    {func(u *turn) { u.failed(chat.CodeModelTimeout) }, "error", nil, chat.CodeModelTimeout, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.engine.script = end.script
			all := b.client().session(nil).rest()
			done := all[len(all)-1]
			failure, _ := done["error"].(map[string]any)
			assert.True(t, done["finished_reason"] == end.reason && done["interrupted_reason"] == end.why && failure["code"] == end.code && content(all) == end.content, "%v", all)
		})
	}
}

// Rule A4.
func TestAgentV2QuestionEndsTheStreamAndTheAnswerContinuesTheTurn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.script = func(u *turn) {
		u.say(1, "Well. ")
		if _, ok := u.ask(question); ok {
			answer(u)
		}
	}
	c := b.client()
	all := c.session(map[string]any{"session_id": "s1"}).rest()
	if got := agentTypes(all); got != "session text interrupt done" || all[len(all)-1]["finished_reason"] != "interrupted" {
		t.Fatalf("events: %v", all)
	}
	if q := all[len(all)-2]; q["interrupt_type"] != "action_choice" || q["session_id"] != "s1" || q["checkpoint_id"] != q["interrupt_id"] {
		t.Errorf("interrupt: %v", q)
	}
	bad := map[string]any{"session_id": "s1", "resume_value": map[string]any{"type": "action_choice", "value": "dance"}}
	assert.EqualValues(t, chat.CodeBadResume, errorCode(c.call(400, "POST", "/api/agent/v2/resume", bad)))
	rest := c.stream("POST", "/api/agent/v2/resume", map[string]any{"session_id": "s1", "stream_run_id": "r2",
		"resume_value": map[string]any{"type": "action_choice", "value": "audit"}}).rest()
	if got := agentTypes(rest); got != "session text done" || rest[0]["stream_run_id"] != "r2" || content(rest) != "The answer is 42." {
		t.Errorf("%v", rest)
	}
	assert.EqualValues(t, chat.CodeNoInterrupt, errorCode(c.call(400, "POST", "/api/agent/v2/resume", bad)), "answered already")
}

// Rule A4.
func TestAgentV2StopsByRunOrTurn(t *testing.T) {
	t.Parallel()
	for name, ref := range map[string]map[string]any{
		"run":          {"stream_run_id": "r1"},
		"turn":         {"client_turn_id": "c1", "session_id": "s1"},
		"nothing else": {"client_turn_id": "c1", "reason": "superseded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.engine.script = waiting
			c := b.client()
			s := c.session(map[string]any{"session_id": "s1"})
			s.until("session")
			assert.EqualValues(t, s.res.Header.Get("X-Turn-Id"), c.call(202, "POST", "/api/agent/v2/stop", ref)["turn_id"], "answer")
			want := ref["reason"]
			if want == nil {
				want = "user_cancelled"
			}
			if done := s.until("done"); done["finished_reason"] != "cancelled" || done["interrupted_reason"] != want {
				t.Errorf("done: %v", done)
			}
		})
	}
}

// Rule A3.
func TestAgentV2TurnEndsWithItsClientUnlessOnDisconnectIsContinue(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.server.grace = time.Millisecond
	ended := make(chan chat.CancelReason, 1)
	b.engine.script = func(u *turn) {
		why := <-u.stop
		ended <- why
		u.cancelled(why)
	}
	c := b.client()
	s := c.session(nil)
	s.until("session")
	s.close()
	assert.EqualValues(t, chat.Disconnected, <-ended, "ended")
}

func TestAgentV2ErrorNamesTheInvalidField(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	for _, r := range []struct {
		path  string
		body  string
		field string
	}{
		{"stream", `{"message":"x","stream_run_id":"r"}`, "client_turn_id"},
		{"stream", `{"message":"x","client_turn_id":"c"}`, "stream_run_id"},
		{"stream", `{"message":" ","client_turn_id":"c","stream_run_id":"r"}`, "message"},
		{"stream", `{"message":"x","client_turn_id":"c","stream_run_id":"r","session_id":"a b"}`, "session_id"},
		{"stream", `{"message":"x","client_turn_id":"c","stream_run_id":"r","tagged_doc_ids":"d"}`, "tagged_doc_ids"},
		{"resume", `{"resume_value":{"type":"cancel","value":null}}`, "session_id"},
		{"resume", `{"session_id":"s"}`, "resume_value"},
		{"stop", `{"session_id":"s"}`, "stream_run_id"},
		{"stop", `{"stream_run_id":"r","reason":"boredom"}`, "reason"},
	} {
		assert.EqualValues(t, r.field, field(c.call(400, "POST", "/api/agent/v2/"+r.path, r.body)), "%v %v", r.path, r.body)
	}
}
