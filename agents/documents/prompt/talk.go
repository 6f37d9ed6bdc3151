package prompt

import (
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/llm"
)

// maxTitles limits the titles in the prompt for small talk.
const maxTitles = 30

// talk asks for an answer about Palaver itself, with the titles of the person's documents.
func talk(m Material) llm.Request {
	docs := slices.Clone(m.Documents)
	slices.SortStableFunc(docs, func(a, b llm.Document) int { // the person's own first
		switch {
		case a.Public == b.Public:
			return 0
		case b.Public:
			return -1
		}
		return 1
	})
	docs = docs[:min(len(docs), maxTitles)]
	var b strings.Builder
	b.WriteString("<documents>\n")
	for _, d := range docs {
		b.WriteString("- " + llm.Data(strings.Join(strings.Fields(d.Title), " ")) + "\n")
	}
	b.WriteString("</documents>\n\n<message>\n" + llm.Data(m.Message) + "\n</message>")
	return llm.Request{
		Task:     llm.TaskTalk,
		Messages: append(m.answering(text("talk.md"), b.String()), m.Calls.Messages...),
		Facts: llm.Facts{
			Message: m.FreeText, Recent: m.said(), Action: m.Action, Documents: docs, Used: m.Calls.Used,
		},
		MaxTokens: maxTalkTokens,
	}
}

// maxTalkTokens limits the length of an answer to small talk.
const maxTalkTokens = 500
