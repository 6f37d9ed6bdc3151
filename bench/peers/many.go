package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/stack"
)

// What many streams, threads and passages are.
const (
	manyAnswers    = 100 // that are written at the same time
	viewersOfEach  = 10
	manyThreads    = 10_000
	manyPassages   = 50_000
	idleFor        = time.Minute
	passagesOfEach = 250 // a document
)

// Answers of about 15 s, while 1,000 streams are open.
var steady = llmtest.Pace{PerToken: 250 * time.Millisecond, Tokens: 60, Stamped: true}

// streams measures 1,000 streams that follow 100 answers.
func (b *bench) streams(ctx context.Context, r *running) error {
	u := userOf(r)
	if u == nil {
		return nil
	}
	b.model.SetPace(steady)
	defer b.model.SetPace(instant)
	before, err := r.usage()
	if err != nil {
		return err
	}
	began := time.Now()
	var mu sync.Mutex
	var all stack.Times
	var failed error
	var answers sync.WaitGroup
	for range b.turns(manyAnswers) {
		answers.Go(func() {
			delays, err := watched(ctx, u, viewersOfEach, 1, r.message())
			mu.Lock()
			defer mu.Unlock()
			all = append(all, delays...)
			if err != nil {
				failed = err
			}
		})
	}
	answers.Wait()
	if failed != nil {
		return failed
	}
	return b.resources(r, "streams", before, time.Since(began), "token p95", ms(all.At(0.95)))
}

// idle measures what 10,000 threads cost that do nothing.
func (b *bench) idle(ctx context.Context, r *running) error {
	if userOf(r) == nil {
		return nil
	}
	b.model.SetPace(instant)
	const atOnce = 32
	var failed error
	var mu sync.Mutex
	var clients sync.WaitGroup
	for range atOnce {
		clients.Go(func() {
			for range max(b.turns(manyThreads)/atOnce, 1) {
				if _, err := r.caller.Turn(ctx, uuid.NewString(), r.inquiry(), nil); err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
					return
				}
			}
		})
	}
	clients.Wait()
	if failed != nil {
		return failed
	}
	before, err := r.usage()
	if err != nil {
		return err
	}
	began := time.Now()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(idleFor):
	}
	return b.resources(r, "idle", before, time.Since(began), "", 0)
}

// passages measures questions that are searched for in 50,000 passages of one person.
func (b *bench) passages(ctx context.Context, r *running) error {
	if userOf(r) == nil {
		return nil
	}
	for n := range max(b.turns(manyPassages)/passagesOfEach, 1) {
		if _, err := r.upload(ctx, fmt.Sprintf("Harbour rules %d", n), manual(n)); err != nil {
			return err
		}
	}
	b.model.SetPace(instant)
	return b.load(ctx, r, "passages 8", 8, b.turns(160), stack.Message{"message": "Which ship does rule 4242 of the harbour name?", "action": "inquire"})
}

// manual returns the text of the n-th of many documents: about passagesOfEach passages.
func manual(n int) string {
	var text strings.Builder
	for section := range passagesOfEach {
		fmt.Fprintf(&text, "## Section %d\n\n", section+1)
		for rule := range 12 {
			k := (n*passagesOfEach+section)*12 + rule
			fmt.Fprintf(&text, "Rule %d of the harbour says that ship %d waits at berth %d. ", k, k*7919%100_003, k*104_729%100_019)
		}
		text.WriteString("\n\n")
	}
	return text.String()
}

// inquiry returns a question with one call of the model.
func (r *running) inquiry() stack.Message { return stack.Inquiry(r.document, "inquire") }

// resources adds what a system has used since before, and one more figure unless what is empty.
func (b *bench) resources(r *running, name string, before map[string]stack.Usage, took time.Duration, what string, value float64) error {
	after, err := r.usage()
	if err != nil {
		return err
	}
	add := func(figure string, v float64) {
		b.figures.add(r.system.name, name+" "+figure, v)
		progress("  %s: %s %.1f", name, figure, v)
	}
	cpu, memory := 0.0, 0.0
	for part, u := range after {
		core := 100 * (u.CPU - before[part].CPU).Seconds() / took.Seconds()
		mib := float64(u.Memory) / (1 << 20)
		cpu += core
		if part != "Postgres" { // its processes share memory, which would count for each
			memory += mib
		}
		progress("    %s %s: %.1f %% of a core, %.0f MiB", name, part, core, mib)
	}
	add("core", cpu)
	add("memory", memory)
	if what != "" {
		add(what, value)
	}
	return nil
}
