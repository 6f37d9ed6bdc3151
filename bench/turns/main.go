// Command turns measures whole turns over HTTP: time to the first event, the first
// token and the terminal event, and turns per second, at several numbers of
// concurrent threads. It starts the server given by -server with a scripted model
// without latency, so that it measures Palaver's own time.
//
//	go run ./bench/turns -server bin/palaver-standalone -threads 1,8,32
//
// With -against it measures two programs in alternation and compares the second with
// the first: on a noisy machine, ratios of adjacent measurements are stable.
//
//	go run ./bench/turns -server before/palaver-standalone -against bin/palaver-standalone -rounds 6
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/palaver-chat/palaver/internal/stack"
	"github.com/palaver-chat/palaver/llm/llmtest"
)

// tokens is the number of tokens in an answer.
const tokens = 40

func main() {
	server := flag.String("server", "bin/palaver-standalone", "server program to start")
	against := flag.String("against", "", "second program to compare with the first")
	rounds := flag.Int("rounds", 6, "measurements of each program, with -against")
	threads := flag.String("threads", "1,8,32", "numbers of threads, comma-separated")
	turns := flag.Int("turns", 150, "turns per measurement and thread count, at least three a thread")
	action := flag.String("action", "inquire", "explicit action; empty to have it inferred")
	flag.Parse()

	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()
	if err := run(ctx, *server, *against, *rounds, *threads, *turns, *action); err != nil {
		log.Fatal(err)
	}
}

// candidate is a server under measurement.
type candidate struct {
	user    *stack.User
	message stack.Message
}

func start(ctx context.Context, server, action string) (_ *candidate, stop func(), err error) {
	s, err := stack.Start(ctx, server, llmtest.Pace{Tokens: tokens})
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			s.Stop()
		}
	}()
	u, err := s.NewUser()
	if err != nil {
		return nil, nil, err
	}
	doc, err := u.Upload(ctx)
	if err != nil {
		return nil, nil, err
	}
	c := &candidate{u, stack.Inquiry(doc, action)}
	_, err = u.Measure(ctx, 4, 12, c.message) // warm up
	return c, s.Stop, err
}

func run(ctx context.Context, server, against string, rounds int, threads string, turns int, action string) error {
	var counts []int
	for _, field := range strings.Split(threads, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil || n < 1 {
			return fmt.Errorf("-threads: %q is not a number of threads", field)
		}
		counts = append(counts, n)
	}
	first, stop, err := start(ctx, server, action)
	if err != nil {
		return err
	}
	defer stop()
	if against != "" {
		second, stop, err := start(ctx, against, action)
		if err != nil {
			return err
		}
		defer stop()
		return compare(ctx, [2]*candidate{first, second}, rounds, counts, turns)
	}
	fmt.Fprintf(os.Stdout, "%-8s %-7s %-22s %-22s %-22s %s\n", "threads", "turns", "first event p50/p95", "first token p50/p95", "terminal p50/p95", "turns/s")
	for _, n := range counts {
		r, err := first.user.Measure(ctx, n, max(turns, 3*n), first.message)
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stdout, "%-8d %-7d %-22s %-22s %-22s %.1f\n", n, r.Turns, r.First, r.Token, r.End, r.PerSecond())
	}
	return nil
}

// compare measures both servers in each round and prints the medians and the medians
// of the ratios.
func compare(ctx context.Context, both [2]*candidate, rounds int, counts []int, turns int) error {
	fmt.Fprintf(os.Stdout, "%-8s %-32s %-32s\n", "threads", "turns/s: first, second, ratio", "first token p50: first, second, ratio")
	for _, n := range counts {
		var rate, token [2][]float64
		var rates, tokens []float64
		for round := range rounds {
			for i := range both {
				i = (i + round) % 2 // alternate the order
				r, err := both[i].user.Measure(ctx, n, max(turns, 3*n), both[i].message)
				if err != nil {
					return err
				}
				rate[i] = append(rate[i], r.PerSecond())
				token[i] = append(token[i], float64(r.Token.At(0.5).Microseconds())/1000)
			}
			rates = append(rates, rate[1][round]/rate[0][round])
			tokens = append(tokens, token[1][round]/token[0][round])
		}
		fmt.Fprintf(os.Stdout, "%-8d %-32s %-32s\n", n,
			fmt.Sprintf("%.1f %.1f %.2f", median(rate[0]), median(rate[1]), median(rates)),
			fmt.Sprintf("%.1f ms %.1f ms %.2f", median(token[0]), median(token[1]), median(tokens)))
	}
	return nil
}

func median(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
