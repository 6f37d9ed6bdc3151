package api

import (
	"context"
	"io"
	"slices"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/openapi"
	"github.com/palaver-chat/palaver/api/sse"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/extract"
	"github.com/palaver-chat/palaver/imports"
	"github.com/palaver-chat/palaver/testkit/must"
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
		d.DocumentTypes = append(extract.All(), extract.Type{Name: "letter", Label: "Letter", Extensions: []string{".letter"},
			Read: func(context.Context, []byte) (string, error) { return "", nil }})
	})
	c := b.client()
	upload := func(status int, name, content string) map[string]any {
		body, contentType := form(t, name, "", content, "")
		return c.call(status, "POST", "/api/documents", body, "Content-Type", contentType)
	}
	require.Equal(t, "letter", upload(202, "a.letter", "Hello")["format"])
	refused := upload(415, "a.xyz", "x")
	require.Contains(t, refused["error"].(map[string]any)["message"], "Text, Markdown, HTML, PDF, Word, Excel, PowerPoint, CSV, E-mail, Outlook, RTF, OpenDocument text, OpenDocument spreadsheet, OpenDocument presentation, PNG, JPEG, TIFF, WebP, GIF and Letter files can be read")
	types := c.call(200, "GET", "/api/config", nil)["document_types"].([]any)
	require.Equal(t, map[string]any{"label": "Letter", "extensions": []any{".letter"}}, types[len(types)-1])
}

func TestAddedImportSourceIsOfferedAndItsLinksAreImportedFromIt(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *Deps) {
		d.ImportSources = imports.Sources{{Type: "manuals", Label: "Shop manuals", Links: []string{"manuals.example.com/"}}}
	})
	c := b.client()
	sources := c.call(200, "GET", "/api/config", nil)["import_sources"]
	require.Equal(t, []any{map[string]any{"type": "manuals", "label": "Shop manuals", "links": []any{"manuals.example.com/"}}}, sources)
	for url, source := range map[string]string{
		"http://manuals.example.com/aurora#reset": "manuals",
		"https://example.com/manuals":             "link",
	} {
		require.Equal(t, source, c.call(202, "POST", "/api/imports", map[string]any{"url": url})["source_type"], url)
	}
}

type lineJSON struct {
	Text string `json:"text"`
}

// lineWire writes the answer and nothing else.
type lineWire struct{}

func (lineWire) Name() string              { return "line" }
func (lineWire) Header() map[string]string { return nil }
func (lineWire) Begin(b []byte) []byte     { return b }
func (lineWire) End(b []byte) []byte       { return b }
func (lineWire) Event(b []byte, e chat.Event, _ string) []byte {
	if e.Type != chat.EventResponse {
		return b
	}
	return sse.JSON(b, lineJSON{e.Response.Text})
}

func TestAddedDialectIsServedAndDocumented(t *testing.T) {
	t.Parallel()
	added := dialect.Dialect{
		Prefix: "Shop", Package: "example.com/shop", Below: "/shop/",
		Failure:      func(f dialect.Failure) any { return map[string]any{"shop_error": f.Code} },
		FailureShape: map[string]any{},
		Events:       []openapi.Shape{{Value: lineJSON{}}},
		Operations: func(s dialect.Server) []openapi.Operation {
			return []openapi.Operation{{Route: "POST /shop/chat", Stream: true, Group: "Shop", About: "Answers a message.", Answers: openapi.Streams("ShopEvent"),
				Handle: func(c *gin.Context) error {
					submit := dialect.Submit{ThreadAlias: "1", Content: chat.Content{Message: "Hello", Agent: chat.AgentAssistant}, OnBusy: chat.Supersede}
					return s.Submit(c, submit, func(dialect.Stream) dialect.Wire { return lineWire{} })
				}}}
		},
	}
	require.NoError(t, AcceptDialects([]dialect.Dialect{added}))
	b := setup(t, func(d *Deps) { d.Dialects = []dialect.Dialect{added} })
	b.engine.script = func(u *turn) {
		u.settle(chat.TurnCompleted, chat.Event{Type: chat.EventResponse, Response: &chat.Response{Text: "Hello."}})
	}
	c := b.client()
	stream := must.Have(io.ReadAll(c.send("POST", "/shop/chat", nil).Body))(t)
	require.Contains(t, string(stream), `data: {"text":"Hello."}`)
	require.Equal(t, map[string]any{"shop_error": chat.CodeNotFound}, c.call(404, "POST", "/shop/nothing", nil), "errors have the dialect's shape")
	require.Contains(t, string(b.server.openAPI.Raw), `"/shop/chat":{"post"`)
	require.NotContains(t, string(setup(t).server.openAPI.Raw), "/shop/chat")
}
