package extract

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/internal/language"
)

// gridEnd returns the end of the run of lines from i on that stand below each other with
// wide gaps in them; i+1 if there is none.
func gridEnd(lines []pageLine, i int) int {
	if !lines[i].placed || lines[i].rightToLeft || len(lines[i].cells) < 2 && len(tightParts(lines, i, i)) < 3 {
		return i + 1
	}
	end := i + 1
	for j := i + 1; j < len(lines); j++ {
		l, gap := lines[j], drop(lines, j)
		if !l.placed || l.rightToLeft || gap < 0.3*l.size || gap > maxRowGap*max(l.size, lines[j-1].size) {
			break
		}
		if len(tightParts(lines, i, j)) > 1 {
			end = j + 1
		} else if j-end >= 2 || len(l.cells) == 1 && !within(l.cells[0], lines[i:end]) && (j-i >= maxHeadLines || !standsInColumn(lines, i, j)) {
			break
		}
	}
	return end
}

const (
	maxRowGap    = 3.5  // of a font's size: the distance of rows of a table is smaller
	maxNeighbors = 24   // rows above and below one that tell where its columns are
	smallGap     = 0.6  // of a font's size: a space is narrower
	tightGap     = 0.75 // of a font's size: a space is narrower in every font
	maxRowLabel  = 3    // characters of a row's label
	maxHeadLines = 3    // of the names of a table's columns
	oneTight     = 3    // of so many rows of a table may have cells without wide gaps between them
)

// neighbors returns the rows above line j, from line i on, and those below it. Names of columns may have several lines.
func neighbors(lines []pageLine, i, j int) []pageLine {
	rows := slices.Clone(lines[max(i, j-maxNeighbors):j])
	above := len(rows)
	for k := j + 1; k < min(len(lines), j+maxNeighbors) && lines[k].placed && !lines[k].rightToLeft && drop(lines, k) > 0 && drop(lines, k) < maxRowGap*lines[k].size; k++ {
		if len(lines[k].cells) > 1 {
			rows = append(rows, lines[k])
		} else if len(rows) > above || k-j >= maxHeadLines {
			break
		}
	}
	return rows
}

// tightParts returns the cells of a line without wide gaps, by the columns of the rows above it, from line i on,
// and below it. Numbers, names of columns, and what stands apart a little are cells; words of a sentence are none.
func tightParts(lines []pageLine, i, j int) []cell {
	if len(lines[j].cells) != 1 {
		return lines[j].cells
	}
	rows := neighbors(lines, i, j)
	if len(rows) < 3 {
		return lines[j].cells
	}
	g := grid{columns: columnsOf(rows, oneTight)}
	parts := g.parts(lines[j].cells[0])
	for k, p := range parts[1:] {
		first, _ := utf8.DecodeRuneInString(p.text)
		apart := p.left-parts[k].right > smallGap*p.size
		if !isMostlyDigits(p.text) && !(apart && len(parts) == len(g.columns)) && !(len(parts) > 2 && unicode.IsUpper(first)) {
			return lines[j].cells
		}
	}
	return parts
}

// within reports whether a lone cell of a line lies in one column: no gap between two cells
// of the lines lies inside it.
func within(c cell, lines []pageLine) bool {
	for _, l := range lines {
		for k := 1; k < len(l.cells); k++ {
			if c.left < l.cells[k-1].right && c.right > l.cells[k].left {
				return false
			}
		}
	}
	return true
}

// standsInColumn reports whether line j, which has one cell, stands in one of several columns of the rows around it.
func standsInColumn(lines []pageLine, i, j int) bool {
	rows := neighbors(lines, i, j)
	g := grid{columns: columnsOf(rows, oneTight)}
	return len(rows) > 3 && len(g.columns) > 2 && !g.spans(lines[j].cells[0])
}

// grid is a run of lines as rows and columns. An empty cell is "".
type grid struct {
	columns []cell // their places
	rows    [][]string
	filled  [][]float32 // how much of the column's width a cell takes, from its left edge
	widths  [][]float32 // of the texts
}

func newGrid(lines []pageLine) grid {
	var g grid
	g.columns = columnsOf(lines, 6)
	for _, l := range lines {
		row, fill, wide := make([]string, len(g.columns)), make([]float32, len(g.columns)), make([]float32, len(g.columns))
		for _, c := range l.cells {
			k := g.column(c)
			row[k] = strings.TrimSpace(row[k] + " " + c.text)
			wide[k] += c.right - c.left
			if width := g.columns[k].right - g.columns[k].left; width > 0 {
				fill[k] = (c.right - g.columns[k].left) / width
			}
		}
		g.rows, g.filled, g.widths = append(g.rows, row), append(g.filled, fill), append(g.widths, wide)
	}
	return g
}

// cutAtColumns cuts the cells of a table's lines whose words stand in several columns: in a
// narrow row, the gap between two cells may be no wider than one between words.
func cutAtColumns(lines []pageLine) {
	g := grid{columns: columnsOf(lines, oneTight)}
	cut := make([][]cell, len(lines))
	for i, l := range lines {
		if len(l.cells) < 2 {
			cut[i] = tightParts(lines, 0, i)
			continue
		}
		for _, c := range l.cells {
			cut[i] = append(cut[i], g.parts(c)...)
		}
	}
	for i := range lines {
		lines[i].cells = cut[i]
	}
}

const (
	leastNumbers = 4    // rows that show that numbers stand in columns of their own
	unequal      = 0.3  // of a font's size: how much the gaps of rows differ where each number has its own place
	numberGap    = 0.63 // of a font's size: a space is narrower, also in fonts whose characters are all as wide
)

// cutNumbers cuts a table's lines between numbers that stand in columns of their own with no wide gap between them: the
// gaps are free in all rows that end with as many numbers, and wider than a space or of different widths. The gap within
// "1 234" or "12 (3 %)" is a space in all rows.
func cutNumbers(lines []pageLine) {
	gaps := numberGaps(lines)
	between := func(before, after cellWord) bool {
		return isMostlyDigits(before.text) && isMostlyDigits(after.text) && slices.ContainsFunc(gaps, func(gap cell) bool { return before.right <= gap.left && after.left >= gap.right })
	}
	for i, l := range lines {
		lines[i].cells = l.cut(between)
	}
}

// numberGaps returns the free gaps between the last numbers of lines, from the right.
func numberGaps(lines []pageLine) (gaps []cell) {
	rows := make([][]cellWord, len(lines)) // the numbers from the right
	several := 0
	for i, l := range lines {
		var words []cellWord
		for _, c := range l.cells {
			words = append(words, c.words()...)
		}
		for _, w := range slices.Backward(words) {
			if !isMostlyDigits(w.text) {
				break
			}
			rows[i] = append(rows[i], w)
		}
		if len(rows[i]) > 1 {
			several++
		}
	}
	for n := 1; ; n++ {
		var gap cell
		var narrowest, widest float32
		count := 0
		for _, words := range rows {
			if len(words) <= n {
				continue
			}
			left, right := words[n].right, words[n-1].left
			if count == 0 {
				gap = cell{left: left, right: right, size: words[n].size}
				narrowest, widest = right-left, right-left
			}
			gap.left, gap.right = max(gap.left, left), min(gap.right, right)
			narrowest, widest = min(narrowest, right-left), max(widest, right-left)
			count++
		}
		if count < leastNumbers || 2*count < several {
			return gaps
		}
		if gap.right-gap.left > 0.05*gap.size && (narrowest > numberGap*gap.size || widest-narrowest > unequal*gap.size) {
			gaps = append(gaps, gap)
		}
	}
}

// cutApart cuts a table's lines where words stand apart by more than a space, in different columns. The label of a row,
// such as "1", and the mark of a list stay with the words after them.
func cutApart(lines []pageLine) {
	apart := func(before, after cellWord) bool { return after.left-before.right > tightGap*before.size }
	pieces := make([]pageLine, len(lines))
	for i, l := range lines {
		pieces[i].cells = l.cut(apart)
	}
	g := grid{columns: columnsOf(pieces, oneTight)}
	for i, l := range lines {
		lines[i].cells = l.cut(func(before, after cellWord) bool {
			return apart(before, after) && g.column(before.cell) != g.column(after.cell) && !isLabel(before, after, before.left == l.cells[0].left)
		})
	}
}

// isLabel reports whether a word is the mark of a list or, as the first one of a row, its label. A dash stands for a
// value that is missing.
func isLabel(w, next cellWord, isFirst bool) bool {
	after, _ := utf8.DecodeRuneInString(next.text)
	dash, size := utf8.DecodeRuneInString(w.text)
	if unicode.Is(unicode.Pd, dash) && size == len(w.text) {
		return false
	}
	return isListMark(w.glyphs, after) || isFirst && len(w.glyphs) <= maxRowLabel && !isMostlyDigits(next.text)
}

// cut returns the cells of a line, cut between the words between which the function says so.
func (l pageLine) cut(between func(before, after cellWord) bool) (out []cell) {
	for _, c := range l.cells {
		words := c.words()
		from := 0
		for i := 1; i < len(words); i++ {
			if between(words[i-1], words[i]) {
				out = append(out, c.part(words[from:i]))
				from = i
			}
		}
		if from > 0 {
			c = c.part(words[from:])
		}
		out = append(out, c)
	}
	return out
}

// A cellWord is a part of a cell without spaces.
type cellWord struct {
	cell
	from, to int // of the cell's glyphs
}

// words returns the words of a cell; none if the place of one is not known.
func (c cell) words() (out []cellWord) {
	for i, to := 0, 0; i < len(c.glyphs); i = to + 1 {
		to = i
		for to < len(c.glyphs) && !c.glyphs[to].made && !unicode.IsSpace(c.glyphs[to].r) {
			to++
		}
		if to == i {
			continue
		}
		w := c.part([]cellWord{{from: i, to: to}})
		if w.size == 0 {
			return nil
		}
		out = append(out, cellWord{w, i, to})
	}
	return out
}

// part returns the part of a cell from the first to the last of the words.
func (c cell) part(words []cellWord) cell {
	glyphs := c.glyphs[words[0].from:words[len(words)-1].to]
	left, right, base, size, _ := box(glyphs)
	return cell{text: strings.TrimSpace(cellText(glyphs)), left: left, right: right, base: base, size: size, glyphs: glyphs}
}

// parts returns the parts of a cell that stand in columns of their own, each as the cells there
// do: to the left, to the right or in the middle. It returns the cell itself if they do not: a
// long text runs over columns that are empty in its line.
func (g grid) parts(c cell) []cell {
	near := 0.3 * c.size
	whole := []cell{c}
	if !g.spans(c) {
		return whole
	}
	var out []cell
	var inner []float32 // the widest gap between two words of each part
	from, last := 0, -1 // the first character of the last part, and its column
	for _, w := range c.words() {
		k := g.column(w.cell)
		switch {
		case k < last, slices.ContainsFunc(g.columns, func(col cell) bool {
			return col.left != g.columns[k].left && min(w.right, col.right)-max(w.left, col.left) > near
		}):
			return whole
		case k == last:
			p := &out[len(out)-1]
			inner[len(out)-1] = max(inner[len(out)-1], w.left-p.right)
			p.left, p.right, p.glyphs = min(p.left, w.left), max(p.right, w.right), c.glyphs[from:w.to]
		default:
			out, inner, from, last = append(out, w.cell), append(inner, 0), w.from, k
		}
	}
	if len(out) < 2 {
		return whole
	}
	reached := float32(0) // by a long text before a number
	for i, p := range slices.Backward(out) {
		col := g.columns[g.column(p)]
		// "No." before a wide gap has not been cut: it looks like the mark of a list.
		apart := i+1 < len(out) && out[i+1].left-p.right > wideGap*p.size || i > 0 && p.left-out[i-1].right > wideGap*p.size
		toLeft, toRight, inMiddle := abs(p.left-col.left) < near && (apart || p.right < max(col.right+near, reached)), abs(p.right-col.right) < near, abs(p.left+p.right-col.left-col.right) < 2*near
		if !toLeft && !toRight && !inMiddle {
			return whole
		}
		out[i].text = strings.TrimSpace(cellText(p.glyphs))
		number := isMostlyDigits(out[i].text)
		switch {
		case strings.Trim(out[i].text, ". ") == "", // dots lead to another column
			i > 0 && strings.Count(plain(out[i-1].glyphs), " ") > 2 && !number, // of a sentence
			i > 0 && p.left-out[i-1].right < max(inner[i], inner[i-1])-0.1*c.size:
			return whole
		}
		if reached = 0; toRight && number {
			reached = p.left
		}
	}
	return out
}

// isMostlyDigits reports whether a text is a number, perhaps with a unit.
func isMostlyDigits(s string) bool {
	digits, letters := 0, 0
	for _, r := range s {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			letters++
		}
	}
	return digits > 0 && 2*digits >= letters
}

// columnsOf returns where the columns of lines are. A gap between columns is free in the lines
// that have several cells, but for one of so many.
func columnsOf(lines []pageLine, oneOf int) []cell {
	type edge struct {
		at   float32
		step int
	}
	var edges []edge
	several := 0
	for _, l := range lines {
		if len(l.cells) < 2 {
			continue
		}
		several++
		for _, c := range l.cells {
			edges = append(edges, edge{c.left, 1}, edge{max(c.right, c.left+1), -1})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int {
		if a.at != b.at {
			if a.at < b.at {
				return -1
			}
			return 1
		}
		return b.step - a.step
	})
	allowed := several / oneOf // lines whose cells may span columns
	var out []cell
	depth := 0
	for _, e := range edges {
		before := depth
		depth += e.step
		switch {
		case before <= allowed && depth > allowed:
			out = append(out, cell{left: e.at})
		case before > allowed && depth <= allowed:
			out[len(out)-1].right = e.at
		}
	}
	return out
}

// column returns the column that a cell overlaps most; the nearest one if it overlaps none.
func (g grid) column(c cell) int {
	best, most := 0, float32(0)
	for k, col := range g.columns {
		over := min(c.right, col.right) - max(c.left, col.left)
		if k == 0 || over > most {
			best, most = k, over
		}
	}
	return best
}

// spans reports whether a cell stands over several columns.
func (g grid) spans(c cell) bool {
	over := 0
	for _, col := range g.columns {
		if c.left < col.right && c.right > col.left {
			over++
		}
	}
	return over > 1
}

func (g grid) last(row int) int {
	for c := len(g.columns) - 1; c >= 0; c-- {
		if g.rows[row][c] != "" {
			return c
		}
	}
	return 0
}

// independent reports whether the columns are texts of their own that a program wrote line
// by line: sentences run on from line to line in a column, although the other columns have
// text in the same line. In a table, a row begins there.
func (g grid) independent() bool {
	if len(g.columns) > 3 || len(g.rows) < 4 {
		return false
	}
	runs, of := 0, 0
	for r := 1; r < len(g.rows); r++ {
		if slices.Contains(g.rows[r], "") || slices.Contains(g.rows[r-1], "") {
			continue
		}
		of++
		for c := range g.columns {
			if g.runsOn(r, c) {
				runs++
				break
			}
		}
	}
	return of >= 3 && runs >= 3 && 3*runs >= of
}

func (g grid) runsOn(r, c int) bool {
	above, text := g.rows[r-1][c], g.rows[r][c]
	if strings.Count(above, " ") < 3 && !strings.ContainsFunc(text, language.IsIdeograph) {
		return false
	}
	end, _ := utf8.DecodeLastRuneInString(above)
	first, _ := utf8.DecodeRuneInString(text)
	switch {
	case strings.ContainsRune(".!?:;。！？", end):
		return false
	case unicode.IsLower(first):
		return g.filled[r-1][c] > 0.5
	case language.IsIdeograph(first), isRightToLeft(first): // they have no small letters
		return g.filled[r-1][c] > 0.9
	}
	return false
}
