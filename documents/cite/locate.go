package cite

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ignored matches what may stand between the letters of a quoted text: emphasis and
// invisible characters.
const ignored = `[*\x{ad}\x{200b}]*`

// Locate finds the place of a quotation in a text, in characters. As with the quotations
// of an answer, white space, the style of quotation marks and dashes, emphasis, the case
// of the first letter and punctuation around it do not matter.
func Locate(text, quoted string) (start, end int, found bool) {
	q := strings.TrimFunc(normal(quoted), func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(`.,;:!?…"'`, r)
	})
	if q == "" {
		return 0, 0, false
	}
	re, err := regexp.Compile(pattern(q))
	if err != nil { // too long
		return 0, 0, false
	}
	for from := 0; ; {
		m := re.FindStringIndex(text[from:])
		if m == nil {
			return 0, 0, false
		}
		i, j := from+m[0], from+m[1]
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[j:])
		first, n := utf8.DecodeRuneInString(text[i:])
		last, _ := utf8.DecodeLastRuneInString(text[:j])
		if !(inWord(before) && inWord(first)) && !(inWord(after) && inWord(last)) {
			start = utf8.RuneCountInString(text[:i])
			return start, start + utf8.RuneCountInString(text[i:j]), true
		}
		from = i + n
	}
}

// pattern returns a regular expression that matches every text whose normal form is q. The
// case of the first letter does not matter.
func pattern(q string) string {
	var b strings.Builder
	for i, r := range q {
		if i > 0 {
			b.WriteString(ignored)
		}
		switch {
		case r == ' ':
			b.WriteString(`\s+`)
		case r == '"' || r == '\'' || r == '-':
			b.WriteString(`[` + alike[r] + `]`)
		case i == 0:
			b.WriteString(`(?i:` + regexp.QuoteMeta(string(r)) + `)`)
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	return b.String()
}

// alike maps a normal mark to all marks that normal replaces with it, as the content of a
// character class.
var alike = func() map[rune]string {
	out := map[rune]string{}
	for _, r := range []rune{'"', '\'', '-'} {
		out[r] = regexp.QuoteMeta(string(r))
	}
	out['-'] = `\-`
	for mark, r := range sameMarks {
		out[r] += string(mark)
	}
	return out
}()
