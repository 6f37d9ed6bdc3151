// Command storm starts every program of Palaver in its own process and lets
// simulated users talk on many threads in all supported ways. Meanwhile, at random,
// it kills workers, API processes, Temporal or everything (SIGKILL), freezes them
// (SIGSTOP), sets clocks, fills the disk, loses imports in Temporal, and drops, stalls or
// delays Temporal, NATS and the database. Users sign in meanwhile, and backups are made. At
// the end it compares what users saw with the database, the workflows' histories and the
// requests to the model, restores the last backup, and exits with 1 if a promise was broken
// (docs/reliability.md lists them).
//
//	go -C bench run ./storm -store both
//
// -seed determines the faults and the ways of talking, but not their exact timing:
// a run can be repeated, not replayed.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
	"github.com/palaver-chat/palaver/testkit/storm"
)

func main() {
	var o storm.Options
	flag.StringVar(&o.Server.Path, "server", "../bin/palaver-standalone", "program that runs Temporal and NATS (with --only-infra)")
	flag.StringVar(&o.Palaver.Path, "palaver", "../bin/palaver", "program of the roles worker and api")
	store := flag.String("store", "both", "sqlite, postgres (a database of its own on 127.0.0.1:5432, or on a server started for it) or both")
	flag.IntVar(&o.Rounds, "rounds", 40, "faults per store")
	flag.IntVar(&o.Threads, "threads", 20, "threads that run turns all the time")
	flag.IntVar(&o.Workers, "workers", 2, "worker processes")
	flag.IntVar(&o.APIs, "apis", 2, "API processes")
	flag.Uint64Var(&o.Seed, "seed", 0, "random seed of faults and messages; 0: a new one")
	flag.DurationVar(&o.ClocksApart, "clocks-apart", 8*time.Second, "span over which the clocks of the API processes are spread")
	short := flag.Bool("short", false, "fewer threads and faults, none of them long: about a minute per store")
	only := flag.String("only", "", "names of faults, comma-separated: only these; \"list\" shows them")
	flag.DurationVar(&o.MaxGap, "goes-on", 10*time.Second, "longest that a turn may stall after its worker died or stopped answering, while another worker runs")
	keep := flag.String("keep", "", "folder for data and logs, which are kept; without it they are kept only after a violation")
	asJSON := flag.Bool("json", false, "report as JSON on standard output")
	flag.Parse()

	o.Calm, o.Fault, o.LongFault, o.Timeout = 4*time.Second, 8*time.Second, 30*time.Second, 5*time.Minute
	o.Freeze, o.Hiccup = 20*time.Second, 2*time.Second
	if *short {
		o.Threads, o.Rounds, o.Calm, o.Fault, o.LongFault = min(o.Threads, 8), min(o.Rounds, 6), 2*time.Second, 3*time.Second, 3*time.Second
		o.Freeze = 8 * time.Second
	}
	if o.Seed == 0 {
		o.Seed = uint64(time.Now().UnixNano())
	}
	if *only == "list" {
		fmt.Println(strings.Join(append(storm.FaultNames(false), storm.FaultNames(true)...), "\n"))
		return
	}
	if *only != "" {
		o.Only = strings.Split(*only, ",")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ok, err := run(ctx, o, *store, *keep, *asJSON)
	if err != nil {
		fmt.Fprintln(os.Stderr, "storm:", err)
	}
	if !ok || err != nil {
		os.Exit(1)
	}
}

// run runs one storm per store; ok when no promise was broken.
func run(ctx context.Context, o storm.Options, store, keep string, asJSON bool) (ok bool, _ error) {
	stores := []string{store}
	switch store {
	case "both":
		stores = []string{"sqlite", "postgres"}
	case "sqlite", "postgres":
	default:
		return false, fmt.Errorf("-store: %q is not sqlite, postgres or both", store)
	}
	ok = true
	var reports []*storm.Report
	for _, s := range stores {
		report, err := one(ctx, o, s, keep)
		if err != nil {
			return false, fmt.Errorf("%s: %w", s, err)
		}
		reports = append(reports, report)
		ok = ok && report.OK()
		if !asJSON {
			if err := report.Write(os.Stdout); err != nil {
				return false, err
			}
		}
	}
	if asJSON {
		out := json.NewEncoder(os.Stdout)
		out.SetIndent("", "  ")
		return ok, out.Encode(reports)
	}
	return ok, nil
}

// one runs a storm on one store, in its own folder and database.
func one(ctx context.Context, o storm.Options, store, keep string) (_ *storm.Report, err error) {
	if keep == "" {
		if o.Dir, err = os.MkdirTemp("", "palaver-storm-"); err != nil {
			return nil, err
		}
	} else if o.Dir, err = filepath.Abs(filepath.Join(keep, store)); err != nil {
		return nil, err
	}
	for _, p := range []*storm.Program{&o.Server, &o.Palaver} {
		if p.Path, err = filepath.Abs(p.Path); err != nil {
			return nil, err
		}
		if _, err := os.Stat(p.Path); err != nil {
			return nil, fmt.Errorf("%w; make build makes it", err)
		}
	}
	if store == "postgres" {
		database, drop, err := pgtest.Create(ctx)
		if err != nil {
			return nil, err
		}
		defer drop()
		o.DatabaseURL = database
	}
	o.Progress = os.Stderr
	fmt.Fprintf(os.Stderr, "%s: seed %d, data and logs in %s\n", store, o.Seed, o.Dir)
	report, err := storm.Run(ctx, o)
	if err == nil && report.OK() && keep == "" {
		err = os.RemoveAll(o.Dir)
	}
	return report, err
}
