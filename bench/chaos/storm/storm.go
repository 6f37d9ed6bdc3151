// Package storm runs the whole of Palaver in processes of its own, lets many
// people talk to it in every way there is, has everything fail that can fail,
// and finds out whether what was promised held: no accepted turn lost, none
// doubled, no thread stuck, every transcript what its workflow says, no model
// call repeated whose end was recorded, and turns that go on soon after their
// worker died.
package storm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Options say what a storm is.
type Options struct {
	Server      Program // Temporal and NATS, with --only-infra
	ServerFlags []string
	Palaver     Program // the roles worker and api
	Dir         string  // for data and logs
	DatabaseURL string  // an empty Postgres database; "" for SQLite

	Threads, Workers, APIs int
	Rounds                 int
	Seed                   uint64
	Only                   []string // names of faults; empty: all of them

	Calm      time.Duration // the longest time between faults
	Fault     time.Duration // the longest ordinary fault
	LongFault time.Duration // one in four lasts so long
	Freeze    time.Duration // how long a process is silent
	Hiccup    time.Duration // an outage of Temporal that must have no effect on work under way
	// ClocksApart is the span over which the clocks of the API processes are spread.
	ClocksApart time.Duration
	// GoesOn is the longest that a turn may stand still after its worker died or
	// fell silent and while another is there.
	GoesOn time.Duration
	// Patience bounds what must come in the end: the rest of the turns, and a last
	// one on each thread.
	Patience time.Duration
	Progress io.Writer // is told what happens; nil: nobody
}

// FaultNames lists the faults of a store.
func FaultNames(postgres bool) (names []string) {
	o := Options{Rounds: 1000, Calm: 1, Fault: 1}
	if postgres {
		o.DatabaseURL = "postgres://"
	}
	seen := map[string]bool{}
	for _, f := range plan(o) {
		if !seen[f.Name] {
			seen[f.Name] = true
			names = append(names, f.Name)
		}
	}
	return names
}

type storm struct {
	options Options
	*fleet
	people []*person
	faults []*fault
	began  time.Time
	report *Report
}

// Run runs a storm. The report says what was found; the error says that the
// storm itself could not be run.
func Run(ctx context.Context, o Options) (*Report, error) {
	s := &storm{options: o, began: time.Now(), faults: plan(o)}
	var err error
	s.fleet, err = openFleet(ctx, o)
	defer s.fleet.close()
	if err != nil {
		return nil, err
	}
	s.report = &Report{Seed: o.Seed, Threads: o.Threads, Rounds: o.Rounds, Store: "sqlite", limit: o.GoesOn}
	if o.DatabaseURL != "" {
		s.report.Store = "postgres"
	}
	if err := s.gather(ctx); err != nil {
		return nil, err
	}
	s.say("%d threads talk", len(s.people))
	if err := s.weather(ctx); err != nil {
		return nil, err
	}
	if err := s.verify(ctx); err != nil {
		return nil, err
	}
	s.report.Took = time.Since(s.began)
	return s.report, nil
}

// gather makes the people: four threads a user.
func (s *storm) gather(ctx context.Context) error {
	const threadsEach = 4
	var u *user
	for i := range s.options.Threads {
		if i%threadsEach == 0 {
			var err error
			if u, err = newUser(s.fleet); err != nil {
				return err
			}
			if err := u.upload(ctx); err != nil {
				return fmt.Errorf("upload a document: %w", err)
			}
		}
		s.people = append(s.people, newPerson(s, u, i))
	}
	return nil
}

// weather has people talk while everything fails, one after another, and calms
// down: what was begun ends, and each thread completes one more turn.
func (s *storm) weather(ctx context.Context) error {
	talking, silence := context.WithCancel(ctx)
	defer silence()
	enough := make(chan struct{})
	var wg sync.WaitGroup
	for _, p := range s.people {
		wg.Go(func() {
			if err := p.talk(talking, enough); err != nil {
				s.report.violation("told", "%v", err)
			}
		})
	}
	var failure error
	for i, f := range s.faults {
		if failure = s.strike(ctx, i+1, f); failure != nil {
			break
		}
	}
	close(enough)
	if failure != nil {
		silence()
		wg.Wait()
		return failure
	}
	calm := time.AfterFunc(s.options.Patience, silence)
	defer calm.Stop()
	wg.Wait()
	s.say("calm; one last turn on each thread")
	ending, cancel := context.WithTimeout(ctx, s.options.Patience)
	defer cancel()
	for _, p := range s.people {
		wg.Go(func() {
			if err := p.last(ending); err != nil {
				s.report.violation("stuck", "%v", err)
			}
		})
	}
	wg.Wait()
	s.model.waitIdle(ending)
	return ctx.Err()
}

func (s *storm) say(format string, args ...any) {
	if s.options.Progress != nil {
		_, _ = fmt.Fprintf(s.options.Progress, "%6.1fs  %s\n", time.Since(s.began).Seconds(), fmt.Sprintf(format, args...))
	}
}

// verify looks at everything that is left and compares.
func (s *storm) verify(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*s.options.Patience)
	defer cancel()
	s.say("verifying")
	c, err := dialTemporal(s.temporal.shared.Address())
	if err != nil {
		return fmt.Errorf("dial Temporal: %w", err)
	}
	defer c.Close()
	book := s.model.book()
	failures := make([]error, len(s.people))
	var wg sync.WaitGroup
	for i, p := range s.people {
		wg.Go(func() {
			if failures[i] = p.rest(ctx, s.options.Patience/4); failures[i] != nil {
				return
			}
			j, err := readJournal(ctx, c, p.thread)
			if err != nil {
				failures[i] = err
				return
			}
			failures[i] = s.check(ctx, p, j, book)
		})
	}
	wg.Wait()
	s.goesOn(book)
	s.standsStill()
	s.checkHiccups(book)
	s.count(book)
	return errors.Join(failures...)
}
