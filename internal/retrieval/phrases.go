package retrieval

import (
	"cmp"
	"slices"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
)

// Words that follow each other in the query often stand together in the passage that is
// meant ("capital requirement", "notice period"). A passage gains by the share of such
// pairs that it has, which BM25 does not see (bench/recall).
const (
	adjacentGain = 2.0 // by pairs that are adjacent there
	nearGain     = 1.0 // by pairs that are near each other there
	adjacent     = 2   // words ahead at most; one word may stand between
	near         = 10
)

// byPhrases ranks hits by their scores and by the pairs of the query's words that they have.
func byPhrases(words []string, hits []chat.Hit) []chat.Hit {
	if len(words) < 2 {
		return hits
	}
	stems := make([]string, len(words))
	starts := map[string]bool{} // of the words that are worth a stem
	for i, w := range words {
		stems[i] = language.Stem(w)
		starts[start(stems[i])] = true
	}
	for i, h := range hits {
		hits[i].Score *= gain(stems, places(h.Heading+" "+h.Text, starts))
	}
	slices.SortStableFunc(hits, func(a, b chat.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits
}

// start is the part of a word that its stem has, too.
func start(word string) string { return word[:min(2, len(word))] }

// places are the positions of a text's words, by stem.
func places(text string, starts map[string]bool) map[string][]int {
	at := map[string][]int{}
	for i, w := range language.Words(text) {
		if starts[start(w)] {
			stem := language.Stem(w)
			at[stem] = append(at[stem], i)
		}
	}
	return at
}

// gain is the factor by which a passage's score rises.
func gain(stems []string, at map[string][]int) float64 {
	sum := 0.0
	for i, first := range stems[:len(stems)-1] {
		distance := closest(at[first], at[stems[i+1]])
		if distance <= adjacent {
			sum += adjacentGain
		}
		if distance <= near {
			sum += nearGain
		}
	}
	return 1 + sum/float64(len(stems)-1)
}

// closest is the least distance from a place of one word to one of the next. The other
// way round counts one more. Both are in order.
func closest(first, next []int) int {
	least := near + 1
	for _, a := range first {
		from, _ := slices.BinarySearch(next, a)
		if from > 0 {
			least = min(least, a-next[from-1]+1)
		}
		for _, b := range next[from:] {
			if b != a {
				least = min(least, b-a)
				break
			}
		}
	}
	return least
}
