package storm

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// turn is one message and what its sender saw come of it.
type turn struct {
	Mark   string
	Kind   string
	Thread string
	user   *user
	body   map[string]any

	token    chan struct{} // closed at the first token
	asked    chan struct{} // closed at the first question
	over     chan struct{} // closed at the end of tell
	accepted chan struct{} // closed at the first answer to the message

	mu       sync.Mutex
	id       string // turn id; "" until it was accepted
	took     time.Time
	question string // interrupt id
	answered bool   // the question
	log      []event
	seen     map[string]bool // event ids
	lastN    int             // of a durable event
	lastSeen string
	text     string // of the tokens since the last restart
	at       []time.Time
	end      event
	refusedX bool      // on_busy reject was honoured
	stopped  time.Time // a stop was accepted
	cuts     int
	restarts int
	leave    int  // how often the viewer is to go and come back
	cancel   bool // answer the question with cancel
}

func (p *person) newTurn(kind string, more map[string]any) *turn {
	p.n++
	m := mark(p.index, p.n)
	body := map[string]any{
		"message": fmt.Sprintf("Question %s: what does the circular say of the ratio?", m), "thread_id": p.thread,
		"tagged_doc_ids": []string{p.doc}, "client_turn_id": m,
	}
	for k, v := range more {
		body[k] = v
	}
	t := &turn{Mark: m, Kind: kind, Thread: p.thread, user: p.user, body: body, seen: map[string]bool{},
		token: make(chan struct{}), asked: make(chan struct{}), over: make(chan struct{}), accepted: make(chan struct{})}
	p.storm.model.script(m, 20+p.random.IntN(20), time.Duration(30+p.random.IntN(60))*time.Millisecond)
	p.turns = append(p.turns, t)
	return t
}

// tell sends the message and stays with its turn to the end, answering its
// question, across whatever happens to the connection.
func (t *turn) tell(ctx context.Context) error {
	defer closeOnce(t.over)
	for {
		resp, err := t.open(ctx)
		switch {
		case refused(err, http.StatusConflict, "turn_running") && t.body["on_busy"] == "reject":
			t.mu.Lock()
			t.refusedX = true
			t.mu.Unlock()
			return nil
		case refused(err, http.StatusBadRequest, "no_pending_interrupt"):
			t.mu.Lock()
			t.answered = true // by an earlier try, or the turn is over
			t.mu.Unlock()
			continue
		case err != nil:
			return fmt.Errorf("%s (%s): %w", t.Mark, t.Kind, err)
		}
		if err := t.accept(resp.Header.Get("X-Turn-Id")); err != nil {
			return err
		}
		left := t.leaves()
		err = events(resp, func(e event) (bool, error) {
			if err := t.take(e); err != nil {
				return true, err
			}
			return e.terminal() || e.Type == "interrupt" || left && e.Type == "token", nil
		})
		_ = resp.Body.Close()
		if err != nil {
			return err
		}
		if t.ended() {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s (%s) was not told in time: %w", t.Mark, t.Kind, ctx.Err())
		}
		t.mu.Lock()
		t.cuts++
		t.mu.Unlock()
		pause(ctx, tryPause)
	}
}

// open sends the message, answers the question or attaches to the turn.
func (t *turn) open(ctx context.Context) (*http.Response, error) {
	t.mu.Lock()
	id, question, answered, lastSeen := t.id, t.question, t.answered, t.lastSeen
	t.mu.Unlock()
	switch {
	case id == "":
		return t.user.try(ctx, http.MethodPost, "/api/chat", t.body, "")
	case question != "" && !answered:
		value := map[string]any{"type": "action_choice", "value": "inquire"}
		if t.cancel {
			value = map[string]any{"type": "cancel", "value": nil}
		}
		resp, err := t.user.try(ctx, http.MethodPost, "/api/chat/resume",
			map[string]any{"thread_id": t.Thread, "interrupt_id": question, "resume_value": value}, "")
		if err == nil {
			t.mu.Lock()
			t.answered = true
			if t.cancel && t.stopped.IsZero() {
				t.stopped = time.Now()
			}
			t.mu.Unlock()
		}
		return resp, err
	}
	return t.user.try(ctx, http.MethodGet, "/api/chat/stream/"+t.Thread+"?turn_id="+id, nil, lastSeen)
}

// accept notes the turn that the message has become: always the same.
func (t *turn) accept(id string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if id == "" || t.id != "" && t.id != id {
		return fmt.Errorf("%s (%s) is turn %q and then %q", t.Mark, t.Kind, t.id, id)
	}
	if t.id == "" {
		t.id, t.took = id, time.Now()
		close(t.accepted)
	}
	return nil
}

// take notes one event, and finds one that comes twice or out of order.
func (t *turn) take(e event) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen[e.EventID] {
		return fmt.Errorf("%s (%s): event %s (%s) came twice", t.Mark, t.Kind, e.EventID, e.Type)
	}
	t.seen[e.EventID], t.lastSeen = true, e.EventID
	t.at = append(t.at, time.Now())
	if e.durable() {
		n := e.number()
		if n <= t.lastN {
			return fmt.Errorf("%s (%s): event %s (%s) came after number %d", t.Mark, t.Kind, e.EventID, e.Type, t.lastN)
		}
		t.lastN = n
		t.log = append(t.log, e)
	}
	switch {
	case e.Type == "token":
		t.text += e.Content
		closeOnce(t.token)
	case e.Type == "notice" && e.Code == "restarted":
		t.text = ""
		t.restarts++
	case e.Type == "interrupt":
		t.question = e.InterruptID
		closeOnce(t.asked)
	case e.terminal():
		t.end = e
	}
	return nil
}

func (t *turn) ended() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.end.Type != ""
}

// leaves reports whether the viewer goes away in mid-stream this time.
func (t *turn) leaves() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.leave--
	return t.leave >= 0
}

// writing waits until the turn writes its answer, or is over.
func (t *turn) writing(ctx context.Context) {
	select {
	case <-t.token:
	case <-t.over:
	case <-ctx.Done():
	}
}

// stop cancels the turn by the id that its sender made.
func (t *turn) stop(ctx context.Context) error {
	var answer struct{ Status string }
	err := t.user.read(ctx, http.MethodPost, "/api/chat/cancel", map[string]any{"thread_id": t.Thread, "client_turn_id": t.Mark}, &answer)
	if err != nil {
		return fmt.Errorf("stop %s (%s): %w", t.Mark, t.Kind, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = time.Now()
	return nil
}

// closeOnce closes a channel that only one goroutine at a time closes.
func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}
