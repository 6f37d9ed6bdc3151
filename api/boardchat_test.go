package api

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/limits"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/testkit/must"
)

func plainError(c *client, status int, body map[string]any) string {
	c.t.Helper()
	answer := c.call(status, "POST", "/chat/message", body)
	require.Len(c.t, answer, 1, "nothing but the error")
	return answer["error"].(string)
}

// Rule K13.
func TestDiscoveryDialectNamesBadFieldsInOneSentence(t *testing.T) {
	t.Parallel()
	c := setup(t).client()
	require.Contains(t, plainError(c, 400, m{"discovery_context": m{}}), "message must not be empty")
	require.Contains(t, plainError(c, 400, m{"message": "x", "discovery_context": m{"facts": []m{{"text": 5}}}}), "discovery_context.facts[0].text")
	require.NotEmpty(t, plainError(c, 404, m{"message": "x", "discovery_id": someThread}))
}

// Rule K13.
func TestDiscoveryDialectNeedsAModel(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.server.Model.Provider = "none"
	require.Equal(t, "Chat service not configured", plainError(b.client(), 503, m{"message": "x", "discovery_context": m{}}))
}

func TestRateLimitHoldsInTheDiscoveryDialect(t *testing.T) {
	t.Parallel()
	c := setup(t, limited(limits.Config{Turns: perHour(1)})).client()
	body := m{"message": "x", "discovery_context": m{"title": "Churn"}}
	res := c.send("POST", "/chat/message", body)
	must.Have(io.Copy(io.Discard, res.Body))(t)
	require.Equal(t, 200, res.StatusCode)
	refused(t, c.send("POST", "/chat/message", body))
	require.NotEmpty(t, plainError(c, 429, body))
}

// Rule K10.
func TestThrowAwayThreadIsUnlistedAndDeletedWithItsAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.script = proposing
	c := b.client()
	s := c.stream("POST", "/chat/message", m{"message": "x", "discovery_context": m{"title": "Churn"}})
	raw := must.Have(io.ReadAll(s.r))(t)
	require.Contains(t, string(raw), "event: tool_call\n")
	require.Contains(t, string(raw), "event: done\n")
	require.Empty(t, c.call(200, "GET", "/api/conversations", nil)["items"])
	require.Eventually(t, func() bool {
		_, err := b.store.Conversation(t.Context(), c.id(), s.res.Header.Get("X-Thread-Id"))
		return notFound(err)
	}, 30*time.Second, 5*time.Millisecond)
}

// Rule K1.
func TestMessagesOnTheThreadOfABoardGoToTheBoardsAgent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.script = func(u *turn) { u.failed(chat.CodeModelUnavailable) }
	c := b.client()
	thread := c.call(201, "POST", "/api/discoveries", m{"title": "Churn"})["thread_id"]
	for _, agent := range []any{nil, "assistant"} {
		s := c.stream("POST", "/api/chat", m{"message": "x", "thread_id": thread, "agent": agent})
		must.Have(io.ReadAll(s.r))(t)
		row := must.Have(b.store.Turn(t.Context(), c.id(), s.res.Header.Get("X-Turn-Id")))(t)
		require.Equal(t, chat.AgentDiscovery, row.Content.Agent)
	}
}
