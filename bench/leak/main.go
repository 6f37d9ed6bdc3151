// Command leak looks for what reaches people who may not read it. It starts Palaver, lets people
// share documents and conversations in spaces, reads spaces in private conversations, changes the members at random, and calls every
// route of the OpenAPI document, every dialect and /mcp. Each document, conversation and space
// has a canary: a word that is nowhere else. It fails when a canary is in a response to, a model
// prompt for, or a link of somebody without the right, in rows that Postgres shows them through
// row-level security, in the log, in traces without contents, or in what Temporal stores; also in
// the moment after a right was withdrawn, by a manager, by a token without the group, or because
// an account was deleted.
//
//	make standalone && go -C bench run ./leak -store both -requests 100000
//	go -C bench run ./leak -store both -cost 300000   # measures searches instead
//
// A request names no canary of others, so nothing is echoed. It may return what its caller was
// allowed to read at any time between its start and its end. -seed determines the requests, not
// their order.
//
// It fails when one of these checks is removed: the space of the call and the membership in
// Store.shows; "c.owner = @owner OR c.shared" in ConversationsInSpace; "shared" in AuthorInSpace; ClearPersonGroups in
// Store.PutGroups; the members in palaver_libraries (Postgres); that the LangGraph dialect enters
// the space that a message names; "!space.MayUse" in Kit.toolsOf; checkBoundPicture in
// server.checkSubmit, and in server.getAttachment; "c.shared OR c.owner = @reader" in
// AttachedInSpace; "documents.owner <> ALL(@authors) OR
// documents.thread_id = ANY(@threads)" in VisibleDocuments.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
)

type options struct {
	server                            string
	requests, people, spaces, workers int
	seed                              uint64
}

func main() {
	var o options
	flag.StringVar(&o.server, "server", "../bin/palaver-standalone", "program to test")
	store := flag.String("store", "both", "sqlite, postgres (a database of its own on 127.0.0.1:5432, or on a server started for it) or both")
	flag.IntVar(&o.requests, "requests", 10_000, "requests per store")
	flag.IntVar(&o.people, "people", 50, "people")
	flag.IntVar(&o.spaces, "spaces", 20, "spaces, each with a manager who stays")
	flag.IntVar(&o.workers, "workers", 6, "requests at the same time")
	flag.Uint64Var(&o.seed, "seed", 0, "random seed; 0: a new one")
	passages := flag.Int("cost", 0, "measure searches among so many passages instead, for example 300000")
	flag.Parse()
	if o.seed == 0 {
		o.seed = uint64(time.Now().UnixNano())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	stores := []string{*store}
	if *store == "both" {
		stores = []string{"sqlite", "postgres"}
	}
	failed := false
	for _, name := range stores {
		run := func() (bool, error) { return onStore(ctx, o, name) }
		if *passages > 0 {
			run = func() (bool, error) { return cost(ctx, name, *passages, o.seed) }
		}
		ok, err := run()
		if err != nil {
			fmt.Fprintf(os.Stderr, "leak: %s: %v\n", name, err)
		}
		failed = failed || !ok || err != nil
	}
	if failed {
		os.Exit(1)
	}
}

// onStore runs against one store; ok when nothing leaked.
func onStore(ctx context.Context, o options, store string) (ok bool, _ error) {
	dir, err := os.MkdirTemp("", "palaver-leak-")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	env, database := []string{"PALAVER_DATA_DIR=" + dir}, ""
	switch store {
	case "sqlite":
	case "postgres":
		var drop func()
		if database, drop, err = pgtest.Create(ctx); err != nil {
			return false, err
		}
		defer drop()
		env = append(env, "DATABASE_URL="+database)
	default:
		return false, fmt.Errorf("-store: %q is not sqlite, postgres or both", store)
	}
	fmt.Fprintf(os.Stderr, "%s: seed %d\n", store, o.seed)
	began := time.Now()
	w, stop, err := open(ctx, o, env)
	if err != nil {
		return false, err
	}
	defer stop()
	if database != "" {
		stop, err := w.openRows(ctx, database)
		if err != nil {
			return false, err
		}
		defer stop()
	}
	if err := w.fill(ctx); err != nil {
		return false, err
	}
	w.walk(ctx)
	stop() // log and traces are complete
	if err := w.readTemporal(dir); err != nil {
		return false, err
	}
	fmt.Printf("%s: %d requests (%d of them turns, %d prompts) in %s, %d changes of members, %d people deleted; %d batches of traces, %d kB of Temporal\n", store, w.sent.Load(), w.turns.Load(), w.prompts.Load(),
		time.Since(began).Round(time.Second), w.changes.Load(), w.deleting.Load(), w.traces.Load(), w.temporal>>10)
	return w.report() && w.traces.Load() > 0, ctx.Err()
}

// report prints what leaked, and what was never read by anybody with the right.
func (w *world) report() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.leaks[:min(len(w.leaks), 20)] {
		fmt.Println("  LEAK:", l)
	}
	fmt.Printf("  %d canaries, read with the right %d times by %d routes; %d leaks\n", len(w.canaries), w.legal, len(w.reached), len(w.leaks))
	ok := len(w.leaks) == 0
	for _, d := range asks {
		if w.reached[d.path+" "+d.name] == 0 {
			fmt.Printf("  NOT TESTED: %s (%s) showed no canary to anybody\n", d.path, d.name)
			ok = false
		}
	}
	for _, name := range []string{"a tool that the space allows", "with a bound key", "/api/chat" + besideName, "GET" + besideName} {
		if w.reached[name] == 0 {
			fmt.Printf("  NOT TESTED: %s\n", name)
			ok = false
		}
	}
	var names []string
	for name := range w.reached {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Printf("    %6d  %s\n", w.reached[name], name)
	}
	return ok
}
