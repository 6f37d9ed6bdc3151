package prompt

import (
	"slices"
	"strings"
	"time"

	"github.com/palaver-chat/palaver/agents/documents/mention"
	"github.com/palaver-chat/palaver/agents/prompt"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/tiptap"
	"github.com/palaver-chat/palaver/llm"
)

// Intent asks the model what a message asks for.
func Intent(c chat.Content, mentions tiptap.Content, recent []chat.Message) llm.Request {
	return llm.Request{
		Task:     llm.TaskIntent,
		Messages: prompt.Conversation(text("intent.md"), prompt.Recent(recent), c.Message),
		Facts: llm.Facts{
			Message:  language.ReplaceNames(c.Message, mentions.Labels(), " "),
			Recent:   prompt.Said(recent),
			Explicit: append(slices.Clone(c.TaggedDocs), mentions.IDs(tiptap.Document)...),
		},
		MaxTokens: 400,
	}
}

// expected says which documents an action needs.
var expected = map[chat.Action]string{
	chat.Compare:   "\nThe person wants to compare: two documents or more are expected.",
	chat.Audit:     "\nThe person wants an audit: a document with rules is expected, and a text to check against it that may be a document, too.",
	chat.Summarize: "\nThe person wants a summary: one document or more is expected.",
	chat.Inquire:   "\nThe person asks a question: no document needs to be meant.",
}

// Documents asks the model which documents a message is about.
func Documents(action chat.Action, c *mention.Candidates, recent []chat.Message) llm.Request {
	known := c.Known
	system := text("docs.md") + "\n\nToday is " + c.Now.Format("2 January 2006") + ".\n<known_documents>\n" + prompt.TitlesJSON(known) + "\n</known_documents>\nTagged already: " + prompt.JSON(c.Tags.IDs()) + expected[action]
	return llm.Request{
		Task:     llm.TaskDocs,
		Messages: prompt.Conversation(system, prompt.Recent(recent), c.Message),
		Facts: llm.Facts{
			Message:   c.Tags.TextWithout(c.Message),
			Recent:    prompt.Said(recent),
			Action:    action,
			Documents: known,
			Explicit:  c.Tags.IDs(),
		},
		MaxTokens: 800,
	}
}

// WebQuery asks the model for a search query.
func WebQuery(c chat.Content, docs []chat.Document, p chat.Profile, today time.Time) llm.Request {
	var user strings.Builder
	user.WriteString("Message: " + prompt.Shorten(c.Message, prompt.MaxRecent))
	for _, d := range docs {
		user.WriteString("\nDocument: " + prompt.JSON(chat.OneLine(d.Title)))
	}
	if p.Industry != "" {
		user.WriteString("\nIndustry: " + chat.OneLine(p.Industry))
	}
	if p.Location != "" {
		user.WriteString("\nLocation: " + chat.OneLine(p.Location))
	}
	user.WriteString("\nToday: " + today.Format("2 January 2006"))
	return llm.Request{
		Task:     llm.TaskWebQuery,
		Messages: prompt.Conversation(text("web_query.md"), nil, user.String()),
		Facts: llm.Facts{
			Message: c.Message, Action: c.Action, Documents: prompt.Known(docs),
			Industry: p.Industry, Location: p.Location, WebAllowed: true,
		},
		MaxTokens: 200,
	}
}
