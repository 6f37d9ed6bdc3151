package extract

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/internal/language"
)

// A wrappedCell is a cell of a table with one line or several, which stand below each other.
type wrappedCell struct {
	left, right float32
	lines       []cell
}

func (c wrappedCell) top() float32    { return c.lines[0].base }
func (c wrappedCell) bottom() float32 { return c.lines[len(c.lines)-1].base }

// wrappedRow is what may be a row of a table: cells that were drawn one after the other, from the left.
type wrappedRow struct {
	cells       []wrappedCell
	from, to    int // of the lines of the page
	top, bottom float32
	size        float32
}

const (
	linePitch    = 1.6 // of a font's size: the distance of lines of one cell is smaller
	maxCellLines = 12
	maxRowCells  = 60
)

// joinWrapped makes one line of each row of tables whose cells have several lines. Most programs draw them cell
// by cell, so that the line after those of one cell stands higher, in the next one.
func joinWrapped(lines []pageLine) []pageLine {
	rows := wrappedRows(lines)
	if !slices.ContainsFunc(rows, wrappedRow.isWrapped) {
		return lines
	}
	var out []pageLine
	for i := 0; i < len(rows); {
		j, several := i+1, 1 // rows with several cells
		for last := i; len(rows[last].cells) > 1 && j < len(rows); j++ {
			if rows[j].continues(rows[last], rows[j-1].bottom) {
				last = j
				several++
			} else if j-last > 2 || len(rows[j].cells) != 1 { // labels stand between rows
				j = last + 1
				break
			}
		}
		isTable := several > 2 || several == 2 && len(rows[i].cells) > 2
		for _, r := range rows[i:j] {
			if isTable && r.isWrapped() {
				out = append(out, r.line())
			} else {
				out = append(out, lines[r.from:r.to]...)
			}
		}
		i = j
	}
	return out
}

// joinColumns makes rows of tables that were drawn column by column: numbers below each other that stand beside earlier
// lines become cells of these.
func joinColumns(lines []pageLine) []pageLine {
	var out []pageLine
	for i := 0; i < len(lines); {
		end := numbersEnd(lines, i)
		if end-i < leastNumbers || areLineNumbers(lines[i:end]) || !joinNumbers(out, lines[i:end]) {
			end = i + 1
			out = append(out, lines[i])
		}
		i = end
	}
	return out
}

// numbersEnd returns the end of the run of lines from i on, higher than the line before, that are numbers below each other.
func numbersEnd(lines []pageLine, i int) int {
	j := i
	for ; i > 0 && j < len(lines) && lines[j].placed && !lines[j].rightToLeft && len(lines[j].cells) == 1 && isMostlyDigits(lines[j].cells[0].text); j++ {
		first, c := lines[i].cells[0], lines[j].cells[0]
		if up := drop(lines, j) < 0; up != (j == i) || c.left > first.right || c.right < first.left {
			break
		}
	}
	return j
}

// areLineNumbers reports whether most of the numbers grow by the same step.
func areLineNumbers(numbers []pageLine) bool {
	even, last, step := 0, 0, 0
	for i, n := range numbers {
		value, _ := strconv.Atoi(n.cells[0].text) // another text is no part of a count
		if i == 1 {
			step = value - last
		}
		if i > 0 && step > 0 && value-last == step {
			even++
		}
		last = value
	}
	return 5*even > 4*(len(numbers)-1)
}

// joinNumbers adds each of the numbers to the line to the left of it, and reports whether all have one. Most stand on
// exactly the same base; a label of several lines may have its number between them.
func joinNumbers(lines, numbers []pageLine) bool {
	at := make([]int, len(numbers))
	exact := 0
	last := len(lines) // a number further up belongs to a line before this one
	for i, n := range slices.Backward(numbers) {
		c := n.cells[0]
		best, least := -1, float32(0)
		for k := last - 1; k >= 0 && (k == len(lines)-1 || lines[k].base > lines[k+1].base); k-- {
			l := lines[k]
			off := abs(l.base - c.base)
			if !l.placed || l.rightToLeft || l.hyphen || off > 0.9*c.size || len(l.cells) == 0 || l.cells[len(l.cells)-1].right > c.left {
				continue
			}
			if best < 0 || len(l.cells) > len(lines[best].cells) || len(l.cells) == len(lines[best].cells) && off < least {
				best, least = k, off
			}
		}
		if best < 0 {
			return false
		}
		if least < 0.3*c.size {
			exact++
		}
		at[i], last = best, best
	}
	if 5*exact < 4*len(numbers) {
		return false
	}
	for i, k := range at {
		lines[k].cells = append(slices.Clip(lines[k].cells), numbers[i].cells...)
	}
	return true
}

// wrappedRows cuts lines into what may be rows.
func wrappedRows(lines []pageLine) []wrappedRow {
	var rows []wrappedRow
	for i, l := range lines {
		if l.placed && !l.rightToLeft && len(rows) > 0 && rows[len(rows)-1].take(l) {
			continue
		}
		r := wrappedRow{from: i, to: i}
		if !l.placed || l.rightToLeft || !r.take(l) {
			r = wrappedRow{from: i, to: i + 1}
		}
		rows = append(rows, r)
	}
	return rows
}

// take adds a line to the row if each part of it is the next line of the row's last cell, or a further cell.
func (r *wrappedRow) take(l pageLine) bool {
	if r.to > r.from && len(r.cells) == 0 {
		return false
	}
	more := *r
	more.cells = slices.Clone(r.cells)
	for i, c := range l.cells {
		c.hyphen = l.hyphen && i == len(l.cells)-1
		if !more.add(c, i > 0 && len(r.cells) == 0) {
			return false
		}
	}
	more.to++
	*r = more
	return true
}

// add adds a part of a line. One of the line that was added last may be anywhere in the row.
func (r *wrappedRow) add(c cell, sameLine bool) bool {
	n := len(r.cells)
	if n == 0 {
		r.cells, r.top, r.bottom, r.size = []wrappedCell{{c.left, c.right, []cell{c}}}, c.base, c.base, c.size
		return c.size > 0
	}
	at := n // of the first cell that is not left of it
	for at > 0 && (at == n || sameLine) && c.left < r.cells[at-1].right {
		at--
	}
	isNew := at == n || c.right <= r.cells[at].left
	switch {
	case abs(c.size-r.size) > 0.3*r.size, n >= maxRowCells:
		return false
	case isNew && (at == n || sameLine) && c.base > r.bottom-0.8*c.size && c.base < r.top+linePitch*maxCellLines/2*c.size:
		r.cells = slices.Insert(slices.Clip(r.cells), at, wrappedCell{c.left, c.right, []cell{c}})
	case !isNew && r.cells[at].goesOn(c):
		cell := &r.cells[at]
		cell.lines = append(cell.lines, c)
		cell.left, cell.right = min(cell.left, c.left), max(cell.right, c.right)
	default:
		return false
	}
	r.top, r.bottom = max(r.top, c.base), min(r.bottom, c.base)
	return true
}

// goesOn reports whether a part of a line is the next line of the cell.
func (c wrappedCell) goesOn(next cell) bool {
	first, drop := c.lines[0], c.bottom()-next.base
	isAligned := abs(next.left-first.left) < 2*next.size || abs(next.right-first.right) < 0.5*next.size || abs(next.left+next.right-first.left-first.right) < next.size
	return len(c.lines) < maxCellLines && isAligned && next.left < c.right && next.right > c.left && drop > 0.8*next.size && drop < linePitch*next.size
}

// isWrapped reports whether a row has several cells, one of them with several lines, and all stand at the top, in
// the middle or at the bottom of the row. Lines of other rows stand nowhere, or at the bottom of the first cell.
func (r wrappedRow) isWrapped() bool {
	tall := 0
	for i, c := range r.cells {
		if len(c.lines) > len(r.cells[tall].lines) {
			tall = i
		}
	}
	if len(r.cells) < 2 || len(r.cells[tall].lines) < 2 {
		return false
	}
	high := r.cells[tall]
	top, middle, bottom := true, true, tall > 0
	for _, c := range r.cells {
		top = top && abs(c.top()-high.top()) < 0.3*r.size
		bottom = bottom && abs(c.bottom()-high.bottom()) < 0.3*r.size
		middle = middle && abs(c.top()+c.bottom()-high.top()-high.bottom()) < 0.6*r.size
	}
	return top || middle || bottom
}

// continues reports whether a row stands below another one of the same table, and below a bottom.
func (r wrappedRow) continues(above wrappedRow, bottom float32) bool {
	if len(r.cells) < 2 || r.top > bottom-0.5*r.size || r.top < bottom-3.5*r.size {
		return false
	}
	below := make([]int, len(above.cells))
	shared := 0
	for _, c := range r.cells {
		over := 0
		for i, a := range above.cells {
			if c.left < a.right && c.right > a.left {
				over++
				if below[i]++; below[i] > 1 {
					return false
				}
			}
		}
		if over > 1 {
			return false
		}
		shared += over
	}
	return shared > 1
}

// line returns the row as one line.
func (r wrappedRow) line() pageLine {
	l := pageLine{base: r.top, below: r.top - r.bottom, size: r.size, placed: true}
	for _, c := range r.cells {
		text := ""
		for _, line := range c.lines {
			if text = joinLines(text, line.text); line.hyphen {
				text += string(lineEndHyphen)
			}
		}
		l.cells = append(l.cells, cell{text: text, left: c.left, right: c.right, base: r.top, size: r.size})
	}
	return l
}

// joinLines appends the next line of a cell to its text.
func joinLines(text, next string) string {
	end, _ := utf8.DecodeLastRuneInString(text)
	first, _ := utf8.DecodeRuneInString(next)
	if text == "" || next == "" || end == lineEndHyphen || language.IsDense(end) && language.IsDense(first) {
		return text + next
	}
	return text + " " + next
}

// merged returns the rows of a grid, in which lines that go on with the cells of one row are one row, and the
// line at which each ends. They stand closer than rows do, and have few cells.
func (g grid) merged(lines []pageLine) (rows [][]string, ends []int) {
	pitch := pitchOf(lines)
	for i := 0; i < len(lines); {
		j := i + 1
		for j < len(lines) && drop(lines, j) < pitch {
			j++
		}
		if cells := g.oneRow(lines, i, j); cells != nil && j-i < len(lines) {
			rows, ends = append(rows, cells), append(ends, j-1)
		} else {
			for k := i; k < j; k++ {
				rows, ends = append(rows, g.rows[k]), append(ends, k)
			}
		}
		i = j
	}
	return rows, ends
}

// drop returns how far below the line before it line i stands.
func drop(lines []pageLine, i int) float32 {
	return lines[i-1].base - lines[i-1].below - lines[i].base
}

// pitchOf returns the largest distance of the lines of one cell.
func pitchOf(lines []pageLine) float32 {
	closest := linePitch * lines[0].size
	for i := range lines[1:] {
		closest = min(closest, drop(lines, i+1))
	}
	return 1.25 * closest
}

// lastRowEnd returns the end of the lines with which the last row of a grid may go on: they stand close, each in
// one column.
func lastRowEnd(lines []pageLine, from, to int) int {
	pitch := pitchOf(lines[from:to])
	end := to
	for end < len(lines) && lines[end].placed && !lines[end].rightToLeft && len(lines[end].cells) == 1 && drop(lines, end) > 0 && drop(lines, end) < pitch && within(lines[end].cells[0], lines[from:to]) {
		end++
	}
	return end
}

// oneRow returns rows as one: one of them has most of the cells, and the others go on with some cells. It returns
// nil if they are several rows: others have numbers, or texts over several columns, or alone in their column, or
// texts that had room in the line above.
func (g grid) oneRow(lines []pageLine, from, to int) []string {
	full := from
	for r := from; r < to; r++ {
		if filled(g.rows[r]) > filled(g.rows[full]) {
			full = r
		}
	}
	if lines[full].below > 0 && to-from > 1 { // it is whole
		return nil
	}
	out, last, parts := make([]string, len(g.columns)), make([]int, len(g.columns)), make([]int, len(g.columns))
	for r := from; r < to; r++ {
		if r != full && (2*filled(g.rows[r]) > filled(g.rows[full]) || slices.ContainsFunc(lines[r].cells, g.spans)) {
			return nil
		}
		for c, text := range g.rows[r] {
			if text == "" {
				continue
			}
			if first, _ := utf8.DecodeRuneInString(text); r != full && unicode.IsDigit(first) {
				return nil
			}
			if parts[c]++; parts[c] > 1 && !g.breaks(last[c], r, c) {
				return nil
			}
			last[c] = r
			if out[c] = joinLines(out[c], text); r+1 < to && lines[r].hyphen && c == g.last(r) {
				out[c] += string(lineEndHyphen)
			}
		}
	}
	for c, n := range parts {
		if n == 1 && g.rows[full][c] == "" {
			return nil
		}
	}
	return out
}

// breaks reports whether the first word of a cell has no room in the line above it, which is row a.
func (g grid) breaks(a, b, c int) bool {
	text := g.rows[b][c]
	word := strings.IndexByte(text, ' ')
	if first, size := utf8.DecodeRuneInString(text); language.IsDense(first) {
		word = size
	} else if word < 0 {
		word = len(text)
	}
	return g.widths[a][c]+g.widths[b][c]*float32(word)/float32(len(text)) > 0.93*(g.columns[c].right-g.columns[c].left)
}
