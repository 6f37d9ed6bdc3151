package api

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Rule C1.
func TestTemporaryConversationIsInNoListAndCanBeDeleted(t *testing.T) {
	t.Parallel()
	c := setup(t).client()
	c.ask(m{"thread_id": someThread, "temporary": true, "message": "a secret question"}).rest()
	c.ask(m{"thread_id": someThread, "message": "and more"}).rest()
	for _, list := range []string{"", "?q=secret", "?archived=true"} {
		require.Empty(t, c.call(200, "GET", "/api/conversations"+list, nil)["items"], list)
	}
	require.Len(t, c.call(200, "GET", "/api/chat/history/"+someThread, nil)["messages"], 4)
	first := c.call(200, "GET", "/api/ui/chat/"+someThread, nil)["messages"].([]any)[1].(map[string]any)
	require.Equal(t, true, first["metadata"].(map[string]any)["temporary"])
	c.call(204, "DELETE", "/api/conversations/"+someThread, nil)
	c.call(404, "GET", "/api/chat/history/"+someThread, nil)
}
