package language

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
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
// that it is written in, and without the words by which it asks how much of something. The language is the one most of whose stop words it has. Codes and
// numbers of several pieces are one word each; they stand at the end.
func AskedWords(question string) []string {
	question, codes := withoutCodes(question)
	words := Words(question)
	const most = 60 // words of a question
	best, stop, measure := 0, Set(nil), Set(nil)
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
			best, stop, measure = hits, stopWordsOf()[name], measureWords()[name]
		}
	}
	content := ContentWords(question)
	var asked, measures []string
	for _, w := range content {
		switch {
		case measure[w]:
			measures = append(measures, w)
		case stop[w] || asksInKorean(w):
		case strings.ContainsFunc(w, IsDense):
			asked = append(asked, denseWords(w)...)
		default:
			asked = append(asked, w)
		}
	}
	switch asked = append(asked, codes...); {
	case len(asked) > 0:
		return asked
	case len(measures) > 0:
		return measures
	}
	return content
}

// measureWords are words that ask how much, as "long" does in "how long", by language.
var measureWords = sync.OnceValue(func() map[string]Set {
	all := map[string]Set{}
	for _, name := range languages {
		all[name] = NewSet(lists["measure words "+name])
	}
	return all
})

// asksInKorean reports whether a Korean word is a question word, whatever its ending.
func asksInKorean(w string) bool {
	for q := range koreanQuestions {
		if strings.HasPrefix(w, q) {
			return true
		}
	}
	return false
}

var koreanQuestions = lists.Set("korean question words")

// functionWords are words of scripts without spaces that say nothing about a subject, the
// longest first, as pairs for a replacer that puts spaces in their places.
var functionWords = sync.OnceValue(func() map[string]*strings.Replacer {
	all := map[string]*strings.Replacer{}
	for _, lang := range []string{"zh", "ja", "th", "lo", "km", "my"} {
		words := strings.Fields(lists.text("function words " + lang))
		slices.SortFunc(words, func(a, b string) int { return len(b) - len(a) })
		var pairs []string
		for _, w := range words {
			pairs = append(pairs, w, " ")
		}
		all[lang] = strings.NewReplacer(pairs...)
	}
	return all
})

// denseWords cuts a run of a script without spaces at its function words, and Japanese at
// hiragana, which writes few nouns. It returns all of the run if nothing else is left.
func denseWords(run string) []string {
	run = composed(run)
	lang := byScript(run)
	if lang == "zh" && strings.ContainsFunc(run, isHiragana) {
		lang = "ja"
	}
	rest := run
	if r := functionWords()[lang]; r != nil {
		rest = r.Replace(run)
	}
	pieces := strings.Fields(rest)
	if lang == "ja" {
		pieces = strings.FieldsFunc(rest, func(r rune) bool { return r == ' ' || isHiragana(r) })
	}
	several := slices.DeleteFunc(slices.Clone(pieces), func(p string) bool { return len(clustersOf(p)) < 2 })
	switch {
	case len(several) > 0:
		return several
	case len(pieces) > 0:
		return pieces
	}
	return []string{run}
}

func isHiragana(r rune) bool { return unicode.Is(unicode.Hiragana, r) }

var languages = strings.Fields("de fr es it nl pt pl sv da no fi cs sk hu ro hr tr id vi ru uk bg el ar fa he hi ko")

// isLatin reports whether a text has a letter of the Latin alphabet.
func isLatin(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' })
}
