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
