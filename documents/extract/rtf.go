package extract

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
)

var richText = Type{
	Name:       "rtf",
	Label:      "RTF",
	Extensions: []string{".rtf"},
	MediaTypes: []string{"application/rtf", "text/rtf"},
	Is:         func(raw []byte, _ string) bool { return isRTF(raw) },
	Read:       rtfText,
}

func isRTF(raw []byte) bool { return bytes.HasPrefix(raw, []byte(`{\rtf`)) }

// rtfGroup is the state of a group of an RTF file.
type rtfGroup struct {
	skip   bool // its text is not shown
	hidden bool
	run    officeRun
	uc     int // characters after a Unicode character that stand for it in old programs
	enc    encoding.Encoding
	fonts  bool   // it is the table of fonts
	note   int    // where the text of a footnote, header or footer begins, from 1; 0: it is none
	edge   string // "Header", "Footer", "annotation", "atnauthor" or textBox; empty: it is a footnote
}

// rtfReader reads RTF, which is a sequence of groups, control words and text.
type rtfReader struct {
	o      outline
	groups []rtfGroup
	group  rtfGroup
	enc    encoding.Encoding // of fonts that name none
	fonts  map[int]encoding.Encoding
	font   int    // the one that the table of fonts describes
	bytes  []byte // of the text that is still encoded
	text   strings.Builder
	cells  []string
	header []string   // the first row of the table
	cut    bool       // rows of a table within follow it
	broken bool       // these stand in the open row
	inner  []rtfTable // open tables in cells, each in a cell of the one before
	level  int        // of the table that the paragraph stands in
	inRow  bool
	left   int // characters to leave out after a Unicode character
	high   int // the first half of a character beyond 16 bits
	count  int // footnotes so far
	notes  []string
	author string   // of the next comment
	edges  []string // headers and footers, each once
}

// rtfTable is a table in a cell.
type rtfTable struct {
	before string // text of the cell before it
	rows   [][]string
	row    []string // the open one
}

const (
	maxTableLevel = 20 // of tables in cells
	maxRTFDepth   = 1000
	maxRTFFonts   = 10_000
)

// rtfText returns the paragraphs and the table rows of an RTF file.
func rtfText(ctx context.Context, raw []byte) (string, error) {
	r := rtfReader{enc: charmap.Windows1252, fonts: map[int]encoding.Encoding{}, group: rtfGroup{uc: 1}}
	for i, n := 0, 0; i < len(raw); n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return "", ctx.Err()
		}
		switch c := raw[i]; c {
		case '{':
			r.flush()
			if len(r.groups) >= maxRTFDepth {
				return "", errDamagedFile
			}
			r.groups = append(r.groups, r.group)
			i++
		case '}':
			r.flush()
			if k := len(r.groups); k > 0 {
				ended := r.group
				r.group, r.groups = r.groups[k-1], r.groups[:k-1]
				if ended.note > 0 && r.group.note == 0 {
					r.endNote(ended.note-1, ended.edge)
				}
			}
			i++
		case '\\':
			i += r.control(raw[i:], bytes.HasSuffix(bytes.TrimRight(raw[max(0, i-3):i], "\r\n"), []byte("{")))
		case '\r', '\n':
			i++
		default:
			r.add(c)
			i++
		}
		if r.o.full() || r.text.Len() > MaxText {
			return "", errTooLarge
		}
	}
	if r.inRow || len(r.cells) > 0 { // the file ends within a table
		r.word("cell", -1)
		r.word("row", -1)
	}
	r.paragraph()
	for _, text := range r.edges {
		r.o.add(paragraph, "", text)
	}
	return r.o.text()
}

func (r *rtfReader) add(c byte) {
	if r.left > 0 {
		r.left--
		return
	}
	if !r.group.skip && !r.group.hidden {
		r.bytes = append(r.bytes, c)
	}
}

// flush decodes the text of a run.
func (r *rtfReader) flush() {
	if len(r.bytes) > 0 {
		for _, enc := range []encoding.Encoding{r.group.enc, r.enc} { // fonts may lie
			if enc == nil {
				continue
			}
			out, err := enc.NewDecoder().Bytes(r.bytes)
			if err == nil && enc == r.enc && bytes.ContainsRune(out, utf8.RuneError) && !bytes.ContainsFunc(out, func(c rune) bool { return c > unicode.MaxASCII && c != utf8.RuneError }) {
				out, err = charmap.Windows1252.NewDecoder().Bytes(r.bytes) // signs such as ©, in fonts for Latin letters
			}
			if err == nil && (enc == r.enc || !bytes.ContainsRune(out, utf8.RuneError)) {
				r.text.WriteString(r.group.run.mark(string(out)))
				break
			}
		}
		r.bytes = r.bytes[:0]
	}
}

func (r *rtfReader) write(s string) {
	r.flush()
	if !r.group.skip && !r.group.hidden {
		r.text.WriteString(s)
	}
}

// control reads a control word or symbol and returns its length. first says that it begins a
// group.
func (r *rtfReader) control(raw []byte, first bool) int {
	if len(raw) < 2 {
		return len(raw)
	}
	c := raw[1]
	if c < 'A' || c > 'z' || c > 'Z' && c < 'a' {
		switch c {
		case '\'':
			if len(raw) >= 4 {
				if b, err := strconv.ParseUint(string(raw[2:4]), 16, 8); err == nil {
					r.add(byte(b))
				}
				return 4
			}
		case '*': // what follows is for programs that know it
			if first {
				r.group.skip = true
			}
		case '~':
			r.write("\u00a0")
		case '_':
			r.write("-")
		case '\\', '{', '}':
			r.add(c)
		case '\n', '\r':
			r.paragraph()
		}
		return 2
	}
	end := 1
	for end < len(raw) && end < 40 && (raw[end] >= 'a' && raw[end] <= 'z' || raw[end] >= 'A' && raw[end] <= 'Z') {
		end++
	}
	word := string(raw[1:end])
	from := end
	if end < len(raw) && raw[end] == '-' {
		end++
	}
	for end < len(raw) && end-from < 12 && raw[end] >= '0' && raw[end] <= '9' {
		end++
	}
	number, err := strconv.Atoi(string(raw[from:end]))
	if err != nil {
		number = -1
	}
	if end < len(raw) && raw[end] == ' ' {
		end++
	}
	if word == "bin" && number > 0 {
		return min(end+number, len(raw))
	}
	r.word(word, number)
	return end
}

func (r *rtfReader) word(word string, n int) {
	on := n != 0
	if r.group.edge != "" && (word == "cell" || word == "row" || word == "nestcell" || word == "intbl") {
		r.write(" ")
		return
	}
	switch word {
	case "fonttbl", "colortbl", "stylesheet", "info", "pict", "object", "themedata", "datastore", "latentstyles", "generator", "fldinst",
		"listtable", "listoverridetable", "revtbl", "rsidtbl", "xmlnstbl", "nonesttables", "nonshppict", "deleted", "private", "bkmkstart", "bkmkend", "sp", "shprslt":
		if word != "deleted" || on {
			r.group.skip = true
			r.group.fonts = word == "fonttbl"
		}
	case "f":
		r.flush()
		if r.font = n; !r.group.fonts {
			r.group.enc = r.fonts[n]
		}
	case "fcharset":
		if r.group.fonts && len(r.fonts) < maxRTFFonts {
			r.fonts[r.font] = fontCharset(n)
		}
	case "ansicpg":
		if e := codePage(n); e != nil {
			r.enc = e
		}
	case "cpg":
		if e := codePage(n); e != nil && r.group.fonts {
			r.fonts[r.font] = e
		}
	case "mac":
		r.enc = charmap.Macintosh
	case "pca", "pc":
		r.enc = charmap.CodePage850
	case "uc":
		r.group.uc = max(n, 0)
	case "u":
		r.unicode(n)
	case "par", "sect", "page":
		if !r.group.skip {
			r.paragraph()
		}
	case "line":
		r.write("\n")
	case "tab":
		r.write("\t")
	case "cell":
		r.endInner()
		r.cells = append(r.cells, r.take())
	case "row":
		r.flush()
		switch {
		case r.broken:
			for len(r.cells) > 0 && strings.TrimSpace(r.cells[0]) == "" {
				r.cells = r.cells[1:]
			}
		case r.header == nil:
			r.header = r.cells
		case r.cut:
			r.o.row(r.header)
			r.cut = false
		}
		r.o.row(r.cells)
		r.cells, r.broken = nil, false
	case "itap":
		r.level = min(n, maxTableLevel)
		r.openInner(r.level)
	case "nestcell":
		level := max(r.level, 2)
		r.openInner(level)
		r.closeInner(level)
		t := &r.inner[len(r.inner)-1]
		t.row = append(t.row, r.take())
	case "nestrow":
		if n := len(r.inner); n > 0 {
			r.inner[n-1].endRow()
		}
	case "nesttableprops", "shpgrp", "shpinst", "do": // is for programs that know tables in cells, or text boxes
		k := len(r.groups)
		r.group.skip = k == 0 || r.groups[k-1].skip
	case "intbl":
		r.inRow = true
	case "pard":
		r.level = 0
		r.inRow = r.inRow && r.group.note > 0
	case "plain":
		r.flush()
		r.group.run, r.group.hidden, r.group.enc = officeRun{}, false, nil
	case "v":
		r.flush()
		r.group.hidden = on
	case "strike", "striked":
		r.flush()
		r.group.run.struck = on
	case "footnote":
		if r.beginNote("") {
			r.count++
			r.write(superscript(strconv.Itoa(r.count)))
			r.group.note = r.text.Len() + 1
		}
	case "header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf":
		r.group.skip = !r.beginNote(strings.ToUpper(word[:1]) + word[1:6])
	case "shptxt", "dptxbxtext":
		r.beginNote(textBox)
	case "annotation", "atnauthor":
		r.group.skip = !r.beginNote(word)
	case "super":
		r.flush()
		r.group.run.raised = on
	case "sub":
		r.flush()
		r.group.run.lowered = on
	case "nosupersub":
		r.flush()
		r.group.run.raised, r.group.run.lowered = false, false
	case "emdash":
		r.write("—")
	case "endash":
		r.write("–")
	case "lquote":
		r.write("‘")
	case "rquote":
		r.write("’")
	case "ldblquote":
		r.write("“")
	case "rdblquote":
		r.write("”")
	case "bullet":
		r.write("•")
	}
}

// take returns the text since the last call.
func (r *rtfReader) take() string {
	r.flush()
	defer r.text.Reset()
	return r.text.String()
}

func (t *rtfTable) endRow() {
	if len(t.row) > 0 {
		t.rows, t.row = append(t.rows, t.row), nil
	}
}

// openInner begins the tables in cells that a paragraph of a level stands in.
func (r *rtfReader) openInner(level int) {
	for len(r.inner) < level-1 {
		r.inner = append(r.inner, rtfTable{before: r.take()})
	}
}

// closeInner makes the tables in the open cell of a level text of that cell.
func (r *rtfReader) closeInner(level int) {
	for n := len(r.inner); n >= level; n-- {
		t, after := r.inner[n-1], r.take()
		r.inner = r.inner[:n-1]
		t.endRow()
		r.text.WriteString(strings.TrimSpace(t.before + " " + inCell(t.rows) + " " + after))
	}
}

// endInner writes the table in a cell that ends: as text of the cell if it is one row, or a
// short table below other rows, else as rows.
func (r *rtfReader) endInner() {
	r.closeInner(2)
	if len(r.inner) > 0 {
		t := &r.inner[0]
		t.endRow()
		if !isCellText(len(t.rows), len(inCell(t.rows)), r.header) {
			r.cut = r.broken && r.cut || isLabelled(r.header, r.cells)
			r.o.row(append(r.cells, t.before))
			r.o.endTable()
			for _, row := range t.rows {
				r.o.row(row)
			}
			r.o.endTable()
			r.cells, *t, r.broken = nil, rtfTable{}, true
		}
	}
	r.closeInner(1)
}

// unicode writes a character whose number may be negative, or the half of one.
func (r *rtfReader) unicode(n int) {
	if n < 0 {
		n += 1 << 16
	}
	r.left = 0
	switch {
	case n >= 0xd800 && n < 0xdc00:
		r.high = n
	case n >= 0xdc00 && n < 0xe000:
		r.write(string(rune((r.high-0xd800)<<10 | (n - 0xdc00) + 0x10000)))
	default:
		r.write(string(rune(n)))
	}
	r.left = r.group.uc
}

// fontCharset returns the encoding of a font by the number of its character set; nil for one
// that the file decides.
func fontCharset(n int) encoding.Encoding {
	pages := map[int]int{77: 10000, 78: 10001, 79: 10003, 80: 10008, 81: 10002, 89: 10007, 128: 932, 129: 949, 134: 936, 136: 950, 161: 1253, 162: 1254, 163: 1258, 177: 1255, 178: 1256,
		186: 1257, 204: 1251, 222: 874, 238: 1250, 255: 850}
	if page, ok := pages[n]; ok {
		return codePage(page)
	}
	return nil
}

func codePage(n int) encoding.Encoding {
	name := "windows-" + strconv.Itoa(n)
	switch n { // those from 10000 are of Macs
	case 932, 10001:
		name = "shift_jis"
	case 936, 10008:
		name = "gb18030"
	case 949, 10003:
		name = "euc-kr"
	case 950, 10002:
		name = "big5"
	case 866:
		name = "ibm866"
	case 10007:
		name = "x-mac-cyrillic"
	case 65001:
		name = "utf-8"
	case 437:
		return charmap.CodePage437
	case 850:
		return charmap.CodePage850
	case 10000:
		name = "macintosh"
	}
	e, err := htmlindex.Get(name)
	if err != nil {
		return nil
	}
	return e
}

// beginNote begins a footnote, header or footer, whose text follows that of the page. It reports
// whether the text is shown.
func (r *rtfReader) beginNote(edge string) bool {
	r.flush()
	k := len(r.groups)
	if k == 0 || r.group.note > 0 || r.groups[k-1].skip {
		return false
	}
	r.group.skip, r.group.run = false, officeRun{}
	r.group.note, r.group.edge = r.text.Len()+1, edge
	return true
}

func (r *rtfReader) endNote(from int, edge string) {
	text := r.text.String()
	if from > len(text) { // a row of a table ended in it
		return
	}
	note := strings.TrimSpace(strings.ReplaceAll(text[from:], struck+struck, ""))
	r.text.Reset()
	r.text.WriteString(text[:from])
	switch edge {
	case "":
		r.notes = append(r.notes, superscript(strconv.Itoa(r.count))+" "+note)
	case textBox:
		r.notes = append(r.notes, note)
	case "atnauthor":
		r.author = note
	case "annotation":
		r.notes, r.author = append(r.notes, commentText(r.author, note)), ""
	default:
		r.edges = addEdge(r.edges, edge, note)
	}
}

// textBox is the kind of a note that is the text of a box.
const textBox = "box"

func (r *rtfReader) writeNotes() {
	for _, n := range r.notes {
		r.o.add(paragraph, "", n)
	}
	r.notes = nil
}

func (r *rtfReader) paragraph() {
	r.flush()
	if r.group.note > 0 {
		r.text.WriteByte(' ')
		return
	}
	text := strings.TrimSpace(strings.ReplaceAll(r.text.String(), struck+struck, ""))
	if r.inRow { // a further paragraph of a cell
		r.text.WriteString("\n")
		return
	}
	r.text.Reset()
	if text != "" {
		r.header, r.cut = nil, false
	}
	r.o.add(paragraph, "", text)
	r.writeNotes()
}
