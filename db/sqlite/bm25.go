package sqlite

import (
	"math"

	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/vector"
)

// match is a chunk with a term.
type match struct {
	chunk     int64   // internal id
	frequency float64 // of the term in the chunk
	words     float64 // of the chunk
}

// matches are the visible chunks with terms of a search, and the statistics of all
// visible chunks. FTS5's own bm25() uses those of the whole index: scores would reveal
// what other owners store.
type matches struct {
	chunks, average float64 // visible chunks, and their words on average
	documents       float64 // visible ones
	terms           []string
	found           [][]match     // by term
	named           [][]nameMatch // by term
}

// nameMatch is a document with a term in its names, by its edition.
type nameMatch struct {
	edition int64
	other   bool // only in other names than the title and the file's name
}

// add counts an occurrence of a term. The caller passes those of one chunk one after
// another. A word in the heading counts half as much as one in the text.
func (m *matches) add(term int, chunk int64, inHeading bool, sizes []byte) {
	found := m.found[term]
	if len(found) == 0 || found[len(found)-1].chunk != chunk {
		found = append(found, match{chunk: chunk, words: float64(indexedWords(sizes))})
	}
	if inHeading {
		found[len(found)-1].frequency += 0.5
	} else {
		found[len(found)-1].frequency++
	}
	m.found[term] = found
}

// BM25's usual parameters, as in db/postgres.
const (
	k1 = 1.2
	b  = 0.75
)

// rank returns the k best chunks. A chunk's score is the sum, over the groups, of the best
// score of a group's terms, and what the names of its document score (record.NameWeight). Of
// a document that only its names match, the first chunk counts. Ties: older text first, then by place in it. Scores are
// rounded, because a sum depends on its order.
func (m matches) rank(groups []record.Group, k int) []vector.Scored {
	at := make(map[string]int, len(m.terms))
	for i, term := range m.terms {
		at[term] = i
	}
	scores := map[int64]float64{}
	for _, g := range groups {
		best := map[int64]float64{}
		m.score(best, at[g.Term], 1, m.rarity(at[g.Term]))
		for _, a := range g.Alike {
			m.score(best, at[a.Term], a.Weight, min(m.rarity(at[a.Term]), m.rarity(at[g.Term])))
		}
		for chunk, score := range best {
			scores[chunk] += score
		}
	}
	names := m.nameScores(groups, at)
	matched := map[int64]bool{}
	for chunk := range scores {
		edition := chunk >> ordinalBits
		matched[edition] = true
		scores[chunk] += names[edition]
	}
	for edition, score := range names {
		if !matched[edition] {
			scores[edition<<ordinalBits] = score
		}
	}
	best := vector.Best{Most: k}
	for chunk, score := range scores {
		best.Offer(vector.Scored{ID: chunk, Score: math.Round(score*1e9) / 1e9})
	}
	return best.Ranking()
}

// nameScores returns what the names of documents score, by edition.
func (m matches) nameScores(groups []record.Group, at map[string]int) map[int64]float64 {
	scores := map[int64]float64{}
	for _, g := range groups {
		best := map[int64]float64{}
		own := m.nameRarity(at[g.Term])
		for _, a := range append([]record.Alike{{Term: g.Term, Weight: 1}}, g.Alike...) {
			weight := record.NameWeight * a.Weight * min(own, m.nameRarity(at[a.Term]))
			for _, n := range m.named[at[a.Term]] {
				score := weight
				if n.other {
					score *= record.OtherNameShare
				}
				best[n.edition] = max(best[n.edition], score)
			}
		}
		for edition, score := range best {
			scores[edition] += score
		}
	}
	return scores
}

// nameRarity is the weight of a term among the names. A term that no name has, has the most.
func (m matches) nameRarity(term int) float64 {
	n := float64(len(m.named[term]))
	return math.Log(1 + (m.documents-n+0.5)/(n+0.5))
}

// rarity is the weight of a term.
func (m matches) rarity(term int) float64 {
	n := float64(len(m.found[term]))
	return math.Log(1 + (m.chunks-n+0.5)/(n+0.5))
}

// score raises best[chunk] to the term's score, for each chunk with the term.
func (m matches) score(best map[int64]float64, term int, weight, rarity float64) {
	for _, f := range m.found[term] {
		score := weight * rarity * f.frequency * (k1 + 1) / (f.frequency + k1*(1-b+b*f.words/m.average))
		best[f.chunk] = max(best[f.chunk], score)
	}
}
