package record

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/palaver-chat/palaver/internal/language"
)

var (
	clauseNumber = regexp.MustCompile(`(^|[^\d.,])(\d{1,3}(?:\.\d{1,3})+)([^\d,]|$)`)
	paragraph    = regexp.MustCompile(`§+\s*(\d{1,4})`)
)

// Indexed returns a text, or a word of a search, as the index splits it: composed (NFC), and
// with one more word for each number of a clause, such as 4.2 or § 5.
func Indexed(text string) string {
	text = norm.NFC.String(text)
	if strings.IndexByte(text, '.') >= 0 {
		text = clauseNumber.ReplaceAllStringFunc(text, func(s string) string {
			m := clauseNumber.FindStringSubmatch(s)
			return m[1] + m[2] + " " + strings.ReplaceAll(m[2], ".", "d") + m[3]
		})
	}
	if strings.Contains(text, "§") {
		text = paragraph.ReplaceAllString(text, "$0 par$1")
	}
	return text
}

// WithoutAccents returns a text without its combining marks, composed (NFC).
func WithoutAccents(text string) string {
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(text)))
}

// Names returns the words by which searches find a document with the names: the words as they
// are, their parts ("BankNegara2024"), and neighbours written together ("Best Buy").
func Names(names ...string) string {
	var words []string
	add := func(own []string) {
		for i := range own {
			for j := i + 1; j <= min(i+maxJoined, len(own)); j++ {
				words = append(words, strings.Join(own[i:j], ""))
			}
		}
	}
	for _, name := range names {
		name = norm.NFC.String(language.WithoutExtension(name))
		add(language.Words(name))
		var parts []string
		for _, w := range language.Scan(name) {
			parts = append(parts, w.Raw)
		}
		add(parts)
	}
	for _, w := range words {
		words = append(words, WithoutAccents(w))
	}
	words = language.Distinct(words)
	return strings.Join(words[:min(len(words), maxNameWords)], " ")
}

const (
	maxJoined    = 3    // words that may be written as one
	maxNameWords = 1000 // of a document's names, which the search knows
)

// A passage gets, for each word of a search that the names of its document have, NameWeight
// times the word's rarity among the names; for other names than the title and the file's
// name only OtherNameShare of it. Measured with bench/finance and bench/recall.
const (
	NameWeight     = 4.0
	OtherNameShare = 0.4
)
