package retrieval

import (
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/language"
)

// Weights of words that are alike (bench/recall).
const (
	spelledWeight    = 1.0
	equivalentWeight = 0.5
)

// withAlike adds to each word of a query what means the same: its other spelling, and
// everyday words for it that the query does not have itself.
func withAlike(query string, words []string) []db.Word {
	asked := map[string]bool{}
	for _, w := range words {
		asked[language.Stem(w)] = true
	}
	equivalents := language.Equivalents(query)
	out := db.Words(words...)
	for i, w := range words {
		for _, other := range language.OtherSpellings(w) {
			out[i].Alike = append(out[i].Alike, db.Alike{Text: other, Weight: spelledWeight})
		}
		for _, other := range equivalents[language.Stem(w)] {
			if !asked[language.Stem(other)] {
				out[i].Alike = append(out[i].Alike, db.Alike{Text: other, Weight: equivalentWeight})
			}
		}
	}
	return out
}

// alikeStems are, by the stem of a query's word, the stems of what means the same.
func alikeStems(query string) map[string][]string {
	out := map[string][]string{}
	for _, w := range withAlike(query, language.Distinct(language.ContentWords(query))) {
		stem := language.Stem(w.Text)
		for _, a := range w.Alike {
			out[stem] = append(out[stem], language.Stem(a.Text))
		}
	}
	return out
}
