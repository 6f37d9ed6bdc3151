package intent

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/documents/figures"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

// Edition is what a follow-up changes of the question before it, and nothing else: the year, the
// month or the version. "And in March 2024?" has the words "march" and "2024".
type Edition struct {
	Words []string // in lower case
	Said  string   // as the person writes them
}

// EditionOf returns the edition of a follow-up; without words if it names none, or if it asks for
// something else, too.
func EditionOf(text string, now time.Time) (e Edition) {
	text = language.NormalizeName(WithYears(text, now, func(string) bool { return true }))
	if !isShort(text) {
		return e
	}
	asked := language.NewSet(strings.Join(language.AskedWords(text), " "))
	var said []string
	for _, m := range wordPattern.FindAllStringIndex(text, -1) {
		written := text[m[0]:m[1]]
		switch w := strings.ToLower(written); {
		case kindOfEdition(w) != "" && (!language.IsStopWord(w) || startsUpper(written)): // "may" is a month in "in May"
			e.Words, said = append(e.Words, w), append(said, written)
		case asked[w] && !noSubject[w] && !language.TimeUnits[w] && !courtesies[w] && !stressing[w]:
			return Edition{}
		}
	}
	e.Said = strings.Join(said, " ")
	return e
}

var wordPattern = lazyregexp.New(`\pL*\d+(?:\.\d+)*|[\pL\pM]+`)

func startsUpper(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r)
}

// kindOfEdition returns "year", "version" or "month"; "" for other words.
func kindOfEdition(w string) string {
	switch {
	case language.IsYearOrVersion(w) && w[0] == 'v':
		return "version"
	case language.IsYearOrVersion(w):
		return "year"
	case figures.Month(w) > 0 && utf8.RuneCountInString(w) > 2:
		return "month"
	}
	return ""
}

// Of asks a question for the edition: its years, months and versions take the places of those of
// the same kind.
func (e Edition) Of(question string) string {
	question = language.NormalizeName(question)
	left := slices.Clone(e.Words)
	question = wordPattern.ReplaceAllStringFunc(question, func(written string) string {
		kind := kindOfEdition(strings.ToLower(written))
		if kind == "" || kind == "month" && !startsUpper(written) && language.IsStopWord(strings.ToLower(written)) {
			return written
		}
		for _, w := range e.Words {
			if kindOfEdition(w) == kind {
				left = slices.DeleteFunc(left, func(l string) bool { return l == w })
				return w
			}
		}
		return written
	})
	return strings.TrimSpace(question + "\n" + strings.Join(left, " "))
}

// In reports whether texts, such as a sentence, its heading and its title, are together of the
// edition.
func (e Edition) In(texts ...string) bool {
	return !slices.ContainsFunc(e.Words, func(wanted string) bool {
		return !slices.ContainsFunc(texts, func(text string) bool { return has(text, wanted) })
	})
}

func has(text, wanted string) bool {
	month := figures.Month(wanted)
	for _, t := range language.Scan(language.NormalizeName(text)) {
		if t.Raw == wanted || t.Stem == wanted || month > 0 && figures.Month(t.Raw) == month {
			return true
		}
	}
	return month > 0 && slices.ContainsFunc(figures.Find(text), func(f figures.Figure) bool { return f.Day.Month == month })
}

var relativeYear = lazyregexp.New(`(?i)\b(?:the )?(last|this|previous|current) year(?:['’]s|s['’]?)?|\b(?:im )?(letzten?|vorigen?|diese[ms]?) jahr(?:e?s)?\b|\bl['’]année (dernière)\b|\b(?:en )?(?:del? |el )año (pasado)\b|\bvorig jaar\b`)

// WithYears replaces words for years with their numbers if these are known. Else last year's
// version is the previous one.
func WithYears(text string, now time.Time, known func(year string) bool) string {
	if now.IsZero() {
		return text
	}
	return relativeYear.ReplaceAllStringFunc(text, func(s string) string {
		year, instead := now.Year()-1, "previous"
		if lower := strings.ToLower(s); strings.Contains(lower, "this") || strings.Contains(lower, "current") || strings.Contains(lower, "dies") {
			year, instead = now.Year(), "current"
		}
		if n := strconv.Itoa(year); known(n) {
			return n
		}
		return instead
	})
}
