// Package mention decides which documents a message means. It compares the words of the
// message with the names of the documents (title, file, other names), and reads words that
// refer back ("it", "the second one"). It decides by rules and reads nothing.
package mention

import (
	_ "embed"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
	"github.com/palaver-chat/palaver/llm"
)

//go:embed words.txt
var wordsFile string

// lists are the words that the rules of this package know.
var lists = language.ReadLists(wordsFile)

// Weights of the words of a name, by what the name is.
const (
	titleWeight = 1.0
	fileWeight  = 0.95
	otherWeight = 0.8
	// kindWeight is for nouns like "contract", which say little.
	kindWeight = 0.5
)

// document is a document with the words of its names.
type document struct {
	llm.Document
	names []name
	words map[string]float64 // stems and codes, with the weight of the best name that has them
	short map[string][]string
}

type name struct {
	tokens []language.Token
	weight float64
}

// Library finds documents by their names.
type Library struct {
	docs   []*document
	df     map[string]int              // documents with a word
	tokens map[string]language.Token   // the words of all names, as written
	joined map[string][]language.Token // "banknegara": bank, negara
}

// NewLibrary reads the names of documents.
func NewLibrary(docs []llm.Document) *Library {
	l := &Library{df: map[string]int{}, tokens: map[string]language.Token{}, joined: map[string][]language.Token{}}
	for _, d := range docs {
		x := &document{Document: d, words: map[string]float64{}, short: map[string][]string{}}
		x.add(d.Title, titleWeight)
		for i, n := range d.Names {
			weight := otherWeight
			if i == 0 && language.WithoutExtension(n) != n {
				weight = fileWeight
			}
			x.add(n, weight)
		}
		if slices.ContainsFunc(d.Names, isMail.MatchString) {
			x.words[language.Stem("email")] = otherWeight
		}
		for w := range x.words {
			l.df[w]++
		}
		for _, n := range x.names {
			for i, t := range n.tokens {
				l.tokens[t.Raw] = t
				raw := t.Raw
				for j := i + 1; j < min(len(n.tokens), i+4); j++ {
					raw += n.tokens[j].Raw
					l.joined[raw] = n.tokens[i : j+1]
				}
			}
		}
		l.docs = append(l.docs, x)
	}
	return l
}

// isMail matches a name that only an e-mail has: the end of its file's name, or an address.
var isMail = lazyregexp.New(`(?i)\.(?:eml|msg)$|<\S+@\S+>`)

// maxNameTokens bounds the words of one name.
const maxNameTokens = 40

func (d *document) add(text string, weight float64) {
	n := recentNames.read(text)
	if len(n.tokens) == 0 {
		return
	}
	d.names = append(d.names, name{tokens: n.tokens, weight: weight})
	for _, w := range n.words {
		d.words[w] = max(d.words[w], weight)
	}
	maps.Copy(d.short, n.short)
}

// readName is what the rules know of the text of a name. It does not change.
type readName struct {
	tokens []language.Token
	words  []string // stems, codes and abbreviations
	short  map[string][]string
}

// nameCache keeps what was read of names: each turn needs those of a whole library.
type nameCache struct {
	mu    sync.RWMutex
	names map[string]readName
}

var recentNames = nameCache{names: map[string]readName{}}

const maxRecentNames = 20_000 // of about 1 kB each

func (c *nameCache) read(text string) readName {
	c.mu.RLock()
	n, known := c.names[text]
	c.mu.RUnlock()
	if known {
		return n
	}
	n = readName{tokens: tokensOf(text), short: shortForms(text)}
	for _, t := range n.tokens {
		n.words = append(n.words, t.Stem)
	}
	for _, code := range codes.FindAllString(text, -1) {
		n.words = append(n.words, codeKey(code))
	}
	n.words = slices.AppendSeq(n.words, maps.Keys(n.short))
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.names) >= maxRecentNames {
		clear(c.names)
	}
	c.names[strings.Clone(text)] = n
	return n
}

// tokensOf returns the tokens of a name without stop words, and numbers without leading zeros.
func tokensOf(text string) []language.Token {
	tokens := language.TitleTokens(text)
	for i := range tokens {
		tokens[i] = plainNumber(tokens[i])
	}
	return tokens[:min(len(tokens), maxNameTokens)]
}

func plainNumber(t language.Token) language.Token {
	if n := strings.TrimLeft(t.Stem, "0"); t.Version && n != "" && unicode.IsDigit(rune(n[0])) {
		t.Stem = n
	}
	return t
}

// abbreviations are common ones and what they stand for. The initials of names are found
// without them.
var abbreviations = lists.Pairs("abbreviations")

var letters = lazyregexp.New(`\pL+`)

// shortForms returns the abbreviations of a name, with the stems of the words that they stand
// for: "dpa" for "Data Processing Agreement", "hr" for "Human Resources".
func shortForms(text string) map[string][]string {
	const fewest, most = 3, 5
	out := map[string][]string{}
	words := slices.DeleteFunc(letters.FindAllString(strings.ToLower(text), -1), language.IsStopWord)
	for i := range words {
		short, stems := "", []string(nil)
		for _, w := range words[i:min(len(words), i+most)] {
			short, stems = short+w[:1], append(stems, language.Stem(w))
			if w[0] < 0x80 && len(short) >= fewest {
				out[short] = slices.Clone(stems)
			}
		}
	}
	lower := " " + strings.Join(letters.FindAllString(strings.ToLower(text), -1), " ") + " "
	for short, long := range abbreviations {
		if strings.Contains(lower, " "+strings.ReplaceAll(long, "-", " ")+" ") {
			out[strings.ReplaceAll(short, "&", "")] = language.Stems(long)
		}
	}
	return out
}

// codes matches codes as names write them: CR-7, SEC-POL-04.
var codes = lazyregexp.New(`\b[A-Z]{2,6}(?:[-_/. ]?[A-Z]{1,6}){0,2}[-_/. ]?\d{1,6}\b`)

var codeParts = lazyregexp.New(`\pL+|\pN+`)

// codeKey returns a code without what people write differently: case, separators, and zeros
// before a number.
func codeKey(code string) string {
	var b strings.Builder
	for _, m := range codeParts.FindAllString(strings.ToLower(code), -1) {
		if n := strings.TrimLeft(m, "0"); n != "" {
			m = n
		}
		b.WriteString(m)
	}
	return b.String()
}

// weight is higher for words that few documents have, and lower for nouns like "policy".
func (l *Library) weight(stem string) float64 {
	w := math.Log(1 + float64(len(l.docs)+1)/float64(l.df[stem]+1))
	if kindStems[stem] {
		w *= kindWeight
	}
	return w
}

// kinds are nouns for documents of a kind, by stem; words of one group mean the same.
var kinds, kindStems = func() (map[string]string, language.Set) {
	groups, stems := map[string]string{}, language.Set{}
	for w := range lists.Set("kinds") {
		for i, one := range strings.Split(w, "/") {
			first, _, _ := strings.Cut(w, "/")
			groups[one], groups[one+"s"] = language.Stem(first), language.Stem(first)
			if i >= 0 {
				stems[language.Stem(one)] = true
			}
		}
	}
	return groups, stems
}()

// has returns the weight of a message's word in a document's names; 0 when no name has it.
func (d *document) has(t language.Token) float64 {
	if w := d.words[t.Stem]; w > 0 {
		return w
	}
	if group := kinds[t.Raw]; group != "" {
		for other, first := range kinds {
			if first == group && d.words[language.Stem(other)] > 0 {
				return otherWeight * d.words[language.Stem(other)]
			}
		}
	}
	return 0
}

// versions returns the years and versions in a document's own names.
func (d *document) versions() (out []language.Token) {
	for _, n := range d.names {
		if n.weight == otherWeight {
			continue
		}
		for _, t := range n.tokens {
			if t.Version {
				out = append(out, t)
			}
		}
	}
	return out
}

// edition returns the year or version in a document's own names; 0 without one.
func (d *document) edition() float64 {
	for _, t := range d.versions() {
		if n, err := strconv.ParseFloat(strings.TrimPrefix(t.Stem, "v"), 64); err == nil && language.IsYearOrVersion(t.Stem) {
			return n
		}
	}
	return 0
}

// conflicts reports whether a document has another year or version than a message's word.
func (d *document) conflicts(t language.Token) bool {
	if !t.Version || d.words[t.Stem] > 0 {
		return false
	}
	return slices.ContainsFunc(d.versions(), func(v language.Token) bool { return sameKind(v, t) })
}

// sameKind reports whether both are years, or both versions such as v2.
func sameKind(a, b language.Token) bool {
	return language.IsYearOrVersion(a.Stem) && language.IsYearOrVersion(b.Stem) && (a.Stem[0] == 'v') == (b.Stem[0] == 'v')
}

// otherVersions returns the documents whose titles differ from one only in the version.
func (l *Library) otherVersions(of *document) (out []*document) {
	split := func(d *document) (names, versions []string) {
		for _, t := range d.names[0].tokens {
			if t.Version {
				versions = append(versions, t.Stem)
			} else {
				names = append(names, t.Stem)
			}
		}
		return names, versions
	}
	if len(of.names) == 0 {
		return nil
	}
	ours, version := split(of)
	for _, d := range l.docs {
		if d == of || len(d.names) == 0 {
			continue
		}
		theirs, other := split(d)
		shared := 0
		for _, w := range ours {
			if slices.Contains(theirs, w) {
				shared++
			}
		}
		if shared > 0 && 10*shared >= 7*max(len(ours), len(theirs)) && !slices.Equal(version, other) {
			out = append(out, d)
		}
	}
	return out
}

func (l *Library) find(id string) *document {
	for _, d := range l.docs {
		if d.ID == id {
			return d
		}
	}
	return nil
}

// OfKind returns the documents whose names have one of the words, or another word for the
// same kind.
func OfKind(docs []llm.Document, words []string) (out []llm.Document) {
	for _, d := range NewLibrary(docs).docs {
		if slices.ContainsFunc(words, func(w string) bool { return d.has(language.Token{Stem: language.Stem(w), Raw: w}) > 0 }) {
			out = append(out, d.Document)
		}
	}
	return out
}
