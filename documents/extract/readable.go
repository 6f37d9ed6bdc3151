package extract

import (
	"strings"
	"unicode"
)

// Before the text of a page stands pictureMark if it is mostly a picture, and lostMark if the
// fonts of most of its text do not say which characters they draw.
const (
	pictureMark = "\x01"
	lostMark    = "\x03"
)

const (
	stampLetters = 20   // a scanned page with at most so many letters and digits has only a stamp or a number
	largePicture = 0.3  // of the area of a page
	fullPicture  = 0.8  // the same, of a page with running lines
	margin       = 0.09 // of its height: where these stand
	manyPaths    = 40   // drawings of a page whose text is drawn, too
	shortPage    = 400  // letters and digits
	manyLost     = 100  // texts without a size; spaces have none
	maxObjects   = 5000 // of a page that are looked at
)

// pdfium's kinds of objects on a page.
const (
	objectText  = 1
	objectPath  = 2
	objectImage = 3
	objectForm  = 5
)

// missing returns the mark of a page whose text is not the given one with that many letters and
// digits, of which inner do not stand at its upper or lower edge: the page may be a picture, or
// pdfium does not read most of what is written on it. Otherwise it returns "".
func (n *native) missing(page uint64, letters, inner int) string {
	if letters > shortPage {
		return ""
	}
	width, height := n.float("FPDF_GetPageWidthF", page), n.float("FPDF_GetPageHeightF", page)
	paths, texts, lost, area := 0, 0, 0, float32(0)
	for i := range uint64(min(max(n.number("FPDFPage_CountObjects", page), 0), maxObjects)) {
		object, err := n.call("FPDFPage_GetObject", page, i)
		if err != nil || object == 0 {
			continue
		}
		kind, at := n.number("FPDFPageObj_GetType", object), uint64(n.scratch)
		if kind == objectPath {
			paths++
			continue
		}
		if n.number("FPDFPageObj_GetBounds", object, at, at+4, at+8, at+12) == 0 {
			continue
		}
		w, h := abs(n.f32(2)-n.f32(0)), abs(n.f32(3)-n.f32(1))
		switch kind {
		case objectText:
			if texts++; w < 0.1 && h < 0.1 && !n.isEmbedded(object) {
				lost++
			}
		case objectImage, objectForm:
			area += w * h
		}
	}
	part, isLost := area/(width*height), lost > manyLost && 4*lost > 3*texts
	switch {
	case isLost && part > largePicture, inner <= stampLetters && part > fullPicture, letters <= stampLetters && part > largePicture, letters == 0 && (area > 0 || paths >= manyPaths):
		return pictureMark
	case isLost:
		return lostMark
	}
	return ""
}

// isEmbedded reports whether the font of a text is in the file.
func (n *native) isEmbedded(text uint64) bool {
	font, err := n.call("FPDFTextObj_GetFont", text)
	return err != nil || n.number("FPDFFont_GetIsEmbedded", font) != 0
}

// innerLetters counts the letters and digits of a page that stand below its header and above its
// footer, or have no place.
func (n *native) innerLetters(page uint64, glyphs []glyph) int {
	height, count := n.float("FPDF_GetPageHeightF", page), 0
	for _, g := range glyphs {
		atEdge := g.size > 0 && g.turn == 0 && (g.base < margin*height || g.base > (1-margin)*height)
		if !atEdge && (unicode.IsLetter(g.r) || unicode.IsNumber(g.r)) {
			count++
		}
	}
	return count
}

func countLetters(s string) int {
	n := 0
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			n++
		}
	}
	return n
}

// isGarbled reports whether a text of a page is noise because its fonts do not say which
// characters they draw: the characters are those of another encoding, or none, or letters
// that make no words, or of several scripts in a word.
func isGarbled(text string) bool {
	letters, latin1, unknown := 0, 0, 0
	pairs, mixed := 0, 0 // letters beside each other
	last := ' '
	for _, r := range text {
		if unicode.IsLetter(r) && unicode.IsLetter(last) {
			if pairs++; !sameScript(last, r) {
				mixed++
			}
		}
		last = r
		switch {
		case unicode.Is(unicode.Co, r), r == unicode.ReplacementChar, unicode.IsControl(r) && !unicode.IsSpace(r) && r > 1:
			unknown++
		case r >= 0xA1 && r <= 0xFF:
			latin1++
		case unicode.IsLetter(r), unicode.IsNumber(r):
			letters++
		}
	}
	switch all := letters + latin1 + unknown; {
	case all < 20:
		return false
	case 2*unknown > all, 2*latin1 > all, 2*mixed > pairs, isGlyphNumbers(text):
		return true
	}
	words, inWords, vowels := 0, 0, 0
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if len(w) < 4 || len(w) > 30 || strings.ContainsFunc(w, func(r rune) bool { return r > unicode.MaxASCII }) {
			continue
		}
		if w == strings.ToUpper(w) {
			continue // codes and abbreviations
		}
		words++
		inWords += len(w)
		for _, r := range w {
			if strings.ContainsRune("aeiouAEIOU", r) {
				vowels++
			}
		}
	}
	// In the languages that are written in these letters, a third to a half are vowels.
	return words >= 8 && 100*vowels < 22*inWords
}

// glyphNumber is how much lower the numbers of the letters are in most TrueType fonts than in ASCII.
const glyphNumber = 29

// isGlyphNumbers reports whether a text has the numbers of glyphs in place of its characters:
// "9ROXPH" is "Volume". Capitals stand for small letters, and more vowels are among the letters
// that they stand for than among them.
func isGlyphNumbers(text string) bool {
	small, letters, vowels, own := 0, 0, 0, 0
	for _, r := range text {
		switch meant := r + glyphNumber; {
		case r >= 'a' && r <= 'z':
			small++
		case meant >= 'a' && meant <= 'z':
			letters++
			if strings.ContainsRune("aeiou", meant) {
				vowels++
			}
			if strings.ContainsRune("EIOU", r) { // A stands for no letter
				own++
			}
		}
	}
	return letters >= 60 && 4*small < letters && 100*vowels > 28*letters && 2*vowels > 3*own
}

func sameScript(a, b rune) bool {
	if a < 0x250 && b < 0x250 { // Latin
		return true
	}
	script := scriptOf(a)
	return script == scriptOf(b) && (script != "" || a>>8 == b>>8)
}
