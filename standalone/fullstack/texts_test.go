package fullstack

import (
	"bytes"
	"context"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/standalone/stacktest"
)

// oddTexts are texts that may cause errors in a database, a header or a page, written as
// the contents of a JSON string.
var oddTexts = map[string]string{
	"NUL":               `a\u0000b`,
	"only NUL":          `\u0000`,
	"a lone surrogate":  `a\ud800b`,
	"invalid UTF-8":     "a\xff\xfe\xc0\x80b",
	"a noncharacter":    `a\uffffb`,
	"turned directions": `a\u202eb\u2066`,
	"line breaks":       `a\r\nSet-Cookie: evil=1\r\n\r\nb`,
	"markup":            `<img src=x onerror=alert(1)>\"'](javascript:alert(1))`,
	"SQL":               `'); DROP TABLE turns; --`,
	"a format":          `%s%n%00{{.}}${jndi:x}`,
	"an emoji":          `\ud83d\udca9\u0301`,
}

// textDoors are the requests that store texts of people. § stands for the text, THREAD and
// ID for ids.
var textDoors = []string{
	`PUT /api/me {"industry":"§","location":"§"}`,
	`POST /api/conversations {"title":"§"}`,
	`POST /api/conversations {"title":"x","message":"§"}`,
	`PATCH /api/conversations/THREAD {"title":"§"}`,
	`POST /api/documents {"title":"§","text":"§"}`,
	`POST /api/document-sets {"name":"§","doc_ids":[]}`,
	`POST /api/imports {"url":"§"}`,
	`POST /api/imports {"url":"https://example.com/§"}`,
	`POST /api/imports {"url":"https://drive.google.com/file/d/1AbCdEfGhIjKlMnOp/view?resourcekey=§"}`,
	`POST /api/discoveries {"title":"§","goal":"§","inputs":[{"text":"§","title":"§","own":"§"}],"chat_history":[{"role":"user","content":"§"}],"§":"§"}`,
	`PATCH /api/discoveries/ID {"title":"§","goal":"§"}`,
	`POST /api/discoveries/ID/items {"entity_type":"input","text":"§","title":"§","type":"§","status":"§","related_ids":["§"]}`,
	`POST /api/discoveries/ID/items {"entity_type":"input","text":"§"}`,
	`PATCH /api/discoveries/ID/items/I-1 {"text":"§"}`,
	`POST /api/discoveries/ID/actions {"id":"§","tool":"§","params":{"text":"§","item_id":"§"}}`,
	`POST /api/discoveries/ID/actions {"id":"p","tool":"add_item","params":{"entity_type":"fact","text":"§"}}`,
	`POST /api/chat {"thread_id":"THREAD","message":"§"}`,
	`POST /api/chat {"thread_id":"THREAD","message":"x","client_turn_id":"§","stream_run_id":"§","agent":"§"}`,
	`POST /api/chat {"thread_id":"THREAD","message":"x","tiptap_json":{"type":"doc","content":[{"type":"paragraph","content":[{"type":"text","text":"§"},{"type":"mention","attrs":{"id":"§","label":"§"}}]}]}}`,
	`POST /api/chat {"thread_id":"§","message":"x"}`,
	`POST /api/chat/resume {"thread_id":"THREAD","interrupt_id":"§","resume_value":{"type":"text_input","value":"§","tiptap_json":{"a":"§"}}}`,
	`POST /api/chat/cancel {"thread_id":"THREAD","reason":"§","client_turn_id":"§"}`,
	`POST /api/ui/chat {"id":"ui","messages":[{"id":"§","role":"user","parts":[{"type":"text","text":"§"}]}]}`,
	`POST /api/ui/chat {"id":"ui","messages":[{"id":"u","role":"user","parts":[{"type":"text","text":"Hello"}]}]}`,
	`POST /api/ui/chat {"id":"§","messages":[{"id":"u","role":"user","parts":[{"type":"text","text":"x"}]}]}`,
	`POST /api/v1/chat/stream {"thread_id":"lg","message":{"role":"human","content":"§"}}`,
	`POST /api/v1/chat/feedback {"stream_run_id":"§","message":"§","thread_id":"§","score":1}`,
	`POST /api/agent/v2/stream {"session_id":"§","message":"§","discovery_context":{"title":"§"}}`,
	`POST /v1/chat/completions {"model":"palaver-documents","messages":[{"role":"user","content":"§"}]}`,
	`POST /v1/chat/completions {"model":"palaver-documents","messages":[{"role":"user","content":"§"},{"role":"assistant","content":"§"},{"role":"user","content":"x"}],"metadata":{"thread_id":"oa"}}`,
	`POST /v1/chat/completions {"model":"§","messages":[{"role":"§","content":[{"type":"§","text":"§"}]}]}`,
	`POST /api/agui {"threadId":"ag","runId":"r","messages":[{"id":"m","role":"user","content":"§"}],"state":{"§":"§"},"forwardedProps":{"palaver":{"agent":"documents"}}}`,
	`POST /api/agui {"threadId":"ag","runId":"§","messages":[{"id":"§","role":"user","content":"x"}]}`,
	`POST /api/agui {"threadId":"ag","runId":"r","messages":[],"resume":[{"interruptId":"§","status":"resolved","payload":{"value":"§"}}]}`,
	`POST /api/agui {"threadId":"ag","runId":"r2","messages":[]}`,
	`POST /api/me/keys {"name":"§"}`,
	`PUT /api/v1/threads/repo/repo {"repo":{"messages":[{"§":"§"}],"headId":"§"}}`,
	`POST /mcp/rpc {"jsonrpc":"2.0","id":"§","method":"tools/call","params":{"name":"import_document","arguments":{"url":"§"}}}`,
	`POST /mcp/rpc {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"message":"§"}}}`,
	`POST /mcp/rpc {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_documents","arguments":{"query":"§"}}}`,
}

// Whatever people write is stored or rejected, here on Postgres, which takes less than SQLite.
// Everything that was stored can be read again: in lists, histories and the export.
func TestOddTextsAreStoredOrRefused(t *testing.T) {
	t.Parallel()
	s := stacktest.Start(t, append(onPostgres(t), stacktest.Flag("import-retry-budget", "1ns"))...)
	for name, text := range oddTexts {
		t.Run(name, func(t *testing.T) {
			c := newTalk(t, func() string { return s.URL }, s.NewUser())
			require.Equal(t, "response", last(c.ask("Hello", nil)).Type)
			var board struct{ ID string }
			c.do(http.StatusCreated, http.MethodPost, "/api/discoveries", object{"title": "Churn", "inputs": []object{{"text": "Ten calls."}}}, &board)
			stored := 0
			for _, door := range textDoors {
				method, rest, _ := strings.Cut(door, " ")
				path, body, _ := strings.Cut(rest, " ")
				fill := strings.NewReplacer("THREAD", c.thread, "ID", board.ID)
				body = strings.ReplaceAll(fill.Replace(body), "§", text)
				status, said := c.raw(method, fill.Replace(path), "application/json", body)
				require.Less(t, status, 500, "%s: %s", door, said)
				require.NotContains(t, said, `"type":"error"`, door)
				require.NotContains(t, said, `"code":"internal`, door)
				if status < 300 {
					stored++
				}
			}
			require.Greater(t, stored, 3)
			for _, file := range []string{"odd.txt", "odd.md", "odd.html", "odd.csv", text + ".txt"} {
				status, said := c.rawFile(file, "A text of a file. "+text+"\x00\xff end.")
				require.Less(t, status, 500, "%s: %s", file, said)
			}
			for _, path := range []string{"/api/me", "/api/conversations", "/api/documents", "/api/document-sets", "/api/imports", "/api/discoveries",
				"/api/discoveries/" + board.ID, "/api/chat/history/" + c.thread, "/api/ui/chat/ui", "/api/me/export"} {
				status, said := c.raw(http.MethodGet, path, "", "")
				require.Equal(t, http.StatusOK, status, "%s: %s", path, said)
			}
			require.Eventually(t, func() bool { // each file becomes ready, or fails with a reason
				_, said := c.raw(http.MethodGet, "/api/documents", "", "")
				return !strings.Contains(said, `"status":"processing"`)
			}, waitTimeout, 20*time.Millisecond)
		})
	}
}

// raw sends a body unchanged and reads the response to its end.
func (c *talk) raw(method, path, contentType, body string) (status int, said string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, c.url()+path, strings.NewReader(body))
	require.NoError(c.t, err)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	res, err := c.client.Do(req)
	require.NoError(c.t, err)
	defer res.Body.Close()
	require.NotContains(c.t, strings.Join(res.Header.Values("Set-Cookie"), " "), "evil")
	raw, err := io.ReadAll(res.Body)
	require.NoError(c.t, err)
	return res.StatusCode, string(raw)
}

// rawFile uploads a file under any name.
func (c *talk) rawFile(name, content string) (status int, said string) {
	c.t.Helper()
	var body bytes.Buffer
	m := multipart.NewWriter(&body)
	h := textproto.MIMEHeader{}
	h.Set("Content-Disposition", `form-data; name="file"; filename="`+name+`"`)
	w, err := m.CreatePart(h)
	require.NoError(c.t, err)
	_, err = io.WriteString(w, content)
	require.NoError(c.t, err)
	require.NoError(c.t, m.Close())
	return c.raw(http.MethodPost, "/api/documents", m.FormDataContentType(), body.String())
}
