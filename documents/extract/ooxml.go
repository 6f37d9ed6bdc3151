package extract

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
)

// officeText walks through the XML of a Word document or a slide. Both have paragraphs
// (p) of runs (r) with texts (t), and tables (tbl) of rows (tr) and cells (tc). Names are
// compared without their namespaces, because the format has two sets of them.
type officeText struct {
	paragraph func(officeParagraph)
	row       func(cells []string)
	endTable  func()                              // called after each table outside of others; may be nil
	label     func(*officeParagraph) string       // Word: the number of a paragraph; may be nil
	link      func(name string, id string) string // the text for a reference to another part; may be nil
	after     func()                              // called after each paragraph or row outside of others; may be nil

	open    []*officeParagraph // a text box is a paragraph within a paragraph
	tables  []*officeTable     // open tables
	formula []*officeMath      // open parts of an equation
	place   string             // the placeholder of the open shape
	skip    int                // depth of elements that are left out
	props   int                // depth of a paragraph's properties
	size    int                // of the text read, in bytes
	copied  int                // of the text of inner tables and merged cells that was repeated, in bytes
	cells   int                // of all tables
	inText  bool
	run     officeRun

	isHidden bool           // the slide is not shown
	counters [9]listCounter // of the open text of a slide, by level
	choice   *choiceField   // Word: the open field
	ruby     int            // open characters with a reading
	inRuby   bool           // the reading is read
	reading  string         // of the characters before
}

// listCounter counts the paragraphs of a slide that have numbers.
type listCounter struct {
	format string
	number int
}

// choiceField is a field of an old form: a list of which one entry is chosen, or a box.
type choiceField struct {
	isList  bool
	chosen  int
	entries []string
}

const (
	maxEntries = 1000
	maxReading = 1000 // bytes of the reading of characters
)

// officeRun is the look of the text that is being read.
type officeRun struct {
	hidden, struck, raised, lowered bool
}

// officeParagraph is a paragraph outside of tables.
type officeParagraph struct {
	text    strings.Builder
	style   string // Word: the style's id
	outline int    // Word: the heading's level, from 1; 0: the style decides
	listed  bool   // Word: an item of a list
	list    string // Word: the list's id; "": the style decides
	level   int    // Word: of the item, from 0; -1: the style decides
	place   string // slides: the placeholder, such as "title"
	auto    string // slides: how the paragraph is numbered
	start   int    // slides: the first number

	equation int // where an equation ends in text; 0: none
}

// officeTable is a table that is being read.
type officeTable struct {
	rows  int          // that are open; one that begins within another one belongs to it
	cells []officeCell // of the outermost open row
	above []string     // texts of the row above, by column

	header []string // the first row
	cut    bool     // rows of a table within follow it
}

type officeCell struct {
	text  []byte
	span  int  // how many columns it covers
	above bool // it continues the cell above
	left  bool // it continues the cell on its left

	nested []nestedRow // of tables in the cell, in order
}

// nestedRow is a row of a table within a cell: its columns, and its place in the cell's text. One
// without columns stands between two cells.
type nestedRow struct {
	columns  []string
	from, to int
}

// maxColumns is the maximum number of columns that a row of a table has.
const maxColumns = 1000

// walk reads a part of the archive. It ends with errTooLarge when full reports true.
func (w *officeText) walk(a *archive, part string, full func() bool) error {
	in, err := a.open(part)
	if err != nil {
		return err
	}
	defer in.Close()
	d := xml.NewDecoder(in)
	for {
		if w.size > MaxText || w.copied > MaxText || w.cells > maxCells || full() {
			return errTooLarge
		}
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			w.start(t)
		case xml.EndElement:
			w.end(t.Name)
		case xml.CharData:
			if w.inText && w.skip == 0 && !w.run.hidden {
				w.write(w.run.mark(string(t)))
			}
		}
	}
}

func (r officeRun) mark(s string) string {
	switch {
	case r.raised:
		s = superscript(s)
	case r.lowered:
		s = subscript(s)
	}
	if r.struck {
		s = strike(s)
	}
	return s
}

// isSkippedElement reports whether an element's content is left out: the copy of a text box
// for old programs, and text that was deleted or moved.
func isSkippedElement(name string) bool {
	return name == "Fallback" || name == "moveFrom" || name == "del" || name == "rPrChange" || name == "pPrChange" || name == "tblPrChange" || name == "tcPrChange"
}

func (w *officeText) start(t xml.StartElement) {
	name := t.Name.Local
	if isMath(t.Name) {
		w.startMath(t)
		return
	}
	if w.skip > 0 || isSkippedElement(name) && (name != "del" || w.props == 0) {
		w.skip++
		return
	}
	switch name {
	case "p":
		w.open = append(w.open, &officeParagraph{place: w.place, level: -1})
	case "pPr":
		w.props++
		w.paragraphProperty("lvl", t)
	case "txBody":
		w.counters = [9]listCounter{}
	case "sld":
		w.isHidden = attr(t, "show") == "0" || attr(t, "show") == "false"
	case "ruby":
		w.ruby++
	case "rt":
		w.inRuby = w.ruby > 0
	case "ddList", "checkBox":
		if w.choice = (&choiceField{isList: name == "ddList"}); name == "checkBox" {
			w.write("☐")
		}
	case "r":
		w.run = officeRun{}
	case "t":
		w.inText = true
	case "fld":
		if w.place == "sldNum" && attr(t, "type") == "slidenum" {
			w.skip++
		}
	case "tbl":
		w.tables = append(w.tables, &officeTable{})
	case "tr":
		w.inTable(func(t *officeTable) { t.rows++ })
	case "tc":
		w.cells++
		w.inTable(func(table *officeTable) {
			// In slides, what a cell covers follows it as cells of their own.
			if len(table.cells) < maxColumns {
				table.cells = append(table.cells, officeCell{span: 1, above: attr(t, "vMerge") == "1", left: attr(t, "hMerge") == "1"})
			}
		})
	case "sp", "graphicFrame":
		w.place = ""
	case "ph":
		w.place = attr(t, "type")
	default:
		w.property(name, t)
	}
}

func span(val string) int {
	n, err := strconv.Atoi(val)
	if err != nil {
		return 1
	}
	return min(max(n, 1), maxColumns)
}

// property reads an element that has attributes but no text.
func (w *officeText) property(name string, t xml.StartElement) {
	if w.props > 0 {
		w.paragraphProperty(name, t)
		return
	}
	switch name {
	case "tab", "ptab":
		w.write("\t")
	case "br", "cr":
		w.write("\n")
	case "noBreakHyphen":
		w.write("-")
	case "textpath": // lettering of Word, such as a watermark
		w.write("\n" + attr(t, "string") + "\n")
	case "sym":
		w.write(officeSymbol(attr(t, "font"), attr(t, "char")))
	case "vanish":
		w.run.hidden = isOn(t)
	case "strike", "dstrike":
		w.run.struck = isOn(t)
	case "vertAlign":
		w.run.raised, w.run.lowered = attr(t, "val") == "superscript", attr(t, "val") == "subscript"
	case "rPr": // slides have attributes instead of elements
		if s := attr(t, "strike"); s == "sngStrike" || s == "dblStrike" {
			w.run.struck = true
		}
		if b := attr(t, "baseline"); b != "" && b != "0" {
			w.run.lowered = strings.HasPrefix(b, "-")
			w.run.raised = !w.run.lowered
		}
	case "gridSpan", "vMerge", "hMerge", "gridBefore":
		w.cellProperty(name, attr(t, "val"))
	case "checked", "default", "result", "listEntry":
		w.choose(name, t)
	case "footnoteReference", "endnoteReference", "commentReference":
		w.refer(name, attr(t, "id"))
	case "altChunk", "chart", "relIds":
		id := attr(t, "id")
		if name == "relIds" {
			id = attr(t, "dm")
		}
		w.refer(name, id)
	}
}

// choose reads what is chosen in a field.
func (w *officeText) choose(name string, t xml.StartElement) {
	f := w.choice
	switch {
	case name == "checked", name == "default" && f != nil && !f.isList:
		p := w.last()
		if p == nil {
			return
		}
		if s := p.text.String(); strings.HasSuffix(s, "☐") || strings.HasSuffix(s, "☒") && f != nil {
			p.text.Reset()
			p.text.WriteString(s[:len(s)-len("☐")] + map[bool]string{true: "☒", false: "☐"}[isOn(t)])
		}
	case f == nil:
	case name == "listEntry" && len(f.entries) < maxEntries:
		f.entries = append(f.entries, attr(t, "val"))
	case name == "result", name == "default" && f.chosen == 0:
		f.chosen = atoi(attr(t, "val"), 0)
	}
}

func (w *officeText) refer(name, id string) {
	if w.link != nil {
		w.write(w.link(name, id))
	}
}

func (w *officeText) cellProperty(name, val string) {
	w.inTable(func(t *officeTable) {
		n := len(t.cells)
		switch {
		case name == "gridBefore":
			for range min(span(val), maxColumns) {
				t.cells = append(t.cells, officeCell{span: 1})
			}
		case n == 0:
		case name == "gridSpan":
			t.cells[n-1].span = span(val)
		case name == "vMerge":
			t.cells[n-1].above = val != "restart"
		case name == "hMerge":
			t.cells[n-1].left = val != "restart"
		}
	})
}

func (w *officeText) last() *officeParagraph {
	if n := len(w.open); n > 0 {
		return w.open[n-1]
	}
	return nil
}

func (w *officeText) paragraphProperty(name string, t xml.StartElement) {
	p := w.last()
	if p == nil {
		return
	}
	switch name {
	case "lvl":
		if n, err := strconv.Atoi(attr(t, "lvl")); err == nil {
			p.level = min(max(n, 0), maxListLevel-1)
		}
	case "buAutoNum":
		p.auto, p.start = attr(t, "type"), max(1, atoi(attr(t, "startAt"), 1))
	case "pStyle":
		p.style = attr(t, "val")
	case "outlineLvl":
		p.outline = headingLevel(attr(t, "val"))
	case "numPr":
		p.listed = true
	case "numId":
		p.list = attr(t, "val")
	case "ilvl":
		if n, err := strconv.Atoi(attr(t, "val")); err == nil {
			p.level = min(max(n, 0), maxListLevel-1)
		}
	}
}

func (w *officeText) end(full xml.Name) {
	name := full.Local
	if isMath(full) {
		w.endMath(name)
		return
	}
	if w.skip > 0 {
		w.skip--
		return
	}
	switch name {
	case "p":
		w.endParagraph()
	case "pPr":
		w.props = max(0, w.props-1)
	case "t":
		w.inText = false
	case "ruby":
		w.ruby = max(0, w.ruby-1)
	case "rt":
		w.inRuby = false
	case "ddList":
		if f := w.choice; f != nil && f.chosen < len(f.entries) {
			w.write(f.entries[f.chosen])
		}
		w.choice = nil
	case "checkBox":
		w.choice = nil
	case "tr":
		w.endRow()
	case "tbl":
		if n := len(w.tables); n > 0 {
			w.tables = w.tables[:n-1]
		}
		if w.endTable != nil && len(w.tables) == 0 {
			w.endTable()
		}
	}
}

func (w *officeText) write(s string) {
	w.size += len(s)
	switch {
	case w.inRuby:
		if len(w.reading) < maxReading {
			w.reading += s
		}
		return
	case w.ruby == 0 && w.reading != "":
		s, w.reading = "("+w.reading+")"+s, ""
	}
	if n := len(w.formula); n > 0 {
		w.formula[n-1].text.WriteString(s)
		return
	}
	if p := w.last(); p != nil {
		p.text.WriteString(s)
	} else if s = strings.TrimSpace(s); s != "" { // of a part that stands between paragraphs
		p := &officeParagraph{}
		p.text.WriteString(s)
		w.paragraph(*p)
	}
}

func (w *officeText) endParagraph() {
	p := w.last()
	if p == nil {
		return
	}
	if w.reading != "" && w.ruby == 0 {
		w.write("")
	}
	w.open = w.open[:len(w.open)-1]
	text := strings.ReplaceAll(p.text.String(), struck+struck, "")
	label := ""
	if w.label != nil {
		label = w.label(p)
	} else if number := w.number(p); number != "" {
		text = number + " " + text
	}
	if len(w.tables) > 0 {
		if label != "" && strings.TrimSpace(text) != "" {
			text = label + " " + text
		}
		w.addToCell(text)
		return
	}
	p.text.Reset()
	p.text.WriteString(text)
	w.paragraph(*p)
	w.ended()
}

// number counts a paragraph of a slide and returns its number; "" if it has none. Paragraphs of lower levels do not
// end the counting.
func (w *officeText) number(p *officeParagraph) string {
	level := max(p.level, 0)
	if strings.TrimSpace(p.text.String()) == "" {
		return ""
	}
	for i := level + 1; i < len(w.counters); i++ {
		w.counters[i] = listCounter{}
	}
	c := &w.counters[level]
	if p.auto == "" {
		*c = listCounter{}
		return ""
	}
	if key := p.auto + strconv.Itoa(p.start); c.format != key {
		*c = listCounter{key, p.start - 1}
	}
	c.number++
	return slideNumeral(c.number, p.auto)
}

// slideNumeral writes a number in a format of slides, such as alphaLcParenR.
func slideNumeral(n int, format string) string {
	text := strconv.Itoa(n)
	for name, numerals := range map[string]string{"alphaLc": "lowerLetter", "alphaUc": "upperLetter", "romanLc": "lowerRoman", "romanUc": "upperRoman", "circleNum": "decimalEnclosedCircle",
		"ea1": "chineseCounting", "hebrew2": "hebrew1", "arabic1": "arabicAlpha", "arabic2": "arabicAbjad", "thaiAlpha": "thaiLetters", "thaiNum": "thaiNumbers", "hindiNum": "hindiNumbers"} {
		if strings.HasPrefix(format, name) {
			text = numeral(n, numerals)
		}
	}
	switch {
	case strings.HasSuffix(format, "ParenBoth"):
		return "(" + text + ")"
	case strings.HasSuffix(format, "ParenR"):
		return text + ")"
	case strings.HasSuffix(format, "Plain"):
		return text
	case strings.HasSuffix(format, "Minus"):
		return text + "-"
	}
	return text + "."
}

func (w *officeText) ended() {
	if w.after != nil && len(w.open) == 0 && len(w.tables) <= 1 {
		w.after()
	}
}

// endRow writes a row, once. A row with tables in its cells is written cell by cell, so that the
// rows within stay rows; the rows after it have the header again. If the tables within have one row
// or one column, or are short and below other rows, they are text of their cells.
func (w *officeText) endRow() {
	w.inTable(func(t *officeTable) {
		if t.rows--; t.rows > 0 {
			return
		}
		frame, framed := t.frame()
		cells := w.places(t)
		n := len(w.tables)
		switch {
		case n == 1 && framed:
			w.writeFrame(frame)
			t.cut = isLabelled(t.header, cells[:len(cells)-1])
			w.ended()
		case n == 1:
			if t.cut {
				w.row(t.header)
				t.cut = false
			}
			if t.header == nil {
				t.header = cells
			}
			w.row(cells)
			w.ended()
		case framed:
			w.nest(w.tables[n-2], string(frame.text), frame.nested)
		default:
			inner := inCell([][]string{cells})
			w.nest(w.tables[n-2], inner+"\n", []nestedRow{{columns: cells, to: len(inner)}})
		}
	})
}

// frame returns the cells of a row as one if there are tables in them, as pages that are laid out
// with tables have.
func (t *officeTable) frame() (all officeCell, framed bool) {
	isTable := func(c officeCell) bool { // and not a line or a list
		rows := 0
		for _, r := range c.nested {
			if len(r.columns) > 1 {
				rows++
			}
		}
		return len(t.cells) == 1 && len(c.nested) > 0 || !isCellText(rows, len(c.text), t.above)
	}
	if !slices.ContainsFunc(t.cells, isTable) {
		return officeCell{}, false
	}
	for i, c := range t.cells {
		if i > 0 {
			all.text = append(all.text, '\n')
			all.nested = append(all.nested, nestedRow{from: len(all.text), to: len(all.text)})
		}
		all.add(string(c.text), c.nested)
	}
	return all, true
}

// inLine returns the text of a cell with the rows in it one after the other.
func (c officeCell) inLine() string {
	var b strings.Builder
	from := 0
	for i, r := range c.nested {
		if between := c.text[from:r.from]; i > 0 && len(strings.TrimSpace(string(between))) == 0 {
			b.WriteString("; ")
		} else {
			b.Write(between)
		}
		b.Write(c.text[r.from:r.to])
		from = r.to
	}
	b.Write(c.text[from:])
	return b.String()
}

// add appends text with rows.
func (c *officeCell) add(text string, rows []nestedRow) {
	for _, r := range rows {
		c.nested = append(c.nested, nestedRow{r.columns, r.from + len(c.text), r.to + len(c.text)})
	}
	c.text = append(c.text, text...)
}

// writeFrame writes the rows of tables in cells as rows, and the text around them.
func (w *officeText) writeFrame(c officeCell) {
	from := 0
	around := func(text []byte) {
		if s := strings.TrimSpace(string(text)); s != "" {
			w.row([]string{s})
		}
	}
	for _, r := range c.nested {
		around(c.text[from:r.from])
		if r.columns != nil {
			w.row(r.columns)
		} else if w.endTable != nil { // a cell ends
			w.endTable()
		}
		from = r.to
	}
	around(c.text[from:])
	if len(c.nested) > 0 && w.endTable != nil {
		w.endTable()
	}
}

// nest adds text with rows to the last cell of a table.
func (w *officeText) nest(t *officeTable, text string, rows []nestedRow) {
	n := len(t.cells)
	if w.copied += len(text); w.copied > MaxText || n == 0 || strings.TrimSpace(text) == "" {
		return // walk ends if there is too much text
	}
	t.cells[n-1].add(text, rows)
}

// places returns the texts of a row's columns. The text of a merged cell stands in each
// place that it covers, but a cell that fills the whole row stands once.
func (w *officeText) places(t *officeTable) []string {
	var out []string
	own := 0 // cells that are not parts of others
	for _, c := range t.cells {
		text := c.inLine()
		column := len(out)
		switch {
		case c.above && column < len(t.above):
			text = mergedText(t.above[column])
			w.copied += len(text)
		case c.left && column > 0:
			text = mergedText(out[column-1])
			w.copied += len(text)
			own--
		}
		own++
		for i := range min(c.span, maxColumns-column) {
			if i > 0 {
				text = mergedText(text)
				w.copied += len(text)
			}
			out = append(out, text)
		}
	}
	t.cells, t.above = nil, out
	return onlyOnce(out, own)
}

func (w *officeText) inTable(do func(*officeTable)) {
	if n := len(w.tables); n > 0 {
		do(w.tables[n-1])
	}
}

func (w *officeText) addToCell(s string) {
	w.inTable(func(t *officeTable) {
		if n := len(t.cells); n > 0 && s != "" {
			c := &t.cells[n-1]
			c.text = append(append(c.text, s...), '\n')
		}
	})
}

func attr(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// isOn reads a property that is on unless its value says otherwise.
func isOn(t xml.StartElement) bool {
	switch attr(t, "val") {
	case "0", "false", "off":
		return false
	}
	return true
}

// headingLevel reads an outline level, which counts from 0; 9 is text.
func headingLevel(val string) int {
	n, err := strconv.Atoi(val)
	if err != nil || n < 0 || n > 8 {
		return 0
	}
	return n + 1
}

// officeMath is an element of an equation that is being read.
type officeMath struct {
	name  string
	text  strings.Builder
	parts map[string]string // texts of the elements within, by name
	sign  string            // of an operator such as a sum
	open  string            // the bracket before; close: the one after
	close string
}

const maxMathDepth = 200

func isMath(n xml.Name) bool { return strings.HasSuffix(n.Space, "/math") || n.Space == "m" }

func (w *officeText) startMath(t xml.StartElement) {
	if w.skip > 0 {
		w.skip++
		return
	}
	name := t.Name.Local
	n := len(w.formula)
	switch name {
	case "t":
		w.inText = true
		return
	case "r":
		w.run = officeRun{}
		return
	case "chr", "begChr", "endChr":
		if n > 1 { // within the properties of the element before
			of := w.formula[n-2]
			switch name {
			case "chr":
				of.sign = attr(t, "val")
			case "begChr":
				of.open = attr(t, "val")
			case "endChr":
				of.close = attr(t, "val")
			}
		}
		return
	}
	if n >= maxMathDepth {
		w.skip++
		return
	}
	m := &officeMath{name: name, parts: map[string]string{}}
	switch name {
	case "nary":
		m.sign = "∫"
	case "d":
		m.open, m.close = "(", ")"
	}
	w.formula = append(w.formula, m)
}

func (w *officeText) endMath(name string) {
	if w.skip > 0 {
		w.skip--
		return
	}
	switch name {
	case "t":
		w.inText = false
		return
	case "r", "chr", "begChr", "endChr":
		return
	}
	n := len(w.formula)
	if n == 0 {
		return
	}
	m := w.formula[n-1]
	w.formula = w.formula[:n-1]
	text := m.written()
	w.size -= len(m.text.String()) // it is written once more
	if n == 1 {
		if p := w.last(); p != nil {
			if p.text.Len() > 0 && p.text.Len() == p.equation {
				text = " " + text
			}
			p.equation = p.text.Len() + len(text)
		}
		w.write(text)
		return
	}
	of := w.formula[n-2]
	switch name {
	case "oMath":
		if of.text.Len() > 0 {
			w.write("\n")
		}
		w.write(text)
	case "num", "den", "e", "sup", "sub", "deg", "lim", "fName":
		if before, again := of.parts[name]; again {
			text = before + ", " + text
		}
		of.parts[name] = text
	default:
		w.write(text)
	}
}

// written returns an element of an equation in one line.
func (m *officeMath) written() string {
	p := m.parts
	switch m.name {
	case "f":
		return " " + fraction(p["num"], p["den"]) + " "
	case "sSup":
		return p["e"] + power(p["sup"], "^")
	case "sSub":
		return p["e"] + power(p["sub"], "_")
	case "sSubSup":
		return p["e"] + power(p["sub"], "_") + power(p["sup"], "^")
	case "sPre":
		return power(p["sub"], "_") + power(p["sup"], "^") + p["e"]
	case "rad":
		return power(p["deg"], "^") + "√" + bracketed(p["e"])
	case "nary":
		return m.sign + power(p["sub"], "_") + power(p["sup"], "^") + " " + p["e"]
	case "d":
		return m.open + p["e"] + m.close
	case "func":
		return p["fName"] + bracketed(p["e"])
	case "limLow":
		return p["e"] + power(p["lim"], "_")
	case "limUpp":
		return p["e"] + power(p["lim"], "^")
	case "mr":
		return p["e"] + "; "
	case "oMath":
		return strings.Join(strings.Fields(m.text.String()+p["e"]), " ")
	}
	return m.text.String() + p["e"]
}
