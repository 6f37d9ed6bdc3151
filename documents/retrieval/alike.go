package retrieval

import (
	"slices"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/language"
)

// Weights of words that are alike, measured with bench/recall.
const (
	spelledWeight    = 1.0 // other spellings and irregular forms
	equivalentWeight = 0.5
)

// withAlike adds to each word of a query the words that mean the same: its other spellings
// and irregular forms, compounds with another word of the query, and everyday words for it that
// the query does not have itself.
func withAlike(query string, words []string) []db.Word {
	asked := map[string]bool{}
	for _, w := range words {
		asked[language.Stem(w)] = true
	}
	equivalents, joined := language.Equivalents(query), language.Joined(query)
	compounds := language.Compounds(query)
	out := db.Words(words...)
	for i, w := range words {
		for _, other := range slices.Concat(language.OtherSpellings(w), language.OtherForms(w), joined[w], compounds[w]) {
			out[i].Alike = append(out[i].Alike, db.Alike{Text: other, Weight: spelledWeight})
		}
		for _, other := range equivalents[language.Stem(w)] {
			for _, form := range append([]string{other}, language.OtherForms(other)...) {
				if !asked[language.Stem(form)] {
					out[i].Alike = append(out[i].Alike, db.Alike{Text: form, Weight: equivalentWeight})
				}
			}
		}
	}
	return out
}

// alikeStems returns, by the stem of each word of a query, the stems of the words that mean
// the same, with their weights.
func alikeStems(query string) map[string]map[string]float64 {
	out := map[string]map[string]float64{}
	for _, w := range withAlike(query, language.Distinct(language.ContentWords(query))) {
		covers := map[string]float64{}
		for _, a := range w.Alike {
			stem := language.Stem(a.Text)
			covers[stem] = max(covers[stem], a.Weight)
		}
		out[language.Stem(w.Text)] = covers
	}
	return out
}

// spelledAlike returns only those of alike that are the same word in another form.
func spelledAlike(alike map[string]map[string]float64) map[string]map[string]float64 {
	out := map[string]map[string]float64{}
	for stem, covers := range alike {
		for other, weight := range covers {
			if weight < spelledWeight {
				continue
			}
			if out[stem] == nil {
				out[stem] = map[string]float64{}
			}
			out[stem][other] = weight
		}
	}
	return out
}
