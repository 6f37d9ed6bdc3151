package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/postgres"
	"github.com/palaver-chat/palaver/db/sqlite"
	"github.com/palaver-chat/palaver/documents/retrieval"
	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
)

// What the cost of spaces is measured on.
const (
	costSpaces  = 100
	costReads   = 20  // spaces that the person reads, every second one by a group
	costChunks  = 100 // of a document
	costWords   = 40  // of a chunk
	costQueries = 400
	costMargin  = 1.2
	// costProgress is the number of passages between lines of progress.
	costProgress = 10_000
	// people: who reads the spaces, who owns as much as one space, and as much as all that reader reads
	reads, owns, ownsMore = "reader", "owner", "owner of more"
)

// cost measures searches by somebody who reads 20 of 100 spaces, in one of them and with all of
// them in the scope, and searches of people who own as much and are in no space. It fails when the
// slower twentieth takes 1.2 times as long.
func cost(ctx context.Context, store string, passages int, seed uint64) (ok bool, err error) {
	dir, err := os.MkdirTemp("", "palaver-cost-")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	var s db.Store
	if store == "sqlite" {
		s, err = sqlite.Open(ctx, filepath.Join(dir, "palaver.db"))
	} else {
		var database string
		var drop func()
		if database, drop, err = pgtest.Create(ctx); err != nil {
			return false, err
		}
		defer drop()
		s, err = postgres.Open(ctx, database)
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = s.Close() }()
	began, random := time.Now(), rand.New(rand.NewPCG(seed, 2))
	spaces, err := fillCost(ctx, s, passages, random)
	if err != nil {
		return false, err
	}
	loaded := time.Since(began).Round(time.Second)
	search := retrieval.New(s, nil)
	all := db.InSpace(ctx, chat.Scope(spaces[:costReads]))
	times := make([][]time.Duration, 4)
	for n := range costQueries + 20 { // the first ones warm up
		query := strings.Join([]string{someWord(random), someWord(random), someWord(random)}, " ")
		for i, one := range []struct {
			ctx context.Context
			who string
		}{{db.InSpace(ctx, spaces[random.IntN(costReads)]), reads}, {ctx, owns}, {all, reads}, {ctx, ownsMore}} {
			at := time.Now()
			if _, err := search.Search(one.ctx, one.who, query, nil, 10); err != nil {
				return false, err
			}
			if n >= 20 {
				times[i] = append(times[i], time.Since(at))
			}
		}
	}
	fmt.Printf("%s: %d passages (%s), %d spaces, %d of them read; p95 of %d searches\n", store, passages, loaded, costSpaces, costReads, costQueries)
	ok = true
	for i, name := range []string{"in a space", fmt.Sprintf("with %d spaces in the scope", costReads)} {
		a, b := p95(times[2*i]), p95(times[2*i+1])
		ratio := float64(a) / float64(b)
		fmt.Printf("  %s %s, of an owner of as much %s, ratio %.2f (limit %.1f)\n", name, a.Round(10*time.Microsecond), b.Round(10*time.Microsecond), ratio, costMargin)
		ok = ok && ratio <= costMargin
	}
	return ok, nil
}

func p95(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)*95/100]
}

// someWord returns a word: few are frequent, many are rare, as in texts.
func someWord(random *rand.Rand) string {
	return fmt.Sprintf("word%d", int(math.Pow(20_000, random.Float64())))
}

// fillCost makes the spaces and their documents, and as many of owners. It returns the
// spaces, those that the person reads first.
func fillCost(ctx context.Context, s db.Store, passages int, random *rand.Rand) (spaces []string, err error) {
	if err := s.PutGroups(ctx, reads, []string{"team"}, time.Now().Add(time.Hour)); err != nil {
		return nil, err
	}
	owners := append([]string{owns}, slices.Repeat([]string{ownsMore}, costReads)...)
	for n := range costSpaces {
		id := fmt.Sprintf("space-%d", n)
		if err := s.CreateSpace(ctx, fmt.Sprintf("manager-%d", n), chat.Space{ID: id, Name: id}); err != nil {
			return nil, err
		}
		if n < costReads {
			m := chat.SpaceMember{ID: reads, Role: chat.Reader}
			if n%2 == 1 {
				m.Group, m.ID = true, "team"
			}
			if err := s.PutSpaceMember(ctx, fmt.Sprintf("manager-%d", n), id, m); err != nil {
				return nil, err
			}
		}
		spaces, owners = append(spaces, id), append(owners, chat.SpaceOwner(id))
	}
	for n := range passages / costChunks {
		if done := n * costChunks; done > 0 && done%costProgress == 0 {
			fmt.Fprintf(os.Stderr, "  %d of %d passages\n", done, passages)
		}
		d := chat.Document{ID: fmt.Sprintf("doc-%d", n), Owner: owners[n%len(owners)], Title: fmt.Sprintf("Document %d", n), CreatedAt: time.Now()}
		if err := s.CreateDocument(ctx, d, nil); err != nil {
			return nil, err
		}
		var text strings.Builder
		var chunks []chat.Chunk
		for range costChunks {
			start := text.Len()
			for range costWords {
				text.WriteString(someWord(random) + " ")
			}
			chunks = append(chunks, chat.Chunk{Text: text.String()[start:], Start: start, End: text.Len()})
		}
		if err := s.StoreText(ctx, d.Owner, d.ID, text.String(), chunks, nil); err != nil {
			return nil, err
		}
	}
	return spaces, nil
}
