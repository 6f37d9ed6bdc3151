package board

import (
	"strings"
	"unicode"
)

// similarAbove is the share of common words from which on two texts count as similar.
const similarAbove = 0.8

// Similar returns the ids of the items of a column that say nearly the same as a text:
// most words are the same, and all numbers.
func (b *Board) Similar(k Kind, text string) (ids []string) {
	words := wordsOf(text)
	for _, item := range b.Items {
		if item.Kind == k && words.nearly(wordsOf(item.Version.Text)) {
			ids = append(ids, item.ID)
		}
	}
	return ids
}

// words has the words of a text as keys; the value says whether the word is a number.
type words map[string]bool

func wordsOf(s string) words {
	all := words{}
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		all[w] = strings.ContainsFunc(w, unicode.IsDigit)
	}
	return all
}

func (a words) nearly(b words) bool {
	common := 0
	for w, isNumber := range a {
		_, both := b[w]
		if isNumber && !both {
			return false
		}
		if both {
			common++
		}
	}
	for w, isNumber := range b {
		if _, both := a[w]; isNumber && !both {
			return false
		}
	}
	all := len(a) + len(b) - common
	return all > 0 && float64(common)/float64(all) >= similarAbove
}
