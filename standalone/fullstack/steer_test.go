package fullstack

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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
