// Command streams measures one API process with many open streams: its memory, and
// the delay of a token from the model to the client. Some streams carry an answer,
// the others are idle.
//
//	go run ./bench/streams -streams 1000 -writing 100
//
// The API, the worker, Temporal with NATS and Postgres are processes of their
// own; the model and the clients are this process.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/stack"
)

func main() {
	var b stack.Binaries
	flag.StringVar(&b.Standalone, "server", "bin/palaver-standalone", "Palaver's one command, for Temporal and NATS")
	flag.StringVar(&b.Palaver, "palaver", "bin/palaver", "Palaver's roles")
	streams := flag.Int("streams", 1000, "open streams, each of its own thread")
	writing := flag.Int("writing", 100, "number of streams with a running answer")
	each := flag.Duration("each", 250*time.Millisecond, "time between two tokens of one answer")
	during := flag.Duration("during", 30*time.Second, "duration of the measurement, after all streams are open")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	if err := run(ctx, b, *streams, min(*writing, *streams), *each, *during); err != nil {
		log.Fatal(err)
	}
}

// longest is the duration of an answer: the maximum of LLM_TIMEOUT.
const longest = 9 * time.Minute

func run(ctx context.Context, b stack.Binaries, streams, writing int, each, during time.Duration) error {
	model, err := llmtest.Listen("127.0.0.1:0", llmtest.Pace{Tokens: 1})
	if err != nil {
		return err
	}
	defer model.Close()
	pg, err := stack.StartPostgres(ctx, stack.LikeSQLite)
	if err != nil {
		return err
	}
	defer pg.Stop()
	url, err := pg.Database(ctx, "palaver")
	if err != nil {
		return err
	}
	a, err := stack.StartApart(ctx, b, url, model.URL, "LLM_TIMEOUT="+longest.String(), "TURN_DEADLINE=30m")
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

	empty, err := stack.UsageOf(a.API.Pid())
	if err != nil {
		return err
	}
	o := &observer{}
	open, end := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer func() { end(); wg.Wait() }()
	if err := rest(open, &wg, u, streams-writing); err != nil {
		return err
	}
	model.SetPace(llmtest.Pace{PerToken: each, Tokens: int(longest / each), Stamped: true})
	if err := o.openAll(open, &wg, u, writing); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%d streams are open\n", streams)

	o.reset()
	before, err := usages(a, pg)
	if err != nil {
		return err
	}
	select {
	case <-time.After(during):
	case <-ctx.Done():
		return ctx.Err()
	}
	after, err := usages(a, pg)
	if err != nil {
		return err
	}
	delays, failures := o.result()
	fmt.Printf("%d open streams on one API process, on %d of them a token every %s\n", streams, writing, each)
	fmt.Printf("memory of the API     %d MiB (%d MiB before the first stream)\n", after[0].Memory>>20, empty.Memory>>20)
	fmt.Printf("tokens                %.0f a second\n", float64(len(delays))/during.Seconds())
	fmt.Printf("model to client       p50 %s   p95 %s   max %s\n", ms(delays.At(0.5)), ms(delays.At(0.95)), ms(delays.At(1)))
	for i, name := range []string{"API", "worker", "Temporal, NATS", "Postgres"} {
		fmt.Printf("CPU of %-14s %5.1f %% of a core, %s a token\n", name, 100*(after[i].CPU-before[i].CPU).Seconds()/during.Seconds(),
			ms((after[i].CPU-before[i].CPU)/time.Duration(max(len(delays), 1))))
	}
	return failures
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

// usages returns the usage of API, worker, Temporal with NATS, and Postgres.
func usages(a *stack.Apart, pg *stack.Postgres) (all []stack.Usage, err error) {
	for _, pid := range []int{a.API.Pid(), a.Worker.Pid(), a.Infra.Pid(), pg.Pid()} {
		u, err := stack.UsageOf(pid)
		if err != nil {
			return nil, err
		}
		all = append(all, u)
	}
	return all, nil
}

// rest opens idle pages, each on its own thread with one turn.
func rest(ctx context.Context, wg *sync.WaitGroup, u *stack.User, pages int) error {
	failures := make([]error, opening)
	var opened sync.WaitGroup
	for i := range opening {
		opened.Go(func() {
			for n := i; n < pages && failures[i] == nil; n += opening {
				failures[i] = page(ctx, wg, u)
			}
		})
	}
	opened.Wait()
	return errors.Join(failures...)
}

func page(ctx context.Context, wg *sync.WaitGroup, u *stack.User) error {
	thread := uuid.NewString()
	if _, err := u.Turn(ctx, thread, message, nil); err != nil {
		return err
	}
	resp, err := u.Follow(ctx, thread, stack.AcrossTurns)
	if err != nil {
		return err
	}
	wg.Go(func() {
		defer func() { _ = resp.Body.Close() }()
		_, _ = io.Copy(io.Discard, resp.Body) // it ends with ctx
	})
	return nil
}

var message = stack.Message{"agent": "assistant", "message": "Tell me about liquidity."}

// observer collects the delays of the streams.
type observer struct {
	mu       sync.Mutex
	delays   stack.Times
	failures error
}

// opening is how many turns start at once.
const opening = 16

// openAll sends a message to each thread and returns when every stream has received
// a token.
func (o *observer) openAll(ctx context.Context, wg *sync.WaitGroup, u *stack.User, streams int) error {
	slots := make(chan struct{}, opening)
	var first sync.WaitGroup
	for range streams {
		slots <- struct{}{}
		if err := ctx.Err(); err != nil {
			return err
		}
		first.Add(1)
		begun := sync.OnceFunc(func() { <-slots; first.Done() })
		wg.Go(func() {
			defer begun()
			if err := o.read(ctx, u, begun); err != nil && ctx.Err() == nil {
				o.mu.Lock()
				defer o.mu.Unlock()
				o.failures = errors.Join(o.failures, err)
			}
		})
	}
	first.Wait()
	_, failures := o.result()
	return failures
}

func (o *observer) read(ctx context.Context, u *stack.User, begun func()) error {
	body := maps.Clone(message)
	body["thread_id"], body["client_turn_id"] = uuid.NewString(), uuid.NewString()
	resp, err := u.Post(ctx, "/api/chat", body)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	err = stack.Delays(resp.Body, func(d time.Duration) {
		begun()
		o.mu.Lock()
		defer o.mu.Unlock()
		o.delays = append(o.delays, d)
	})
	if err == nil {
		err = errors.New("a stream ended")
	}
	return err
}

func (o *observer) reset() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.delays = nil
}

func (o *observer) result() (stack.Times, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.delays, o.failures
}
