// Package sentence cuts text into sentences.
package sentence

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"

	"github.com/palaver-chat/palaver/documents/layout"
	"github.com/palaver-chat/palaver/internal/language"
)

// Span is a sentence. Start and End count characters (runes) of the text it was
// cut from, and Text is verbatim between them, without white space around it.
type Span struct {
	Start, End int
	Text       string
	Heading    bool // a heading's title, not a sentence
	Row        bool // a row of a table
	// Header is the first row of the table, for its other rows.
	Header string
}

// Sentences cuts text by the Unicode rules within its blocks: a wrapped line does not end
// a sentence; a heading, a list item or a table row does. Bullets, heading marks and lines of
// punctuation only are left out. It takes linear time.
func Sentences(text string) []Span {
	var out []Span
	c := counter{text: text}
	header, inTable := "", false
	for _, b := range layout.Blocks(text) {
		if b.Kind == layout.Row {
			n := len(out)
			if b.End-b.Start > longRow {
				out = prose(&c, out, b.Start, b.End)
			} else if out = c.add(out, b.Start, b.End, false); len(out) > n {
				out[n].Row, out[n].Header = true, header
			}
			if !inTable && len(out) > n {
				header, inTable = out[n].Text, true
			}
			continue
		}
		header, inTable = "", false
		switch b.Kind {
		case layout.Rule:
		case layout.Heading:
			at := b.Start + max(0, strings.Index(text[b.Start:b.End], b.Title))
			out = c.add(out, at, at+len(b.Title), true)
		case layout.Code:
			out = codeLines(&c, out, b)
		default:
			start := b.Start + layout.BulletLen(text[b.Start:b.End])
			out = prose(&c, out, start, b.End)
		}
	}
	return out
}

// longRow is the length in bytes from which the sentences within a table row count.
const longRow = 600

func prose(c *counter, out []Span, start, end int) []Span {
	from := start
	for _, cut := range Bounds(c.text[start:end]) {
		out = c.add(out, from, start+cut, false)
		from = start + cut
	}
	return c.add(out, from, end, false)
}

// Bounds returns the byte offsets at which the second and later sentences of
// one paragraph begin.
func Bounds(paragraph string) []int {
	flat := flatten(paragraph)
	var out []int
	it := sentences.FromString(flat)
	for from := 0; it.Next(); {
		if to := it.End(); to < len(flat) && !unfinished(flat[from:to], flat[to:]) {
			out = append(out, to)
			from = to
		}
	}
	return out
}

func codeLines(c *counter, out []Span, b layout.Block) []Span {
	for pos := b.Start; pos < b.End; {
		end := b.End
		if n := strings.IndexByte(c.text[pos:b.End], '\n'); n >= 0 {
			end = pos + n
		}
		if !strings.HasPrefix(strings.TrimSpace(c.text[pos:end]), "```") {
			out = c.add(out, pos, end, false)
		}
		pos = end + 1
	}
	return out
}

// flatten replaces line breaks and tabs with spaces, because the Unicode rules end a
// sentence at every line break. Byte offsets stay the same.
func flatten(s string) string {
	b := []byte(s)
	for i, c := range b {
		switch c {
		case '\n', '\r', '\t', '\f', '\v':
			b[i] = ' '
		}
	}
	return string(b)
}

// unfinished reports whether the sentence goes on after s although the Unicode rules end it
// there: after an abbreviation, an initial or a list number. rest is the text after s.
func unfinished(s, rest string) bool {
	s = strings.TrimRightFunc(s, unicode.IsSpace)
	if !strings.HasSuffix(s, ".") && !strings.HasSuffix(s, ")") {
		return false
	}
	if enumerator(s) {
		return true
	}
	if !strings.HasSuffix(s, ".") {
		return false
	}
	s = strings.TrimSuffix(s, ".")
	word := s[strings.LastIndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '(' || r == '[' })+1:]
	if r, n := utf8.DecodeRuneInString(word); n == len(word) && unicode.IsUpper(r) {
		return true // an initial
	}
	word = strings.ToLower(word)
	const most = 40 // bytes of the words before it
	tail := strings.ToLower(s[max(0, len(s)-len(word)-most):])
	switch {
	case abbreviations[word], abbreviations[lastInitial.FindString(strings.TrimSuffix(tail, " "+word))+word], isOrdinal(tail, word):
		return true
	case utf8.RuneCountInString(word) == 1 && spaced.MatchString(rest):
		return true
	}
	return numbered[word] && rest != "" && rest[0] >= '0' && rest[0] <= '9'
}

// lastInitial matches the first part of an abbreviation that is written with spaces.
var lastInitial = regexp.MustCompile(`\b\pL\.$`)

// spaced matches the rest of an abbreviation that is written with spaces: "z. B.", "p. ex.".
var spaced = regexp.MustCompile(`^\pL{1,2}\.`)

// isOrdinal reports whether a text in small letters stops at a German ordinal number: "am 1. Februar", "der 3. Senat".
func isOrdinal(s, last string) bool {
	if len(last) > 2 || strings.Trim(last, "0123456789") != "" {
		return false
	}
	words := strings.Fields(strings.TrimSuffix(s, last))
	return len(words) > 0 && beforeOrdinals[words[len(words)-1]]
}

// enumerator reports whether s is only the number of an item: "4.2.", "(a)" or "IV.".
func enumerator(s string) bool {
	body := strings.Trim(s, "().")
	switch {
	case len(s) > 10 || body == "":
		return false
	case strings.Trim(body, "0123456789.") == "", strings.Trim(body, "IVXLC") == "":
		return true
	}
	return strings.HasSuffix(s, ")") && len(body) <= 3 && !strings.Contains(body, " ")
}

var (
	// Abbreviations within sentences, in English, German, French, Spanish, Dutch, Italian and Portuguese.
	abbreviations = language.NewSet(`cf dr mr mrs ms prof st vs e.g i.e approx dept eds al ref resp incl excl viz ibid hon gen rev sr jr
		bzw ca ggf evtl inkl exkl zzgl abzgl einschl vgl sog lt insb entspr geb dipl dipl.-ing z.b d.h z.t i.d.r i.s.d i.v.m u.u
		mme mlle env av p.ex c.-à-d sra srta dña aprox p.ej avda uds ud
		bijv dhr mevr o.a d.w.z m.b.t t.a.v m.u.v sig sigg dott avv dra exmo exma`)
	// Abbreviations before a number.
	numbered = language.NewSet(`no nos art arts sec sect para paras par fig figs reg regs ch vol pp p ed cl s ss
		nr abs ziff kap tab abb bd str tel max min mind zit num núm pág págs pag tél blz hfdst`)
	beforeOrdinals = language.NewSet("am vom zum zur bis ab der die das dem den des im beim seit jeden jeder jedes")
)

// counter turns byte offsets into rune offsets. The offsets must be requested in rising
// order.
type counter struct {
	text        string
	bytes, rune int
}

func (c *counter) at(b int) int {
	if b > c.bytes {
		c.rune += utf8.RuneCountInString(c.text[c.bytes:b])
		c.bytes = b
	}
	return c.rune
}

// add appends the trimmed span [from,to) when it holds a letter or digit.
func (c *counter) add(out []Span, from, to int, heading bool) []Span {
	s := c.text[from:to]
	left := len(s) - len(strings.TrimLeftFunc(s, unicode.IsSpace))
	s = strings.TrimSpace(s)
	if strings.IndexFunc(s, language.IsAlphanumeric) < 0 {
		return out
	}
	from += left
	return append(out, Span{Start: c.at(from), End: c.at(from + len(s)), Text: s, Heading: heading})
}
