package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/documents/chunk"
	"github.com/palaver-chat/palaver/testkit/stack"
)

// client posts JSON to a peer and reads server-sent events.
type client struct {
	url  string
	http http.Client
}

func (c *client) at(url string) {
	c.url = url
	c.http.Transport = &http.Transport{MaxIdleConnsPerHost: 100}
}

func (c *client) post(ctx context.Context, path string, body any) (*http.Response, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+path, bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		defer func() { _ = resp.Body.Close() }()
		var problem bytes.Buffer
		_, _ = problem.ReadFrom(resp.Body) // for the error's text
		return nil, fmt.Errorf("%s: %s: %s", path, resp.Status, problem.String())
	}
	return resp, nil
}

// Upload stores a document as the passages that Palaver would split it into.
func (c *client) Upload(ctx context.Context, title, text string) (string, error) {
	type passage struct {
		Ordinal int    `json:"ordinal"`
		Start   int    `json:"start"`
		End     int    `json:"end"`
		Heading string `json:"heading"`
		Text    string `json:"text"`
	}
	var passages []passage
	for _, p := range chunk.Split(text) {
		passages = append(passages, passage{p.Ordinal, p.Start, p.End, p.Heading, p.Text})
	}
	resp, err := c.post(ctx, "/documents", map[string]any{"title": title, "chunks": passages})
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	var reply struct{ ID string }
	return reply.ID, json.NewDecoder(resp.Body).Decode(&reply)
}

// kind is the meaning of an event, in any wire format.
type kind int

const (
	other kind = iota
	status
	token
	asked
	ended
	failed
)

// read times the events of a stream up to its end. kindOf classifies an event by
// its name, which may be empty, and its data.
func read(resp *http.Response, sent time.Time, kindOf func(name string, data []byte) (kind, error), began func()) (t stack.Timing, last kind, err error) {
	defer func() { _ = resp.Body.Close() }()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	name := ""
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			name = value
			continue
		}
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		last, err = kindOf(name, []byte(data))
		since := time.Since(sent)
		if t.First == 0 {
			t.First = since
			if began != nil {
				began()
			}
		}
		switch {
		case err != nil:
			return t, last, err
		case last == token && t.Token == 0:
			t.Token = since
		case last == failed:
			return t, last, fmt.Errorf("the turn failed: %s", data)
		case last == ended, last == asked:
			t.End = since
			return t, last, nil
		}
	}
	return t, last, errors.Join(errors.New("the stream ended early"), lines.Err())
}

// answered is the outcome of a turn that should end with an answer.
func answered(t stack.Timing, last kind, err error) (stack.Timing, error) {
	if err == nil && (last != ended || t.Token == 0) {
		err = errors.New("the turn ended without an answer")
	}
	return t, err
}

func typed(data []byte) (string, error) {
	var e struct{ Type string }
	return e.Type, json.Unmarshal(data, &e)
}

// langGraphCaller reads LangGraph's stream: events named by stream mode.
type langGraphCaller struct{ client }

func langGraphKind(name string, data []byte) (kind, error) {
	switch name {
	case "messages":
		return token, nil
	case "custom":
		e, err := typed(data)
		if e == "token" {
			return token, err
		}
		return status, err
	case "interrupt":
		return asked, nil
	case "end":
		return ended, nil
	case "error":
		return failed, nil
	}
	return other, nil
}

func (c *langGraphCaller) Turn(ctx context.Context, thread string, m stack.Message, began func()) (stack.Timing, error) {
	body := maps.Clone(m)
	body["thread_id"] = thread
	sent := time.Now()
	resp, err := c.post(ctx, "/runs/stream", body)
	if err != nil {
		return stack.Timing{}, err
	}
	return answered(read(resp, sent, langGraphKind, began))
}

func (c *langGraphCaller) Asks(ctx context.Context, thread, document string) error {
	return asks(func(body map[string]any) (*http.Response, error) {
		body["thread_id"] = thread
		return c.post(ctx, "/runs/stream", body)
	}, langGraphKind, map[string]any{"resume": document})
}

// dbosCaller calls the DBOS peer, whose events have the types of Palaver's.
type dbosCaller struct{ client }

func (c *dbosCaller) Turn(ctx context.Context, thread string, m stack.Message, began func()) (stack.Timing, error) {
	body := maps.Clone(m)
	body["thread_id"], body["client_turn_id"] = thread, uuid.NewString()
	sent := time.Now()
	resp, err := c.post(ctx, "/turns", body)
	if err != nil {
		return stack.Timing{}, err
	}
	return answered(read(resp, sent, palaverKind, began))
}

func (c *dbosCaller) Asks(ctx context.Context, thread, document string) error {
	turn := uuid.NewString()
	path := "/turns"
	return asks(func(body map[string]any) (*http.Response, error) {
		body["thread_id"], body["client_turn_id"] = thread, turn
		resp, err := c.post(ctx, path, body)
		path = "/turns/" + turn + "/resume"
		return resp, err
	}, palaverKind, map[string]any{"resume": document})
}

// asks sends a message that names no document, then the answer to the question.
func asks(send func(map[string]any) (*http.Response, error), kindOf func(string, []byte) (kind, error), answer map[string]any) error {
	for _, step := range []struct {
		body map[string]any
		want kind
	}{{map[string]any{"message": "Summarize it.", "action": "summarize"}, asked}, {answer, ended}} {
		resp, err := send(step.body)
		if err != nil {
			return err
		}
		_, last, err := read(resp, time.Now(), kindOf, nil)
		if err != nil {
			return err
		}
		if last != step.want {
			return fmt.Errorf("unexpected event %d in a turn that must ask; want %d", last, step.want)
		}
	}
	return nil
}
