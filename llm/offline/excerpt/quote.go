package excerpt

import (
	"fmt"
	"strings"
)

// Quote returns a sentence in quotation marks, with its citation marker when it is from a
// passage. A sentence that has curly marks gets straight ones around it. A sentence with both
// kinds is cut at its marks, and the longest part is quoted.
func Quote(s Excerpt) string {
	text := Verbatim(s.Text)
	opening, closing := "“", "”"
	switch curly, straight := strings.ContainsAny(text, "“”„"), strings.Contains(text, `"`); {
	case curly && straight:
		text = Longest(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("“”„\"", r) }))
	case curly:
		opening, closing = `"`, `"`
	}
	q := opening + text + closing
	if s.Marker > 0 {
		q += fmt.Sprintf(" [%d]", s.Marker)
	}
	if s.Columns != "" {
		q += " (columns: " + PlainTitle(strings.Trim(Verbatim(s.Columns), "| ")) + ")"
	}
	return q
}

// Longest returns the longest part, without white space around it.
func Longest(parts []string) string {
	best := ""
	for _, p := range parts {
		if p = strings.TrimSpace(p); len(p) > len(best) {
			best = p
		}
	}
	return best
}

// PlainTitle returns a document's title as plain text in Markdown.
func PlainTitle(title string) string {
	title = strings.Join(strings.Fields(strings.NewReplacer("[", "(", "]", ")", "*", "", "|", "/", "_", " ", "`", "", "“", "", "”", "", "„", "", `"`, "").Replace(title)), " ")
	if title == "" {
		return "Untitled"
	}
	return title
}

// List lists names in a sentence: "a, b and c". Each stands between marks.
func List(mark string, names []string) string {
	last := len(names) - 1
	out := mark + names[last] + mark
	if last > 0 {
		out = mark + strings.Join(names[:last], mark+", "+mark) + mark + " and " + out
	}
	return out
}

// Count returns a number with its noun in the right number: "2 rules".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
