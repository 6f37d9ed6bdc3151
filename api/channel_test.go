package api

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/chat"
)

func TestDecisionsCarryTheChannelTheyCameBy(t *testing.T) {
	t.Parallel()
	answer := map[string]any{"type": "action_choice", "value": "audit"}
	resume := func(c *client, thread string, headers ...string) {
		c.stream("POST", "/api/chat/resume", map[string]any{"thread_id": thread, "resume_value": answer}, headers...).rest()
	}
	for name, c := range map[string]struct {
		headers []string
		want    chat.Channel
	}{
		"a browser says that our page asks":        {[]string{"Sec-Fetch-Site", "same-origin"}, chat.ByPage},
		"our page, without TLS":                    {[]string{identity.PageHeader, "1"}, chat.ByPage},
		"a program":                                {nil, chat.ByAPI},
		"an address bar":                           {[]string{"Sec-Fetch-Site", "none"}, chat.ByAPI},
		"another origin with a token and a header": {[]string{"Sec-Fetch-Site", "cross-site", identity.PageHeader, "1", "Authorization", bearerOf(t, "ann")}, chat.ByAPI},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.engine.script = asking
			ann := b.client()
			ann.h.Set("Authorization", bearerOf(t, "ann"))
			ann.ask(map[string]any{"thread_id": someThread}).until("interrupt")
			resume(ann, someThread, c.headers...)
			b.engine.set(func() { require.Equal(t, c.want, b.engine.resumes[0].Channel) })

			b.engine.set(func() { b.engine.script = waiting })
			turn := ann.ask(map[string]any{"thread_id": someThread}).res.Header.Get("X-Turn-Id")
			ann.call(202, "POST", "/api/chat/cancel", map[string]any{"turn_id": turn}, c.headers...)
			b.engine.set(func() {
				require.Equal(t, chat.Cancel{TurnID: turn, Reason: chat.UserCancelled, Channel: c.want}, b.engine.cancels[0])
			})
		})
	}
}

func TestAnswerByMCPIsNotRecordedAsOneOfThePage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.script = asking
	ann := b.client()
	ann.h.Set("Authorization", bearerOf(t, "ann"))
	ann.ask(map[string]any{"thread_id": someThread}).until("interrupt")
	call := map[string]any{"name": "ask", "arguments": map[string]any{"thread_id": someThread, "answer": "audit"}}
	ann.call(200, "POST", "/mcp/rpc", map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}, identity.PageHeader, "1", "Sec-Fetch-Site", "same-origin")
	b.engine.set(func() { require.Equal(t, chat.ByMCP, b.engine.resumes[0].Channel) })
}
