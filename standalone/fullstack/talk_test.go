// Package fullstack tests whole turns over HTTP against the whole stack: embedded
// Temporal, SQLite, worker and API.
package fullstack

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/testkit/llmtest"
)

// waitTimeout is the timeout of waits in tests. A busy machine may take minutes.
const waitTimeout = 4 * time.Minute

// event is one event of the native dialect.
type event struct {
	Type      string          `json:"type"`
	EventID   string          `json:"event_id"`
	Node      string          `json:"node"`
	Message   string          `json:"message"`
	Content   string          `json:"content"`
	Code      string          `json:"code"`
	DocsFound []chat.DocRef   `json:"docs_found"`
	Response  string          `json:"response"`
	Citations []chat.Citation `json:"citations"`
	Action    chat.Action     `json:"action"`
	Tokens    int             `json:"tokens_used"`
	TurnID    string          `json:"turn_id"`
	Reason    string          `json:"reason"`
	Partial   string          `json:"partial"`
	Retryable bool            `json:"retryable"`
	Kind      string          `json:"interrupt_type"`
	Interrupt string          `json:"interrupt_id"`
	Options   []chat.Option   `json:"options"`
	ID        string          `json:"id"`           // of a tool call
	CallID    string          `json:"tool_call_id"` // of a tool result
	IsError   bool            `json:"is_error"`
}

// talk is one user's conversation with a server.
type talk struct {
	t      *testing.T
	url    func() string
	client *http.Client
	thread string
}

func newTalk(t *testing.T, url func() string, client *http.Client) *talk {
	return &talk{t: t, url: url, client: client, thread: uuid.NewString()}
}

type object map[string]any

// stream is an open stream of events.
type stream struct {
	t      *testing.T
	resp   *http.Response
	lines  *bufio.Scanner
	cancel context.CancelFunc
}

func (c *talk) request(ctx context.Context, method, path string, body any) *http.Response {
	c.t.Helper()
	var in io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		require.NoError(c.t, err)
		in = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.url()+path, in)
	require.NoError(c.t, err)
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.client.Do(req)
	require.NoError(c.t, err)
	return resp
}

// do sends a request, requires the status, and decodes the JSON response into out unless
// out is nil.
func (c *talk) do(status int, method, path string, body, out any) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	resp := c.request(ctx, method, path, body)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(c.t, err)
	require.Equal(c.t, status, resp.StatusCode, "%s %s: %s", method, path, b)
	if out != nil {
		require.NoError(c.t, json.Unmarshal(b, out), "%s", b)
	}
}

func (c *talk) open(method, path string, body any) *stream {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	resp := c.request(ctx, method, path, body)
	if resp.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(resp.Body)
		cancel()
		require.Equal(c.t, http.StatusOK, resp.StatusCode, "%s %s: %s", method, path, b)
	}
	s := &stream{t: c.t, resp: resp, lines: bufio.NewScanner(resp.Body), cancel: cancel}
	s.lines.Buffer(nil, 1<<20)
	c.t.Cleanup(s.close)
	return s
}

// send posts a message; more holds further fields.
func (c *talk) send(message string, more object) *stream {
	c.t.Helper()
	body := object{"message": message, "thread_id": c.thread}
	for k, v := range more {
		body[k] = v
	}
	return c.open(http.MethodPost, "/api/chat", body)
}

func (c *talk) ask(message string, more object) []event { return c.send(message, more).all() }

func (c *talk) resume(kind chat.InterruptType, value string) []event {
	c.t.Helper()
	return c.open(http.MethodPost, "/api/chat/resume", object{
		"thread_id": c.thread, "resume_value": object{"type": kind, "value": value},
	}).all()
}

// attach follows the thread's open turn, or the turn that query names.
func (c *talk) attach(query string) *stream {
	c.t.Helper()
	return c.open(http.MethodGet, "/api/chat/stream/"+c.thread+"?"+query, nil)
}

// next returns the next event; ok is false at the end of the stream.
func (s *stream) next() (e event, ok bool) {
	s.t.Helper()
	for s.lines.Scan() {
		data, is := strings.CutPrefix(s.lines.Text(), "data: ")
		if !is {
			continue
		}
		require.NoError(s.t, json.Unmarshal([]byte(data), &e), data)
		require.NotEmpty(s.t, e.EventID, data)
		return e, true
	}
	return event{}, false
}

// until reads to the first event that fits, and returns it. Without one the test fails.
func (s *stream) until(fits func(event) bool) event {
	s.t.Helper()
	var seen []event
	for {
		e, ok := s.next()
		require.True(s.t, ok, "the stream ended: %v (%v)", seen, s.lines.Err())
		if fits(e) {
			return e
		}
		seen = append(seen, e)
	}
}

func isType(t string) func(event) bool { return func(e event) bool { return e.Type == t } }

func terminal(e event) bool {
	return e.Type == "response" || e.Type == "cancelled" || e.Type == "error"
}

// all reads to the end of the stream.
func (s *stream) all() (events []event) {
	s.t.Helper()
	defer s.close()
	for {
		e, ok := s.next()
		if !ok {
			require.NoError(s.t, s.lines.Err())
			require.NotEmpty(s.t, events)
			return events
		}
		events = append(events, e)
	}
}

func (s *stream) close() {
	s.cancel()
	_ = s.resp.Body.Close()
}

func last(events []event) event { return events[len(events)-1] }

func text(events []event) string {
	var b strings.Builder
	for _, e := range events {
		if isRestart(e) {
			b.Reset()
		}
		b.WriteString(e.Content)
	}
	return b.String()
}

// isRestart tells that an answer begins again. On a busy machine heartbeats can fail for longer
// than their timeout.
func isRestart(e event) bool { return e.Type == "notice" && e.Code == chat.NoticeRestarted }

// begunAgain counts how often an answer began again.
func begunAgain(events []event) (n int) {
	for _, e := range events {
		if isRestart(e) {
			n++
		}
	}
	return n
}

type history struct {
	Messages []struct {
		ID, Role, Content string
		TurnID            string         `json:"turn_id"`
		Metadata          map[string]any `json:"metadata"`
	} `json:"messages"`
	Pending *event `json:"pending_interrupt"`
	Active  *struct {
		TurnID string `json:"turn_id"`
		Status string `json:"status"`
	} `json:"active_turn"`
	Branches map[string][]string `json:"branches"`
}

func (c *talk) history() (h history) {
	c.t.Helper()
	c.do(http.StatusOK, http.MethodGet, "/api/chat/history/"+c.thread, nil, &h)
	return h
}

func (h history) roles() (roles []string) {
	for _, m := range h.Messages {
		roles = append(roles, m.Role)
	}
	return roles
}

// endsWithoutText checks that the last turn has no answer and that the person's message says how
// it ended.
func (h history) endsWithoutText(t *testing.T, finished, reason string) {
	t.Helper()
	end := h.Messages[len(h.Messages)-1]
	require.Equal(t, "user", end.Role)
	require.Equal(t, finished, end.Metadata["finished_reason"])
	require.Equal(t, reason, end.Metadata["interrupted_reason"])
}

// upload stores a text and returns its id when the document is ready.
func (c *talk) upload(title, body string) string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	stored := c.request(ctx, http.MethodPost, "/api/documents", object{"title": title, "text": body})
	for stored.StatusCode == http.StatusServiceUnavailable { // a busy machine stores nothing
		_ = stored.Body.Close()
		stored = c.request(ctx, http.MethodPost, "/api/documents", object{"title": title, "text": body})
	}
	defer stored.Body.Close()
	require.Equal(c.t, http.StatusAccepted, stored.StatusCode)
	var doc struct{ ID, Status, Error string }
	require.NoError(c.t, json.NewDecoder(stored.Body).Decode(&doc))
	require.Eventually(c.t, func() bool {
		c.do(http.StatusOK, http.MethodGet, "/api/documents/"+doc.ID, nil, &doc)
		return doc.Status != "processing"
	}, waitTimeout, 20*time.Millisecond)
	require.Equal(c.t, "ready", doc.Status, doc.Error)
	return doc.ID
}

func (c *talk) me() string {
	c.t.Helper()
	var me struct{ ID string }
	c.do(http.StatusOK, http.MethodGet, "/api/me", nil, &me)
	return me.ID
}

// Model calls of a turn, as the scripted model matches them.
var (
	intentCall = llmtest.Match{Schema: "intent_classification"}
	docsCall   = llmtest.Match{Schema: "document_resolution"}
	answerCall = llmtest.Match{Kind: llmtest.Stream}
)

func within(t *testing.T, wait <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-wait:
	case <-time.After(waitTimeout):
		require.FailNow(t, "timeout waiting for "+what)
	}
}

const circular = `# Circular on liquidity

## 1. Liquidity coverage

A bank must hold a liquidity coverage ratio of at least 100 percent at the end of every business day. The ratio is reported monthly — in euros.

## 2. Stress tests

A bank must run a stress test of its funding at least once a quarter and report the result to its board.
`
