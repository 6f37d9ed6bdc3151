package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/image/tiff"

	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

// form is a multipart body with a file and, when not empty, a title.
func form(t testing.TB, name, mediaType, content, title string) (body, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	h := textproto.MIMEHeader{"Content-Disposition": {`form-data; name="file"; filename="` + name + `"`}}
	if mediaType != "" {
		h.Set("Content-Type", mediaType)
	}
	part, err := w.CreatePart(h)
	if err == nil {
		_, err = io.WriteString(part, content)
	}
	if err == nil && title != "" {
		err = w.WriteField("title", title)
	}
	if err == nil {
		err = w.Close()
	}
	require.NoError(t, err)
	return b.String(), w.FormDataContentType()
}

// Rule D1.
func TestUploads(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	for _, x := range []struct {
		test, name, mediaType, content, title string
		status                                int
		wantTitle, wantType, wantField        string
	}{
		{test: "text", name: "notes.txt", content: "Some text.", status: 202, wantTitle: "notes", wantType: "txt"},
		{test: "with a title", name: "notes.md", content: "# A\n\nb", title: "My notes", status: 202, wantTitle: "My notes", wantType: "md"},
		{test: "a path as its name", name: `..\..\etc/passwd.txt`, content: "x", status: 202, wantTitle: "passwd", wantType: "txt"},
		{test: "by media type", name: "page", mediaType: "text/html", content: "<p>x</p>", status: 202, wantTitle: "page", wantType: "html"},
		{test: "a picture", name: "cat.png", mediaType: "image/png", content: "\x89PNG\r\n\x1a\n", status: 202, wantTitle: "cat", wantType: "png"},
		{test: "a film", name: "cat.mp4", mediaType: "video/mp4", content: "\x00\x00\x00\x18ftypmp42\x00\x00", status: 415},
		{test: "a film named text", name: "cat.txt", content: "\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00", status: 415},
		{test: "nothing in it", name: "empty.txt", status: 400, wantField: "file"},
		{test: "too large", name: "big.txt", content: strings.Repeat("x", 1<<20+1), status: 413},
		{test: "far too large", name: "big.txt", content: strings.Repeat("x", 2<<20), status: 413},
		{test: "a long title", name: "a.txt", content: "x", title: strings.Repeat("x", 301), status: 400, wantField: "title"},
	} {
		body, contentType := form(t, x.name, x.mediaType, x.content, x.title)
		res := c.send("POST", "/api/documents", body, "Content-Type", contentType)
		if res.StatusCode != x.status {
			raw, _ := io.ReadAll(res.Body)
			t.Errorf("%s: status %d: %s", x.test, res.StatusCode, raw)
			continue
		}
		if x.status != 202 && x.status != 400 {
			continue
		}
		got := decodeBody(t, res)
		if x.status == 400 {
			assert.EqualValues(t, x.wantField, field(got), "%s: %v", x.test, got)
			continue
		}
		if got["title"] != x.wantTitle || got["source_type"] != "upload" || got["format"] != x.wantType || got["status"] != "processing" ||
			got["public"] != false || got["bytes"] != float64(len(x.content)) || got["created_at"] == "" {
			t.Errorf("%s: %v", x.test, got)
		}
	}
	assert.Len(t, b.engine.ingested, 5, "ingests: %v", b.engine.ingested)
	for contentType, body := range map[string]string{
		"multipart/form-data":                "x",
		"multipart/form-data; boundary=abc":  "--abc\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nbroken off",
		"multipart/form-data; boundary=abcd": "--abcd--\r\n",
	} {
		assert.EqualValues(t, 400, c.send("POST", "/api/documents", body, "Content-Type", contentType).StatusCode, "%v %v", contentType, body)
	}
	c.call(415, "POST", "/api/documents", "x", "Content-Type", "text/plain")
}

func decodeBody(t testing.TB, res *http.Response) map[string]any {
	t.Helper()
	raw := must.Have(io.ReadAll(res.Body))(t)
	out := map[string]any{}
	require.NoError(t, json.Unmarshal(raw, &out))
	return out
}

// Rule D14.
func TestDocumentOfAConversationIsListedThereUntilItIsInTheLibrary(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	conversation, other := uuid.NewString(), uuid.NewString()
	made := c.call(202, "POST", "/api/documents", map[string]any{"title": "Attached", "text": "An okapi.", "conversation_id": conversation})
	id := made["id"].(string)
	require.Equal(t, conversation, made["conversation_id"])
	listed := func(query string) int {
		return len(slices.DeleteFunc(c.call(200, "GET", "/api/documents"+query, nil)["items"].([]any), func(d any) bool { return d.(map[string]any)["id"] != id }))
	}
	at := func() []int {
		return []int{listed("?conversation_id=" + conversation), listed("?conversation_id=" + other), listed("")}
	}
	require.Equal(t, []int{1, 0, 0}, at())
	moved := c.call(200, "PATCH", "/api/documents/"+id, map[string]any{"conversation_id": ""})
	require.Nil(t, moved["conversation_id"])
	require.Equal(t, "Attached", moved["title"])
	require.Equal(t, []int{0, 0, 1}, at())
	require.Equal(t, other, c.call(200, "PATCH", "/api/documents/"+id, map[string]any{"conversation_id": other})["conversation_id"])
	for _, path := range []string{"/api/documents?conversation_id=x", "/api/search?q=okapi&conversation_id=x"} {
		c.call(400, "GET", path, nil)
	}
	c.call(400, "PATCH", "/api/documents/"+id, map[string]any{"conversation_id": "x"})
	c.call(400, "PATCH", "/api/documents/"+id, map[string]any{})
	c.call(400, "POST", "/api/documents", map[string]any{"title": "A", "text": "b", "conversation_id": "x"})
}

// Rule D5.
func TestOriginalOfADocumentIsServedAsADownload(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	const page = "<html><script>alert(1)</script><p>A page.</p></html>"
	body, kind := form(t, "Größe: neu? alt.html", "text/html", page, "Another title")
	id := c.call(202, "POST", "/api/documents", body, "Content-Type", kind)["id"].(string)
	c.call(404, "GET", "/api/documents/"+id+"/original", nil) // while it is processed
	require.NoError(t, b.store.StoreText(t.Context(), c.id(), id, "A page.", nil, nil))

	res := c.send("GET", "/api/documents/"+id+"/original", nil)
	raw := must.Have(io.ReadAll(res.Body))(t)
	require.Equal(t, page, string(raw))
	require.Equal(t, "application/octet-stream", res.Header.Get("Content-Type"))
	require.Equal(t, "nosniff", res.Header.Get("X-Content-Type-Options"))
	how, params, err := mime.ParseMediaType(res.Header.Get("Content-Disposition"))
	require.NoError(t, err)
	require.Equal(t, "attachment", how)
	require.Equal(t, "Größe_ neu_ alt.html", params["filename"], "the name of its file, not its title")

	b.client().call(404, "GET", "/api/documents/"+id+"/original", nil) // a stranger
	c.call(404, "GET", "/api/documents/x/original", nil)
}

// Rule D5.
func TestPageOfATIFFIsServedAsAPicture(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *Deps) { d.Config.AnswerTimeout = time.Hour })
	c := b.client()
	add := func(name, media, raw string) string {
		body, kind := form(t, name, media, raw, "")
		id := c.call(202, "POST", "/api/documents", body, "Content-Type", kind)["id"].(string)
		require.NoError(t, b.store.SetDocumentPages(t.Context(), c.id(), id, 1, 0))
		require.NoError(t, b.store.StoreText(t.Context(), c.id(), id, "A page.", nil, nil))
		return id
	}
	var fax bytes.Buffer
	require.NoError(t, tiff.Encode(&fax, image.NewGray(image.Rect(0, 0, 2000, 3000)), &tiff.Options{Compression: tiff.Deflate}))
	id := add("fax.tif", "image/tiff", fax.String())
	res := c.send("GET", "/api/documents/"+id+"/original?page=1", nil)
	require.Equal(t, "image/png", res.Header.Get("Content-Type"))
	picture := must.Have(png.Decode(res.Body))(t)
	require.Equal(t, image.Rect(0, 0, 2000, 3000), picture.Bounds())
	for _, page := range []string{"0", "2", "x"} {
		c.call(400, "GET", "/api/documents/"+id+"/original?page="+page, nil)
	}
	c.call(404, "GET", "/api/documents/"+add("cut.tif", "image/tiff", fax.String()[:100])+"/original?page=1", nil)
	c.call(400, "GET", "/api/documents/"+add("note.md", "text/markdown", "A note.")+"/original?page=1", nil)
}

// Rule D5.
func TestWordsOfScannedPagesAreServedWithTheirPlaces(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	body, kind := form(t, "letter.png", "image/png", string(tinyPNG), "")
	id := c.call(202, "POST", "/api/documents", body, "Content-Type", kind)["id"].(string)
	for page, text := range map[int]string{1: "\n", 2: "Dear Ada\f" + `[{"text":"Dear","box":[1,2,3,4]},{"text":"Ada","box":[5,2,9,4]}]`, 3: ""} {
		require.NoError(t, b.store.PutScan(t.Context(), c.id(), id, "", page, text))
	}
	require.NoError(t, b.store.StoreText(t.Context(), c.id(), id, "Dear Ada", nil, nil))
	require.Equal(t, m{"items": []any{m{"page": 2.0, "words": []any{
		m{"text": "Dear", "box": []any{1.0, 2.0, 3.0, 4.0}}, m{"text": "Ada", "box": []any{5.0, 2.0, 9.0, 4.0}}}}}},
		c.call(200, "GET", "/api/documents/"+id+"/scans", nil))
	b.client().call(404, "GET", "/api/documents/"+id+"/scans", nil) // a stranger
}

func TestFileNamesAreNoPaths(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"Leave policy": "Leave policy.pdf", "../../etc/passwd": "_.._etc_passwd.pdf", " . ": "document.pdf",
		"a\tb\x00": "a_b_.pdf", strings.Repeat("ü", 300): strings.Repeat("ü", maxFileName) + ".pdf",
	} {
		require.Equal(t, want, fileName(title, "pdf"), "%q", title)
	}
}

// Rules D2, D5, D6, D7, D8.
func TestDocumentLifecycle(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	made := c.call(202, "POST", "/api/documents", map[string]any{"title": "Policy", "text": "Überweisungen need two signatures."})
	id := made["id"].(string)
	assert.True(t, made["progress"] == 0.0 && made["chunks"] == 0.0, "made: %v", made)
	full := "Überweisungen need two signatures."
	chunk := chat.Chunk{ID: id + ".0", DocID: id, Text: full, Start: 0, End: 34, Heading: "Payments", Pages: []chat.PageStart{{Page: 4}}}
	require.NoError(t, b.store.StoreText(t.Context(), c.id(), id, full, []chat.Chunk{chunk}, nil))
	d := c.call(200, "GET", "/api/documents/"+id, nil)
	assert.True(t, d["status"] == "ready" && d["chunks"] == 1.0 && d["progress"] == nil && d["error"] == nil, "ready: %v", d)
	raw, err := io.ReadAll(c.send("GET", "/api/documents/"+id+"/text", nil).Body)
	assert.True(t, err == nil && string(raw) == full, "text %q, %v", raw, err)
	if got := c.call(200, "GET", "/api/documents/"+id+"/text", nil, "Accept", "application/json"); got["text"] != full || got["id"] != id {
		t.Errorf("text as JSON: %v", got)
	}
	if got := c.call(200, "GET", "/api/documents/"+id+"/chunks/"+id+".0", nil); got["text"] != full || got["end"] != 34.0 || got["heading"] != "Payments" || got["page"] != 4.0 {
		t.Errorf("chunk: %v", got)
	}
	hits := c.call(200, "GET", "/api/search?q=signatures&doc_ids="+id+"&k=3", nil)["hits"].([]any)
	assert.True(t, len(hits) == 1 && hits[0].(map[string]any)["chunk_id"] == id+".0" && hits[0].(map[string]any)["title"] == "Policy", "hits: %v", hits)
	set := c.call(201, "POST", "/api/document-sets", map[string]any{"name": "All", "doc_ids": []any{id, strings.ToUpper(id)}})
	if got := set["doc_ids"].([]any); len(got) != 1 || got[0] != id {
		t.Errorf("set: %v", set)
	}
	setPath := "/api/document-sets/" + set["id"].(string)
	if got := c.call(200, "PUT", setPath, map[string]any{"name": "None", "doc_ids": []any{}}); got["name"] != "None" || len(got["doc_ids"].([]any)) != 0 {
		t.Errorf("set: %v", got)
	}
	assert.EqualValues(t, 1, len(c.call(200, "GET", "/api/document-sets", nil)["items"].([]any)), "sets")
	c.call(204, "DELETE", setPath, nil)
	if d := c.call(200, "PATCH", "/api/documents/"+id, map[string]any{"title": " New\n title "}); d["title"] != "New title" || d["status"] != "ready" {
		t.Errorf("renamed: %v", d)
	}
	for _, body := range []map[string]any{{}, {"title": " "}, {"title": strings.Repeat("x", 301)}} {
		if e := c.call(400, "PATCH", "/api/documents/"+id, body); !strings.Contains(fmt.Sprint(e), "title") {
			t.Errorf("%v: %v", body, e)
		}
	}
	b.client().call(404, "PATCH", "/api/documents/"+id, map[string]any{"title": "x"}) // a stranger
	c.call(204, "DELETE", "/api/documents/"+id, nil)
	c.call(404, "GET", "/api/documents/"+id, nil)
}

// Rule D11.
func TestPublicDocumentIsReadableByAllAndCannotBeDeleted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := uuid.NewString()
	require.NoError(t, b.store.CreateDocument(t.Context(), chat.Document{ID: id, Owner: chat.PublicOwner, Title: "Sample", Format: "txt"}, []byte("x")))
	c := b.client()
	assert.EqualValues(t, true, c.call(200, "GET", "/api/documents/"+id, nil)["public"])
	assert.EqualValues(t, chat.CodeForbidden, errorCode(c.call(403, "DELETE", "/api/documents/"+id, nil)))
}

// Rules C1, C3, C4.
func TestConversations(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	made := c.call(201, "POST", "/api/conversations", map[string]any{"id": someThread, "title": " Notes "})
	assert.True(t, made["id"] == someThread && made["title"] == "Notes" && made["status"] == "idle" && made["created_at"] != "", "made: %v", made)
	c.call(201, "POST", "/api/conversations", map[string]any{"id": someThread}) // again
	asked := c.call(201, "POST", "/api/conversations", map[string]any{"message": "What is the answer?"})
	assert.EqualValues(t, "status token response", types(c.stream("GET", "/api/chat/stream/"+asked["id"].(string)+"?turn_id="+asked["turn_id"].(string), nil).rest()), "its first turn")
	all := c.call(200, "GET", "/api/conversations?limit=1", nil)
	next, _ := all["next_cursor"].(string)
	require.True(t, len(all["items"].([]any)) == 1 && next != "", "first page: %v", all)
	rest := c.call(200, "GET", "/api/conversations?limit=1&cursor="+next, nil)
	assert.True(t, len(rest["items"].([]any)) == 1 && rest["next_cursor"] == nil, "second page: %v", rest)
	assert.EqualValues(t, 1, len(c.call(200, "GET", "/api/conversations?q=notes", nil)["items"].([]any)), "search")
	assert.EqualValues(t, "Better", c.call(200, "PATCH", "/api/conversations/"+someThread, map[string]any{"title": "Better"})["title"], "renamed")
	c.call(204, "DELETE", "/api/conversations/"+someThread, nil)
	c.call(404, "GET", "/api/conversations/"+someThread, nil)
	c.call(404, "DELETE", "/api/conversations/"+someThread, nil)
	assert.True(t, len(b.engine.deleted) == 1 && b.engine.deleted[0] == someThread, "workflows ended: %v", b.engine.deleted)
	assert.True(t, len(b.engine.forgotten) == 1 && b.engine.forgotten[0] == someThread, "histories deleted: %v", b.engine.forgotten)
}

func TestBadFieldsAreNamed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	long := strings.Repeat("x", 600)
	for _, x := range []struct {
		method, path, body, field string
	}{
		{"GET", "/api/conversations?limit=0", "", "limit"},
		{"GET", "/api/conversations?limit=101", "", "limit"},
		{"GET", "/api/conversations?limit=x", "", "limit"},
		{"GET", "/api/conversations?cursor=" + long, "", "cursor"},
		{"GET", "/api/conversations?cursor=nonsense", "", "cursor"},
		{"GET", "/api/conversations?q=%00", "", "q"},
		{"GET", "/api/conversations?q=%ff", "", "q"},
		{"GET", "/api/documents?cursor=nonsense", "", "cursor"},
		{"GET", "/api/documents?limit=201", "", "limit"},
		{"GET", "/api/document-sets?cursor=nonsense", "", "cursor"},
		{"GET", "/api/search", "", "q"},
		{"GET", "/api/search?q=x&k=0", "", "k"},
		{"GET", "/api/search?q=x&k=51", "", "k"},
		{"GET", "/api/search?q=x&doc_ids=1,2", "", "doc_ids"},
		{"GET", "/api/chat/stream/" + someThread + "?follow=me", "", "follow"},
		{"GET", "/api/chat/history/" + someThread + "?limit=-1", "", "limit"},
		{"PUT", "/api/me", `{"industry":"` + long + `"}`, "industry"},
		{"PUT", "/api/me", `{"location":3}`, "location"},
		{"POST", "/api/conversations", `{"id":"x"}`, "id"},
		{"POST", "/api/conversations", `{"title":"` + long + `"}`, "title"},
		{"POST", "/api/conversations", `[]`, "body"},
		{"PATCH", "/api/conversations/" + someThread, `{}`, "title"},
		{"PATCH", "/api/conversations/" + someThread, `{"title":" "}`, "title"},
		{"POST", "/api/documents", `{"title":"x"}`, "text"},
		{"POST", "/api/documents", `{"title":"x","text":"a\u0000b"}`, "text"},
		{"POST", "/api/documents", `{"text":"x"}`, "title"},
		{"POST", "/api/document-sets", `{"doc_ids":[]}`, "name"},
		{"POST", "/api/document-sets", `{"name":"x","doc_ids":["1"]}`, "doc_ids"},
	} {
		body := c.call(400, x.method, x.path, orNil(x.body))
		assert.True(t, field(body) == x.field && errorCode(body) == chat.CodeValidation, "%s %s %.80s: %v", x.method, x.path, x.body, body)
	}
	assert.EqualValues(t, chat.CodeTooLarge, errorCode(c.call(413, "POST", "/api/chat", `{"message":"`+strings.Repeat("x", 2<<20)+`"}`)))
}

// Rule I10.
func TestMe(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	c.call(200, "PUT", "/api/me", map[string]any{"industry": "banking", "location": "Kuala Lumpur", "hide_samples": true, "instructions": " Be brief. ", "id": "me"})
	me := c.call(200, "GET", "/api/me", nil)
	assert.True(t, me["industry"] == "banking" && me["location"] == "Kuala Lumpur" && me["hide_samples"] == true && me["anonymous"] == true && me["id"] != "me", "%v", me)
	assert.Equal(t, "Be brief.", me["instructions"])
	e := c.call(400, "PUT", "/api/me", map[string]any{"instructions": strings.Repeat("ü", chat.MaxInstructions+1)})
	assert.Equal(t, "instructions", e["error"].(map[string]any)["details"].([]any)[0].(map[string]any)["field"])
	c.call(200, "PUT", "/api/me", map[string]any{"instructions": strings.Repeat("ü", chat.MaxInstructions)})
}

func TestErrorsHaveTheRequestIDAndValidOnesAreKept(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	for sent, kept := range map[string]bool{"abc-1.2:3_x": true, "": false, "a b": false, "a\tb": false, strings.Repeat("x", 65): false} {
		res := c.send("GET", "/api/nothing", nil, "X-Request-Id", sent)
		got := res.Header.Get("X-Request-Id")
		assert.True(t, (got == sent) == kept && got != "", "sent %q, got %q", sent, got)
		body := decodeBody(t, res)
		assert.True(t, res.StatusCode == 404 && errorCode(body) == chat.CodeNotFound && body["error"].(map[string]any)["request_id"] == got, "%d %v", res.StatusCode, body)
	}
}

func TestPanicIsA500WithoutTheCause(t *testing.T) {
	t.Parallel()
	b := setup(t)
	e := gin.New()
	e.Use(request.SetID, b.server.access, b.server.recovery)
	e.GET("/boom", func(*gin.Context) { panic("secret") })
	w := httptest.NewRecorder()
	e.ServeHTTP(w, httptest.NewRequest("GET", "/boom", nil))
	assert.True(t, w.Code == 500 && !strings.Contains(w.Body.String(), "secret") && strings.Contains(w.Body.String(), `"internal"`), "%d %s", w.Code, w.Body)
}

func TestPanickingStreamIsAborted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	e := gin.New()
	e.Use(request.SetID, b.server.access, b.server.recovery)
	e.GET("/boom", func(c *gin.Context) {
		c.Writer.WriteHeaderNow()
		c.Writer.Flush()
		panic("secret")
	})
	web := httptest.NewServer(e)
	defer web.Close()
	res := must.Have(http.Get(web.URL + "/boom"))(t)
	defer func() { _ = res.Body.Close() }()
	if _, err := io.ReadAll(res.Body); err == nil {
		t.Error("the stream looks complete, not aborted")
	}
}

func TestUnavailableDatabaseIsA503(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	c.id()
	require.NoError(t, b.store.Close())
	for _, path := range []string{"/api/me", "/api/conversations", "/api/chat/history/" + someThread, "/api/documents"} {
		assert.EqualValues(t, chat.CodeDatabase, errorCode(c.call(503, "GET", path, nil)), path)
	}
	assert.EqualValues(t, chat.CodeDatabase, errorCode(c.call(503, "POST", "/api/chat", map[string]any{"message": "x"})))
}

// Rule R2.
func TestReadyNamesWhatIsDown(t *testing.T) {
	t.Parallel()
	broken := error(nil)
	b := setup(t, func(d *Deps) {
		d.Ready = map[string]func(context.Context) error{"temporal": func(context.Context) error { return broken }}
	})
	c := b.client()
	c.call(200, "GET", "/healthz", nil)
	assert.EqualValues(t, "ok", c.call(200, "GET", "/readyz", nil)["parts"].(map[string]any)["temporal"])
	if got := c.call(200, "GET", "/readyz", nil)["parts"].(map[string]any)["vectors"]; got != b.store.VectorSearch() || got == "" {
		t.Errorf("vectors: %v", got)
	}
	b.bus.down = true
	assert.EqualValues(t, "down", c.call(200, "GET", "/readyz", nil)["parts"].(map[string]any)["stream"], "without the bus answers still arrive, in larger steps")
	broken = errors.New("dial tcp 10.0.0.1: refused")
	require.NoError(t, b.store.Close())
	res := c.send("GET", "/readyz", nil)
	raw, err := io.ReadAll(res.Body)
	assert.True(t, err == nil && res.StatusCode == 503 && !strings.Contains(string(raw), "10.0.0.1"), "%d %s %v", res.StatusCode, raw, err)
	for _, part := range []string{"temporal", "database", "stream"} {
		assert.True(t, strings.Contains(string(raw), `"`+part+`":"down"`), "%s is not named: %s", part, raw)
	}
	c.call(200, "GET", "/healthz", nil)
}

// Rules I20, R4.
func TestConfigHasTheSettingsOfThePage(t *testing.T) {
	t.Parallel()
	c := setup(t).client()
	got := c.call(200, "GET", "/api/config", nil)
	model, limits := got["model"].(map[string]any), got["limits"].(map[string]any)
	if model["offline"] != true || model["provider"] != "offline" || model["label"] == "" || limits["message_chars"] != 32000.0 ||
		limits["upload_bytes"] != float64(1<<20) || got["features"] == nil || got["auth"].(map[string]any)["mode"] != "anonymous" {
		t.Errorf("%v", got)
	}
}

func TestMetricsCountByRouteAndShowOpenStreams(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.script = waiting
	c := b.client()
	c.ask(map[string]any{}).until("status")
	c.call(404, "GET", "/api/conversations/"+someThread, nil)
	raw := must.Have(io.ReadAll(c.send("GET", "/metrics", nil).Body))(t)
	for _, line := range []string{
		`palaver_open_streams{dialect="native"} 1`,
		`palaver_http_requests_total{method="GET",route="/api/conversations/:id",status="404"} 1`,
		`palaver_turns_submitted_total 1`,
	} {
		assert.True(t, strings.Contains(string(raw), line), "%s is missing", line)
	}
}

// Without the metric an autoscaler assumes that the process is fully loaded.
func TestAnIdleProcessReportsThatNoStreamIsOpen(t *testing.T) {
	t.Parallel()
	raw := must.Have(io.ReadAll(setup(t).client().send("GET", "/metrics", nil).Body))(t)
	if line := `palaver_open_streams{dialect="native"} 0`; !strings.Contains(string(raw), line) {
		t.Errorf("%s is missing", line)
	}
}

func TestThePageAndItsHeaders(t *testing.T) {
	t.Parallel()
	c := setup(t).client()
	for _, path := range []string{"/", "/chat/" + someThread, "/assets/app.js"} {
		res := c.send("GET", path, nil)
		raw, _ := io.ReadAll(res.Body)
		assert.True(t, res.StatusCode == 200 && string(raw) == "page "+path, "%s: %d %s", path, res.StatusCode, raw)
		csp := res.Header.Get("Content-Security-Policy")
		if !strings.Contains(csp, "default-src 'self'") || !strings.Contains(csp, "frame-ancestors 'none'") || strings.Contains(csp, "unsafe") ||
			res.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", path, res.Header)
		}
	}
	c.call(404, "POST", "/", map[string]any{})
	c.call(404, "GET", "/api", nil)
}

func TestConversationListsTheDocumentsThatItUsed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	owner := c.id()
	doc := chat.Document{ID: uuid.NewString(), Owner: owner, Title: "Circular", Format: "txt", CreatedAt: time.Now()}
	require.NoError(t, b.store.CreateDocument(t.Context(), doc, []byte("x")))
	require.NoError(t, b.store.StoreText(t.Context(), owner, doc.ID, "x", nil, nil))
	s := c.ask(map[string]any{"thread_id": someThread, "tagged_doc_ids": []string{doc.ID}})
	s.rest()
	path := "/api/conversations/" + someThread
	require.EqualValues(t, nil, c.call(200, "GET", path, nil)["documents"], "documents before any is known")
	turn := chat.Turn{ID: uuid.Must(uuid.NewV7()).String(), ThreadID: someThread, Owner: owner, ClientTurnID: "known", Status: chat.TurnNew, CreatedAt: time.Now()}
	if _, _, _, err := b.store.InsertTurn(t.Context(), turn); err != nil {
		t.Fatal(err)
	}
	if _, err := b.store.Settle(t.Context(), db.Settlement{
		Owner: owner, ThreadID: someThread, TurnID: turn.ID, Parent: s.res.Header.Get("X-Turn-Id"), Status: chat.TurnCompleted,
		Terminal: chat.Event{N: 1, Type: chat.EventResponse, TurnID: turn.ID, ThreadID: someThread}, Registry: []string{doc.ID}, At: time.Now(),
	}); err != nil {
		t.Fatal(err)
	}
	got, _ := c.call(200, "GET", path, nil)["documents"].([]any)
	assert.True(t, len(got) == 1 && got[0].(map[string]any)["title"] == "Circular", "documents %v", got)
}

// Without Close, each subscription to a turn that was submitted would stay forever.
func TestSubmittingUnsubscribesFromTheTurn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	turn := b.client().call(201, "POST", "/api/conversations", m{"message": "x"})["turn_id"].(string)
	_, structured, _ := callTool(t, b.mcpClient("ann", nil), "ask", m{"message": "x"})
	for _, id := range []string{turn, structured["turn_id"].(string)} {
		require.Eventually(t, func() bool {
			b.bus.mu.Lock()
			defer b.bus.mu.Unlock()
			return len(b.bus.turns[id]) == 0
		}, time.Minute, time.Millisecond)
	}
}
