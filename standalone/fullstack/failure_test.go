package fullstack

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/testkit/llmtest"
)

// Rule T10.
func TestBusyModelIsReportedLiveAndNotStored(t *testing.T) {
	t.Parallel()
	_, model, c := scripted(t)
	doc := c.upload("Liquidity circular", circular)
	busy := llmtest.Status(http.StatusTooManyRequests, "")
	model.On(answerCall, busy, busy, llmtest.Default())
	events := c.ask("What is the ratio?", object{"tagged_doc_ids": []string{doc}, "action": "inquire"})
	require.Equal(t, "response", last(events).Type)
	var busied []string
	text := false
	for _, e := range events {
		text = text || e.Type == "token"
		if e.Node == string(chat.NodeRetry) {
			require.Equal(t, "status", e.Type)
			require.False(t, text, "the notice comes before the answer begins")
			busied = append(busied, e.Message)
		}
	}
	all := []string{"Model busy, retrying (1)...", "Model busy, retrying (2)..."}
	require.NotEmpty(t, busied)
	require.Equal(t, all[2-len(busied):], busied, "on a busy machine the stream begins after the first notice, which is not stored")
	require.Equal(t, 3, model.Count(answerCall))

	for _, e := range c.attach("turn_id=" + last(events).TurnID).all() {
		require.NotEqual(t, string(chat.NodeRetry), e.Node, "the replay of a finished turn must not have the notice")
	}
	model.On(answerCall, busy, llmtest.Default())
	for _, e := range c.ask("What is the ratio?", object{"tagged_doc_ids": []string{doc}, "action": "inquire", "stream_mode": "messages"}) {
		require.NotEqual(t, "status", e.Type)
	}
}

func TestRetryOfOneOfTwoCallsDoesNotRepeatTheOther(t *testing.T) {
	t.Parallel()
	for name, calls := range map[string]struct{ fails, succeeds llmtest.Match }{
		"the action failed":    {intentCall, docsCall},
		"the documents failed": {docsCall, intentCall},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, model, c := scripted(t)
			doc := c.upload("Liquidity circular", circular)
			model.On(calls.fails, llmtest.Status(http.StatusServiceUnavailable, ""), llmtest.Status(http.StatusServiceUnavailable, ""), llmtest.Default())
			end := last(c.ask("What does the Liquidity circular say of the ratio?", nil))
			require.Equal(t, "response", end.Type)
			require.Equal(t, []string{doc}, docsOf(end))
			require.Equal(t, 3, model.Count(calls.fails))
			require.Equal(t, 1, model.Count(calls.succeeds))
		})
	}
}
