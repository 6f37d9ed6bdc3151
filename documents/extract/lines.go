package extract

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

// A line of a page, in the order in which it is read. Sizes and places are in points.
type pageLine struct {
	cells       []cell // parts with wide gaps between them
	base, size  float32
	below       float32 // how far the last line of a row with several lines stands below its base
	hyphen      bool    // the line ends within a word, or at the hyphen of a compound
	placed      bool    // where its parts are is known
	rightToLeft bool
}

// cell is a part of a line without wide gaps.
type cell struct {
	text        string
	left, right float32
	base, size  float32
	hyphen      bool    // it ends within a word
	glyphs      []glyph // nil if their places are not those of the cell
}

const (
	wideGap = 1.19 // of a font's size; spaces within a sentence are narrower
	// How far below its line a subscript stands, of the size of the line's font: one of up to
	// fewLow characters may stand lower than the text of a column beside it.
	low, lowest = 0.5, 0.55
	fewLow      = 3
	// lineEndHyphen stands in the text of a page for a hyphen at the end of a line. The
	// words before and after it are one, with or without the hyphen.
	lineEndHyphen = '\ufffe'
)

// pageLines cuts the characters of a page into lines.
func pageLines(glyphs []glyph) []pageLine {
	var rows [][]glyph
	var row []glyph
	last := -1 // the last one of row that is no space
	end := func() {
		if slices.ContainsFunc(row, func(g glyph) bool { return !unicode.IsSpace(g.r) }) {
			rows = append(rows, row)
		}
		row, last = nil, -1
	}
	for i, g := range glyphs {
		if isLineEndHyphen(g.r) {
			g.r = lineEndHyphen
			if i+1 < len(glyphs) && isBeside(g, glyphs[i+1]) { // pdfium takes any sign of this number for one
				g.r = '-'
			}
		}
		switch {
		case g.r == '\r' || g.r == '\n':
			end()
		case g.r == lineEndHyphen:
			row = append(row, g)
			end()
		default:
			if last >= 0 && beginsLine(row[last], g) {
				end()
			}
			if row = append(row, g); !g.made && !unicode.IsSpace(g.r) {
				last = len(row) - 1
			}
		}
	}
	end()
	var out []pageLine
	var joined []glyph
	for i, r := range rows {
		joined = joinRows(joined, r)
		if i+1 < len(rows) && sameLine(joined, rows[i+1]) {
			if next := rows[i+1]; isLeftOf(next, joined) {
				rows[i+1], joined = joinRows(slices.Clone(next), joined), nil
			}
			continue
		}
		out = append(out, lineOf(joined))
		joined = nil
	}
	return out
}

// joinRows appends b to the line a that it continues, after a space if there is room for one:
// between lines, pdfium has none.
func joinRows(a, b []glyph) []glyph {
	if len(a) > 0 && len(b) > 0 {
		last, next := a[len(a)-1], b[0]
		if last.size > 0 && next.size > 0 && next.left-last.right > 0.2*max(last.size, next.size) {
			a = append(a, glyph{r: ' ', made: true})
		}
	}
	return append(a, b...)
}

// beginsLine reports whether g stands below a where a line begins, although pdfium did not end
// the line between them: further left, or right in a script that is written from there.
func beginsLine(a, g glyph) bool {
	return a.size > 0 && g.size > 0 && a.base-g.base > 0.7*max(a.size, g.size) && (g.left > a.left) == isRightToLeft(g.r)
}

// isLineEndHyphen: pdfium has U+0002 for a hyphen at the end of a line, after which it does
// not end the line.
func isLineEndHyphen(r rune) bool { return r == 2 || r == lineEndHyphen }

// isBeside reports whether b stands right behind a in the same line.
func isBeside(a, b glyph) bool {
	gap := b.left - a.right
	return a.size > 0 && b.size > 0 && abs(b.base-a.base) < 0.5*a.size && gap > -0.3*a.size && gap < a.size
}

// box returns where a run of glyphs is, with the base and the size of its largest ones.
func box(row []glyph) (left, right, base, size float32, ok bool) {
	for _, g := range row {
		if g.size == 0 || g.made || unicode.IsSpace(g.r) {
			continue
		}
		if !ok {
			left, right = g.left, g.right
		}
		left, right, ok = min(left, g.left), max(right, g.right), true
		if g.size > size*1.05 {
			base, size = g.base, g.size
		}
	}
	return left, right, base, size, ok
}

// sameLine reports whether b, which pdfium put on a line of its own, continues the line a:
// it is a cell of the same row, or one of them is a superscript.
func sameLine(a, b []glyph) bool {
	if a[len(a)-1].r == lineEndHyphen {
		return false
	}
	left, right, base, size, ok := box(a)
	left2, right2, base2, size2, ok2 := box(b)
	if !ok || !ok2 {
		return false
	}
	large := max(size, size2)
	apart := left2 >= right-0.3*large || right2 <= left+0.3*large && !hasRightToLeft(a) && !hasRightToLeft(b)
	if abs(base-base2) < 0.15*large && min(size, size2) > 0.6*large {
		return apart
	}
	raised := base2 - base // of the smaller one
	if size < size2 {
		raised = -raised
	}
	near := left2 >= right-0.3*large && left2 <= right+0.5*large
	few := size2 < size && len(strings.TrimSpace(plain(b))) <= fewLow
	return near && min(size, size2) < 0.85*large && (raised > -0.4*large || few && raised > -lowest*large) && raised < 0.75*large
}

func isLeftOf(b, a []glyph) bool {
	left, _, _, _, _ := box(a)
	left2, right2, _, size2, _ := box(b)
	return left2 < left && right2 <= left+0.3*size2
}

func hasRightToLeft(row []glyph) bool {
	return slices.ContainsFunc(row, func(g glyph) bool { return isRightToLeft(g.r) })
}

func isRightToLeft(r rune) bool {
	return r >= 0x0590 && r <= 0x08FF || r >= 0xFB1D && r <= 0xFDFF || r >= 0xFE70 && r <= 0xFEFC
}

func lineOf(row []glyph) pageLine {
	_, _, base, size, ok := box(row)
	l := pageLine{base: base, size: size, placed: ok, rightToLeft: hasRightToLeft(row)}
	if l.hyphen = row[len(row)-1].r == lineEndHyphen; l.hyphen {
		row = row[:len(row)-1]
	}
	if l.rightToLeft {
		row = apartFromLatin(afterTheirLetters(row))
		turnLigatures(row)
	} else if !l.hyphen {
		row = fromLeft(row)
	}
	parts := wideParts(row)
	if l.rightToLeft {
		parts = partsFromRight(row)
	}
	for _, part := range parts {
		if t := strings.TrimSpace(cellText(part)); t != "" {
			left, right, base, size, _ := box(part)
			l.cells = append(l.cells, cell{text: t, left: left, right: right, base: base, size: size, glyphs: part})
		}
	}
	return l
}

// fromLeft puts the characters of a line in order if each has a place of its own: some programs
// draw those of each font together. Spaces that pdfium made are made anew.
func fromLeft(row []glyph) []glyph {
	steps, back, last := 0, 0, -1
	for i, g := range row {
		switch {
		case g.made:
			continue
		case g.size == 0, language.IsDense(g.r), unicode.IsMark(g.r): // a vowel may stand left of its consonant
			return row
		case last >= 0 && g.left < row[last].left-0.3*g.size:
			back++
		}
		steps++
		last = i
	}
	if back == 0 || 2*back > steps { // or it is drawn from right to left
		return row
	}
	placed := slices.DeleteFunc(slices.Clone(row), func(g glyph) bool { return g.made })
	slices.SortStableFunc(placed, func(a, b glyph) int { return cmp.Compare(a.left, b.left) })
	out := make([]glyph, 0, len(row))
	for i, g := range placed {
		if i > 0 {
			switch gap, size := g.left-placed[i-1].right, max(g.size, placed[i-1].size); {
			case unicode.IsSpace(g.r) && unicode.IsSpace(placed[i-1].r):
				continue
			case unicode.IsSpace(g.r) || unicode.IsSpace(placed[i-1].r):
			case gap < -0.3*size: // over each other
				return row
			case gap > 0.2*size:
				out = append(out, glyph{r: ' ', made: true})
			}
		}
		out = append(out, g)
	}
	return out
}

// afterTheirLetters returns a line that runs from right to left with each mark behind the letter
// over or under which it is drawn. Some programs draw it before this letter, apart from the word.
func afterTheirLetters(row []glyph) []glyph {
	over := func(mark, g glyph) bool {
		at := (mark.left + mark.right) / 2
		return g.size > 0 && !g.made && unicode.IsLetter(g.r) && g.left <= at && at <= g.right
	}
	var out []glyph
	for i := 0; i < len(row); i++ {
		g := row[i]
		before := len(out) // behind the last letter
		for before > 0 && unicode.IsSpace(out[before-1].r) {
			before--
		}
		if g.size == 0 || !unicode.IsMark(g.r) || i+1 == len(row) || !over(g, row[i+1]) || before > 0 && over(g, out[before-1]) {
			out = append(out, g)
			continue
		}
		if before > 0 && out[before-1].left-row[i+1].right < 0.1*g.size { // the space is the mark's
			out = out[:before]
		}
		out = append(out, row[i+1], g)
		i++
	}
	return out
}

// apartFromLatin returns a line that runs from right to left with a space between a word in Latin
// letters and the one after it: such a space is often drawn on the other side.
func apartFromLatin(row []glyph) []glyph {
	var out []glyph
	for i, g := range row {
		if i > 0 && unicode.Is(unicode.Latin, row[i-1].r) && isRightToLeft(g.r) && unicode.IsLetter(g.r) {
			out = append(out, glyph{r: ' '})
		}
		out = append(out, g)
	}
	return out
}

// turnLigatures puts the letters of ligatures of a line that runs from right to left in the
// order in which they are read: pdfium turns a line's glyphs, and with them the letters of
// each glyph.
func turnLigatures(row []glyph) {
	letter := func(g glyph) bool {
		return g.size > 0 && !g.made && isRightToLeft(g.r) && !unicode.IsMark(g.r)
	}
	oneGlyph := func(i int) bool {
		return i >= 0 && i+1 < len(row) && letter(row[i]) && letter(row[i+1]) && row[i].left == row[i+1].left && row[i].right == row[i+1].right
	}
	for i := 0; i < len(row); {
		// Other programs give both letters the box of the glyph. No glyph is alef before lam,
		// but one is the name of God, which begins with them.
		if oneGlyph(i) && !oneGlyph(i+1) && !oneGlyph(i-1) && strings.ContainsRune("اأإآ", row[i].r) && row[i+1].r == 'ل' {
			row[i], row[i+1] = row[i+1], row[i]
			i += 2
			continue
		}
		j := i + 1
		for j < len(row) && letter(row[j-1]) && letter(row[j]) && row[j].left >= row[j-1].left && abs(row[j].left-row[j-1].right) < 0.05*row[j].size {
			j++
		}
		// Letters that are not of one glyph stand one left of the other.
		if n := j - i; n > 1 && n <= 4 && (i == 0 || !letter(row[i-1]) || row[i-1].left > row[i].left) {
			slices.Reverse(row[i:j])
		}
		i = j
	}
}

// wideParts cuts a line at its wide gaps.
func wideParts(row []glyph) [][]glyph {
	var parts [][]glyph
	from, last := 0, -1
	for i, g := range row {
		if g.made || unicode.IsSpace(g.r) {
			continue
		}
		if last >= 0 && g.size > 0 && row[last].size > 0 {
			gap := g.left - row[last].right
			size := max(g.size, row[last].size)
			wide := gap > wideGap*size && (!isListMark(row[from:last+1], g.r) || gap > maxMarkGap*size && unicode.IsDigit(row[from].r))
			if wide || gap < -size && abs(g.base-row[last].base) > 0.3*size && abs(g.size-row[last].size) < 0.1*size { // of a cell beside one with several lines
				parts = append(parts, row[from:last+1])
				from = i
			}
		}
		last = i
	}
	return append(parts, row[from:])
}

// maxMarkGap is the widest gap, of a font's size, after the number of a list. "120.00" in a table looks like one, too.
const maxMarkGap = 6.5

// partsFromRight cuts a line that runs from right to left at its wide gaps. Its characters come in the order in which
// they are read, so that those of numbers and of words in Latin letters stand in the other direction.
func partsFromRight(row []glyph) [][]glyph {
	type word struct {
		from, to, part    int // of the glyphs; its place among the parts
		left, right, size float32
	}
	var words []word
	isOpen := false
	for i, g := range row {
		if isOpen = isOpen && !g.made && !unicode.IsSpace(g.r); g.made || unicode.IsSpace(g.r) {
			continue
		}
		if g.size == 0 {
			return [][]glyph{row}
		}
		if !isOpen {
			words = append(words, word{from: i, left: g.left, right: g.right})
			isOpen = true
		}
		w := &words[len(words)-1]
		w.to, w.left, w.right, w.size = i+1, min(w.left, g.left), max(w.right, g.right), max(w.size, g.size)
	}
	order := make([]int, len(words)) // from the right
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(words[b].right, words[a].right) })
	count, left := 0, float32(0)
	var parts [][]glyph
	for i, k := range order {
		w := &words[k]
		if i > 0 && left-w.right > wideGap*w.size && !(i == 1 && isListMark(row[words[order[0]].from:words[order[0]].to], row[w.from].r)) {
			count++
		}
		if i == 0 || w.left < left {
			left = w.left
		}
		w.part = count
	}
	parts = make([][]glyph, count+1)
	for i, w := range words {
		from := w.from
		if i > 0 && words[i-1].part == w.part { // with the space before it
			from = words[i-1].to
		}
		parts[w.part] = append(parts[w.part], row[from:w.to]...)
	}
	return parts
}

// mirrored returns the lines of a page that is read from right to left as those of one that is read from the left.
func mirrored(lines []pageLine) []pageLine {
	fromRight, all := 0, 0
	for _, l := range lines {
		switch {
		case l.rightToLeft:
			fromRight++
			all++
		case slices.ContainsFunc(l.cells, func(c cell) bool { return strings.ContainsFunc(c.text, unicode.IsLetter) }):
			all++
		}
	}
	if fromRight == 0 || 2*fromRight < all {
		return lines
	}
	out := slices.Clone(lines)
	for i, l := range out {
		out[i].cells = slices.Clone(l.cells)
		out[i].rightToLeft = false
		for k, c := range out[i].cells {
			out[i].cells[k].left, out[i].cells[k].right, out[i].cells[k].glyphs = -c.right, -c.left, nil
		}
		if l.placed {
			slices.SortStableFunc(out[i].cells, func(a, b cell) int { return cmp.Compare(a.left, b.left) })
		}
	}
	return out
}

var listMark = lazyregexp.New(`^(?:[^\pL\pN]{1,2}|[(\[]?[\pL\d]{1,4}[.)\]:]|\d+(?:\.\d+)+\.?|§+ ?\d*)$`)

// isListMark reports whether a part of a line is the number or bullet of what follows it.
func isListMark(part []glyph, next rune) bool {
	return len(part) <= 10 && unicode.IsLetter(next) && listMark.MatchString(strings.TrimSpace(plain(part)))
}

func plain(row []glyph) string {
	var b strings.Builder
	for _, g := range row {
		b.WriteRune(g.r)
	}
	return b.String()
}

// cellText writes glyphs as text: digits that are raised or lowered as such characters, and
// letters that are spaced out without the spaces that pdfium makes between them.
func cellText(row []glyph) string {
	spaced, step := spacing(row), pitch(row)
	var b strings.Builder
	last := -1 // the last one that is no space
	for i := 0; i < len(row); {
		g := row[i]
		if g.r == ' ' {
			next := i + 1
			for next < len(row) && row[next].r == ' ' {
				next++
			}
			if next < len(row) && endsSyllable(row[next].r) {
				i = next
				continue
			}
		}
		if g.made {
			if next := i + 1; last >= 0 && next < len(row) && !row[next].made && g.r == ' ' && row[next].size > 0 && row[last].size > 0 {
				gap := row[next].left - row[last].right
				if step > 0 && abs(row[next].left-row[last].left-step) < 0.02*row[last].size || spaced > 0 && gap < 1.6*spaced+0.05*row[last].size || isRaised(row, last, next) && gap < 0.1*row[last].size {
					i++
					continue
				}
			}
			b.WriteRune(g.r)
			i++
			continue
		}
		if unicode.IsSpace(g.r) {
			b.WriteRune(g.r)
			i++
			continue
		}
		j := i + 1 // the run of the same size on the same base
		for j < len(row) && !row[j].made && !unicode.IsSpace(row[j].r) && alike(row[i], row[j]) {
			j++
		}
		b.WriteString(script(row, last, i, j))
		last, i = j-1, j
	}
	return fractionMark.ReplaceAllStringFunc(closeIdeographs(b.String()), func(f string) string {
		return " " + toPlainDigits.Replace(f)
	})
}

// endsSyllable reports whether a Thai or Lao vowel or tone belongs to the letter before it,
// so that a space before it comes from the way in which it is drawn.
func endsSyllable(r rune) bool {
	return r == '\u0e33' || r == '\u0eb3' || unicode.IsMark(r) && unicode.In(r, unicode.Thai, unicode.Lao)
}

// closeIdeographs drops the spaces of a line that is spaced out: one stands after each of its
// ideographs, of which there are three at least.
func closeIdeographs(s string) string {
	runes := []rune(s)
	count := 0
	for i, r := range runes {
		if !language.IsIdeograph(r) {
			continue
		}
		if i > 0 && language.IsIdeograph(runes[i-1]) {
			return s
		}
		count++
	}
	if count < 3 {
		return s
	}
	wide := func(i int) bool {
		return i >= 0 && i < len(runes) && (language.IsIdeograph(runes[i]) || runes[i] >= 0x3000 && runes[i] <= 0x303f || runes[i] >= 0xff00 && runes[i] <= 0xffef)
	}
	kept := make([]rune, 0, len(runes))
	for i, r := range runes {
		if r != ' ' || !wide(i-1) || !wide(i+1) {
			kept = append(kept, r)
		}
	}
	return string(kept)
}

func alike(a, b glyph) bool {
	return abs(a.size-b.size) < 0.05*max(a.size, b.size) && abs(a.base-b.base) < 0.05*max(a.size, b.size)
}

func isRaised(row []glyph, a, b int) bool {
	return row[b].size < 0.85*row[a].size && abs(row[b].base-row[a].base) > 0.12*row[a].size ||
		row[a].size < 0.85*row[b].size && abs(row[a].base-row[b].base) > 0.12*row[b].size
}

// spacing returns the width of the gaps between the letters of a line that is spaced out;
// 0 if it is not.
func spacing(row []glyph) float32 {
	var gaps []float32
	var size float32
	last := -1
	for i, g := range row {
		if g.made {
			continue
		}
		if last >= 0 && g.size > 0 && row[last].size > 0 && !unicode.IsSpace(g.r) && !unicode.IsSpace(row[last].r) && alike(g, row[last]) {
			gaps = append(gaps, g.left-row[last].right)
			size = max(size, g.size)
		}
		last = i
	}
	if len(gaps) < 5 {
		return 0
	}
	slices.Sort(gaps)
	if middle := gaps[len(gaps)/2]; middle > 0.08*size && middle < 0.5*size {
		return middle
	}
	return 0
}

// pitch returns how far apart the letters of a line begin, if each has a place of the same
// width although the letters of its font have not; else 0. Then a narrow letter is no end of a
// word.
func pitch(row []glyph) float32 {
	var steps, widths []float32
	last := -1
	for i, g := range row {
		if g.made {
			continue
		}
		if last >= 0 && g.size > 0 && row[last].size > 0 && alike(g, row[last]) {
			steps, widths = append(steps, g.left-row[last].left), append(widths, row[last].right-row[last].left)
		}
		last = i
	}
	if len(steps) < 5 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(steps))
	middle, equal := sorted[len(sorted)/2], 0
	var kinds []float32 // widths of letters
	for i, s := range steps {
		if abs(s-middle) >= 0.02*row[last].size {
			continue
		}
		equal++
		if !slices.ContainsFunc(kinds, func(w float32) bool { return abs(w-widths[i]) < 0.03*row[last].size }) {
			kinds = append(kinds, widths[i])
		}
	}
	// In "out and", too, each letter begins at the same distance: a space and a "t" are as
	// wide as an "a".
	if middle <= 0 || 5*equal < 4*len(steps) || len(kinds) < 3 {
		return 0
	}
	return middle
}

const maxScript = 8 // characters of a superscript or subscript

// script returns the text of row[i:j], which is of one size and on one base; last is the
// index of the character before it, or -1. Digits of a superscript stay apart from the
// number before them.
func script(row []glyph, last, i, j int) string {
	text := plain(row[i:j])
	g := row[i]
	if g.size == 0 || j-i > maxScript {
		return text
	}
	var near glyph
	switch {
	case last >= 0 && row[last].size > 1.15*g.size && g.left-row[last].right < 0.3*row[last].size:
		near = row[last]
	case (last < 0 || last < i-1) && nextGlyph(row, j) != nil && nextGlyph(row, j).size > 1.15*g.size:
		near = *nextGlyph(row, j)
	default:
		return text
	}
	switch raised := (g.base - near.base) / near.size; {
	case raised > 0.12 && raised < 0.8:
		if single := []rune(text); len(single) == 1 && last >= 0 && unicode.IsDigit(row[last].r) && superLetters[single[0]] != 0 {
			return string(superLetters[single[0]])
		}
		return strings.Map(func(r rune) rune { return orElse(superscripts[r], r) }, text)
	case raised < -0.06 && (raised > -low || raised > -lowest && j-i <= fewLow):
		return strings.Map(func(r rune) rune { return orElse(subscripts[r], r) }, text)
	}
	return text
}

func nextGlyph(row []glyph, j int) *glyph {
	for ; j < len(row); j++ {
		if !row[j].made && !unicode.IsSpace(row[j].r) {
			return &row[j]
		}
	}
	return nil
}

func orElse(r, other rune) rune {
	if r == 0 {
		return other
	}
	return r
}

var (
	superscripts  = runeMap("0123456789+-−=()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾")
	subscripts    = runeMap("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
	superLetters  = runeMap("abcdefghijklmnoprstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ")
	fractionMark  = lazyregexp.New(`[⁰¹²³⁴-⁹]+[/⁄][₀-₉\d]+`)
	toPlainDigits = strings.NewReplacer("⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4", "⁵", "5", "⁶", "6", "⁷", "7", "⁸", "8", "⁹", "9",
		"₀", "0", "₁", "1", "₂", "2", "₃", "3", "₄", "4", "₅", "5", "₆", "6", "₇", "7", "₈", "8", "₉", "9", "⁄", "/")
)

func runeMap(from, to string) map[rune]rune {
	m, values := map[rune]rune{}, []rune(to)
	for i, r := range []rune(from) {
		m[r] = values[i]
	}
	return m
}

// pageText writes lines as text: rows of tables with a bar between their cells, an empty
// cell between two bars, and columns one after the other.
func pageText(lines []pageLine) string {
	var w pageWriter
	lines = slices.Clone(joinWrapped(joinColumns(mirrored(lines))))
	for i := range lines {
		if l := &lines[i]; l.hyphen && !goesOn(lines, i) {
			l.hyphen = false
			if l.cells = slices.Clone(l.cells); len(l.cells) == 0 {
				l.cells = []cell{{}}
			}
			l.cells[len(l.cells)-1].text += "-"
		}
	}
	for i := 0; i < len(lines); {
		j := gridEnd(lines, i)
		if j-i < 2 {
			w.line(lines[i])
			i++
			continue
		}
		cutApart(lines[i:j])
		cutNumbers(lines[i:j])
		cutAtColumns(lines[i:j])
		g := newGrid(lines[i:j])
		switch {
		case len(g.columns) < 2:
			for _, l := range lines[i:j] {
				w.line(l)
			}
		case g.independent():
			for c := range g.columns {
				for r, l := range lines[i:j] {
					if t := g.rows[r][c]; t != "" {
						w.line(pageLine{cells: []cell{{text: t}}, hyphen: l.hyphen && c == g.last(r)})
					}
				}
			}
		default:
			w.blank()
			rows, ends := g.merged(lines[i:j])
			if k := lastRowEnd(lines, i, j); k > j { // the last row may go on
				g = newGrid(lines[i:k])
				if longer, all := g.merged(lines[i:k]); len(longer) == len(rows) {
					rows, ends, j = longer, all, k
				}
			}
			for r, cells := range rows {
				w.text(joinCells(cells), lines[i+ends[r]].hyphen)
			}
			w.blank()
		}
		i = j
	}
	return w.b.String()
}

// goesOn reports whether a line with a hyphen at its end goes on in the next one, which stands below it or higher,
// in another column. Else a page number or a note follows.
func goesOn(lines []pageLine, i int) bool {
	if i+1 == len(lines) || len(lines[i].cells) == 0 || len(lines[i+1].cells) == 0 {
		return false
	}
	first, _ := utf8.DecodeRuneInString(lines[i+1].cells[0].text)
	return language.IsAlphanumeric(first) && (!lines[i].placed || !lines[i+1].placed || drop(lines, i+1) < 2.2*lines[i].size)
}

type pageWriter struct {
	b      strings.Builder
	hyphen bool // the last line ends with one
}

func (w *pageWriter) blank() {
	if w.b.Len() > 0 && !w.hyphen && !strings.HasSuffix(w.b.String(), "\n\n") {
		w.b.WriteString("\n\n")
	}
}

func (w *pageWriter) text(s string, hyphen bool) {
	if w.b.Len() > 0 && !w.hyphen && !strings.HasSuffix(w.b.String(), "\n") {
		w.b.WriteByte('\n')
	}
	w.b.WriteString(s)
	if w.hyphen = hyphen; hyphen {
		w.b.WriteRune(lineEndHyphen)
	}
}

func (w *pageWriter) line(l pageLine) {
	parts := make([]string, len(l.cells))
	for i, c := range l.cells {
		parts[i] = c.text
	}
	w.text(strings.Join(parts, wideSpace), l.hyphen)
}

// wideSpace stands in the text of a page for a wide gap in a line that is no row of a table.
const wideSpace = "\t"
