package extract

import (
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/documents/layout"
)

// lineKind says what a line of an outline is. List items follow each other without a blank
// line, and so do table rows; everything else is separated by one.
type lineKind int

const (
	heading lineKind = iota
	paragraph
	item
	row
)

// outline writes a text of headings, paragraphs, list items and table rows.
type outline struct {
	out  strings.Builder
	last lineKind
}

// full reports whether the text is longer than MaxText.
func (o *outline) full() bool { return o.out.Len() > MaxText }

func (o *outline) add(kind lineKind, prefix, text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	switch {
	case o.out.Len() == 0:
	case kind == o.last && kind >= item:
		o.out.WriteByte('\n')
	default:
		o.out.WriteString("\n\n")
	}
	o.out.WriteString(prefix)
	o.out.WriteString(text)
	o.last = kind
}

// heading writes a heading of a level from 1.
func (o *outline) heading(level int, text string) {
	o.add(heading, strings.Repeat("#", min(max(level, 1), 6))+" ", strings.Join(strings.Fields(text), " "))
}

// row writes the cells of a table row, without the empty ones at its end.
func (o *outline) row(cells []string) { o.add(row, "", joinCells(cells)) }

// endTable makes the next row the first one of another table.
func (o *outline) endTable() {
	if o.last == row {
		o.last = paragraph
	}
}

// sheetRows writes the rows of a sheet, which may have several tables with empty rows between them.
type sheetRows struct {
	o     *outline
	rows  int        // of the open table, with more than one cell
	isGap bool       // the row before held is empty
	held  [][]string // the rows after an empty one, until it is known whether they begin a table
}

func (s *sheetRows) row(cells []string) {
	several := filled(cells) > 1
	switch {
	case filled(cells) == 0:
		s.end(false)
		s.isGap = s.rows > 1
	case !s.isGap:
		s.write(cells, several)
	default:
		s.held = append(s.held, slices.Clone(cells))
		n := len(s.held)
		switch {
		case n > 1 && filled(s.held[n-2]) > 1:
			s.end(layout.BeginsTable(s.held[n-2], cells))
		case !several && n > maxTitles:
			s.end(false)
		}
	}
}

// maxTitles is how many rows of one cell may stand above the header of a table.
const maxTitles = 3

func (s *sheetRows) write(cells []string, several bool) {
	if several {
		s.rows++
	}
	s.o.row(cells)
}

// end writes the rows that were held, as a table of their own if isTable is set.
func (s *sheetRows) end(isTable bool) {
	if isTable {
		s.o.endTable()
		s.rows = 0
	}
	s.isGap = false
	for _, cells := range s.held {
		s.write(cells, filled(cells) > 1)
	}
	s.held = nil
}

// joinCells writes cells as rows of web pages are written: "a | b".
func joinCells(cells []string) string { return strings.Join(flatCells(cells), " | ") }

// flatCells returns cells as lines, without the empty ones at the end.
func flatCells(cells []string) []string {
	last := len(cells)
	for last > 0 && strings.TrimSpace(cells[last-1]) == "" {
		last--
	}
	flat := make([]string, last)
	for i, c := range cells[:last] {
		flat[i] = strings.Join(strings.Fields(c), " ")
	}
	return flat
}

// maxInCell is the length in bytes of the longest table that is text of a cell around it, in a
// row of a table with others above.
const maxInCell = 300

// inCell writes rows as text of a cell: "small: 10, 100; large: , 200". Empty cells keep their
// places. It ends when the text is longer than maxInCell, unless it is one row.
func inCell(rows [][]string) string {
	var out []string
	length := 0
	for i, row := range rows {
		if i > 1 && length > maxInCell { // it is no text of a cell
			break
		}
		cells := flatCells(row)
		switch {
		case len(cells) == 0:
		case len(cells) == 1 || cells[0] == "":
			out = append(out, strings.TrimPrefix(strings.Join(cells, ", "), ", "))
		default:
			out = append(out, strings.TrimSuffix(cells[0], ":")+": "+strings.Join(cells[1:], ", "))
		}
		for _, c := range cells {
			length += len(c)
		}
	}
	return strings.Join(out, "; ")
}

// isCellText reports whether a table in a cell, of so many rows and bytes, is text of that cell: it
// is one row, or short and below other rows.
func isCellText(rows, length int, header []string) bool {
	return rows <= 1 || length <= maxInCell && filled(header) > 1
}

// maxLabel is the length in bytes of the longest label of a row.
const maxLabel = 100

// isLabelled reports whether the rows after one with a table in a cell need the header again: the
// cells before that table begin with a label. Else the table around it arranges a page.
func isLabelled(header, before []string) bool {
	return filled(header) > 1 && len(before) > 0 && len(strings.TrimSpace(before[0])) <= maxLabel
}

// filled counts the cells that are not empty.
func filled(cells []string) (n int) {
	for _, c := range cells {
		if strings.TrimSpace(c) != "" {
			n++
		}
	}
	return n
}

// text returns the text that was written, or errTooLarge if it is longer than MaxText.
func (o *outline) text() (string, error) {
	if o.full() {
		return "", errTooLarge
	}
	return o.out.String(), nil
}
