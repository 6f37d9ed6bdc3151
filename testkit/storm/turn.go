package storm

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// turn is one message and what its sender saw of its turn.
type turn struct {
	Mark   string
	Kind   string
	Thread string
	user   *user
	body   map[string]any

	token    chan struct{} // closed at the first token
	asked    chan struct{} // closed at the first question
	over     chan struct{} // closed at the end of run
	accepted chan struct{} // closed at the first answer to the message

	mu         sync.Mutex
	id         string // turn id; "" until it was accepted
	sent       time.Time
	question   event          // the one asked last
	answered   bool           // and it was answered, or must not be
	ignored    bool           // questions are not answered
	again      map[string]int // by tool call: how often its outcome was unknown and the user allowed a repetition
	unknown    int            // questions about such calls
	log        []event
	seen       map[string]bool // event ids
	lastN      int             // of a durable event
	lastSeen   string
	text       string // of the tokens since the last restart
	at         []time.Time
	end        event
	rejected   bool      // on_busy reject refused it
	stopped    time.Time // a stop was accepted
	cuts       int
	restarts   int
	unsaved    int  // notices that the database is unavailable
	reconnects int  // how often the viewer disconnects and reconnects
	abandoned  bool // its sender gave up
	cancel     bool // answer the question with cancel
	reject     bool // reject the tool call that needs approval
}

func (p *person) newTurn(kind string, more map[string]any) *turn {
	p.n++
	m := mark(p.index, p.n)
	body := map[string]any{
		"message": fmt.Sprintf("Question %s: what does the circular say of the ratio?", m), "thread_id": p.thread, "client_turn_id": m,
	}
	for k, v := range more {
		body[k] = v
	}
	t := &turn{Mark: m, Kind: kind, Thread: p.thread, user: p.user, body: body, sent: time.Now(), seen: map[string]bool{}, again: map[string]int{},
		token: make(chan struct{}), asked: make(chan struct{}), over: make(chan struct{}), accepted: make(chan struct{})}
	p.storm.model.script(m, 20+p.random.IntN(20), time.Duration(30+p.random.IntN(60))*time.Millisecond)
	p.turns = append(p.turns, t)
	return t
}

// run sends the message and follows its turn to the end. It answers the turn's
// question and reconnects when the connection breaks.
func (t *turn) run(ctx context.Context) error {
	defer closeOnce(t.over)
	for {
		resp, err := t.open(ctx)
		switch {
		case refused(err, http.StatusConflict, "turn_running") && t.body["on_busy"] == "reject":
			t.mu.Lock()
			t.rejected = true
			t.mu.Unlock()
			return nil
		case refused(err, http.StatusBadRequest, "no_pending_interrupt"):
			t.mu.Lock()
			t.answered = true // by an earlier attempt, or the turn has ended
			t.mu.Unlock()
			continue
		case err != nil:
			return fmt.Errorf("%s (%s): %w", t.Mark, t.Kind, err)
		}
		if err := t.accept(resp.Header.Get("X-Turn-Id")); err != nil {
			return err
		}
		left := t.disconnects()
		err = events(resp, func(e event) (bool, error) {
			if err := t.record(e); err != nil {
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
			return fmt.Errorf("%s (%s) did not end before the deadline: %w", t.Mark, t.Kind, ctx.Err())
		}
		t.mu.Lock()
		t.cuts++
		t.mu.Unlock()
		pause(ctx, retryInterval)
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
	case question.InterruptID != "" && !answered:
		resp, err := t.user.try(ctx, http.MethodPost, "/api/chat/resume",
			map[string]any{"thread_id": t.Thread, "interrupt_id": question.InterruptID, "resume_value": t.answer(question)}, "")
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

// answer is the person's answer to a question. A tool call with an unknown outcome
// is repeated.
func (t *turn) answer(question event) map[string]any {
	if t.cancel {
		return map[string]any{"type": "cancel", "value": nil}
	}
	if question.Interrupt != "tool_approval" {
		return map[string]any{"type": "action_choice", "value": "inquire"}
	}
	verdict := "approved"
	if t.reject {
		verdict = "rejected"
	}
	var decisions []any
	for _, c := range question.Calls {
		decisions = append(decisions, map[string]any{"id": c.ID, "decision": verdict})
	}
	return map[string]any{"type": "tool_approval", "value": nil, "decisions": decisions}
}

// accept records the turn's id, which must be the same in every response.
func (t *turn) accept(id string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if id == "" || t.id != "" && t.id != id {
		return fmt.Errorf("%s (%s) is turn %q and then %q", t.Mark, t.Kind, t.id, id)
	}
	if t.id == "" {
		t.id = id
		close(t.accepted)
	}
	return nil
}

// record records one event; an error if it is repeated or out of order.
func (t *turn) record(e event) error {
	if e.Type == "error" && e.Code == "not_found" && t.user.claimed() {
		return nil // the account has the thread now
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at = append(t.at, time.Now())
	if e.Code == "not_saved_yet" {
		t.unsaved++
		return nil
	}
	if t.seen[e.EventID] {
		return fmt.Errorf("%s (%s): event %s (%s) came twice", t.Mark, t.Kind, e.EventID, e.Type)
	}
	t.seen[e.EventID], t.lastSeen = true, e.EventID
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
		t.question, t.answered = e, t.ignored
		if strings.HasPrefix(e.Message, unknownOutcome) {
			t.unknown++
			for _, c := range e.Calls {
				t.again[c.ID]++
			}
		}
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

// disconnects reports whether the viewer disconnects in this stream.
func (t *turn) disconnects() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reconnects--
	return t.reconnects >= 0
}

// writing waits until the turn writes its answer or ends.
func (t *turn) writing(ctx context.Context) {
	select {
	case <-t.token:
	case <-t.over:
	case <-ctx.Done():
	}
}

// stop cancels the turn by its client turn id.
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

// unknownOutcome begins the question about a tool call whose worker died.
const unknownOutcome = "I was interrupted while"

// closeOnce closes a channel that only one goroutine at a time closes.
func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}
