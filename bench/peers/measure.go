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

// roundLoads are what a round measures, by the names of the flag -loads.
var roundLoads = []struct {
	name           string
	clients, turns int
	pace           llmtest.Pace
}{
	{"instant 1", 1, 60, instant}, {"instant 32", 32, 320, instant}, {"slow 20", 20, 80, slow}, {"slow 64", 64, 192, slow},
}

// round measures the rows of the table.
func (b *bench) round(ctx context.Context, r *running) error {
	for _, l := range roundLoads {
		if !named(b.loads, l.name) {
			continue
		}
		b.model.SetPace(l.pace)
		if err := b.load(ctx, r, l.name, l.clients, b.turns(l.turns), r.message()); err != nil {
			return err
		}
	}
	return nil
}

// load measures turns on n threads at once.
func (b *bench) load(ctx context.Context, r *running, name string, n, turns int, m stack.Message) error {
	before, err := r.usage()
	if err != nil {
		return err
	}
	spread := time.Duration(0)
	if pace := b.model.Pace(); !b.together {
		spread = pace.Structured + pace.FirstToken + time.Duration(pace.Tokens)*pace.PerToken // about a turn
	}
	result, err := stack.MeasureSpread(ctx, r.caller, n, max(turns, n), m, spread)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	parts, cpu, err := r.cpuSince(before, result.Turns)
	if err != nil {
		return err
	}
	if len(parts) > 1 {
		for part, cpu := range parts {
			b.figures.add(r.system.name, name+" cpu of "+part, cpu)
			progress("    cpu of %s: %.1f ms a turn", part, cpu)
		}
	}
	add := func(figure string, value float64) { b.figures.add(r.system.name, name+" "+figure, value) }
	for what, times := range map[string]stack.Times{"status": result.First, "token": result.Token, "done": result.End} {
		add(what+" p50", ms(times.At(0.5)))
		add(what+" p95", ms(times.At(0.95)))
	}
	add("turns/s", result.PerSecond())
	add("cpu", cpu)
	progress("  %-12s turns/s %5.1f   cpu %5.1f ms   status %s   token %s   done %s", name, result.PerSecond(),
		cpu, result.First, result.Token, result.End)
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

// curves are the measurements beside the table, by their names in the flag -curves. A system
// without what one measures leaves it out.
var curves = []struct {
	name    string
	measure func(*bench, context.Context, *running) error
}{
	{"clients", (*bench).clients}, {"length", (*bench).length}, {"viewers", (*bench).viewers}, {"workers", (*bench).workers}, {"streams", (*bench).streams}, {"idle", (*bench).idle}, {"passages", (*bench).passages},
}

// curve measures the chosen curves of a system.
func (b *bench) curve(ctx context.Context, r *running) error {
	for _, c := range curves {
		if !named(b.curves, c.name) {
			continue
		}
		if err := c.measure(b, ctx, r); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

// clients measures an increasing number of clients.
func (b *bench) clients(ctx context.Context, r *running) error {
	for _, n := range curveClients {
		if err := b.load(ctx, r, fmt.Sprintf("clients %d", n), n, b.turns(max(40, 4*n)), r.message()); err != nil {
			return err
		}
	}
	return nil
}

// workers measures 32 clients with an increasing number of workers. It also adds the turns a
// second that the cores could do if this process, with clients and model, took none of them.
func (b *bench) workers(ctx context.Context, r *running) error {
	if r.another == nil {
		return nil
	}
	cores := float64(runtime.NumCPU())
	for n := 1; n <= curveWorkers[len(curveWorkers)-1]; n++ {
		if n > 1 {
			if err := r.another(ctx); err != nil {
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
func (b *bench) viewers(ctx context.Context, r *running) error {
	u := userOf(r)
	if u == nil {
		return nil
	}
	pace := slow
	pace.Stamped = true
	b.model.SetPace(pace)
	defer b.model.SetPace(instant)
	for _, n := range curveViewers {
		before, err := r.usage()
		if err != nil {
			return err
		}
		turns := b.turns(6)
		delays, err := watched(ctx, u, n, turns, r.message())
		if err != nil {
			return fmt.Errorf("%d viewers: %w", n, err)
		}
		_, cpu, err := r.cpuSince(before, turns)
		if err != nil {
			return err
		}
		b.figures.add(r.system.name, fmt.Sprintf("viewers %d cpu", n), cpu)
		b.figures.add(r.system.name, fmt.Sprintf("viewers %d token p95", n), ms(delays.At(0.95)))
		progress("  %d viewers: cpu %.0f ms a turn, a token after %s", n, cpu, delays)
	}
	return nil
}

// userOf returns the user of a Palaver system, nil for a peer.
func userOf(r *running) *stack.User {
	switch caller := r.caller.(type) {
	case palaverCaller:
		return caller.User
	case *alternating:
		return caller.User
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
