package retrieval

import (
	"slices"

	"github.com/palaver-chat/palaver/internal/language"
)

// Only a number of members answers the question "how many members does the club have?",
// not another statement about members.

const (
	countedWords = 4 // a number counts a noun among this many words after it: "six small children"
	numberWithin = 3 // a noun has a number among this many words after it: "members: 250"
)

// countedStems returns the stems of the noun after "how many", of its adjectives, and of
// words that mean the same. It returns nil when the question counts nothing, and for "how
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

// countsIn reports whether a sentence has a number of what the question counts. A time may
// be in another unit.
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
