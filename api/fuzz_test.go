package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/chat"
)

// hostile is a malformed or malicious request.
type hostile struct {
	method string // empty: the route's own
	id     string // replaces the route's parameters
	query  string
	kind   string // content type
	header string // lines of Name: value
	body   string
}

// Bodies, valid and invalid.
var bodies = []string{
	``, ` `, `{`, `[]`, `null`, `5`, `"x"`, `{}`, `{"message":1}`, `{"message":"\ud800\u0000"}`, "\ufeff{}", "{\"message\":\"\xff\xfe\"}", `{"message":1e999}`,
	`{"message":"x"}`, `{"message":"x","message":null,"thread_id":[]}`,
	`{"message":"x","thread_id":"` + someThread + `","tagged_doc_ids":["` + someThread + `"],"tiptap_json":{"a":[[[]]]}}`,
	`{"thread_id":"` + someThread + `","resume_value":{"type":"cancel","value":null,"tiptap_json":{}}}`,
	`{"turn_id":"x","reason":"disconnect"}`, `{"title":"x","text":"y"}`, `{"title":"x"}`, `{"name":"x","doc_ids":["` + someThread + `"]}`, `{"industry":"x"}`,
	`{"stream_run_id":"r"}`, `{"message":"x","session_id":"s","client_turn_id":"c","stream_run_id":"r"}`,
	`{"session_id":"s","resume_value":{"type":"tool_approval","decisions":[{"id":"c","decision":"approved","arguments":{"a":[]}}]}}`,
	`{"thread_id":"t","checkpoint_id":null,"message":{"role":"human","content":[{"type":"image","image":"chatbot://a"}]}}`,
	`{"model":"palaver-documents","messages":[{"role":"user","content":"x"}],"stream":true,"metadata":{"thread_id":"` + someThread + `"}}`,
	`{"model":"palaver-documents","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"2"}]}`,
	`{"threadId":"` + someThread + `","runId":"r","messages":[{"id":"m","role":"user","content":"x"}],"state":5,"forwardedProps":[]}`,
	`{"threadId":"t","runId":"r","messages":[],"resume":[{"interruptId":"x.q1","status":"resolved","payload":{"approved":true}}]}`,
	`{"thread_id":"t","approval_data":{"type":"answer","value":"x"}}`, `{"repo":{"messages":[]}}`,
	`{"id":"x","messages":[{"id":"u","role":"user","parts":[{"type":"text","text":"x"},{"type":"file","mediaType":"image/png","url":"data:image/png;base64,AAAA"}]}]}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"message":"x"}}}`, `{"jsonrpc":"2.0","id":{},"method":5}`,
	"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"../../a.md\"\r\n\r\n# A\r\n--x--\r\n",
	"--x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n",
	strings.Repeat("[", 20_000), `{"message":` + strings.Repeat(`{"a":`, 20_000), `{"tiptap_json":` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + `,"message":"x"}`,
}

// Requests that are unusual other than by their body.
var oddities = []hostile{
	{method: "HEAD"}, {method: "OPTIONS"}, {method: "TRACE"}, {method: "PROPFIND"}, {method: "get"}, {method: "GET"}, {method: "PATCH"}, {method: "PUT"},
	{id: "x"}, {id: "%00"}, {id: "\x00"}, {id: "\xff"}, {id: ".."}, {id: "a b"}, {id: "' OR 1=1 --"}, {id: strings.Repeat("x", 10_000)}, {id: strings.ToUpper(someThread)},
	{query: "limit=-1&cursor=x&q=%FF&k=0&head=%00&before=%00"}, {query: "limit=3&q=x&k=5&cursor=eyJ9&doc_ids=x,y"}, {query: "q=\" OR * NEAR(&k=5"}, {query: "%zz&;&=&&"},
	{query: "head=root&before=x.m1&last_event_id=a.1&follow=thread&thread_id=t"}, {query: "thread_id=t&checkpoint_id=root&stream_mode=x"}, {query: strings.Repeat("q=x&", 5_000)},
	{kind: "text/plain"}, {kind: "application/json; charset=\"\xff\""}, {kind: ";;;"}, {kind: "multipart/form-data"}, {kind: "multipart/form-data; boundary=x"},
	{kind: "application/x-www-form-urlencoded"}, {kind: "APPLICATION/JSON;charset=utf-16"}, {kind: strings.Repeat("x", 5_000)},
	{header: "Last-Event-ID: x"}, {header: "Last-Event-ID: " + someThread + ".99999999999999999999"}, {header: "Last-Event-ID: " + someThread + ".1.1.1.1"},
	{header: "If-Match: W/\"x\""}, {header: "If-Match: 99999999999999999999"}, {header: "If-None-Match: *\nRange: bytes=9-1,5-"}, {header: "Content-Encoding: gzip"},
	{header: "Userid: *"}, {header: "Userid: \xff"}, {header: "Userid: a\nUserid: b"}, {header: "X-Forwarded-For: 1.2.3.4, x, ::1%eth0, " + strings.Repeat("9.", 2_000)},
	{header: "X-Request-Id: " + strings.Repeat("x", 500)}, {header: "X-Request-Id: <script>"}, {header: "Authorization: Bearer a.b.c"}, {header: "Authorization: Basic eA=="},
	{header: "Cookie: " + identity.CookieName + "=x.y"}, {header: "Accept: ;;q=x,*/*"}, {header: "Accept: application/json\nMcp-Protocol-Version: x\nMcp-Session-Id: x"}, {header: "Origin: null"},
	{header: "Sec-Fetch-Site: cross-site"}, {header: "X-Forwarded-Proto: https\nForwarded: for=x;proto=y"},
}

// fuzzTarget is a server that gets hostile requests from a user with resources.
type fuzzTarget struct {
	h      http.Handler
	routes []gin.RouteInfo
	cookie string
}

func newFuzzTarget(t testing.TB) fuzzTarget {
	t.Helper()
	b := setup(t)
	b.server.ping = time.Millisecond
	h := b.server.routes().(*gin.Engine)
	user := uuid.NewString()
	s := fuzzTarget{h: h, routes: h.Routes(), cookie: identity.CookieName + "=" + b.server.identity.CookieValue(user)}
	s.routes = append(s.routes, gin.RouteInfo{Method: "GET", Path: "/:page"}, gin.RouteInfo{Method: "POST", Path: "/api/:nothing"})
	slices.SortFunc(s.routes, func(x, y gin.RouteInfo) int { // DELETE routes come last
		last := func(r gin.RouteInfo) string { return strconv.FormatBool(r.Method == "DELETE") + r.Path + r.Method }
		return strings.Compare(last(x), last(y))
	})
	createResources(t, b, user)
	s.send(t, gin.RouteInfo{Method: "POST", Path: "/api/chat"}, hostile{body: `{"thread_id":"` + someThread + `","message":"x"}`})
	return s
}

// send checks that a request is answered in time and without a 500, and that the
// answer reveals no internals.
func (s fuzzTarget) send(t testing.TB, route gin.RouteInfo, from hostile) (status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	w := &leavingClient{ResponseRecorder: httptest.NewRecorder(), leave: func() {}}
	if strings.Contains(from.query, "thread") { // ?follow=thread goes on until its client disconnects
		w.leave = cancel
	}
	s.h.ServeHTTP(w, s.request(route, from).WithContext(ctx))
	what, answer := fmt.Sprintf("%s %s %+.300v", route.Method, route.Path, from), w.Body.String()
	switch {
	case ctx.Err() == context.DeadlineExceeded:
		t.Fatalf("%s: no response within the timeout", what)
	case w.Code >= 500:
		t.Fatalf("%s: %d %s", what, w.Code, answer)
	case strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") && answer != "" && !json.Valid(w.Body.Bytes()):
		t.Fatalf("%s: invalid JSON: %s", what, answer)
	case route.Path == "/metrics", w.Header().Get("Content-Type") == "application/zip": // compressed; TestExportHoldsAllOfTheCallerAndNothingOfOthers
		return w.Code
	}
	sent := strings.ToLower(strings.Join([]string{from.method, from.id, from.query, from.kind, from.header, from.body}, "\n"))
	for _, word := range internals {
		require.False(t, strings.Contains(strings.ToLower(answer), word) && !strings.Contains(sent, word), "%s: reveals %q: %s", what, word, answer)
	}
	return w.Code
}

func kindOfBody(body string) string {
	if strings.HasPrefix(body, "--x") {
		return "multipart/form-data; boundary=x"
	}
	return ""
}

func TestHostileRequestsNeverCauseA500(t *testing.T) {
	t.Parallel()
	s := newFuzzTarget(t)
	answers := map[int]int{}
	for _, route := range s.routes {
		for _, odd := range oddities {
			odd.body = `{"message":"x"}`
			answers[s.send(t, route, odd)]++
		}
		for _, body := range bodies {
			if route.Method != "GET" {
				answers[s.send(t, route, hostile{body: body, kind: kindOfBody(body)})]++
			}
		}
	}
	for _, status := range []int{200, 201, 202, 204, 400, 401, 403, 404, 405, 415} {
		assert.True(t, answers[status] != 0, "no request was answered with %d, so the requests do not test what they should: %v", status, answers)
	}
}

// No request to any route may return a 500, hang, or reveal internals.
func FuzzNoRequestIsA500(f *testing.F) {
	s := newFuzzTarget(f)
	add := func(i int, r hostile) { f.Add(i, r.method, r.id, r.query, r.kind, r.header, r.body) }
	for i := range s.routes {
		add(i, hostile{body: `{"message":"x"}`})
	}
	for i, odd := range oddities {
		add(i, odd)
	}
	for i, body := range bodies {
		add(i, hostile{body: body, kind: kindOfBody(body)})
	}
	f.Fuzz(func(t *testing.T, which int, method, id, query, kind, header, body string) {
		s.send(t, s.routes[((which%len(s.routes))+len(s.routes))%len(s.routes)], hostile{method, id, query, kind, header, body})
	})
}

// createResources creates one resource of each kind for a user, all with the same id.
func createResources(t testing.TB, b *bundle, user string) {
	t.Helper()
	ctx := t.Context()
	text := "A text."
	chunk := chat.Chunk{ID: someThread, DocID: someThread, Text: text, End: len(text)}
	for _, err := range []error{
		b.store.CreateDocument(ctx, chat.Document{ID: someThread, Owner: user, Title: "x", Status: chat.DocProcessing}, []byte(text)),
		b.store.StoreText(ctx, user, someThread, text, []chat.Chunk{chunk}, nil),
		b.store.CreateSet(ctx, chat.DocumentSet{ID: someThread, Owner: user, Name: "x", DocIDs: []string{someThread}}),
		b.store.PutAttachment(ctx, chat.Attachment{ID: someThread, Owner: user, MIME: "image/png", Bytes: 1}, []byte("x")),
	} {
		require.NoError(t, err)
	}
}

// request builds the hostile request to a route.
func (s fuzzTarget) request(route gin.RouteInfo, from hostile) *http.Request {
	method := route.Method
	if from.method != "" {
		method = from.method
	}
	id := someThread
	if from.id != "" {
		id = from.id
	}
	r := httptest.NewRequest("POST", "http://localhost/", strings.NewReader(from.body))
	r.Method = method
	r.URL = &url.URL{Path: pathParam.ReplaceAllLiteralString(route.Path, id), RawQuery: from.query}
	r.Header.Set("Content-Type", "application/json")
	if from.kind != "" {
		r.Header.Set("Content-Type", from.kind)
	}
	r.Header.Set("Cookie", s.cookie)
	for line := range strings.SplitSeq(from.header, "\n") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			if name == "Cookie" {
				r.Header.Del(name)
			}
			r.Header.Add(name, value)
		}
	}
	return r
}

// leavingClient is a client that may disconnect after the first data of a stream.
type leavingClient struct {
	*httptest.ResponseRecorder
	leave func()
}

func (w *leavingClient) Flush() {
	w.ResponseRecorder.Flush()
	if w.Body.Len() > 0 {
		w.leave()
	}
}
