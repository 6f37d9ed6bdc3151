package activities

import (
	"embed"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
)

//go:embed prompts/*.md
var promptFiles embed.FS

// promptText is an embedded prompt. A test checks that every name in use exists.
func promptText(name string) string {
	b, err := promptFiles.ReadFile("prompts/" + name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

const (
	maxRecent  = 2000 // characters of an earlier message in a prompt
	maxPartial = 300  // characters of an answer that was stopped
)

var citationMarker = regexp.MustCompile(`\s?\[\d{1,3}\]`)

// asPrompt converts earlier messages for a prompt: it shortens them, removes citation
// numbers, which mean other passages now, and replaces an answer that was stopped by
// a note with its beginning.
func asPrompt(recent []chat.Message) []llm.Message {
	var out []llm.Message
	for _, m := range recent {
		if said := asMessage(m, maxRecent); said.Role != "" {
			out = append(out, said)
		}
	}
	return out
}

// asMessage converts one message; it has no role when it does not belong in a prompt.
func asMessage(m chat.Message, most int) llm.Message {
	role, text := llm.User, m.Content
	switch m.Role {
	case string(llm.Assistant):
		role, text = llm.Assistant, citationMarker.ReplaceAllString(text, "")
		if stopped, _ := m.Metadata["interrupted"].(bool); stopped {
			if text = strings.TrimSpace(text); text == "" {
				text = "(This answer was stopped before its first word.)"
			} else {
				text = "(This answer was stopped before its end. It began: " + shorten(text, maxPartial) + ")"
			}
		}
	case string(llm.User):
	default:
		return llm.Message{}
	}
	return llm.Message{Role: role, Text: shorten(text, most)}
}

func shorten(s string, n int) string {
	if short := truncate(s, n); short != s {
		return strings.TrimSpace(short) + " …"
	}
	return s
}

// conversation is a prompt of a system message, earlier messages and the new one.
func conversation(system string, recent []chat.Message, message string) []llm.Message {
	out := append([]llm.Message{{Role: llm.System, Text: system}}, asPrompt(recent)...)
	return append(out, llm.Message{Role: llm.User, Text: message})
}

// docsPrompt asks the model which documents a message is about.
func docsPrompt(action chat.Action, res resolution, recent []chat.Message) llm.Request {
	known := make([]llm.Document, 0, len(res.known))
	for _, d := range res.known {
		known = append(known, llm.Document{ID: d.ID, Title: d.Title})
	}
	var system strings.Builder
	system.WriteString(promptText("docs.md"))
	system.WriteString("\n\nKnown documents: " + knownJSON(known))
	system.WriteString("\nTagged already: " + asJSON(res.tags.ids()))
	switch action {
	case chat.Compare:
		system.WriteString("\nThe person wants to compare: two documents or more are expected.")
	case chat.Audit:
		system.WriteString("\nThe person wants an audit: a document with rules is expected, and a text to check against it that may be a document, too.")
	case chat.Summarize:
		system.WriteString("\nThe person wants a summary: one document or more is expected.")
	case chat.Inquire:
		system.WriteString("\nThe person asks a question: no document needs to be meant.")
	}
	return llm.Request{
		Task:     llm.TaskDocs,
		Messages: conversation(system.String(), recent, res.message),
		Facts: llm.Facts{
			Message:   res.tags.textWithoutTags(res.message),
			Recent:    asPrompt(recent),
			Action:    action,
			Documents: known,
			Explicit:  res.tags.ids(),
		},
		MaxTokens: 800,
	}
}

func knownJSON(known []llm.Document) string {
	type entry struct {
		ID    string `json:"id"`
		Title string `json:"title"`
	}
	entries := make([]entry, 0, len(known))
	for _, d := range known {
		entries = append(entries, entry(d))
	}
	return asJSON(entries)
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil || string(b) == "null" {
		return "[]"
	}
	return string(b)
}

// answerPrompt asks the model for the answer.
func answerPrompt(m material) llm.Request {
	var user strings.Builder
	for _, p := range m.passages {
		user.WriteString(p.Block())
	}
	if len(m.passages) == 0 {
		user.WriteString("(No passages were found.)\n")
	}
	if m.action == chat.Audit {
		user.WriteString("\n<text_under_audit" + llm.Attribute("title", m.subjectTitle) + ">\n")
		if len(m.subject) > 0 {
			for _, p := range m.subject {
				user.WriteString(p.Block())
			}
		} else {
			user.WriteString(llm.Data(m.audited) + "\n")
		}
		user.WriteString("</text_under_audit>\n")
	}
	user.WriteString("\n<question>\n" + llm.Data(m.message) + "\n</question>")

	asked := m.freeText
	if m.action == chat.Audit {
		asked = m.audited
	}
	system := promptText(string(m.action)+".md") + "\n\n" + promptText("rules.md")
	if len(m.offered) > 0 {
		system += "\n\n" + promptText("tools.md")
	}
	messages := conversation(system, m.recent, user.String())
	messages[len(messages)-1].Images = m.images
	return llm.Request{
		Task:     llm.TaskFor(m.action),
		Messages: append(messages, m.before.messages...),
		Facts: llm.Facts{
			Message:    asked,
			Recent:     asPrompt(m.recent),
			Action:     m.action,
			Documents:  m.documents,
			Passages:   slices.Clone(m.passages),
			WebAllowed: m.web,
			Used:       m.before.used,
			Images:     len(m.attachments),
		},
		MaxTokens: maxAnswerTokens,
	}
}
