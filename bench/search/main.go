// Command search measures retrieval in both stores over many passages of many
// owners, without other load and while documents are stored.
//
//	go run ./bench/search -owners 500 -passages 50000
//
// A query is the one of a turn that names no documents: the best passages among all
// that the owner may see, with their scores.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/postgres"
	"github.com/palaver-chat/palaver/db/sqlite"
	"github.com/palaver-chat/palaver/documents/chunk"
	"github.com/palaver-chat/palaver/documents/retrieval"
	"github.com/palaver-chat/palaver/testkit/stack"
)

// goal is the limit for the 95th percentile.
const goal = 30 * time.Millisecond

func main() {
	owners := flag.Int("owners", 500, "owners")
	passages := flag.Int("passages", 50_000, "passages of all owners together")
	queries := flag.Int("queries", 400, "queries per measurement")
	clients := flag.Int("clients", 1, "queries at once")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()
	if err := run(ctx, *owners, *passages, *queries, *clients); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, owners, passages, queries, clients int) (err error) {
	dir, err := os.MkdirTemp("", "palaver-search-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	lite, err := sqlite.Open(ctx, filepath.Join(dir, "palaver.db"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lite.Close()) }()
	server, err := stack.StartPostgres(ctx, nil)
	if err != nil {
		return err
	}
	defer server.Stop()
	url, err := server.Database(ctx, "palaver")
	if err != nil {
		return err
	}
	pg, err := postgres.Open(ctx, url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pg.Close()) }()

	fmt.Printf("%d passages of %d owners, %d queries at once\n\n%-10s %-24s %-20s %s\n", passages, owners, clients, "store", "", "query p50 / p95", "goal")
	for _, s := range []struct {
		name  string
		store db.Store
	}{{"sqlite", lite}, {"postgres", pg}} {
		l := library{store: s.store, owners: owners, perOwner: max(passages/owners, 1)}
		if err := l.fill(ctx); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		for _, busy := range []bool{false, true} {
			times, stored, err := l.measure(ctx, queries, clients, busy)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			what, verdict := "at rest", "holds"
			if busy {
				what = fmt.Sprintf("%.0f passages/s stored", stored)
			}
			if times.At(0.95) > goal {
				verdict = "missed"
			}
			fmt.Printf("%-10s %-24s %-20s %s: p95 within %s\n", s.name, what, times, verdict, goal)
		}
	}
	return nil
}

// library is a store full of documents.
type library struct {
	store    db.Store
	owners   int
	perOwner int // passages
	stored   int // documents
}

func owner(n int) string { return fmt.Sprintf("owner-%d", n) }

func (l *library) fill(ctx context.Context) error {
	began := time.Now()
	for n := range l.owners {
		if _, err := l.add(ctx, owner(n), l.perOwner); err != nil {
			return err
		}
	}
	fmt.Fprintf(os.Stderr, "stored in %s\n", time.Since(began).Round(time.Second))
	return nil
}

// add stores a document with that many passages.
func (l *library) add(ctx context.Context, owner string, passages int) (int, error) {
	l.stored++
	id := fmt.Sprintf("00000000-0000-4000-8000-%012d", l.stored)
	text := written(rand.New(rand.NewPCG(1, uint64(l.stored))), passages)
	chunks := chunk.ForDocument(id, text)
	if err := l.store.CreateDocument(ctx, chat.Document{ID: id, Owner: owner, Title: fmt.Sprintf("Report %d", l.stored), Format: "txt"}, nil); err != nil {
		return 0, err
	}
	return len(chunks), l.store.StoreText(ctx, owner, id, text, chunks, nil)
}

// The frequencies of words follow Zipf's law, as in natural language.
const (
	vocabulary = 30_000
	sentenceOf = 14  // words
	passageOf  = 130 // words, about the size of a chunk
)

// word returns the word of that rank.
func word(rank uint64) string {
	const letters = "bcdfghklmnprstvz"
	const vowels = "aeiou"
	var b strings.Builder
	for n := rank + 7; n > 0; n /= uint64(len(letters) * len(vowels)) {
		b.WriteByte(letters[n%uint64(len(letters))])
		b.WriteByte(vowels[n/uint64(len(letters))%uint64(len(vowels))])
	}
	return b.String()
}

func words(r *rand.Rand) *rand.Zipf { return rand.NewZipf(r, 1.1, 4, vocabulary) }

func written(r *rand.Rand, passages int) string {
	z := words(r)
	var b strings.Builder
	for n := range passages * passageOf {
		switch {
		case n%passageOf == 0 && n > 0:
			b.WriteString(".\n\n")
		case n%sentenceOf == 0 && n > 0:
			b.WriteString(". ")
		case n > 0:
			b.WriteByte(' ')
		}
		b.WriteString(word(z.Uint64()))
	}
	return b.String() + "."
}

const (
	questionOf = 8   // words
	common     = 100 // most frequent ranks, left out of questions like stop words
)

// measure runs queries. If busy, it stores documents of ten passages meanwhile.
func (l *library) measure(ctx context.Context, queries, clients int, busy bool) (times stack.Times, stored float64, err error) {
	asking, end := context.WithCancel(ctx)
	defer end()
	var storing sync.WaitGroup
	var written int
	var failed error
	began := time.Now()
	if busy {
		storing.Go(func() {
			for n := 0; asking.Err() == nil && failed == nil; n++ {
				var passages int
				passages, failed = l.add(ctx, owner(n%l.owners), 10)
				written += passages
			}
		})
	}
	searcher := retrieval.New(l.store, nil)
	var mu sync.Mutex
	var askers sync.WaitGroup
	for c := range clients {
		askers.Go(func() {
			r := rand.New(rand.NewPCG(2, uint64(c)))
			z := words(r)
			for range max(queries/clients, 1) {
				var question []string
				for len(question) < questionOf {
					if rank := z.Uint64(); rank >= common {
						question = append(question, word(rank))
					}
				}
				sent := time.Now()
				_, e := searcher.Select(ctx, owner(r.IntN(l.owners)), chat.Inquire, strings.Join(question, " "), nil)
				mu.Lock()
				times, err = append(times, time.Since(sent)), errors.Join(err, e)
				mu.Unlock()
				if e != nil {
					return
				}
			}
		})
	}
	askers.Wait()
	took := time.Since(began)
	end()
	storing.Wait()
	return times, float64(written) / took.Seconds(), errors.Join(err, failed)
}
