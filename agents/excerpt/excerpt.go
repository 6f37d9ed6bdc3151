// Package excerpt cuts passages into sentences that the engine without a model quotes, and
// weighs their words.
package excerpt

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/palaver-chat/palaver/documents/sentence"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
)

// Excerpt is a sentence that may be quoted.
type Excerpt struct {
	Passage int // index into the facts' passages
	Marker  int // the passage's number; 0 for the message's own text
	DocID   string
	Text    string // verbatim
	Heading string
	First   bool   // the first after its heading
	Row     bool   // a row of a table
	Columns string // of a row: the table's first row
	Order   int    // its number among all sentences
	Vec     Vector
}

// Pool is the sentences of a request, with words weighed by how rare they are among them.
type Pool struct {
	Excerpts []Excerpt
	Vocab    *Vocabulary
}

const maxSentences = 3000 // of one request

// Gather cuts passages into sentences. If several passages of a document have the same
// sentence, it takes it once. It leaves out headings and fragments. normal rewrites stems;
// nil: they stay.
func Gather(passages []llm.Passage, normal func(string) string) *Pool {
	p := &Pool{}
	seen := map[string]bool{}
	for i, x := range passages {
		heading, first := strings.TrimSpace(x.Heading), false
		columns := columnsOf(heading)
		for _, s := range sentence.Sentences(x.Text) {
			if columns != "" && s.Row { // the table began before the passage
				s.Header = columns
			} else {
				columns = ""
			}
			if s.Heading {
				heading, first = s.Text, true
				continue
			}
			if s.Start == 0 && IsMetadata(s.Text) {
				continue
			}
			same := x.DocID + "\x00" + strings.Join(strings.Fields(s.Text), " ")
			if fragment(s) || seen[same] || len(p.Excerpts) == maxSentences {
				continue
			}
			seen[same] = true
			p.Excerpts = append(p.Excerpts, Excerpt{Passage: i, Marker: x.N, DocID: x.DocID, Text: s.Text, Heading: heading, First: first, Row: s.Row, Columns: s.Header, Order: len(p.Excerpts)})
			first = false
		}
	}
	p.Weigh(normal)
	return p
}

// metadata matches lines "title: Rules" at the beginning of a Markdown file, which are no sentence.
var metadata = regexp.MustCompile(`^(?:[a-z_]+:[^\n]*\n)+[a-z_]+:[^\n]*$`)

// IsMetadata reports whether a text is such lines.
func IsMetadata(text string) bool { return metadata.MatchString(text) }

// columnsOf returns the header of the table within which a passage begins, from its heading.
func columnsOf(heading string) string {
	bar := strings.Index(heading, " | ")
	if bar < 0 {
		return ""
	}
	return strings.TrimSpace(heading[strings.LastIndex(heading[:bar+1], ": ")+1:])
}

// Sentences cuts a message's text into sentences.
func Sentences(text string) []Excerpt {
	var out []Excerpt
	for _, s := range sentence.Sentences(text) {
		if !s.Heading && !fragment(s) && len(out) < maxSentences {
			out = append(out, Excerpt{Passage: -1, Text: s.Text, Order: len(out)})
		}
	}
	return out
}

// Weigh counts the words of the excerpts and sets their vectors.
func (p *Pool) Weigh(normal func(string) string) {
	if normal == nil {
		normal = func(s string) string { return s }
	}
	var texts strings.Builder
	for _, s := range p.Excerpts {
		texts.WriteString(s.Text + "\n")
	}
	p.Vocab = newVocabulary(normal, language.Detect(texts.String()))
	for i := range p.Excerpts {
		p.Excerpts[i].Vec = p.Vocab.Count(p.Excerpts[i].Text + "\n" + p.Excerpts[i].Columns)
	}
	p.Vocab.weigh(p.Excerpts)
}

// fragment reports whether a sentence is too short to quote. A row of a table is not, if it
// has two cells.
func fragment(s sentence.Span) bool {
	if s.Row {
		cells := 0
		for cell := range strings.SplitSeq(s.Text, "|") {
			if strings.ContainsFunc(cell, language.IsAlphanumeric) {
				cells++
			}
		}
		return cells < 2
	}
	letters, dense := 0, 0 // a Korean syllable and a character of a script without spaces say more than a letter
	for _, r := range s.Text {
		if unicode.IsLetter(r) {
			letters++
		}
		if language.IsDense(r) || unicode.Is(unicode.Hangul, r) {
			dense++
		}
	}
	return dense < 4 && (letters < 8 || len(strings.Fields(s.Text)) < 3)
}

var bracketed = regexp.MustCompile(`\[\d+\]`)

const longestQuote = 420 // characters

// Verbatim returns the part of a sentence that is quoted: all of a short sentence. It cuts at
// what looks like a citation, because a quotation must not leave out its middle.
func Verbatim(s string) string {
	if bracketed.MatchString(s) {
		s = Longest(bracketed.Split(s, -1))
	}
	if r := []rune(s); len(r) > longestQuote {
		s = string(r[:longestQuote])
		if cut := strings.LastIndexAny(s, " \n"); cut > 0 {
			s = s[:cut]
		}
	}
	return strings.TrimSpace(s)
}
