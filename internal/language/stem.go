package language

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/turkish"
)

// snowball are the stemmers of Snowball, by language.
var snowball = map[string]func(*snowballstem.Env) bool{
	"ar": arabic.Stem, "da": danish.Stem, "de": german.Stem, "es": spanish.Stem, "fi": finnish.Stem, "fr": french.Stem,
	"hu": hungarian.Stem, "it": italian.Stem, "nl": dutch.Stem, "no": norwegian.Stem, "pt": portuguese.Stem,
	"ro": romanian.Stem, "ru": russian.Stem, "sv": swedish.Stem, "tr": turkish.Stem,
}

// longestStemmed is the length in bytes of the longest word that is stemmed.
const longestStemmed = 64

// StemIn returns the folded stem of a lower-case word of a language. A language without a
// stemmer, also "", counts as English.
func StemIn(w, lang string) string {
	if len(w) > longestStemmed {
		return Fold(w)
	}
	stem, ok := snowball[lang]
	switch {
	case ok:
		if lang == "ar" {
			w = definite(w)
		}
		env := snowballEnvs.Get().(*snowballstem.Env)
		defer snowballEnvs.Put(env)
		env.SetCurrent(w)
		stem(env)
		if s := Fold(env.Current()); s != "" {
			return s
		}
	case lang == "pl":
		return Fold(stripPolish(w))
	}
	return Stem(Fold(w))
}

// definite puts the article before an Arabic word, in place of a conjunction or preposition with
// the article. The stemmer reads a word without it as a verb, and keeps its ending.
func definite(w string) string {
	for _, before := range []string{"وال", "بال", "فال", "كال", "لل", "ال"} {
		if rest, ok := strings.CutPrefix(w, before); ok {
			return "ال" + rest
		}
	}
	return "ال" + w
}

var snowballEnvs = sync.Pool{New: func() any { return snowballstem.NewEnv("") }}

// No kept library stems Polish or Korean from memory; the endings of nouns and adjectives, and
// the particles after Korean words, are lists.
var (
	polishEndings   = endingsOf(lists.text("polish endings"))
	koreanParticles = endingsOf(lists.text("korean particles"))
)

// endingsOf returns the endings of a list with the longest first.
func endingsOf(list string) [][]string {
	byLength := make([][]string, 8)
	for _, e := range strings.Fields(list) {
		n := utf8.RuneCountInString(e)
		byLength[len(byLength)-n] = append(byLength[len(byLength)-n], e)
	}
	return byLength
}

// without drops the longest of the endings from a word that has at least min characters
// before it.
func without(w string, endings [][]string, least int) string {
	for _, same := range endings {
		for _, e := range same {
			if head, ok := strings.CutSuffix(w, e); ok && utf8.RuneCountInString(head) >= least {
				return head
			}
		}
	}
	return w
}

func stripPolish(w string) string { return without(w, polishEndings, 3) }

func stripKorean(w string) string { return without(w, koreanParticles, 1) }
