// Command turns measures whole turns over HTTP against a running Palaver: time
// to the first event, the first token and the terminal event, and turns per
// second, at several numbers of threads side by side. It starts a scripted
// model without latency of its own, and the server given by -server on it, so
// that what is measured is Palaver's own time.
//
//	go run ./bench/turns -server bin/palaver-standalone -threads 1,8,32
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/palaver-chat/palaver/bench/stack"
	"github.com/palaver-chat/palaver/llm/llmtest"
)

// tokens is how many tokens an answer has.
const tokens = 40

func main() {
	server := flag.String("server", "bin/palaver-standalone", "server program to start")
	threads := flag.String("threads", "1,8,32", "numbers of threads, comma-separated")
	turns := flag.Int("turns", 150, "turns per measurement and thread count, at least three a thread")
	action := flag.String("action", "inquire", "explicit action; empty to have it inferred")
	flag.Parse()

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	if err := run(ctx, *server, *threads, *turns, *action); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, server, threads string, turns int, action string) error {
	s, err := stack.Start(ctx, server, llmtest.Pace{Tokens: tokens})
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
	if _, err := u.Measure(ctx, 4, 12, stack.Inquiry(doc, action)); err != nil { // warm up
		return err
	}
	fmt.Fprintf(os.Stdout, "%-8s %-7s %-22s %-22s %-22s %s\n", "threads", "turns", "first event p50/p95", "first token p50/p95", "terminal p50/p95", "turns/s")
	for _, field := range strings.Split(threads, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil || n < 1 {
			return fmt.Errorf("-threads: %q is not a number of threads", field)
		}
		r, err := u.Measure(ctx, n, max(turns, 3*n), stack.Inquiry(doc, action))
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stdout, "%-8d %-7d %-22s %-22s %-22s %.1f\n", n, r.Turns, r.First, r.Token, r.End, r.PerSecond())
	}
	return nil
}
