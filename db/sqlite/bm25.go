package sqlite

import (
	"math"

	"github.com/palaver-chat/palaver/db/internal/vector"
)

// match is a chunk with a term.
type match struct {
	chunk     int64   // internal id
	frequency float64 // of the term in the chunk
	words     float64 // of the chunk
}

// matches are the visible chunks with terms of a search, and the statistics of all
// visible chunks. FTS5's own bm25() uses those of the whole index: scores would tell
// what other owners store.
type matches struct {
	chunks, average float64 // visible chunks, and their words on average
	terms           [][]match
}

// add counts an occurrence of a term. Those of one chunk come one after another. A
// word in the heading counts half of one in the text.
func (m *matches) add(term int, chunk int64, inHeading bool, sizes []byte) {
	found := m.terms[term]
	if len(found) == 0 || found[len(found)-1].chunk != chunk {
		found = append(found, match{chunk: chunk, words: float64(indexedWords(sizes))})
	}
	if inHeading {
		found[len(found)-1].frequency += 0.5
	} else {
		found[len(found)-1].frequency++
	}
	m.terms[term] = found
}

// BM25's usual parameters, as in db/postgres.
const (
	k1 = 1.2
	b  = 0.75
)

// rank returns the k best chunks. Ties: older text first, then by place in it. Scores
// are rounded, because a sum depends on its order.
func (m matches) rank(k int) []vector.Scored {
	scores := map[int64]float64{}
	for _, found := range m.terms {
		n := float64(len(found))
		weight := math.Log(1 + (m.chunks-n+0.5)/(n+0.5))
		for _, f := range found {
			scores[f.chunk] += weight * f.frequency * (k1 + 1) / (f.frequency + k1*(1-b+b*f.words/m.average))
		}
	}
	best := vector.Best{Most: k}
	for chunk, score := range scores {
		best.Offer(vector.Scored{ID: chunk, Score: math.Round(score*1e9) / 1e9})
	}
	return best.Ranking()
}
