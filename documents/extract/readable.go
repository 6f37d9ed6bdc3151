package extract

import (
	"strings"
	"unicode"
)

// pictureMark stands before the text of a page that is mostly a picture.
const pictureMark = "\x01"

const (
	stampLetters = 20   // a scanned page with at most so many letters and digits has only a stamp or a number
	largePicture = 0.3  // of the area of a page
	manyPaths    = 40   // drawings of a page whose text is drawn, too
	maxObjects   = 5000 // of a page that are looked at
)

// pdfium's kinds of objects on a page.
const (
	objectPath  = 2
	objectImage = 3
	objectForm  = 5
)

// isPicture reports whether a page with the given number of letters and digits has a picture
// that may be its text.
func (n *native) isPicture(page uint64, letters int) bool {
	if letters > stampLetters {
		return false
	}
	width, height := n.float("FPDF_GetPageWidthF", page), n.float("FPDF_GetPageHeightF", page)
	paths, area := 0, float32(0)
	for i := range uint64(min(max(n.number("FPDFPage_CountObjects", page), 0), maxObjects)) {
		object, err := n.call("FPDFPage_GetObject", page, i)
		if err != nil || object == 0 {
			continue
		}
		switch n.number("FPDFPageObj_GetType", object) {
		case objectPath:
			paths++
		case objectImage, objectForm:
			at := uint64(n.scratch)
			if n.number("FPDFPageObj_GetBounds", object, at, at+4, at+8, at+12) == 1 {
				area += abs(n.f32(2)-n.f32(0)) * abs(n.f32(3)-n.f32(1))
			}
		}
	}
	return area > largePicture*width*height || letters == 0 && (area > 0 || paths >= manyPaths)
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
// that make no words.
func isGarbled(text string) bool {
	letters, latin1, unknown := 0, 0, 0
	for _, r := range text {
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
	case 2*unknown > all, 2*latin1 > all:
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
