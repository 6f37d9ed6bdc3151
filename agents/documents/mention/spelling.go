package mention

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
)

// abbreviations are common ones and what they stand for. The initials of titles are found
// without them.
var abbreviations = lists.Pairs("abbreviations")

// AsTitled writes the names in a message as the titles of documents do: names of files,
// codes ("cr7" as "CR-7"), abbreviations ("the DPA" as "the Data Processing Agreement"), and
// versions by their year or place ("last year's policy" as "the 2024 policy"). A name that
// means only one document becomes its title. about are documents that the conversation has
// used, the latest last: "last year's version" means a version of the last one.
func AsTitled(message string, docs, about []chat.Document, now time.Time) string {
	message = withYears(withTitles(message, docs), docs, about, now)
	names := newNames(message, docs)
	if len(names) == 0 {
		return message
	}
	var out strings.Builder
	end := 0
	parts := word.FindAllStringIndex(message, -1)
	for i := 0; i < len(parts); i++ {
		written, n := names.at(message, parts[i:])
		if n == 0 {
			continue
		}
		out.WriteString(message[end:parts[i][0]])
		out.WriteString(written)
		end = parts[i+n-1][1]
		i += n - 1
	}
	out.WriteString(message[end:])
	return out.String()
}

// word matches a run of letters or of digits. "T&C" is one.
var word = regexp.MustCompile(`\pL(?:\pL|['’]\pL|&\pL)*|\pN+`)

// alias is what a title writes for a code or an abbreviation.
type alias struct {
	phrase string
	docs   []chat.Document
	unique bool // it names a document, not only a subject
}

type names map[string]*alias

// maxParts is the number of words and numbers of the longest code.
const maxParts = 4

// newNames returns the codes and abbreviations of titles that a message may have. A person
// may see thousands of documents, so it looks for nothing else.
func newNames(message string, docs []chat.Document) names {
	n := names{}
	hasNumber := strings.ContainsFunc(message, unicode.IsDigit)
	said := map[string]bool{}
	for _, w := range word.FindAllString(strings.ToLower(message), -1) {
		said[w], said[strings.TrimSuffix(w, "s")] = true, true
	}
	for _, d := range docs {
		if hasNumber {
			for _, code := range codes(d.Title) {
				n.add(codeKey(code), code, d, true)
			}
		}
		for short, phrase := range initials(d.Title) {
			if said[short] {
				n.add(short, phrase, d, namesKind(phrase))
			}
		}
	}
	for short, long := range abbreviations {
		if !said[short] || n[short] != nil {
			continue
		}
		for _, d := range docs {
			if i, j := language.FindName(d.Title, long, 0); i >= 0 {
				n.add(short, d.Title[i:j], d, namesKind(long))
			}
		}
	}
	return n
}

func (n names) add(key, phrase string, d chat.Document, unique bool) {
	a := n[key]
	if a == nil {
		a = &alias{phrase: phrase, unique: unique}
		n[key] = a
	}
	a.unique = a.unique && unique
	if !slices.ContainsFunc(a.docs, func(o chat.Document) bool { return o.ID == d.ID }) {
		a.docs = append(a.docs, d)
	}
}

// namesKind reports whether a phrase has a noun for a kind of document, such as "policy".
func namesKind(phrase string) bool {
	return slices.ContainsFunc(language.Words(phrase), func(w string) bool {
		return language.TitleNouns[w] || w == "terms" || w == "plan" || w == "memorandum"
	})
}

// at returns how titles write the name that begins at the first part, and the number of
// parts of the name; 0 when no name begins there.
func (n names) at(message string, parts [][]int) (written string, of int) {
	for of = min(maxParts, len(parts)); of > 1; of-- { // the longest code
		key, ok := joinedCode(message, parts[:of])
		if a := n[key]; ok && a != nil {
			return a.write(message[:parts[0][0]], message[parts[of-1][1]:]), of
		}
	}
	text := message[parts[0][0]:parts[0][1]]
	key := strings.ToLower(strings.TrimSuffix(text, "s"))
	a := n[strings.ToLower(text)]
	if a == nil && strings.ToUpper(text[:1]) == text[:1] {
		a = n[key] // "NDAs", "T&Cs"
	}
	lower := strings.ToLower(text) == text
	if a == nil || lower && (language.IsStopWord(text) || len(text) < 2) || strings.EqualFold(text, a.phrase) {
		return "", 0
	}
	if len(parts) > 1 && joinsCode(message[parts[0][1]:parts[1][0]]) && unicode.IsDigit(rune(message[parts[1][0]])) {
		return "", 0 // the letters of another code
	}
	return a.write(message[:parts[0][0]], message[parts[0][1]:]), 1
}

// write returns a name as titles write it. It is the whole title if only one document has
// the name, and the words beside the name in the message are not part of that title.
func (a *alias) write(before, after string) string {
	if len(a.docs) > 1 || !a.unique {
		return a.phrase
	}
	title := language.WithoutExtension(a.docs[0].Title)
	i, j := language.FindName(title, a.phrase, 0)
	if i < 0 {
		return title
	}
	others := slices.DeleteFunc(language.Words(title[:i]+" "+title[j:]), language.IsStopWord)
	beside := language.Words(language.Truncate(after, 40))
	beside = beside[:min(1, len(beside))]
	if words := language.Words(before); len(words) > 0 {
		beside = append(beside, words[len(words)-1])
	}
	if slices.ContainsFunc(beside, func(w string) bool { return slices.Contains(others, w) }) {
		return a.phrase
	}
	return title
}

var titleCode = regexp.MustCompile(`\b[A-Z]{2,6}(?:[-_/. ]?[A-Z]{1,6}){0,2}[-_/. ]?\d{1,6}\b`)

// codes returns the codes in a title: CR-7, SEC-POL-04.
func codes(title string) []string { return titleCode.FindAllString(title, -1) }

// codeKey returns a code without the parts that people write differently: case, separators,
// zeros before a number.
func codeKey(code string) string {
	var b strings.Builder
	for _, m := range word.FindAllString(code, -1) {
		b.WriteString(codePart(m))
	}
	return b.String()
}

func codePart(s string) string {
	if trimmed := strings.TrimLeft(s, "0"); trimmed != s && trimmed != "" {
		return trimmed
	}
	return strings.ToLower(s)
}

// joinedCode returns the key of parts that may be one code: they end with a number and are
// not far apart.
func joinedCode(message string, parts [][]int) (key string, ok bool) {
	var b strings.Builder
	for i, p := range parts {
		if i > 0 && !joinsCode(message[parts[i-1][1]:p[0]]) {
			return "", false
		}
		b.WriteString(codePart(message[p[0]:p[1]]))
	}
	last := message[parts[len(parts)-1][0]]
	return b.String(), last >= '0' && last <= '9'
}

func joinsCode(gap string) bool { return len(gap) < 2 && strings.Trim(gap, " -_/.") == "" }

var letters = regexp.MustCompile(`\pL+`)

// initials returns the initials of runs of words in a title, with the run: "dpa" for "Data
// Processing Agreement". Words such as "and" do not count.
func initials(title string) map[string]string {
	const fewest, most = 3, 5
	out := map[string]string{}
	parts := letters.FindAllStringIndex(title, -1)
	for i := range parts {
		short := ""
		for _, p := range parts[i:] {
			w := title[p[0]:p[1]]
			if language.IsStopWord(strings.ToLower(w)) {
				if short == "" {
					break
				}
				continue
			}
			short += strings.ToLower(w[:1])
			if len(short) > most || w[0] >= 0x80 {
				break
			}
			if len(short) >= fewest {
				out[short] = title[parts[i][0]:p[1]]
			}
		}
	}
	return out
}

// placed marks a year that was written for "last year".
const placed = "\x00"

var (
	lonePlaced   = regexp.MustCompile(placed + `(\d{4})(\s*[.?!,;]|\s*$)`)
	relativeYear = regexp.MustCompile(`(?i)\b(?:the )?(last|this|previous|current) year(?:['’]s|s['’]?)?( (?:version|one|edition))?\b`)
	nthVersion   = regexp.MustCompile(`(?i)\b(first|second|third) version\b`)
)

// withYears replaces words for years and versions with their numbers, when the title of a
// document that is meant has the number. about are documents that the conversation has used,
// the latest last.
func withYears(message string, docs, about []chat.Document, now time.Time) string {
	meant := sync.OnceValue(func() []chat.Document { return namedIn(relativeYear.ReplaceAllString(message, " "), docs, about) })
	message = relativeYear.ReplaceAllStringFunc(message, func(s string) string {
		m := relativeYear.FindStringSubmatch(s)
		year := now.Year()
		if w := strings.ToLower(m[1]); w == "last" || w == "previous" {
			year--
		}
		number := strconv.Itoa(year)
		if !anyTitleHas(meant(), number) {
			if m[2] != "" && year < now.Year() { // titles without years
				return "the previous" + m[2]
			}
			return s
		}
		return "the " + placed + number + m[2]
	})
	message = strings.ReplaceAll(lonePlaced.ReplaceAllString(message, "$1 version$2"), placed, "")
	return nthVersion.ReplaceAllStringFunc(message, func(s string) string {
		v := map[string]string{"f": "v1", "s": "v2", "t": "v3"}[strings.ToLower(s[:1])]
		if !anyTitleHas(docs, v) {
			return s
		}
		return v
	})
}

// namedIn returns the documents to which a year in the message refers: those whose titles
// the message mostly has, else the document that the conversation used last and its other
// versions, else all.
func namedIn(message string, docs, about []chat.Document) []chat.Document {
	if named := sharingWords(message, docs, len(docs), true); len(named) > 0 {
		return named
	}
	if len(about) == 0 {
		return docs
	}
	last := about[len(about)-1]
	return append(sharingWords(last.Title, docs, len(docs), true), last)
}

func anyTitleHas(docs []chat.Document, w string) bool {
	return slices.ContainsFunc(docs, func(d chat.Document) bool { return slices.Contains(language.Words(d.Title), w) })
}
