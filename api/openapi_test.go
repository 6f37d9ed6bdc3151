package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/internal/bus"
	"github.com/palaver-chat/palaver/testkit/must"
)

var pathParam = regexp.MustCompile(`:([a-z_]+)`)

// Rule R5.
func TestEveryRouteIsInTheDocumentAndNothingElse(t *testing.T) {
	t.Parallel()
	b := setup(t)
	documented := map[string]bool{}
	for path, item := range readPromise(t, b.server.openAPI.Raw).doc.Paths.Map() {
		for method := range item.Operations() {
			documented[method+" "+path] = true
		}
	}
	for _, r := range declaredRoutes(b) {
		name := r.Method + " " + pathParam.ReplaceAllString(r.Path, "{$1}")
		assert.True(t, documented[name], "%s is a route and has no operation in operations.go", name)
		delete(documented, name)
	}
	for name := range documented {
		t.Errorf("%s is in the document but is not a route", name)
	}
}

// refs returns all $ref values in a document.
func refs(v any) (all []string) {
	switch v := v.(type) {
	case map[string]any:
		for key, x := range v {
			if ref, is := x.(string); is && key == "$ref" {
				all = append(all, ref)
			}
			all = append(all, refs(x)...)
		}
	case []any:
		for _, x := range v {
			all = append(all, refs(x)...)
		}
	}
	return all
}

func TestDocumentHasAllItsComponentsAndUsesThem(t *testing.T) {
	t.Parallel()
	b := setup(t)
	doc := b.client().call(200, "GET", "/openapi.json", nil)
	used := refs(doc)
	for _, ref := range used {
		assert.True(t, strings.HasPrefix(ref, "#/components/"), "the document refers to %s, outside its components", ref)
	}
	for kind, all := range doc["components"].(map[string]any) {
		for name := range all.(map[string]any) {
			assert.False(t, kind != "securitySchemes" && !slices.Contains(used, "#/components/"+kind+"/"+name), "nothing uses %s %s", kind, name)
		}
	}
	for name := range words {
		schema, field, one := strings.Cut(name, ".")
		if !one {
			continue
		}
		found, _ := doc["components"].(map[string]any)["schemas"].(map[string]any)[schema].(map[string]any)
		if properties, _ := found["properties"].(map[string]any); properties[field] == nil {
			t.Errorf("words has %s, which is no field", name)
		}
	}
}

func TestDocumentIsCachedUntilItChanges(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	res := c.send("GET", "/openapi.json", nil)
	tag := res.Header.Get("ETag")
	assert.True(t, tag != "" && res.Header.Get("Cache-Control") == "public, max-age=300" && len(res.Cookies()) <= 0, "%v", res.Header)
	assert.EqualValues(t, http.StatusNotModified, c.send("GET", "/openapi.json", nil, "If-None-Match", tag).StatusCode, "with its ETag")
	anew, err := b.server.newDocument(identity.Anonymous) // as in another process
	require.NoError(t, err)
	require.Equal(t, tag, anew.ETag)
	strict := setup(t, func(d *Deps) { d.Config.Identity.Mode = identity.Required })
	doc := strict.client().call(200, "GET", "/openapi.json", nil)
	security, err := json.Marshal(doc["security"])
	assert.True(t, err == nil && string(security) == `[{"bearer":[]},{"proxy":[]}]`, "security where tokens are required: %s %v", security, err)
}

// everything is the script of a turn with every kind of event that needs no person.
func everything(u *turn) {
	put := func(key, text string) {
		u.must(u.e.store.PutText(context.Background(), u.ref.Owner, u.ref.TurnID, key, text))
	}
	docs, err := u.e.store.ListDocuments(context.Background(), u.ref.Owner, "", 1)
	u.must(err)
	put("query", "the answer")
	u.add(chat.Entry{Type: chat.EventStatus, Node: chat.NodeDocs, DocIDs: []string{docs.Items[0].ID}})
	u.add(chat.Entry{Type: chat.EventStatus, Node: chat.NodeWebSearch, Ref: "query"})
	u.add(chat.Entry{Type: chat.EventNotice, Code: chat.NoticeWebSkipped})
	for i, result := range []messages.Message{messages.Plain("![drawn](/api/attachments/a1)"), messages.ToolFailed} {
		ref := chat.CallRef{ID: chat.CallID(u.ref.TurnID, i+1), Name: "draw"}
		put(chat.CallKey(ref.ID), `{"what":"a cat"}`)
		put(chat.ResultKey(ref.ID), result.Text)
		put(chat.CodedKey(chat.ResultKey(ref.ID)), result.Stored())
		u.add(chat.Entry{Type: chat.EventToolCall, Call: &ref})
		u.add(chat.Entry{Type: chat.EventToolResult, Call: &ref, IsError: i > 0})
	}
	put(chat.ReasoningKey(1), "It is known.")
	u.add(chat.Entry{Type: chat.EventReasoning, Ref: chat.ReasoningKey(1), Took: 8000})
	u.say(1, "The answer ", "is 42.")
	start, end := 0, 3
	u.settle(chat.TurnCompleted, chat.Event{Type: chat.EventResponse, Response: &chat.Response{
		Text: "The answer is 42 [1][2].", Action: chat.Inquire, InferenceConfidence: chat.High, RetrievalConfidence: chat.Low,
		Citations: []chat.Citation{
			{N: 1, Source: "document", DocID: docs.Items[0].ID, Title: "x", ChunkID: docs.Items[0].ID + ".0", Quote: "x", Start: &start, End: &end, Page: 2},
			{N: 2, Source: "web", URL: "https://example.com/", Title: "x", Quote: "x"}},
	}})
}

// proposing is the script of a turn that proposes a change of a board.
func proposing(u *turn) {
	ref := chat.CallRef{ID: chat.CallID(u.ref.TurnID, 1), Name: "add_item"}
	for key, text := range map[string]string{chat.CallKey(ref.ID): `{"entity_type":"fact","text":"x"}`,
		chat.ResultKey(ref.ID): `{"params":{"entity_type":"fact","text":"x","related_ids":["I-1"]}}`} {
		u.must(u.e.store.PutText(context.Background(), u.ref.Owner, u.ref.TurnID, key, text))
	}
	u.add(chat.Entry{Type: chat.EventToolCall, Call: &ref})
	u.add(chat.Entry{Type: chat.EventToolResult, Call: &ref})
	u.say(1, "Please confirm.")
	u.settle(chat.TurnCompleted, chat.Event{Type: chat.EventResponse, Response: &chat.Response{Text: "Please confirm."}})
}

// scripted runs the script that the message names.
func scripted(u *turn) {
	row, err := u.e.store.Turn(context.Background(), u.ref.Owner, u.ref.TurnID)
	u.must(err)
	map[string]func(*turn){
		"everything": everything, "propose": proposing, "ask": asking, "use tools": useTools, "wait": waiting,
		"fail": func(u *turn) { u.failed(chat.CodeModelUnavailable) },
	}[row.Content.Message](u)
}

// tourist sends one valid request after the other.
type tourist struct {
	*client
	b *bundle
}

// all reads a stream to its end and returns its thread.
func (c tourist) all(path string, body map[string]any) (thread string) {
	c.t.Helper()
	s := c.stream("POST", path, body)
	c.drain(s.res)
	return s.res.Header.Get("X-Thread-Id")
}

func (c tourist) drain(res *http.Response) {
	c.t.Helper()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		c.t.Fatal(err)
	}
}

// get expects a status and reads the response to its end.
func (c tourist) get(status int, path string, headers ...string) {
	c.t.Helper()
	res := c.send("GET", path, nil, headers...)
	c.drain(res)
	if res.StatusCode != status {
		c.t.Fatalf("GET %s: status %d, want %d", path, res.StatusCode, status)
	}
}

// m is short for the many bodies below.
type m = map[string]any

// The tour sends a valid request for every operation and gets every event of every
// dialect. The client checks each response against the document.
func TestResponsesMatchTheDocument(t *testing.T) {
	t.Parallel()
	b, _, _ := withGoogle(t)
	b.engine.script = scripted
	promised := newPromise(t, b.server.openAPI.Raw)
	c := tourist{b.client(), b}
	c.Transport = checked{t, promised}

	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/openapi.json", "/api/config", "/api/me", "/api/me/export"} {
		c.get(200, path)
	}
	c.get(304, "/openapi.json", "If-None-Match", b.server.openAPI.ETag)
	c.call(200, "PUT", "/api/me", m{"industry": "banking", "location": nil})
	c.account()
	doc, set, picture := c.things()
	c.native(doc, set, picture)
	c.ui(picture)
	c.langGraph(picture)
	c.agent()
	c.discovery()
	c.completions(picture)
	c.agui()
	c.keys()
	c.mcp()
	es := newSigner(t, "es", jwt.SigningMethodES256)
	p := newOIDC(t, es)
	elsewhere := setup(t, p.administrated, func(d *Deps) { d.Config.Limits.Daily.Tokens = 100 }) // a server whose people have a provider
	there := elsewhere.client()
	there.Transport = c.Transport
	there.call(200, "GET", mcpMetadataPath, nil)
	there.h.Set("Authorization", "Bearer "+es.sign(t, p.claims(inGroups("boss"))))
	elsewhere.administer(there.id())
	for _, path := range adminRoutes(elsewhere.server) {
		there.call(200, "GET", path, nil)
	}
	c.boards()
	c.signedIn("ann").spaces(b)
	c.call(200, "PATCH", "/api/documents/"+doc, m{"title": "Renamed"})
	for _, path := range []string{"/api/documents/" + doc, "/api/document-sets/" + set} {
		c.call(204, "DELETE", path, nil)
	}
	another := b.client() // a new caller, without a conversation
	another.Transport = c.Transport
	another.call(200, "POST", "/api/me/claim", nil, "Authorization", "Bearer "+accountToken(t, "account"))
	c.call(204, "DELETE", "/api/me?confirm=account", nil, "Authorization", "Bearer "+accountToken(t, "account"))
	c.call(204, "DELETE", "/api/me/sessions?which=all", nil)
	if missing := promised.missing(); len(missing) > 0 {
		t.Errorf("the document describes responses that this tour did not get:\n%s", strings.Join(missing, "\n"))
	}
}

// account connects an account and disconnects it.
func (c tourist) account() {
	c.t.Helper()
	follow := c.CheckRedirect
	c.stepwise()
	page := c.begin("/")
	c.comeBack(consent(c.b.t, page))
	c.comeBack(consent(c.b.t, c.call(200, "GET", "/api/connections/mcp/fake/start", nil)["url"].(string)))
	c.CheckRedirect = follow
	c.get(200, "/api/connections")
	c.call(200, "DELETE", "/api/connections/google", nil)
	c.call(200, "DELETE", "/api/connections/mcp/fake", nil)
}

// things makes one of each resource that a message may name.
func (c tourist) things() (doc, set, picture string) {
	c.t.Helper()
	doc = c.call(202, "POST", "/api/documents", m{"title": "A title", "text": "A text."})["id"].(string)
	chunk := chat.Chunk{ID: doc + ".0", DocID: doc, Text: "A text.", End: 7, Heading: "One", Pages: []chat.PageStart{{Page: 1}}}
	if err := c.b.store.StoreText(c.t.Context(), c.id(), doc, chunk.Text, []chat.Chunk{chunk}, nil); err != nil {
		c.t.Fatal(err)
	}
	body, kind := form(c.t, "a.md", "text/markdown", "# A", "A file")
	c.call(202, "POST", "/api/documents", body, "Content-Type", kind)
	picture = c.upload(201, "file", "a.png", tinyPNG)["id"].(string)
	set = c.call(201, "POST", "/api/document-sets", m{"name": "A set", "doc_ids": []string{doc}})["id"].(string)
	c.call(200, "PUT", "/api/document-sets/"+set, m{"name": "Another name", "doc_ids": []string{doc}})
	for _, path := range []string{"/api/documents?limit=1", "/api/documents/" + doc, "/api/documents/" + doc + "/text", "/api/documents/" + doc + "/original", "/api/documents/" + doc + "/scans",
		"/api/documents/" + doc + "/chunks/" + chunk.ID, "/api/document-sets", "/api/attachments/" + picture, "/api/search?q=text&k=3&doc_ids=" + doc} {
		c.get(200, path)
	}
	c.call(200, "GET", "/api/documents/"+doc+"/text", nil, "Accept", "application/json")
	c.call(202, "POST", "/api/imports", m{"url": aDriveFile})
	page := chat.Document{ID: uuid.NewString(), Owner: c.id(), Title: "A page", SourceType: chat.SourceLink, ExternalID: "x", SourceURL: "https://example.com/"}
	if _, err := c.b.store.PutImport(c.t.Context(), page, []byte("A page.")); err != nil {
		c.t.Fatal(err)
	}
	c.call(202, "POST", "/api/documents/"+page.ID+"/reimport", nil)
	c.get(200, "/api/imports")
	return doc, set, picture
}

func (c tourist) native(doc, set, picture string) {
	c.t.Helper()
	thread := c.all("/api/chat", m{"message": "everything", "thread_id": nil, "client_turn_id": "n1", "stream_run_id": "r", "tagged_doc_ids": []string{doc},
		"tagged_set_ids": []string{set}, "attachments": []string{picture}, "tiptap_json": m{"type": "doc"}, "action": nil, "enable_web_search": true,
		"on_busy": "enqueue", "on_disconnect": "continue", "agent": "documents", "stream_mode": "events", "stream_tokens": true})
	c.get(200, "/api/chat/history/"+thread+"?limit=5")
	c.get(204, "/api/chat/stream/"+thread)
	c.all("/api/chat", m{"message": "fail"})
	asked := c.all("/api/chat", m{"message": "ask"})
	c.get(200, "/api/chat/history/"+asked) // with the pending question
	c.call(200, "GET", "/api/conversations/"+asked, nil)
	c.all("/api/chat/resume", m{"thread_id": asked, "resume_value": m{"type": "action_choice", "value": "audit"}})
	tools := c.all("/api/chat", m{"message": "use tools"})
	c.all("/api/chat/resume", m{"thread_id": tools, "resume_value": m{"type": "tool_approval", "value": nil, "decisions": c.decisions(tools, "approved")}})

	s := c.stream("POST", "/api/chat", m{"message": "wait"})
	s.until("status")
	c.b.engine.bus.PublishDelta(bus.Delta{TurnID: s.res.Header.Get("X-Turn-Id"), Piece: 1, Attempt: 1, Text: "Hm.", Reasoning: true})
	s.until("thought")
	waits := s.res.Header.Get("X-Thread-Id")
	attached := c.stream("GET", "/api/chat/stream/"+waits+"?follow=turn&stream_tokens=true", nil)
	c.call(202, "POST", "/api/chat/cancel", m{"turn_id": s.res.Header.Get("X-Turn-Id"), "reason": "user_cancelled"})
	c.drain(s.res)
	c.drain(attached.res)
	c.call(202, "POST", "/api/chat/cancel", m{"thread_id": waits})
	c.call(202, "POST", "/api/chat/cancel", m{"client_turn_id": "to come"})

	made := c.call(201, "POST", "/api/conversations", m{"title": "A title", "message": "everything"})
	c.get(200, "/api/chat/stream/"+made["id"].(string)+"?turn_id="+made["turn_id"].(string))
	c.call(200, "PATCH", "/api/conversations/"+made["id"].(string), m{"title": "Another"})
	c.call(200, "GET", "/api/conversations?q=Another&limit=2", nil)
	c.marked(made["id"].(string), asked)
	c.call(204, "DELETE", "/api/conversations/"+made["id"].(string), nil)
}

// decisions returns the same verdict for every call that a thread asks about.
func (c tourist) decisions(thread, verdict string) (all []m) {
	c.t.Helper()
	state, err := c.b.engine.State(c.t.Context(), thread)
	if err != nil || state.Pending == nil {
		c.t.Fatalf("thread %s has no open question: %v", thread, err)
	}
	for _, call := range state.Pending.Calls {
		all = append(all, m{"id": call.ID, "decision": verdict})
	}
	return all
}

func (c tourist) ui(picture string) {
	c.t.Helper()
	message := func(text string, parts ...any) m {
		return m{"id": text, "role": "user", "parts": append(parts, m{"type": "text", "text": text})}
	}
	send := func(id string, messages ...m) string {
		c.t.Helper()
		return c.all("/api/ui/chat", m{"id": id, "trigger": "submit-message", "messageId": nil, "messages": messages})
	}
	send("one", message("everything", m{"type": "file", "mediaType": "image/png", "url": "/api/attachments/" + picture}))
	c.get(204, "/api/ui/chat/one/stream")
	c.call(200, "GET", "/api/ui/chat/one?limit=9", nil)
	c.all("/api/ui/chat", m{"id": "one", "trigger": "regenerate-message", "messages": []m{message("everything")}})
	send("fails", message("fail"))
	send("asks", message("ask"))
	c.all("/api/ui/chat", m{"id": "asks", "messages": []m{message("ask")}, "resume": m{"resume_value": m{"type": "action_choice", "value": "audit"}}})
	for _, verdict := range []string{"approved", "rejected"} {
		thread := send(verdict, message("use tools"))
		c.all("/api/ui/chat", m{"id": verdict, "messages": []m{message("use tools")},
			"resume": m{"resume_value": m{"type": "tool_approval", "decisions": c.decisions(thread, verdict)}}})
		c.call(200, "GET", "/api/ui/chat/"+verdict, nil)
	}
	s := c.stream("POST", "/api/ui/chat", m{"id": "waits", "messages": []m{message("wait")}})
	attached := c.stream("GET", "/api/ui/chat/waits/stream?stream_mode=events", nil)
	c.call(202, "POST", "/api/ui/chat/waits/stop", nil)
	c.drain(s.res)
	c.drain(attached.res)
	c.call(202, "POST", "/api/ui/chat/waits/stop", m{"messageId": "m"})
}

func (c tourist) langGraph(picture string) {
	c.t.Helper()
	say := func(thread any, content any) string {
		c.t.Helper()
		return c.all("/api/v1/chat/stream", m{"thread_id": thread, "checkpoint_id": nil, "message": m{"role": "human", "content": content}})
	}
	say("lg", []m{{"type": "text", "text": "everything"}, {"type": "image", "image": "chatbot://" + picture}})
	say(nil, "fail")
	c.get(200, "/api/v1/chat/interrupt?thread_id=lg")
	say("lg-asks", "ask")
	c.get(200, "/api/v1/chat/interrupt?thread_id=lg-asks")
	c.all("/api/v1/chat/feedback", m{"thread_id": "lg-asks", "checkpoint_id": nil, "approval_data": m{"type": "answer", "value": "audit"}})
	tools := say("lg-tools", "use tools")
	c.get(200, "/api/v1/chat/interrupt?thread_id=lg-tools")
	c.all("/api/v1/chat/feedback", m{"thread_id": "lg-tools", "approval_data": m{"type": "tool_approval", "decisions": c.decisions(tools, "rejected")}})
	c.get(200, "/api/v1/threads/lg/repo")
	c.call(200, "PUT", "/api/v1/threads/lg/repo", m{"repo": m{"headId": nil, "messages": []any{}}}, "If-Match", `"0"`)
	c.get(200, "/api/v1/threads/lg/repo")
}

func (c tourist) agent() {
	c.t.Helper()
	n := 0
	say := func(session any, text string) string {
		c.t.Helper()
		n++
		return c.all("/api/agent/v2/stream", m{"message": text, "session_id": session, "client_turn_id": fmt.Sprint("a", n), "stream_run_id": fmt.Sprint("r", n)})
	}
	say("agent", "everything")
	say(nil, "fail")
	tools := say("agent-tools", "use tools")
	c.all("/api/agent/v2/resume", m{"session_id": "agent-tools", "interrupt_id": nil, "stream_run_id": "r",
		"resume_value": m{"type": "tool_approval", "decisions": c.decisions(tools, "approved")}})
	c.call(202, "POST", "/api/agent/v2/stop", m{"session_id": "agent", "client_turn_id": "a1", "reason": "superseded"})
}

func (c tourist) discovery() {
	c.t.Helper()
	context := m{"title": "Churn", "goal": "Why?", "inputs": []m{{"input_id": "I-1", "type": "text", "title": "Calls", "text": "Ten calls."}}}
	for _, message := range []string{"propose", "fail"} {
		c.all("/chat/message", m{"message": message, "discovery_context": context, "chat_history": []m{{"role": "user", "content": "Hello"}}, "client_turn_id": nil,
			"stream_run_id": "r", "on_busy": "reject", "on_disconnect": "continue", "referenced_items": []m{{"id": "I-1", "type": "input", "text": "x"}}})
	}
	board := c.call(201, "POST", "/api/discoveries", m{"title": "Churn"})["thread_id"]
	c.all("/chat/message", m{"message": "propose", "discovery_id": board})
}

func (c tourist) completions(picture string) {
	c.t.Helper()
	c.get(200, "/v1/models")
	c.get(200, "/v1/models/palaver-assistant")
	body := func(text string, stream bool) m {
		return m{"model": "palaver-assistant", "stream": stream, "stream_options": m{"include_usage": true}, "metadata": m{"thread_id": "oa-" + strings.ReplaceAll(text, " ", "-")},
			"messages": []m{{"role": "system", "content": "x"}, {"role": "user", "content": []m{{"type": "text", "text": text}, {"type": "image_url", "image_url": m{"url": "/api/attachments/" + picture}}}}}}
	}
	for _, stream := range []bool{true, false} {
		for _, text := range []string{"everything", "fail", "use tools"} {
			c.drain(c.send("POST", "/v1/chat/completions", body(text, stream)))
		}
	}
	c.call(400, "POST", "/v1/chat/completions", m{"model": "x", "messages": []m{}})
}

func (c tourist) agui() {
	c.t.Helper()
	run := func(thread string, more m) string {
		c.t.Helper()
		body := m{"threadId": thread, "runId": "r", "messages": []m{}, "tools": []any{}, "context": []any{}, "state": nil, "forwardedProps": nil}
		maps.Copy(body, more)
		return c.all("/api/agui", body)
	}
	say := func(thread, text string) string {
		return run(thread, m{"messages": []m{{"id": "m", "role": "user", "content": text}}, "forwardedProps": m{"palaver": m{"agent": "assistant"}}})
	}
	say("agui", "everything")
	run("agui", nil)
	say("agui-fails", "fail")
	tools := say("agui-tools", "use tools")
	run("agui-tools", nil)
	state, err := c.b.engine.State(c.t.Context(), tools)
	require.NoError(c.t, err)
	run("agui-tools", m{"resume": []m{{"interruptId": state.Pending.ID, "status": "resolved", "payload": m{"approved": true}}}})
	c.call(202, "POST", "/api/agui/stop", m{"threadId": "agui"})
}

// marked pins, archives, shares and rates.
func (c tourist) marked(id, answered string) {
	c.t.Helper()
	c.call(200, "PATCH", "/api/conversations/"+id, m{"pinned": true})
	c.call(200, "POST", "/api/batch/conversations", m{"action": "archive", "ids": []string{id, uuid.NewString()}})
	c.call(200, "GET", "/api/conversations?archived=true", nil)
	path := "/api/conversations/" + answered
	share := c.call(201, "POST", path+"/shares", m{})
	c.call(200, "GET", path+"/shares", nil)
	c.call(200, "GET", "/api/shared/"+strings.TrimPrefix(share["path"].(string), "/s/"), nil)
	c.call(204, "DELETE", path+"/shares/"+share["id"].(string), nil)
	turn := c.call(200, "GET", "/api/chat/history/"+answered, nil)["messages"].([]any)[0].(m)["turn_id"].(string)
	c.call(200, "PUT", path+"/feedback/"+turn, m{"rating": "down", "reason": "Too long"})
	c.call(200, "GET", path+"/feedback", nil)
	c.call(204, "DELETE", path+"/feedback/"+turn, nil)
}

func (c tourist) keys() {
	c.t.Helper()
	made := c.call(201, "POST", "/api/me/keys", m{"name": "A key", "days": 3})
	c.get(200, "/api/me/keys")
	c.call(204, "DELETE", "/api/me/keys/"+made["id"].(string), nil)
}

func (c tourist) mcp() {
	c.t.Helper()
	call := m{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": m{"name": "list_documents", "arguments": m{}}}
	note := m{"jsonrpc": "2.0", "method": "notifications/initialized"}
	for _, path := range []string{"/mcp", "/mcp/rpc"} {
		accept := "application/json, text/event-stream"
		c.drain(c.send("POST", path, call, "Accept", accept))
		c.drain(c.send("POST", path, note, "Accept", accept))
	}
	c.drain(c.send("GET", "/mcp", nil))
	c.drain(c.send("DELETE", "/mcp", nil))
}

// complaints collects the errors of a check.
type complaints struct {
	testing.TB
	all []string
}

func (c *complaints) Errorf(format string, args ...any) {
	c.all = append(c.all, fmt.Sprintf(format, args...))
}

func TestTheCheckReportsWhatTheDocumentDoesNotDescribe(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, wrong := range map[string]struct {
		method, path, body string
		status             int
		kind, answer       string
	}{
		"a field too many":       {"GET", "/api/me", "", 200, "application/json", `{"id":"x","anonymous":true,"secret":1}`},
		"a field too few":        {"GET", "/api/me", "", 200, "application/json", `{"id":"x"}`},
		"another type":           {"GET", "/api/me", "", 200, "application/json", `{"id":1,"anonymous":true}`},
		"another status":         {"GET", "/api/me", "", 418, "application/json", `{"id":"x","anonymous":true}`},
		"another content type":   {"GET", "/api/me", "", 200, "text/html", `<p>`},
		"an error of its own":    {"GET", "/api/me", "", 403, "application/json", `{"message":"no"}`},
		"no such route":          {"GET", "/api/you", "", 200, "application/json", `{}`},
		"a wrong body accepted":  {"PUT", "/api/me", `{"industry":1}`, 200, "application/json", `{"id":"x","anonymous":true}`},
		"a wrong query accepted": {"GET", "/api/documents?limit=0", "", 200, "application/json", `{"items":[]}`},
		"an unknown event":       {"POST", "/api/chat", `{"message":"x"}`, 200, "text/event-stream", "data: {\"type\":\"news\"}\n\n"},
		"an event with more":     {"POST", "/api/v1/chat/stream", `{"message":{"content":"x"}}`, 200, "text/event-stream", "data: {\"type\":\"done\",\"n\":1}\n\n"},
	} {
		found := &complaints{TB: t}
		answer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", wrong.kind)
			w.WriteHeader(wrong.status)
			_, _ = io.WriteString(w, wrong.answer)
		}))
		req := must.Have(http.NewRequestWithContext(t.Context(), wrong.method, answer.URL+wrong.path, strings.NewReader(wrong.body)))(t)
		req.Header.Set("Content-Type", "application/json")
		res := must.Have(checked{found, newPromise(t, b.server.openAPI.Raw)}.RoundTrip(req))(t)
		must.Have(io.Copy(io.Discard, res.Body))(t)
		require.NoError(t, res.Body.Close())
		answer.Close()
		assert.True(t, len(found.all) != 0, "%s: the check reported no error", name)
	}
}
