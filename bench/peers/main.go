// Command peers runs the documents agent's turn on Palaver and on alternatives. It
// runs the same load on them in alternation and writes one table: response times,
// turns per second, and CPU per turn.
//
//	make bench-peers                                  # all of it, into docs/performance.md
//	go -C bench run ./peers -only palaver,langgraph-lean -rounds 1 -scale 0.2 -print
//
// A run can be split: -results keeps the figures of earlier ones, and the document gets the table
// of all of them.
//
//	go -C bench run ./peers -results /tmp/peers.json -rounds 0 -only palaver-apart -curves workers
//
// The load generator and the scripted model run in this process and do not count.
// The CPU of a system is that of all its processes: server, Temporal, NATS and its
// own Postgres.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/stack"
)

type options struct {
	binaries stack.Binaries
	dbos     string // program
	only     string
	rounds   int
	scale    float64
	loads    string
	curves   string
	together bool
	results  string
	document string
	print    bool
}

func main() {
	var o options
	flag.StringVar(&o.binaries.Standalone, "server", "../bin/palaver-standalone", "Palaver's one command")
	flag.StringVar(&o.binaries.Palaver, "palaver", "../bin/palaver", "Palaver's roles")
	flag.StringVar(&o.dbos, "dbos", "../bin/peer-dbos", "the DBOS peer's program")
	flag.StringVar(&o.only, "only", "", "systems to run, comma-separated; empty for all: "+strings.Join(names(), ", "))
	flag.IntVar(&o.rounds, "rounds", 3, "rounds; each runs every system once, and the table has the medians; 0 for curves only")
	flag.Float64Var(&o.scale, "scale", 1, "factor for the number of turns")
	flag.StringVar(&o.loads, "loads", loadNames(), "loads of a round, comma-separated")
	flag.StringVar(&o.curves, "curves", curveNames(), "curves to measure after the rounds, comma-separated; empty for none")
	flag.BoolVar(&o.together, "together", false, "with a slow model, start all threads at once instead of spread over the time of a turn")
	flag.StringVar(&o.results, "results", "", "file with figures: they are loaded at the start and saved after each system, so that a run can be split")
	flag.StringVar(&o.document, "write", "../docs/performance.md", "document in which to replace the part between the markers")
	flag.BoolVar(&o.print, "print", false, "print the table instead of writing it into the document")
	worker := flag.String("bare-worker", "", "internal: run the worker of the system temporal with these addresses")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *worker != "" {
		if err := runBareWorker(ctx, *worker); err != nil {
			log.Fatal(err)
		}
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Hour)
	defer cancel()
	if err := run(ctx, o); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, o options) error {
	chosen, err := choose(o.only)
	if err != nil {
		return err
	}
	if err := errors.Join(checkNames("loads", o.loads, loadNames()), checkNames("curves", o.curves, curveNames())); err != nil {
		return err
	}
	model, err := llmtest.Listen("127.0.0.1:0", llmtest.Pace{})
	if err != nil {
		return err
	}
	defer model.Close()
	b := &bench{options: o, model: model, figures: figures{}}
	if err := b.figures.load(o.results); err != nil {
		return err
	}
	began := time.Now()
	for round := range o.rounds {
		// The order changes each round, so that no system always runs after the same one.
		for i := range chosen {
			s := chosen[(i+round)%len(chosen)]
			progress("round %d of %d: %s", round+1, o.rounds, s.name)
			if err := b.with(ctx, s, b.round); err != nil {
				return err
			}
		}
	}
	if o.curves != "" {
		for _, s := range chosen {
			progress("curves: %s", s.name)
			if err := b.with(ctx, s, b.curve); err != nil {
				return err
			}
		}
	}
	text := b.report(chosen, began)
	if o.print {
		fmt.Print(text)
		return nil
	}
	return stack.WriteInto(o.document, "make bench-peers", text)
}

func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s  %s\n", time.Now().Format("15:04:05"), fmt.Sprintf(format, args...))
}

func choose(only string) ([]system, error) {
	if only == "" {
		return systems, nil
	}
	var chosen []system
	for _, name := range strings.Split(only, ",") {
		i := slices.IndexFunc(systems, func(s system) bool { return s.name == name })
		if i < 0 {
			return nil, fmt.Errorf("-only: no system %q; there are %s", name, strings.Join(names(), ", "))
		}
		chosen = append(chosen, systems[i])
	}
	return chosen, nil
}

func loadNames() string {
	var all []string
	for _, l := range roundLoads {
		all = append(all, l.name)
	}
	return strings.Join(all, ",")
}

func curveNames() string {
	var all []string
	for _, c := range curves {
		all = append(all, c.name)
	}
	return strings.Join(all, ",")
}

// named reports whether a list of names, with commas between them, has a name.
func named(list, name string) bool { return slices.Contains(strings.Split(list, ","), name) }

// checkNames returns an error for a name of a flag's list that is not one of all.
func checkNames(flag, list, all string) error {
	for _, name := range strings.Split(list, ",") {
		if name != "" && !named(all, name) {
			return fmt.Errorf("-%s: there is no %q, only %s", flag, name, all)
		}
	}
	return nil
}

// bench is one run of this command.
type bench struct {
	options
	model   *llmtest.Server
	figures figures
}

// with starts a system, warms it up, measures it and stops it.
func (b *bench) with(ctx context.Context, s system, measure func(context.Context, *running) error) error {
	b.model.SetPace(instant)
	r, err := s.start(ctx, b)
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	defer r.stop()
	r.system = s
	if r.document, err = r.upload(ctx, stack.Title, stack.Circular); err == nil {
		err = r.check(ctx)
	}
	if err == nil {
		_, err = stack.Measure(ctx, r.caller, 8, b.turns(40), r.message())
	}
	if err == nil {
		err = measure(ctx, r)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, errors.Join(err, r.logs()))
	}
	return b.figures.save(b.results)
}

// turns is a number of turns, scaled.
func (b *bench) turns(n int) int { return max(int(float64(n)*b.scale), 1) }
