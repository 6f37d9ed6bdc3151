package offline

import (
	"strings"

	"github.com/palaver-chat/palaver/agents/documents/intent"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/llm/offline/excerpt"
)

// summarize picks the most central sentences of each document, in its order, by headings.
func summarize(f llm.Facts) string {
	found := bySource(f.Passages)
	if len(found) == 0 {
		return "There is nothing to summarize: no readable passage was found."
	}
	each := max(3, 9/len(found))
	var b strings.Builder
	if intent.NeedsModel(intent.Instruction(f.Message)) && f.Action == chat.Summarize {
		b.WriteString("Without a language model I cannot reword a text: these are its central sentences.\n\n")
	}
	for _, x := range found {
		picked := excerpt.Gather(x.passages, nil).Central(each)
		if len(picked) == 0 {
			continue
		}
		b.WriteString("**" + x.title + "**\n\n")
		last := ""
		for _, s := range picked {
			b.WriteString("- ")
			if h := excerpt.PlainTitle(language.WithoutClauseNumber(s.Heading)); s.Heading != "" && h != last {
				b.WriteString("**" + h + "**: ")
				last = h
			}
			b.WriteString(excerpt.Quote(s) + "\n")
		}
		b.WriteString("\n")
	}
	if b.Len() == 0 {
		return "There is nothing to summarize: the documents hold no whole sentence."
	}
	return b.String()
}
