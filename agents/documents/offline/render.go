package offline

import (
	"cmp"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/agents/excerpt"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
)

// cell returns a quote that fits into a table's cell. It is on one line and cut at bars,
// because an escaped bar would not be verbatim.
func cell(s excerpt.Excerpt) string {
	s.Text, s.Columns = excerpt.Longest(strings.Split(s.Text, "|")), ""
	return escape(excerpt.Quote(s))
}

func escape(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}

// subject says in a few words what a sentence is about: its heading, else its first words.
func subject(s excerpt.Excerpt) string {
	if s.Heading != "" {
		r := []rune(excerpt.PlainTitle(language.WithoutClauseNumber(s.Heading)))
		return strings.TrimSpace(string(r[:min(len(r), 60)]))
	}
	const most, longest = 5, 40 // words and characters
	var out []string
	for _, w := range strings.Fields(language.WithoutClauseNumber(s.Text)) {
		if len(out) == most || language.HasNumber(w) {
			break
		}
		out = append(out, w)
	}
	for len(out) > 0 && len(language.ContentWords(out[len(out)-1])) == 0 {
		out = out[:len(out)-1]
	}
	r := []rune(excerpt.PlainTitle(strings.Join(out, " ")))
	return cmp.Or(strings.TrimRight(string(r[:min(len(r), longest)]), " .,;:"), "–")
}

// source is a document or web page with its passages.
type source struct {
	id, title string
	passages  []llm.Passage
}

// bySource returns the sources of passages in order of first appearance.
func bySource(passages []llm.Passage) []source {
	var out []source
	for _, p := range passages {
		i := slices.IndexFunc(out, func(s source) bool { return s.id == sourceID(p) })
		if i < 0 {
			i = len(out)
			out = append(out, source{id: sourceID(p), title: excerpt.PlainTitle(p.Title)})
		}
		out[i].passages = append(out[i].passages, p)
	}
	return out
}

// sourceID returns a passage's document, or the address of a web result.
func sourceID(p llm.Passage) string { return cmp.Or(p.DocID, p.URL) }
