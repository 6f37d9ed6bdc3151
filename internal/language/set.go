// Package language holds the rules about words, mostly English ones, that search, the offline engine
// and the resolvers of package activities share: words and stems, names in a text,
// amounts and dates, and lists of words of a kind. It does not decide what a message asks
// for; the callers do.
package language

import (
	"maps"
	"strings"
)

// Set is a set of lower-case words.
type Set map[string]bool

// NewSet returns the set of the words in a list that is separated by white space.
func NewSet(list string) Set {
	s := Set{}
	for _, w := range strings.Fields(list) {
		s[w] = true
	}
	return s
}

// Union returns a set of the words of all sets.
func Union(sets ...Set) Set {
	all := Set{}
	for _, s := range sets {
		maps.Copy(all, s)
	}
	return all
}

// Stems returns the set of the words' stems.
func (s Set) Stems() Set {
	stems := Set{}
	for w := range s {
		stems[Stem(w)] = true
	}
	return stems
}
