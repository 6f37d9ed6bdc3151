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
	terms           []string
	found           [][]match // by term
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

// group is a term with the terms similar to it.
type group struct {
	term  string
	alike []alike
}

type alike struct {
	term   string
	weight float64
}

// groups pairs the words of a search with their terms, which are in the order of
// flat.Texts. A term that occurs twice is one.
func groups(flat record.Flat, terms []wordTerm) []group {
	own := map[int][]int{} // the groups of a word, by its place among the words
	at := map[string]int{}
	var out []group
	for _, t := range terms {
		if flat.Word[t.word] != t.word {
			continue
		}
		i, ok := at[t.term]
		if !ok {
			i = len(out)
			at[t.term] = i
			out = append(out, group{term: t.term})
		}
		own[t.word] = append(own[t.word], i)
	}
	for _, t := range terms {
		if flat.Word[t.word] == t.word {
			continue
		}
		for _, i := range own[flat.Word[t.word]] {
			out[i].alike = append(out[i].alike, alike{t.term, flat.Weights[t.word]})
		}
	}
	return out
}

// rank returns the k best chunks. A chunk's score is the sum, over the groups, of the best
// score of a group's terms. Ties: older text first, then by place in it. Scores are
// rounded, because a sum depends on its order.
func (m matches) rank(groups []group, k int) []vector.Scored {
	at := make(map[string]int, len(m.terms))
	for i, term := range m.terms {
		at[term] = i
	}
	scores := map[int64]float64{}
	for _, g := range groups {
		best := map[int64]float64{}
		m.score(best, at[g.term], 1, m.rarity(at[g.term]))
		for _, a := range g.alike {
			m.score(best, at[a.term], a.weight, min(m.rarity(at[a.term]), m.rarity(at[g.term])))
		}
		for chunk, score := range best {
			scores[chunk] += score
		}
	}
	best := vector.Best{Most: k}
	for chunk, score := range scores {
		best.Offer(vector.Scored{ID: chunk, Score: math.Round(score*1e9) / 1e9})
	}
	return best.Ranking()
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
