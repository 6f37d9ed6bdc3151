// Command turns measures whole turns over HTTP: time to the first event, the first
// token and the terminal event, and turns per second, at several numbers of
// concurrent threads. It starts the server given by -server with a scripted model
// without latency, so that it measures Palaver's own time.
//
//	go -C bench run ./turns -threads 1,8,32
//
// With -against it measures two programs in alternation and compares the second with
// the first: on a noisy machine, ratios of adjacent measurements are stable.
//
//	go -C bench run ./turns -server ../before/palaver-standalone -against ../bin/palaver-standalone
//
// With -slow the model has the latency of bench/peers, and the first turns are spread
// over the time of a turn. -agent assistant measures another agent. -stops measures the
// time from a stop to the terminal event while answers stream; 300 ms (p95) is the goal
// while cores are free.
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
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/stack"
)

var (
	instant = llmtest.Pace{Tokens: 40}
	endless = llmtest.Pace{Tokens: 2000, PerToken: 20 * time.Millisecond}
	slow    = llmtest.Pace{Structured: 300 * time.Millisecond, FirstToken: 300 * time.Millisecond, PerToken: 15 * time.Millisecond, Tokens: 100}
)

// options say what is measured.
type options struct {
	server, against string
	rounds, turns   int
	threads         []int
	action, agent   string
	stops           bool
	pace            llmtest.Pace
}

func main() {
	var o options
	flag.StringVar(&o.server, "server", "../bin/palaver-standalone", "server program to start")
	flag.StringVar(&o.against, "against", "", "second program to compare with the first")
	flag.IntVar(&o.rounds, "rounds", 6, "measurements of each program, with -against")
	flag.IntVar(&o.turns, "turns", 150, "turns per measurement and thread count, at least three a thread")
	flag.StringVar(&o.action, "action", "inquire", "explicit action; empty to have action and documents inferred")
	flag.StringVar(&o.agent, "agent", "documents", "documents, or assistant")
	flag.BoolVar(&o.stops, "stops", false, "measure stops instead of whole turns")
	threads := flag.String("threads", "1,8,32", "numbers of threads, comma-separated")
	withLatency := flag.Bool("slow", false, "use a model with latency")
	flag.Parse()
	o.pace = instant
	if *withLatency {
		o.pace = slow
	}
	if o.stops {
		o.pace = endless
	}
	var err error
	if o.threads, err = counts(*threads); err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()
	if err := run(ctx, o); err != nil {
		log.Fatal(err)
	}
}

func counts(threads string) (all []int, err error) {
	for _, field := range strings.Split(threads, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-threads: %q is not a number of threads", field)
		}
		all = append(all, n)
	}
	return all, nil
}

// candidate is a server under measurement.
type candidate struct {
	options
	user    *stack.User
	pid     int
	doc     string
	message stack.Message
}

func start(ctx context.Context, server string, o options) (_ *candidate, stop func(), err error) {
	s, err := stack.Start(ctx, server, o.pace)
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
	c := &candidate{o, u, s.Pid(), doc, stack.Inquiry(doc, o.action)}
	if o.stops {
		return c, s.Stop, nil
	}
	switch {
	case o.agent == "assistant":
		c.message = stack.Message{"agent": o.agent, "message": "Tell me about liquidity."}
	case o.action == "": // "CRR2" may be a document's name, so the model is also asked for documents
		c.message["message"] = "What does the circular say about the liquidity coverage ratio under CRR2?"
	}
	_, err = u.Measure(ctx, 4, 12, c.message) // warm up
	return c, s.Stop, err
}

// measurement is what one run on n threads found.
type measurement struct {
	*stack.Results
	cpu float64 // milliseconds a turn, of the server's process
}

func (c *candidate) measure(ctx context.Context, n int) (m measurement, err error) {
	before, err := stack.UsageOf(c.pid)
	if err != nil {
		return m, err
	}
	spread := c.pace.Structured + c.pace.FirstToken + time.Duration(c.pace.Tokens)*c.pace.PerToken
	if m.Results, err = stack.MeasureSpread(ctx, c.user, n, max(c.turns, 3*n), c.message, spread); err != nil {
		return m, err
	}
	after, err := stack.UsageOf(c.pid)
	m.cpu = ms(after.CPU-before.CPU) / float64(m.Turns)
	return m, err
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func run(ctx context.Context, o options) error {
	first, stop, err := start(ctx, o.server, o)
	if err != nil {
		return err
	}
	defer stop()
	if o.stops {
		return first.measureStops(ctx)
	}
	if o.against != "" {
		second, stop, err := start(ctx, o.against, o)
		if err != nil {
			return err
		}
		defer stop()
		return compare(ctx, [2]*candidate{first, second}, o)
	}
	fmt.Fprintf(os.Stdout, "%-8s %-7s %-22s %-22s %-22s %-8s %s\n", "threads", "turns", "first event p50/p95", "first token p50/p95", "terminal p50/p95", "turns/s", "CPU a turn")
	for _, n := range o.threads {
		m, err := first.measure(ctx, n)
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stdout, "%-8d %-7d %-22s %-22s %-22s %-8.1f %.1f ms\n", n, m.Turns, m.First, m.Token, m.End, m.PerSecond(), m.cpu)
	}
	return nil
}

// measureStops stops turns on n threads at once, each thread one turn after another, and
// prints the time until their terminal events.
func (c *candidate) measureStops(ctx context.Context) error {
	const tokens = 5 // before the stop
	fmt.Fprintf(os.Stdout, "%-8s %-7s %s\n", "threads", "stops", "terminal event after the stop p50/p95")
	for _, n := range c.threads {
		var mu sync.Mutex
		var took stack.Times
		var group errgroup.Group
		for range n {
			group.Go(func() error {
				thread := uuid.NewString()
				for range max(c.turns/n, 3) {
					d, err := c.user.Stopped(ctx, thread, c.doc, tokens)
					if err != nil {
						return err
					}
					mu.Lock()
					took = append(took, d)
					mu.Unlock()
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
		fmt.Fprintf(os.Stdout, "%-8d %-7d %s\n", n, len(took), took)
	}
	return nil
}

// compare measures both servers in each round and prints the medians and the medians
// of the ratios.
func compare(ctx context.Context, both [2]*candidate, o options) error {
	kinds := []struct {
		title string
		of    func(measurement) float64
	}{
		{"turns/s", func(m measurement) float64 { return m.PerSecond() }},
		{"first token p50, ms", func(m measurement) float64 { return ms(m.Token.At(0.5)) }},
		{"CPU a turn, ms", func(m measurement) float64 { return m.cpu }},
	}
	fmt.Fprintf(os.Stdout, "%-8s %-20s %-9s %-9s %s\n", "threads", "median of", "first", "second", "ratio")
	for _, n := range o.threads {
		var found [2][]measurement
		for round := range o.rounds {
			for i := range both {
				i = (i + round) % 2 // alternate the order
				m, err := both[i].measure(ctx, n)
				if err != nil {
					return err
				}
				found[i] = append(found[i], m)
			}
		}
		for _, k := range kinds {
			var values [2][]float64
			var ratios []float64
			for round := range o.rounds {
				first, second := k.of(found[0][round]), k.of(found[1][round])
				values[0], values[1] = append(values[0], first), append(values[1], second)
				ratios = append(ratios, second/first)
			}
			fmt.Fprintf(os.Stdout, "%-8d %-20s %-9.1f %-9.1f %.2f\n", n, k.title, median(values[0]), median(values[1]), median(ratios))
		}
	}
	return nil
}

func median(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
