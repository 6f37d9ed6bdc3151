// Command vectors measures semantic search over many passages of one owner, in both
// stores: how long a question takes, and how many of the ten nearest passages are found.
//
//	go run ./bench/vectors -passages 50000 -dimensions 1536
//	go run ./bench/vectors -postgres postgres://postgres@127.0.0.1:5432/postgres   # a server with pgvector
//
// The vectors are generated at random, not by a model: topics, passages near a topic, and
// questions near a passage. Another owner has a tenth as many passages about the same
// topics.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
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
	passages, dimensions, queries int
	postgres, stores              string
}

func main() {
	var o options
	flag.IntVar(&o.passages, "passages", 50_000, "passages of the owner")
	flag.IntVar(&o.dimensions, "dimensions", 1536, "numbers of a vector")
	flag.IntVar(&o.queries, "queries", 200, "questions")
	flag.StringVar(&o.postgres, "postgres", "", "server on which to create a database; without it one is started")
	flag.StringVar(&o.stores, "stores", "sqlite,postgres", "stores to measure")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	if err := run(ctx, o); err != nil {
		log.Fatal(err)
	}
}

const (
	hits       = 10
	perTopic   = 100 // passages
	perOther   = 10  // passages of the owner for each one of the other owner
	ofDocument = 1000
	owner      = "ann"
	other      = "bob"
)

func run(ctx context.Context, o options) error {
	s := made(o)
	fmt.Printf("%d passages of one owner, %d dimensions, %d questions\n\n| store | search | p50 | p95 | recall@%d |\n|---|---|---|---|---|\n", o.passages, o.dimensions, o.queries, hits)
	for _, name := range strings.Split(o.stores, ",") {
		if err := measureStore(ctx, o, s, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func measureStore(ctx context.Context, o options, s *set, name string) (err error) {
	store, end, err := open(ctx, o, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close(), end()) }()
	began := time.Now()
	if err := s.store(ctx, store); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s: stored in %s; %s\n", name, time.Since(began).Round(time.Second), store.VectorSearch())
	if err := s.measure(ctx, store, name, "exact"); err != nil || !strings.HasPrefix(store.VectorSearch(), "hnsw") {
		return err
	}
	began = time.Now()
	if err := store.IndexVectors(ctx); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s: indexed in %s\n", name, time.Since(began).Round(time.Second))
	return s.measure(ctx, store, name, "HNSW")
}

// open opens an empty store; end removes it.
func open(ctx context.Context, o options, name string) (_ db.Store, end func() error, err error) {
	if name == "sqlite" {
		dir, err := os.MkdirTemp("", "palaver-vectors-")
		if err != nil {
			return nil, nil, err
		}
		s, err := sqlite.Open(ctx, filepath.Join(dir, "palaver.db"))
		return s, func() error { return os.RemoveAll(dir) }, err
	}
	server, stop := o.postgres, func() {}
	if server == "" {
		p, err := stack.StartPostgres(ctx, nil)
		if err != nil {
			return nil, nil, err
		}
		server, stop = p.URL, p.Stop
	}
	database := fmt.Sprintf("palaver_vectors_%d", os.Getpid())
	at, err := url.Parse(server)
	if err != nil {
		return nil, nil, err
	}
	at.Path = "/" + database
	if err := statement(ctx, server, "CREATE DATABASE "+database); err != nil {
		return nil, nil, err
	}
	s, err := postgres.Open(ctx, at.String())
	return s, func() error {
		defer stop()
		return statement(context.WithoutCancel(ctx), server, "DROP DATABASE "+database+" WITH (FORCE)")
	}, err
}

func statement(ctx context.Context, server, sql string) error {
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql)
	return errors.Join(err, conn.Close(ctx))
}

// set has the vectors of passages and questions, and the passages nearest to each question.
type set struct {
	own, others, questions [][]float32
	nearest                [][]int
}

func made(o options) *set {
	r := rand.New(rand.NewPCG(1, 2))
	topics := make([][]float32, max(o.passages/perTopic, 1))
	for i := range topics {
		topics[i] = near(r, make([]float32, o.dimensions), 1)
	}
	s := &set{}
	for range o.passages {
		s.own = append(s.own, near(r, topics[r.IntN(len(topics))], 0.7))
	}
	for range o.passages / perOther {
		s.others = append(s.others, near(r, topics[r.IntN(len(topics))], 0.7))
	}
	for range o.queries {
		q := near(r, s.own[r.IntN(len(s.own))], 0.7)
		s.questions, s.nearest = append(s.questions, q), append(s.nearest, top(s.own, q))
	}
	return s
}

// near returns a vector of length 1 at about a distance from v in a random direction.
func near(r *rand.Rand, v []float32, distance float64) []float32 {
	n := make([]float32, len(v))
	scale, sum := distance/math.Sqrt(float64(len(v))), 0.0
	for i := range n {
		x := float64(v[i]) + r.NormFloat64()*scale
		n[i], sum = float32(x), sum+x*x
	}
	for i := range n {
		n[i] /= float32(math.Sqrt(sum))
	}
	return n
}

// top returns the indexes of the vectors with the greatest dot product with q.
func top(vectors [][]float32, q []float32) []int {
	var places []int
	var scores []float64
	for i, v := range vectors {
		var score float64
		for j, x := range v {
			score += float64(x) * float64(q[j])
		}
		at := len(scores)
		for at > 0 && scores[at-1] < score {
			at--
		}
		if at < hits {
			places, scores = append(places[:at:at], append([]int{i}, places[at:]...)...), append(scores[:at:at], append([]float64{score}, scores[at:]...)...)
			places, scores = places[:min(hits, len(places))], scores[:min(hits, len(scores))]
		}
	}
	return places
}

func (s *set) store(ctx context.Context, store db.Store) error {
	for name, vectors := range map[string][][]float32{owner: s.own, other: s.others} {
		for n := 0; n*ofDocument < len(vectors); n++ {
			id := documentID(name, n)
			part := vectors[n*ofDocument : min((n+1)*ofDocument, len(vectors))]
			if err := store.CreateDocument(ctx, chat.Document{ID: id, Owner: name, Title: id, Format: "txt"}, nil); err != nil {
				return err
			}
			if err := store.StoreText(ctx, name, id, "", make([]chat.Chunk, len(part)), part); err != nil {
				return err
			}
		}
	}
	return nil
}

func documentID(owner string, n int) string { return fmt.Sprintf("%s-%d", owner, n) }

func (s *set) measure(ctx context.Context, store db.Store, name, search string) error {
	var times stack.Times
	found := 0
	for i, q := range s.questions {
		began := time.Now()
		list, err := store.SearchVector(ctx, owner, q, nil, hits)
		if err != nil {
			return err
		}
		times = append(times, time.Since(began))
		for _, h := range list {
			for _, place := range s.nearest[i] {
				if h.DocID == documentID(owner, place/ofDocument) && h.Ordinal == place%ofDocument {
					found++
				}
			}
		}
	}
	fmt.Printf("| %s | %s | %s | %s | %.3f |\n", name, search, times.At(0.5).Round(time.Millisecond/10), times.At(0.95).Round(time.Millisecond/10), float64(found)/float64(hits*len(s.questions)))
	return nil
}
