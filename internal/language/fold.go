package language

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// composed returns a text in the Unicode form NFKC with the digits of all scripts as 0 to 9. A
// superscript or subscript digit stays apart from the number before it: 10⁶ is not 106.
func composed(text string) string {
	if isASCII(text) {
		return text
	}
	if strings.ContainsFunc(text, isRaised) {
		text = apart(text)
	}
	text = norm.NFKC.String(text)
	return strings.Map(func(r rune) rune {
		switch {
		case r < utf8.RuneSelf:
			return r
		case r == '٫':
			return '.'
		case r == '٬':
			return ','
		case unicode.Is(unicode.Nd, r):
			return digit(r)
		}
		return r
	}, text)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// isRaised reports whether NFKC makes a plain digit or a fraction of a character that stands
// next to a number without being part of it.
func isRaised(r rune) bool {
	return r == '²' || r == '³' || r == '¹' || r >= '⁰' && r <= '₉' || r >= '¼' && r <= '¾' || r >= '⅐' && r <= '⅞'
}

// apart puts a space before raised digits and fractions that follow a digit.
func apart(text string) string {
	var b strings.Builder
	var last rune
	for _, r := range text {
		if isRaised(r) && unicode.IsDigit(last) && !isRaised(last) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}

// digit returns the ASCII digit for a decimal digit of any script.
func digit(r rune) rune {
	for _, d := range unicode.Nd.R16 {
		if rune(d.Lo) <= r && r <= rune(d.Hi) {
			return '0' + (r-rune(d.Lo))%10
		}
	}
	for _, d := range unicode.Nd.R32 {
		if rune(d.Lo) <= r && r <= rune(d.Hi) {
			return '0' + (r-rune(d.Lo))%10
		}
	}
	return r
}

// Fold returns a lower-case word without what people leave out or write in another way:
// accents, the marks of Hebrew and Arabic, forms of the same letter. Vowel signs of other
// scripts stay.
func Fold(w string) string {
	if isASCII(w) {
		return w
	}
	var b strings.Builder
	b.Grow(len(w))
	for _, r := range norm.NFD.String(w) {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
		} else if plain, ok := plainLetters[r]; ok {
			b.WriteString(plain)
		} else if !isAccent(r) {
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}

// plainLetters are letters that Unicode does not decompose, and what takes their place.
var plainLetters = map[rune]string{
	'ß': "ss", 'ẞ': "ss", 'ł': "l", 'ø': "o", 'đ': "d", 'ð': "d", 'þ': "th", 'æ': "ae", 'œ': "oe", 'ı': "i", 'ħ': "h", 'ŧ': "t", 'ŋ': "n", 'ĸ': "k",
	'ς': "σ",
	'ٱ': "ا", 'ى': "ي", 'ی': "ي", 'ے': "ي", 'ک': "ك", 'ة': "ه", 'ۀ': "ه", 'ہ': "ه", 'ھ': "ه", 'ء': "", 'ـ': "",
}

// isAccent reports whether a mark may be left out in writing.
func isAccent(r rune) bool {
	switch {
	case r < 0x300:
		return false
	case r < 0x370, r >= 0x591 && r <= 0x5c7, r >= 0x610 && r <= 0x61a, r >= 0x64b && r <= 0x65f, r == 0x670, r >= 0x6d6 && r <= 0x6ed,
		r >= 0x8d3 && r <= 0x8ff, r >= 0x1ab0 && r <= 0x1aff, r >= 0x1dc0 && r <= 0x1dff, r >= 0x20d0 && r <= 0x20ff, r >= 0xfe20 && r <= 0xfe2f:
		return unicode.Is(unicode.Mn, r)
	}
	return false
}

// spelledOut are letters that people without them on the keyboard write as two.
var spelledOut = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ø", "oe", "å", "aa")

// unspelled takes back what spelledOut does, and more.
var unspelled = strings.NewReplacer("ae", "a", "oe", "o", "ue", "u", "aa", "a")

// withSpelledOut has the languages whose documents are found by ue for ü, and by oe for ø. In
// the others these letters are frequent, and people leave out the marks.
var withSpelledOut = NewSet("de en nl fr da no lb")

// lower returns a word in lower case, by the rules of its language.
func lower(w, lang string) string {
	if isASCII(w) && lang != "tr" {
		return strings.ToLower(w)
	}
	if lang == "tr" {
		return strings.ToLowerSpecial(unicode.TurkishCase, w)
	}
	return strings.ToLower(strings.ReplaceAll(w, "İ", "i"))
}
