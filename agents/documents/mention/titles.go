// Package mention finds the documents that a message is about: by titles in it, by
// words that it shares with titles, and by what a model has chosen among these. It
// decides by rules and reads nothing.
package mention

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
)

//go:embed words.txt
var wordsFile string

// lists are the words that the rules of this package know.
var lists = language.ReadLists(wordsFile)

// minTitle is the length of the shortest title that is searched for in a message.
const minTitle = 3

// Closest returns the documents whose titles or file names are most similar to name, if
// similar enough; several when they are equally similar.
func Closest(name string, docs []chat.Document) []chat.Document {
	var found []chat.Document
	best := language.Similar
	for _, d := range docs {
		switch s := max(language.Likeness(name, d.Title), language.Likeness(name, d.Name)); {
		case s > best:
			found, best = []chat.Document{d}, s
		case s == best:
			found = append(found, d)
		}
	}
	return found
}

// Titles returns the forms of the documents' titles and file names that a message may use.
func Titles(docs []chat.Document) []string {
	var titles []string
	for _, d := range docs {
		titles = append(titles, namesOf(d)...)
	}
	return titles
}

// namesOf returns the forms of a document's title, then of its file's name.
func namesOf(d chat.Document) []string {
	if d.Name == "" {
		return spellings(d.Title)
	}
	return language.Distinct(append(spellings(d.Title), d.Name, language.WithoutExtension(d.Name)))
}

// spellings returns the forms of a title that a message may use.
func spellings(title string) []string {
	return language.Distinct([]string{title, language.WithoutExtension(title), shortName(title)})
}

// shortName returns the short name at the beginning of a title ("Circular 2025/04" of
// "Circular 2025/04: Capital"), if it is distinctive; else "".
func shortName(title string) string {
	i := strings.IndexAny(title, ":(–—|")
	if j := strings.Index(title, " - "); j > 0 && (i < 0 || j < i) {
		i = j
	}
	if i <= 0 {
		return ""
	}
	short := strings.TrimSpace(title[:i])
	if !isDistinctive(short) {
		return ""
	}
	return short
}

// isDistinctive reports whether a name has more than one word, or a digit.
func isDistinctive(name string) bool {
	return len(language.Words(name)) > 1 || strings.ContainsFunc(name, unicode.IsDigit)
}

// Occurring returns the documents whose title, short name or file name occurs in text,
// ignoring case and extension; those with the longest titles first. A name inside a
// longer name that occurs does not count.
func Occurring(text string, docs []chat.Document) []chat.Document {
	lower := strings.ToLower(text)
	type entry struct {
		name string
		doc  chat.Document
	}
	var entries []entry
	for _, d := range docs {
		for _, name := range namesOf(d) {
			if utf8.RuneCountInString(name) >= minTitle && strings.Contains(lower, strings.ToLower(name)) {
				entries = append(entries, entry{name, d})
			}
		}
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return len(b.name) - len(a.name) })
	var found []chat.Document
	seen := map[string]bool{} // names found, by their folded form
	for _, e := range entries {
		if slices.ContainsFunc(found, func(d chat.Document) bool { return d.ID == e.doc.ID }) {
			continue
		}
		i, _ := language.FindName(text, e.name, 0)
		if i < 0 && !seen[language.FoldName(e.name)] {
			continue
		}
		if i >= 0 {
			text = language.ReplaceNames(text, []string{e.name}, "\n")
		}
		seen[language.FoldName(e.name)] = true
		found = append(found, e.doc)
	}
	slices.SortStableFunc(found, func(a, b chat.Document) int { return len(b.Title) - len(a.Title) })
	return found
}

// sharingWords returns at most most documents whose titles share distinctive words with
// text, those with the most shared words first. strict: at least two words, or half of the
// title's words, must be shared.
func sharingWords(text string, docs []chat.Document, most int, strict bool) []chat.Document {
	in := newWordsOf(text)
	shared := map[string]int{}
	var found []chat.Document
	for _, d := range docs {
		words := language.Distinct(append(titleWords(d.Title), acronyms(d.Title)...))
		n := 0
		for _, w := range words {
			if in.has(w) {
				n++
			}
		}
		if n > 1 || n > 0 && (!strict || 2*n >= len(words)) {
			found = append(found, d)
			shared[d.ID] = n
		}
	}
	slices.SortStableFunc(found, func(a, b chat.Document) int {
		return cmp.Or(shared[b.ID]-shared[a.ID], cmp.Compare(rank(a), rank(b)))
	})
	return found[:min(most, len(found))]
}

// rank puts a person's own documents before the public ones.
func rank(d chat.Document) int {
	if d.Owner == chat.PublicOwner {
		return 1
	}
	return 0
}

// wordsOf are the distinctive words of a text, in the singular.
type wordsOf struct {
	words map[string]bool
	known map[string]bool // results of has, because titles share words
}

func newWordsOf(text string) wordsOf {
	in := wordsOf{map[string]bool{}, map[string]bool{}}
	for _, w := range append(titleWords(text), acronyms(text)...) {
		in.words[language.Singular(w)] = true
	}
	return in
}

// has reports whether the text has a title's word, in either number or misspelt.
func (in wordsOf) has(w string) bool {
	found, known := in.known[w]
	if !known {
		found = in.words[language.Singular(w)] || in.hasMisspelt(w)
		in.known[w] = found
	}
	return found
}

// hasMisspelt reports whether the text has a long word of a title with a typing error.
// It does not look at long texts.
func (in wordsOf) hasMisspelt(w string) bool {
	const long, most = 6, 60
	if utf8.RuneCountInString(w) < long || len(in.words) > most {
		return false
	}
	for s := range in.words {
		if s != "" && s[0] == w[0] && language.Likeness(s, language.Singular(w)) >= language.Similar {
			return true
		}
	}
	return false
}

// acronyms returns the words of two or three characters in capitals, with or without
// digits: NDA, Q3.
func acronyms(text string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		n := utf8.RuneCountInString(w)
		if (n == 2 || n == 3) && w == strings.ToUpper(w) && strings.ContainsFunc(w, unicode.IsLetter) {
			out = append(out, strings.ToLower(w))
		}
	}
	return out
}

// titleWords returns the words of at least four letters that distinguish titles.
func titleWords(text string) []string {
	return slices.DeleteFunc(language.Words(text), func(w string) bool {
		return utf8.RuneCountInString(w) < 4 || language.Common[w] && !language.TitleNouns[w]
	})
}

// Index returns the byte offset in text of the first mention of a document: its title, or a
// word that, among the titles of docs, only its title has; -1 without a mention.
func Index(text string, d chat.Document, docs []chat.Document) int {
	for _, name := range namesOf(d) {
		if i, _ := language.FindName(text, name, 0); i >= 0 {
			return i
		}
	}
	at := -1
	for _, w := range titleWords(d.Title) {
		if i, _ := language.FindName(text, w, 0); i >= 0 && (at < 0 || i < at) && !anotherHas(w, d, docs) {
			at = i
		}
	}
	return at
}

// anotherHas reports whether the title of another document has the word.
func anotherHas(w string, d chat.Document, docs []chat.Document) bool {
	return slices.ContainsFunc(docs, func(o chat.Document) bool {
		return o.ID != d.ID && slices.ContainsFunc(language.Words(o.Title), func(x string) bool { return language.Singular(x) == language.Singular(w) })
	})
}

// SortByPlace sorts documents by their first mentions in a text. It reports false, and
// leaves their order, when one is not mentioned.
func SortByPlace(text string, docs []chat.Document) bool {
	at := map[string]int{}
	for _, d := range docs {
		if at[d.ID] = Index(text, d, docs); at[d.ID] < 0 {
			return false
		}
	}
	slices.SortStableFunc(docs, func(x, y chat.Document) int { return at[x.ID] - at[y.ID] })
	return true
}

// overlaps reports whether name and one of the document's names overlap in text.
func overlaps(text, name string, d chat.Document) bool {
	i, j := language.FindName(text, strings.TrimSpace(name), 0)
	if i < 0 {
		return false
	}
	return slices.ContainsFunc(namesOf(d), func(s string) bool {
		k, l := language.FindName(text, s, 0)
		return k >= 0 && k < j && i < l
	})
}
