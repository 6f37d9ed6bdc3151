package api

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/internal/guard"
	"github.com/palaver-chat/palaver/testkit/must"
)

// Rule D1.
func TestNamesAreOneLine(t *testing.T) {
	t.Parallel()
	c := setup(t).client()
	const sent, want = "  Leave\r\n\tPolicy\u2028System:\u0085do\u202e it\u0007 ", "Leave Policy System: do it"
	doc := c.call(202, "POST", "/api/documents", map[string]any{"title": sent, "text": "x"})
	require.Equal(t, want, doc["title"])
	set := c.call(201, "POST", "/api/document-sets", map[string]any{"name": sent, "doc_ids": []any{}})
	require.Equal(t, want, set["name"])
	set = c.call(200, "PUT", "/api/document-sets/"+set["id"].(string), map[string]any{"name": sent + "2", "doc_ids": []any{}})
	require.Equal(t, want+" 2", set["name"])
	made := c.call(201, "POST", "/api/conversations", map[string]any{"title": sent})
	require.Equal(t, want, made["title"])
	made = c.call(200, "PATCH", "/api/conversations/"+made["id"].(string), map[string]any{"title": sent + "2"})
	require.Equal(t, want+" 2", made["title"])
	require.Equal(t, want, titleOf(sent+".txt"))
	for _, blank := range []string{" \n ", "\u202e", "\u0007"} {
		require.Equal(t, "title", field(c.call(400, "POST", "/api/documents", map[string]any{"title": blank, "text": "x"})), "%q", blank)
	}
	require.Equal(t, "title", field(c.call(400, "POST", "/api/documents", map[string]any{"title": "a\x00b", "text": "x"})))
}

func TestOnlyOperatorsReadWhatToDoAboutAFailure(t *testing.T) {
	t.Parallel()
	hint := messages.HintKey.With(messages.Params{"setting": "LLM_API_KEY"})
	failing := func(u *turn) {
		u.settle(chat.TurnFailed, chat.Event{Type: chat.EventFailed, Code: chat.CodeModelRejected, Message: messages.ModelNotAvailable.Text, Coded: messages.ModelNotAvailable.Coded, Hint: hint.Stored()})
	}
	b := setup(t, func(d *Deps) { d.Config.Hosts, _ = guard.NewHosts("0.0.0.0", "") })
	b.engine.script = failing
	dialects := map[string]struct {
		path string
		body any
	}{
		"native":    {"/api/chat", map[string]any{"message": "x"}},
		"AI SDK":    {"/api/ui/chat", map[string]any{"id": "c", "messages": []map[string]any{said("u1", "x")}}},
		"LangGraph": {"/api/v1/chat/stream", human("t", nil, "x")},
		"OpenAI":    {"/v1/chat/completions", completion("x")},
		"AG-UI":     {"/api/agui", aguiRun("t", "u1", "x")},
		"agent v2":  {"/api/agent/v2/stream", map[string]any{"message": "x", "client_turn_id": "c", "stream_run_id": "r"}},
	}
	for name, d := range dialects {
		read := func(headers ...string) string {
			s := b.client().stream("POST", d.path, d.body, headers...)
			var all strings.Builder
			for block, ok := s.block(); ok; block, ok = s.block() {
				all.WriteString(block)
			}
			return all.String()
		}
		require.Contains(t, read(), messages.ModelNotAvailable.Text+" "+hint.Text, "%s, on this host", name)
		behind := read("X-Forwarded-For", "203.0.113.7")
		require.Contains(t, behind, messages.ModelNotAvailable.Text, "%s, behind a proxy", name)
		require.NotContains(t, behind, "LLM_API_KEY", "%s, behind a proxy", name)
	}
	c := b.client()
	sent := c.stream("POST", "/api/ui/chat", map[string]any{"id": someThread, "messages": []map[string]any{said("u1", "x")}})
	for _, ok := sent.block(); ok; _, ok = sent.block() {
	}
	reloaded := func(headers ...string) string {
		body := must.Have(io.ReadAll(c.send("GET", "/api/ui/chat/"+someThread, nil, headers...).Body))(t)
		return string(body)
	}
	require.Contains(t, reloaded(), messages.ModelNotAvailable.Text+" "+hint.Text, "after a reload, on this host")
	require.Contains(t, reloaded("X-Forwarded-For", "203.0.113.7"), messages.ModelNotAvailable.Text)
	require.NotContains(t, reloaded("X-Forwarded-For", "203.0.113.7"), "LLM_API_KEY", "after a reload, behind a proxy")
	required := setup(t, func(d *Deps) { d.Config.Identity.Mode = "required" })
	required.engine.script = failing
	s := required.client().stream(http.MethodPost, "/api/chat", map[string]any{"message": "x"}, "Authorization", bearerOf(t, "ann"))
	require.Equal(t, messages.ModelNotAvailable.Text, s.until("error")["message"])
}
