package api

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/sqlite"
	"github.com/palaver-chat/palaver/documents/extract"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/testkit/dbtest/litetest"
	"github.com/palaver-chat/palaver/testkit/must"
)

const jwtSecret = "a secret that is only used in tests"

// bundle is a running API over a real store, with a scripted engine.
type bundle struct {
	t      *testing.T
	store  *sqlite.Store
	engine *engine
	bus    *testBus
	server *server
	url    string
	stop   chan struct{}
}

type searchStub struct{ store *sqlite.Store }

func (s searchStub) Search(ctx context.Context, owner, query string, docIDs []string, k int) ([]chat.Hit, error) {
	return s.store.SearchText(ctx, owner, db.Words(strings.Fields(query)...), docIDs, k)
}

// removerStub deletes rows only: there are no workflows.
type removerStub struct{ store *sqlite.Store }

func (s removerStub) Remove(ctx context.Context, user string) error {
	_, err := s.store.DeleteUser(ctx, user)
	return err
}

func setup(t testing.TB, change ...func(*Deps)) *bundle {
	t.Helper()
	store := litetest.Store(t)
	b := newTestBus()
	inner, _ := t.(*testing.T)
	e := newEngine(inner, store, b)
	stop := make(chan struct{})
	d := Deps{
		Store: store, Threads: e, Users: removerStub{store}, Bus: b, Search: searchStub{store},
		Model:         llm.Info{Provider: "offline", Offline: true},
		DocumentTypes: extract.All(),
		Agents:        chat.Agents{{Name: chat.AgentDocuments, Label: "Documents"}, {Name: chat.AgentAssistant, Label: "Assistant"}},
		Log:           slog.New(slog.DiscardHandler), Stop: stop,
		Page: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "page "+r.URL.Path) }),
		Config: Config{
			Identity:       identity.Config{CookieSecret: []byte("0123456789abcdef0123456789abcdef"), JWTSecret: jwtSecret},
			MaxUploadBytes: 1 << 20, Features: map[string]bool{"web_search": false, FeatureSharedLinks: true},
		},
	}
	for _, f := range change {
		f(&d)
	}
	s := must.Have(newServer(d))(t)
	web := httptest.NewServer(s.routes())
	t.Cleanup(func() {
		close(stop)
		e.end()
		web.CloseClientConnections()
		web.Close()
	})
	return &bundle{t: inner, store: store, engine: e, bus: b, server: s, url: web.URL, stop: stop}
}

// client is a person with a browser.
type client struct {
	t   testing.TB
	url string
	h   http.Header
	*http.Client
}

func (b *bundle) client() *client {
	jar, _ := cookiejar.New(nil) // without options it cannot fail
	return &client{t: b.t, url: b.url, h: http.Header{}, Client: &http.Client{Jar: jar, Timeout: 5 * time.Minute,
		Transport: checked{b.t, readPromise(b.t, b.server.openAPI.Raw)}}}
}

func (c *client) send(method, path string, body any, headers ...string) *http.Response {
	c.t.Helper()
	var r io.Reader
	if body != nil {
		raw, isRaw := body.(string)
		if !isRaw {
			b, err := json.Marshal(body)
			if err != nil {
				c.t.Fatal(err)
			}
			raw = string(b)
		}
		r = strings.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, r)
	if err != nil {
		c.t.Fatal(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for k, v := range c.h {
		req.Header[k] = v
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := c.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

// call sends a request, checks the status, and returns the JSON of the response.
func (c *client) call(status int, method, path string, body any, headers ...string) map[string]any {
	c.t.Helper()
	res := c.send(method, path, body, headers...)
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	if res.StatusCode != status {
		c.t.Fatalf("%s %s: status %d, want %d: %s", method, path, res.StatusCode, status, raw)
	}
	if len(raw) == 0 {
		return nil
	}
	out := map[string]any{}
	if err := json.Unmarshal(raw, &out); err != nil {
		c.t.Fatalf("%s %s: %v: %s", method, path, err, raw)
	}
	return out
}

// id returns the caller's own id.
func (c *client) id() string {
	c.t.Helper()
	return c.call(200, "GET", "/api/me", nil)["id"].(string)
}

// events is an open stream.
type events struct {
	t   testing.TB
	res *http.Response
	r   *bufio.Reader
}

func (c *client) stream(method, path string, body any, headers ...string) *events {
	c.t.Helper()
	res := c.send(method, path, body, headers...)
	if res.StatusCode != http.StatusOK {
		raw, _ := io.ReadAll(res.Body)
		c.t.Fatalf("%s %s: status %d: %s", method, path, res.StatusCode, raw)
	}
	return &events{c.t, res, bufio.NewReader(res.Body)}
}

func (c *client) ask(fields map[string]any) *events {
	c.t.Helper()
	if fields["message"] == nil {
		fields["message"] = "What is the answer?"
	}
	return c.stream("POST", "/api/chat", fields)
}

// block returns the next block of a stream, without its blank line; ok is false at the end.
func (e *events) block() (_ string, ok bool) {
	e.t.Helper()
	var lines []string
	for {
		line, err := e.r.ReadString('\n')
		if err == io.EOF && line == "" && len(lines) == 0 {
			return "", false
		}
		if err != nil {
			e.t.Fatalf("the stream was cut off after %q: %v", lines, err)
		}
		if line == "\n" {
			return strings.Join(lines, "\n"), true
		}
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
}

// next returns the next event and skips comments; nil at the end.
func (e *events) next() map[string]any {
	e.t.Helper()
	for {
		block, ok := e.block()
		if !ok {
			return nil
		}
		if strings.HasPrefix(block, ":") {
			continue
		}
		_, data, found := strings.Cut("\n"+block, "\ndata: ")
		out := map[string]any{}
		if err := json.Unmarshal([]byte(data), &out); !found || err != nil {
			e.t.Fatalf("block %q: %v", block, err)
		}
		return out
	}
}

// rest returns all events up to the end.
func (e *events) rest() (all []map[string]any) {
	e.t.Helper()
	for ev := e.next(); ev != nil; ev = e.next() {
		all = append(all, ev)
	}
	return all
}

// until reads up to the first event of a type.
func (e *events) until(kind string) map[string]any {
	e.t.Helper()
	for ev := e.next(); ev != nil; ev = e.next() {
		if ev["type"] == kind {
			return ev
		}
	}
	e.t.Fatalf("the stream ended without %s", kind)
	return nil
}

func (e *events) close() { _ = e.res.Body.Close() }

// types lists the types of events, with one token for consecutive tokens.
func types(all []map[string]any) string {
	var out []string
	for _, e := range all {
		kind := e["type"].(string)
		if kind != "token" || len(out) == 0 || out[len(out)-1] != "token" {
			out = append(out, kind)
		}
	}
	return strings.Join(out, " ")
}

func text(all []map[string]any) (s string) {
	for _, e := range all {
		if e["type"] == "token" {
			s += e["content"].(string)
		}
	}
	return s
}

func errorCode(body map[string]any) string {
	e, _ := body["error"].(map[string]any)
	code, _ := e["code"].(string)
	return code
}

// field returns the first field that an error names.
func field(body map[string]any) string {
	e, _ := body["error"].(map[string]any)
	details, _ := e["details"].([]any)
	if len(details) == 0 {
		return ""
	}
	name, _ := details[0].(map[string]any)["field"].(string)
	return name
}
