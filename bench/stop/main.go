// Command stop measures how long a stop takes while answers stream: from the request
// to the turn's terminal event, at several numbers of concurrent streams. The target
// is 300 ms (p95). It starts a scripted model and the server given by -server.
//
//	go run ./bench/stop -server bin/palaver-standalone -streams 1,8,32 -stops 200
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/stack"
)

func main() {
	server := flag.String("server", "bin/palaver-standalone", "server program to start")
	streams := flag.String("streams", "1,8,32", "numbers of concurrent streams, comma-separated")
	stops := flag.Int("stops", 200, "stops per number of streams, at least three a stream")
	after := flag.Int("after", 5, "token events before the stop")
	pace := llmtest.Pace{Tokens: 2000}
	flag.DurationVar(&pace.PerToken, "per-token", 20*time.Millisecond, "the model's time between tokens")
	flag.Parse()

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	if err := run(ctx, *server, pace, *streams, *stops, *after); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, server string, pace llmtest.Pace, streams string, stops, after int) error {
	s, err := stack.Start(ctx, server, pace)
	if err != nil {
		return err
	}
	defer s.Stop()
	u, err := s.NewUser()
	if err != nil {
		return err
	}
	doc, err := u.Upload(ctx)
	if err != nil {
		return err
	}
	if _, err := measure(ctx, u, doc, 4, 12, after); err != nil { // warm up
		return err
	}
	fmt.Printf("%-8s %-6s %10s %10s %10s\n", "streams", "stops", "p50", "p95", "max")
	for field := range strings.SplitSeq(streams, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil || n < 1 {
			return fmt.Errorf("-streams: %q is not a number of streams", field)
		}
		took, err := measure(ctx, u, doc, n, max(stops, 3*n), after)
		if err != nil {
			return err
		}
		slices.Sort(took)
		at := func(q float64) float64 {
			return float64(took[min(len(took)-1, int(q*float64(len(took))))].Microseconds()) / 1000
		}
		fmt.Printf("%-8d %-6d %7.0f ms %7.0f ms %7.0f ms\n", n, len(took), at(0.5), at(0.95), at(1))
	}
	return nil
}

// measure stops turns on n threads at once, each thread one turn after another.
func measure(ctx context.Context, u *stack.User, doc string, n, stops, after int) (took []time.Duration, _ error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	var failed error
	for range n {
		wg.Go(func() {
			thread := uuid.NewString()
			for range stops / n {
				d, err := u.Stopped(ctx, thread, doc, after)
				mu.Lock()
				failed = errors.Join(failed, err)
				took = append(took, d)
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return took, failed
}
