package stack

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/testkit/llmtest"
)

// User is one anonymous caller.
type User struct {
	url    string
	client *http.Client
}

// NewUser creates a new anonymous user.
func (s *Stack) NewUser() (*User, error) { return NewUser(s.URL) }

// NewUser creates a new anonymous user of the server at url.
func NewUser(url string) (*User, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	return &User{url: url, client: &http.Client{Jar: jar, Transport: &http.Transport{MaxIdleConnsPerHost: 100}}}, nil
}

// At returns the same user at another process of the same installation.
func (u *User) At(url string) *User { return &User{url: url, client: u.client} }

// Upload stores the benchmark's document and waits until it is ready.
func (u *User) Upload(ctx context.Context) (id string, err error) {
	return u.UploadText(ctx, Title, Circular)
}

// UploadText stores a document and waits until it is ready.
func (u *User) UploadText(ctx context.Context, title, text string) (id string, err error) {
	resp, err := u.post(ctx, "/api/documents", map[string]any{"title": title, "text": text})
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var doc struct{ ID, Status, Error string }
	if err := json.NewDecoder(resp.Body).Decode(&doc); err != nil {
		return "", err
	}
	id = doc.ID
	for until := time.Now().Add(30 * time.Second); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		resp, err := u.client.Get(u.url + "/api/documents/" + id)
		if err != nil {
			return "", err
		}
		err = json.NewDecoder(resp.Body).Decode(&doc)
		resp.Body.Close()
		if err != nil {
			return "", err
		}
		switch doc.Status {
		case "ready":
			return id, nil
		case "failed":
			return "", fmt.Errorf("the document failed: %s", doc.Error)
		}
	}
	return "", fmt.Errorf("the document was not ready in time")
}

// Timing has the times of a turn's first event, first token and terminal event
// after the request.
type Timing struct {
	First, Token, End time.Duration
}

// unavailableError is a 503 with its body.
type unavailableError struct{ body string }

func (e *unavailableError) Error() string { return "503: " + e.body }

const (
	// maxUnavailable is how long Turn retries a 503. A submit that is not accepted by then has a
	// reason that a benchmark has to report.
	maxUnavailable = readyTimeout
	retryInterval  = 50 * time.Millisecond
)

// Message is the body of a message in the native dialect, without thread id and
// client turn id.
type Message map[string]any

// Inquiry asks about an uploaded document. An empty action is inferred.
func Inquiry(doc, action string) Message {
	m := Message{"message": "What does the circular say about the liquidity coverage ratio?", "tagged_doc_ids": []string{doc}}
	if action != "" {
		m["action"] = action
	}
	return m
}

// Ended is the error of a turn that ended without an answer.
type Ended struct{ Type, Message string }

func (e *Ended) Error() string { return fmt.Sprintf("the turn ended with %s: %s", e.Type, e.Message) }

// Turn sends one message and reads its stream to the end. It adds a new client turn id
// unless m has one. It retries a 503 for maxUnavailable, and the times include the retries. It
// calls began, unless it is nil, at the first event.
func (u *User) Turn(ctx context.Context, thread string, m Message, began func()) (t Timing, err error) {
	body := maps.Clone(m)
	body["thread_id"] = thread
	if body["client_turn_id"] == nil {
		body["client_turn_id"] = uuid.NewString()
	}
	sent := time.Now()
	resp, err := u.submit(ctx, body)
	if err != nil {
		return t, fmt.Errorf("message %s of thread %s: %w", body["client_turn_id"], thread, err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e struct{ Type, Message string }
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return t, err
		}
		since := time.Since(sent)
		if t.First == 0 {
			t.First = since
			if began != nil {
				began()
			}
		}
		switch e.Type {
		case "token":
			if t.Token == 0 {
				t.Token = since
			}
		case "response":
			t.End = since
			if t.Token == 0 {
				t.Token = since
			}
			return t, nil
		case "error", "interrupt", "cancelled":
			return t, &Ended{e.Type, e.Message}
		}
	}
	return t, errors.Join(errors.New("the stream ended early"), lines.Err())
}

// submit posts a message, again while the answer is a 503.
func (u *User) submit(ctx context.Context, body Message) (*http.Response, error) {
	for until := time.Now().Add(maxUnavailable); ; {
		resp, err := u.post(ctx, "/api/chat", body)
		if !errors.As(err, new(*unavailableError)) || time.Now().After(until) {
			return resp, err
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), err)
		case <-time.After(retryInterval):
		}
	}
}

func (u *User) post(ctx context.Context, path string, body any) (*http.Response, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.url+path, bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := u.client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= 300 {
		defer resp.Body.Close()
		var problem bytes.Buffer
		_, _ = problem.ReadFrom(resp.Body) // for the error's text
		if resp.StatusCode == http.StatusServiceUnavailable {
			return nil, &unavailableError{problem.String()}
		}
		return nil, fmt.Errorf("%s: %s: %s", path, resp.Status, problem.String())
	}
	return resp, nil
}

// Post sends JSON to a path of the API; the caller closes the response's body.
func (u *User) Post(ctx context.Context, path string, body any) (*http.Response, error) {
	return u.post(ctx, path, body)
}

// Get reads a path of the API; the caller closes the response's body.
func (u *User) Get(ctx context.Context, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.url+path, nil)
	if err != nil {
		return nil, err
	}
	return u.client.Do(req)
}

// Delays reads a stream of the native dialect to its end and calls delay with the
// delay of each stamped token.
func Delays(stream io.Reader, delay func(time.Duration)) error {
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if !strings.Contains(lines.Text(), `"type":"token"`) {
			continue
		}
		now := time.Now()
		for _, sent := range llmtest.Stamps(lines.Text()) {
			delay(now.Sub(sent))
		}
	}
	return lines.Err()
}
