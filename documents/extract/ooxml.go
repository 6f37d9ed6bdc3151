package extract

import (
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"
)

// officeText walks through the XML of a Word document or a slide. Both have paragraphs
// (p) of runs (r) with texts (t), and tables (tbl) of rows (tr) and cells (tc). Names are
// compared without their namespaces, because the format has two sets of them.
type officeText struct {
	paragraph func(officeParagraph)
	row       func(cells []string)

	open   []*officeParagraph // a text box is a paragraph within a paragraph
	tables []*officeTable     // open tables
	place  string             // the placeholder of the open shape
	skip   int                // depth of elements that are left out
	props  int                // depth of a paragraph's properties
	size   int                // of the text read, in bytes
	copied int                // of the text of inner tables that was added to cells, in bytes
	inText bool
	hidden bool // the run is not shown
}

// officeParagraph is a paragraph outside of tables.
type officeParagraph struct {
	text    strings.Builder
	style   string // Word: the style's id
	outline int    // Word: the heading's level, from 1; 0: the style decides
	listed  bool   // Word: an item of a list
	place   string // slides: the placeholder, such as "title"
}

// officeTable is a table that is being read.
type officeTable struct {
	rows  int      // that are open; one that begins within another one belongs to it
	cells [][]byte // of the outermost open row
}

// walk reads a part of the archive. It ends with errTooLarge when full reports true.
func (w *officeText) walk(a *archive, part string, full func() bool) error {
	in, err := a.open(part)
	if err != nil {
		return err
	}
	defer in.Close()
	d := xml.NewDecoder(in)
	for {
		if w.size > MaxText || w.copied > MaxText || full() {
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
			if w.inText && w.skip == 0 && !w.hidden {
				w.write(string(t))
			}
		}
	}
}

// isSkippedElement reports whether an element's content is left out: the copy of a text box for old
// programs, and the old place of text that was moved.
func isSkippedElement(name string) bool { return name == "Fallback" || name == "moveFrom" }

func (w *officeText) start(t xml.StartElement) {
	name := t.Name.Local
	if w.skip > 0 || isSkippedElement(name) {
		w.skip++
		return
	}
	switch name {
	case "p":
		w.open = append(w.open, &officeParagraph{place: w.place})
	case "pPr":
		w.props++
	case "r":
		w.hidden = false
	case "t":
		w.inText = true
	case "tbl":
		w.tables = append(w.tables, &officeTable{})
	case "tr":
		w.inTable(func(t *officeTable) { t.rows++ })
	case "tc":
		w.inTable(func(t *officeTable) { t.cells = append(t.cells, nil) })
	case "sp", "graphicFrame":
		w.place = ""
	case "ph":
		w.place = attr(t, "type")
	default:
		w.property(name, t)
	}
}

// property reads an element that has attributes but no text.
func (w *officeText) property(name string, t xml.StartElement) {
	if w.props > 0 {
		w.paragraphProperty(name, t)
		return
	}
	switch name {
	case "tab":
		w.write("\t")
	case "br", "cr":
		w.write("\n")
	case "noBreakHyphen":
		w.write("-")
	case "vanish":
		w.hidden = isOn(t)
	}
}

func (w *officeText) paragraphProperty(name string, t xml.StartElement) {
	if len(w.open) == 0 {
		return
	}
	p := w.open[len(w.open)-1]
	switch name {
	case "pStyle":
		p.style = attr(t, "val")
	case "outlineLvl":
		p.outline = headingLevel(attr(t, "val"))
	case "numPr":
		p.listed = true
	}
}

func (w *officeText) end(name string) {
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
	case "tr":
		w.endRow()
	case "tbl":
		if n := len(w.tables); n > 0 {
			w.tables = w.tables[:n-1]
		}
	}
}

func (w *officeText) write(s string) {
	if n := len(w.open); n > 0 {
		w.size += len(s)
		w.open[n-1].text.WriteString(s)
	}
}

func (w *officeText) endParagraph() {
	n := len(w.open)
	if n == 0 {
		return
	}
	p := w.open[n-1]
	w.open = w.open[:n-1]
	if len(w.tables) > 0 {
		w.addToCell(p.text.String())
		return
	}
	w.paragraph(*p)
}

// endRow writes a row, once. A row of a table within a cell becomes text of that cell.
func (w *officeText) endRow() {
	w.inTable(func(t *officeTable) {
		if t.rows--; t.rows > 0 {
			return
		}
		cells := make([]string, len(t.cells))
		for i, c := range t.cells {
			cells[i] = string(c)
		}
		t.cells = nil
		n := len(w.tables)
		if n == 1 {
			w.row(cells)
			return
		}
		inner := joinCells(cells)
		if w.copied += len(inner); w.copied > MaxText {
			return // walk ends
		}
		w.tables = w.tables[:n-1]
		w.addToCell(inner)
		w.tables = w.tables[:n]
	})
}

func (w *officeText) inTable(do func(*officeTable)) {
	if n := len(w.tables); n > 0 {
		do(w.tables[n-1])
	}
}

func (w *officeText) addToCell(s string) {
	w.inTable(func(t *officeTable) {
		if n := len(t.cells); n > 0 && s != "" {
			t.cells[n-1] = append(append(t.cells[n-1], s...), '\n')
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
