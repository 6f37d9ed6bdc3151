package api

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/testkit/must"
)

// Rule N5.
func TestDecisionsInTheNativeDialect(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.script = painting
	c := b.client()
	all := c.ask(map[string]any{"thread_id": someThread, "agent": "assistant"}).rest()
	require.EqualValues(t, "tool_call tool_call interrupt", types(all), "events: %s", types(all))
	q := all[2]
	calls, _ := q["tool_calls"].([]any)
	first, _ := calls[0].(map[string]any)
	if q["interrupt_type"] != "tool_approval" || len(calls) != 2 || first["name"] != "generate_image" || first["editable"] != true ||
		fmt.Sprint(first["arguments"]) != "map[prompt:a cat]" {
		t.Fatalf("interrupt: %v", q)
	}
	pending, _ := c.call(200, "GET", "/api/chat/history/"+someThread, nil)["pending_interrupt"].(map[string]any)
	assert.True(t, fmt.Sprint(pending["tool_calls"]) == fmt.Sprint(q["tool_calls"]) && pending["interrupt_id"] == q["interrupt_id"], "pending: %v", pending)
	for name, asked := range map[string]map[string]any{"stream": q, "history": pending} {
		declared, _ := asked["tools"].([]any)
		if len(declared) != 1 { // once for both calls
			t.Fatalf("tools of the %s: %v", name, asked["tools"])
		}
		tool, _ := declared[0].(map[string]any)
		schema, _ := tool["schema"].(map[string]any)
		assert.True(t, tool["name"] == "generate_image" && tool["description"] == "Draw a picture." && tool["effect"] == "changes" && schema["type"] == "object", "tool of the %s: %v", name, tool)
	}

	resume := func(first map[string]any) map[string]any {
		first["id"] = "c1"
		return map[string]any{"thread_id": someThread, "resume_value": map[string]any{"type": "tool_approval", "value": nil,
			"decisions": []any{first, map[string]any{"id": "c2", "decision": "rejected", "reason": "too many"}}}}
	}
	for name, bad := range map[string]struct {
		first map[string]any
		field string
	}{
		"arguments of another type": {map[string]any{"decision": "approved", "arguments": map[string]any{"prompt": 7}}, "resume_value.decisions[0].arguments.prompt"},
		"arguments left out":        {map[string]any{"decision": "approved", "arguments": map[string]any{}}, "resume_value.decisions[0].arguments.prompt"},
		"arguments made up":         {map[string]any{"decision": "approved", "arguments": map[string]any{"prompt": "x", "n": 9}}, "resume_value.decisions[0].arguments.n"},
	} {
		body := c.call(400, "POST", "/api/chat/resume", resume(bad.first))
		assert.True(t, errorCode(body) == chat.CodeBadResume && field(body) == bad.field, "%s: %v", name, body)
	}
	twice := map[string]any{"id": "c2", "decision": "approved", "arguments": map[string]any{"prompt": "another dog"}}
	body := c.call(400, "POST", "/api/chat/resume", map[string]any{"thread_id": someThread, "resume_value": map[string]any{"type": "tool_approval",
		"decisions": []any{map[string]any{"id": "c1", "decision": "approved"}, twice}}})
	assert.True(t, errorCode(body) == chat.CodeBadResume && field(body) == "resume_value.decisions[1].arguments", "a call that cannot be edited: %v", body)

	// The same arguments with other formatting do not count as edited.
	rest := c.stream("POST", "/api/chat/resume", resume(map[string]any{"decision": "approved", "arguments": json.RawMessage(`{ "prompt" : "a cat" }`)})).rest()
	assert.True(t, types(rest) == "tool_result tool_result token response" && rest[0]["content"] == "approved " && rest[1]["is_error"] == true, "what remains: %v", rest)
}

func TestMessageWithoutAnAgentKeepsTheThreadsAgent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	agent := func(fields map[string]any) chat.Agent {
		fields["thread_id"] = someThread
		all := c.ask(fields).rest()
		turn := must.Have(b.store.Turn(t.Context(), c.id(), all[len(all)-1]["turn_id"].(string)))(t)
		return turn.Content.Agent
	}
	for _, step := range []struct {
		named string
		want  chat.Agent
	}{{"", chat.AgentDocuments}, {"assistant", chat.AgentAssistant}, {"", chat.AgentAssistant}, {"documents", chat.AgentDocuments}, {"", chat.AgentDocuments}} {
		fields := map[string]any{}
		if step.named != "" {
			fields["agent"] = step.named
		}
		assert.EqualValues(t, step.want, agent(fields), step.named)
	}
	retry := map[string]any{"thread_id": someThread, "client_turn_id": uuid.NewString()}
	first := c.ask(retry).rest()
	agent(map[string]any{"agent": "assistant"})
	again := c.ask(retry).rest()
	assert.EqualValues(t, again[len(again)-1]["turn_id"], first[len(first)-1]["turn_id"], "a retry made another turn because the thread's agent has changed")
}
