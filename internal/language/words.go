package language

import (
	"regexp"
	"strings"
	"unicode"

	porter "github.com/blevesearch/go-porterstemmer"
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

var clauseNumbers = regexp.MustCompile(`§+\s*\d{1,4}|\d{1,3}(?:\.\d{1,3})+`)

// ClauseNumbers returns the numbers of clauses in a text, such as 4.2 and §5.
func ClauseNumbers(text string) []string {
	list := clauseNumbers.FindAllString(text, -1)
	for i, n := range list {
		list[i] = strings.Join(strings.Fields(n), "")
	}
	return list
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
	return strings.ReplaceAll(strings.ReplaceAll(w, "'", ""), "’", "")
}

func separates(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r) && r != '\'' && r != '’'
}

func isLetter(w string) bool { return len(w) == 1 && (w[0] < '0' || w[0] > '9') }

// Stem returns the Porter stem of a lower-case word, as FTS5 does. A word with any
// character other than a to z stays as it is.
func Stem(w string) string {
	if len(w) < 3 || len(w) > 64 {
		return w
	}
	for i := range len(w) {
		if w[i] < 'a' || w[i] > 'z' {
			return w
		}
	}
	return string(porter.StemWithoutLowerCasing([]rune(w)))
}

// Singular turns an English plural into its singular. Unlike Stem it keeps "reporting"
// and "report" apart, as titles do.
func Singular(w string) string {
	if s, ok := strings.CutSuffix(w, "ies"); ok {
		return s + "y"
	}
	return strings.TrimSuffix(w, "s")
}

// IsStopWord reports whether a lower-case word says nothing about a subject.
func IsStopWord(w string) bool { return stopWords[w] }

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
