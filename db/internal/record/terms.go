package record

import (
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/palaver-chat/palaver/internal/language"
)

// MaxWord is how many bytes of a word of a search count.
const MaxWord = 1000

// maxTerms is how many bytes of the terms of a passage are indexed; Postgres refuses a
// tsvector of a megabyte.
const maxTerms = 256 << 10

// Terms returns the terms by which a text or a heading of a passage is found.
func Terms(text, lang string) []string {
	terms, size := language.Index(text, lang), 0
	for i, t := range terms {
		if size += len(t); size > maxTerms {
			return terms[:i]
		}
	}
	return terms
}

// Names returns the terms by which searches find a document with the names, separated by
// spaces: those of the words, of their parts ("BankNegara2024"), and of neighbours written
// together ("Best Buy"), by the rules of English and of the document's language.
func Names(lang string, names ...string) string {
	var words []string
	add := func(own []string) {
		for i := range own {
			for j := i + 1; j <= min(i+maxJoined, len(own)); j++ {
				words = append(words, strings.Join(own[i:j], ""))
			}
		}
	}
	var terms []string
	for _, name := range names {
		name = norm.NFC.String(language.WithoutExtension(name))
		add(language.Words(name))
		var parts []string
		for _, w := range language.Scan(name) {
			parts = append(parts, w.Raw)
		}
		add(parts)
		for _, l := range language.Distinct([]string{lang, language.Detect(name)}) {
			terms = append(terms, language.Index(name, l)...)
		}
		terms = append(terms, language.Index(name, "")...)
	}
	for _, w := range language.Distinct(words) {
		terms = append(terms, language.Index(w, "")...)
	}
	terms = language.Distinct(terms)
	return strings.Join(terms[:min(len(terms), maxNameTerms)], " ")
}

const (
	maxJoined    = 3    // words that may be written as one
	maxNameTerms = 1000 // of a document's names, which the search knows
)

// A passage gets, for each word of a search that the names of its document have, NameWeight
// times the word's rarity among the names; for other names than the title and the file's
// name only OtherNameShare of it. Measured with bench/finance and bench/recall.
const (
	NameWeight     = 4.0
	OtherNameShare = 0.4
)
