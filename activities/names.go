package activities

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hbollon/go-edlib"

	"github.com/palaver-chat/palaver/chat"
)

const (
	// similar is the least Levenshtein similarity of a name and a title that match.
	similar = float32(0.85)
	// minTitle is the length of the shortest title that is searched for in a message.
	minTitle = 3
	// maxName bounds the length of a name that is compared, in characters.
	maxName = 300
)

// fold normalizes a name for comparison: case, quotes, spaces and hyphens.
func fold(name string) string {
	name = strings.ToLower(strings.Trim(strings.TrimSpace(name), "\"'`“”‘’«»@.,;:!? "))
	return strings.Join(strings.FieldsFunc(name, func(r rune) bool {
		return unicode.IsSpace(r) || r == '_' || r == '-' || r == '–'
	}), " ")
}

// withoutExt drops a file extension.
func withoutExt(title string) string {
	switch ext := path.Ext(title); strings.ToLower(ext) {
	case ".pdf", ".txt", ".md", ".markdown", ".html", ".htm", ".doc", ".docx":
		return strings.TrimSuffix(title, ext)
	}
	return title
}

// likeness compares a name with a title, each with and without its extension.
func likeness(name, title string) float32 {
	var best float32
	for _, a := range unique([]string{fold(name), fold(withoutExt(name))}) {
		for _, b := range unique([]string{fold(title), fold(withoutExt(title))}) {
			la, lb := utf8.RuneCountInString(a), utf8.RuneCountInString(b)
			if la > maxName || lb > maxName || float32(min(la, lb)) < similar*float32(max(la, lb)) {
				continue // cannot be alike
			}
			if s, err := edlib.StringsSimilarity(a, b, edlib.Levenshtein); err == nil && s > best {
				best = s
			}
		}
	}
	return best
}

// closest are the documents whose titles are most like name, if alike enough;
// several when they are equally good.
func closest(name string, docs []chat.Document) []chat.Document {
	var found []chat.Document
	best := similar
	for _, d := range docs {
		switch s := likeness(name, d.Title); {
		case s > best:
			found, best = []chat.Document{d}, s
		case s == best:
			found = append(found, d)
		}
	}
	return found
}

// head is the short name at the beginning of a title ("Circular 2025/04: Capital"), if
// it is distinctive enough; else "".
func head(title string) string {
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
	return len(words(name)) > 1 || strings.ContainsFunc(name, unicode.IsDigit)
}

// spellings are the forms of a title that a message may use.
func spellings(title string) []string {
	return unique([]string{title, withoutExt(title), head(title)})
}

// occurring are the documents whose title, or its head, occurs in text, ignoring case
// and extension. A title inside of a longer title that occurs does not count.
func occurring(text string, docs []chat.Document) []chat.Document {
	docs = slices.Clone(docs)
	slices.SortStableFunc(docs, func(a, b chat.Document) int { return len(b.Title) - len(a.Title) })
	lower := strings.ToLower(text)
	var found []chat.Document
	seen := map[string]bool{} // titles found, by their folded form
	for _, d := range docs {
		for _, title := range spellings(d.Title) {
			if utf8.RuneCountInString(title) < minTitle || !strings.Contains(lower, strings.ToLower(title)) {
				continue
			}
			i, _ := findName(text, title, 0)
			if i < 0 && !seen[fold(title)] {
				continue
			}
			if i >= 0 {
				text = replaceNames(text, []string{title}, "\n")
			}
			seen[fold(title)] = true
			found = append(found, d)
			break
		}
	}
	return found
}

// sharingWords are the documents whose titles share distinctive words with text, those
// with the most first. strong: at least two words, or half of the title's.
func sharingWords(text string, docs []chat.Document, most int, strong bool) []chat.Document {
	said := map[string]bool{}
	for _, w := range append(contentOrNoun(text), shortNames(text)...) {
		said[stem(w)] = true
	}
	type candidate struct {
		chat.Document
		shared int
	}
	var found []candidate
	speaks := map[string]bool{} // whether text has a title's word; a cache, as titles share words
	for _, d := range docs {
		telling := unique(append(contentOrNoun(d.Title), shortNames(d.Title)...))
		shared := 0
		for _, w := range telling {
			does, looked := speaks[w]
			if !looked {
				does = said[stem(w)] || misspelt(w, said)
				speaks[w] = does
			}
			if does {
				shared++
			}
		}
		if shared > 1 || shared > 0 && (!strong || 2*shared >= len(telling)) {
			found = append(found, candidate{d, shared})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return b.shared - a.shared })
	var out []chat.Document
	for _, c := range found[:min(most, len(found))] {
		out = append(out, c.Document)
	}
	return out
}

// shortNames are words of two or three characters in capitals, with or without
// digits: NDA, Q3.
func shortNames(text string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		n := utf8.RuneCountInString(w)
		if (n == 2 || n == 3) && w == strings.ToUpper(w) && strings.ContainsFunc(w, unicode.IsLetter) {
			out = append(out, strings.ToLower(w))
		}
	}
	return out
}

// misspelt reports whether text has a long word of a title with a typing error. It
// does not look at long texts.
func misspelt(w string, said map[string]bool) bool {
	const long, most = 6, 60
	if utf8.RuneCountInString(w) < long || len(said) > most {
		return false
	}
	for s := range said {
		if len(s) > 0 && s[0] == w[0] && likeness(s, stem(w)) >= similar {
			return true
		}
	}
	return false
}

// contentOrNoun are the words of at least four letters that distinguish titles.
func contentOrNoun(text string) []string {
	return slices.DeleteFunc(words(text), func(w string) bool {
		return utf8.RuneCountInString(w) < 4 || common[w] && !documentNouns[w]
	})
}

// stem turns an English plural into its singular.
func stem(w string) string {
	if s, ok := strings.CutSuffix(w, "ies"); ok {
		return s + "y"
	}
	return strings.TrimSuffix(w, "s")
}

// isPlausibleName reports whether a name that a model found can name a document: the
// message has its words, and it says more than "that regulation".
func isPlausibleName(name, message string) bool {
	said := words(message)
	named := words(name)
	for _, w := range named {
		if !slices.Contains(said, w) {
			return false
		}
	}
	telling := slices.ContainsFunc(named, func(w string) bool {
		return !determiners[w] && !pointing[w] && !documentNouns[w]
	})
	noun := slices.ContainsFunc(named, func(w string) bool { return documentNouns[w] })
	i, j := findName(message, strings.TrimSpace(name), 0)
	return telling && (noun || i >= 0 && (looksNamed(message, i, j) || quoted(message, i, j)) || withoutExt(name) != name)
}

// looksNamed reports whether message[i:j] has a digit, or a capital that does not
// begin a sentence.
func looksNamed(message string, i, j int) bool {
	for _, f := range strings.Fields(message[i:j]) {
		if strings.ContainsFunc(f, unicode.IsDigit) {
			return true
		}
		rest := f
		if first, size := utf8.DecodeRuneInString(f); unicode.IsUpper(first) {
			at := i + strings.Index(message[i:j], f)
			if !startsSentence(message[:at]) {
				return true
			}
			rest = f[size:]
		}
		if strings.ContainsFunc(rest, unicode.IsUpper) {
			return true
		}
	}
	return caseless(message[i:j])
}

func startsSentence(before string) bool {
	before = strings.TrimRight(before, " \t\"'“‘(@*-")
	if before == "" {
		return true
	}
	last, _ := utf8.DecodeLastRuneInString(before)
	return strings.ContainsRune(".!?:\n\r", last)
}

// caseless reports whether s has letters of a script without capitals, where these
// rules cannot recognize a name.
func caseless(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsLetter(r) && unicode.ToUpper(r) == unicode.ToLower(r)
	})
}

func quoted(message string, i, j int) bool {
	before, _ := utf8.DecodeLastRuneInString(message[:i])
	after, _ := utf8.DecodeRuneInString(message[j:])
	return strings.ContainsRune("\"'“‘«`", before) && strings.ContainsRune("\"'”’»`", after)
}

// mayName reports whether a message may contain the name of a document: a capital or
// a digit within a sentence, a file name, or a quotation.
func mayName(message string) bool {
	for i := 0; i < len(message); {
		r, size := utf8.DecodeRuneInString(message[i:])
		if unicode.IsSpace(r) {
			i += size
			continue
		}
		j := i + strings.IndexFunc(message[i:]+" ", unicode.IsSpace)
		word := strings.Trim(message[i:j], ".,;:!?()[]")
		switch bare := strings.ToLower(word); {
		case bare == "i" || strings.HasPrefix(bare, "i'") || strings.HasPrefix(bare, "i’"):
		case withoutExt(word) != word, strings.ContainsAny(word, "\"“«`"):
			return true
		case strings.ContainsFunc(word, unicode.IsDigit) && strings.ContainsFunc(word, unicode.IsLetter):
			return true
		case strings.ContainsFunc(word, unicode.IsLetter) && looksNamed(message, i, j):
			return true
		}
		i = j
	}
	return false
}

// mentionsADocument reports whether a message refers to a document without a name.
func mentionsADocument(message string) bool {
	return slices.ContainsFunc(words(message), func(w string) bool { return pointing[w] || documentNouns[w] })
}

// asksForDocuments reports whether a message asks to summarize, compare or audit.
func asksForDocuments(message string) bool {
	return slices.ContainsFunc(words(message), func(w string) bool {
		return summaryWords[w] || actionWords[chat.Compare][w] || auditVerbs[w]
	})
}

// refersBack reports whether a message refers to something said before.
func refersBack(message string) bool {
	return slices.ContainsFunc(words(message), func(w string) bool { return pointing[w] })
}

// mentionIndex is the byte offset in text of the first mention of a document: its
// title, or a word that only its title among those of docs has; -1 without a mention.
func mentionIndex(text string, d chat.Document, docs []chat.Document) int {
	for _, name := range spellings(d.Title) {
		if i, _ := findName(text, name, 0); i >= 0 {
			return i
		}
	}
	at := -1
	for _, w := range contentOrNoun(d.Title) {
		theirs := slices.ContainsFunc(docs, func(o chat.Document) bool {
			return o.ID != d.ID && slices.ContainsFunc(words(o.Title), func(x string) bool { return stem(x) == stem(w) })
		})
		if theirs {
			continue
		}
		if i, _ := findName(text, w, 0); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	return at
}

// overlaps reports whether name and one of the title's spellings overlap in text.
func overlaps(text, name, title string) bool {
	i, j := findName(text, strings.TrimSpace(name), 0)
	if i < 0 {
		return false
	}
	return slices.ContainsFunc(spellings(title), func(s string) bool {
		k, l := findName(text, s, 0)
		return k >= 0 && k < j && i < l
	})
}
