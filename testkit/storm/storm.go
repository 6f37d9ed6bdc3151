// Package storm is a chaos test: it runs every program of Palaver in its own process,
// lets simulated users talk in all supported ways, injects faults, and checks the
// promises: no accepted turn is lost or duplicated, no thread is stuck, every
// transcript equals its workflow's history, no model call is repeated after its end
// was recorded, turns continue soon after their worker died, claims and imports end, and a
// backup can be restored.
package storm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Options configure a storm.
type Options struct {
	Server      Program // Temporal and NATS, with --only-infra
	ServerFlags []string
	Palaver     Program // the roles worker and api
	Dir         string  // for data and logs
	DatabaseURL string  // an empty Postgres database; "" for SQLite

	Threads, Workers, APIs int
	Rounds                 int
	Seed                   uint64
	Only                   []string // names of faults; empty: all

	Calm      time.Duration // the longest time between faults
	Fault     time.Duration // the longest ordinary fault
	LongFault time.Duration // the duration of one in four
	Freeze    time.Duration // how long a process does not answer
	Hiccup    time.Duration // an outage of Temporal that must not affect running work
	// ClocksApart is the span over which the clocks of the API processes are spread.
	ClocksApart time.Duration
	// MaxGap is how long a turn may stall after its worker died or stopped answering,
	// while another worker runs.
	MaxGap time.Duration
	// Timeout limits the time after the last fault: for open turns to end, and for one
	// more turn on each thread.
	Timeout  time.Duration
	Progress io.Writer // gets a line per fault and phase; nil: none
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

// Run runs a storm. The report has the violations; the error is for a storm that
// could not run.
func Run(ctx context.Context, o Options) (*Report, error) {
	s := &storm{options: o, began: time.Now(), faults: plan(o)}
	var err error
	s.fleet, err = openFleet(ctx, o)
	defer s.fleet.close()
	if err != nil {
		return nil, err
	}
	s.report = &Report{Seed: o.Seed, Threads: o.Threads, Rounds: o.Rounds, Store: "sqlite", limit: o.MaxGap}
	if o.DatabaseURL != "" {
		s.report.Store = "postgres"
	}
	if err := s.createPeople(ctx); err != nil {
		return nil, err
	}
	s.logf("%d threads talk", len(s.people))
	if err := s.play(ctx); err != nil {
		return nil, err
	}
	if err := s.verify(ctx); err != nil {
		return nil, err
	}
	s.report.Took = time.Since(s.began)
	return s.report, nil
}

// createPeople creates one person per thread, four threads per user.
func (s *storm) createPeople(ctx context.Context) error {
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

// play lets people talk while it injects the faults. Afterwards all open turns must
// end, and each thread must complete one more turn.
func (s *storm) play(ctx context.Context) error {
	talking, stopTalking := context.WithCancel(ctx)
	defer stopTalking()
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
		if failure = s.inject(ctx, i+1, f); failure != nil {
			break
		}
	}
	close(enough)
	if failure != nil {
		stopTalking()
		wg.Wait()
		return failure
	}
	calm := time.AfterFunc(s.options.Timeout, stopTalking)
	defer calm.Stop()
	wg.Wait()
	s.later.Wait()
	s.logf("no more faults; one last turn on each thread")
	ending, cancel := context.WithTimeout(ctx, s.options.Timeout)
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

func (s *storm) logf(format string, args ...any) {
	if s.options.Progress != nil {
		_, _ = fmt.Fprintf(s.options.Progress, "%6.1fs  %s\n", time.Since(s.began).Seconds(), fmt.Sprintf(format, args...))
	}
}

// verify reads all that was stored and recorded, and compares it.
func (s *storm) verify(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*s.options.Timeout)
	defer cancel()
	s.logf("verifying")
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
			if failures[i] = p.rest(ctx, s.options.Timeout/4); failures[i] != nil {
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
	s.checkGaps(book)
	s.checkStalledThreads()
	s.checkHiccups(book)
	s.count(book)
	if err := errors.Join(failures...); err != nil {
		return err
	}
	if err := s.checkBackup(ctx); err != nil {
		return err
	}
	for _, v := range s.broken {
		s.report.violation(v.Kind, "%s", v.What)
	}
	return nil
}
