package extract

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

var (
	openText = openDocument(Type{
		Name: "odt", Label: "OpenDocument text", Extensions: []string{".odt", ".ott"},
		MediaTypes: []string{"application/vnd.oasis.opendocument.text"},
	})
	openSheets = openDocument(Type{
		Name: "ods", Label: "OpenDocument spreadsheet", Extensions: []string{".ods", ".ots"},
		MediaTypes: []string{"application/vnd.oasis.opendocument.spreadsheet"}, untitled: true,
	})
	openSlides = openDocument(Type{
		Name: "odp", Label: "OpenDocument presentation", Extensions: []string{".odp", ".otp"},
		MediaTypes: []string{"application/vnd.oasis.opendocument.presentation"},
	})
)

// templateOf is what the media type of a template has behind that of its documents.
const templateOf = "-template"

// openDocument completes a type for OpenDocument files, which name their media type in the
// part "mimetype", or at least in their manifest.
func openDocument(t Type) Type {
	media := t.MediaTypes[0]
	t = officeFile(t, nil, openDocumentText)
	t.Is = func(raw []byte, _ string) bool {
		a, err := openArchive(raw)
		if err != nil {
			return false
		}
		if in, err := a.open("mimetype"); err == nil {
			defer in.Close()
			said, _ := io.ReadAll(io.LimitReader(in, 200))
			return strings.TrimSuffix(strings.TrimSpace(string(said)), templateOf) == media
		}
		in, err := a.open("META-INF/manifest.xml")
		if err != nil || !a.has("content.xml") {
			return false
		}
		defer in.Close()
		list, _ := io.ReadAll(io.LimitReader(in, 1<<20))
		return bytes.Contains(list, []byte(`"`+media+`"`)) || bytes.Contains(list, []byte(`"`+media+templateOf+`"`))
	}
	return t
}

// openDocumentText returns the text of an OpenDocument file: headings, paragraphs, list items
// and table rows. Tables of a spreadsheet stand below their names, slides below their numbers.
func openDocumentText(a *archive) (string, error) {
	if manifest, err := a.open("META-INF/manifest.xml"); err == nil {
		said, _ := io.ReadAll(io.LimitReader(manifest, maxPart))
		_ = manifest.Close()
		if bytes.Contains(said, []byte(":encryption-data")) {
			return "", errOldOffice
		}
	}
	styles := newOpenWalker(nil)
	styles.edged = true
	if a.has("styles.xml") {
		if err := styles.walk(a, "styles.xml"); err != nil {
			return "", err
		}
	}
	w := newOpenWalker(styles)
	w.archive, w.objects = a, map[string]bool{}
	if err := w.walk(a, "content.xml"); err != nil {
		return "", err
	}
	if !w.sheet {
		for _, text := range append(styles.edges, w.edges...) {
			w.o.add(paragraph, "", text)
		}
	}
	return w.o.text()
}

// newOpenWalker returns a walker that knows the styles that another one has read.
func newOpenWalker(styles *openWalker) *openWalker {
	w := &openWalker{o: &outline{}, hidden: map[string]bool{}, titles: map[string]bool{}, runs: map[string]officeRun{}, listStyles: map[string]*wordList{}, lastLists: map[string]*wordList{}}
	if styles != nil {
		w.runs, w.listStyles = styles.runs, styles.listStyles
	}
	return w
}

// walk reads a part of the file.
func (w *openWalker) walk(a *archive, part string) error {
	in, err := a.open(part)
	if err != nil {
		return err
	}
	defer in.Close()
	d := xml.NewDecoder(in)
	for {
		if w.o.full() || w.size > MaxText || w.cells > maxCells {
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
			w.end(t.Name.Local)
		case xml.CharData:
			if w.skip == 0 && w.depth > 0 {
				text := strings.Join(strings.FieldsFunc(string(t), func(r rune) bool { return r == '\n' || r == '\t' }), " ")
				if n := len(w.spans); n > 0 {
					text = w.spans[n-1].mark(text)
				}
				w.write(text)
			}
		}
	}
}

const maxOpenStyles = 10_000 // of text, that are known

// openWalker walks through the content of an OpenDocument file.
type openWalker struct {
	o     *outline
	text  strings.Builder
	depth int // open paragraphs
	level int // of the heading; 0: a paragraph
	size  int
	cells int
	openTable
	outer  []openTable // the tables around the open one
	spaced sheetRows   // of the open table of a spreadsheet
	style  string
	hidden map[string]bool      // styles of tables and slides that are not shown
	titles map[string]bool      // styles of titles
	runs   map[string]officeRun // styles of text
	spans  []officeRun          // that are open
	notes  int
	note   []string
	aside  []string // text around an open note
	skip   int
	sheet  bool
	edged  bool     // the part that is read has headers and footers
	edges  []string // each once

	lists      []*wordList          // that are open
	item       *wordList            // whose number stands before the next paragraph
	at         int                  // the level of that item
	listStyles map[string]*wordList // outlineList: that of headings
	listStyle  string               // that is being read
	lastLists  map[string]*wordList // by style and by id, for lists that continue others
	unnumbered bool                 // the heading has no number

	archive *archive        // with the objects of the text; nil within one
	objects map[string]bool // that have been read

	slide *openSlide // that is read; nil: none
	count int        // slides so far

	noTables bool     // only the text around tables is read
	charts   []string // titles of charts of the open table of a spreadsheet
}

const titleStyle = "Title"

// outlineList is the name of the list of headings.
const outlineList = "\x00headings"

// openTable is a table that is being read.
type openTable struct {
	open   bool
	broken bool // a table in one of the row's cells has been written
	row    []string
	times  int // how often the row is repeated
	cell   []string
	repeat int              // how many columns the cell stands for
	span   int              // how many columns it covers
	above  map[int]openCell // cells that continue in the next rows
	rows   int              // how many rows the open cell covers
	date   string           // of the cell, with its time
	header []string         // the first row that was written

	collapsed []bool     // the columns that are not shown
	shapes    int        // open lists of what is drawn over the table
	cut       bool       // rows of a table within follow it
	inner     [][]string // rows of a table in a cell of another; nil stands between two tables
}

type openCell struct {
	text string
	rows int
}

// openSlide is a slide that is being read. Its title may be anywhere in the file.
type openSlide struct {
	slideHead
	around, body *outline // what stands before the slide, and on it while its notes are read
	inTitle      bool
}

func (w *openWalker) write(s string) {
	w.size += len(s)
	w.text.WriteString(s)
}

func (w *openWalker) start(t xml.StartElement) {
	if w.skip > 0 {
		w.skip++
		return
	}
	switch name := t.Name.Local; name {
	case "spreadsheet":
		w.sheet, w.spaced.o = true, w.o
	case "style":
		w.style = attr(t, "name")
		if attr(t, "parent-style-name") == titleStyle && len(w.titles) < maxOpenStyles {
			w.titles[w.style] = true
		}
	case "table-properties":
		if attr(t, "display") == "false" {
			w.hidden[w.style] = true
		}
	case "drawing-page-properties":
		if attr(t, "visibility") == "hidden" {
			w.hidden[w.style] = true
		}
	case "text-properties":
		if len(w.runs) < maxOpenStyles {
			position, line := attr(t, "text-position"), attr(t, "text-line-through-style")
			w.runs[w.style] = officeRun{
				struck: line != "" && line != "none" || attr(t, "text-line-through-type") == "single",
				hidden: attr(t, "display") == "none",
				raised: strings.HasPrefix(position, "super"), lowered: strings.HasPrefix(position, "sub"),
			}
		}
	case "span":
		run := w.runs[attr(t, "style-name")]
		if n := len(w.spans); n > 0 && run == (officeRun{}) {
			run = w.spans[n-1]
		}
		if run.hidden {
			w.skip++
			return
		}
		w.spans = append(w.spans, run)
	case "tracked-changes", "forms", "note-citation", "sequence-decls", "page-number", "page-count", "number":
		w.skip++
	case "list-style":
		w.listStyle = attr(t, "name")
		w.listStyles[w.listStyle] = newList()
	case "outline-style":
		w.listStyle = outlineList
		w.listStyles[outlineList] = newList()
	case "list-level-style-number", "list-level-style-bullet", "list-level-style-image", "outline-level-style":
		w.setLevel(t)
	case "header", "footer":
		if w.edged {
			w.o, w.lists, w.item = &outline{}, nil, nil
		}
	case "page":
		w.count++
		w.slide = &openSlide{around: w.o, slideHead: slideHead{number: w.count, isHidden: w.hidden[attr(t, "style-name")]}}
		w.o = &outline{}
	case "frame":
		if w.slide != nil {
			w.slide.inTitle = attr(t, "class") == "title"
		}
	case "notes":
		if w.slide != nil {
			w.writeNotes()
			w.slide.body, w.o = w.o, &outline{}
		}
	case "footer-decl", "date-time-decl":
		w.depth++
		w.text.Reset()
	case "annotation":
		w.aside = append(w.aside, w.text.String())
		w.text.Reset()
	case "note":
		w.notes++
		w.write(superscript(strconv.Itoa(w.notes)))
		w.aside = append(w.aside, w.text.String())
		w.text.Reset()
	case "creator", "date":
		if len(w.aside) > 0 {
			w.skip++
		}
	case "p", "h":
		style := attr(t, "style-name")
		if w.runs[style].hidden {
			w.skip++
			return
		}
		w.depth++
		if w.depth == 1 && len(w.aside) == 0 {
			w.text.Reset()
			w.level = 0
			if style == titleStyle || w.titles[style] {
				w.level, w.unnumbered = 1, true
			}
			if name == "h" {
				w.level = max(1, atoi(attr(t, "outline-level"), 1))
				w.unnumbered = attr(t, "is-list-header") == "true"
			}
		}
	case "object":
		w.object(path.Join(attr(t, "href"), "content.xml"))
	case "s":
		w.write(strings.Repeat(" ", min(max(1, atoi(attr(t, "c"), 1)), 100)))
	case "tab":
		w.write("\t")
	case "line-break":
		w.write("\n")
	case "list":
		w.startList(t)
	case "list-item":
		if n := len(w.lists); n > 0 {
			w.item, w.at = w.lists[n-1], min(n, maxListLevel)-1
			if start := atoi(attr(t, "start-value"), -1); start >= 0 {
				w.item.counter[w.at] = start - 1
				w.item.restart[w.at] = start + 1
			}
		}
	case "table":
		if w.noTables || w.hidden[attr(t, "style-name")] {
			w.skip++
			return
		}
		if len(w.outer) > maxTableLevel {
			w.skip++
			return
		}
		w.outer = append(w.outer, w.openTable)
		w.openTable = openTable{open: true, above: map[int]openCell{}}
		if w.sheet && len(w.outer) == 1 {
			w.spaced = sheetRows{o: w.o}
			w.o.heading(2, attr(t, "name"))
		}
	case "table-row":
		if v := attr(t, "visibility"); v == "collapse" || v == "filter" {
			w.skip++
			return
		}
		w.row, w.broken, w.times = nil, false, atoi(attr(t, "number-rows-repeated"), 1)
	case "table-cell", "covered-table-cell":
		w.cell = nil
		w.repeat = max(1, atoi(attr(t, "number-columns-repeated"), 1))
		w.span, w.rows = max(1, atoi(attr(t, "number-columns-spanned"), 1)), max(1, atoi(attr(t, "number-rows-spanned"), 1))
		if w.date = ""; attr(t, "value-type") == "date" {
			w.date = attr(t, "date-value")
			day, _, _ := strings.Cut(w.date, "T")
			w.cell = []string{day}
		}
	case "table-column":
		v := attr(t, "visibility")
		for range min(max(1, atoi(attr(t, "number-columns-repeated"), 1)), maxColumns-len(w.collapsed)) {
			w.collapsed = append(w.collapsed, v == "collapse" || v == "filter")
		}
	case "shapes":
		w.shapes++
	}
}

var equation = lazyregexp.New(`<(?:math:)?math\b`)

// object writes an equation in its place in the text, and the numbers of a chart or the cells of
// a table that was made by another program below the paragraph. The tables of a spreadsheet have
// the numbers of its charts, whose titles are written below the table.
func (w *openWalker) object(part string) {
	if w.archive == nil || w.objects[part] {
		return
	}
	w.objects[part] = true
	in, err := w.archive.open(part)
	if err != nil {
		return
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxPart))
	_ = in.Close()
	if err != nil {
		return
	}
	if equation.Match(raw) {
		if w.sheet {
			return
		}
		if p, err := readPage(bytes.ReplaceAll(raw, []byte("math:"), nil), maxFrames); err == nil {
			w.write(strings.TrimSpace(p.out.String()))
		}
		return
	}
	inner := newOpenWalker(nil)
	inner.noTables = w.sheet
	if inner.walk(w.archive, part) == nil {
		w.size += inner.o.out.Len()
		if w.sheet {
			w.charts = append(w.charts, inner.o.out.String())
			return
		}
		w.note = append(w.note, inner.o.out.String())
	}
}

// setLevel reads how a level of a list is numbered.
func (w *openWalker) setLevel(t xml.StartElement) {
	l, level := w.listStyles[w.listStyle], atoi(attr(t, "level"), 0)-1
	if l == nil || level < 0 || level >= maxListLevel {
		return
	}
	of := listLevel{start: atoi(attr(t, "start-value"), 1), again: -1}
	switch format := attr(t, "num-format"); format {
	case "":
		of.format = "none"
	case "a":
		of.format = "lowerLetter"
	case "A":
		of.format = "upperLetter"
	case "i":
		of.format = "lowerRoman"
	case "I":
		of.format = "upperRoman"
	default:
		of.format = formatOf(format)
	}
	if name := t.Name.Local; name == "list-level-style-bullet" || name == "list-level-style-image" {
		of.format = "bullet"
	}
	if of.format != "none" {
		first := max(0, level+1-atoi(attr(t, "display-levels"), 1))
		var numbers []string
		for i := first; i <= level; i++ {
			if i == level || l.levels[i].format != "none" {
				numbers = append(numbers, "%"+strconv.Itoa(i+1))
			}
		}
		of.text = strings.Join(numbers, ".")
	}
	of.text = attr(t, "num-prefix") + of.text + attr(t, "num-suffix")
	l.levels[level] = of
}

// startList begins a list, which may continue one before, or be within another one.
func (w *openWalker) startList(t xml.StartElement) {
	style := attr(t, "style-name")
	base := w.listStyles[style]
	n := len(w.lists)
	l := newList()
	switch {
	case n > 0:
		*l = *w.lists[n-1]
		if base != nil && n < maxListLevel {
			l.levels[n] = base.levels[n]
		}
	case base != nil:
		l.levels = base.levels
	default:
		for i := range l.levels {
			l.levels[i].format = "bullet"
		}
	}
	if n == 0 {
		last := w.lastLists[attr(t, "continue-list")]
		if last == nil && attr(t, "continue-numbering") == "true" {
			last = w.lastLists["\x00"+style]
		}
		if last != nil {
			l.counter = last.counter
		}
		if len(w.lastLists) < maxOpenStyles {
			w.lastLists["\x00"+style] = l
			if id := attr(t, "id"); id != "" {
				w.lastLists[id] = l
			}
		}
	}
	w.lists = append(w.lists, l)
}

// writeRow writes a row, or keeps it if its table is in a cell of another. Rows after those of a
// table within have the header again.
func (w *openWalker) writeRow(row []string) {
	if slices.Contains(w.collapsed, true) {
		var shown []string
		for i, cell := range row {
			if i >= len(w.collapsed) || !w.collapsed[i] {
				shown = append(shown, cell)
			}
		}
		row = shown
	}
	rows := [][]string{row}
	if w.header == nil {
		w.header = row
	} else if w.cut && !w.broken {
		rows, w.cut = [][]string{w.header, row}, false
	}
	for _, r := range rows {
		if len(w.outer) > 1 {
			w.inner = append(w.inner, r)
		} else {
			w.put(r)
		}
	}
}

// put writes a row of a table that is in no other one.
func (w *openWalker) put(row []string) {
	if w.sheet {
		w.spaced.row(row)
	} else {
		w.o.row(row)
	}
}

// endInner writes the rows of a table that ends in a cell of the open one: as text of the cell if
// it is one row, or a short table below other rows, else as rows.
func (w *openWalker) endInner(rows [][]string) {
	text := inCell(rows)
	if isCellText(len(rows), len(text), w.header) {
		w.cell = append(w.cell, text)
		return
	}
	w.cut = w.broken && w.cut || isLabelled(w.header, w.row)
	w.broken = true
	if text := strings.TrimSpace(strings.Join(w.cell, " ")); text != "" {
		w.row = append(w.row, text)
	}
	for _, r := range slices.Concat([][]string{w.row, nil}, rows, [][]string{nil}) {
		switch {
		case len(w.outer) > 1:
			w.inner = append(w.inner, r)
		case r == nil:
			w.o.endTable()
		default:
			w.put(r)
		}
	}
	w.row, w.cell = nil, nil
}

func (w *openWalker) end(name string) {
	if w.skip > 0 {
		w.skip--
		return
	}
	switch name {
	case "span":
		if n := len(w.spans); n > 0 {
			w.spans = w.spans[:n-1]
		}
	case "note", "annotation":
		n := len(w.aside)
		if n == 0 {
			return
		}
		text := strings.TrimSpace(w.text.String())
		if name == "note" {
			text = superscript(strconv.Itoa(w.notes)) + " " + text
		} else {
			text = commentText("", text)
		}
		w.note = append(w.note, text)
		w.text.Reset()
		w.text.WriteString(w.aside[n-1])
		w.aside = w.aside[:n-1]
	case "p", "h":
		w.depth--
		if w.depth > 0 || len(w.aside) > 0 {
			w.write(" ")
			return
		}
		w.endParagraph()
	case "list":
		if n := len(w.lists); n > 0 {
			w.lists = w.lists[:n-1]
		}
	case "header", "footer":
		if !w.edged {
			return
		}
		w.edges = addEdge(w.edges, strings.ToUpper(name[:1])+name[1:], w.o.out.String())
	case "page":
		if s := w.slide; s != nil {
			w.writeNotes()
			body := w.o.out.String()
			w.o, w.slide = s.around, nil
			w.o.heading(2, s.text())
			w.o.add(paragraph, "", body)
		}
	case "frame":
		if w.slide != nil {
			w.slide.inTitle = false
		}
	case "notes":
		if s := w.slide; s != nil && s.body != nil {
			said := w.o.out.String()
			w.o = s.body
			w.o.add(paragraph, "Notes: ", said)
		}
	case "footer-decl", "date-time-decl":
		w.depth = max(0, w.depth-1)
		w.edges = addEdge(w.edges, "Footer", w.text.String())
	case "shapes":
		w.shapes = max(0, w.shapes-1)
	case "table-cell", "covered-table-cell":
		w.endCell(name == "covered-table-cell")
	case "table-row":
		for w.broken && len(w.row) > 0 && w.row[0] == "" {
			w.row = w.row[1:]
		}
		w.cells += len(w.row) * min(w.times, 1000)
		for range min(w.times, 1000) {
			if filled(w.row) == 0 || w.o.full() {
				w.put(nil)
				break
			}
			w.writeRow(w.row)
		}
		w.writeNotes()
	case "table":
		if n := len(w.outer); n > 0 {
			rows := w.inner
			w.openTable, w.outer = w.outer[n-1], w.outer[:n-1]
			if n > 1 {
				w.endInner(rows)
				return
			}
		}
		w.spaced.end(false)
		w.o.endTable()
		w.note, w.charts = append(w.note, w.charts...), nil
		w.writeNotes()
	}
}

// addEdge adds a header or footer, each once, if it has text and is no page counter.
func addEdge(edges []string, kind, text string) []string {
	text = strings.Join(strings.Fields(text), " ")
	if isPageCounter(text) {
		return edges
	}
	if edge := kind + ": " + text; !slices.Contains(edges, edge) && len(edges) < 100 {
		return append(edges, edge)
	}
	return edges
}

func (w *openWalker) endParagraph() {
	text := strings.TrimSpace(strings.ReplaceAll(w.text.String(), struck+struck, ""))
	w.text.Reset()
	mark := ""
	switch outline := w.listStyles[outlineList]; {
	case w.item != nil:
		mark = w.item.next(w.at)
	case text != "" && w.level > 0 && outline != nil && !w.unnumbered && w.level <= maxListLevel && outline.levels[w.level-1].format != "none":
		mark = outline.next(w.level - 1)
	}
	isItem := w.item != nil && mark != ""
	w.item = nil
	if mark != "" && (mark != "-" || w.level == 0) {
		mark += " "
	} else {
		mark = ""
	}
	switch {
	case w.open:
		if w.shapes > 0 {
			if text != "" {
				w.note = append(w.note, text)
			}
			return
		}
		if day, clock, _ := strings.Cut(w.date, "T"); day != "" && w.cell != nil { // it has been written
			if clock, _, _ = strings.Cut(clock, "."); strings.ContainsAny(text, ":時时시") && w.cell[0] == day {
				w.cell[0] += " " + strings.TrimSuffix(clock, ":00")
			}
			return
		}
		w.cell = append(w.cell, mark+text)
		return
	case w.slide != nil && w.slide.inTitle:
		w.slide.title = append(w.slide.title, text)
	case w.level > 0:
		w.o.heading(w.level, mark+text)
	case isItem:
		w.o.add(item, mark, text)
	default:
		w.o.add(paragraph, "", text)
	}
	w.writeNotes()
}

// writeNotes writes what follows a paragraph or a row; in a spreadsheet it follows the table.
func (w *openWalker) writeNotes() {
	if w.sheet && w.open {
		return
	}
	for _, n := range w.note {
		w.o.add(paragraph, "", n)
	}
	w.note = nil
}

func (w *openWalker) endCell(covered bool) {
	text := strings.TrimSpace(strings.Join(w.cell, " "))
	for range w.repeat {
		column := len(w.row)
		if column >= maxColumns {
			return
		}
		cell := text
		if up, ok := w.above[column]; ok && covered {
			cell = up.text
			if up.rows--; up.rows > 0 {
				w.above[column] = up
			} else {
				delete(w.above, column)
			}
		}
		w.size += len(cell)
		w.row = append(w.row, cell)
		if !covered {
			for i := range min(w.span, maxColumns-column) {
				if w.rows > 1 {
					w.above[column+i] = openCell{mergedText(text), w.rows - 1}
				}
				if i > 0 {
					w.above[column+i] = openCell{mergedText(text), w.rows}
				}
			}
		}
	}
}
