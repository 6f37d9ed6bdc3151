package storm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/palaver-chat/palaver/testkit/stack"
	"github.com/palaver-chat/palaver/workflows"
)

// Silence is how one turn recovered from an outage in the middle of its answer.
type Silence struct {
	// Took is how long the turn stalled: from the worker's freeze until another worker
	// called the model, or from the outage's end until the turn's end.
	Took time.Duration
	// Tries counts attempts of the answer, including those on the frozen worker.
	Tries int32
	Calls int // to the model, for the answer
}

// FreezeWorker freezes the worker that streams an answer, and measures until another
// worker continues.
func FreezeWorker(ctx context.Context, o Options) (Silence, error) {
	return withoutFaults(ctx, o, (*storm).freezeOne)
}

// CutTemporal cuts the connections to Temporal while an answer is written, and
// measures from their repair until the turn ends.
func CutTemporal(ctx context.Context, o Options) (Silence, error) {
	return withoutFaults(ctx, o, (*storm).cutOne)
}

// withoutFaults lets one person talk to a new fleet without random faults.
func withoutFaults(ctx context.Context, o Options, talk func(*storm, context.Context, *person) (Silence, error)) (Silence, error) {
	s := &storm{options: o, began: time.Now(), report: &Report{}}
	var err error
	s.fleet, err = openFleet(ctx, o)
	defer s.fleet.close()
	if err != nil {
		return Silence{}, err
	}
	u, err := newUser(s.fleet)
	if err != nil {
		return Silence{}, err
	}
	p := newPerson(s, u, 1) // the assistant's: one model call a turn
	if err := p.plain(ctx); err != nil {
		return Silence{}, err
	}
	return talk(s, ctx, p)
}

// slowTurn is a turn whose answer takes that long.
func (p *person) slowTurn(takes time.Duration) *turn {
	const words = 100
	t := p.newTurn("slow", p.message(nil))
	p.storm.model.script(t.Mark, words, takes/words)
	return t
}

func (s *storm) freezeOne(ctx context.Context, p *person) (r Silence, err error) {
	t := p.slowTurn(8 * time.Second)
	done := make(chan error, 1)
	go func() { done <- t.run(ctx) }()
	t.writing(ctx)
	var frozen *member
	calls := s.answers(t.Mark)
	for _, w := range s.workers {
		if len(calls) > 0 && w.name == calls[0].Caller {
			frozen = w
		}
	}
	if frozen == nil {
		return r, errors.Join(errors.New("cannot tell which worker writes the answer"), ctx.Err())
	}
	pause(ctx, rand.N(2*time.Second)) // not always at the same time after a heartbeat
	if err := frozen.freeze(); err != nil {
		return r, err
	}
	began := time.Now()
	for ctx.Err() == nil && len(s.answers(t.Mark)) == 1 {
		pause(ctx, 5*time.Millisecond)
	}
	r.Took = time.Since(began)
	c, err := dialTemporal(s.temporal.shared.Address())
	if err != nil {
		return r, err
	}
	defer c.Close()
	d, err := c.DescribeWorkflowExecution(ctx, workflows.ThreadWorkflowID(p.thread), "")
	if err != nil {
		return r, err
	}
	for _, a := range d.PendingActivities {
		r.Tries = max(r.Tries, a.Attempt)
	}
	if err := frozen.thaw(); err != nil {
		return r, err
	}
	err = <-done
	r.Calls = len(s.answers(t.Mark))
	return r, err
}

func (s *storm) cutOne(ctx context.Context, p *person) (r Silence, err error) {
	t := p.slowTurn(1500 * time.Millisecond)
	done := make(chan error, 1)
	go func() { done <- t.run(ctx) }()
	t.writing(ctx)
	s.temporal.each((*stack.Link).Cut)
	pause(ctx, s.options.Hiccup)
	s.temporal.each((*stack.Link).Restore)
	began := time.Now()
	err = <-done
	r.Took, r.Calls = time.Since(began), len(s.answers(t.Mark))
	if err == nil && t.end.Type != "response" {
		err = fmt.Errorf("the turn ended %s", t.end.Type)
	}
	return r, err
}

// answers are the calls for the answer of a turn.
func (s *storm) answers(mark string) (all []call) {
	for _, c := range s.model.book() {
		if c.Mark == mark && c.Kind == streamKind {
			all = append(all, c)
		}
	}
	return all
}
