package extract

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"
)

var (
	openText = openDocument(Type{
		Name: "odt", Label: "OpenDocument text", Extensions: []string{".odt"},
		MediaTypes: []string{"application/vnd.oasis.opendocument.text"},
	})
	openSheets = openDocument(Type{
		Name: "ods", Label: "OpenDocument spreadsheet", Extensions: []string{".ods"},
		MediaTypes: []string{"application/vnd.oasis.opendocument.spreadsheet"}, untitled: true,
	})
)

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
			return strings.TrimSpace(string(said)) == media
		}
		in, err := a.open("META-INF/manifest.xml")
		if err != nil || !a.has("content.xml") {
			return false
		}
		defer in.Close()
		list, _ := io.ReadAll(io.LimitReader(in, 1<<20))
		return bytes.Contains(list, []byte(`"`+media+`"`))
	}
	return t
}

// openDocumentText returns the text of an OpenDocument file: headings, paragraphs, list items
// and table rows. Tables of a spreadsheet stand below their names.
func openDocumentText(a *archive) (string, error) {
	if manifest, err := a.open("META-INF/manifest.xml"); err == nil {
		said, _ := io.ReadAll(io.LimitReader(manifest, maxPart))
		_ = manifest.Close()
		if bytes.Contains(said, []byte(":encryption-data")) {
			return "", errOldOffice
		}
	}
	in, err := a.open("content.xml")
	if err != nil {
		return "", err
	}
	defer in.Close()
	w := openWalker{hidden: map[string]bool{}, runs: map[string]officeRun{}}
	d := xml.NewDecoder(in)
	for {
		if w.o.full() || w.size > MaxText || w.cells > maxCells {
			return "", errTooLarge
		}
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return w.o.text()
		}
		if err != nil {
			return "", err
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
	o      outline
	text   strings.Builder
	depth  int // open paragraphs
	level  int // of the heading; 0: a paragraph
	lists  []int
	item   string // the mark before the next paragraph
	tables int
	cells  int
	size   int
	row    []string
	times  int // how often the row is repeated
	cell   []string
	repeat int              // how many columns the cell stands for
	span   int              // how many columns it covers
	above  map[int]openCell // cells that continue in the next rows
	rows   int              // how many rows the open cell covers
	style  string
	hidden map[string]bool      // styles of tables that are not shown
	runs   map[string]officeRun // styles of text
	spans  []officeRun          // that are open
	notes  int
	note   []string
	aside  []string // text around an open note
	skip   int
	sheet  bool
}

type openCell struct {
	text string
	rows int
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
		w.sheet = true
	case "style":
		w.style = attr(t, "name")
	case "table-properties":
		if attr(t, "display") == "false" {
			w.hidden[w.style] = true
		}
	case "text-properties":
		if len(w.runs) < maxOpenStyles {
			position, line := attr(t, "text-position"), attr(t, "text-line-through-style")
			w.runs[w.style] = officeRun{
				struck: line != "" && line != "none" || attr(t, "text-line-through-type") == "single",
				raised: strings.HasPrefix(position, "super"), lowered: strings.HasPrefix(position, "sub"),
			}
		}
	case "span":
		run := w.runs[attr(t, "style-name")]
		if n := len(w.spans); n > 0 && run == (officeRun{}) {
			run = w.spans[n-1]
		}
		w.spans = append(w.spans, run)
	case "tracked-changes", "forms", "note-citation", "sequence-decls":
		w.skip++
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
		w.depth++
		if w.depth == 1 && len(w.aside) == 0 {
			w.text.Reset()
			w.level = 0
			if name == "h" {
				w.level = max(1, atoi(attr(t, "outline-level"), 1))
			}
		}
	case "s":
		w.write(strings.Repeat(" ", min(max(1, atoi(attr(t, "c"), 1)), 100)))
	case "tab":
		w.write("\t")
	case "line-break":
		w.write("\n")
	case "list":
		w.lists = append(w.lists, 0)
	case "list-item":
		w.item = "- "
	case "table":
		if w.hidden[attr(t, "style-name")] {
			w.skip++
			return
		}
		w.tables++
		if w.tables == 1 {
			w.above = map[int]openCell{}
			if w.sheet {
				w.o.heading(2, attr(t, "name"))
			}
		}
	case "table-row":
		if v := attr(t, "visibility"); v == "collapse" || v == "filter" {
			w.skip++
			return
		}
		if w.tables == 1 {
			w.row, w.times = nil, atoi(attr(t, "number-rows-repeated"), 1)
		}
	case "table-cell", "covered-table-cell":
		if w.tables == 1 {
			w.cell = nil
			w.repeat = max(1, atoi(attr(t, "number-columns-repeated"), 1))
			w.span, w.rows = max(1, atoi(attr(t, "number-columns-spanned"), 1)), max(1, atoi(attr(t, "number-rows-spanned"), 1))
			if attr(t, "value-type") == "date" {
				day, _, _ := strings.Cut(attr(t, "date-value"), "T")
				w.cell = []string{day}
			}
		}
	}
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
	case "table-cell", "covered-table-cell":
		if w.tables == 1 {
			w.endCell(name == "covered-table-cell")
		}
	case "table-row":
		if w.tables == 1 {
			w.cells += len(w.row) * min(w.times, 1000)
			for range min(w.times, 1000) {
				if joinCells(w.row) == "" || w.o.full() {
					break
				}
				w.o.row(w.row)
			}
			w.writeNotes()
		}
	case "table":
		if w.tables = max(0, w.tables-1); w.tables == 0 {
			w.o.endTable()
		}
	}
}

func (w *openWalker) endParagraph() {
	text := strings.TrimSpace(strings.ReplaceAll(w.text.String(), struck+struck, ""))
	w.text.Reset()
	mark := w.item
	w.item = ""
	switch {
	case w.tables > 0:
		if len(w.cell) == 1 && len(w.cell[0]) == 10 && w.sheet { // a date has been written
			return
		}
		w.cell = append(w.cell, text)
		return
	case w.level > 0:
		w.o.heading(w.level, text)
	case mark != "":
		w.o.add(item, mark, text)
	default:
		w.o.add(paragraph, "", text)
	}
	w.writeNotes()
}

func (w *openWalker) writeNotes() {
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
