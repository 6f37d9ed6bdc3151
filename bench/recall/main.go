// Command recall compares the full-text rankings of the stores on a labelled set:
// Debian's upgrading checklist names, for every change, the section of the Debian
// Policy Manual about it. The text of a change is the query. A label counts as found
// when a passage of its section or a subsection is among the first k results.
//
//	go run ./bench/recall -postgres postgres://postgres@127.0.0.1:5432/postgres
//
// It creates and drops its own database there. The documents come from Debian's
// package debian-policy; if it is not installed, apt-get downloads it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/postgres"
	"github.com/palaver-chat/palaver/db/sqlite"
	"github.com/palaver-chat/palaver/internal/retrieval"
	"github.com/palaver-chat/palaver/internal/retrieval/chunk"
)

func main() {
	server := flag.String("postgres", "postgres://postgres@127.0.0.1:5432/postgres?sslmode=disable", "server on which to create a database")
	docs := flag.String("docs", "", "folder with policy.txt and upgrading-checklist.txt, gzipped or not; without it the installed or fetched package")
	k := flag.Int("k", 10, "number of results to check")
	margin := flag.Float64("margin", 0.02, "fail when Postgres recalls less than SQLite by more than this")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	if err := run(ctx, *server, *docs, *k, *margin); err != nil {
		log.Fatal(err)
	}
}

const owner = "bench"

func run(ctx context.Context, server, docs string, k int, margin float64) (err error) {
	set, err := load(ctx, docs)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "palaver-recall-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	lite, err := sqlite.Open(ctx, filepath.Join(dir, "palaver.db"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lite.Close()) }()
	address, drop, err := makeDatabase(ctx, server)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, drop()) }()
	pg, err := postgres.Open(ctx, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pg.Close()) }()

	passages := chunk.ForDocument("policy", set.text)
	fmt.Printf("%d passages, %d changes with %d labels\n\n%-10s %-10s %-8s %-18s %s\n", len(passages), len(set.items), set.labels(),
		"store", fmt.Sprintf("recall@%d", k), "MRR", "search p50/p95", "load")
	var recalls []float64
	for _, s := range []struct {
		name  string
		store db.Store
	}{{"sqlite", lite}, {"postgres", pg}} {
		r, err := measure(ctx, s.store, set, passages, k)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		recalls = append(recalls, r.recall)
		fmt.Printf("%-10s %-10.3f %-8.3f %-18s %s\n", s.name, r.recall, r.reciprocal,
			fmt.Sprintf("%s / %s", r.quantile(0.5), r.quantile(0.95)), r.load.Round(time.Millisecond))
	}
	if short := recalls[0] - recalls[1]; short > margin {
		return fmt.Errorf("postgres recalls %.3f less than sqlite; at most %.3f is allowed", short, margin)
	}
	return nil
}

// makeDatabase creates a database on the server.
func makeDatabase(ctx context.Context, server string) (address string, drop func() error, err error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", nil, errors.New("-postgres: not a URL")
	}
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return "", nil, err
	}
	name := fmt.Sprintf("palaver_recall_%d", time.Now().UnixNano())
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		return "", nil, errors.Join(err, conn.Close(ctx))
	}
	u.Path = "/" + name
	return u.String(), func() error {
		ctx := context.WithoutCancel(ctx)
		_, err := conn.Exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)")
		return errors.Join(err, conn.Close(ctx))
	}, nil
}

// load reads and parses both documents.
func load(ctx context.Context, dir string) (labelled, error) {
	policy, checklist, err := documents(ctx, dir)
	if err != nil {
		return labelled{}, err
	}
	return parse(policy, checklist)
}

func measure(ctx context.Context, store db.Store, set labelled, passages []chat.Chunk, k int) (result, error) {
	begun := time.Now()
	if err := store.CreateDocument(ctx, chat.Document{ID: "policy", Owner: owner, Title: "Debian Policy Manual", Format: "txt"}, nil); err != nil {
		return result{}, err
	}
	if err := store.StoreText(ctx, owner, "policy", set.text, passages, nil); err != nil {
		return result{}, err
	}
	r := result{load: time.Since(begun)}
	searcher := retrieval.New(store, nil)
	for _, item := range set.items {
		begun := time.Now()
		hits, err := searcher.Search(ctx, owner, item.text, nil, k)
		if err != nil {
			return result{}, err
		}
		r.times = append(r.times, time.Since(begun))
		for _, label := range item.sections {
			r.count(rankOf(set, hits, label))
		}
	}
	r.finish()
	return r, nil
}

// rankOf returns the rank, from 1, of the first hit in a section; 0 without one.
func rankOf(set labelled, hits []chat.Hit, section string) int {
	for i, h := range hits {
		if set.touches(h.Start, h.End, section) {
			return i + 1
		}
	}
	return 0
}
