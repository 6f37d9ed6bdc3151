package cite

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// quotable holds the texts that an answer may quote, each in every form that a quotation
// of it may have.
type quotable []string

func newQuotable(sources []Source, allowed []string) quotable {
	var h quotable
	for _, t := range joined(sources) {
		h.add(t)
	}
	for _, s := range sources {
		h.add(s.Title)
	}
	for _, t := range allowed {
		h.add(t)
	}
	return h
}

func (h *quotable) add(text string) {
	n := normal(text)
	if n == "" {
		return
	}
	*h = append(*h, n)
	if bare := normal(withoutMarkers(text)); bare != n {
		*h = append(*h, bare)
	}
	// A word that is hyphenated at a line's end is quoted whole, with or without its hyphen.
	if strings.Contains(n, "- ") {
		*h = append(*h, strings.ReplaceAll(n, "- ", "-"), strings.ReplaceAll(n, "- ", ""))
	}
}

// joined returns the texts of the sources. Passages that follow each other in a document
// become one text, because a quotation may span them.
func joined(sources []Source) []string {
	sorted := slices.Clone(sources)
	slices.SortStableFunc(sorted, func(a, b Source) int {
		if c := strings.Compare(a.DocID, b.DocID); c != 0 {
			return c
		}
		return a.Start - b.Start
	})
	var out []string
	end, doc := 0, ""
	for i, s := range sorted {
		const gap = 8 // white space between passages, in characters
		if i > 0 && s.DocID != "" && s.DocID == doc && s.Start >= end && s.Start-end <= gap {
			out[len(out)-1] += "\n" + s.Text
		} else {
			out = append(out, s.Text)
		}
		end, doc = s.Start+utf8.RuneCountInString(s.Text), s.DocID
	}
	return out
}

// has reports whether quoted is verbatim in a text. It ignores white space, the style
// of quotation marks and dashes, emphasis, the case of the first letter, and
// punctuation around it.
func (h quotable) has(quoted string) bool {
	q := strings.TrimFunc(normal(quoted), func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(`.,;:!?…"'`, r)
	})
	if q == "" {
		return false
	}
	first, n := utf8.DecodeRuneInString(q)
	forms := []string{q}
	for _, r := range []rune{unicode.ToLower(first), unicode.ToUpper(first)} {
		if r != first {
			forms = append(forms, string(r)+q[n:])
		}
	}
	for _, text := range h {
		for _, form := range forms {
			if containsWords(text, form) {
				return true
			}
		}
	}
	return false
}

// containsWords reports whether s is in text and does not begin or end within a
// word there.
func containsWords(text, s string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], s)
		if i < 0 {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(s):])
		first, n := utf8.DecodeRuneInString(s)
		last, _ := utf8.DecodeLastRuneInString(s)
		if !(inWord(before) && inWord(first)) && !(inWord(after) && inWord(last)) {
			return true
		}
		from = i + n
	}
}

var sameMarks = map[rune]rune{
	'“': '"', '”': '"', '„': '"', '«': '"', '»': '"', '‟': '"',
	'‘': '\'', '’': '\'', '‚': '\'', '‛': '\'', '`': '\'',
	'–': '-', '—': '-', '‐': '-', '‑': '-', '−': '-',
}

// normal returns s with single spaces, with one style of quotation marks and dashes, and
// without Markdown's asterisks and invisible characters.
func normal(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	space := false
	for _, r := range s {
		if unicode.IsSpace(r) {
			space = true
			continue
		}
		if r == '*' || r == '\u00ad' || r == '\u200b' {
			continue
		}
		if same, ok := sameMarks[r]; ok {
			r = same
		}
		if space && b.Len() > 0 {
			b.WriteByte(' ')
		}
		space = false
		b.WriteRune(r)
	}
	return b.String()
}
