package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/limits"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/sqlite"
	"github.com/palaver-chat/palaver/imports"
	"github.com/palaver-chat/palaver/internal/guard"
	"github.com/palaver-chat/palaver/testkit/must"
)

// secretDetail is part of the errors injected below and must never be in a response.
const secretDetail = `ERROR: relation "turns" does not exist (SQLSTATE 42P01), key sk-live-123, upstream said {"error":"quota of org-9"} at /srv/palaver/db/turns.go:17`

// internals are texts that no client may see.
var internals = []string{"sqlstate", "relation", "sk-live", "org-9", ".go:", "goroutine", "panic", "sql:", "/srv/", "runtime error", "0x", "context deadline", "context canceled"}

func requireNoInternals(t testing.TB, what, answer string) {
	t.Helper()
	for _, word := range internals {
		assert.False(t, strings.Contains(strings.ToLower(answer), word), "%s reveals %q: %s", what, word, answer)
	}
}

// records collects log lines for a test.
type records struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (r *records) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all.Write(p)
}

func (r *records) into(d *Deps) { d.Log = slog.New(slog.NewJSONHandler(r, nil)) }

// about returns the log lines with a request's id.
func (r *records) about(t testing.TB, request string) (lines []map[string]any) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for line := range strings.Lines(r.all.String()) {
		var record map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &record), line)
		if record["request_id"] == request {
			lines = append(lines, record)
		}
	}
	return lines
}

// failingStore fails or panics in the call that most requests make first.
type failingStore struct {
	db.Store
	fail func() error
}

func (s failingStore) Conversation(context.Context, string, string) (chat.Conversation, error) {
	return chat.Conversation{}, s.fail()
}

func failing(fail func() error) func(*Deps) {
	return func(d *Deps) { d.Store = failingStore{d.Store, fail} }
}

func withDatabaseOutage(d *Deps) { d.Store.(*sqlite.Store).FailWhile(func() bool { return true }) }

// refusalCase is one way to cause an error of docs/errors.md.
type refusalCase struct {
	name   string
	code   string
	status int
	field  string // the field that the details name; empty: none
	with   func(*Deps)
	do     func(b *bundle, c *client) *http.Response
}

func sends(method, path string, body any, headers ...string) func(*bundle, *client) *http.Response {
	return func(_ *bundle, c *client) *http.Response { return c.send(method, path, body, headers...) }
}

// asked makes a thread wait for a person.
func asked(b *bundle, c *client) *client {
	b.engine.set(func() { b.engine.script = asking })
	c.ask(m{"thread_id": someThread, "client_turn_id": "c1"}).until("interrupt")
	return c
}

var refusalCases = []refusalCase{
	{"no JSON", chat.CodeValidation, 400, "body", nil, sends("POST", "/api/chat", `{"message":`)},
	{"a list", chat.CodeValidation, 400, "body", nil, sends("POST", "/api/chat", `[]`)},
	{"no message", chat.CodeValidation, 400, "message", nil, sends("POST", "/api/chat", `{}`)},
	{"another type", chat.CodeValidation, 400, "stream_tokens", nil, sends("POST", "/api/chat", `{"message":"x","stream_tokens":"no"}`)},
	{"no UUID", chat.CodeValidation, 400, "thread_id", nil, sends("POST", "/api/chat", `{"message":"x","thread_id":"x"}`)},
	{"no such document", chat.CodeValidation, 400, "tagged_doc_ids", nil, sends("POST", "/api/chat", `{"message":"x","tagged_doc_ids":["`+someThread+`"]}`)},
	{"a query", chat.CodeValidation, 400, "limit", nil, sends("GET", "/api/documents?limit=x", nil)},
	{"a cursor", chat.CodeValidation, 400, "cursor", nil, sends("GET", "/api/documents?cursor=x", nil)},
	{"a header", chat.CodeValidation, 400, "If-Match", nil, sends("PUT", "/api/v1/threads/t/repo", `{"repo":{}}`, "If-Match", "x")},
	{"a position", chat.CodeValidation, 400, "last_event_id", nil, sends("GET", "/api/chat/stream/"+someThread, nil, "Last-Event-ID", "x")},
	{"LangGraph field names", chat.CodeValidation, 400, "message.content", nil, sends("POST", "/api/v1/chat/stream", `{"message":{"content":[{"type":"image","image":"chatbot://x"}]}}`)},
	{"the AI SDK's words", chat.CodeValidation, 400, "messages", nil, sends("POST", "/api/ui/chat", `{"messages":[]}`)},
	{"AG-UI's field names", chat.CodeValidation, 400, "messages[0].id", nil, sends("POST", "/api/agui", `{"threadId":"t","runId":"r","messages":[{"role":"user","content":"x"}]}`)},
	{"AG-UI's own fields", chat.CodeValidation, 400, "forwardedProps.palaver.tagged_doc_ids", nil, sends("POST", "/api/agui", `{"threadId":"t","runId":"r","messages":[{"id":"a","role":"user","content":"x"}],"forwardedProps":{"palaver":{"tagged_doc_ids":["`+someThread+`"]}}}`)},
	{"an answer by AG-UI to no question", chat.CodeNoInterrupt, 400, "resume[0].interruptId", nil, func(b *bundle, c *client) *http.Response {
		c.ask(m{"thread_id": someThread}).rest()
		return c.send("POST", "/api/agui", `{"threadId":"`+someThread+`","runId":"r","messages":[],"resume":[{"interruptId":"x.q1","status":"resolved","payload":"audit"}]}`)
	}},
	{"an answer by AG-UI that is no option", chat.CodeBadResume, 400, "resume[0].payload", nil, func(b *bundle, c *client) *http.Response {
		c = asked(b, c)
		turn := c.call(200, "GET", "/api/chat/history/"+someThread, nil)["messages"].([]any)[0].(m)["turn_id"].(string)
		return c.send("POST", "/api/agui", `{"threadId":"`+someThread+`","runId":"r","messages":[],"resume":[{"interruptId":"`+turn+`.q1","status":"resolved","payload":"dance"}]}`)
	}},
	{"agent v2 field names", chat.CodeValidation, 400, "client_turn_id", nil, sends("POST", "/api/agent/v2/stream", `{"message":"x","stream_run_id":"r"}`)},

	{"a bad token", chat.CodeUnauthenticated, 401, "", nil, sends("GET", "/api/me", nil, "Authorization", "Bearer x")},
	{"no token", chat.CodeUnauthenticated, 401, "", func(d *Deps) { d.Config.Identity.Mode = identity.Required }, sends("POST", "/api/chat", hello())},
	{"somebody else's name", chat.CodeForbidden, 403, "", nil, sends("GET", "/api/me", nil, "userid", "ann")},
	{"another site", chat.CodeForbidden, 403, "", nil, sends("POST", "/api/chat", hello(), "Origin", "https://evil.example")},
	{"everyone's document", chat.CodeForbidden, 403, "", nil, func(b *bundle, c *client) *http.Response {
		require.NoError(b.t, b.store.CreateDocument(b.t.Context(), chat.Document{ID: someThread, Owner: chat.PublicOwner, Title: "x", Status: chat.DocProcessing}, []byte("x")))
		return c.send("DELETE", "/api/documents/"+someThread, nil)
	}},
	{"an item that the board has", chat.CodeSimilarItems, 409, "F-1", nil, onNewBoard("POST", "/items", `{"entity_type":"fact","text":"Six of ten left."}`)},
	{"an item that has changed", chat.CodeItemChanged, 409, "seen", nil, onNewBoard("POST", "/actions/edit", `{"decision":"confirm"}`)},
	{"a proposal that was dropped", chat.CodeDecided, 409, "", nil, onNewBoard("POST", "/actions/dropped", `{"decision":"confirm"}`)},
	{"a change that something was built on", chat.CodeBuiltOn, 409, "", nil, onNewBoard("POST", "/changes/1/undo", nil)},
	{"a revision that was overtaken", chat.CodeVersionConflict, 412, "", nil, onNewBoard("PATCH", "", `{"title":"x"}`, "If-Match", "1")},
	{"a relation to nothing", chat.CodeValidation, 400, "related_ids", nil, onNewBoard("PATCH", "/items/F-1", `{"related_ids":["I-9"]}`)},
	{"a board that cannot be read", chat.CodeValidation, 400, "facts", nil, sends("POST", "/api/discoveries", `{"facts":"F-1"}`)},
	{"no such conversation", chat.CodeNotFound, 404, "", nil, sends("GET", "/api/conversations/"+someThread, nil)},
	{"no id", chat.CodeNotFound, 404, "", nil, sends("GET", "/api/documents/x", nil)},
	{"no such path", chat.CodeNotFound, 404, "", nil, sends("GET", "/api/nothing", nil)},
	{"another host", chat.CodeHost, 421, "", func(d *Deps) { d.Config.Hosts, _ = guard.NewHosts("chat.example.com", "") }, func(b *bundle, c *client) *http.Response {
		req, err := http.NewRequestWithContext(b.t.Context(), "GET", b.url+"/api/me", nil)
		require.NoError(b.t, err)
		req.Host = "evil.example"
		res, err := http.DefaultClient.Do(req)
		require.NoError(b.t, err)
		return res
	}},
	{"no such method", chat.CodeMethod, 405, "", nil, sends("DELETE", "/api/chat", nil)},

	{"a turn runs", chat.CodeTurnRunning, 409, "turn_id", nil, func(b *bundle, c *client) *http.Response {
		b.engine.set(func() { b.engine.refuse = &chat.RefusedError{Code: chat.CodeTurnRunning, TurnID: someThread} })
		return c.send("POST", "/api/chat", m{"message": "x", "on_busy": "reject"})
	}},
	{"a message that does not wait", chat.CodeTurnBegun, 409, "replaces", nil, func(b *bundle, c *client) *http.Response {
		b.engine.set(func() { b.engine.refuse = &chat.RefusedError{Code: chat.CodeTurnBegun} })
		return c.send("POST", "/api/chat", m{"message": "x", "thread_id": someThread, "replaces": someThread})
	}},
	{"no turn to replace", chat.CodeValidation, 400, "replaces", nil, sends("POST", "/api/chat", m{"message": "x", "replaces": "x"})},
	{"other content", chat.CodeTurnConflict, 409, "client_turn_id", nil, func(b *bundle, c *client) *http.Response {
		c.ask(m{"client_turn_id": "c1"}).rest()
		return c.send("POST", "/api/chat", m{"client_turn_id": "c1", "message": "other"})
	}},
	{"no question", chat.CodeNoInterrupt, 400, "interrupt_id", nil, func(b *bundle, c *client) *http.Response {
		c.ask(m{"thread_id": someThread}).rest()
		return c.send("POST", "/api/chat/resume", m{"thread_id": someThread, "resume_value": m{"type": "action_choice", "value": "audit"}})
	}},
	{"another question", chat.CodeNoInterrupt, 400, "interrupt_id", nil, func(b *bundle, c *client) *http.Response {
		return asked(b, c).send("POST", "/api/chat/resume", m{"thread_id": someThread, "interrupt_id": "q", "resume_value": m{"type": "action_choice", "value": "audit"}})
	}},
	{"no option", chat.CodeBadResume, 400, "resume_value", nil, func(b *bundle, c *client) *http.Response {
		return asked(b, c).send("POST", "/api/chat/resume", m{"thread_id": someThread, "resume_value": m{"type": "action_choice", "value": "dance"}})
	}},
	{"another version", chat.CodeVersionConflict, 412, "", nil, func(b *bundle, c *client) *http.Response {
		c.call(200, "PUT", "/api/v1/threads/t/repo", `{"repo":{}}`)
		return c.send("PUT", "/api/v1/threads/t/repo", `{"repo":{}}`, "If-Match", `"7"`)
	}},
	{"a large body", chat.CodeTooLarge, 413, "", nil, sends("PUT", "/api/me", strings.Repeat(" ", 2<<20))},
	{"a large document", chat.CodeTooLarge, 413, "", nil, sends("POST", "/api/documents", m{"title": "x", "text": strings.Repeat("x", 1<<20+1)})},
	{"another content type", chat.CodeUnsupported, 415, "", nil, sends("POST", "/api/chat", "x", "Content-Type", "text/plain")},
	{"another kind of file", chat.CodeUnsupported, 415, "", nil, func(_ *bundle, c *client) *http.Response {
		body, kind := form(c.t, "a.zip", "application/zip", "PK\x03\x04\x00\x00", "x")
		return c.send("POST", "/api/documents", body, "Content-Type", kind)
	}},
	{"many messages", chat.CodeRateLimited, 429, "", limited(limits.Config{Turns: perHour(1)}), func(_ *bundle, c *client) *http.Response {
		c.ask(hello()).rest()
		return c.send("POST", "/api/chat", hello())
	}},
	{"many streams", chat.CodeRateLimited, 429, "", limited(limits.Config{Streams: 1}), func(b *bundle, c *client) *http.Response {
		b.engine.set(func() { b.engine.script = waiting })
		c.ask(hello()).until("status")
		return c.send("POST", "/api/chat", hello())
	}},

	{"the database is unavailable", chat.CodeDatabase, 503, "", withDatabaseOutage, sends("GET", "/api/conversations", nil)},
	{"a message during a database outage", chat.CodeDatabase, 503, "", withDatabaseOutage, sends("POST", "/api/chat", hello())},
	{"the engine is unavailable", chat.CodeInternal, 503, "", nil, func(b *bundle, c *client) *http.Response {
		b.engine.set(func() { b.engine.unavailable = errors.New(secretDetail) })
		return c.send("POST", "/api/chat", hello())
	}},
	{"a defect", chat.CodeInternal, 500, "", failing(func() error { return errors.New(secretDetail) }), sends("GET", "/api/conversations/"+someThread, nil)},
	{"a panic", chat.CodeInternal, 500, "", failing(func() error { panic(secretDetail) }), sends("GET", "/api/conversations/"+someThread, nil)},
	{"a panic where a stream would begin", chat.CodeInternal, 500, "", failing(func() error { panic(secretDetail) }), sends("GET", "/api/chat/stream/"+someThread, nil)},
}

// Rule E1.
func TestEveryErrorHasItsStatusAndCodeInTheSameShape(t *testing.T) {
	t.Parallel()
	for _, want := range refusalCases {
		t.Run(want.name, func(t *testing.T) {
			t.Parallel()
			log := &records{}
			b := setup(t, log.into, func(d *Deps) {
				if want.with != nil {
					want.with(d)
				}
			})
			res := want.do(b, b.client())
			raw := must.Have(io.ReadAll(res.Body))(t)
			require.Equal(t, want.status, res.StatusCode, string(raw))
			require.Equal(t, "application/json; charset=utf-8", res.Header.Get("Content-Type"))
			requireNoInternals(t, want.name, string(raw))

			var body map[string]map[string]any
			require.NoError(t, json.Unmarshal(raw, &body), string(raw))
			e := body["error"]
			require.Len(t, body, 1, string(raw))
			request := res.Header.Get("X-Request-Id")
			require.NotEmpty(t, request)
			require.Equal(t, request, e["request_id"])
			require.Equal(t, want.code, e["code"])
			require.True(t, strings.HasSuffix(e["message"].(string), "."), "%v is no sentence", e["message"])
			require.Equal(t, want.field, field(map[string]any{"error": e}))
			for key := range e {
				require.Contains(t, []string{"code", "message", "message_code", "message_params", "request_id", "details", "turn_id"}, key)
			}
			require.Equal(t, e["message"], coded(e).English())
			for _, d := range details(e) {
				require.NotEmpty(t, d["problem"])
				if d["message_code"] != nil {
					require.Equal(t, d["problem"], coded(d).English())
				}
			}
			wait, err := strconv.Atoi(res.Header.Get("Retry-After"))
			require.Equal(t, want.status == http.StatusTooManyRequests, err == nil && wait >= 1, "Retry-After: %q", res.Header.Get("Retry-After"))
			require.Equal(t, want.status == http.StatusUnauthorized, res.Header.Get("WWW-Authenticate") != "")
			require.Equal(t, want.status == http.StatusMethodNotAllowed, res.Header.Get("Allow") != "")

			if want.status < 500 {
				return
			}
			lines := log.about(t, request)
			failed := slices.IndexFunc(lines, func(l map[string]any) bool { return l["msg"] == "request failed" })
			require.GreaterOrEqual(t, failed, 0, "%v", lines)
			require.Equal(t, want.code, lines[failed]["code"])
			require.NotEmpty(t, lines[failed]["error"])
			level := map[int]string{500: "ERROR", 503: "WARN"}[want.status]
			require.Equal(t, level, lines[failed]["level"])
		})
	}
}

func details(e map[string]any) (all []map[string]any) {
	list, _ := e["details"].([]any)
	for _, d := range list {
		all = append(all, d.(map[string]any))
	}
	return all
}

// ends lists the codes that turns fail with.
var ends = []string{chat.CodeModelUnavailable, chat.CodeModelRejected, chat.CodeModelTimeout, chat.CodeStepLimit, chat.CodeTokenLimit,
	chat.CodeDeadline, chat.CodeDatabase, chat.CodeTurnLost, chat.CodeInternal}

// Rule E5.
func TestEveryCodeOfTheContractIsTested(t *testing.T) {
	t.Parallel()
	codes := strings.Fields(`validation_failed unauthenticated forbidden not_found turn_running turn_begun client_turn_id_conflict no_pending_interrupt
		invalid_resume_value version_conflict too_large unsupported_type rate_limited model_unavailable model_rejected model_timeout step_limit
		deadline_exceeded database_unavailable internal token_limit turn_lost method_not_allowed host_not_allowed
		similar_items item_changed already_decided built_on`)
	tested := slices.Clone(ends)
	for _, c := range refusalCases {
		tested = append(tested, c.code)
	}
	for _, code := range codes {
		require.Contains(t, tested, code)
	}
	for _, code := range tested {
		require.Contains(t, codes, code)
	}
}

// coded returns the code and the values of the text in a JSON object.
func coded(object map[string]any) messages.Coded {
	code, _ := object["message_code"].(string)
	params, _ := object["message_params"].(map[string]any)
	return messages.Coded{Code: messages.Code(code), Params: params}
}

// Rules E2, E8.
func TestFailedTurnIsSentAsTheDialectsOwnEvent(t *testing.T) {
	t.Parallel()
	userSaid := said("u", "x")
	for _, code := range ends {
		failure, retryable := chat.FailureMessage(code)
		message, said := failure.Text, string(failure.Code)
		require.True(t, strings.HasSuffix(message, "."), code)
		for dialect, c := range map[string]struct {
			path string
			body m
			want func(t *testing.T, events []map[string]any)
		}{
			"native": {"/api/chat", m{"message": "x"}, func(t *testing.T, events []map[string]any) {
				e := events[len(events)-1]
				require.Equal(t, []any{"error", message, said, code, retryable}, []any{e["type"], e["message"], e["message_code"], e["code"], e["retryable"]})
			}},
			"ai_sdk": {"/api/ui/chat", m{"messages": []m{userSaid}}, func(t *testing.T, events []map[string]any) {
				require.Equal(t, message, chunkOf(events, "error")["errorText"])
				require.Equal(t, m{"code": code, "message": message, "message_code": said, "retryable": retryable}, chunkOf(events, "message-metadata")["messageMetadata"].(m)["error"])
				require.Equal(t, m{"type": "finish", "finishReason": "error"}, events[len(events)-1])
			}},
			"langgraph": {"/api/v1/chat/stream", m{"message": m{"content": "x"}}, func(t *testing.T, events []map[string]any) {
				require.Equal(t, m{"type": "error", "error": message}, events[len(events)-1])
			}},
			"discovery": {"/chat/message", m{"message": "x", "discovery_context": m{}}, func(t *testing.T, events []map[string]any) {
				require.Equal(t, m{"error": message}, events[len(events)-1])
			}},
			"openai": {"/v1/chat/completions", completion("x"), func(t *testing.T, events []map[string]any) {
				require.Equal(t, m{"message": message, "message_code": said, "type": "server_error", "param": nil, "code": code}, events[len(events)-1]["error"])
			}},
			"ag_ui": {"/api/agui", aguiRun("t", "m", "x"), func(t *testing.T, events []map[string]any) {
				e := events[len(events)-1]
				require.Equal(t, []any{"RUN_ERROR", message, code, m{"retryable": retryable, "message_code": said}}, []any{e["type"], e["message"], e["code"], e["metadata"]})
			}},
			"agent_v2": {"/api/agent/v2/stream", m{"message": "x", "client_turn_id": "c", "stream_run_id": "r"}, func(t *testing.T, events []map[string]any) {
				e := events[len(events)-1]
				require.Equal(t, []any{"done", "error", m{"code": code, "message": message, "message_code": said, "retryable": retryable}}, []any{e["type"], e["finished_reason"], e["error"]})
			}},
		} {
			t.Run(code+" "+dialect, func(t *testing.T) {
				t.Parallel()
				log := &records{}
				b := setup(t, log.into)
				b.engine.script = func(u *turn) { u.failed(code) }
				s := b.client().stream("POST", c.path, c.body)
				raw := must.Have(io.ReadAll(s.r))(t)
				requireNoInternals(t, code, string(raw))
				c.want(t, dataOf(t, string(raw)))

				lines := log.about(t, s.res.Header.Get("X-Request-Id"))
				told := slices.IndexFunc(lines, func(l map[string]any) bool { return l["code"] == code })
				require.GreaterOrEqual(t, told, 0, "%v", lines)
				require.Equal(t, s.res.Header.Get("X-Turn-Id"), lines[told]["turn"])
				// The engine gets the request's id, so that its own log lines can name it.
				require.Equal(t, s.res.Header.Get("X-Request-Id"), b.engine.submits[0].RequestID)
			})
		}
	}
}

// dataOf returns the data of a stream's events.
func dataOf(t testing.TB, stream string) (all []map[string]any) {
	t.Helper()
	for line := range strings.Lines(stream) {
		if data, is := strings.CutPrefix(strings.TrimSpace(line), "data: "); is && data != "[DONE]" {
			e := map[string]any{}
			require.NoError(t, json.Unmarshal([]byte(data), &e))
			all = append(all, e)
		}
	}
	return all
}

func TestFailedTurnIsRetriedAsANewTurn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.script = func(u *turn) { u.failed(chat.CodeModelUnavailable) }
	c := b.client()
	message := m{"thread_id": someThread, "client_turn_id": "c1"}
	failed := c.ask(message)
	failed.rest()
	id := failed.res.Header.Get("X-Turn-Id")
	b.engine.set(func() { b.engine.script = answer })

	again := c.ask(message) // the same client_turn_id is the same turn
	if got := types(again.rest()); got != "error" || again.res.Header.Get("X-Turn-Id") != id || b.engine.submitCount() != 1 {
		t.Errorf("sent again: %s", got)
	}
	message["client_turn_id"], message["parent_checkpoint_id"] = "c2", "root"
	anew := c.ask(message)
	if got := types(anew.rest()); !strings.HasSuffix(got, "response") || anew.res.Header.Get("X-Turn-Id") == id {
		t.Errorf("as a new turn: %s", got)
	}

	b.engine.set(func() { b.engine.script = func(u *turn) { u.failed(chat.CodeModelUnavailable) } })
	c.post("chat", nil, said("u1", "x")).chunks()
	b.engine.set(func() { b.engine.script = answer })
	assert.EqualValues(t, plainAnswer, chunkTypes(c.post("chat", m{"trigger": "regenerate-message"}, said("u1", "x")).chunks()), "regenerated")
	if h := c.loaded("chat"); len(h) != 2 { // the message, and the answer that replaced the failure
		t.Errorf("%v", h)
	}
}

func TestDuringADatabaseOutageEveryRouteReturnsADatabaseError(t *testing.T) {
	t.Parallel()
	log := &records{}
	b := setup(t, log.into, withDatabaseOutage)
	c := b.client()
	said := 0
	for name, r := range walked(t, b) {
		for _, w := range r.ways(unknown(), unknown()) {
			res := c.send(method(name), w.path, orNil(w.body))
			raw := must.Have(io.ReadAll(res.Body))(t)
			if name == "GET /metrics" || name == "GET /readyz" {
				continue
			}
			requireNoInternals(t, name, string(raw))
			if res.StatusCode < 500 {
				continue
			}
			var body map[string]any
			require.NoError(t, json.Unmarshal(raw, &body), name)
			if res.StatusCode != 503 || name != "POST /chat/message" && errorCode(body) != chat.CodeDatabase { // the errors of /chat/message have no code
				t.Errorf("%s %s %s: %d %s", name, w.path, w.body, res.StatusCode, raw)
			}
			said++
		}
	}
	require.Greater(t, said, 40)
}

// Rule E3.
func TestOnlyTheLogHasTheCauseOfAnError(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func() error{"an error": func() error { return errors.New(secretDetail) }, "a panic": func() error { panic(secretDetail) }} {
		log := &records{}
		b := setup(t, log.into, failing(fail))
		res := b.client().send("GET", "/api/conversations/"+someThread, nil, "X-Request-Id", "my-request")
		raw := must.Have(io.ReadAll(res.Body))(t)
		requireNoInternals(t, name, string(raw))
		require.Contains(t, string(raw), "my-request")
		text := fmt.Sprint(log.about(t, "my-request"))
		require.Contains(t, text, "SQLSTATE 42P01", name)
		require.Contains(t, text, "/api/conversations/:id", name)
		if name == "a panic" {
			require.Contains(t, text, "errors_test.go", "the stack")
		}
	}
}

func TestPanicInsideAStreamAbortsIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.server.ping = 0 // makes time.NewTicker panic after the headers are set and before they are sent
	res := b.client().send("POST", "/api/chat", hello())
	require.Equal(t, 500, res.StatusCode)
	require.Equal(t, chat.CodeInternal, errorCode(decodeBody(t, res)))

	e := gin.New()
	e.Use(b.server.recovery)
	e.GET("/", func(c *gin.Context) {
		_, _ = c.Writer.WriteString("data: one\n\n")
		c.Writer.Flush()
		panic(secretDetail)
	})
	web := httptest.NewServer(e)
	defer web.Close()
	res = must.Have(web.Client().Get(web.URL))(t)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF) // the stream must look aborted, not complete
	require.Equal(t, "data: one\n\n", string(raw))
}

// Rule E1.
func TestUnknownRoutesReturnErrorsInTheSameShape(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	known := map[string][]string{}
	for _, r := range b.server.routes().(*gin.Engine).Routes() {
		path := pathParam.ReplaceAllString(r.Path, someThread)
		known[path] = append(known[path], r.Method)
	}
	methods := []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
	for path, allowed := range known {
		slices.Sort(allowed)
		for _, method := range methods {
			if slices.Contains(allowed, method) {
				continue
			}
			res := c.send(method, path, nil)
			body := decodeBody(t, res)
			got := strings.Split(res.Header.Get("Allow"), ", ")
			slices.Sort(got)
			code := errorCode(body)
			if path == "/chat/message" && body["error"] == problem.Method.Message.Text { // its errors are only a sentence
				code = chat.CodeMethod
			}
			assert.True(t, res.StatusCode == 405 && code == chat.CodeMethod && slices.Equal(got, allowed), "%s %s: %d %v %v", method, path, res.StatusCode, got, body)
		}
	}
	for _, path := range []string{"/api", "/api/", "/api/nothing", "/api/chat/", "/api/../api/nothing", "/api/ui/chat/x/y/z", "/mcp/nothing"} {
		for _, method := range methods {
			res := c.send(method, path, nil)
			if body := decodeBody(t, res); res.StatusCode != 404 || errorCode(body) != chat.CodeNotFound {
				t.Errorf("%s %s: %d %v", method, path, res.StatusCode, body)
			}
		}
	}
}

// What rows keep of a failure is its code; the API says it in English, too.
func TestStoredFailuresAreShownWithTheirCode(t *testing.T) {
	t.Parallel()
	failed := showDocument(chat.Document{Status: chat.DocFailed, Error: messages.PDFScanned.Stored()})
	require.Equal(t, messages.PDFScanned, messages.Message{Coded: failed.Coded, Text: failed.Error})
	own := showDocument(chat.Document{Status: chat.DocFailed, Error: "The e-mail has no body."})
	require.Equal(t, messages.Plain("The e-mail has no body."), messages.Message{Coded: own.Coded, Text: own.Error})
	large := (&imports.Error{Code: imports.TooLarge, Size: 60 << 20, Limit: 50 << 20}).Failed()
	shown := showImport(chat.Import{State: chat.ImportFailed, Code: large.Code, Message: large.Message})
	require.Equal(t, "That file is too large to import (60MB). The maximum file size is 50MB.", shown.Message)
	require.Equal(t, messages.Code("import.too_large"), shown.Coded.Code)
}
