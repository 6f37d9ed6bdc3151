package language

import (
	"strings"
	"unicode"
	"unicode/utf8"

	porter "github.com/blevesearch/go-porterstemmer"

	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

// Words returns the lower-case runs of letters and digits of a text. An apostrophe or
// hyphen inside a word splits it.
func Words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	})
}

// ContentWords returns the words that a search uses, in lower case and in order, with
// repeats: runs of letters and digits (as FTS5's unicode61 tokenizer splits them) without
// stop words and single letters. A possessive is dropped, and an apostrophe splits no word.
func ContentWords(text string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(text, separates) {
		w = withoutApostrophes(strings.ToLower(w))
		if w != "" && !stopWords[w] && !isLetter(w) {
			out = append(out, w)
		}
	}
	return out
}

// codes are numbers and codes of several pieces, which are one word of a search: § 5, 1,190.00,
// XR-200, telephone and account numbers.
var codes = lazyregexp.New(`§+\s*\d{1,4}[a-z]?\b|(?:\+|\b0)\d[\d ()/.-]{5,}\d\b|\b[A-Z]{2}\d\d(?: \d{4}){2,}(?: \d{1,4})?\b|\d+(?:[.,'’]\d+)+|` +
	`[\pL\pN]*\pN[\pL\pN]*(?:[-‐‑][\pL\pN]+)+|\pL[\pL\pN]*(?:[-‐‑][\pL\pN]+)*[-‐‑][\pL\pN]*\pN[\pL\pN]*`)

// withoutCodes returns a text without its codes, and these in lower case.
func withoutCodes(text string) (rest string, found []string) {
	rest = codes.ReplaceAllStringFunc(text, func(s string) string {
		if strings.HasPrefix(s, "§") {
			s = strings.Join(strings.Fields(s), "")
		}
		found = append(found, strings.ToLower(s))
		return " "
	})
	return rest, found
}

// Stems returns the stems of the content words, so that "buffers" matches "buffer".
func Stems(text string) []string {
	out := ContentWords(text)
	for i, w := range out {
		out[i] = Stem(w)
	}
	return out
}

// StemsOf returns the stems of the content words as a set.
func StemsOf(text string) Set {
	stems := Stems(text)
	s := make(Set, len(stems))
	for _, w := range stems {
		s[w] = true
	}
	return s
}

// withoutApostrophes drops a possessive ("bank's") and other apostrophes ("don't").
func withoutApostrophes(w string) string {
	for _, possessive := range []string{"'s", "’s"} {
		if head, ok := strings.CutSuffix(w, possessive); ok && head != "" {
			w = head
		}
	}
	if at := strings.IndexAny(w, "'’"); at > 0 && elided[w[:at]] { // l'assurance
		if rest := strings.TrimLeft(w[at:], "'’"); len(rest) > 1 {
			w = rest
		}
	}
	return strings.ReplaceAll(strings.ReplaceAll(w, "'", ""), "’", "")
}

func separates(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '\'' && r != '’'
}

func isLetter(w string) bool { return len(w) == 1 && (w[0] < '0' || w[0] > '9') }

// Stem returns the Porter stem of a lower-case English word, and a Korean word without its
// particle. Any other word with a character other than a to z stays as it is.
func Stem(w string) string {
	if len(w) < 3 || len(w) > 64 {
		return w
	}
	for i := range len(w) {
		if w[i] < 'a' || w[i] > 'z' {
			if r, size := utf8.DecodeRuneInString(w); unicode.Is(unicode.Hangul, r) {
				if stem := stripKorean(w); len(stem) > size { // one syllable may be a part of the word
					return stem
				}
			}
			return w
		}
	}
	return string(porter.StemWithoutLowerCasing([]rune(w)))
}

// StemsIn returns the stems of the words of a text in a language. In scripts without spaces, pairs
// of characters stand for the words. In English they are those of Stems.
func StemsIn(text, lang string) []string {
	if lang == "" || lang == "en" {
		return Stems(text)
	}
	var out []string
	for _, t := range Query(text, []string{lang}) {
		stem := t.Forms[0]
		if withSpelledOut[lang] { // Kuendigung is Kündigung
			stem = unspelled.Replace(stem)
		}
		if !isLetter(stem) {
			out = append(out, stem)
		}
	}
	return out
}

// IsStopWord reports whether a lower-case word says nothing about a subject.
func IsStopWord(w string) bool { return stopWords[w] }

// IsStopWordIn reports whether a lower-case word is a stop word of a language other than English.
func IsStopWordIn(w, lang string) bool { return stopWordsOf()[lang][w] }

// IsRequestWord reports whether a lower-case word only asks for an explanation.
func IsRequestWord(w string) bool { return requestWords[w] }

// Distinct returns the list without duplicates and empty strings, in order.
func Distinct(list []string) []string {
	var out []string
	seen := make(map[string]bool, len(list))
	for _, s := range list {
		if s != "" && !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// Truncate returns the first n characters.
func Truncate(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}
