package retrieval

import (
	"strings"

	"github.com/palaver-chat/palaver/documents/sentence"
	"github.com/palaver-chat/palaver/internal/language"
)

// maxLabel is the number of words of the longest label of a clause.
const maxLabel = 3

// labelledSentence is a sentence with the label of its clause, such as "Light" in
// "3. Light. Paper is shown in the dark."; "" without one.
type labelledSentence struct {
	sentence.Span
	label string
}

// labelled cuts a text into sentences with their labels. A clause ends where the next item
// of a list begins.
func labelled(text string) []labelledSentence {
	var out []labelledSentence
	runes, end, label := []rune(text), 0, ""
	for _, s := range sentence.Sentences(text) {
		words := strings.TrimSpace(language.WithoutClauseNumber(s.Text))
		begins := strings.TrimSpace(string(runes[min(end, s.Start):s.Start])) != "" || words != strings.TrimSpace(s.Text)
		switch {
		case begins && len(language.Words(words)) <= maxLabel:
			label = words
		case begins:
			label = ""
		}
		out = append(out, labelledSentence{s, label})
		end = s.End
	}
	return out
}
