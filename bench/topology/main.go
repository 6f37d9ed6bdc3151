// Command topology runs Palaver as docs/deploy.md describes it and rehearses what
// operators do: a Temporal server on Postgres with an empty dynamic configuration, NATS,
// two API and two worker processes. It exits with 1 if a promise was broken.
//
//	make test-topology
//
// It restarts every process in turn while people talk, once for each step of turning the
// encryption of histories on, replacing its key and turning it off. It disconnects NATS,
// the database and Temporal, kills a worker, and reads the probes. It makes two backups
// while people talk. It restores the older one, then each database from a different one.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/palaver-chat/palaver/testkit/stack"
)

type options struct {
	binaries stack.Binaries
	temporal string
	people   int
}

func main() {
	var o options
	flag.StringVar(&o.binaries.Standalone, "server", "bin/palaver-standalone", "Palaver's one command, for NATS")
	flag.StringVar(&o.binaries.Palaver, "palaver", "bin/palaver", "Palaver's roles")
	flag.StringVar(&o.temporal, "temporal", "bin/bench-temporal", "Temporal on Postgres (bench/scale/temporal)")
	flag.IntVar(&o.people, "people", 4, "people who talk at once")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute)
	defer cancel()
	if err := run(ctx, o); err != nil {
		log.Fatal("topology: ", err)
	}
	fmt.Println("Every promise held.")
}

func run(ctx context.Context, o options) error {
	began := time.Now()
	say := func(format string, args ...any) {
		fmt.Printf("%6.1fs  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
	}
	s, err := start(ctx, o)
	defer s.stop()
	if err != nil {
		return err
	}
	say("two API and two worker processes run")
	for _, step := range []struct {
		name string
		run  func(context.Context) (string, error)
	}{
		{"rolling restarts", s.rollEncryption},
		{"probes", s.probes},
		{"backup and restore", s.backup},
	} {
		found, err := step.run(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", step.name, err, s.said())
		}
		say("%s: %s", step.name, found)
	}
	return nil
}
