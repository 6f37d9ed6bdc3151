package extract

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// htmlTable is an open table of a page.
type htmlTable struct {
	inCell bool
	saved  htmlPlace // what surrounds the open cell
	cells  []htmlCell
	below  map[int]htmlCell // cells that continue in the next rows, by column
	header []string         // the first row
	cut    bool             // blocks stand before the next row
	again  bool             // which has the header again
	plain  bool             // a cell of the row has headings or long text: the table arranges a page
	from   int              // where the rows begin
	count  int              // of the rows
	length int              // of the rows, in bytes
	rows   [][]string       // while they are short enough for a cell
}

type htmlCell struct {
	text          string
	columns, rows int // how many it covers
}

// htmlPlace is the state of a page that a cell puts aside.
type htmlPlace struct {
	out     *strings.Builder
	pending gap
	prefix  string
	lists   []htmlList
	marks   []textMark
	boxes   int
}

// longCell is the length in bytes from which the paragraphs of a cell are kept apart.
const longCell = 1000

func (p *page) table() *htmlTable {
	if n := len(p.tables); n > 0 {
		return p.tables[n-1]
	}
	return nil
}

func (p *page) startTable() {
	if len(p.tables) < maxOpen {
		p.tables = append(p.tables, &htmlTable{below: map[int]htmlCell{}})
	}
}

// blocky notes that the open cells hold headings.
func (p *page) blocky() {
	for _, t := range p.tables {
		t.plain = t.plain || t.inCell
	}
}

func (p *page) startCell(token html.Token) {
	t := p.table()
	if t == nil {
		return
	}
	p.endCell()
	t.inCell = true
	t.saved = htmlPlace{p.out, p.pending, p.prefix, p.lists, p.marks, len(p.boxes)}
	p.out, p.pending, p.prefix, p.lists, p.marks = &strings.Builder{}, none, "", nil, nil
	if len(t.cells) < maxColumns {
		t.cells = append(t.cells, htmlCell{columns: covered(token, "colspan"), rows: covered(token, "rowspan")})
	}
}

// covered reads how many columns or rows a cell covers.
func covered(t html.Token, key string) int {
	n, err := strconv.Atoi(strings.TrimSpace(htmlAttr(t, key)))
	if err != nil || n < 0 {
		return 1
	}
	if n == 0 && key == "rowspan" { // the rest of the table
		return maxColumns
	}
	return min(max(n, 1), maxColumns)
}

func (p *page) endCell() {
	t := p.table()
	if t == nil || !t.inCell {
		return
	}
	for len(p.marks) > 0 { // their end tags may be missing
		p.endMark(p.marks[len(p.marks)-1].tag)
	}
	text := strings.TrimSpace(p.out.String())
	t.inCell = false
	t.plain = t.plain || len(text) > longCell && strings.Contains(text, "\n")
	t.cells[len(t.cells)-1].text += text
	s := t.saved
	p.boxes = p.boxes[:min(len(p.boxes), s.boxes)]
	p.out, p.pending, p.prefix, p.lists, p.marks = s.out, s.pending, s.prefix, s.lists, s.marks
}

// endRow writes a row. The text of a merged cell stands in each place that it covers, but a
// cell that fills the whole row stands once.
func (p *page) endRow() {
	p.endCell()
	t := p.table()
	if t == nil || len(t.cells) == 0 {
		return
	}
	if t.plain {
		var cells []string
		for _, c := range t.cells {
			cells = append(cells, c.text)
			p.writeBlock(c.text)
		}
		t.cells, t.below, t.plain = nil, map[int]htmlCell{}, false
		t.cut, t.again, t.length = true, isLabelled(t.header, cells[:len(cells)-1]), maxInCell+1
		return
	}
	var row []string
	own := 0
	fromAbove := func() {
		for c, ok := t.below[len(row)]; ok && len(row) < maxColumns; c, ok = t.below[len(row)] {
			if c.rows--; c.rows > 0 {
				t.below[len(row)] = c
			} else {
				delete(t.below, len(row))
			}
			row = append(row, c.text)
			p.written += len(c.text)
			own++
		}
	}
	for _, c := range t.cells {
		fromAbove()
		own++
		for i := range c.columns {
			if len(row) >= maxColumns {
				break
			}
			text := c.text
			if i > 0 {
				text = mergedText(text)
				p.written += len(text)
			}
			if c.rows > 1 {
				t.below[len(row)] = htmlCell{text: mergedText(c.text), rows: c.rows - 1}
			}
			row = append(row, text)
		}
	}
	fromAbove()
	t.cells = nil
	row = onlyOnce(row, own)
	if filled(row) == 0 {
		return
	}
	switch {
	case t.header == nil:
		p.requestGap(blankLine)
		p.writeGap()
		t.header, t.from = row, p.out.Len()
	case t.cut:
		t.cut = false
		p.requestGap(blankLine)
		if t.again {
			p.writeRow(t.header)
		}
	default:
		p.pending = newLine
	}
	t.count++
	if t.length += p.writeRow(row); t.length <= maxInCell {
		t.rows = append(t.rows, row)
	}
}

func (p *page) writeRow(row []string) (length int) {
	line := joinCells(row)
	p.writeGap()
	p.out.WriteString(line)
	p.requestGap(newLine)
	return len(line)
}

// writeBlock writes text that has its own lines as a block.
func (p *page) writeBlock(text string) {
	if text == "" {
		return
	}
	p.requestGap(blankLine)
	p.writeGap()
	p.out.WriteString(text)
	p.requestGap(blankLine)
}

func (p *page) endTable() {
	p.endRow()
	n := len(p.tables)
	if n == 0 {
		return
	}
	inner := p.tables[n-1]
	p.tables = p.tables[:n-1]
	t := p.table()
	if t == nil || !t.inCell || inner.header == nil {
		return
	}
	// A table in a cell is text of the cell if it is one row, or short and below other rows.
	switch {
	case inner.length <= maxInCell && inner.from <= longCell && isCellText(inner.count, inner.length, t.header):
		p.truncate(inner.from)
		p.out.WriteString(inCell(inner.rows))
	case inner.count > 1:
		t.plain = true
	}
}

func (p *page) closeTables() {
	for len(p.tables) > 0 {
		p.endTable()
	}
}
