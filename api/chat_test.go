package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/testkit/must"
)

const someThread = "7b1f6f0e-2f0c-4a53-9a39-6b5d3c2c1f11"

// question is the question that turns of these tests ask.
var question = chat.Question{Type: chat.ActionChoice, Prompt: chat.PromptWhichAction, OptionIDs: []string{"inquire", "audit"}}

// asking is the script of a turn that asks a person first.
func asking(u *turn) {
	u.add(chat.Entry{Type: chat.EventStatus, Node: chat.NodeIntent})
	if _, ok := u.ask(question); ok {
		answer(u)
	}
}

// waiting is the script of a turn that writes until it is stopped.
func waiting(u *turn) {
	u.add(chat.Entry{Type: chat.EventStatus, Node: chat.NodeInquire})
	u.cancelled(<-u.stop)
}

// Rules N1, N2.
func TestChatStreamHasOneDataLinePerBlockAndEndsWithTheResponse(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.client().ask(map[string]any{"thread_id": someThread, "stream_run_id": "run-1"})
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "X-Accel-Buffering": "no",
		"X-Thread-Id": someThread, "X-Stream-Run-Id": "run-1",
	} {
		assert.EqualValues(t, want, s.res.Header.Get(name), name)
	}
	turnID := s.res.Header.Get("X-Turn-Id")
	var all []map[string]any
	for {
		block, ok := s.block()
		if !ok {
			break
		}
		data, found := strings.CutPrefix(block, "data: ")
		require.True(t, found && !strings.Contains(data, "\n"), "block %q", block)
		e := map[string]any{}
		require.NoError(t, json.Unmarshal([]byte(data), &e))
		if id, _ := e["event_id"].(string); !strings.HasPrefix(id, turnID+".") {
			t.Errorf("event id %q of turn %s", id, turnID)
		}
		all = append(all, e)
	}
	require.EqualValues(t, "status token response", types(all), "events")
	assert.EqualValues(t, "The answer is 42.", text(all), "tokens")
	r := all[len(all)-1]
	if c, isList := r["citations"].([]any); !isList || len(c) != 0 {
		t.Errorf("citations: %v", r["citations"])
	}
	if r["thread_id"] != someThread || r["turn_id"] != turnID || r["checkpoint_id"] != turnID ||
		r["finish_reason"] != "stop" || r["tokens_used"] != 15.0 || r["cost_usd"] != 0.001 || r["action"] != "inquire" {
		t.Errorf("response: %v", r)
	}
}

// Rule T12.
func TestStreamOptionsLeaveOutEvents(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	assert.EqualValues(t, "status response", types(c.ask(map[string]any{"stream_tokens": false}).rest()), "without tokens")
	assert.EqualValues(t, "response", types(c.ask(map[string]any{"stream_mode": "messages"}).rest()), "messages only")
}

func TestServersStreamModeIsTheDefault(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *Deps) { d.Config.StreamMode = StreamMessages })
	c := b.client()
	for mode, want := range map[any]string{nil: "response", "messages": "response", "events": "status token response"} {
		body := map[string]any{"thread_id": uuid.NewString(), "stream_mode": mode}
		assert.EqualValues(t, want, types(c.ask(body).rest()), mode)
		query := ""
		if mode != nil {
			query = "&stream_mode=" + mode.(string)
		}
		path := "/api/chat/stream/" + body["thread_id"].(string) + "?turn_id="
		turn := c.call(200, "GET", "/api/chat/history/"+body["thread_id"].(string), nil)["messages"].([]any)[0].(map[string]any)["turn_id"]
		assert.EqualValues(t, want, types(c.stream("GET", path+turn.(string)+query, nil).rest()), mode)
	}
}

// Rule T14.
func TestRetriedSubmitJoinsItsTurnAndOtherContentIsAConflict(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	first := c.ask(map[string]any{"client_turn_id": "c1", "stream_run_id": "r1"})
	all := first.rest()
	again := c.ask(map[string]any{"client_turn_id": "c1", "stream_run_id": "r2", "stream_tokens": false})
	assert.EqualValues(t, again.res.Header.Get("X-Thread-Id"), first.res.Header.Get("X-Thread-Id"), "the retry began another conversation")
	assert.EqualValues(t, again.res.Header.Get("X-Turn-Id"), first.res.Header.Get("X-Turn-Id"), "the retry made another turn")
	replayed := again.rest()
	assert.True(t, types(all) == "status token response" && types(replayed) == "status response", "%s, then %s", types(all), types(replayed))
	assert.Len(t, b.engine.submits, 1)
	body := c.call(409, "POST", "/api/chat", map[string]any{"message": "Something else", "client_turn_id": "c1"})
	assert.EqualValues(t, chat.CodeTurnConflict, errorCode(body), "%v", body)
	other := b.client().ask(map[string]any{"client_turn_id": "c1"})
	assert.True(t, other.res.Header.Get("X-Thread-Id") != first.res.Header.Get("X-Thread-Id"), "two users with the same client_turn_id share a conversation")
}

func TestRetryOfARunningTurnFollowsIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	release := make(chan struct{})
	b.engine.script = func(u *turn) { <-release; answer(u) }
	c := b.client()
	one, two := c.ask(map[string]any{"client_turn_id": "c1"}), c.ask(map[string]any{"client_turn_id": "c1"})
	close(release)
	if a, b := one.rest(), two.rest(); types(a) != types(b) || text(a) != text(b) || types(a) != "status token response" {
		t.Errorf("%s %q, %s %q", types(a), text(a), types(b), text(b))
	}
}

// Rule N3.
func TestInterruptEndsTheStreamAndItsAnswerStreamsTheRest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.script = asking
	c := b.client()
	s := c.ask(map[string]any{"thread_id": someThread, "client_turn_id": "c1"})
	all := s.rest()
	require.EqualValues(t, "status interrupt", types(all), "events: %s", types(all))
	q := all[1]
	assert.True(t, q["interrupt_type"] == "action_choice" && q["interrupt_id"] != "" && q["checkpoint_id"] == q["interrupt_id"] && q["thread_id"] == someThread, "interrupt: %v", q)
	history := c.call(200, "GET", "/api/chat/history/"+someThread, nil)
	pending, _ := history["pending_interrupt"].(map[string]any)
	active, _ := history["active_turn"].(map[string]any)
	assert.True(t, pending["interrupt_id"] == q["interrupt_id"] && pending["message"] == q["message"] && active["turn_id"] == q["turn_id"], "history: %v", history)

	answer := func(interrupt, kind, value string) map[string]any {
		return map[string]any{"thread_id": someThread, "interrupt_id": interrupt,
			"resume_value": map[string]any{"type": kind, "value": value}}
	}
	assert.EqualValues(t, chat.CodeNoInterrupt, errorCode(c.call(400, "POST", "/api/chat/resume", answer("another", "action_choice", "audit"))), "another interrupt")
	assert.EqualValues(t, chat.CodeBadResume, errorCode(c.call(400, "POST", "/api/chat/resume", answer("", "action_choice", "dance"))), "no option")
	assert.EqualValues(t, 404, b.client().send("POST", "/api/chat/resume", answer("", "action_choice", "audit")).StatusCode, "somebody else's answer")
	remains := c.stream("POST", "/api/chat/resume", answer(q["interrupt_id"].(string), "action_choice", "audit")).rest()
	assert.True(t, types(remains) == "status token response" && remains[0]["node"] == "inquire", "remains: %v", remains)
	assert.EqualValues(t, chat.CodeNoInterrupt, errorCode(c.call(400, "POST", "/api/chat/resume", answer("", "action_choice", "audit"))), "answered already")
	// A retry of the first message has one terminal event too.
	assert.EqualValues(t, "status status token response", types(c.ask(map[string]any{"thread_id": someThread, "client_turn_id": "c1"}).rest()), "replayed")
}

// Rule N6.
func TestCancelledInterruptLeavesTheThreadUsable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.script = asking
	c := b.client()
	c.ask(map[string]any{"thread_id": someThread}).until("interrupt")
	all := c.stream("POST", "/api/chat/resume", map[string]any{"thread_id": someThread,
		"resume_value": map[string]any{"type": "cancel", "value": nil}}).rest()
	require.True(t, types(all) == "cancelled" && all[0]["reason"] == "user_cancelled", "events: %v", all)
	b.engine.set(func() { b.engine.script = answer })
	assert.EqualValues(t, "status token response", types(c.ask(map[string]any{"thread_id": someThread}).rest()), "the next message")
}

// Rule N7.
func TestCancelStopsTheNamedTurn(t *testing.T) {
	t.Parallel()
	for name, ref := range map[string]func(turnID string) map[string]any{
		"turn_id":        func(turnID string) map[string]any { return map[string]any{"turn_id": turnID} },
		"client_turn_id": func(string) map[string]any { return map[string]any{"thread_id": someThread, "client_turn_id": "c1"} },
		"stream_run_id":  func(string) map[string]any { return map[string]any{"stream_run_id": "r1"} },
		"thread_id":      func(string) map[string]any { return map[string]any{"thread_id": someThread} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.engine.script = waiting
			c := b.client()
			s := c.ask(map[string]any{"thread_id": someThread, "client_turn_id": "c1", "stream_run_id": "r1"})
			turnID := s.res.Header.Get("X-Turn-Id")
			s.until("status")
			got := c.call(202, "POST", "/api/chat/cancel", ref(turnID))
			assert.True(t, got["turn_id"] == turnID && got["status"] == "cancelling", "answer: %v", got)
			end := s.until("cancelled")
			assert.True(t, end["reason"] == "user_cancelled" && end["partial"] == "The ans" && end["turn_id"] == turnID, "end: %v", end)
			again := c.call(202, "POST", "/api/chat/cancel", ref(turnID))
			if want := map[bool]string{true: "idle", false: "cancelled"}[name == "thread_id"]; again["status"] != want {
				t.Errorf("again: %v", again)
			}
		})
	}
}

func TestRejectedSubmitToABusyThreadNamesTheRunningTurn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.refuse = &chat.RefusedError{Code: chat.CodeTurnRunning, TurnID: "the-turn"}
	body := b.client().call(409, "POST", "/api/chat", map[string]any{"message": "x", "on_busy": "reject"})
	e := body["error"].(map[string]any)
	assert.True(t, e["code"] == chat.CodeTurnRunning && e["turn_id"] == "the-turn", "%v", body)
}

func TestUnavailableEngineIsA503WithoutTheCause(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.unavailable = context.DeadlineExceeded
	c := b.client()
	for _, call := range [][2]string{{"POST", "/api/chat"}, {"POST", "/api/documents"}} {
		body := c.call(503, call[0], call[1], map[string]any{"message": "x", "title": "t", "text": "x"})
		assert.False(t, strings.Contains(body["error"].(map[string]any)["message"].(string), "deadline"), "%v", body)
	}
	assert.Zero(t, len(c.call(200, "GET", "/api/documents", nil)["items"].([]any)), "a document is left whose ingest could not begin")
}

func TestOnDisconnectCancelCancelsATurnWithoutFollowers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.server.grace = time.Millisecond
	ended := make(chan chat.CancelReason, 1)
	b.engine.script = func(u *turn) {
		u.add(chat.Entry{Type: chat.EventStatus, Node: chat.NodeInquire})
		why := <-u.stop
		ended <- why
		u.cancelled(why)
	}
	c := b.client()
	s := c.ask(map[string]any{"on_disconnect": "cancel"})
	s.until("status")
	s.close()
	assert.EqualValues(t, chat.Disconnected, <-ended, "ended")
}

func TestReconnectingAfterAnEventDeliversLaterEventsOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	all := c.ask(map[string]any{"thread_id": someThread}).rest()
	path := "/api/chat/stream/" + someThread
	for i, e := range all {
		id := e["event_id"].(string)
		if i == len(all)-1 {
			for _, header := range []string{"", id} {
				assert.EqualValues(t, 204, c.send("GET", path, nil, "Last-Event-ID", header).StatusCode, "nothing runs and no event is left, but status")
			}
			continue
		}
		s := c.stream("GET", path+"?last_event_id="+id, nil)
		rest := s.rest()
		if got, want := text(rest), text(all[i+1:]); got != want || types(rest) != types(all[i+1:]) {
			t.Errorf("after event %d: %s %q, want %s %q", i, types(rest), got, types(all[i+1:]), want)
		}
	}
	s := c.stream("GET", path+"?turn_id="+all[0]["event_id"].(string)[:36], nil)
	block, _ := s.block()
	assert.True(t, strings.HasPrefix(block, "id: ") && strings.Contains(block, "\ndata: {"), "block %q", block)
	assert.EqualValues(t, "last_event_id", field(c.call(400, "GET", path, nil, "Last-Event-ID", "nonsense")))
}

// Rule N15.
func TestAttachedStreamStaysOpenThroughAnInterrupt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.script = asking
	c := b.client()
	c.ask(map[string]any{"thread_id": someThread}).until("interrupt")
	watching := c.stream("GET", "/api/chat/stream/"+someThread, nil)
	watching.until("interrupt")
	c.stream("POST", "/api/chat/resume", map[string]any{"thread_id": someThread,
		"resume_value": map[string]any{"type": "action_choice", "value": "audit"}}).rest()
	assert.EqualValues(t, "status token response", types(watching.rest()), "events")
}

// Rule N15.
func TestFollowThreadShowsEveryTurnAsItBegins(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	first := c.ask(map[string]any{"thread_id": someThread}).rest()
	path := "/api/chat/stream/" + someThread + "?follow=thread"
	idle := c.stream("GET", path, nil)
	back := c.stream("GET", path, nil, "Last-Event-ID", first[0]["event_id"].(string))
	assert.EqualValues(t, first[0]["event_id"].(string)[:36], back.until("response")["turn_id"], "the rest of the first turn")
	for range 2 {
		turnID := c.ask(map[string]any{"thread_id": someThread}).until("response")["turn_id"]
		for name, s := range map[string]*events{"idle": idle, "back": back} {
			assert.EqualValues(t, turnID, s.until("response")["turn_id"], name)
		}
	}
}

// Rule T13.
func TestIdleStreamIsPinged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.server.ping = time.Millisecond
	b.engine.script = waiting
	s := b.client().ask(map[string]any{})
	s.until("status")
	if block, _ := s.block(); block != ": ping" {
		t.Errorf("block %q", block)
	}
}

func TestOpenStreamsEndWhenTheServerStops(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	b := setup(t, func(d *Deps) { d.Stop = stop })
	b.server.grace = time.Millisecond
	b.engine.script = waiting
	s := b.client().ask(map[string]any{"on_disconnect": "cancel"})
	s.until("status")
	close(stop)
	assert.Zero(t, len(s.rest()), "events")
	assert.Len(t, b.engine.cancels, 0, "the stopping server has cancelled turns: %v", b.engine.cancels)
}

// Rule C13.
func TestTaggedIDsOfOtherUsersAreA400ThatNamesTheField(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner, other := b.client(), b.client()
	doc := owner.call(202, "POST", "/api/documents", map[string]any{"title": "Mine", "text": "Some text."})["id"]
	set := owner.call(201, "POST", "/api/document-sets", map[string]any{"name": "Set", "doc_ids": []any{doc}})["id"]
	for name, id := range map[string]any{"tagged_doc_ids": doc, "tagged_set_ids": set} {
		body := map[string]any{"message": "x", name: []any{id}}
		assert.EqualValues(t, name, field(other.call(400, "POST", "/api/chat", body)), "field")
		body[name] = []any{uuid.NewString()}
		assert.EqualValues(t, name, field(owner.call(400, "POST", "/api/chat", body)), "field")
	}
	assert.EqualValues(t, "status token response", types(owner.ask(map[string]any{"tagged_doc_ids": []any{doc}, "tagged_set_ids": []any{set}}).rest()), "one's own")
}

// Rules N9, N10, N12.
func TestHistoryShowsAConversation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	first := c.ask(map[string]any{"thread_id": someThread}).until("response")["turn_id"]
	second := c.ask(map[string]any{"thread_id": someThread, "parent_checkpoint_id": first}).until("response")["turn_id"]
	h := c.call(200, "GET", "/api/chat/history/"+someThread, nil)
	messages := h["messages"].([]any)
	require.True(t, len(messages) == 4 && h["pending_interrupt"] == nil && h["active_turn"] == nil, "history: %v", h)
	last := messages[3].(map[string]any)
	if last["role"] != "assistant" || last["content"] != "The answer is 42." || last["turn_id"] != second ||
		last["checkpoint_id"] != second || last["parent_checkpoint_id"] != first || last["metadata"] == nil {
		t.Errorf("last message: %v", last)
	}
	page := "/api/chat/history/" + someThread + "?limit=3"
	newest := c.call(200, "GET", page, nil)
	if got := newest["messages"].([]any); len(got) != 3 || newest["more"] != true || got[2].(m)["id"] != last["id"] {
		t.Errorf("limit 3: %v", newest)
	}
	earlier := c.call(200, "GET", page+"&before="+newest["messages"].([]any)[0].(m)["id"].(string), nil)
	if got := earlier["messages"].([]any); len(got) != 1 || earlier["more"] != false || got[0].(m)["id"] != messages[0].(m)["id"] {
		t.Errorf("what is before: %v", earlier)
	}
	if all := c.call(200, "GET", "/api/chat/history/"+someThread+"?limit=4", nil); len(all["messages"].([]any)) != 4 || all["more"] != false {
		t.Errorf("limit 4: %v", all)
	}
	empty := c.call(201, "POST", "/api/conversations", map[string]any{"title": "Empty"})
	assert.Zero(t, len(c.call(200, "GET", "/api/chat/history/"+empty["id"].(string), nil)["messages"].([]any)), "an empty conversation")
	require.Empty(t, c.call(200, "GET", "/api/chat/history/"+uuid.NewString(), nil)["messages"], "a conversation that does not exist yet")
	c.call(400, "GET", "/api/chat/history/not-a-uuid", nil)
	body := c.call(400, "POST", "/api/chat", map[string]any{"message": "x", "thread_id": someThread, "parent_checkpoint_id": "nowhere"})
	assert.EqualValues(t, "parent_checkpoint_id", field(body), "%v", body)
}

func TestMessageIsAcceptedEvenIfItsClientDisconnectsAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	done := make(chan struct{})
	b.engine.script = func(u *turn) { answer(u); close(done) }
	ctx, cancel := context.WithCancel(t.Context())
	b.engine.submitted = func(chat.Submit) { cancel() }
	req := must.Have(http.NewRequestWithContext(ctx, "POST", b.url+"/api/chat", strings.NewReader(`{"message":"x"}`)))(t)
	req.Header.Set("Content-Type", "application/json")
	if res, err := http.DefaultClient.Do(req); err == nil {
		_ = res.Body.Close()
	}
	<-done
}
