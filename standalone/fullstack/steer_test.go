package fullstack

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/llmtest"
)

// Rule T11.
func TestMessageThatSteersIsReadByTheRunningTurn(t *testing.T) {
	_, model, c := scripted(t)
	gate := llmtest.NewGate()
	t.Cleanup(gate.Release)
	model.On(afterResults(0), llmtest.Answer{Calls: llmtest.Calls(llmtest.Call("list_documents", object{})).Calls, Gates: map[int]*llmtest.Gate{0: gate}})
	model.On(afterResults(1), llmtest.Text("There are none from 2024."))
	page := c.send("Which documents are there?", object{"agent": "assistant"})
	within(t, gate.Reached(), "the first call")
	steer := object{"on_busy": "steer", "client_turn_id": "added"}
	other := c.send("Only those from 2024, please", steer)
	gate.Release()
	end := page.until(terminal)
	require.Equal(t, "There are none from 2024.", end.Response)
	all := other.all()
	require.Equal(t, end.TurnID, last(all).TurnID, "the sender follows the turn that reads the message")
	var shown []string
	for _, e := range all {
		if e.Type == "tool_result" || e.Type == "notice" {
			shown = append(shown, e.Type+" "+e.Code+" "+e.Message)
		}
	}
	require.Equal(t, []string{"tool_result  ", "notice steered Only those from 2024, please"}, shown, "where it reached the model")
	for _, r := range requests(model, llmtest.Stream) {
		if results(r) < 2 && len(r.Tools) > 0 { // else it writes a title
			require.Equal(t, results(r) == 1, strings.Contains(r.LastUser, "Only those from 2024, please"))
		}
	}
	h := c.history()
	require.Equal(t, []string{"user", "system", "assistant"}, h.roles())
	require.Equal(t, "Only those from 2024, please", h.Messages[1].Content)
	again := c.send("Only those from 2024, please", steer).all()
	require.Equal(t, end.TurnID, last(again).TurnID, "a retry makes no second turn")
	require.Equal(t, []string{"user", "system", "assistant"}, c.history().roles())
}

// steered starts an assistant's turn that waits in its first model call, and gives it a message.
func steered(t *testing.T) (s *stacktest.Stack, model *llmtest.Server, c *talk, running, added *stream, gate *llmtest.Gate) {
	s, model, c = scripted(t)
	gate = llmtest.NewGate()
	t.Cleanup(gate.Release)
	model.On(afterResults(0), llmtest.Answer{Calls: llmtest.Calls(llmtest.Call("list_documents", object{})).Calls, Gates: map[int]*llmtest.Gate{0: gate}})
	model.On(afterResults(1), llmtest.Text("There are none."))
	running = c.send("Which documents are there?", object{"agent": "assistant"})
	within(t, gate.Reached(), "the first call")
	added = c.send(addedWords, steeredBody)
	return s, model, c, running, added, gate
}

const addedWords = "Only those from 2024, please"

var steeredBody = object{"on_busy": "steer", "client_turn_id": "added", "agent": "assistant"}

// Rule T11.
func TestCancelledMessageThatSteersIsShownAndReachesNoModel(t *testing.T) {
	_, model, c, running, added, gate := steered(t)
	require.Equal(t, []string{"user", "user"}, c.history().roles(), "it waits")
	require.Equal(t, "cancelling", c.stop(object{"client_turn_id": "added"}))
	require.Eventually(t, func() bool {
		m := c.history().Messages
		return m[len(m)-1].Metadata["finished_reason"] == "cancelled"
	}, waitTimeout, 50*time.Millisecond)
	require.Equal(t, "cancelled", last(c.send(addedWords, steeredBody).all()).Type, "a retry sees the cancel")
	gate.Release()
	end := running.until(terminal)
	require.Equal(t, "There are none.", end.Response)
	require.Equal(t, end.TurnID, last(added.all()).TurnID)
	for _, r := range requests(model, llmtest.Stream) {
		require.NotContains(t, r.LastUser, addedWords)
	}
	h := c.history()
	require.Equal(t, []string{"user", "assistant", "user"}, h.roles())
	require.Equal(t, addedWords, h.Messages[2].Content)
}

func TestMessageThatSteersRunsOnceWhenTheTurnIsStoppedBeforeItReadsIt(t *testing.T) {
	_, _, c, running, added, gate := steered(t)
	c.stop(nil)
	require.Equal(t, "cancelled", running.until(terminal).Type)
	require.Equal(t, "cancelled", last(added.all()).Type)
	gate.Release()
	require.Equal(t, "response", last(c.send(addedWords, steeredBody).all()).Type, "a retry follows the message's own turn")
	require.Equal(t, []string{"user", "user", "assistant"}, c.history().roles())
}

func TestMessageThatSteersStaysVisibleWhenTheWorkflowIsLost(t *testing.T) {
	s, _, c, _, _, _ := steered(t)
	require.NoError(t, s.Temporal().TerminateWorkflow(t.Context(), threadOf(c), "", "in the Web UI"))
	require.Eventually(t, func() bool { return c.history().Active == nil }, waitTimeout, 50*time.Millisecond)
	var said []string
	for _, m := range c.history().Messages {
		said = append(said, m.Content)
	}
	require.Contains(t, said, addedWords)
}
