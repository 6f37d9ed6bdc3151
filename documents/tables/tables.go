// Package tables reads the tables in the text of a document: rows of cells with a bar between
// them, as extraction writes those of every type of document. Columns have names and types.
package tables

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/documents/chunk"
	"github.com/palaver-chat/palaver/documents/figures"
	"github.com/palaver-chat/palaver/documents/layout"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

// Kind is the type of a column.
type Kind string

const (
	Text   Kind = "text"
	Number Kind = "number"
	Date   Kind = "date"
)

// Table is a table of a text. Start and End are bytes of the text, with the header.
type Table struct {
	Heading string // the nearest heading above it
	Caption string // the line above it, or a row of one cell at its beginning
	Columns []Column
	Rows    []Row
	Start   int
	End     int
}

// Column is a column of a table. Columns without a name in the document are called "column 2".
type Column struct {
	Name  string
	Named bool
	Kind  Kind
	Unit  string // of most of its numbers: figures.Percent, the code of a currency, or a word
	years bool   // its numbers are
}

// IsYears reports whether the numbers of a column are years.
func (c Column) IsYears() bool { return c.years }

// Row is a row below the header. Start and End are bytes of the text.
type Row struct {
	Cells      []Cell // as many as there are columns
	Section    string // the label above it that fills a row of its own
	Total      bool   // it sums up other rows
	Start, End int
}

// Cell is a cell. Number or Day is set if the column has that type and the cell such a value.
type Cell struct {
	Text     string
	Number   float64
	IsNumber bool
	Day      figures.Day
}

// maxColumns limits how many columns of a table are read.
const maxColumns = 200

// Find returns the tables of a text in its order. A table has at least two columns, and one row
// below its header, if it has one.
func Find(text string) []Table {
	var out []Table
	var open []line
	heading, above := "", ""
	caption := ""
	end := func() {
		if t, ok := build(open); ok {
			t.Heading = heading
			if t.Caption == "" {
				t.Caption = caption
			}
			out = append(out, t)
		}
		open = nil
	}
	blocks := layout.Blocks(text)
	for i, b := range blocks {
		said := text[b.Start:b.End]
		apart := i > 0 && strings.Contains(text[blocks[i-1].End:b.Start], "\n\n")
		// A header above a label is no row for layout, which wants two beside each other.
		if b.Kind == layout.Row || b.Kind == layout.Item && strings.Contains(said, " | ") && (follows(text, blocks, i) || len(open) > 0 && !apart) {
			if apart && len(open) > 0 {
				end()
				above = ""
			}
			if len(open) == 0 {
				caption = above
			}
			if l := lineOf(said, b.Start, b.End); !l.ruler {
				open = append(open, l)
			}
			continue
		}
		if len(open) > 0 && !apart && layout.IsLabel(text, blocks[i:], len(open)) {
			open = append(open, line{cells: []string{strings.ReplaceAll(said, "\n", " ")}, start: b.Start, end: b.End})
			continue
		}
		end()
		if b.Kind == layout.Heading {
			heading, above = b.Title, ""
		} else if above = ""; len(said) <= layout.MaxLabel && !strings.HasPrefix(said, "![") {
			above = strings.Join(strings.Fields(said), " ")
		}
	}
	end()
	return out
}

// follows reports whether a block stands in the line below block i.
func follows(text string, blocks []layout.Block, i int) bool {
	return i+1 < len(blocks) && !strings.Contains(text[blocks[i].End:blocks[i+1].Start], "\n\n")
}

// line is a row of a text before it is known what it is.
type line struct {
	cells      []string
	ruler      bool // the line below the header of a Markdown table
	start, end int
}

// HasRow reports whether a text has a row of a table.
func HasRow(text string) bool {
	return slices.ContainsFunc(layout.Blocks(text), func(b layout.Block) bool { return b.Kind == layout.Row })
}

// Cells cuts a row of a text into its cells.
func Cells(row string) []string { return lineOf(strings.TrimSpace(row), 0, 0).cells }

func lineOf(s string, start, end int) line {
	l := line{start: start, end: end}
	switch {
	case strings.HasPrefix(s, "|") && strings.HasSuffix(s, "|") && len(s) > 1:
		s = s[1 : len(s)-1]
		l.ruler = strings.Trim(s, "-:| ") == "" && strings.Contains(s, "-")
		for _, c := range strings.Split(strings.ReplaceAll(s, `\|`, "\x00"), "|") {
			l.cells = append(l.cells, strings.TrimSpace(strings.ReplaceAll(c, "\x00", "|")))
		}
	default:
		if strings.HasPrefix(s, "|") { // the first cell is empty
			s = " " + s
		}
		for _, c := range strings.Split(s, " | ") {
			l.cells = append(l.cells, strings.TrimSpace(c))
		}
	}
	l.cells = l.cells[:min(len(l.cells), maxColumns)]
	return l
}

// filled counts the cells that are not empty.
func (l line) filled() (n int) {
	for _, c := range l.cells {
		if !isEmpty(c) {
			n++
		}
	}
	return n
}

// numbers counts the cells that are numbers but no years.
func (l line) numbers() (n int) {
	for _, c := range l.cells {
		if v, ok := parse(c); ok && !v.isYear() {
			n++
		}
	}
	return n
}

// build makes a table of lines.
func build(lines []line) (Table, bool) {
	if len(lines) == 0 {
		return Table{}, false
	}
	t := Table{Start: lines[0].start, End: lines[len(lines)-1].end}
	for len(lines) > 1 && lines[0].filled() <= 1 && lines[0].numbers() == 0 && len(lines[0].cells) == 1 {
		t.Caption = strings.TrimSpace(t.Caption + " " + strings.Join(lines[0].cells, " "))
		lines = lines[1:]
	}
	width := 0
	for _, l := range lines {
		width = max(width, len(l.cells))
	}
	header := headerLines(lines)
	if width < 2 || len(lines) == header {
		return Table{}, false
	}
	if header > 1 {
		full := lines[header-1]
		for _, l := range slices.Backward(lines[:header]) {
			if l.filled() > full.filled() {
				full = l
			}
		}
		first := 1 // column of numbers
		if i := slices.IndexFunc(lines[header:], func(l line) bool { return l.numbers() > 0 }); i >= 0 {
			first = max(1, slices.IndexFunc(lines[header+i].cells, func(c string) bool { _, ok := parse(c); return ok }))
		}
		for i, l := range lines[:header] {
			lines[i].cells = l.spread(full, first)
		}
	}
	t.Columns = make([]Column, width)
	for c := range t.Columns {
		var parts []string
		for _, l := range lines[:header] {
			if c < len(l.cells) && l.cells[c] != "" && (len(parts) == 0 || parts[len(parts)-1] != l.cells[c]) {
				parts = append(parts, l.cells[c])
			}
		}
		t.Columns[c] = Column{Name: strings.Join(parts, " "), Named: len(parts) > 0, Kind: Text}
		if len(parts) == 0 {
			t.Columns[c].Name = "column " + strconv.Itoa(c+1)
		}
	}
	section := ""
	for _, l := range lines[header:] {
		if l.filled() == 0 {
			continue
		}
		if width > 2 && l.filled() == 1 && !isEmpty(l.cells[0]) && l.numbers() == 0 || len(l.cells) == 1 && l.numbers() == 0 {
			section = strings.TrimRight(l.cells[0], ": ")
			continue
		}
		r := Row{Cells: make([]Cell, width), Section: section, Start: l.start, End: l.end}
		for c, text := range l.cells {
			r.Cells[c].Text = text
		}
		r.Total = isTotal(l.cells)
		t.Rows = append(t.Rows, r)
	}
	t.readTypes()
	return t, len(t.Rows) > 0
}

// headerLines returns how many of the first lines are the header: one without numbers, years
// excepted, and those below it that continue it.
func headerLines(lines []line) int {
	first := lines[0]
	if first.numbers() > 0 || len(lines) < 2 {
		if !named(first, lines[1:]) {
			return 0
		}
	}
	n := 1
	for n < 4 && n+1 < len(lines) && lines[n].numbers() == 0 && (lines[n].filled() > 1 || lines[n].cells[0] == "") && numbersFollow(lines[n+1:]) {
		if same := lines[n].cells[0]; same != "" && same != lines[0].cells[0] && !isNote(same) {
			break
		}
		n++
	}
	return n
}

// spread returns the cells of a line of the header with its labels over all of their columns, which the fullest line
// of the header names. Labels that begin with the first column of numbers stand over the left of their columns; others
// anywhere over them, if each has equally many.
func (l line) spread(full line, first int) []string {
	var labels []int
	for c := first; c < len(l.cells); c++ {
		if l.cells[c] != "" {
			labels = append(labels, c)
		}
	}
	width := len(full.cells)
	if len(labels) == 0 || len(labels) == width-first || len(l.cells) > width || slices.Contains(full.cells[first:], "") {
		return l.cells
	}
	each, uneven := (width-first)/len(labels), (width-first)%len(labels) > 0
	cells := slices.Clone(l.cells[:first])
	for i, c := range labels {
		n := each
		switch {
		case labels[0] == first && i+1 < len(labels):
			n = labels[i+1] - c
		case labels[0] == first:
			n = width - c
		case uneven || (c-first)/each != i:
			return l.cells
		}
		cells = append(cells, slices.Repeat([]string{l.cells[c]}, n)...)
	}
	return cells
}

// isNote reports whether a cell says what the numbers of a table are: "(in thousands)".
func isNote(cell string) bool { return strings.HasPrefix(cell, "(") && strings.HasSuffix(cell, ")") }

// numbersFollow reports whether the first of the lines that is no label has numbers. Lines of
// years without a name, or of units, go on with the header.
func numbersFollow(lines []line) bool {
	for _, l := range lines {
		if l.filled() > 1 && (l.numbers() > 0 || l.cells[0] != "" && !isNote(l.cells[0])) {
			return l.numbers() > 0
		}
	}
	return false
}

// named reports whether a first line with a number in it is a header all the same: most of the
// columns have numbers below it and a text in it.
func named(first line, rest []line) bool {
	texts, figures := 0, 0
	for c, cell := range first.cells {
		below := 0
		for _, l := range rest[:min(len(rest), 20)] {
			if c < len(l.cells) {
				if _, ok := parse(l.cells[c]); ok {
					below++
				}
			}
		}
		if 2*below < min(len(rest), 20) || below == 0 {
			continue
		}
		figures++
		if _, ok := parse(cell); !ok && !isEmpty(cell) {
			texts++
		}
	}
	return figures > 0 && 2*texts > figures
}

var totalWord = regexp.MustCompile(`(?i)^(?:sub-?|grand |zwischen|gesamt|end)?(?:totals?|summe|gesamt|insgesamt|somme|suma|totaal|totale|合计|合計|总计|計)\b`)

// isTotal reports whether the first words of a row say that it sums up others.
func isTotal(cells []string) bool {
	for _, c := range cells {
		if !isEmpty(c) {
			return totalWord.MatchString(c)
		}
	}
	return false
}

// isEmpty reports whether a cell has no value.
func isEmpty(cell string) bool {
	switch strings.ToLower(strings.TrimSpace(cell)) {
	case "", "-", "‒", "–", "—", "―", "−", "n/a", "na", "n.a.", "k.a.", "null", "nil", "$", "$ —", "$ -", "...", "…":
		return true
	}
	return false
}

// parsedNumber is a cell that is a number.
type parsedNumber struct {
	values []float64
	unit   string
	plain  bool // digits only
	digits string
}

func (p parsedNumber) isYear() bool {
	return p.plain && len(p.digits) == 4 && p.values[0] >= 1900 && p.values[0] < 2100
}

var numeric = regexp.MustCompile(`^([(+\-−–~<>≈ ]*)((?:[$€£¥₹]|[A-Z]{3}|us\$|US\$|S\$|RM|Rs\.?)?)\s*([(\-−–]?)\s*(\d{1,3}(?:[ \x{a0}\x{202f}'’]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)*|[.,]\d+)\s*(\)?)\s*([^\s\d()*†‡\[¹²³⁴⁵⁶⁷⁸⁹]{0,12}(?: cent)?)\s*(\)?)\s*((?:\(\w\)|[*†‡¹²³⁴⁵⁶⁷⁸⁹]|\[\w\])*)$`)

// parse reads a cell that is a number with at most one unit.
func parse(cell string) (parsedNumber, bool) {
	m := numeric.FindStringSubmatch(strings.TrimSpace(cell))
	if m == nil {
		return parsedNumber{}, false
	}
	values, _ := figures.Readings(m[4])
	if values == nil || figures.UnitOf(m[6]) == "" && strings.ContainsFunc(strings.Trim(m[6], "., "), notLetter) {
		return parsedNumber{}, false
	}
	if len(m[2]) == len("EUR") && !strings.Contains(m[2], "$") && figures.UnitOf(m[2]) == "" { // ISO 9001
		return parsedNumber{}, false
	}
	p := parsedNumber{values: append([]float64(nil), values...), digits: m[4]}
	p.plain = strings.TrimSpace(cell) == m[4] && strings.Trim(m[4], "0123456789") == ""
	sign, times := 1.0, 1.0
	if strings.ContainsAny(m[1]+m[3], "(-−–") {
		sign = -1
	}
	unit, scale := figures.UnitOf(strings.TrimSpace(m[2])), 1.0
	if m[6] != "" {
		var after string
		if after, scale = figures.UnitAfter(m[6]); unit == "" {
			unit = after
		}
		times *= scale
	}
	p.unit = unit
	for i := range p.values {
		p.values[i] *= sign * times
	}
	return p, true
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) && r != '²' && r != '³' }

// readTypes finds the types of the columns and reads their cells. The mark of decimals is that
// of the column, else that of the table.
func (t *Table) readTypes() {
	comma := 0 // columns with a decimal comma, less those with a point
	votes := make([]int, len(t.Columns))
	for c := range t.Columns {
		for _, r := range t.Rows {
			votes[c] += decimalVote(r.Cells[c].Text)
		}
		comma += sign(votes[c])
	}
	for c := range t.Columns {
		mark := votes[c]
		if mark == 0 {
			mark = comma
		}
		t.readColumn(c, mark)
	}
}

func sign(n int) int {
	switch {
	case n > 0:
		return 1
	case n < 0:
		return -1
	}
	return 0
}

// decimalVote is 1 for a number that has a decimal comma without doubt, -1 for a point.
func decimalVote(cell string) int {
	p, ok := parse(cell)
	if !ok || len(p.values) > 1 {
		return 0
	}
	point, comma := strings.LastIndexByte(p.digits, '.'), strings.LastIndexByte(p.digits, ',')
	switch {
	case point < 0 && comma < 0:
		return 0
	case point >= 0 && comma >= 0:
		if comma > point {
			return 1
		}
		return -1
	case comma >= 0 && strings.Count(p.digits, ",") == 1 || point >= 0 && strings.Count(p.digits, ".") > 1:
		return 1
	}
	return -1
}

const most = 0.8 // of the cells of a column, have its type

func (t *Table) readColumn(c, mark int) {
	var all []parsedNumber
	var days []figures.Day
	values, numbers, dates := 0, 0, 0
	units := map[string]int{}
	code := false
	for _, r := range t.Rows {
		cell := r.Cells[c].Text
		p, ok := parse(cell)
		d, dayOnly := wholeDay(cell)
		if dayOnly {
			p, ok = parsedNumber{}, false
		}
		all, days = append(all, p), append(days, d)
		switch {
		case isEmpty(cell):
			continue
		case ok:
			numbers++
			units[p.unit]++
			code = code || len(p.digits) > 1 && p.digits[0] == '0' && p.plain
		}
		if !d.IsZero() {
			dates++
		}
		values++
	}
	col := &t.Columns[c]
	enough := func(n int) bool { return n > 0 && float64(n) >= most*float64(values) }
	switch {
	case enough(dates):
		col.Kind = Date
		swapped := swapDays(days)
		for i := range t.Rows {
			t.Rows[i].Cells[c].Day = swapped[i]
		}
	case enough(numbers) && !code:
		col.Kind = Number
		for unit, n := range units {
			if 2*n > numbers {
				col.Unit = unit
			}
		}
		if col.Unit == "" {
			col.Unit = figures.UnitIn(col.Name)
		}
		col.years = !slices.ContainsFunc(all, func(p parsedNumber) bool { return len(p.values) > 0 && !p.isYear() })
		thousands := mark > 0 || mark == 0 && pointsGroup(all)
		for i, p := range all {
			if len(p.values) > 0 {
				t.Rows[i].Cells[c].Number, t.Rows[i].Cells[c].IsNumber = p.value(thousands), true
			}
		}
	}
}

// value chooses the reading of a number in a column where a point groups thousands, or does not.
func (p parsedNumber) value(pointGroups bool) float64 {
	if len(p.values) == 1 {
		return p.values[0]
	}
	if pointGroups { // the first reading of "1,234" and of "1.234" is that with a decimal point
		return p.values[1]
	}
	return p.values[0]
}

// pointsGroup reports whether a point groups thousands in a column without decimals: all
// numbers with one have three digits after it, and the others are below a thousand.
func pointsGroup(all []parsedNumber) bool {
	with, without := 0, 0
	for _, p := range all {
		switch {
		case len(p.values) == 0:
		case strings.Contains(p.digits, "."):
			if len(p.values) < 2 {
				return false
			}
			with++
		case len(p.digits) <= 3:
			without++
		default:
			return false
		}
	}
	return with > 0 && without > 0
}

// wholeDay returns the date that a cell is. One without a year, such as "15 July", is no date that can be compared, and
// no number either.
func wholeDay(cell string) (d figures.Day, withoutYear bool) {
	cell = strings.TrimSpace(cell)
	if len(cell) > 40 {
		return figures.Day{}, false
	}
	days := figures.Days(cell)
	if len(days) != 1 || days[0].Year == 0 {
		return figures.Day{}, len(days) == 1
	}
	rest := strings.TrimLeft(cell[days[0].End:], "T ")
	if rest = strings.Trim(rest, "0123456789:.+Z "); days[0].Start > 5 || rest != "" { // a day of the week may stand before it
		return figures.Day{}, false
	}
	return days[0], false
}

// swapDays reads dates such as 03/04/2024 in the same way for a whole column: the month comes
// first if a date of the column shows it.
func swapDays(days []figures.Day) []figures.Day {
	monthFirst := false
	for _, d := range days {
		monthFirst = monthFirst || d.MonthFirst
	}
	out := append([]figures.Day(nil), days...)
	for i, d := range out {
		if d.Swap && monthFirst {
			out[i].Month, out[i].Date = d.Date, d.Month
		}
	}
	return out
}

// Name says what a table is: its caption, else its heading. A sentence or the item of a list above it is neither.
func (t Table) Name() string {
	if t.Caption != "" && utf8.RuneCountInString(t.Caption) <= 100 && (isNumbered.MatchString(t.Caption) || !isProse.MatchString(t.Caption)) {
		return t.Caption
	}
	return t.Heading
}

var (
	isProse    = lazyregexp.New(`^[-*+•] |^(?:\S+ ){4,}\S+[.!?]$`)
	isNumbered = lazyregexp.New(`^\pL+\.? \d`) // "Table 3."
)

// JoinedText are parts of a text, such as its passages, as one text.
type JoinedText struct {
	Text   string
	starts []int
}

// Join joins parts, each of which ends a line, or a piece of a row that is longer than a part may be.
// A part that a blank line follows ends with a line end.
func Join(parts []string) JoinedText {
	var b strings.Builder
	var j JoinedText
	width, last := 0, "" // cells of the widest row of the open table, and the open line
	for i, p := range parts {
		first, _, _ := strings.Cut(p, "\n")
		switch {
		case i > 0 && continues(last, first, width):
			b.WriteString(" ")
			last += " "
		case i > 0:
			b.WriteString("\n")
			last = ""
		}
		j.starts = append(j.starts, b.Len())
		b.WriteString(p)
		for n, row := range strings.Split(p, "\n") {
			if n > 0 {
				last = ""
			}
			if last += row; last == "" {
				width = 0
			}
			width = max(width, bars(last)+1)
		}
	}
	if len(parts) > 0 {
		b.WriteString("\n")
	}
	j.Text = b.String()
	return j
}

// continues reports whether a line is the next piece of a row: the row is longer than a piece, and
// has no more cells with it than the widest one above.
func continues(row, next string, width int) bool {
	return len(row) > chunk.Max/2 && bars(row) > 0 && bars(row)+bars(next)+1 <= width
}

func bars(line string) int { return strings.Count(line, " | ") }

// Part returns the index of the part that has a byte of Text.
func (j JoinedText) Part(at int) int {
	i, found := slices.BinarySearch(j.starts, at)
	if !found {
		i--
	}
	return i
}
