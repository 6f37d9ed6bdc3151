package extract

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/tetratelabs/wazero/api"
	"golang.org/x/text/unicode/norm"
)

// glyph is a character at its place on a page, in points from the page's lower left corner.
type glyph struct {
	r           rune
	left, right float32
	base        float32 // of the line on which it stands
	size        float32 // of its font; 0 if the text does not run in the page's direction
	made        bool    // pdfium made it: a space, or the end of a line
	turn        int8    // quarters of a turn to the left; its place is that on the page turned back
}

// glyphs reads the characters of a page in the order in which pdfium reads them.
func (n *native) glyphs(page uint64) ([]glyph, error) {
	text, err := n.call("FPDFText_LoadPage", page)
	if err != nil || text == 0 {
		return nil, err
	}
	defer n.call("FPDFText_ClosePage", text)
	count := n.number("FPDFText_CountChars", text)
	out := make([]glyph, 0, max(count, 0))
	n.twice = 0
	seen := drawn{last: make(map[place]int32, max(count, 0))}
	var near placed
	high, from := rune(0), 0 // from: where the characters of the last glyph begin
	for i := range uint64(max(count, 0)) {
		r, err := n.call("FPDFText_GetUnicode", text, i)
		if err != nil {
			return nil, err
		}
		g := glyph{r: rune(uint32(r))}
		if utf16.IsSurrogate(g.r) { // pdfium has the two halves of such a character
			if high == 0 {
				high = g.r
				continue
			}
			g.r = utf16.DecodeRune(high, g.r)
		}
		high = 0
		if (g.r <= ' ' || g.r == lineEndHyphen) && n.number("FPDFText_IsGenerated", text, i) == 1 {
			if g.made = true; g.r != 0 {
				out = append(out, g)
			}
			continue
		}
		g.r = n.symbol(text, i, g.r)
		n.place(text, i, &g, &near)
		if ligature := texLigature(g, out); ligature != "" {
			out = append(out, lettersOf(ligature, g)...)
			continue
		}
		if g.r == 0 {
			continue
		}
		again := seen.again(g, out)
		if len(out) == 0 || !sameGlyph(out[len(out)-1], g) {
			if out = n.once(out, from); again {
				n.twice++
				continue
			}
			from = len(out)
		}
		out = append(out, g)
	}
	out = readVertical(withAccents(n.once(out, from)))
	oneDirection(out)
	return out, nil
}

// oneDirection takes away the size of glyphs that are not turned as most of their page are.
func oneDirection(glyphs []glyph) {
	var turns [4]int
	for _, g := range glyphs {
		if g.size > 0 {
			turns[g.turn]++
		}
	}
	most := int8(0)
	for turn, n := range turns {
		if n > turns[most] {
			most = int8(turn)
		}
	}
	for i := range glyphs {
		if glyphs[i].turn != most {
			glyphs[i].size = 0
		}
	}
}

// turned sets the place of a glyph that is turned by quarters, on the page turned back.
func (g *glyph) turned(quarters int8, left, right, top, bottom, x, y float32) {
	switch g.turn = quarters; quarters {
	case 1:
		g.left, g.right, g.base = bottom, top, -x
	case 2:
		g.left, g.right, g.base = -right, -left, -y
	case 3:
		g.left, g.right, g.base = -top, -bottom, x
	}
}

// placed is what characters that follow each other in a line mostly share.
type placed struct{ top, bottom, base, size float32 }

// place sets where a glyph is. Its size stays 0 if it is turned, mirrored or without a place.
// near is that of the glyph before it.
func (n *native) place(text, i uint64, g *glyph, near *placed) {
	at := uint64(n.scratch)
	var top, bottom float32
	if n.number("FPDFText_GetLooseCharBox", text, i, at) == 1 {
		g.left, g.right = n.f32(0), n.f32(2)
		top, bottom = n.f32(1), n.f32(3)
		if near.size > 0 && top == near.top && bottom == near.bottom && finite(g.left) && finite(g.right) {
			g.base, g.size = near.base, near.size
			return
		}
		*near = placed{top: top, bottom: bottom}
	} else {
		*near = placed{}
	}
	if n.number("FPDFText_GetCharOrigin", text, i, at, at+8) == 0 {
		return
	}
	x := float32(n.f64(0))
	g.base = float32(n.f64(1))
	bits, err := n.call("FPDFText_GetFontSize", text, i)
	if err != nil || n.number("FPDFText_GetMatrix", text, i, at) == 0 {
		return
	}
	size := float32(api.DecodeF64(bits))
	a, b, c, d := n.f32(0), n.f32(1), n.f32(2), n.f32(3)
	if size < 0 { // this turns the text, too
		size, a, b, c, d = -size, -a, -b, -c, -d
	}
	size *= float32(math.Hypot(float64(c), float64(d)))
	switch left, right, y := g.left, g.right, g.base; {
	case b > 0 && c < 0 && abs(a) < 0.1*b:
		g.turned(1, left, right, top, bottom, x, y)
	case a < 0 && d < 0 && abs(b) < -0.1*a:
		g.turned(2, left, right, top, bottom, x, y)
	case b < 0 && c > 0 && abs(a) < -0.1*b:
		g.turned(3, left, right, top, bottom, x, y)
	}
	if g.turn > 0 && size > 0.5 && finite(size) && finite(g.left) && finite(g.right) && finite(g.base) {
		g.size = size
		return
	}
	if a > 0 && d > 0 && abs(b) < 0.1*a && size > 0.5 && finite(size) && finite(g.left) && finite(g.right) && finite(g.base) {
		g.size = size
		if b == 0 {
			near.base, near.size = g.base, g.size
		}
	}
}

// texLigature returns the letters of a ligature of TeX's fonts if g follows a letter and is
// one of the characters that some programs have in its place; "" if it is not.
func texLigature(g glyph, before []glyph) string {
	if g.r > ' ' && g.r != '↵' || g.size == 0 || len(before) == 0 {
		return ""
	}
	last := before[len(before)-1]
	if !unicode.IsLetter(last.r) || abs(g.left-last.right) > 0.1*g.size || abs(g.base-last.base) > 0.1*g.size {
		return ""
	}
	switch width := (g.right - g.left) / g.size; {
	case g.r == '↵', g.r == 0x0b:
		return "ff"
	case g.r == 0x0c:
		return "fi"
	case g.r == 0x0e, g.r == 0 && width > 0.75 && width < 0.95:
		return "ffi"
	case g.r == 0x0f:
		return "ffl"
	}
	return ""
}

// accents are the marks that some programs, such as TeX, draw over or under a letter, and the combining ones.
var accents = runeMap("´`ˆ^˜~¨ˇ˘¯˙˝¸˛˚°", "\u0301\u0300\u0302\u0302\u0303\u0303\u0308\u030c\u0306\u0304\u0307\u030b\u0327\u0328\u030a\u030a")

// nearAccent is how many glyphs stand at most between a mark and its letter. pdfium may put one that is raised at
// the end of the line.
const nearAccent = 250

// withAccents joins marks that are drawn over or under a letter with it.
func withAccents(glyphs []glyph) []glyph {
	dropped := map[int]bool{}
	for i, g := range glyphs {
		at := underMark(glyphs, i)
		if at < 0 {
			continue
		}
		glyphs[at].r, dropped[i] = accented(glyphs[at].r, g.r), true
		for k := i + 1; k < at; k++ { // what pdfium made between them
			dropped[k] = true
		}
		before, after := i-1, max(i, at-1)+1
		for before > 0 && isMadeSpace(glyphs[before]) {
			before--
		}
		for after+1 < len(glyphs) && isMadeSpace(glyphs[after]) {
			after++
		}
		if before >= 0 && after < len(glyphs) && glyphs[after].left-glyphs[before].right < 0.2*g.size { // no space without the mark
			for k := before + 1; k < after; k++ {
				dropped[k] = true
			}
		}
	}
	if len(dropped) == 0 {
		return glyphs
	}
	out := glyphs[:0]
	for i, g := range glyphs {
		if !dropped[i] {
			out = append(out, g)
		}
	}
	return out
}

func isMadeSpace(g glyph) bool { return g.made && g.r == ' ' }

// underMark returns the index of the letter over or under which the mark at i is drawn: the next one, else one
// before it; -1 if there is none.
func underMark(glyphs []glyph, i int) int {
	mark := glyphs[i]
	if accents[mark.r] == 0 || mark.size == 0 {
		return -1
	}
	fits := func(at int) bool {
		g := glyphs[at]
		rise := mark.base - g.base
		return g.size > 0 && g.turn == mark.turn && abs(g.left+g.right-mark.left-mark.right) < 0.4*g.size && rise > -0.15*g.size && rise < 0.4*g.size && accented(g.r, mark.r) != 0
	}
	next := i + 1
	for next < len(glyphs) && glyphs[next].made {
		next++
	}
	if next < len(glyphs) && fits(next) {
		return next
	}
	for at := i - 1; at >= max(0, i-nearAccent); at-- {
		if fits(at) {
			return at
		}
	}
	return -1
}

// accented returns a letter with a mark; 0 if there is no such character.
func accented(letter, mark rune) rune {
	if !unicode.IsLetter(letter) {
		return 0
	}
	switch letter {
	case 'ı':
		letter = 'i'
	case 'ȷ':
		letter = 'j'
	}
	joined := []rune(norm.NFC.String(string([]rune{letter, accents[mark]})))
	if len(joined) != 1 {
		return 0
	}
	return joined[0]
}

// lettersOf returns letters that stand side by side in the place of g.
func lettersOf(letters string, g glyph) []glyph {
	var out []glyph
	width := (g.right - g.left) / float32(len(letters))
	for i, r := range letters {
		l := g
		l.r, l.left = r, g.left+float32(i)*width
		l.right = l.left + width
		out = append(out, l)
	}
	return out
}

// sameGlyph reports whether b may be a further character of the glyph that a is one of.
func sameGlyph(a, b glyph) bool {
	return b.size > 0 && b.left < b.right && a.left == b.left && a.right == b.right && a.base == b.base
}

// once returns out with the characters from a place on, which have the place of one glyph, as often
// as it has them: some are drawn again there, and some have two of the same letter.
func (n *native) once(out []glyph, from int) []glyph {
	c := out[from:]
	for length := 1; 2*length <= len(c); length++ {
		if len(c)%length == 0 && slices.Equal(c[length:], c[:len(c)-length]) && (length > 1 || !strings.ContainsRune("ftل", c[0].r)) {
			n.twice += len(c) - length
			return out[:from+length]
		}
	}
	return out
}

func finite(f float32) bool { return !math.IsNaN(float64(f)) && math.Abs(float64(f)) < 1e6 }

// drawn remembers which characters were drawn where: the last one of each kind in each
// square of a page, as its index.
type drawn struct{ last map[place]int32 }

type place struct {
	r    rune
	x, y int32
}

const square = 4 // points

// again reports whether the same character as g is already among out at the same place.
// Programs draw text twice to make it bold or to give it a shadow. If not, g is to be the
// next of out.
func (d drawn) again(g glyph, out []glyph) bool {
	if g.size == 0 || g.turn > 0 || unicode.IsSpace(g.r) || g.right <= g.left {
		return false
	}
	near := min(g.size, 24) / 9
	if isRightToLeft(g.r) { // letters are made longer by drawing them side by side
		near = g.size / 50
	}
	for x := squareOf(g.left - near); x <= squareOf(g.left+near); x++ {
		for y := squareOf(g.base - near); y <= squareOf(g.base+near); y++ {
			if i, ok := d.last[place{g.r, x, y}]; ok {
				if o := out[i]; abs(o.left-g.left) < near && abs(o.base-g.base) < near && abs(o.size-g.size) < near {
					return true
				}
			}
		}
	}
	d.last[place{g.r, squareOf(g.left), squareOf(g.base)}] = int32(len(out))
	return false
}

func squareOf(f float32) int32 { return int32(math.Floor(float64(f / square))) }

func abs(f float32) float32 { return float32(math.Abs(float64(f))) }
