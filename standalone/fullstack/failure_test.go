package fullstack

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm/llmtest"
)

func TestAModelsFailureIsPlainToItsClientAndWholeInTheLogUnderTheSameRequest(t *testing.T) {
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
	require.True(t, whole, "no line has both the request %s and what the provider said:\n%s", request, s.Logged())

	model.Reset()
	again := last(c.ask("What is the ratio?", object{"tagged_doc_ids": []string{doc}, "client_turn_id": "c2"}))
	require.Equal(t, "response", again.Type, "another client_turn_id tries again")
}
