package extract

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	minGutter     = 0.9 // of a font's size: the gap between columns, which is wider than one between words
	minColumn     = 5   // lines of a column
	maxGutters    = 24  // places of a page that are looked at
	maxColumnCuts = 6   // zones within zones
)

// A run is a part of a line that a page draws in one go.
type run struct {
	from, to    int // of the glyphs
	left, right float32
	base, size  float32 // of its first character; size is 0 if it has no place
}

// readColumns puts the characters of columns whose lines were drawn across the page in the
// order in which people read them, one column after the other.
func readColumns(glyphs []glyph) []glyph {
	runs := runsOf(glyphs)
	if len(runs) < 2*minColumn {
		return glyphs
	}
	arranged := arrangeColumns(glyphs, runs, 0)
	if slices.IsSortedFunc(arranged, func(a, b run) int { return cmp.Compare(a.from, b.from) }) {
		return glyphs
	}
	out := make([]glyph, 0, len(glyphs)+len(arranged))
	for i, r := range arranged {
		if i > 0 && arranged[i-1].to != r.from {
			out = append(out, glyph{r: '\n', made: true})
		}
		out = append(out, glyphs[r.from:r.to]...)
	}
	return out
}

// runsOf cuts glyphs at wide gaps and at the beginnings of lines; nil if some are written from
// right to left.
func runsOf(glyphs []glyph) []run {
	var runs []run
	last := -1 // the last one that is no space
	for i, g := range glyphs {
		if g.made || unicode.IsSpace(g.r) {
			continue
		}
		if isRightToLeft(g.r) {
			return nil
		}
		if last >= 0 && continuesRun(glyphs[last], g) {
			r := &runs[len(runs)-1]
			r.left, r.right = min(r.left, g.left), max(r.right, g.right)
		} else {
			if len(runs) > 0 {
				runs[len(runs)-1].to = i
			}
			runs = append(runs, run{from: i, left: g.left, right: g.right, base: g.base, size: g.size})
		}
		last = i
	}
	if len(runs) > 0 {
		runs[0].from, runs[len(runs)-1].to = 0, len(glyphs)
	}
	return runs
}

func continuesRun(a, b glyph) bool {
	if a.size == 0 || b.size == 0 {
		return a.size == b.size
	}
	size, gap := min(a.size, b.size), b.left-a.right
	return abs(a.base-b.base) < 0.5*size && gap < minGutter*size && gap > -0.5*size
}

// zone is a part of a page with a gap between columns.
type zone struct {
	gutter, bottom, top float32 // the right column begins at gutter
	lines               int     // of the shorter column
}

func (z zone) has(r run) bool  { return r.size > 0 && r.base > z.bottom && r.base < z.top }
func (z zone) left(r run) bool { return r.left < z.gutter-1 }

// arrangeColumns returns runs with the columns of each zone one after the other.
func arrangeColumns(glyphs []glyph, runs []run, depth int) []run {
	if len(runs) < 2*minColumn || depth > maxColumnCuts {
		return runs
	}
	z, ok := widestZone(glyphs, runs)
	if !ok {
		return runs
	}
	var left, right, rest []run
	first := -1
	for _, r := range runs {
		switch {
		case !z.has(r):
			rest = append(rest, r)
			continue
		case z.left(r):
			left = append(left, r)
		default:
			right = append(right, r)
		}
		if first < 0 {
			first = r.from
		}
	}
	columns := append(arrangeColumns(glyphs, left, depth+1), arrangeColumns(glyphs, right, depth+1)...)
	rest = arrangeColumns(glyphs, rest, depth+1)
	at := slices.IndexFunc(rest, func(r run) bool { return r.from > first })
	if at < 0 {
		at = len(rest)
	}
	return slices.Insert(rest, at, columns...)
}

// widestZone returns the zone with the most lines.
func widestZone(glyphs []glyph, runs []run) (best zone, ok bool) {
	for _, x := range gutters(runs) {
		for _, z := range zonesAt(x, runs) {
			if z.lines > best.lines && isDrawnAcross(z, runs) && isProse(glyphs, z, runs, true) && isProse(glyphs, z, runs, false) {
				best, ok = z, true
			}
		}
	}
	return best, ok
}

// gutters returns the places where most runs begin that have something on their left.
func gutters(runs []run) []float32 {
	count := map[int32]int{}
	most := runs[0].left
	for _, r := range runs {
		if r.size > 0 {
			count[int32(r.left)]++
			most = min(most, r.left)
		}
	}
	var at []int32
	for x, n := range count {
		if n+count[x-1]+count[x+1] >= minColumn && n >= count[x-1] && n >= count[x+1] && float32(x) > most+5 {
			at = append(at, x)
		}
	}
	slices.SortFunc(at, func(a, b int32) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	var out []float32
	for _, x := range at[:min(len(at), maxGutters)] {
		left := float32(x) + 1
		for _, r := range runs {
			if r.size > 0 && r.left > float32(x)-1 && r.left < left {
				left = r.left
			}
		}
		out = append(out, left)
	}
	return out
}

// zonesAt returns the parts of a page in which no line crosses the gap on the left of x.
func zonesAt(x float32, runs []run) []zone {
	var crossed []float32
	for _, r := range runs {
		if r.size > 0 && r.left < x-1 && r.right > x-minGutter*min(r.size, 12)/2 {
			crossed = append(crossed, r.base)
		}
	}
	const edge = 1e6
	crossed = append(crossed, edge, -edge)
	slices.Sort(crossed)
	zones := make([]zone, 0, len(crossed))
	for i := 1; i < len(crossed); i++ {
		zones = append(zones, zone{gutter: x, bottom: crossed[i-1], top: crossed[i]})
	}
	lines := make([][2][]float32, len(zones))
	for _, r := range runs {
		if r.size == 0 {
			continue
		}
		i, on := slices.BinarySearch(crossed, r.base)
		if on || i == 0 || i > len(zones) {
			continue
		}
		side := 1
		if zones[i-1].left(r) {
			side = 0
		}
		lines[i-1][side] = append(lines[i-1][side], r.base)
	}
	for i := range zones {
		zones[i].lines = min(different(lines[i][0]), different(lines[i][1]))
	}
	return slices.DeleteFunc(zones, func(z zone) bool { return z.lines < minColumn })
}

// different counts the bases that are not those of the same line.
func different(bases []float32) int {
	slices.Sort(bases)
	n := 0
	for i, b := range bases {
		if i == 0 || b-bases[i-1] > 3 {
			n++
		}
	}
	return n
}

// isDrawnAcross reports whether a page goes from the left to the right column in many lines.
func isDrawnAcross(z zone, runs []run) bool {
	across := 0
	var last *run
	for i, r := range runs {
		if !z.has(r) {
			continue
		}
		if last != nil && z.left(*last) && !z.left(r) && abs(last.base-r.base) < 1.5*max(last.size, r.size) {
			across++
		}
		last = &runs[i]
	}
	return across >= 3 && 2*across >= z.lines
}

// isProse reports whether the first column on one side of a zone's gap is a text: its lines are
// close to each other and sentences run on from line to line. The columns of tables have one or
// the other.
func isProse(glyphs []glyph, z zone, runs []run, left bool) bool {
	begin, end := float32(1e6), float32(-1e6)
	for _, r := range runs {
		if z.has(r) && z.left(r) == left {
			begin = min(begin, r.left)
		}
	}
	var lines []run
	for _, r := range runs {
		if z.has(r) && z.left(r) == left && r.left < begin+4*r.size {
			lines = append(lines, r)
			end = max(end, r.right)
		}
	}
	near, on, words := 0, 0, 0
	above := ""
	for i, r := range lines {
		text := strings.TrimSpace(plain(glyphs[r.from:r.to]))
		words += strings.Count(text, " ")
		if i > 0 {
			if drop := lines[i-1].base - r.base; drop > 0 && drop < 1.7*r.size {
				near++
			}
			last, _ := utf8.DecodeLastRuneInString(above)
			first, _ := utf8.DecodeRuneInString(text)
			if unicode.IsLower(first) && !strings.ContainsRune(".!?:;", last) && lines[i-1].right-begin > 0.6*(end-begin) {
				on++
			}
		}
		above = text
	}
	return on >= 3 && 3*on >= len(lines) && 4*near >= 3*len(lines) && words >= 3*len(lines)
}
