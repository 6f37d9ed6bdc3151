package storm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
)

// person talks on one thread, one way after another, until told to stop.
type person struct {
	*user
	storm  *storm
	index  int
	thread string
	random *rand.Rand
	n      int // turns so far
	turns  []*turn
}

func newPerson(s *storm, u *user, index int) *person {
	return &person{user: u, storm: s, index: index, thread: uuid.NewString(), random: rand.New(rand.NewPCG(s.options.Seed, uint64(index)))}
}

// way is one way of talking.
type way struct {
	name string
	talk func(p *person, ctx context.Context) error
}

var ways = []way{
	{"plain", (*person).plain},
	{"asked", (*person).asked},
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
}

// talk goes through the ways in an order of its own, again and again.
func (p *person) talk(ctx context.Context, enough <-chan struct{}) error {
	for {
		for _, i := range p.random.Perm(len(ways)) {
			select {
			case <-enough:
				return nil
			default:
			}
			if err := ways[i].talk(p, ctx); err != nil {
				return fmt.Errorf("thread %d, %s: %w", p.index, ways[i].name, err)
			}
		}
	}
}

// inquiry has the message's action given, so that no model is asked for it.
var inquiry = map[string]any{"action": "inquire"}

func with(maps ...map[string]any) map[string]any {
	all := map[string]any{}
	for _, m := range maps {
		for k, v := range m {
			all[k] = v
		}
	}
	return all
}

func (p *person) plain(ctx context.Context) error {
	more := inquiry
	if p.random.IntN(2) == 0 {
		more = nil // two more calls of the model
	}
	return p.newTurn("plain", more).tell(ctx)
}

// last is the turn that each thread must be able to complete in the end.
func (p *person) last(ctx context.Context) error { return p.newTurn("last", inquiry).tell(ctx) }

func (p *person) question(kind string) *turn {
	t := p.newTurn(kind, nil)
	p.storm.model.unsure(t.Mark)
	return t
}

func (p *person) asked(ctx context.Context) error { return p.question("asked").tell(ctx) }

func (p *person) questionCancelled(ctx context.Context) error {
	t := p.question("question cancelled")
	t.cancel = true
	return t.tell(ctx)
}

func (p *person) stopped(ctx context.Context) error {
	t := p.newTurn("stopped", inquiry)
	return together(
		func() error { return t.tell(ctx) },
		func() error {
			t.writing(ctx)
			return t.stop(ctx)
		})
}

func (p *person) stoppedEarly(ctx context.Context) error {
	t := p.newTurn("stopped before it came", inquiry)
	if err := t.stop(ctx); err != nil {
		return err
	}
	return t.tell(ctx)
}

// over sends one message and, once its answer is being written, another.
func (p *person) over(ctx context.Context, kind, onBusy string, then func(first, second *turn) error) error {
	first := p.newTurn(kind+", the first", inquiry)
	second := p.newTurn(kind, with(inquiry, map[string]any{"on_busy": onBusy}))
	return together(
		func() error { return first.tell(ctx) },
		func() error {
			first.writing(ctx)
			return second.tell(ctx)
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
	// Nobody answers it: it is watched, and talked over.
	first.answered = true
	second := p.newTurn("superseding a question", inquiry)
	return together(
		func() error { return first.tell(ctx) },
		func() error {
			select {
			case <-first.asked:
			case <-first.over:
			case <-ctx.Done():
			}
			return second.tell(ctx)
		})
}

// sentThrice sends one message three times at once: one turn, seen by all.
func (p *person) sentThrice(ctx context.Context) error {
	t := p.newTurn("sent thrice", inquiry)
	return t.alike(ctx, []*turn{t.twin(), t.twin()}, false)
}

// watched has two more viewers attach while the answer is written.
func (p *person) watched(ctx context.Context) error {
	t := p.newTurn("watched by three", inquiry)
	return t.alike(ctx, []*turn{t.twin(), t.twin()}, true)
}

// alike tells a turn to several viewers, who must see the same.
func (t *turn) alike(ctx context.Context, twins []*turn, late bool) error {
	all := []func() error{func() error { return t.tell(ctx) }}
	for _, twin := range twins {
		all = append(all, func() error {
			if late {
				t.writing(ctx)
				t.mu.Lock()
				twin.id, twin.took = t.id, t.took
				t.mu.Unlock()
				if twin.id == "" {
					return nil // the turn failed to come about; t says why
				}
			}
			return twin.tell(ctx)
		})
	}
	if err := together(all...); err != nil {
		return err
	}
	for _, twin := range twins {
		if twin.id != t.id || twin.end != t.end {
			return fmt.Errorf("%s: two viewers saw different ends: %+v and %+v", t.Mark, t.end, twin.end)
		}
		if !slices.Equal(ids(twin.log), ids(t.log)) {
			return fmt.Errorf("%s: two viewers saw different events: %v and %v", t.Mark, ids(t.log), ids(twin.log))
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

// twin is another viewer of the same message.
func (t *turn) twin() *turn {
	return &turn{Mark: t.Mark, Kind: t.Kind, Thread: t.Thread, user: t.user, body: t.body, seen: map[string]bool{},
		token: make(chan struct{}), asked: make(chan struct{}), over: make(chan struct{}), accepted: make(chan struct{})}
}

// reattached goes away in mid-answer and comes back, at another process.
func (p *person) reattached(ctx context.Context) error {
	t := p.newTurn("re-attached", inquiry)
	t.leave = 3
	return t.tell(ctx)
}

// rested lets the thread complete for want of talk.
func (p *person) rested(ctx context.Context) error {
	pause(ctx, idleTimeout+time.Second)
	return p.newTurn("after a rest", inquiry).tell(ctx)
}

// messages is the thread's history, all of it.
func (p *person) messages(ctx context.Context) ([]message, error) {
	var all []message
	for before := ""; ; {
		var page struct{ Messages []message }
		path := "/api/chat/history/" + p.thread + "?limit=200"
		if before != "" {
			path += "&before=" + before
		}
		if err := p.read(ctx, http.MethodGet, path, nil, &page); err != nil {
			return nil, err
		}
		all = append(page.Messages, all...)
		if len(page.Messages) < 200 {
			return all, nil
		}
		before = page.Messages[0].ID
	}
}

type message struct {
	ID, Role, Content string
	TurnID            string         `json:"turn_id"`
	Metadata          map[string]any `json:"metadata"`
}

// together runs all at once.
func together(all ...func() error) error {
	failures := make([]error, len(all))
	var wg sync.WaitGroup
	for i, f := range all {
		wg.Go(func() { failures[i] = f() })
	}
	wg.Wait()
	return errors.Join(failures...)
}
