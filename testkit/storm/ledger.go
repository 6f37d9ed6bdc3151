package storm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/palaver-chat/palaver/testkit/llmtest"
)

// ledger is the model server of a storm: a proxy to the scripted model that records
// each call with its turn, which it finds by the mark in the message.
type ledger struct {
	*llmtest.Server
	url  string
	http *http.Server

	mu    sync.Mutex
	calls []*call
}

// call is one request to the model.
type call struct {
	Mark     string // of the turn; "" for a summary
	Kind     string // name of the schema asked for, or "stream"
	Caller   string // the process that called, if it has its own URL
	Body     [sha256.Size]byte
	Arrived  time.Time
	Ended    time.Time // zero while it runs
	Said     time.Time // when its last piece came from the model: its caller may have all of it then, and Ended comes later
	Finished bool      // the caller read the whole answer
}

func openLedger() (*ledger, error) {
	model := llmtest.New(nil)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		model.Close()
		return nil, fmt.Errorf("open the model: %w", err)
	}
	upstream, err := url.Parse(strings.TrimSuffix(model.URL, "/v1"))
	if err != nil {
		model.Close()
		return nil, err
	}
	l := &ledger{Server: model, url: "http://" + listener.Addr().String() + "/v1"}
	relay := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(upstream) },
		FlushInterval: -1,
		ModifyResponse: func(r *http.Response) error {
			// A caller that has read the whole stream may disconnect before it is closed.
			r.Body = &answer{r.Body, r.Request.Context().Value(passedKey{}).(*passedAnswer)}
			return nil
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	l.http = &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the caller died during the request
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		caller := ""
		if from, path, is := strings.Cut(r.URL.Path, callerSeparator); is {
			caller, r.URL.Path = strings.TrimPrefix(from, "/"), path
		}
		done := l.begin(caller, body)
		var p passedAnswer
		defer func() { done(&p) }()
		relay.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), passedKey{}, &p)))
	})}
	go func() { _ = l.http.Serve(listener) }()
	return l, nil
}

// callerSeparator ends the caller's name in the URL of urlFor.
const callerSeparator = "/calls"

// urlFor is the base URL for one process, which identifies its calls.
func (l *ledger) urlFor(caller string) string {
	return strings.TrimSuffix(l.url, "/v1") + "/" + caller + callerSeparator + "/v1"
}

// passedKey is the context's key for what was passed on of the answer.
type passedKey struct{}

// passedAnswer is what was passed on of an answer.
type passedAnswer struct {
	all  atomic.Bool  // it was read to its end
	last atomic.Int64 // when its last piece came from the model, in nanoseconds
}

// answer records what is read of it.
type answer struct {
	io.ReadCloser
	passed *passedAnswer
}

func (a *answer) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if n > 0 {
		a.passed.last.Store(time.Now().UnixNano())
	}
	if err == io.EOF {
		a.passed.all.Store(true)
	}
	return n, err
}

func (l *ledger) close() {
	_ = l.http.Close()
	l.Server.Close()
}

// begin records a call; done records its end.
func (l *ledger) begin(caller string, body []byte) (done func(*passedAnswer)) {
	c := &call{Caller: caller, Mark: markOf(lastUser(body)), Kind: kindOf(body), Body: sha256.Sum256(body), Arrived: time.Now()}
	if isSummary(lastUser(body)) {
		c.Mark = ""
	}
	l.mu.Lock()
	l.calls = append(l.calls, c)
	l.mu.Unlock()
	return func(p *passedAnswer) {
		l.mu.Lock()
		defer l.mu.Unlock()
		c.Ended, c.Finished = time.Now(), p.all.Load()
		c.Said = time.Unix(0, p.last.Load())
	}
}

// book is a copy of all calls so far, in order of arrival.
func (l *ledger) book() []call {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]call, len(l.calls))
	for i, c := range l.calls {
		all[i] = *c
	}
	slices.SortStableFunc(all, func(a, b call) int { return a.Arrived.Compare(b.Arrived) })
	return all
}

// waitIdle waits until no call is running.
func (l *ledger) waitIdle(ctx context.Context) {
	for ctx.Err() == nil {
		if !slices.ContainsFunc(l.book(), func(c call) bool { return c.Ended.IsZero() }) {
			return
		}
		pause(ctx, 50*time.Millisecond)
	}
}

const streamKind = "stream"

func kindOf(body []byte) string {
	var request struct {
		Stream         bool `json:"stream"`
		ResponseFormat struct {
			JSONSchema struct {
				Name string `json:"name"`
			} `json:"json_schema"`
		} `json:"response_format"`
	}
	_ = json.Unmarshal(body, &request) // an invalid request has no kind
	if request.Stream {
		return streamKind
	}
	return request.ResponseFormat.JSONSchema.Name
}

// lastUser is the last user message of a chat request.
func lastUser(body []byte) string {
	var request struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	_ = json.Unmarshal(body, &request)
	for _, m := range slices.Backward(request.Messages) {
		if m.Role == "user" {
			return string(m.Content)
		}
	}
	return ""
}

// isSummary reports whether a call summarizes earlier messages, which have the marks of other
// turns.
func isSummary(lastUser string) bool {
	var text string
	return json.Unmarshal([]byte(lastUser), &text) == nil && strings.HasSuffix(text, "</conversation>")
}

var markPattern = regexp.MustCompile(`\bT\d{2}x\d{4}\b`)

func mark(thread, n int) string { return fmt.Sprintf("T%02dx%04d", thread, n) }

// markOf is the mark of the turn that a text belongs to: the last one, because a
// prompt may repeat earlier messages first.
func markOf(text string) string {
	all := markPattern.FindAllString(text, -1)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// script makes the model answer the turn with that mark with so many words, slowly.
func (l *ledger) script(mark string, words int, each time.Duration) {
	chunks := []string{"About ", mark, ": "}
	for i := range words {
		chunks = append(chunks, fmt.Sprintf("word%d ", i))
	}
	l.On(llmtest.Match{Kind: llmtest.Stream, Contains: mark}, llmtest.Answer{Chunks: append(chunks, "done."), Each: each})
}

// note makes the model call a tool before it answers.
func (l *ledger) note(mark, tool string) {
	l.On(llmtest.Match{Kind: llmtest.Stream, Contains: mark, Func: func(r llmtest.Request) bool { return r.LastResult == "" }},
		llmtest.Calls(llmtest.Call(tool, map[string]any{"mark": mark})))
}

// unsure makes the model ask which action is meant.
func (l *ledger) unsure(mark string) {
	l.On(llmtest.Match{Schema: "intent_classification", Contains: mark}, llmtest.JSON(map[string]any{
		"action": "inquire", "confidence": "low", "enable_web_search": false,
		"multi_action_detected": false, "actions": []string{"inquire", "summarize"}, "reasoning": "",
	}))
}

// pause waits for d or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
