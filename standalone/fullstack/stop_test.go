package fullstack

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/llmtest"
)

// stop stops the open turn, or the turn that more names.
func (c *talk) stop(more object) (status string) {
	c.t.Helper()
	body := object{"thread_id": c.thread}
	for k, v := range more {
		body[k] = v
	}
	var answer struct{ Status string }
	c.do(http.StatusAccepted, http.MethodPost, "/api/chat/cancel", body, &answer)
	return answer.Status
}

// aborted waits until n clients of the model have disconnected in mid-answer.
func aborted(t *testing.T, model *llmtest.Server, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	require.NoError(t, model.WaitDisconnected(ctx, n))
}

func TestPartialAnswerSurvivesStopReloadAndRestart(t *testing.T) {
	t.Parallel()
	partialAnswerSurvives(t)
}

func partialAnswerSurvives(t *testing.T, options ...stacktest.Option) {
	s, model := apart(t, options)
	worker, first, second := s.Worker(), s.API(), s.API()
	a := newTalk(t, func() string { return first.URL }, s.NewUser())
	b := a.at(second)
	doc := a.upload("Liquidity circular", circular)
	gate := llmtest.NewGate()
	t.Cleanup(gate.Release)
	model.On(answerCall, llmtest.Answer{Chunks: []string{"A bank must hold ", "never said"}, Gates: map[int]*llmtest.Gate{1: gate}})
	page := a.send("What is the ratio?", object{"tagged_doc_ids": []string{doc}, "action": "inquire", "client_turn_id": "mine", "stream_run_id": "run-1"})
	page.until(isType("token"))
	require.Equal(t, "cancelling", b.stop(object{"client_turn_id": "mine"}), "stop at another process")
	end := page.until(terminal)
	require.Equal(t, "cancelled", end.Type)
	require.Equal(t, "user_cancelled", end.Reason)
	require.Equal(t, "A bank must hold", strings.TrimSpace(end.Partial))
	aborted(t, model, 1)

	kept := func(c *talk) {
		t.Helper()
		h := c.history()
		require.Equal(t, []string{"user", "assistant"}, h.roles())
		require.Nil(t, h.Active)
		require.Equal(t, end.Partial, h.Messages[1].Content)
		said := h.Messages[1].Metadata
		require.Equal(t, true, said["interrupted"])
		require.Equal(t, "user_cancelled", said["interrupted_reason"])
		require.Equal(t, "cancelled", said["finished_reason"])
		require.Equal(t, "mine", said["client_turn_id"])
		require.Equal(t, "run-1", said["stream_run_id"])
		require.NotZero(t, said["token_estimate"])
	}
	kept(a)
	kept(b)
	for _, r := range []*stacktest.Role{worker, first, second} {
		r.Kill()
	}
	s.Servers.Kill()
	s.Servers.Start()
	first.Start()
	kept(a)
	require.Equal(t, end.Partial, last(a.attach("turn_id="+end.TurnID).all()).Partial)
	require.Equal(t, "cancelled", a.stop(object{"client_turn_id": "mine"}), "a second stop changes nothing")
	kept(a)
}

// The test sends messages whose answers do not end and stops each at the same
// moment: only a successful stop ends them.
func TestStopWorksAtTheStartOfATurn(t *testing.T) {
	t.Parallel()
	_, model, c := scripted(t)
	doc := c.upload("Liquidity circular", circular)
	model.On(answerCall, llmtest.Silent("A bank must "))
	var wg sync.WaitGroup
	for i := range 30 {
		one := newTalk(t, c.url, c.client)
		wg.Go(func() {
			id := uuid.NewString()
			var both sync.WaitGroup
			both.Go(func() { one.stop(object{"client_turn_id": id}) })
			if i%3 == 0 {
				both.Wait() // ensures that the stop arrives before the submit
			}
			end := last(one.ask("What is the ratio?", object{"tagged_doc_ids": []string{doc}, "action": "inquire", "client_turn_id": id}))
			both.Wait()
			if end.Type != "cancelled" || end.Reason != "user_cancelled" {
				t.Errorf("the turn ended %+v", end)
			}
		})
	}
	wg.Wait()
	aborted(t, model, model.Count(answerCall))
}

func TestStopWorksInEveryPhaseOfATurn(t *testing.T) {
	t.Parallel()
	_, model, c := scripted(t)
	doc := c.upload("Liquidity circular", circular)
	inquire := object{"tagged_doc_ids": []string{doc}, "action": "inquire"}
	cancelled := func(t *testing.T, s *stream) event {
		t.Helper()
		end := s.until(terminal)
		require.Equal(t, "cancelled", end.Type)
		require.Equal(t, "user_cancelled", end.Reason)
		return end
	}
	t.Run("before the first token", func(t *testing.T) {
		c := newTalk(t, c.url, c.client)
		gate, gone := llmtest.NewGate(), len(model.Disconnected())
		t.Cleanup(gate.Release)
		model.On(answerCall, llmtest.Answer{Chunks: []string{"never said"}, Gates: map[int]*llmtest.Gate{0: gate}})
		page := c.send("What is the ratio?", inquire)
		within(t, gate.Reached(), "the call")
		c.stop(nil)
		require.Empty(t, cancelled(t, page).Partial)
		aborted(t, model, gone+1)
		c.history().endsWithoutText(t, "cancelled", "user_cancelled")
	})
	t.Run("while the intent is resolved", func(t *testing.T) {
		c := newTalk(t, c.url, c.client)
		gate, gone := llmtest.NewGate(), len(model.Disconnected())
		t.Cleanup(gate.Release)
		model.On(intentCall, llmtest.Answer{JSON: object{}, Gates: map[int]*llmtest.Gate{0: gate}})
		page := c.send("What is the ratio?", object{"tagged_doc_ids": []string{doc}})
		within(t, gate.Reached(), "the call")
		c.stop(nil)
		cancelled(t, page)
		aborted(t, model, gone+1)
	})
	t.Run("while action and documents are resolved", func(t *testing.T) {
		c := newTalk(t, c.url, c.client)
		intent, docs, gone := llmtest.NewGate(), llmtest.NewGate(), len(model.Disconnected())
		t.Cleanup(intent.Release)
		t.Cleanup(docs.Release)
		model.On(intentCall, llmtest.Answer{JSON: object{}, Gates: map[int]*llmtest.Gate{0: intent}})
		model.On(docsCall, llmtest.Answer{JSON: object{}, Gates: map[int]*llmtest.Gate{0: docs}})
		page := c.send("What does the Liquidity circular say of the ratio?", nil)
		within(t, intent.Reached(), "the intent call")
		within(t, docs.Reached(), "the documents call")
		c.stop(nil)
		cancelled(t, page)
		aborted(t, model, gone+2)
	})
	t.Run("in a retry's back-off", func(t *testing.T) {
		c := newTalk(t, c.url, c.client)
		model.On(answerCall, llmtest.Status(http.StatusTooManyRequests, "30"))
		calls := model.Count(answerCall)
		page := c.send("What is the ratio?", inquire)
		ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
		defer cancel()
		require.NoError(t, model.WaitCount(ctx, answerCall, calls+1))
		c.stop(nil)
		cancelled(t, page)
		require.Equal(t, calls+1, model.Count(answerCall))
	})
	t.Run("in a question", func(t *testing.T) {
		c := newTalk(t, c.url, c.client)
		model.On(intentCall, unsure)
		asked := last(c.ask("The circular", object{"tagged_doc_ids": []string{doc}}))
		require.Equal(t, "interrupt", asked.Type)
		page := c.attach("turn_id=" + asked.TurnID)
		c.stop(nil)
		cancelled(t, page)
		require.Nil(t, c.history().Pending)
	})
	t.Run("in the queue, and in mid-answer, and twice", func(t *testing.T) {
		c := newTalk(t, c.url, c.client)
		model.On(answerCall, llmtest.Silent("A bank must "))
		running := c.send("What is the ratio?", object{"tagged_doc_ids": []string{doc}, "action": "inquire", "client_turn_id": "runs"})
		running.until(isType("token"))
		queued := c.send("And the stress test?", object{"tagged_doc_ids": []string{doc}, "action": "inquire", "on_busy": "enqueue", "client_turn_id": "waits"})
		calls := model.Count(answerCall)
		c.stop(object{"client_turn_id": "waits"})
		c.stop(object{"client_turn_id": "runs"})
		c.stop(object{"client_turn_id": "runs"})
		require.Equal(t, "A bank must", strings.TrimSpace(cancelled(t, running).Partial))
		cancelled(t, queued)
		require.Equal(t, calls, model.Count(answerCall), "a turn stopped in the queue calls no model")
		require.Equal(t, "cancelled", c.stop(object{"client_turn_id": "runs"}))
		require.Equal(t, "idle", c.stop(nil))
		h := c.history()
		require.Equal(t, []string{"user", "assistant", "user"}, h.roles())
		h.endsWithoutText(t, "cancelled", "user_cancelled")
	})
}
