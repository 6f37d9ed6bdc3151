// Package language holds the rules about words, mostly English ones, that search, the offline engine
// and the resolvers of package activities share: words and stems, names in a text,
// amounts and dates, and lists of words of a kind. It does not decide what a message asks
// for; the callers do.
package language

import (
	_ "embed"
	"maps"
	"strings"
)

//go:embed words.txt
var wordsFile string

var lists = ReadLists(wordsFile)

var stopWords = Union(misspeltQuestionWords, lists.Set("stop words"))

// requestWords ask for an explanation but do not say of what.
var requestWords = lists.Set("request words")

// DocumentNouns are words that people use for a document. All rules share them; a rule
// that accepts more words adds its own.
var DocumentNouns = lists.Set("document nouns")

// TitleNouns are DocumentNouns and more nouns that stand in titles.
var TitleNouns = Union(DocumentNouns, lists.Set("title nouns"))

// Connecting are the words of a message that only mentions documents: verbs of the
// actions, prepositions, polite phrases, and nouns for a document. They add nothing to
// the action.
var Connecting = lists.Set("connecting")

// Pointing are words by which a message refers to something said before.
var Pointing = lists.Set("pointing")

// Determiners stand before a noun without naming it.
var Determiners = lists.Set("determiners")

// Common are words too frequent to tell documents or subjects apart.
var Common = Union(Connecting, Determiners, Pointing, lists.Set("common"))

// TimeUnits are years, months and other units of time, in several languages.
var TimeUnits = lists.Set("units of time")

// QuestionWords begin a question for a fact.
var QuestionWords = lists.Set("question words")

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

// Lists are named lists of words or phrases.
type Lists map[string]string

// ReadLists reads lists from a text. A line "name: words" begins a list, and lines that begin
// with a tab continue it.
func ReadLists(text string) Lists {
	lists, name := Lists{}, ""
	for line := range strings.Lines(text) {
		if more, found := strings.CutPrefix(line, "\t"); found {
			lists[name] += more
		} else if head, list, found := strings.Cut(line, ":"); found && !strings.HasPrefix(line, "#") {
			name, lists[head] = head, strings.TrimLeft(list, " ")
		}
	}
	return lists
}

// Set returns the words of a list. It panics if there is no such list.
func (l Lists) Set(name string) Set { return NewSet(l.text(name)) }

// Phrases returns the entries of a list that is separated by line ends and |.
func (l Lists) Phrases(name string) Set {
	set := Set{}
	for phrase := range strings.FieldsFuncSeq(l.text(name), func(r rune) bool { return r == '|' || r == '\n' }) {
		set[strings.TrimSpace(phrase)] = true
	}
	return set
}

// Pairs returns the pairs of a list with lines "key = value".
func (l Lists) Pairs(name string) map[string]string {
	pairs := map[string]string{}
	for line := range strings.Lines(l.text(name)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " = ")
		pairs[key] = value
	}
	return pairs
}

// Pattern returns a regular expression that matches any line of a list.
func (l Lists) Pattern(name string) string {
	return "(?:" + strings.ReplaceAll(strings.TrimSpace(l.text(name)), "\n", "|") + ")"
}

func (l Lists) text(name string) string {
	text, ok := l[name]
	if !ok {
		panic("no list of words is called " + name)
	}
	return text
}
