package api

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/extract"
)

// Clients may name every declared agent and document type, wherever they name one.
func TestDeclaredAgentIsAcceptedAndDocumented(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *Deps) {
		d.Agents = append(slices.Clip(d.Agents), chat.AgentInfo{Name: "poet", Label: "Poet", Description: "Answers in verse"})
	})
	c := b.client()
	c.ask(map[string]any{"agent": "poet"}).rest()
	for _, path := range []string{"/api/chat", "/api/ui/chat", "/api/v1/chat/stream", "/api/agent/v2/stream"} {
		refused := c.call(400, "POST", path, map[string]any{"message": "x", "client_turn_id": "c", "stream_run_id": "r", "agent": "painter"})
		details := refused["error"].(map[string]any)["details"]
		require.Contains(t, details, map[string]any{"field": "agent", "problem": "must be documents, assistant or poet"}, path)
	}
	openAI := c.call(400, "POST", "/v1/chat/completions", m{"model": "palaver-painter", "messages": []m{{"role": "user", "content": "x"}}})["error"].(m)
	require.Equal(t, "model", openAI["param"])
	require.Contains(t, openAI["message"], "model must be palaver-documents, palaver-assistant or palaver-poet")
	c.call(200, "GET", "/v1/models/palaver-poet", nil)
	run := aguiRun("t", "m", "x")
	run["forwardedProps"] = m{"palaver": m{"agent": "painter"}}
	require.Contains(t, c.call(400, "POST", "/api/agui", run)["error"].(m)["details"], m{"field": "forwardedProps.palaver.agent", "problem": "must be documents, assistant or poet"})
	config := c.call(200, "GET", "/api/config", nil)
	require.Equal(t, map[string]any{"name": "poet", "label": "Poet", "description": "Answers in verse"}, config["agents"].([]any)[2])
	require.Contains(t, string(b.server.openAPI.Raw), `"enum":["documents","assistant","poet","",null]`)
}

func TestDeclaredDocumentTypeIsAccepted(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *Deps) {
		d.DocumentTypes = append(extract.All(), extract.Type{Name: "rtf", Label: "RTF", Extensions: []string{".rtf"},
			Read: func(context.Context, []byte) (string, error) { return "", nil }})
	})
	c := b.client()
	upload := func(status int, name, content string) map[string]any {
		body, contentType := form(t, name, "", content, "")
		return c.call(status, "POST", "/api/documents", body, "Content-Type", contentType)
	}
	require.Equal(t, "rtf", upload(202, "a.rtf", "{\\rtf1 Hello}")["format"])
	refused := upload(415, "a.xyz", "x")
	require.Contains(t, refused["error"].(map[string]any)["message"], "Text, Markdown, HTML, PDF, Word, Excel, PowerPoint, CSV and RTF files can be read")
	types := c.call(200, "GET", "/api/config", nil)["document_types"].([]any)
	require.Equal(t, map[string]any{"label": "RTF", "extensions": []any{".rtf"}}, types[len(types)-1])
}
