package excerpt

import (
	"fmt"
	"strings"

	"github.com/palaver-chat/palaver/documents/tables"
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

// Count returns a number with its noun in the right number: "2 rules".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// RowsLike quotes the first excerpt, and returns the others. If it is a row of a table, it stands
// in a Markdown table below a blank line, with those of the others that have the same header.
func RowsLike(quotes []Excerpt) (text string, rest []Excerpt) {
	first := quotes[0]
	if !first.Row || first.Columns == "" {
		return Quote(first), quotes[1:]
	}
	header := tables.Cells(first.Columns)
	var rows [][]string
	var markers []int
	for _, q := range quotes {
		if !q.Row || q.Columns != first.Columns || q.DocID != first.DocID {
			rest = append(rest, q)
			continue
		}
		cells := tables.Cells(q.Text)
		for len(header) < len(cells) {
			header = append(header, "")
		}
		rows, markers = append(rows, cells), append(markers, q.Marker)
	}
	return "\n\n" + Table(header, rows, markers), rest
}

// Table writes rows as a Markdown table. Each row ends with the citation of its passage, if its
// marker is not 0. The header may have empty cells.
func Table(header []string, rows [][]string, markers []int) string {
	var b strings.Builder
	line := func(cells []string, marker int) {
		b.WriteString("|")
		for i := range header {
			text := ""
			if i < len(cells) {
				text = plainCell(cells[i])
			}
			if i == len(header)-1 && marker > 0 {
				text = strings.TrimSpace(text + fmt.Sprintf(" [%d]", marker))
			}
			b.WriteString(" " + text + " |")
		}
		b.WriteString("\n")
	}
	line(header, 0)
	b.WriteString("|" + strings.Repeat(" --- |", len(header)) + "\n")
	for i, r := range rows {
		line(r, markers[i])
	}
	return b.String()
}

var cellMarks = strings.NewReplacer("|", "\\|", "[", "(", "]", ")", "*", "\\*", "_", "\\_", "`", "\\`", "<", "\\<")

func plainCell(s string) string { return cellMarks.Replace(strings.Join(strings.Fields(s), " ")) }
