package api

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// offering lets people choose a model; the first is the default.
func offering(names ...string) func(*Deps) {
	return func(d *Deps) {
		d.Model.Name, d.Model.Choices, d.Model.Vision, d.Model.Offline = names[0], names, true, false
	}
}

// Rule S16.
func TestModelIsChosenForAConversation(t *testing.T) {
	t.Parallel()
	b := setup(t, offering("small", "large"))
	c := b.client()
	require.Equal(t, []any{m{"name": "small", "default": true, "vision": true}, m{"name": "large", "default": false, "vision": true}}, c.call(200, "GET", "/api/config", nil)["models"])
	modelOf := func(body m) string {
		body["thread_id"] = someThread
		s := c.ask(body)
		s.rest()
		turn, err := b.store.Turn(t.Context(), c.id(), s.res.Header.Get("X-Turn-Id"))
		require.NoError(t, err)
		return turn.Content.Model
	}
	require.Empty(t, modelOf(m{}), "nobody has chosen one")
	require.Equal(t, "large", modelOf(m{"model": "large", "client_turn_id": "c1"}))
	require.Equal(t, "large", modelOf(m{"message": "And?"}), "the conversation keeps it")
	require.Equal(t, "small", modelOf(m{"model": "small"}))
	require.Equal(t, "large", modelOf(m{"model": "large", "client_turn_id": "c1"}), "a retry joins its turn")
	e := c.call(400, "POST", "/api/chat", m{"message": "x", "model": "huge"})
	require.Equal(t, "model", e["error"].(map[string]any)["details"].([]any)[0].(map[string]any)["field"])
	e = c.call(400, "POST", "/api/agui", m{"threadId": "a", "runId": "r", "messages": []m{{"id": "1", "role": "user", "content": "x"}}, "forwardedProps": m{"palaver": m{"model": "huge"}}})
	require.Equal(t, "forwardedProps.palaver.model", e["error"].(map[string]any)["details"].([]any)[0].(map[string]any)["field"])
}

func TestConfigSaysForEachModelWhetherItSeesPictures(t *testing.T) {
	t.Parallel()
	c := setup(t, offering("small", "large"), func(d *Deps) { d.Model.Blind = []string{"large"} }).client()
	require.Equal(t, []any{m{"name": "small", "default": true, "vision": true}, m{"name": "large", "default": false, "vision": false}}, c.call(200, "GET", "/api/config", nil)["models"])
}

// Rule S16.
func TestWithoutAChoiceAModelIsIgnored(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	require.Empty(t, c.call(200, "GET", "/api/config", nil)["models"])
	s := c.ask(m{"model": "large"})
	s.rest()
	turn, err := b.store.Turn(t.Context(), c.id(), s.res.Header.Get("X-Turn-Id"))
	require.NoError(t, err)
	require.Empty(t, turn.Content.Model)
}

// Rule O1.
func TestAModelOfV1NamesAgentAndModel(t *testing.T) {
	t.Parallel()
	b := setup(t, offering("small", "qwen3:8b"))
	c := b.client()
	var ids []string
	for _, x := range c.call(200, "GET", "/v1/models", nil)["data"].([]any) {
		ids = append(ids, x.(map[string]any)["id"].(string))
	}
	require.Equal(t, []string{"palaver-documents", "palaver-documents:small", "palaver-documents:qwen3:8b"}, ids[:3])
	c.call(200, "GET", "/v1/models/palaver-assistant:qwen3:8b", nil)
	c.call(404, "GET", "/v1/models/palaver-assistant:huge", nil)
	for model, want := range map[string]string{"palaver-assistant:qwen3:8b": "qwen3:8b", "palaver-assistant": ""} {
		res := c.send("POST", "/v1/chat/completions", m{"model": model, "messages": []m{{"role": "user", "content": "x"}}}, "X-Thread-Id", someThread)
		require.Equal(t, 200, res.StatusCode)
		turn, err := b.store.Turn(t.Context(), c.id(), res.Header.Get("X-Turn-Id"))
		require.NoError(t, err)
		require.Equal(t, want, turn.Content.Model)
	}
	e := c.call(400, "POST", "/v1/chat/completions", m{"model": "palaver-assistant:huge", "messages": []m{{"role": "user", "content": "x"}}})
	require.Equal(t, "model", e["error"].(map[string]any)["param"])
}
