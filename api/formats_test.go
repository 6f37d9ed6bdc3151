package api

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/accesskey"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

// completion is a streamed chat completion of one message.
func completion(message string) m {
	return m{"model": "palaver-documents", "stream": true, "messages": []m{{"role": "user", "content": message}}}
}

// aguiRun is an AG-UI run that sends one message.
func aguiRun(thread, id, message string) m {
	return m{"threadId": thread, "runId": id, "messages": []m{{"id": id, "role": "user", "content": message}}}
}

func (c *client) complete(messages ...m) map[string]any {
	c.t.Helper()
	return c.call(200, "POST", "/v1/chat/completions", m{"model": "palaver-documents", "messages": messages})
}

func saidOf(answer map[string]any) string {
	return answer["choices"].([]any)[0].(map[string]any)["message"].(map[string]any)["content"].(string)
}

// Rule O2.
func TestErrorsOfChatCompletionsHaveOpenAIsShape(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	for _, r := range []struct {
		status       int
		kind, header string
		body         string
	}{
		{400, "invalid_request_error", "", `{"model":"gpt-4o","messages":[{"role":"user","content":"x"}]}`},
		{401, "authentication_error", "Bearer plv_unknown", `{}`},
		{401, "authentication_error", "Bearer a.b.c", `{}`},
	} {
		got := c.call(r.status, "POST", "/v1/chat/completions", r.body, "Authorization", r.header)["error"].(map[string]any)
		require.Equal(t, r.kind, got["type"])
		require.NotEmpty(t, got["message"])
		require.NotEmpty(t, got["request_id"])
	}
	require.Equal(t, "model", c.call(400, "POST", "/v1/chat/completions", `{"model":"x","messages":[{"role":"user","content":"x"}]}`)["error"].(map[string]any)["param"])
}

func TestErrorsOfChatCompletionsNameTheMessage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	for _, picture := range []string{"/api/attachments/" + uuid.NewString(), "data:image/png;base64,AAAA"} {
		messages := []m{{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}, {"role": "user", "content": []m{{"type": "image_url", "image_url": m{"url": picture}}}}}
		res := c.send("POST", "/v1/chat/completions", m{"model": "palaver-documents", "messages": messages})
		var got struct{ Error struct{ Param *string } }
		require.NoError(t, json.NewDecoder(res.Body).Decode(&got))
		if res.StatusCode == http.StatusBadRequest {
			require.NotNil(t, got.Error.Param, picture)
			require.Equal(t, "messages[2].content", *got.Error.Param, picture)
		} else {
			require.Equal(t, http.StatusUnsupportedMediaType, res.StatusCode, picture)
		}
	}
	body := m{"model": "palaver-documents", "messages": []m{{"role": "user", "content": "x"}}}
	c.call(200, "POST", "/v1/chat/completions", body, "Idempotency-Key", "k", "X-Thread-Id", "t")
	body["messages"] = []m{{"role": "user", "content": "y"}}
	got := c.call(409, "POST", "/v1/chat/completions", body, "Idempotency-Key", "k", "X-Thread-Id", "t")["error"].(map[string]any)
	require.Equal(t, "Idempotency-Key", got["param"])
}

// Rule E4.
func TestErrorsBelowV1HaveOpenAIsShapeAlsoWhereNoRouteIs(t *testing.T) {
	t.Parallel()
	c := setup(t, func(d *Deps) { d.Page = http.NotFoundHandler() }).client()
	for _, r := range []struct {
		status       int
		method, path string
	}{{404, "GET", "/v1/nothing"}, {404, "POST", "/v1/embeddings"}, {404, "GET", "/v1/models/gpt-4o"}, {405, "GET", "/v1/chat/completions"}} {
		e := c.call(r.status, r.method, r.path, nil)["error"].(map[string]any)
		require.Equal(t, "invalid_request_error", e["type"], r.path)
		require.Contains(t, e, "param", r.path)
	}
}

// Rule O1.
func TestTheAgentOfBoardsIsNoModel(t *testing.T) {
	t.Parallel()
	c := setup(t, func(d *Deps) {
		d.Agents = append(d.Agents, chat.AgentInfo{Name: chat.AgentDiscovery, Label: "Board", OnBoards: true})
	}).client()
	for _, x := range c.call(200, "GET", "/v1/models", nil)["data"].([]any) {
		require.NotEqual(t, "palaver-discovery", x.(map[string]any)["id"])
	}
	c.call(404, "GET", "/v1/models/palaver-discovery", nil)
	c.call(400, "POST", "/v1/chat/completions", m{"model": "palaver-discovery", "messages": []m{{"role": "user", "content": "x"}}})
}

// countedRuns counts how often turns are looked up by stream_run_id.
type countedRuns struct {
	db.Store
	n atomic.Int32
}

func (s *countedRuns) TurnsOfRun(ctx context.Context, owner, run string) ([]chat.Turn, error) {
	s.n.Add(1)
	return s.Store.TurnsOfRun(ctx, owner, run)
}

func TestALongConversationOfUnknownMessagesCostsFewLookUps(t *testing.T) {
	t.Parallel()
	store := &countedRuns{}
	c := setup(t, func(d *Deps) { store.Store, d.Store = d.Store, store }).client()
	var messages []m
	for range 990 {
		messages = append(messages, m{"role": "user", "content": strings.Repeat("x", 5_000)}, m{"role": "assistant", "content": strings.Repeat("y", 5_000)})
	}
	c.complete(append(messages, m{"role": "user", "content": "hello"})...)
	require.LessOrEqual(t, store.n.Load(), int32(20))
	// One look-up finds the turn of a known conversation.
	messages = append(messages, m{"role": "user", "content": "hello"}, m{"role": "assistant", "content": "The answer is 42."})
	store.n.Store(0)
	c.complete(append(messages, m{"role": "user", "content": "and now?"})...)
	require.Equal(t, int32(1), store.n.Load())
	require.Len(t, c.call(200, "GET", "/api/conversations", nil)["items"], 1)
}

// Rule O7.
func TestATaskOfAClientMakesNoTurn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	text := "### Task:\nGenerate a title.\n### Output:\nJSON format: { \"title\": \"x\" }\n### Chat History:\n<chat_history>\nUSER: Hello there\n</chat_history>"
	require.Equal(t, `{"title":"Hello there"}`, saidOf(c.complete(m{"role": "user", "content": text})))
	s := c.stream("POST", "/v1/chat/completions", m{"model": "palaver-documents", "stream": true, "messages": []m{{"role": "user", "content": text}}})
	raw := must.Have(io.ReadAll(s.r))(t)
	require.True(t, strings.HasSuffix(string(raw), "data: [DONE]\n\n"))
	require.Empty(t, c.call(200, "GET", "/api/conversations", nil)["items"])
}

func TestAThreadOfOneDialectGoesOnInAnyOther(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	first := c.complete(m{"role": "user", "content": "one"})
	place := first["palaver"].(map[string]any)
	thread := place["thread_id"].(string)
	opened := c.run(m{"threadId": thread, "runId": "r1", "messages": []m{}})
	require.Equal(t, "MESSAGES_SNAPSHOT", opened[1]["type"])
	require.Len(t, opened[1]["messages"], 2)
	second := c.run(m{"threadId": thread, "runId": "r2", "messages": []m{{"id": "m2", "role": "user", "content": "two"}}})
	require.Equal(t, "RUN_FINISHED", second[len(second)-1]["type"])
	c.ask(m{"thread_id": thread, "message": "three"}).rest()
	c.session(map[string]any{"session_id": thread, "message": "four", "client_turn_id": "c4"}).rest()
	c.call(200, "POST", "/v1/chat/completions", m{"model": "palaver-documents", "messages": []m{{"role": "user", "content": "five"}}}, "X-Thread-Id", thread)
	var users []string
	for _, x := range c.call(200, "GET", "/api/chat/history/"+thread, nil)["messages"].([]any) {
		if one := x.(map[string]any); one["role"] == "user" {
			users = append(users, one["content"].(string))
		}
	}
	require.Equal(t, []string{"one", "two", "three", "four", "five"}, users)
}

func TestATurnOfChatCompletionsIsWatchedAndStoppedInOtherDialects(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.script = waiting
	c := b.client()
	s := c.stream("POST", "/v1/chat/completions", m{"model": "palaver-documents", "stream": true, "messages": []m{{"role": "user", "content": "x"}}})
	thread := s.res.Header.Get("X-Thread-Id")
	seen := c.stream("GET", "/api/chat/stream/"+thread, nil)
	c.call(202, "POST", "/api/agui/stop", m{"threadId": thread})
	require.Equal(t, "user_cancelled", seen.until("cancelled")["reason"])
	raw := must.Have(io.ReadAll(s.r))(t)
	require.True(t, strings.HasSuffix(string(raw), "data: [DONE]\n\n"), "%s", raw)
}

func TestAQuestionAskedInOneDialectIsAnsweredInAnother(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.script = asking
	c := b.client()
	question := c.complete(m{"role": "user", "content": "x"})
	place := question["palaver"].(map[string]any)
	require.NotEmpty(t, place["interrupt_id"])
	require.Contains(t, saidOf(question), "\n1. ")
	all := c.run(m{"threadId": place["thread_id"], "runId": "r", "messages": []m{},
		"resume": []m{{"interruptId": place["interrupt_id"], "status": "resolved", "payload": "audit"}}})
	require.Equal(t, m{"type": "success"}, all[len(all)-1]["outcome"])
}

// run makes an AG-UI run and returns its events.
func (c *client) run(body m) []map[string]any {
	c.t.Helper()
	raw, err := io.ReadAll(c.stream("POST", "/api/agui", body).r)
	require.NoError(c.t, err)
	return dataOf(c.t, string(raw))
}

// Rule P2.
func TestAMessageThatCancelsAQuestionSupersedesItsTurn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.script = asking
	c := b.client()
	asked := c.run(aguiRun(someThread, "first", "x"))
	interrupt := asked[len(asked)-1]["outcome"].(map[string]any)["interrupts"].([]any)[0].(map[string]any)["id"]
	submits := func() (n int) {
		b.engine.set(func() { n = len(b.engine.submits) })
		return n
	}
	cancels := func(messages ...m) m {
		return m{"threadId": someThread, "runId": "r", "messages": messages, "resume": []m{{"interruptId": interrupt, "status": "cancelled"}}}
	}
	first, second := m{"id": "first", "role": "user", "content": "x"}, m{"id": "second", "role": "user", "content": "y"}

	b.engine.set(func() { b.engine.script = answer })
	run := cancels(first, second)
	run["forwardedProps"] = m{"palaver": m{"on_busy": "enqueue"}}
	got := c.run(run)
	require.Equal(t, m{"type": "success"}, got[len(got)-1]["outcome"])
	require.Equal(t, 2, submits())
	require.Equal(t, chat.Supersede, b.engine.submits[1].OnBusy)
	turn := got[len(got)-1]["result"].(map[string]any)["turn_id"]
	again := c.run(run)
	require.Equal(t, turn, again[len(again)-1]["result"].(map[string]any)["turn_id"], "a retry joins the turn")

	edited := c.run(cancels(m{"id": "first", "role": "user", "content": "another text"}))
	require.NotEqual(t, turn, edited[len(edited)-1]["result"].(map[string]any)["turn_id"], "an edit is a new message")
}

func TestARunThatCancelsAQuestionAboutItsLastMessageSendsNone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.script = asking
	c := b.client()
	for n, props := range []m{{}, {"client_turn_id": "named"}} {
		run := aguiRun(someThread, "first", "x")
		run["forwardedProps"] = m{"palaver": props}
		asked := c.run(run)
		interrupt := asked[len(asked)-1]["outcome"].(map[string]any)["interrupts"].([]any)[0].(map[string]any)["id"]
		run["resume"] = []m{{"interruptId": interrupt, "status": "cancelled"}}
		delete(run, "forwardedProps")
		run["messages"].([]m)[0]["id"] = []string{"first", "unknown"}[n]
		got := c.run(run)
		require.Equal(t, m{"type": "cancelled"}, got[len(got)-1]["outcome"])
		require.Len(t, b.engine.submits, n+1)
		require.Len(t, b.engine.resumes, n+1)
	}
}

// forgetsPictures is a store whose pictures can be gone.
type forgetsPictures struct {
	db.Store
	gone atomic.Bool
}

func (s *forgetsPictures) AttachmentsByID(ctx context.Context, owner string, ids []string) ([]chat.Attachment, error) {
	if s.gone.Load() {
		return nil, nil
	}
	return s.Store.AttachmentsByID(ctx, owner, ids)
}

// Rule P3.
func TestAnOpenedThreadHasTheMessagesOfItsRuns(t *testing.T) {
	t.Parallel()
	store := &forgetsPictures{}
	c := setup(t, func(d *Deps) { store.Store, d.Store = d.Store, store }).client()
	pixel := "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	said := c.run(m{"threadId": someThread, "runId": "r", "messages": []m{{"id": "mine", "role": "user", "content": []m{
		{"type": "text", "text": "What is it?"}, {"type": "image", "source": m{"type": "data", "value": pixel, "mimeType": "image/png"}}}}}})
	var text map[string]any
	for _, e := range said {
		if e["type"] == "TEXT_MESSAGE_START" {
			text = e
		}
	}
	opened := func() []any {
		return c.run(m{"threadId": someThread, "runId": "r2", "messages": []m{}})[1]["messages"].([]any)
	}
	got := opened()
	require.Len(t, got, 2)
	require.Equal(t, "mine", got[0].(map[string]any)["id"])
	parts := got[0].(map[string]any)["content"].([]any)
	require.Equal(t, m{"type": "text", "text": "What is it?"}, parts[0])
	require.Equal(t, "image", parts[1].(map[string]any)["type"])
	require.Equal(t, 200, c.send("GET", parts[1].(map[string]any)["source"].(map[string]any)["value"].(string), nil).StatusCode)
	require.Equal(t, text["messageId"], got[1].(map[string]any)["id"])
	require.Equal(t, "The answer is 42.", got[1].(map[string]any)["content"])
	store.gone.Store(true)
	require.Equal(t, "What is it?", opened()[0].(map[string]any)["content"], "a picture that was deleted is left out")
}

// Rules I4, I15.
func TestAKeyActsForItsOwnerUntilItEndsOrIsRevoked(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	owner := c.id()
	made := c.call(201, "POST", "/api/me/keys", m{"name": "Open WebUI", "days": 1})
	key, id := made["key"].(string), made["id"].(string)
	other := b.client()
	other.h.Set("Authorization", "Bearer "+key)
	require.Equal(t, owner, other.id())
	require.Equal(t, true, other.call(200, "GET", "/api/me", nil)["anonymous"], "the limits of its owner apply")
	list := must.Have(b.store.Keys(t.Context(), owner))(t)
	require.Equal(t, accesskey.Digest(key), list[0].Digest)
	require.Eventually(t, func() bool {
		item := c.call(200, "GET", "/api/me/keys", nil)["items"].([]any)[0].(map[string]any)
		return item["used_at"] != nil
	}, 30*time.Second, time.Millisecond)
	for _, r := range []struct{ method, path, body string }{{"GET", "/api/me/keys", ""}, {"POST", "/api/me/keys", `{"name":"x"}`}, {"DELETE", "/api/me/keys/" + id, ""}} {
		var body any
		if r.body != "" {
			body = r.body
		}
		require.Equal(t, chat.CodeForbidden, errorCode(other.call(403, r.method, r.path, body)), "a key cannot manage keys")
	}
	c.call(204, "DELETE", "/api/me/keys/"+id, nil)
	other.call(401, "GET", "/api/me", nil)

	expired := "plv_expired"
	require.NoError(t, b.store.CreateKey(t.Context(), db.Key{ID: "k", Owner: owner, Name: "x", Digest: accesskey.Digest(expired), ExpiresAt: time.Now().Add(-time.Second)}))
	other.h.Set("Authorization", "Bearer "+expired)
	other.call(401, "GET", "/api/me", nil)
}

// Rule I4.
func TestKeysAreTheirOwnersAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ann, bob := b.client(), b.client()
	id := ann.call(201, "POST", "/api/me/keys", m{"name": "mine"})["id"].(string)
	require.Empty(t, bob.call(200, "GET", "/api/me/keys", nil)["items"])
	bob.call(404, "DELETE", "/api/me/keys/"+id, nil)
	require.Len(t, ann.call(200, "GET", "/api/me/keys", nil)["items"], 1)
	for range db.MaxKeys - 1 {
		ann.call(201, "POST", "/api/me/keys", m{"name": "more"})
	}
	ann.call(429, "POST", "/api/me/keys", m{"name": "too many"})
}

// Rule I16.
func TestOneKeyTooManyIsRefusedLikeOtherQuotas(t *testing.T) {
	t.Parallel()
	c := setup(t).client()
	for range 20 {
		c.call(201, "POST", "/api/me/keys", m{"name": "x"})
	}
	res := c.send("POST", "/api/me/keys", m{"name": "x"})
	require.Equal(t, http.StatusTooManyRequests, res.StatusCode)
	require.Equal(t, "3600", res.Header.Get("Retry-After"))
	require.Equal(t, chat.CodeQuota, errorCode(decodeBody(t, res)))
}

func TestAKeyWorksWhereAnonymousCallersAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *Deps) { d.Config.Identity.Mode = identity.Required })
	require.NoError(t, b.store.CreateKey(t.Context(), db.Key{ID: "k", Owner: "ann", Name: "x", Digest: accesskey.Digest("plv_ann")}))
	c := b.client()
	c.call(401, "GET", "/v1/models", nil)
	c.h.Set("Authorization", "Bearer plv_ann")
	require.Equal(t, "ann", c.id())
	raw := must.Have(json.Marshal(c.call(http.StatusOK, "GET", "/v1/models", nil)["data"]))(t)
	require.Contains(t, string(raw), "palaver-documents")
}

// The file of a message is stored like an upload, once, and tagged.
func TestDocumentsInsideAMessageAreUploads(t *testing.T) {
	t.Parallel()
	const text = "data:text/plain;base64,VGhlIG5vdGljZSBwZXJpb2QgaXMgdGhyZWUgbW9udGhzLg==" // The notice period is three months.
	for name, send := range map[string]func(c *client, data string) *http.Response{
		"AI SDK": func(c *client, data string) *http.Response {
			return c.send("POST", "/api/ui/chat", m{"id": uuid.NewString(), "messages": []m{{"id": "u", "role": "user", "parts": []m{
				{"type": "text", "text": "How long?"}, {"type": "file", "mediaType": "text/plain", "filename": "Lease 2025.txt", "url": data}}}}})
		},
		"AG-UI": func(c *client, data string) *http.Response {
			return c.send("POST", "/api/agui", m{"threadId": uuid.NewString(), "runId": "r", "messages": []m{{"id": "u", "role": "user", "content": []m{
				{"type": "text", "text": "How long?"}, {"type": "document", "source": m{"type": "url", "value": data}, "metadata": m{"filename": "Lease 2025.txt"}}}}}})
		},
		"OpenAI": func(c *client, data string) *http.Response {
			return c.send("POST", "/v1/chat/completions", m{"model": "palaver-documents", "stream": true, "messages": []m{{"role": "user", "content": []m{
				{"type": "text", "text": "How long?"}, {"type": "file", "file": m{"filename": "Lease 2025.txt", "file_data": data}}}}}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			c := b.client()
			var tagged [][]string
			for range 2 {
				res := send(c, text)
				body := must.Have(io.ReadAll(res.Body))(t)
				require.Equal(t, 200, res.StatusCode, "%s", body)
				tagged = append(tagged, must.Have(b.store.Turn(t.Context(), c.id(), res.Header.Get("X-Turn-Id")))(t).Content.TaggedDocs)
			}
			docs := c.call(200, "GET", "/api/documents", nil)["items"].([]any)
			require.Len(t, docs, 1, "the second message brought the file again")
			d := docs[0].(map[string]any)
			require.Equal(t, "Lease 2025", d["title"])
			require.Equal(t, "Lease 2025.txt", d["name"])
			id := d["id"].(string)
			require.Equal(t, []string{id}, b.engine.ingested)
			require.Equal(t, [][]string{{id}, {id}}, tagged)
			res := send(c, "data:application/zip;base64,UEsFBgAAAAAAAAAAAAAAAAAAAAAAAA==")
			require.Equal(t, http.StatusUnsupportedMediaType, res.StatusCode, "a type that nobody reads")
		})
	}
}

// Rule O8. What is attached belongs to its conversation, as on the page, also that of a reader in
// a space.
func TestDocumentsInsideAMessageBelongToItsConversation(t *testing.T) {
	t.Parallel()
	for _, spaced := range []bool{false, true} {
		documentsInsideAMessage(t, spaced)
	}
}

func documentsInsideAMessage(t *testing.T, spaced bool) {
	const text = "data:text/plain;base64,VGhlIG5vdGljZSBwZXJpb2QgaXMgdGhyZWUgbW9udGhzLg==" // The notice period is three months.
	b := setup(t, func(d *Deps) { d.Config.Features[FeatureChatAttachments] = true })
	c := b.client()
	owner := c.id
	if spaced {
		ann := b.client().signedIn("ann")
		space := ann.call(201, "POST", "/api/spaces", m{"name": "Team"})["id"].(string)
		ann.call(204, "PUT", "/api/spaces/"+space+"/members", m{"kind": "person", "id": "bob", "role": "reader"})
		c = c.signedIn("bob")
		owner = func() string { return "bob" }
		c.h.Set(spaceHeader, space)
	}
	for name, send := range map[string]func(thread string) *http.Response{
		"AI SDK": func(thread string) *http.Response {
			return c.send("POST", "/api/ui/chat", m{"id": thread, "messages": []m{{"id": uuid.NewString(), "role": "user", "parts": []m{
				{"type": "text", "text": "How long?"}, {"type": "file", "mediaType": "text/plain", "filename": "Lease.txt", "url": text}}}}})
		},
		"AG-UI": func(thread string) *http.Response {
			return c.send("POST", "/api/agui", m{"threadId": thread, "runId": uuid.NewString(), "messages": []m{{"id": uuid.NewString(), "role": "user", "content": []m{
				{"type": "text", "text": "How long?"}, {"type": "document", "source": m{"type": "url", "value": text}, "metadata": m{"filename": "Lease.txt"}}}}}})
		},
		"OpenAI": func(thread string) *http.Response {
			return c.send("POST", "/v1/chat/completions", m{"model": "palaver-documents", "stream": true, "metadata": m{"thread_id": thread}, "messages": []m{{"role": "user", "content": []m{
				{"type": "text", "text": "How long?"}, {"type": "file", "file": m{"filename": "Lease.txt", "file_data": text}}}}}})
		},
	} {
		tagged := func(thread string) string {
			res := send(thread)
			body := must.Have(io.ReadAll(res.Body))(t)
			require.Equal(t, 200, res.StatusCode, "%s: %s", name, body)
			ids := must.Have(b.store.Turn(t.Context(), owner(), res.Header.Get("X-Turn-Id")))(t).Content.TaggedDocs
			require.Len(t, ids, 1, name)
			return ids[0]
		}
		one, other := uuid.NewString(), uuid.NewString()
		id := tagged(one)
		require.Equal(t, one, c.call(200, "GET", "/api/documents/"+id, nil)["conversation_id"], name)
		require.Equal(t, id, tagged(one), "%s: the same file in the same conversation", name)
		require.NotEqual(t, id, tagged(other), "%s: the same file in another conversation", name)
		require.Empty(t, c.call(200, "GET", "/api/documents", nil)["items"], "%s: the library", name)
	}
}
