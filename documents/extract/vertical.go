package extract

import (
	"cmp"
	"slices"
	"unicode"

	"github.com/palaver-chat/palaver/internal/language"
)

const (
	minVertical = 5    // characters below each other make a page one with vertical lines
	nextBelow   = 2.2  // of the size: how far below each other the characters of such a line begin
	inColumn    = 0.55 // of the size: how far beside its middle they are
	farInLine   = 3    // of the size: the widest gap in it
	sideways    = 3    // the turn of letters in it
	// turnedBase is how far the line on which letters stand that are turned is beside the
	// middle of the characters that are not.
	turnedBase = 0.38
)

// readVertical turns the characters of a page that is written in vertical lines, so that it is
// read as a turned page is, and puts these lines in their order, from right to left. Other pages
// stay as they are.
func readVertical(glyphs []glyph) []glyph {
	upright := make([]bool, len(glyphs)) // in vertical lines
	down, across := 0, 0
	last := -1
	for i, g := range glyphs {
		if g.made || g.size == 0 || g.turn != 0 || !isWide(g.r) {
			continue
		}
		switch {
		case last < 0:
		case isBelow(glyphs[last], g):
			upright[last], upright[i] = true, true
			down++
		case abs(glyphs[last].base-g.base) < 0.3*g.size:
			across++
		}
		last = i
	}
	if down < minVertical || down <= across {
		return glyphs
	}
	lines := verticalLines(glyphs, upright)
	out := make([]glyph, 0, len(glyphs)+len(lines))
	for from := 0; from < len(lines); {
		to := from + 1
		for to < len(lines) && (besideEachOther(lines[to-1], lines[to]) || drawnLater(lines[to], lines[from:to])) {
			to++
		}
		part := lines[from:to]
		slices.SortStableFunc(part, func(a, b []glyph) int { return cmp.Compare(b[0].base, a[0].base) })
		for i, l := range part {
			if i+1 < len(part) && inSameLine(l[0], part[i+1][0]) {
				part[i+1] = slices.Concat(l, part[i+1])
				continue
			}
			out = append(append(out, inOrder(l)...), glyph{r: '\n', made: true})
		}
		from = to
	}
	return out
}

// isWide reports whether a character is one that stands upright in vertical lines.
func isWide(r rune) bool {
	return language.IsIdeograph(r) || unicode.Is(unicode.Hangul, r) || r >= 0x3000 && r <= 0x303f || r >= 0xff01 && r <= 0xff60
}

func middle(g glyph) float32 { return (g.left + g.right) / 2 }

// isBelow reports whether b is the next character below a.
func isBelow(a, b glyph) bool {
	drop := (a.base - b.base) / a.size
	return drop > 0.6 && drop < nextBelow && abs(middle(a)-middle(b)) < inColumn*a.size
}

// verticalLines cuts the characters of a page into its vertical lines and what stands between
// them, which stays as it is.
func verticalLines(glyphs []glyph, upright []bool) [][]glyph {
	var lines [][]glyph
	var line []glyph
	var begin, end float32 // of line
	for i, g := range glyphs {
		if g.made || unicode.IsSpace(g.r) {
			if len(line) > 0 && line[0].turn != sideways {
				line = append(line, g)
			}
			continue
		}
		turned := asTurned(g)
		near := len(line) > 0 && line[0].turn == sideways && inSameLine(turned, line[0]) &&
			turned.left < end+farInLine*g.size && turned.right > begin-farInLine*g.size
		if upright[i] || near {
			g = turned
		}
		if len(line) > 0 && (line[0].turn != g.turn || g.turn == sideways && !near) {
			lines, line = append(lines, line), nil
		}
		if len(line) == 0 {
			begin, end = g.left, g.right
		}
		begin, end = min(begin, g.left), max(end, g.right)
		line = append(line, g)
	}
	return append(lines, line)
}

// asTurned returns a character of a vertical line as it stands if the line is turned.
func asTurned(g glyph) glyph {
	if g.turn != 0 || g.size == 0 {
		return g
	}
	base := middle(g) - turnedBase*g.size
	g.left = -g.base - 0.88*g.size
	g.right, g.base, g.turn = g.left+g.size, base, sideways
	return g
}

// inOrder puts the characters of a vertical line in their order: some programs draw those of
// each font together. Its words have spaces between them.
func inOrder(line []glyph) []glyph {
	if len(line) == 0 || line[0].turn != sideways {
		return line
	}
	slices.SortStableFunc(line, func(a, b glyph) int { return cmp.Compare(a.left, b.left) })
	out := line[:1:1]
	for _, g := range line[1:] {
		last := out[len(out)-1]
		switch gap := g.left - last.right; {
		case gap < -0.5*g.size: // figures beside each other
			g.left, g.right = last.right, last.right
		case gap > 0.25*g.size && !isWide(g.r) && !isWide(last.r):
			out = append(out, glyph{r: ' ', made: true})
		}
		g.base = line[0].base
		out = append(out, g)
	}
	return out
}

func inSameLine(a, b glyph) bool {
	return a.turn == sideways && b.turn == sideways && abs(a.base-b.base) < inColumn*min(a.size, b.size)
}

// besideEachOther reports whether b, which is drawn after the vertical line a, stands in the
// same part of a page.
func besideEachOther(a, b []glyph) bool {
	if a[0].turn != sideways || b[0].turn != sideways {
		return false
	}
	aBegin, aEnd, _, _, _ := box(a)
	bBegin, bEnd, _, _, _ := box(b)
	return inSameLine(a[0], b[0]) || 2*(min(aEnd, bEnd)-max(aBegin, bBegin)) > min(aEnd-aBegin, bEnd-bBegin)
}

// drawnLater reports whether a line is a word in other letters that belongs into one of lines.
func drawnLater(line []glyph, lines [][]glyph) bool {
	return !isWide(line[0].r) && slices.ContainsFunc(lines, func(l []glyph) bool { return inSameLine(l[0], line[0]) })
}
