// Command latency measures response times with a model of realistic latency: 300 ms
// for a structured call, 300 ms to its first token and 15 ms per token, at 20
// threads. It checks the targets: the documents agent's first token within
// 1 s, the assistant's within 450 ms, 200 tokens done within 5 s, and a tool's
// overhead without its own time within 500 ms, all at the 95th percentile.
//
//	go run ./bench/latency -server bin/palaver-standalone
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"time"

	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/stack"
)

var pace = llmtest.Pace{Structured: 300 * time.Millisecond, FirstToken: 300 * time.Millisecond, PerToken: 15 * time.Millisecond, Tokens: 200}

func main() {
	server := flag.String("server", "bin/palaver-standalone", "server program to start")
	threads := flag.Int("threads", 20, "threads at once")
	turns := flag.Int("turns", 100, "turns per measurement")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	if err := run(ctx, *server, *threads, *turns); err != nil {
		log.Fatal(err)
	}
}

var errMissed = errors.New("a target was missed")

func run(ctx context.Context, server string, threads, turns int) error {
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
	inferred := stack.Inquiry(doc, "")
	plain := stack.Message{"agent": "assistant", "message": "Tell me about liquidity."}
	tool := stack.Message{"agent": "assistant", "message": `Please call list_documents {}`}
	if _, err := u.Measure(ctx, 4, 8, inferred); err != nil { // warm up
		return err
	}
	missed := false
	check := func(what string, times stack.Times, own, target time.Duration) {
		p95 := times.At(0.95) - own
		verdict := "ok"
		if p95 > target {
			verdict, missed = "MISSED", true
		}
		fmt.Printf("%-58s p50 %7.0f ms   p95 %7.0f ms   target %5d ms   %s\n", what,
			float64((times.At(0.5)-own).Microseconds())/1000, float64(p95.Microseconds())/1000, target.Milliseconds(), verdict)
	}
	r, err := u.Measure(ctx, threads, turns, inferred)
	if err != nil {
		return err
	}
	check("documents agent, action inferred: first token", r.Token, 0, time.Second)
	check("documents agent: 200 tokens done", r.End, 0, 5*time.Second)
	if r, err = u.Measure(ctx, threads, turns, plain); err != nil {
		return err
	}
	check("assistant: first token", r.Token, 0, 450*time.Millisecond)
	check("assistant: 200 tokens done", r.End, 0, 5*time.Second)
	if r, err = u.Measure(ctx, threads, turns, tool); err != nil {
		return err
	}
	// The model's own time is that of two calls up to their first token. The tool's
	// look-up of some milliseconds counts as overhead.
	check("a tool call: overhead up to the answer's first token", r.Token, 2*pace.FirstToken, 500*time.Millisecond)
	if missed {
		return errMissed
	}
	return nil
}
