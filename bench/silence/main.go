// Command silence measures how long a turn stalls when its worker freezes (SIGSTOP:
// its connections stay open), or with -outage when Temporal is unreachable for a
// moment. Every program runs in its own process, on SQLite.
//
//	go run ./bench/silence -server bin/palaver-standalone -palaver bin/palaver -workers 2,4
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/palaver-chat/palaver/bench/chaos/storm"
)

func main() {
	var o storm.Options
	flag.StringVar(&o.Server.Path, "server", "bin/palaver-standalone", "program that runs Temporal and NATS (with --only-infra)")
	flag.StringVar(&o.Palaver.Path, "palaver", "bin/palaver", "program of the roles worker and api")
	workers := flag.String("workers", "2", "worker counts, comma-separated")
	rounds := flag.Int("rounds", 5, "turns for each number of workers")
	serverFlags := flag.String("server-flags", "", "further flags of the server, space-separated: --temporal-defaults leaves Temporal's limits as shipped")
	outage := flag.Duration("outage", 0, "cut Temporal off for this long instead of freezing a worker")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o.APIs, o.Hiccup, o.ServerFlags = 1, *outage, strings.Fields(*serverFlags)
	for _, n := range strings.Split(*workers, ",") {
		var err error
		if o.Workers, err = strconv.Atoi(n); err == nil {
			err = measure(ctx, o, *rounds)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "silence:", err)
			os.Exit(1)
		}
	}
}

func measure(ctx context.Context, o storm.Options, rounds int) (err error) {
	for _, p := range []*storm.Program{&o.Server, &o.Palaver} {
		if p.Path, err = filepath.Abs(p.Path); err != nil {
			return err
		}
	}
	run, what := storm.FreezeWorker, "until another worker calls the model"
	if o.Hiccup > 0 {
		run, what = storm.CutTemporal, "from the outage's end until the turn's"
	}
	var took []time.Duration
	var tries []int32
	calls := 0
	for range rounds {
		s, err := once(ctx, o, run)
		if err != nil {
			return err
		}
		took, tries, calls = append(took, s.Took.Round(10*time.Millisecond)), append(tries, s.Tries), calls+s.Calls
		fmt.Fprintf(os.Stderr, "%d workers: %v, %d tries, %d model calls\n", o.Workers, s.Took.Round(time.Millisecond), s.Tries, s.Calls)
	}
	slices.Sort(took)
	slices.Sort(tries)
	fmt.Printf("%d workers, %d turns, %s: median %v, longest %v; tries: median %d, most %d; model calls: %d\n",
		o.Workers, rounds, what, took[rounds/2], took[rounds-1], tries[rounds/2], tries[rounds-1], calls)
	return nil
}

// once measures one turn on a new fleet.
func once(ctx context.Context, o storm.Options, run func(context.Context, storm.Options) (storm.Silence, error)) (_ storm.Silence, err error) {
	if o.Dir, err = os.MkdirTemp("", "palaver-silence-"); err != nil {
		return storm.Silence{}, err
	}
	defer func() { _ = os.RemoveAll(o.Dir) }()
	return run(ctx, o)
}
