// Command fairness measures how one user's load affects another: the time of a new
// user's first turn, without load and while another user has hundreds of turns
// queued, each on its own thread. The ratio matters; the times depend on the
// machine.
//
//	go run ./bench/fairness -server bin/palaver-standalone -flood 500
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/stack"
)

func main() {
	server := flag.String("server", "bin/palaver-standalone", "server program to start")
	flood := flag.Int("flood", 500, "turns that one user sends at once")
	probes := flag.Int("probes", 5, "first turns of other users, all at once, measured alone and in the flood")
	pace := llmtest.Pace{Tokens: 40}
	flag.DurationVar(&pace.PerToken, "per-token", 0, "the model's time between tokens; 40 tokens an answer")
	flag.Parse()

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	if err := run(ctx, *server, pace, *flood, *probes); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, server string, pace llmtest.Pace, flood, probes int) error {
	s, err := stack.Start(ctx, server, pace)
	if err != nil {
		return err
	}
	defer s.Stop()
	crowd, err := visitors(ctx, s, 2*probes+1)
	if err != nil {
		return err
	}
	flooder, crowd := crowd[0], crowd[1:]
	if err := flooder.ask(ctx, 20, nil); err != nil { // warm up
		return err
	}
	alone, err := first(ctx, crowd[:probes])
	if err != nil {
		return err
	}

	done := make(chan error, 1)
	began := time.Now()
	running := make(chan struct{})
	go func() { done <- flooder.ask(ctx, flood, sync.OnceFunc(func() { close(running) })) }()
	select {
	case <-running: // every message of the flood was sent
	case <-ctx.Done():
		return ctx.Err()
	}
	beside, err := first(ctx, crowd[probes:])
	if err != nil {
		return err
	}
	answered := flooder.answered.Load()
	if err := <-done; err != nil {
		return fmt.Errorf("the flood: %w", err)
	}
	took := time.Since(began)
	fmt.Printf("flood: %d turns in %.1f s (%.1f turns/s, %d attempts rejected), %d still queued when the others ended\n",
		flood, took.Seconds(), float64(flood)/took.Seconds(), flooder.refused.Load(), int64(flood)-answered)
	fmt.Printf("%-22s %10s %10s %8s\n", "other user's first turn", "alone", "in flood", "ratio")
	row("first event", alone, beside, func(t stack.Timing) time.Duration { return t.First })
	row("first token", alone, beside, func(t stack.Timing) time.Duration { return t.Token })
	row("terminal event", alone, beside, func(t stack.Timing) time.Duration { return t.End })
	return nil
}

// visitor is a user with a document.
type visitor struct {
	*stack.User
	doc      string
	answered atomic.Int64 // turns of the last ask
	refused  atomic.Int64
}

func visitors(ctx context.Context, s *stack.Stack, n int) (all []*visitor, _ error) {
	for range n {
		u, err := s.NewUser()
		if err != nil {
			return nil, err
		}
		doc, err := u.Upload(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, &visitor{User: u, doc: doc})
	}
	return all, nil
}

// ask sends n turns at once, each on its own thread, and waits for all. It calls
// begun, unless nil, when one of them begins.
func (v *visitor) ask(ctx context.Context, n int, begun func()) error {
	v.answered.Store(0)
	failures := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			t, err := v.Turn(ctx, uuid.NewString(), stack.Inquiry(v.doc, "inquire"), begun)
			failures[i] = err
			v.answered.Add(1)
			v.refused.Add(int64(t.Refused))
		})
	}
	wg.Wait()
	return errors.Join(failures...)
}

// first measures each visitor's first turn, all at once.
func first(ctx context.Context, crowd []*visitor) ([]stack.Timing, error) {
	times, failures := make([]stack.Timing, len(crowd)), make([]error, len(crowd))
	var wg sync.WaitGroup
	for i, v := range crowd {
		wg.Go(func() { times[i], failures[i] = v.Turn(ctx, uuid.NewString(), stack.Inquiry(v.doc, "inquire"), nil) })
	}
	wg.Wait()
	return times, errors.Join(failures...)
}

// row prints the medians and their ratio.
func row(name string, alone, beside []stack.Timing, of func(stack.Timing) time.Duration) {
	a, b := median(alone, of), median(beside, of)
	fmt.Printf("%-22s %7.0f ms %7.0f ms %8.1f\n", name, a, b, b/a)
}

func median(times []stack.Timing, of func(stack.Timing) time.Duration) float64 {
	var ms []float64
	for _, t := range times {
		ms = append(ms, float64(of(t).Microseconds())/1000)
	}
	slices.Sort(ms)
	return ms[len(ms)/2]
}
