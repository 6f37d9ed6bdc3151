package api

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/palaver-chat/palaver/chat"
)

// sendInDialects says how each dialect sends a message with an id to a named thread.
var sendInDialects = map[string]struct {
	path   string
	thread string
	body   func(thread, id, message string) m
	// headers that name thread and message; nil: the body does
	headers func(thread, id string) []string
}{
	"native": {path: "/api/chat", thread: someThread, body: func(thread, id, message string) m {
		return m{"thread_id": thread, "client_turn_id": id, "message": message}
	}},
	"AI SDK": {path: "/api/ui/chat", thread: "my-chat", body: func(thread, id, message string) m {
		return m{"id": thread, "messages": []m{said(id, message)}, "trigger": "submit-message"}
	}},
	"LangGraph": {path: "/api/v1/chat/stream", thread: "my-thread", body: func(thread, id, message string) m {
		return m{"thread_id": thread, "client_turn_id": id, "message": m{"role": "human", "content": message}}
	}},
	"OpenAI": {path: "/v1/chat/completions", thread: "my-thread",
		body:    func(_, _, message string) m { return completion(message) },
		headers: func(thread, id string) []string { return []string{"X-Thread-Id", thread, "Idempotency-Key", id} }},
	"AG-UI": {path: "/api/agui", thread: "my-thread", body: aguiRun},
	"agent v2": {path: "/api/agent/v2/stream", thread: "my-session", body: func(thread, id, message string) m {
		return m{"session_id": thread, "client_turn_id": id, "stream_run_id": id, "message": message}
	}},
}

// Rule I7.
func TestDeletedThreadsNameCanBeReusedInEveryDialect(t *testing.T) {
	t.Parallel()
	for name, d := range sendInDialects {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			c, other := b.client(), b.client()
			headers := func(id string) []string {
				if d.headers == nil {
					return nil
				}
				return d.headers(d.thread, id)
			}
			send := func(id, message string) (thread, turn string) {
				s := c.stream("POST", d.path, d.body(d.thread, id, message), headers(id)...)
				for _, more := s.block(); more; _, more = s.block() {
				}
				return s.res.Header.Get("X-Thread-Id"), s.res.Header.Get("X-Turn-Id")
			}
			thread, old := send("c1", "old question")
			c.call(204, "DELETE", "/api/conversations/"+thread, nil)

			c.call(404, "POST", d.path, d.body(d.thread, "c1", "old question"), headers("c1")...) // a retry of the old message
			c.call(404, "GET", "/api/conversations/"+thread, nil)
			other.call(404, "POST", "/api/chat", m{"thread_id": thread, "message": "mine now"})

			again, turn := send("c2", "new question")
			assert.True(t, again == thread && turn != old, "thread %s and turn %s, want thread %s and another turn than %s", again, turn, thread, old)
			messages := c.call(200, "GET", "/api/chat/history/"+thread, nil)["messages"].([]any)
			for _, said := range messages {
				assert.EqualValues(t, turn, said.(m)["turn_id"], "not of the new conversation: %v", said)
			}
			assert.Len(t, messages, 2)
			c.call(404, "POST", d.path, d.body(d.thread, "c1", "old question"), headers("c1")...)
			c.call(404, "GET", "/api/chat/stream/"+thread+"?turn_id="+old, nil)
			assert.Empty(t, other.call(200, "GET", "/api/chat/history/"+thread, nil)["messages"])
			if _, next := send("c1", "another question"); next == old { // the old name, and another message
				t.Error("the old turn came back")
			}
		})
	}
}

// laterThreads remember a later conversation for every id.
type laterThreads struct {
	*engine
	before func(chat.Submit) // a submit is refused
}

func (e laterThreads) Submit(ctx context.Context, s chat.Submit) (chat.SubmitResult, error) {
	if s.Generation > 0 {
		e.before(s)
		return chat.SubmitResult{}, &chat.RefusedError{Code: chat.CodeNotFound}
	}
	return e.engine.Submit(ctx, s)
}

func TestSubmitToAConversationDeletedMeanwhileIsNotFound(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.server.Threads = laterThreads{b.engine, func(s chat.Submit) {
		b.requireNoError(b.store.DeleteConversation(t.Context(), s.Owner, s.ThreadID))
	}}
	b.client().call(404, "POST", "/api/chat", m{"thread_id": someThread, "message": "x"})
	assert.Zero(t, b.engine.submitCount())
}

// A restored backup may be older than the last deletion of a conversation.
func TestMessageRunsWhenTheDatabaseHasAnOlderConversation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.server.Threads = laterThreads{b.engine, func(chat.Submit) {}}
	b.client().ask(m{"thread_id": someThread}).until("response")
}

// busyThreads refuse the first submit, as if a turn that has just ended still ran.
type busyThreads struct {
	*engine
	first *atomic.Bool
	turn  string
}

func (e busyThreads) Submit(ctx context.Context, s chat.Submit) (chat.SubmitResult, error) {
	if e.first.CompareAndSwap(false, true) {
		return chat.SubmitResult{}, &chat.RefusedError{Code: chat.CodeTurnRunning, TurnID: e.turn}
	}
	return e.engine.Submit(ctx, s)
}

func TestSubmitWithRejectIsRetriedWhenTheRunningTurnHasJustEnded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	ended := c.ask(m{"thread_id": someThread}).until("response")
	b.server.Threads = busyThreads{b.engine, new(atomic.Bool), ended["turn_id"].(string)}
	c.ask(m{"thread_id": someThread, "on_busy": "reject"}).until("response")
}
