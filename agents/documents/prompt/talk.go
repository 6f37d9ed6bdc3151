package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/agents/prompt"
	"github.com/palaver-chat/palaver/llm"
)

// maxTitles limits the titles in the prompt for small talk.
const maxTitles = 100

// talk asks for an answer about Palaver itself, or about which documents there are.
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
	var b strings.Builder
	fmt.Fprintf(&b, "<documents total=\"%d\">\n", len(docs))
	for _, d := range docs[:min(len(docs), maxTitles)] {
		about := []string{d.Format, "added on " + d.Added.Format("2 January 2006"), d.Status}
		if d.Public {
			about = append(about, "sample for everyone")
		}
		if d.Imported {
			about = append(about, "imported")
		}
		b.WriteString("- " + llm.Data(strings.Join(strings.Fields(cmp.Or(d.Label, d.Title)), " ")+" ("+strings.Join(about, ", ")+")") + "\n")
	}
	b.WriteString("</documents>\n\n<message>\n" + llm.Data(m.Message) + "\n</message>" + prompt.WishesNote(m.Wishes))
	return llm.Request{
		Task:     llm.TaskTalk,
		Messages: append(m.answering(text("talk.md"), b.String()), m.Calls.Messages...),
		Facts: llm.Facts{
			Message: m.FreeText, Language: m.Language, Recent: m.said(), Action: m.Action, Documents: docs, Used: m.Calls.Used, Now: m.Now,
		},
		MaxTokens: maxTalkTokens,
	}
}

// maxTalkTokens limits the length of an answer to small talk.
const maxTalkTokens = 500
