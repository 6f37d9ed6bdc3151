// Package chunk cuts a document's text into the passages that are searched,
// put before a model and cited.
package chunk

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/figures"
	"github.com/palaver-chat/palaver/documents/layout"
	"github.com/palaver-chat/palaver/documents/sentence"
)

// Sizes in characters.
const (
	Max     = 1400 // no passage is longer
	full    = 900  // from here on a passage ends with its paragraph
	section = 600  // from here on a passage ends before a heading
)

// Split cuts text, which must be valid UTF-8, at sentence, paragraph and heading
// bounds in linear time. Passages are in order and do not overlap, are never
// empty, and only white space lies between them; Start and End count characters
// (runes), and Text is verbatim between them. Heading is the nearest heading
// above the passage's first sentence; if the passage begins within a table, the table's caption and
// header follow it, so that the passage can be found and understood without the ones before. ID
// and DocID are left empty.
func Split(text string) []chat.Chunk {
	p := packer{text: text}
	for _, u := range units(text) {
		p.add(u)
	}
	p.flush(len(p.open))
	return p.out
}

// ForDocument is Split with DocID and ID ("<document id>.<ordinal>") set.
func ForDocument(docID, text string) []chat.Chunk {
	chunks := Split(text)
	for i := range chunks {
		chunks[i].DocID = docID
		chunks[i].ID = docID + "." + strconv.Itoa(chunks[i].Ordinal)
	}
	return chunks
}

// SetPages sets the pages of each chunk. pages are those of the whole text; chunks and
// pages must be in order.
func SetPages(chunks []chat.Chunk, pages []chat.PageStart) {
	first := 0 // page on which a chunk begins
	for i := range chunks {
		c := &chunks[i]
		for first+1 < len(pages) && pages[first+1].Start <= c.Start {
			first++
		}
		for k := first; k < len(pages) && pages[k].Start < c.End; k++ {
			c.Pages = append(c.Pages, chat.PageStart{Page: pages[k].Page, Start: max(pages[k].Start, c.Start)})
		}
	}
}

// unit is a stretch of text that no passage cuts: a sentence, a heading or a line of
// code, at most Max characters. from and to count bytes, start and end runes.
type unit struct {
	from, to   int
	start, end int
	title      string // of a heading
	opens      bool   // begins a block
	header     string // of the table, if the unit is a later row of one
	caption    string // of the table, if it stands before the unit
}

func (u unit) heading() bool { return u.title != "" }

// units cuts text into units. Only white space lies between them.
func units(text string) []unit {
	var out []unit
	pos, runes := 0, 0
	at := func(b int) int {
		runes += utf8.RuneCountInString(text[pos:b])
		pos = b
		return runes
	}
	var t table
	blocks := layout.Blocks(text)
	for k, b := range blocks {
		header := t.header(text, blocks[k:])
		caption := cmp.Or(t.caption, t.own)
		for i, cut := range cuts(text, b) {
			for j, c := range hardCuts(text, cut) {
				u := unit{from: c[0], to: c[1], opens: i == 0 && j == 0, header: header, caption: caption}
				u.start, u.end = at(c[0]), at(c[1])
				if b.Kind == layout.Heading {
					u.title = b.Title
				}
				out = append(out, u)
			}
		}
	}
	return out
}

// table follows the rows of a text and remembers the header of the open table, and the caption
// of the tables since the last prose: a statement has several, with lines between them.
type table struct {
	caption string
	above   string // the short line right before the next table
	own     string // that of the open table: its caption if there is no other
	names   string // the header, in one line; "" outside of tables
	first   string // its first cell
	end     int    // of the row before, in bytes
	rows    int
}

// maxHeader is the length in bytes of the longest header that passages get.
const maxHeader = 400

// header returns the header of the table that the first block is a row of, or a label between its rows; ""
// for the header itself and for everything else. A second row belongs to the header if it begins with the
// same cell, as the rows below a cell do that covers both.
func (t *table) header(text string, blocks []layout.Block) string {
	b := blocks[0]
	if b.Kind != layout.Row {
		if t.names != "" && !strings.Contains(text[t.end:b.Start], "\n\n") && layout.IsLabel(text, blocks, t.rows+1) {
			t.end = b.End
			t.rows++
			return strings.TrimSpace(t.names)
		}
		t.names = ""
		t.readCaption(text[b.Start:b.End], b.Kind)
		return ""
	}
	row := text[b.Start:b.End]
	first, _, _ := strings.Cut(strings.TrimLeft(row, "| "), " | ")
	switch {
	case t.names == "" || strings.Contains(text[t.end:b.Start], "\n\n"):
		*t = table{caption: t.caption, own: t.above, names: row, first: first, end: b.End}
		if len(row) > maxHeader || HasFigure(row) {
			t.names = " "
		}
		if isCaption(first) && !HasFigure(row) {
			t.caption = first
		}
		return ""
	case t.rows == 0 && first == t.first && first != "" && len(t.names)+len(row) <= maxHeader:
		t.names += " / " + row
		t.end = b.End
		t.rows++
		return ""
	}
	t.end = b.End
	t.rows++
	return strings.TrimSpace(t.names)
}

// maxBetween is the length in bytes of the longest text that may stand between tables of one
// caption.
const maxBetween = 200

// maxAbove is the length in bytes of the longest line before a table that is its caption although it
// does not look like a title: "Invoices of Ek & Co, 2026".
const maxAbove = 100

// readCaption reads a block that is no row: the last line of it that looks like a title is the
// caption of the tables after it. Prose ends a caption.
func (t *table) readCaption(block string, kind layout.Kind) {
	above, unit, _ := strings.Cut(block, "\n")
	if t.above = ""; kind == layout.Paragraph && len(block) <= maxAbove && !strings.Contains(block, "|") && !strings.HasPrefix(block, "![") && !strings.HasSuffix(above, ".") && (unit == "" || isUnit(unit)) {
		t.above = strings.TrimRight(strings.TrimSpace(above+" "+strings.TrimSpace(unit)), ": ")
	}
	if kind == layout.Heading { // a passage has it anyway
		t.caption = ""
		return
	}
	t.caption = Caption(t.caption, block)
}

// Caption returns the caption of the tables after a block that is no row and no heading: the last
// line at its end that looks like a title, else the one before, if the block is short. A line below it
// that says the unit of the figures belongs to it.
func Caption(before, block string) (caption string) {
	if len(block) <= maxBetween {
		caption = before
	}
	for line := range strings.Lines(block[strings.LastIndexByte(block[:max(0, len(block)-maxBetween)], '\n')+1:]) {
		if line = strings.TrimSpace(line); isCaption(line) {
			caption = line
		} else if caption != "" && !strings.HasSuffix(caption, line) && isUnit(line) {
			caption += " " + line
		}
	}
	return caption
}

// isUnit reports whether a line says in which unit figures are: "(in millions)".
func isUnit(line string) bool { return len(line) <= maxAbove && figures.ScaleIn(line) > 0 }

// isCaption reports whether a line looks like a title: a few words, most of which begin with a
// capital, without figures and without a mark at the end.
func isCaption(line string) bool {
	const fewest, most, longest = 3, 12, 100
	words := strings.Fields(line)
	if len(words) < fewest || len(words) > most || len(line) > longest || strings.ContainsAny(line[len(line)-1:], ".:;,?!") || strings.ContainsAny(line, "0123456789$€|") {
		return false
	}
	capitals, long := 0, 0
	for _, w := range words {
		if utf8.RuneCountInString(w) <= 3 {
			continue
		}
		long++
		if r, _ := utf8.DecodeRuneInString(w); unicode.IsUpper(r) {
			capitals++
		}
	}
	first, _ := utf8.DecodeRuneInString(line)
	return unicode.IsUpper(first) && long > 1 && 3*capitals >= 2*long
}

// figure matches a number that is neither a year nor a day.
var figure = regexp.MustCompile(`[$€£%]|\d[.,]\d|\b(?:[4-9]\d|3[2-9]|\d{3}|[13-9]\d{3}|\d{5,})\b`)

// HasFigure reports whether a row has a number that is neither a year nor a day.
func HasFigure(row string) bool { return figure.MatchString(row) }

// cuts returns the byte ranges of a block's sentences or lines, trimmed.
func cuts(text string, b layout.Block) [][2]int {
	var bounds []int
	switch b.Kind {
	case layout.Heading, layout.Rule, layout.Row:
	case layout.Code:
		for i := b.Start; i < b.End; i++ {
			if text[i] == '\n' {
				bounds = append(bounds, i-b.Start)
			}
		}
	default:
		bounds = sentence.Bounds(text[b.Start:b.End])
	}
	var out [][2]int
	from := b.Start
	for _, n := range append(bounds, b.End-b.Start) {
		if c, ok := trim(text, from, b.Start+n); ok {
			out = append(out, c)
		}
		from = b.Start + n
	}
	return out
}

// hardCuts splits a range of more than Max characters, at a space if there is one in
// the second half of the piece.
func hardCuts(text string, c [2]int) [][2]int {
	var out [][2]int
	from := c[0]
	for c[1]-from > Max { // bytes: at least as many as runes
		n, space := 0, -1
		limit := c[1]
		for i, r := range text[from:c[1]] {
			if n == Max {
				limit = from + i
				break
			}
			if unicode.IsSpace(r) && n > Max/2 {
				space = from + i
			}
			n++
		}
		if limit == c[1] {
			break
		}
		if space >= 0 {
			limit = space
		}
		if t, ok := trim(text, from, limit); ok {
			out = append(out, t)
		}
		from = limit
	}
	if t, ok := trim(text, from, c[1]); ok {
		out = append(out, t)
	}
	return out
}

func trim(text string, from, to int) ([2]int, bool) {
	s := strings.TrimLeftFunc(text[from:to], unicode.IsSpace)
	from = to - len(s)
	s = strings.TrimRightFunc(s, unicode.IsSpace)
	return [2]int{from, from + len(s)}, s != ""
}

// packer fills passages with units.
type packer struct {
	text    string
	open    []unit // of the passage being filled
	heading string // in force at the beginning of open
	out     []chat.Chunk
}

func (p *packer) add(u unit) {
	if n := len(p.open); n > 0 {
		size := p.open[n-1].end - p.open[0].start
		if u.heading() && size >= section || u.opens && size >= full {
			p.flush(p.keep())
		}
	}
	for len(p.open) > 0 && u.end-p.open[0].start > Max {
		p.flush(p.keep())
	}
	p.open = append(p.open, u)
}

// keep returns how many of the open units belong to a passage that ends now. Headings
// at the end stay open, so that they go with the text after them.
func (p *packer) keep() int {
	n := len(p.open)
	for n > 0 && p.open[n-1].heading() {
		n--
	}
	if n == 0 || n == len(p.open) || p.open[len(p.open)-1].end-p.open[n].start > Max/2 {
		return len(p.open)
	}
	return n
}

// flush makes a passage of the first n open units.
func (p *packer) flush(n int) {
	if n == 0 {
		return
	}
	first, last := p.open[0], p.open[n-1]
	c := chat.Chunk{
		Ordinal: len(p.out),
		Text:    p.text[first.from:last.to],
		Start:   first.start,
		End:     last.end,
		Heading: p.heading,
	}
	leading := true // a passage that begins with headings gets the last of them
	for _, u := range p.open[:n] {
		if leading = leading && u.heading(); leading {
			c.Heading = u.title
		}
		if u.heading() {
			p.heading = u.title
		}
	}
	for _, more := range []string{first.caption, first.header} { // the passage begins within a table
		if more != "" && more != c.Heading && !strings.HasPrefix(c.Text, more) {
			c.Heading = strings.TrimPrefix(c.Heading+": "+more, ": ")
		}
	}
	p.out = append(p.out, c)
	p.open = append(p.open[:0], p.open[n:]...)
}
