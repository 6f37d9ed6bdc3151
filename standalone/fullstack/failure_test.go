package fullstack

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm/llmtest"
)

func TestModelErrorIsShortForTheClientAndFullInTheLog(t *testing.T) {
	t.Parallel()
	s, model, c := scripted(t)
	doc := c.upload("Liquidity circular", circular)
	const upstream = `{"error":{"message":"organization org-9 has no access to this model","code":"model_not_found"}}`
	model.On(answerCall, llmtest.Answer{Status: http.StatusNotFound, Body: upstream})
	page := c.send("What is the ratio?", object{"tagged_doc_ids": []string{doc}, "client_turn_id": "c1"})
	failed := last(page.all())
	require.Equal(t, []any{"error", chat.CodeModelRejected, false}, []any{failed.Type, failed.Code, failed.Retryable})
	require.NotContains(t, failed.Message, "org-9")

	request := page.resp.Header.Get("X-Request-Id")
	var whole bool
	for line := range strings.Lines(s.Logged()) {
		whole = whole || strings.Contains(line, request) && strings.Contains(line, "org-9") && strings.Contains(line, failed.TurnID)
	}
	require.True(t, whole, "no line has both request %s and the provider's error:\n%s", request, s.Logged())

	model.Reset()
	again := last(c.ask("What is the ratio?", object{"tagged_doc_ids": []string{doc}, "client_turn_id": "c2"}))
	require.Equal(t, "response", again.Type, "another client_turn_id tries again")
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
