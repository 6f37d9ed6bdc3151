package offline

import (
	"slices"
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
	words := contentOf(intent.Instruction(f.Message))
	if len(words) < 3 {
		for _, d := range f.Documents {
			words = append(words, contentOf(d.Title)...)
		}
	}
	if intent.AsksForNews(f.Message) {
		words = append(words, "latest")
	}
	words = slices.Concat(words, contentOf(f.Industry), contentOf(f.Location))
	if len(words) == 0 {
		words = strings.Fields(f.Message)
	}
	return llm.WebQuery{Query: language.Truncate(strings.Join(language.Distinct(words), " "), longest)}
}

// contentOf returns the words of a text, as written, that say what to search for.
func contentOf(text string) []string {
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '\'' })
	return slices.DeleteFunc(words, func(w string) bool { return len(language.ContentWords(w)) == 0 || asking[strings.ToLower(w)] })
}
