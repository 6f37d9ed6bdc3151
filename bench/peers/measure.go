package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/stack"
)

// The speeds of the scripted model.
var (
	instant = llmtest.Pace{Tokens: 50}
	slow    = llmtest.Pace{Structured: 300 * time.Millisecond, FirstToken: 300 * time.Millisecond, PerToken: 15 * time.Millisecond, Tokens: 100}
)

// message returns a question about the benchmark's document, for which the model is asked for
// action, documents and answer: "CRR2" may be a document's name.
func (r *running) message() stack.Message {
	return stack.Message{"message": "What does the circular say about the liquidity coverage ratio under CRR2?", "tagged_doc_ids": []string{r.document}}
}

// check verifies that a system can run a turn with a question. It uploads a second document:
// nobody is asked which one is meant when there is only one.
func (r *running) check(ctx context.Context) error {
	if _, err := r.upload(ctx, "Travel policy", "Travel is booked by the travel desk. Trains are preferred to flights."); err != nil {
		return err
	}
	if err := r.caller.Asks(ctx, uuid.NewString(), r.document); err != nil {
		return fmt.Errorf("question and answer: %w", err)
	}
	return nil
}

// round measures the rows of the table.
func (b *bench) round(ctx context.Context, r *running) error {
	for _, l := range []clientLoad{{1, 60}, {32, 320}} {
		if err := b.load(ctx, r, fmt.Sprintf("instant %d", l.clients), l.clients, b.turns(l.turns), r.message()); err != nil {
			return err
		}
	}
	b.model.SetPace(slow)
	for _, l := range []clientLoad{{20, 80}, {64, 192}} {
		if err := b.load(ctx, r, fmt.Sprintf("slow %d", l.clients), l.clients, b.turns(l.turns), r.message()); err != nil {
			return err
		}
	}
	return nil
}

type clientLoad struct{ clients, turns int }

// load measures turns on n threads at once.
func (b *bench) load(ctx context.Context, r *running, name string, n, turns int, m stack.Message) error {
	before, err := stack.UsageOf(r.pids...)
	if err != nil {
		return err
	}
	parts := map[string]time.Duration{}
	for part, pid := range r.parts {
		u, err := stack.UsageOf(pid)
		if err != nil {
			return err
		}
		parts[part] = u.CPU
	}
	spread := time.Duration(0)
	if pace := b.model.Pace(); !b.together {
		spread = pace.Structured + pace.FirstToken + time.Duration(pace.Tokens)*pace.PerToken // about a turn
	}
	result, err := stack.MeasureSpread(ctx, r.caller, n, max(turns, n), m, spread)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	after, err := stack.UsageOf(r.pids...)
	if err != nil {
		return err
	}
	for part, pid := range r.parts {
		u, err := stack.UsageOf(pid)
		if err != nil {
			return err
		}
		b.figures.add(r.system.name, name+" cpu of "+part, ms(u.CPU-parts[part])/float64(result.Turns))
		progress("    cpu of %s: %.1f ms a turn", part, ms(u.CPU-parts[part])/float64(result.Turns))
	}
	add := func(figure string, value float64) { b.figures.add(r.system.name, name+" "+figure, value) }
	for what, times := range map[string]stack.Times{"status": result.First, "token": result.Token, "done": result.End} {
		add(what+" p50", ms(times.At(0.5)))
		add(what+" p95", ms(times.At(0.95)))
	}
	add("turns/s", result.PerSecond())
	add("cpu", ms(after.CPU-before.CPU)/float64(result.Turns))
	progress("  %-12s turns/s %5.1f   cpu %5.1f ms   status %s   token %s   done %s", name, result.PerSecond(),
		ms(after.CPU-before.CPU)/float64(result.Turns), result.First, result.Token, result.End)
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// The points of the curves.
var (
	curveClients = []int{1, 8, 64}
	curveLength  = []int{10, 100, 400}
	curveViewers = []int{1, 10, 100}
	curveWorkers = []int{1, 2, 4}
)

// curve measures a system at increasing load, thread length and viewers.
func (b *bench) curve(ctx context.Context, r *running) error {
	for _, n := range curveClients {
		if err := b.load(ctx, r, fmt.Sprintf("clients %d", n), n, b.turns(max(40, 4*n)), r.message()); err != nil {
			return err
		}
	}
	if err := b.length(ctx, r); err != nil {
		return err
	}
	if caller, ok := r.caller.(palaverCaller); ok {
		if err := b.viewers(ctx, r, caller.User); err != nil {
			return err
		}
	}
	if r.another == nil {
		return nil
	}
	return b.workers(ctx, r)
}

// workers measures 32 clients with an increasing number of workers. It also adds the turns a
// second that the cores could do if this process, with clients and model, took none of them.
func (b *bench) workers(ctx context.Context, r *running) error {
	cores := float64(runtime.NumCPU())
	for n := 1; n <= curveWorkers[len(curveWorkers)-1]; n++ {
		if n > 1 {
			var err error
			if r.pids, err = r.another(ctx); err != nil {
				return err
			}
		}
		if !slices.Contains(curveWorkers, n) {
			continue
		}
		name, before, began := fmt.Sprintf("workers %d", n), ownCPU(), time.Now()
		if err := b.load(ctx, r, name, 32, b.turns(320), r.message()); err != nil {
			return err
		}
		share := (ownCPU() - before).Seconds() / time.Since(began).Seconds() / cores
		measured, _ := b.figures.median(r.system.name, name+" turns/s")
		b.figures.add(r.system.name, name+" alone", measured/(1-share))
		progress("  %d workers: turns/s %.1f without the load generator's %.0f %% of the cores", n, measured/(1-share), 100*share)
	}
	return nil
}

// ownCPU is the CPU time of this process, without its children.
func ownCPU() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it cannot fail with these arguments
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// length measures the turns of one thread, one after another.
func (b *bench) length(ctx context.Context, r *running) error {
	const around = 9 // turns whose median stands for the last of them
	thread := uuid.NewString()
	var done stack.Times
	for n := 1; n <= curveLength[len(curveLength)-1]; n++ {
		t, err := r.caller.Turn(ctx, thread, r.message(), nil)
		if err != nil {
			return fmt.Errorf("turn %d of a thread: %w", n, err)
		}
		done = append(done, t.End)
		if slices.Contains(curveLength, n) {
			b.figures.add(r.system.name, fmt.Sprintf("length %d done", n), ms(done[n-around:].At(0.5)))
			progress("  turn %d of a thread: done after %s", n, done[n-around:])
		}
		if b.scale < 1 && float64(n) >= b.scale*float64(curveLength[len(curveLength)-1]) {
			break
		}
	}
	return nil
}

// viewers measures a turn with an increasing number of viewers.
func (b *bench) viewers(ctx context.Context, r *running, u *stack.User) error {
	pace := slow
	pace.Stamped = true
	b.model.SetPace(pace)
	defer b.model.SetPace(instant)
	for _, n := range curveViewers {
		before, err := stack.UsageOf(r.pids...)
		if err != nil {
			return err
		}
		turns := b.turns(6)
		delays, err := watched(ctx, u, n, turns, r.message())
		if err != nil {
			return fmt.Errorf("%d viewers: %w", n, err)
		}
		after, err := stack.UsageOf(r.pids...)
		if err != nil {
			return err
		}
		cpu := ms(after.CPU-before.CPU) / float64(turns)
		b.figures.add(r.system.name, fmt.Sprintf("viewers %d cpu", n), cpu)
		b.figures.add(r.system.name, fmt.Sprintf("viewers %d token p95", n), ms(delays.At(0.95)))
		progress("  %d viewers: cpu %.0f ms a turn, a token after %s", n, cpu, delays)
	}
	return nil
}

// watched runs turns that n viewers follow from the first event, and returns the
// delay of each token at each viewer.
func watched(ctx context.Context, u *stack.User, n, turns int, m stack.Message) (stack.Times, error) {
	var mu sync.Mutex
	var delays stack.Times
	failures := make([]error, n)
	for range turns {
		thread := uuid.NewString()
		var watching sync.WaitGroup
		_, err := u.Turn(ctx, thread, m, func() {
			for i := range n {
				watching.Go(func() {
					resp, err := u.Follow(ctx, thread)
					if err != nil {
						failures[i] = err
						return
					}
					defer func() { _ = resp.Body.Close() }()
					failures[i] = stack.Delays(resp.Body, func(d time.Duration) {
						mu.Lock()
						defer mu.Unlock()
						delays = append(delays, d)
					})
				})
			}
		})
		watching.Wait()
		if err := errors.Join(append(failures, err)...); err != nil {
			return nil, err
		}
	}
	if len(delays) == 0 {
		return nil, errors.New("no viewer saw a token")
	}
	return delays, nil
}
