// Command idle measures the cost of idle resources: pages that follow an idle
// thread, the restart of a worker with many open threads, and a worker with many
// idle threads.
//
//	go run ./bench/idle -pages 1000 -open 1000 -threads 10000
//
// The API, the worker, Temporal with NATS and Postgres are processes of their
// own. Every thread has had one turn and is open: its workflow waits for the
// next message.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/stack"
)

type options struct {
	binaries stack.Binaries
	pages    int
	open     int
	long     int
	resting  int
	rest     time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.binaries.Standalone, "server", "bin/palaver-standalone", "Palaver's one command, for Temporal and NATS")
	flag.StringVar(&o.binaries.Palaver, "palaver", "bin/palaver", "Palaver's roles")
	flag.IntVar(&o.pages, "pages", 1000, "idle pages, each following its own thread; 0 skips them")
	flag.IntVar(&o.open, "open", 1000, "open threads when the worker restarts; 0 skips the restart")
	flag.IntVar(&o.long, "long", 200, "turns of a long thread that also gets a message after the restart")
	flag.IntVar(&o.resting, "threads", 10000, "idle threads of a worker; 0 skips them")
	flag.DurationVar(&o.rest, "rest", time.Minute, "duration of each idle measurement")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	if err := run(ctx, o); err != nil {
		log.Fatal(err)
	}
}

const database = "palaver"

// bench is Palaver with idle threads.
type bench struct {
	options
	pg      *stack.Postgres
	apart   *stack.Apart
	user    *stack.User
	threads []string
}

func run(ctx context.Context, o options) error {
	model, err := llmtest.Listen("127.0.0.1:0", llmtest.Pace{})
	if err != nil {
		return err
	}
	defer model.Close()
	pg, err := stack.StartPostgres(ctx, stack.LikeSQLite)
	if err != nil {
		return err
	}
	defer pg.Stop()
	url, err := pg.Database(ctx, database)
	if err != nil {
		return err
	}
	a, err := stack.StartApart(ctx, o.binaries, url, model.URL, "THREAD_IDLE_TIMEOUT=24h")
	if err != nil {
		return err
	}
	defer a.Stop()
	u, err := a.NewUser()
	if err != nil {
		return err
	}
	if _, err := u.Upload(ctx); err != nil { // the first request sets the user's cookie
		return err
	}
	b := &bench{options: o, pg: pg, apart: a, user: u}
	for _, part := range []struct {
		threads int
		run     func(context.Context) error
	}{{o.pages, b.follow}, {o.open, b.restart}, {o.resting, b.idle}} {
		if part.threads == 0 {
			continue
		}
		if err := b.fill(ctx, part.threads); err != nil {
			return err
		}
		if err := part.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// fill creates threads until there are n.
func (b *bench) fill(ctx context.Context, n int) error {
	const atOnce = 16
	began, have := time.Now(), len(b.threads)
	for len(b.threads) < n {
		b.threads = append(b.threads, uuid.NewString())
	}
	failures := make([]error, atOnce)
	var wg sync.WaitGroup
	for i := range atOnce {
		wg.Go(func() {
			for t := have + i; t < n && failures[i] == nil; t += atOnce {
				_, failures[i] = b.user.Turn(ctx, b.threads[t], message, nil)
			}
		})
	}
	wg.Wait()
	if n > have {
		fmt.Fprintf(os.Stderr, "%d threads made in %s\n", n-have, time.Since(began).Round(time.Second))
	}
	return errors.Join(failures...)
}

var message = stack.Message{"agent": "assistant", "message": "Tell me about liquidity."}

// usage returns the usage of API, worker, Temporal with NATS, and Postgres.
func (b *bench) usage() (all [4]stack.Usage, err error) {
	for i, pid := range []int{b.apart.API.Pid(), b.apart.Worker.Pid(), b.apart.Infra.Pid(), b.pg.Pid()} {
		if all[i], err = stack.UsageOf(pid); err != nil {
			return all, err
		}
	}
	return all, nil
}

// watch prints the usage of every process while idle.
func (b *bench) watch(ctx context.Context) error {
	if err := pause(ctx, settle); err != nil {
		return err
	}
	before, err := b.usage()
	if err != nil {
		return err
	}
	counted, err := b.pg.Statements(ctx, database)
	if err != nil {
		return err
	}
	if err := pause(ctx, b.rest); err != nil {
		return err
	}
	after, err := b.usage()
	if err != nil {
		return err
	}
	now, err := b.pg.Statements(ctx, database)
	if err != nil {
		return err
	}
	for i, name := range []string{"API", "worker", "Temporal, NATS", "Postgres"} {
		memory := fmt.Sprintf(", %d MiB", after[i].Memory>>20)
		if i == 3 { // its processes share most of their memory
			memory = ""
		}
		fmt.Printf("  %-15s %5.2f %% of a core%s\n", name, 100*(after[i].CPU-before[i].CPU).Seconds()/b.rest.Seconds(), memory)
	}
	ran := now.Sub(counted)
	fmt.Printf("  database        %.1f reads and %.1f writes a second\n", float64(ran.Reads)/b.rest.Seconds(), float64(ran.Writes)/b.rest.Seconds())
	return nil
}

// settle is the wait for the after-effects of the previous step.
const settle = 5 * time.Second

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// follow opens a page on each thread and watches.
func (b *bench) follow(ctx context.Context) error {
	open, end := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer func() { end(); wg.Wait() }()
	for _, thread := range b.threads[:b.pages] {
		resp, err := b.user.Follow(open, thread, stack.AcrossTurns)
		if err != nil {
			return err
		}
		wg.Go(func() {
			defer func() { _ = resp.Body.Close() }()
			_, _ = io.Copy(io.Discard, resp.Body) // it ends with open
		})
	}
	fmt.Printf("%d idle pages (follow=thread) on one API process\n", b.pages)
	return b.watch(ctx)
}

// restart restarts the worker and sends messages to a short and a long thread.
func (b *bench) restart(ctx context.Context) error {
	longThread := uuid.NewString()
	for range b.long {
		if _, err := b.user.Turn(ctx, longThread, message, nil); err != nil {
			return err
		}
	}
	b.apart.Worker.Stop()
	began := time.Now()
	if err := b.apart.StartWorker(ctx); err != nil {
		return err
	}
	ready := time.Since(began)
	fmt.Printf("a worker that restarts with %d open threads\n  ready after %s\n", len(b.threads), ready.Round(time.Millisecond))
	for _, t := range []struct{ name, thread string }{
		{"a thread of one turn", b.threads[0]},
		{fmt.Sprintf("a thread of %d turns", b.long), longThread},
		{"the same once more", longThread},
	} {
		timing, err := b.user.Turn(ctx, t.thread, message, nil)
		if err != nil {
			return err
		}
		fmt.Printf("  %-23s first event after %s, done after %s\n", t.name, timing.First.Round(time.Millisecond), timing.End.Round(time.Millisecond))
	}
	// A message to every thread makes the worker replay each.
	before, err := b.usage()
	if err != nil {
		return err
	}
	r := &stack.Results{}
	began = time.Now()
	var mu sync.Mutex
	var wg sync.WaitGroup
	const atOnce = 8
	failures := make([]error, atOnce)
	for i := range atOnce {
		wg.Go(func() {
			for t := 1 + i; t < len(b.threads) && failures[i] == nil; t += atOnce {
				var timing stack.Timing
				timing, failures[i] = b.user.Turn(ctx, b.threads[t], message, nil)
				mu.Lock()
				r.Turns, r.First, r.End = r.Turns+1, append(r.First, timing.First), append(r.End, timing.End)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	r.Took = time.Since(began)
	if err := errors.Join(failures...); err != nil {
		return err
	}
	after, err := b.usage()
	if err != nil {
		return err
	}
	fmt.Printf("  all threads, 8 at once  first event %s, done %s (p50 / p95), %.1f turns/s, CPU of the worker %.1f ms a turn\n",
		r.First, r.End, r.PerSecond(), float64((after[1].CPU-before[1].CPU).Milliseconds())/float64(max(r.Turns, 1)))
	return nil
}

// idle watches a worker whose threads are all idle.
func (b *bench) idle(ctx context.Context) error {
	fmt.Printf("%d idle threads\n", len(b.threads))
	return b.watch(ctx)
}
