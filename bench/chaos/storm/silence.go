package storm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/palaver-chat/palaver/bench/stack"
	"github.com/palaver-chat/palaver/workflows"
)

// Silence is what one turn came to in whose middle something fell silent.
type Silence struct {
	// Took is how long the turn stood still: from the worker's freeze until another
	// worker called the model, or from the outage's end until the turn's end.
	Took time.Duration
	// Tries of the answer, those that were handed to the frozen worker included.
	Tries int32
	Calls int // to the model, for the answer
}

// FreezeWorker freezes the worker that streams an answer, and measures when
// another one goes on.
func FreezeWorker(ctx context.Context, o Options) (Silence, error) {
	return inCalm(ctx, o, (*storm).freezeOne)
}

// CutTemporal cuts Temporal off in the middle of an answer, which ends
// meanwhile, and measures when the turn ends.
func CutTemporal(ctx context.Context, o Options) (Silence, error) {
	return inCalm(ctx, o, (*storm).cutOne)
}

// inCalm has one person talk to a new fleet on which no faults are played.
func inCalm(ctx context.Context, o Options, talk func(*storm, context.Context, *person) (Silence, error)) (Silence, error) {
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

// slowly is a turn whose answer takes so long.
func (p *person) slowly(takes time.Duration) *turn {
	const words = 100
	t := p.newTurn("slow", p.message(nil))
	p.storm.model.script(t.Mark, words, takes/words)
	return t
}

func (s *storm) freezeOne(ctx context.Context, p *person) (r Silence, err error) {
	t := p.slowly(8 * time.Second)
	told := make(chan error, 1)
	go func() { told <- t.tell(ctx) }()
	t.writing(ctx)
	var frozen *process
	calls := s.answers(t.Mark)
	for _, w := range s.workers {
		if len(calls) > 0 && w.name == calls[0].Caller {
			frozen = w
		}
	}
	if frozen == nil {
		return r, errors.Join(errors.New("it is not known which worker writes the answer"), ctx.Err())
	}
	pause(ctx, rand.N(2*time.Second)) // heartbeats have no fixed distance to it
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
	err = <-told
	r.Calls = len(s.answers(t.Mark))
	return r, err
}

func (s *storm) cutOne(ctx context.Context, p *person) (r Silence, err error) {
	t := p.slowly(1500 * time.Millisecond)
	told := make(chan error, 1)
	go func() { told <- t.tell(ctx) }()
	t.writing(ctx)
	s.temporal.each((*stack.Link).Cut)
	pause(ctx, s.options.Hiccup)
	s.temporal.each((*stack.Link).Mend)
	began := time.Now()
	err = <-told
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
