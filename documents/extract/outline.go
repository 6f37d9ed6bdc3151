package extract

import "strings"

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

// joinCells writes cells as rows of web pages are written: "a | b".
func joinCells(cells []string) string {
	last := len(cells)
	for last > 0 && strings.TrimSpace(cells[last-1]) == "" {
		last--
	}
	if last == 0 {
		return ""
	}
	flat := make([]string, last)
	for i, c := range cells[:last] {
		flat[i] = strings.Join(strings.Fields(c), " ")
	}
	return strings.Join(flat, " | ")
}

// text returns the text that was written, or errTooLarge if it is longer than MaxText.
func (o *outline) text() (string, error) {
	if o.full() {
		return "", errTooLarge
	}
	return o.out.String(), nil
}
