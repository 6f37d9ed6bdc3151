package language

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed stopwords.txt
var stopWordsFile string

// stopWordsOf are the stop words of other languages than English, by language.
var stopWordsOf = sync.OnceValue(func() map[string]Set {
	all := map[string]Set{}
	for name, words := range ReadLists(stopWordsFile) {
		all[name] = NewSet(words)
	}
	return all
})

// AskedWords returns the ContentWords of a question, without the stop words of the language
// that it is written in. The language is the one most of whose stop words it has.
func AskedWords(question string) []string {
	words := Words(question)
	const most = 60 // words of a question
	best, stop := 0, Set(nil)
	for _, w := range words[:min(len(words), most)] {
		if stopWords[w] {
			best++
		}
	}
	best = max(best, 1)
	for _, name := range languages {
		hits := 0
		if len(words) > 0 && stopWordsOf()[name][words[0]] { // a question word
			hits++
		}
		for _, w := range words[:min(len(words), most)] {
			if stopWordsOf()[name][w] {
				hits++
			}
		}
		if hits > best || hits == best && !isLatin(question) {
			best, stop = hits, stopWordsOf()[name]
		}
	}
	content := ContentWords(question)
	if asked := slices.DeleteFunc(slices.Clone(content), func(w string) bool { return stop[w] }); len(asked) > 0 {
		return asked
	}
	return content
}

var languages = strings.Fields("de fr es it nl pt pl sv da no fi cs sk hu ro hr tr id ru uk bg el ar he ko")

// isLatin reports whether a text has a letter of the Latin alphabet.
func isLatin(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' })
}
