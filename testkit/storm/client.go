package storm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"strconv"
	"strings"
	"sync"
	"time"
)

// event has the fields of a native dialect's event that a storm checks.
type event struct {
	Type        string `json:"type"`
	EventID     string `json:"event_id"`
	Content     string `json:"content"`
	Code        string `json:"code"`
	Response    string `json:"response"`
	Reason      string `json:"reason"`
	Partial     string `json:"partial"`
	InterruptID string `json:"interrupt_id"`
	Interrupt   string `json:"interrupt_type"`
	Message     string `json:"message"`
	TurnID      string `json:"turn_id"`
	Name        string `json:"name"` // of a tool
	IsError     bool   `json:"is_error"`
	Calls       []struct {
		ID string `json:"id"`
	} `json:"tool_calls"`
}

func (e event) terminal() bool {
	return e.Type == "response" || e.Type == "cancelled" || e.Type == "error"
}

// passing reports whether a notice is about the current state only: it is not in
// the turn's log and has no number.
func (e event) passing() bool {
	return e.Type == "notice" && (e.Code == "restarted" || e.Code == "not_saved_yet")
}

// durable reports whether the event is in the turn's log.
func (e event) durable() bool { return e.Type != "token" && !e.passing() }

// number is the event's place in its turn's log; 0 when its id has none.
func (e event) number() int {
	_, rest, _ := strings.Cut(e.EventID, ".")
	first, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(first)
	if err != nil {
		return 0
	}
	return n
}

// refusal is an HTTP error other than 503.
type refusal struct {
	status int
	code   string
	body   string
}

func (r *refusal) Error() string { return fmt.Sprintf("status %d: %s", r.status, r.body) }

func refused(err error, status int, code string) bool {
	var r *refusal
	return errors.As(err, &r) && r.status == status && (code == "" || r.code == code)
}

// user is one caller; its cookie or token is valid at every API process.
type user struct {
	fleet  *fleet
	client *http.Client
	doc    string // id of their document

	mu          sync.Mutex
	next        int    // API process of the next request
	unavailable int    // responses with 503
	known       bool   // it has its cookie
	token       string // of its account; "" before it has signed in
	claims      int    // how often a claim began or ended: odd while one is made
}

func newUser(f *fleet) (*user, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 50
	transport.ResponseHeaderTimeout = silenceTimeout
	u := &user{fleet: f, client: &http.Client{Jar: jar, Transport: transport}}
	f.users = append(f.users, u)
	return u, nil
}

// once sends one request to one API process. It returns a nil response without an
// error if the request should be retried.
func (u *user) once(ctx context.Context, method, path string, body any, lastSeen string) (*http.Response, error) {
	u.mu.Lock()
	token, claims := u.token, u.claims
	u.mu.Unlock()
	resp, err := u.onceAs(ctx, token, method, path, body, lastSeen)
	u.mu.Lock()
	moved := u.claims != claims || claims%2 == 1
	u.mu.Unlock()
	if moved && (refused(err, http.StatusNotFound, "") || refused(err, http.StatusForbidden, "")) {
		return nil, nil // the account has it, or gets it
	}
	return resp, err
}

// onceAs is once with the token of an account, or without one.
func (u *user) onceAs(ctx context.Context, token, method, path string, body any, lastSeen string) (*http.Response, error) {
	u.mu.Lock()
	n, known := u.next, u.known
	u.next++
	u.mu.Unlock()
	base := u.fleet.api(n)
	if base == "" {
		return nil, nil
	}
	b, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, base+path, bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if lastSeen != "" {
		req.Header.Set("Last-Event-ID", lastSeen)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := u.client.Do(req)
	if err != nil {
		return nil, ctx.Err() // the process has died or is dying
	}
	if known && token == "" && len(resp.Cookies()) > 0 { // a response to somebody else: the cookie was revoked
		_ = resp.Body.Close()
		return nil, nil
	}
	if resp.StatusCode < 300 {
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }()
	var problem struct {
		Error struct{ Code, Message string }
	}
	var text bytes.Buffer
	if _, err := text.ReadFrom(resp.Body); err != nil {
		return nil, ctx.Err()
	}
	_ = json.Unmarshal(text.Bytes(), &problem)
	if resp.StatusCode == http.StatusServiceUnavailable {
		u.mu.Lock()
		u.unavailable++
		u.mu.Unlock()
		return nil, nil
	}
	return nil, &refusal{resp.StatusCode, problem.Error.Code, strings.TrimSpace(text.String())}
}

// try retries once until there is a response.
func (u *user) try(ctx context.Context, method, path string, body any, lastSeen string) (*http.Response, error) {
	for {
		resp, err := u.once(ctx, method, path, body, lastSeen)
		if resp != nil || err != nil {
			return resp, err
		}
		if pause(ctx, retryInterval); ctx.Err() != nil {
			return nil, fmt.Errorf("%s %s got no answer: %w", method, path, ctx.Err())
		}
	}
}

const retryInterval = 150 * time.Millisecond

// silenceTimeout is how long a client waits for data before it tries another process:
// every stream has a comment line at least every 15 s.
const silenceTimeout = 16 * time.Second

// read gets JSON and retries when the connection breaks.
func (u *user) read(ctx context.Context, method, path string, body, out any) error {
	for {
		resp, err := u.try(ctx, method, path, body, "")
		if err != nil {
			return err
		}
		err = json.NewDecoder(resp.Body).Decode(out)
		_ = resp.Body.Close()
		if err == nil {
			return nil
		}
		if pause(ctx, retryInterval); ctx.Err() != nil {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
	}
}

// upload stores a document and waits until it is ready.
func (u *user) upload(ctx context.Context) error {
	var doc struct{ ID, Status, Error string }
	if err := u.read(ctx, http.MethodPost, "/api/documents", map[string]any{"title": "Circular on liquidity", "text": circular}, &doc); err != nil {
		return err
	}
	for doc.Status == "processing" && ctx.Err() == nil {
		pause(ctx, 50*time.Millisecond)
		if err := u.read(ctx, http.MethodGet, "/api/documents/"+doc.ID, nil, &doc); err != nil {
			return err
		}
	}
	if doc.Status != "ready" {
		return fmt.Errorf("the document is %s: %s", doc.Status, doc.Error)
	}
	u.doc, u.known = doc.ID, true
	return nil
}

const circular = `# Circular on liquidity

## 1. Liquidity coverage

A bank must hold a liquidity coverage ratio of at least 100 percent at the end of every business day. The ratio is reported monthly.

## 2. Stress tests

A bank must run a stress test of its funding at least once a quarter and report the result to its board.
`

// events reads a stream until show returns enough, the stream ends, or no data comes
// for silenceTimeout.
func events(resp *http.Response, show func(event) (enough bool, _ error)) error {
	return eventsWithin(resp, silenceTimeout, show)
}

func eventsWithin(resp *http.Response, timeout time.Duration, show func(event) (enough bool, _ error)) error {
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	silent := time.AfterFunc(timeout, func() { _ = resp.Body.Close() })
	defer silent.Stop()
	for lines.Scan() {
		silent.Reset(timeout)
		data, is := strings.CutPrefix(lines.Text(), "data: ")
		if !is {
			continue
		}
		var e event
		if json.Unmarshal([]byte(data), &e) != nil {
			return nil // the connection broke within an event
		}
		if enough, err := show(e); enough || err != nil {
			return err
		}
	}
	return nil
}
