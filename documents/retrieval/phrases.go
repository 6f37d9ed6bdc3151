package retrieval

import (
	"cmp"
	"slices"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
)

// Words that follow each other in the query often also do so in the passage that is meant
// ("capital requirement", "notice period"). A passage's score rises with the share of such
// pairs that it has, because BM25 ignores the order of words (bench/recall).
const (
	adjacentGain = 2.0 // for pairs that are adjacent in the passage
	nearGain     = 1.0 // for pairs that are near each other in the passage
	adjacent     = 2   // maximum distance in words: one word may stand between
	near         = 10  // maximum distance in words
)

// byPhrases ranks hits by their scores and by the pairs of the query's words that they have.
func byPhrases(words []string, hits []chat.Hit) []chat.Hit {
	if len(words) < 2 {
		return hits
	}
	stems := make([]string, len(words))
	starts := map[string]bool{} // words of a passage with another start are not stemmed
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

// start returns the first bytes of a word, which its stem has, too.
func start(word string) string { return word[:min(2, len(word))] }

// places returns the positions of a text's words by stem, for words that begin with one of
// starts.
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

// gain returns the factor for a passage's score, at least 1. at has the positions of the
// passage's words by stem.
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

// closest returns the smallest distance, in words, from a position of the first word to
// one of the next word. In reverse order the distance counts one more. Both lists must be
// in order. If no distance is at most near, it returns near+1.
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
