package offline

import (
	"strings"
	"unicode"

	"github.com/palaver-chat/palaver/agents/documents/intent"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
)

// asking are words that say what to do, not what to search for.
var asking = language.NewSet("summarize summarise summary compare audit check overview please search web online internet look latest recent")

// webQuery makes a search query: the content words of the message, the documents' titles when
// the message says little, then industry and location.
func webQuery(f llm.Facts) llm.WebQuery {
	const longest = 200
	var words []string
	seen := map[string]bool{}
	add := func(text string) {
		for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '\'' }) {
			lower := strings.ToLower(w)
			if len(language.ContentWords(w)) == 0 || asking[lower] || seen[lower] {
				continue
			}
			if n := len(strings.Join(words, " ")) + 1 + len(w); n > longest {
				return
			}
			seen[lower] = true
			words = append(words, w)
		}
	}
	add(intent.Instruction(f.Message))
	if len(words) < 3 {
		for _, d := range f.Documents {
			add(d.Title)
		}
	}
	if intent.AsksForNews(f.Message) {
		add("latest")
		if !seen["latest"] {
			words = append(words, "latest")
		}
	}
	add(f.Industry)
	add(f.Location)
	if len(words) == 0 {
		r := []rune(strings.TrimSpace(f.Message))
		return llm.WebQuery{Query: string(r[:min(len(r), longest)])}
	}
	return llm.WebQuery{Query: strings.Join(words, " ")}
}
