package storm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

// person is a simulated user who talks on one thread, one way after another.
type person struct {
	*user
	storm  *storm
	index  int
	thread string
	random *rand.Rand
	n      int // turns so far
	turns  []*turn
	agent  string // of the thread
}

func newPerson(s *storm, u *user, index int) *person {
	return &person{user: u, storm: s, index: index, thread: uuid.NewString(), agent: []string{"documents", "assistant"}[index%2],
		random: rand.New(rand.NewPCG(s.options.Seed, uint64(index)))}
}

// way is one kind of exchange.
type way struct {
	name string
	talk func(p *person, ctx context.Context) error
}

var ways = []way{
	{"plain", (*person).plain},
	{"with more calls", (*person).longer},
	{"asked", (*person).asked},
	{"asked, and refused", (*person).refused},
	{"stopped", (*person).stopped},
	{"superseded", (*person).superseded},
	{"rolled back", (*person).rolledBack},
	{"enqueued", (*person).enqueued},
	{"stopped in the queue", (*person).stoppedInQueue},
	{"rejected", (*person).rejected},
	{"sent thrice", (*person).sentThrice},
	{"stopped before it came", (*person).stoppedEarly},
	{"re-attached", (*person).reattached},
	{"watched by three", (*person).watched},
	{"question cancelled", (*person).questionCancelled},
	{"question superseded", (*person).questionSuperseded},
	{"rested", (*person).rested},
	{"gave up", (*person).gaveUp},
}

// talk repeats all ways in random order until enough is closed.
func (p *person) talk(ctx context.Context, enough <-chan struct{}) error {
	for {
		for _, i := range p.random.Perm(len(ways)) {
			select {
			case <-enough:
				return nil
			default:
			}
			p.waitForClaim(ctx)
			if err := ways[i].talk(p, ctx); err != nil {
				return fmt.Errorf("thread %d, %s: %w", p.index, ways[i].name, err)
			}
		}
	}
}

// message has a request's fields beside its text. It names the action, so that the
// documents agent makes only one model call, like the assistant.
func (p *person) message(more map[string]any) map[string]any {
	all := map[string]any{"agent": p.agent}
	if p.agent == "documents" {
		all["tagged_doc_ids"], all["action"] = []string{p.doc}, "inquire"
	}
	for k, v := range more {
		all[k] = v
	}
	return all
}

func (p *person) plain(ctx context.Context) error {
	return p.newTurn("plain", p.message(nil)).run(ctx)
}

// longer is a turn with several model calls: the action is inferred, or a tool with
// a side effect is called.
func (p *person) longer(ctx context.Context) error {
	if p.agent == "documents" {
		return p.newTurn("action inferred", p.message(map[string]any{"action": nil})).run(ctx)
	}
	t := p.newTurn("tool called", p.message(nil))
	p.storm.model.note(t.Mark, "desk__note")
	return t.run(ctx)
}

// last is a final turn, which each thread must complete.
func (p *person) last(ctx context.Context) error { return p.newTurn("last", p.message(nil)).run(ctx) }

// question is a turn that asks which action is meant, or whether it may call a tool.
func (p *person) question(kind string) *turn {
	if p.agent == "documents" {
		t := p.newTurn(kind, p.message(map[string]any{"action": nil}))
		p.storm.model.unsure(t.Mark)
		return t
	}
	t := p.newTurn(kind, p.message(nil))
	p.storm.model.note(t.Mark, "vault__note")
	return t
}

func (p *person) asked(ctx context.Context) error { return p.question("asked").run(ctx) }

// refused rejects a tool call; it answers the documents agent's question, which has
// nothing to reject.
func (p *person) refused(ctx context.Context) error {
	t := p.question("asked, and refused")
	t.reject = true
	return t.run(ctx)
}

func (p *person) questionCancelled(ctx context.Context) error {
	t := p.question("question cancelled")
	t.cancel = true
	return t.run(ctx)
}

func (p *person) stopped(ctx context.Context) error {
	t := p.newTurn("stopped", p.message(nil))
	return together(
		func() error { return t.run(ctx) },
		func() error {
			t.writing(ctx)
			return t.stop(ctx)
		})
}

func (p *person) stoppedEarly(ctx context.Context) error {
	t := p.newTurn("stopped before it came", p.message(nil))
	if err := t.stop(ctx); err != nil {
		return err
	}
	return t.run(ctx)
}

// over sends one message and another while the first is being answered.
func (p *person) over(ctx context.Context, kind, onBusy string, then func(first, second *turn) error) error {
	first := p.newTurn(kind+", the first", p.message(nil))
	second := p.newTurn(kind, p.message(map[string]any{"on_busy": onBusy}))
	return together(
		func() error { return first.run(ctx) },
		func() error {
			first.writing(ctx)
			return second.run(ctx)
		},
		func() error { return then(first, second) })
}

func nothing(_, _ *turn) error { return nil }

func (p *person) superseded(ctx context.Context) error {
	return p.over(ctx, "superseding", "supersede", nothing)
}

func (p *person) rolledBack(ctx context.Context) error {
	return p.over(ctx, "rolling back", "rollback", nothing)
}

func (p *person) enqueued(ctx context.Context) error {
	return p.over(ctx, "enqueued", "enqueue", nothing)
}

func (p *person) rejected(ctx context.Context) error {
	return p.over(ctx, "rejected", "reject", nothing)
}

func (p *person) stoppedInQueue(ctx context.Context) error {
	return p.over(ctx, "stopped in the queue", "enqueue", func(first, second *turn) error {
		select {
		case <-second.accepted:
		case <-second.over:
		case <-ctx.Done():
		}
		return second.stop(ctx)
	})
}

func (p *person) questionSuperseded(ctx context.Context) error {
	first := p.question("question superseded")
	first.ignored = true // the second message supersedes it
	second := p.newTurn("superseding a question", p.message(nil))
	return together(
		func() error { return first.run(ctx) },
		func() error {
			select {
			case <-first.asked:
			case <-first.over:
			case <-ctx.Done():
			}
			return second.run(ctx)
		})
}

// sentThrice sends one message three times concurrently: all must see one turn.
func (p *person) sentThrice(ctx context.Context) error {
	t := p.newTurn("sent thrice", p.message(nil))
	return t.sameForAll(ctx, []*turn{t.viewer(), t.viewer()}, false)
}

// watched attaches two more viewers while the answer is written.
func (p *person) watched(ctx context.Context) error {
	t := p.newTurn("watched by three", p.message(nil))
	return t.sameForAll(ctx, []*turn{t.viewer(), t.viewer()}, true)
}

// sameForAll runs a turn with several viewers, who must see the same.
func (t *turn) sameForAll(ctx context.Context, viewers []*turn, late bool) error {
	all := []func() error{func() error { return t.run(ctx) }}
	for _, viewer := range viewers {
		all = append(all, func() error {
			if late {
				t.writing(ctx)
				t.mu.Lock()
				viewer.id = t.id
				t.mu.Unlock()
				if viewer.id == "" {
					return nil // the turn was not accepted; t returns the error
				}
			}
			return viewer.run(ctx)
		})
	}
	if err := together(all...); err != nil {
		return err
	}
	for _, viewer := range viewers {
		if viewer.id != t.id || !reflect.DeepEqual(viewer.end, t.end) {
			return fmt.Errorf("%s: two viewers saw different ends: %+v and %+v", t.Mark, t.end, viewer.end)
		}
		if !slices.Equal(ids(viewer.log), ids(t.log)) {
			return fmt.Errorf("%s: two viewers saw different events: %v and %v", t.Mark, ids(t.log), ids(viewer.log))
		}
	}
	return nil
}

func ids(log []event) (all []string) {
	for _, e := range log {
		all = append(all, fmt.Sprintf("%d %s", e.number(), e.Type))
	}
	return all
}

// viewer is another client that sends or follows the same message.
func (t *turn) viewer() *turn {
	return &turn{Mark: t.Mark, Kind: t.Kind, Thread: t.Thread, user: t.user, body: t.body, seen: map[string]bool{}, again: map[string]int{},
		token: make(chan struct{}), asked: make(chan struct{}), over: make(chan struct{}), accepted: make(chan struct{})}
}

// reattached disconnects during the answer and reconnects at another process.
func (p *person) reattached(ctx context.Context) error {
	t := p.newTurn("re-attached", p.message(nil))
	t.reconnects = 3
	return t.run(ctx)
}

// rested waits until the idle thread's workflow completes.
func (p *person) rested(ctx context.Context) error {
	pause(ctx, idleTimeout+time.Second)
	return p.newTurn("after a rest", p.message(nil)).run(ctx)
}

// gaveUp sends a message once and disconnects without waiting for the response, so
// the message may have been accepted or not.
func (p *person) gaveUp(ctx context.Context) error {
	t := p.newTurn("gave up", p.message(map[string]any{"on_busy": "enqueue"}))
	t.abandoned = true
	brief, cancel := context.WithTimeout(ctx, time.Duration(p.random.IntN(60))*time.Millisecond)
	defer cancel()
	resp, err := p.once(brief, http.MethodPost, "/api/chat", t.body, "")
	if resp != nil {
		_ = resp.Body.Close()
	}
	if errors.As(err, new(*refusal)) {
		return err
	}
	return nil
}

// find looks in the history for a message whose sender gave up, and reads its turn's
// end.
func (t *turn) find(ctx context.Context, said []message) error {
	for _, m := range said {
		if m.Role != "user" || !strings.Contains(m.Content, t.Mark) {
			continue
		}
		t.id, t.question = m.TurnID, event{}
		return t.run(ctx)
	}
	return nil
}

// rest waits until the thread has no open turn: an abandoned message may be accepted
// late.
func (p *person) rest(ctx context.Context, timeout time.Duration) error {
	for until := time.Now().Add(timeout); time.Now().Before(until); pause(ctx, retryInterval) {
		if _, active, err := p.messages(ctx); err != nil || active == "" {
			return err
		}
	}
	return nil // check reports it
}

// messages is the thread's complete history; active is the open turn's id.
func (p *person) messages(ctx context.Context) (all []message, active string, _ error) {
	for before := ""; ; {
		var page struct {
			Messages []message
			More     bool
			Active   *struct {
				TurnID string `json:"turn_id"`
			} `json:"active_turn"`
		}
		path := "/api/chat/history/" + p.thread + "?limit=200"
		if before != "" {
			path += "&before=" + before
		}
		if err := p.read(ctx, http.MethodGet, path, nil, &page); err != nil {
			return nil, "", err
		}
		if page.Active != nil {
			active = page.Active.TurnID
		}
		all = append(page.Messages, all...)
		if !page.More || len(page.Messages) == 0 {
			return all, active, nil
		}
		before = page.Messages[0].ID
	}
}

type message struct {
	ID, Role, Content string
	TurnID            string         `json:"turn_id"`
	Metadata          map[string]any `json:"metadata"`
}

// together runs all concurrently.
func together(all ...func() error) error {
	failures := make([]error, len(all))
	var wg sync.WaitGroup
	for i, f := range all {
		wg.Go(func() { failures[i] = f() })
	}
	wg.Wait()
	return errors.Join(failures...)
}
