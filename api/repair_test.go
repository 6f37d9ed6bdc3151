package api

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/api/limits"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// speaking is the script of a turn that has written something and goes on.
func speaking(u *turn) {
	u.add(chat.Entry{Type: chat.EventStatus, Node: chat.NodeInquire})
	u.must(u.e.store.SaveDraft(u.e.t.Context(), u.ref.Owner, db.Draft{TurnID: u.ref.TurnID, Piece: 1, Attempt: 1, Text: "The ans"}))
	u.cancelled(<-u.stop)
}

// inMidAnswer returns a client whose turn has begun to answer, and the turn's stream.
func inMidAnswer(b *bundle) (*client, *events) {
	b.t.Helper()
	b.engine.script = speaking
	c := b.client()
	page := c.ask(map[string]any{"thread_id": someThread, "client_turn_id": "c1"})
	page.until("token")
	return c, page
}

func wantLost(t *testing.T, e map[string]any) {
	t.Helper()
	require.True(t, e["type"] == "error" && e["code"] == "turn_lost" && e["retryable"] == true && e["partial"] == "The ans" && e["message"] != "", "got %v", e)
}

type history = []any

func (c *client) history(thread string) (active any, said history) {
	c.t.Helper()
	h := c.call(200, "GET", "/api/chat/history/"+thread, nil)
	return h["active_turn"], h["messages"].([]any)
}

// Rule W11.
func TestStreamOfALostTurnEndsWithTurnLost(t *testing.T) {
	t.Parallel()
	told := make(chan activities.Ending, 10)
	b := setup(t, func(d *Deps) { d.Settled = func(_ context.Context, e activities.Ending) { told <- e } })
	c, page := inMidAnswer(b)
	b.engine.lose(someThread)
	wantLost(t, page.until("error"))
	all := c.stream("GET", "/api/chat/stream/"+someThread+"?turn_id="+b.engine.submits[0].TurnID, nil).rest()
	wantLost(t, all[len(all)-1])
	active, said := c.history(someThread)
	require.True(t, active == nil && len(said) == 2 && said[1].(map[string]any)["content"] == "The ans", "active %v, %v", active, said)
	if e := <-told; e.Status != chat.TurnFailed || e.Code != chat.CodeTurnLost || len(told) > 0 {
		t.Fatalf("told of %v, and of %d others", e, len(told))
	}
}

func TestLostTurnCanBeStopped(t *testing.T) {
	t.Parallel()
	for name, named := range map[string]map[string]any{
		"by client_turn_id": {"client_turn_id": "c1"}, "by its thread": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			c, page := inMidAnswer(b)
			page.close()
			b.engine.lose(someThread)
			named["thread_id"] = someThread
			require.EqualValues(t, "cancelled", c.call(202, "POST", "/api/chat/cancel", named)["status"], "status")
			all := c.stream("GET", "/api/chat/stream/"+someThread+"?turn_id="+b.engine.submits[0].TurnID, nil).rest()
			if end := all[len(all)-1]; end["type"] != "cancelled" || end["reason"] != "user_cancelled" || end["partial"] != "The ans" {
				t.Fatalf("got %v", end)
			}
		})
	}
}

func TestAnswerToALostQuestionIsRefusedAndTheThreadIsUsable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.script = asking
	c := b.client()
	c.ask(map[string]any{"thread_id": someThread}).until("interrupt")
	b.engine.lose(someThread)
	got := c.call(400, "POST", "/api/chat/resume", map[string]any{"thread_id": someThread,
		"resume_value": map[string]any{"type": "action_choice", "value": "audit"}})
	require.EqualValues(t, "no_pending_interrupt", errorCode(got), "got %v", got)
	open, err := b.store.OpenTurns(t.Context(), c.id(), someThread)
	require.True(t, err == nil && len(open) <= 0, "open %v, %v", open, err)
}

func TestNextMessageAfterALostTurnRuns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c, page := inMidAnswer(b)
	page.close()
	b.engine.lose(someThread)
	b.engine.set(func() { b.engine.script = answer })
	c.ask(map[string]any{"thread_id": someThread, "message": "And now?"}).until("response")
	_, said := c.history(someThread)
	var contents []any
	for _, m := range said {
		contents = append(contents, m.(map[string]any)["content"])
	}
	require.EqualValues(t, "[What is the answer? The ans And now? The answer is 42.]", fmt.Sprint(contents))
}

func TestRetryAfterItsWorkflowWasLostRunsAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c, page := inMidAnswer(b)
	page.close()
	b.engine.lose(someThread)
	b.engine.set(func() { b.engine.script = answer })
	c.ask(map[string]any{"thread_id": someThread, "client_turn_id": "c1"}).until("response")
	if _, said := c.history(someThread); len(said) != 2 {
		t.Fatal(said)
	}
}

func TestLostTurnsDoNotCountAgainstTheirOwnersLimit(t *testing.T) {
	t.Parallel()
	b := setup(t, limited(limits.Config{BusyTurns: 2}))
	b.engine.script = speaking
	c := b.client()
	threads := []string{uuid.NewString(), uuid.NewString()}
	for _, thread := range threads {
		c.ask(map[string]any{"thread_id": thread}).until("token")
	}
	refused(t, c.send("POST", say, hello()))
	for _, thread := range threads {
		b.engine.lose(thread)
	}
	b.engine.set(func() { b.engine.script = answer })
	c.ask(hello()).until("response")
}

func TestConversationWithALostTurnIsIdle(t *testing.T) {
	t.Parallel()
	for name, get := range map[string]func(c *client) any{
		"of a list": func(c *client) any {
			return c.call(200, "GET", "/api/conversations", nil)["items"].([]any)[0].(map[string]any)["status"]
		},
		"alone": func(c *client) any { return c.call(200, "GET", "/api/conversations/"+someThread, nil)["status"] },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			c, page := inMidAnswer(b)
			page.close()
			require.EqualValues(t, "running", get(c), "status")
			b.engine.lose(someThread)
			require.EqualValues(t, "idle", get(c), "status")
		})
	}
}

// The database was restored from a backup, and the client sends its message again.
func TestRetryOfATurnThatTheDatabaseLostIsAnswered(t *testing.T) {
	t.Parallel()
	b := setup(t)
	content := chat.Content{Message: "What is the answer?", Agent: chat.AgentDocuments}
	b.engine.set(func() {
		b.engine.turns["lost"] = &turn{submit: chat.Submit{ThreadID: someThread, TurnID: "lost", ClientTurnID: "c1", ContentHash: content.Hash()}, over: true}
	})
	c := b.client()
	for range 2 { // the second time the row exists
		c.ask(map[string]any{"thread_id": someThread, "client_turn_id": "c1"}).until("response")
	}
	if _, said := c.history(someThread); len(said) != 2 {
		t.Fatal(said)
	}
}
