package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

// struck marks text that is struck through, as Markdown does.
const struck = "~~"

var (
	raised  = scripts("0123456789+-=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ")
	lowered = scripts("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎")
)

func scripts(plain, small string) map[rune]rune {
	out := map[rune]rune{'−': []rune(small)[11], '–': []rune(small)[11]}
	for i, r := range []rune(small) {
		out[rune(plain[i])] = r
	}
	return out
}

// inScript writes text with the characters of a map; ok is false if one is missing.
func inScript(text string, script map[rune]rune) (out string, ok bool) {
	var b strings.Builder
	for _, r := range text {
		small, found := script[r]
		if !found {
			return "", false
		}
		b.WriteRune(small)
	}
	return b.String(), b.Len() > 0
}

// noteNumbers matches the numbers of several notes: "1, 2".
var noteNumbers = lazyregexp.New(`^\d{1,3}(?: ?[,;] ?\d{1,3})+$`)

// superscript keeps raised text apart from the text before it: "10⁶", "x^(2k)". Ordinals
// ("1st"), marks ("™") and notes in brackets ("[1]") stay as they are.
func superscript(text string) string {
	trimmed := strings.TrimSpace(text)
	if noteNumbers.MatchString(trimmed) {
		joined := strings.ReplaceAll(trimmed, " ", "")
		text, trimmed = strings.Replace(text, trimmed, joined, 1), joined
	}
	if out, ok := inScript(trimmed, raised); ok {
		return strings.Replace(text, trimmed, out, 1)
	}
	digits := strings.ContainsFunc(trimmed, unicode.IsDigit)
	switch letters := utf8.RuneCountInString(trimmed); {
	case trimmed == "" || strings.ContainsAny(trimmed, "[] ^"):
		return text
	case letters == 1 && unicode.IsLetter([]rune(trimmed)[0]):
		return strings.Replace(text, trimmed, "^"+trimmed, 1)
	case digits && letters <= 12:
		return strings.Replace(text, trimmed, "^("+trimmed+")", 1)
	}
	return text
}

// subscript writes lowered digits as such: "H₂O". Other text stays as it is.
func subscript(text string) string {
	trimmed := strings.TrimSpace(text)
	if out, ok := inScript(trimmed, lowered); ok {
		return strings.Replace(text, trimmed, out, 1)
	}
	return text
}

// strike marks text as struck through, apart from the white space around it.
func strike(text string) string {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return text
	}
	return strings.Replace(text, trimmed, struck+trimmed+struck, 1)
}

// fraction writes a numerator over a denominator in one line.
func fraction(over, under string) string { return bracketed(over) + "/" + bracketed(under) }

// bracketed puts an expression of several parts in brackets.
func bracketed(s string) string {
	s = strings.TrimSpace(s)
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.' && r != ',' }) {
		return "(" + s + ")"
	}
	return s
}

// power writes an exponent or an index after its base: a³, a^(n+1), a_k.
func power(s, mark string) string {
	s = strings.TrimSpace(s)
	script := raised
	if mark == "_" {
		script = lowered
	}
	if out, ok := inScript(s, script); ok {
		return out
	}
	if s == "" {
		return ""
	}
	return mark + bracketed(s)
}

// maxRepeated is the length in bytes of the longest text of a merged cell that is repeated in
// each place that it covers.
const maxRepeated = 200

// mergedText returns the text of a merged cell for a further place that it covers.
func mergedText(s string) string {
	if len(s) > maxRepeated {
		return ""
	}
	return s
}

// onlyOnce returns the cells of a row that one merged cell fills as that one cell.
func onlyOnce(cells []string, own int) []string {
	if own == 1 && len(cells) > 1 {
		return cells[:1]
	}
	return cells
}
