package fullstack

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/llmtest"
)

// person is a client behind a load balancer: after a disconnect it reconnects to
// another process with the last event id that it has seen.
type person struct {
	client *http.Client
	urls   []string
	next   int // index of the next process
	thread string
	doc    string

	turns []seenTurn
}

// seenTurn is one turn as its viewer saw it.
type seenTurn struct {
	turnID   string
	end      event
	text     string          // joined tokens
	events   map[string]bool // ids seen
	cuts     int             // number of disconnects
	restarts int
}

// ask sends a message and follows its turn to the end.
func (p *person) ask(ctx context.Context, message string) error {
	t := seenTurn{events: map[string]bool{}}
	body := object{"message": message, "thread_id": p.thread, "tagged_doc_ids": []string{p.doc}, "action": "inquire", "client_turn_id": uuid.NewString()}
	lastSeen := ""
	for t.end.Type == "" {
		resp, err := p.open(ctx, body, t.turnID, lastSeen)
		if ctx.Err() != nil {
			return fmt.Errorf("the turn of %q did not end in time: %w", message, ctx.Err())
		}
		if err != nil {
			continue // the next process
		}
		if resp.StatusCode != http.StatusOK {
			resp.Body.Close()
			if resp.StatusCode != http.StatusServiceUnavailable { // shutting down
				return fmt.Errorf("%q: %s", message, resp.Status)
			}
			continue
		}
		t.turnID = resp.Header.Get("X-Turn-Id")
		lastSeen, err = t.read(resp, lastSeen)
		resp.Body.Close()
		if err != nil {
			return err
		}
		if t.end.Type == "" {
			t.cuts++
		}
	}
	p.turns = append(p.turns, t)
	return nil
}

// open sends the message, or attaches to its turn.
func (p *person) open(ctx context.Context, body object, turnID, lastSeen string) (*http.Response, error) {
	url := p.urls[p.next%len(p.urls)]
	p.next++
	b, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/api/chat", bytes.NewReader(b))
	if turnID != "" {
		req, err = http.NewRequestWithContext(ctx, http.MethodGet, url+"/api/chat/stream/"+p.thread+"?turn_id="+turnID, nil)
	}
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if lastSeen != "" {
		req.Header.Set("Last-Event-ID", lastSeen)
	}
	return p.client.Do(req)
}

// read reads events until the turn or the connection ends.
func (t *seenTurn) read(resp *http.Response, lastSeen string) (string, error) {
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, is := strings.CutPrefix(lines.Text(), "data: ")
		if !is {
			continue
		}
		var e event
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return lastSeen, nil // disconnected in mid-event
		}
		if t.events[e.EventID] {
			return "", fmt.Errorf("event %s came twice", e.EventID)
		}
		t.events[e.EventID], lastSeen = true, e.EventID
		switch {
		case e.Type == "token":
			t.text += e.Content
		case e.Type == "notice" && e.Code == chat.NoticeRestarted:
			t.text = ""
			t.restarts++
		case terminal(e):
			t.end = e
			return lastSeen, nil
		}
	}
	return lastSeen, nil
}

// The test restarts each process, one after another, while eight users ask one
// question after another.
func TestRollingRestartUnderLoadLosesAndDuplicatesNoTurn(t *testing.T) {
	rollingRestart(t)
}

func rollingRestart(t *testing.T, options ...stacktest.Option) {
	const people = 8
	s, model := apart(t, options)
	var words []string
	for i := range 40 {
		words = append(words, fmt.Sprintf("word%d ", i))
	}
	model.On(answerCall, llmtest.Answer{Chunks: append(words, "at least 100 percent [1]."), Each: 25 * time.Millisecond})
	workers := []*stacktest.Role{s.Worker(), s.Worker()}
	apis := []*stacktest.Role{s.API(), s.API()}
	crowd := make([]*person, people)
	for i := range crowd {
		c := newTalk(t, func() string { return apis[0].URL }, s.NewUser())
		crowd[i] = &person{client: c.client, urls: []string{apis[0].URL, apis[1].URL}, next: i, thread: c.thread, doc: c.upload("Liquidity circular", circular)}
	}

	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	restarted := make(chan struct{})
	failures := make([]error, people)
	var wg sync.WaitGroup
	for i, p := range crowd {
		wg.Go(func() {
			for n := 1; ; n++ {
				select {
				case <-restarted:
					return
				default:
				}
				if err := p.ask(ctx, fmt.Sprintf("Question %d: what is the ratio?", n)); err != nil {
					failures[i] = err
					return
				}
			}
		})
	}
	for _, r := range append(workers, apis...) {
		// Every process has running answers when it stops.
		require.NoError(t, model.WaitCount(ctx, answerCall, model.Count(answerCall)+people))
		require.Zero(t, r.Stop())
		r.Start()
	}
	close(restarted)
	wg.Wait()
	require.NoError(t, errors.Join(failures...))

	total, cuts, restarts := 0, 0, 0
	for _, p := range crowd {
		c := &talk{t: t, url: func() string { return apis[1].URL }, client: p.client, thread: p.thread}
		var said []string
		for _, m := range c.history().Messages {
			if m.Role == "assistant" {
				said = append(said, m.TurnID)
			}
		}
		var asked []string
		for _, turn := range p.turns {
			require.Equal(t, "response", turn.end.Type, "%+v", turn.end)
			require.Equal(t, turn.end.Response, turn.text, "the streamed text must equal the answer")
			asked = append(asked, turn.turnID)
			cuts, restarts = cuts+turn.cuts, restarts+turn.restarts
		}
		require.Equal(t, asked, said, "every question has one turn, in order")
		require.Len(t, c.history().Messages, 2*len(asked))
		total += len(asked)
	}
	t.Logf("%d turns, %d disconnects, %d restarted answers", total, cuts, restarts)
	require.NotZero(t, cuts, "stopping an API process cuts its streams")
	require.NotZero(t, restarts, "stopping a worker restarts its answers")
}
