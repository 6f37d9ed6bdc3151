package offline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
)

// quote returns a sentence in quotation marks, with its citation marker when it is from a
// passage. A sentence that has curly marks gets straight ones around it. A sentence with both
// kinds is cut at its marks, and the longest part is quoted.
func quote(s excerpt) string {
	text := verbatim(s.text)
	opening, closing := "“", "”"
	switch curly, straight := strings.ContainsAny(text, "“”„"), strings.Contains(text, `"`); {
	case curly && straight:
		text = longest(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("“”„\"", r) }))
	case curly:
		opening, closing = `"`, `"`
	}
	q := opening + text + closing
	if s.marker > 0 {
		q += fmt.Sprintf(" [%d]", s.marker)
	}
	return q
}

// cell returns a quote that fits into a table's cell. It is on one line and cut at bars,
// because an escaped bar would not be verbatim.
func cell(s excerpt) string {
	s.text = longest(strings.Split(s.text, "|"))
	return escape(quote(s))
}

func longest(parts []string) string {
	best := ""
	for _, p := range parts {
		if p = strings.TrimSpace(p); len(p) > len(best) {
			best = p
		}
	}
	return best
}

func escape(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}

// subject says in a few words what a sentence is about: its heading, else its rarest words.
func subject(s excerpt, v *vocabulary) string {
	if s.heading != "" {
		r := []rune(plainTitle(language.WithoutClauseNumber(s.heading)))
		return strings.TrimSpace(string(r[:min(len(r), 60)]))
	}
	type word struct {
		text string
		idf  float64
		at   int
	}
	var all []word
	for i, w := range language.ContentWords(s.text) {
		q := v.query(w)
		if len(q) == 1 && len(w) > 3 && !language.HasNumber(w) && !slices.ContainsFunc(all, func(o word) bool { return o.text == w }) {
			all = append(all, word{w, v.idf(q[0].word), i})
		}
	}
	slices.SortStableFunc(all, func(a, b word) int { return cmp.Compare(b.idf, a.idf) })
	all = all[:min(len(all), 3)]
	slices.SortFunc(all, func(a, b word) int { return a.at - b.at })
	var out []string
	for _, w := range all {
		out = append(out, w.text)
	}
	if len(out) == 0 {
		return "–"
	}
	joined := []rune(strings.Join(out, ", "))
	joined[0] = unicode.ToUpper(joined[0])
	return string(joined)
}

// plainTitle returns a document's title as plain text in Markdown.
func plainTitle(title string) string {
	title = strings.Join(strings.Fields(strings.NewReplacer("[", "(", "]", ")", "*", "", "|", "/", "_", " ", "`", "", "“", "", "”", "", "„", "", `"`, "").Replace(title)), " ")
	if title == "" {
		return "Untitled"
	}
	return title
}

// sources returns the passages' documents in order of first appearance, by id or, for
// web results, by address.
func sources(passages []llm.Passage) []string {
	var out []string
	seen := map[string]bool{}
	for _, p := range passages {
		if s := source(p); !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

func source(p llm.Passage) string {
	if p.DocID != "" {
		return p.DocID
	}
	return p.URL
}

// titleOf returns the name of a source.
func titleOf(passages []llm.Passage, id string) string {
	for _, p := range passages {
		if source(p) == id {
			return plainTitle(p.Title)
		}
	}
	return plainTitle("")
}

func passagesOf(passages []llm.Passage, id string) []llm.Passage {
	var out []llm.Passage
	for _, p := range passages {
		if source(p) == id {
			out = append(out, p)
		}
	}
	return out
}
