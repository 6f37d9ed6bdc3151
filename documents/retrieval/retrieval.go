// Package retrieval finds the passages for an answer. It searches by words, and by vectors
// when an embedding model is configured, and it selects the passages that an action needs
// from its documents.
package retrieval

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/text/unicode/norm"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
)

// Store has the methods of db.Documents that retrieval needs.
type Store interface {
	VisibleDocuments(ctx context.Context, owner string) ([]chat.Document, error)
	DocumentsByID(ctx context.Context, owner string, ids []string) ([]chat.Document, error)
	DocumentChunks(ctx context.Context, owner, docID string, limit int) ([]chat.Hit, error)
	SearchText(ctx context.Context, owner string, words []db.Word, docIDs []string, k int) ([]chat.Hit, error)
	SearchVector(ctx context.Context, owner string, vector []float32, docIDs []string, k int) ([]chat.Hit, error)
	WordCounts(ctx context.Context, owner string, words []string) (map[string]int, int, error)
}

// Embedder turns texts into vectors; llm.Model is one.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Searcher ranks passages. Safe for concurrent use.
type Searcher struct {
	Store    Store
	Embedder Embedder // nil, or returns llm.ErrNoEmbeddings: search by words only
}

// New makes a Searcher.
func New(s Store, e Embedder) *Searcher { return &Searcher{Store: s, Embedder: e} }

const (
	maxQueryWords = 64              // of a longer text, the rarest words
	fusedRanks    = 50              // ranks of each list that are fused
	embedTimeout  = 3 * time.Second // for the query's vector
	// Reciprocal rank fusion: weight/(fusionRank+rank), summed. With these values a
	// fusion with weak vectors is in no case much worse than words alone, and the best
	// passage by vectors is among the first ten (bench/recall, docs/quality.md).
	fusionRank   = 10
	wordWeight   = 1.0
	vectorWeight = 0.6
)

// Search returns the k best passages for a query, best first. If docIDs is nil, it searches
// all documents that owner may see. Scores of different searches cannot be compared.
func (s *Searcher) Search(ctx context.Context, owner, query string, docIDs []string, k int) ([]chat.Hit, error) {
	if k < 1 {
		return nil, nil
	}
	query = norm.NFC.String(query)
	inOrder, err := s.splitCompounds(ctx, owner, query, searchWords(query))
	if err != nil {
		return nil, err
	}
	words, err := s.queryWords(ctx, owner, inOrder)
	if err != nil {
		return nil, err
	}
	var byWords, byVector []chat.Hit
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		if len(words) > 0 {
			asked := withAlike(query, words)
			byWords, err = s.Store.SearchText(gctx, owner, asked, docIDs, max(k, fusedRanks))
			byWords = byRows(query, asked, bySurroundings(byPhrases(inOrder, byWords)))
		}
		return err
	})
	if s.Embedder != nil {
		g.Go(func() error {
			byVector = s.vectorHits(gctx, owner, query, docIDs, max(k, fusedRanks))
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	hits := byWords
	if len(byVector) > 0 {
		hits = fuse(byWords, byVector)
	}
	hits = ownFirst(hits)
	return hits[:min(k, len(hits))], nil
}

// publicShare is what the score of a public document's passage counts beside one of the
// person's own documents.
const publicShare = 0.7

// ownFirst ranks a person's own documents before samples and shared ones that match equally
// well.
func ownFirst(hits []chat.Hit) []chat.Hit {
	if !slices.ContainsFunc(hits, func(h chat.Hit) bool { return !h.Public }) {
		return hits
	}
	for i, h := range hits {
		if h.Public {
			hits[i].Score *= publicShare
		}
	}
	slices.SortStableFunc(hits, func(a, b chat.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits
}

// vectorHits searches by the query's vector. It returns nil without an embedding model, and
// when it fails; then Search uses words only.
func (s *Searcher) vectorHits(ctx context.Context, owner, query string, docIDs []string, k int) []chat.Hit {
	embedCtx, cancel := context.WithTimeout(ctx, embedTimeout)
	defer cancel()
	vectors, err := s.Embedder.Embed(embedCtx, []string{query})
	if errors.Is(err, llm.ErrNoEmbeddings) {
		return nil
	}
	var hits []chat.Hit
	if err == nil && len(vectors) == 1 {
		hits, err = s.Store.SearchVector(ctx, owner, vectors[0], docIDs, k)
	}
	if err != nil && ctx.Err() == nil {
		slog.WarnContext(ctx, "vector search failed; searching by words only", "error", err)
	}
	return hits
}

// fuse ranks the hits of both lists by reciprocal rank fusion; ties keep the
// order of words.
func fuse(byWords, byVector []chat.Hit) []chat.Hit {
	at := map[string]int{}
	var out []chat.Hit
	add := func(list []chat.Hit, weight float64) {
		for rank, h := range list {
			i, ok := at[h.ID]
			if !ok {
				i = len(out)
				at[h.ID] = i
				h.Score = 0
				out = append(out, h)
			}
			out[i].Score += weight / float64(fusionRank+rank+1)
		}
	}
	add(byWords, wordWeight)
	add(byVector, vectorWeight)
	slices.SortStableFunc(out, func(a, b chat.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return out
}

// searchWords returns the words of a query that say what it is about, in order. If there
// are none, it returns the query's other words.
func searchWords(query string) []string {
	words := language.AskedWords(query)
	if len(words) == 0 {
		words = language.Words(query)
	}
	words = append(words, accountWords(query)...)
	about := slices.DeleteFunc(slices.Clone(words), language.IsRequestWord)
	if len(about) == 0 {
		return words
	}
	return about
}

// queryWords returns a query's searchWords without duplicates; for a long text, the rarest
// of them.
func (s *Searcher) queryWords(ctx context.Context, owner string, inOrder []string) ([]string, error) {
	words := language.Distinct(inOrder)
	if len(words) <= maxQueryWords {
		return words, nil
	}
	words = words[:min(len(words), 4*maxQueryWords)]
	w, err := s.weigh(ctx, owner, words)
	if err != nil {
		return nil, err
	}
	words = slices.DeleteFunc(words, func(word string) bool { return w.counts[word] == 0 })
	slices.SortStableFunc(words, func(a, b string) int { return cmp.Compare(w.counts[a], w.counts[b]) })
	return words[:min(len(words), maxQueryWords)], nil
}
