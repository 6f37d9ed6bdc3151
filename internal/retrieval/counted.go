package retrieval

import (
	"slices"

	"github.com/palaver-chat/palaver/internal/language"
)

// A question "how many members does the club have?" is answered by a number of members
// only, and not by what else is said about members.

const (
	countedWords = 4 // words after a number, one of which is what it counts: "six small children"
	numberWithin = 3 // words after a noun, one of which is its number: "members: 250"
)

// countedStems are the stems of the noun behind "how many", with its adjectives, and of
// words that mean the same. They are empty when the question counts nothing, and for "how
// many times".
func countedStems(query string) map[string]bool {
	words := language.Words(language.Commands(query))
	at := -1
	for i := 0; i+2 < len(words); i++ {
		if words[i] == "how" && words[i+1] == "many" {
			at = i + 2
			break
		}
	}
	if at < 0 || words[at] == "times" {
		return nil
	}
	out := map[string]bool{}
	for _, w := range words[at:] {
		if language.IsStopWord(w) {
			break
		}
		out[language.Stem(w)] = true
	}
	alike := alikeStems(query)
	for stem := range out {
		for other := range alike[stem] {
			out[other] = true
		}
	}
	return out
}

// countsIn reports whether a sentence has a number of what the question counts. Of a time
// it may be in another unit.
func (q question) countsIn(sentence string) bool {
	if q.countsTime() && slices.ContainsFunc(language.Quantities(sentence), func(x language.Quantity) bool { return x.Unit == language.Time }) {
		return true
	}
	words := language.Words(language.WithoutClauseNumber(sentence))
	for i, w := range words {
		within := countedWords
		switch {
		case language.IsNumber(w):
		case q.counted[language.Stem(w)]:
			within = numberWithin
		default:
			continue
		}
		for _, next := range words[i+1 : min(len(words), i+1+within)] {
			if language.IsNumber(w) && q.counted[language.Stem(next)] || !language.IsNumber(w) && language.IsNumber(next) {
				return true
			}
		}
	}
	return false
}

func (q question) countsTime() bool {
	for stem := range q.counted {
		if language.IsTimeStem(stem) {
			return true
		}
	}
	return false
}
