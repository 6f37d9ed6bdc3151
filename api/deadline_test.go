package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// Rule E7.
func TestEveryRouteHasAnAnswerTimeout(t *testing.T) {
	t.Parallel()
	assert.EqualValues(t, 15*time.Second, AnswerTimeout, "the longest time is")
	b := setup(t)
	stated := Routes()
	for _, route := range declaredRoutes(b) {
		name := route.Method + " " + route.Path
		within, has := stated[name]
		assert.True(t, has && within > 0 && within <= AnswerTimeout, "%s answers within %s", name, within)
		delete(stated, name)
	}
	assert.Len(t, stated, 0, "Routes names routes that do not exist: %v", stated)
	assert.EqualValues(t, AnswerTimeout, b.server.answerTimeout, "unless a test shortens it, it is")
	assert.EqualValues(t, 5*time.Second, Routes()["GET /readyz"], "/readyz answers within")
}

// hangingThreads is an engine that never answers.
type hangingThreads struct{ Threads }

func (hangingThreads) wait(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func (e hangingThreads) Submit(ctx context.Context, _ chat.Submit) (chat.SubmitResult, error) {
	return chat.SubmitResult{}, e.wait(ctx)
}
func (e hangingThreads) Resume(ctx context.Context, _ chat.Resume) error { return e.wait(ctx) }
func (e hangingThreads) State(ctx context.Context, _ string) (chat.ThreadState, error) {
	return chat.ThreadState{}, e.wait(ctx)
}
func (e hangingThreads) Cancel(ctx context.Context, _ string, _ chat.Cancel) (bool, error) {
	return false, e.wait(ctx)
}
func (e hangingThreads) Delete(ctx context.Context, _ string) error         { return e.wait(ctx) }
func (e hangingThreads) ChangeOwner(ctx context.Context, _, _ string) error { return e.wait(ctx) }
func (e hangingThreads) Import(ctx context.Context, _, _ string) error      { return e.wait(ctx) }

func (e hangingThreads) Ingest(ctx context.Context, _, _ string) error { return e.wait(ctx) }

func TestEngineThatNeverAnswersIsA503BeforeTheTimeout(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.script = asking
	c := b.client()
	c.ask(m{"thread_id": someThread}).until("interrupt")
	within := func(timeout time.Duration) *client {
		return c.at(b.another(func(d *Deps) {
			d.Config.AnswerTimeout = timeout
			d.Threads = hangingThreads{b.engine}
		}))
	}
	// Half of an upload's time is for taking the document back; a busy machine needs more of it.
	slow := within(8 * time.Second)
	c = within(1500 * time.Millisecond)
	resume := m{"thread_id": someThread, "resume_value": m{"type": "action_choice", "value": "audit"}}
	for _, r := range []struct {
		client *client
		path   string
		body   m
	}{
		{c, "/api/chat", m{"message": "x", "thread_id": someThread}},
		{c, "/api/chat/resume", resume},
		{c, "/api/chat/cancel", m{"thread_id": someThread}},
		{slow, "/api/documents", m{"title": "x", "text": "x"}},
	} {
		answer := r.client.call(503, "POST", r.path, r.body)
		if said := answer["error"].(m)["message"].(string); !strings.Contains(said, "Conversations cannot be reached") {
			t.Errorf("%s: %s", r.path, said)
		}
	}
	assert.Zero(t, len(c.call(200, "GET", "/api/documents", nil)["items"].([]any)), "a document is left whose ingest could not begin")
	history := c.call(200, "GET", "/api/chat/history/"+someThread, nil) // the messages are still shown
	assert.True(t, len(history["messages"].([]any)) != 0 && history["pending_interrupt"] == nil, "history: %v", history)
}

// hangingStore never answers a ping and ignores its context.
type hangingStore struct {
	db.Store
	end chan struct{}
}

func (s hangingStore) Ping(context.Context) error {
	<-s.end
	return errors.New("the test is over")
}

func TestReadyAnswersInTimeAndNamesOnlyThePartThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	end := make(chan struct{})
	t.Cleanup(func() { close(end) })
	b := setup(t, func(d *Deps) {
		d.Config.AnswerTimeout = time.Second
		d.Store = hangingStore{d.Store, end}
		d.Ready = map[string]func(context.Context) error{
			"temporal": func(context.Context) error { return nil },
			"broken":   func(context.Context) error { panic("in a check") },
		}
	})
	got := b.client().call(http.StatusServiceUnavailable, "GET", "/readyz", nil)
	if down := got["down"].([]any); len(down) != 2 || down[0] != "broken" || down[1] != "database" {
		t.Errorf("down: %v", down)
	}
	if parts := got["parts"].(m); parts["temporal"] != "ok" || parts["database"] != "down" {
		t.Errorf("parts: %v", parts)
	}
}
