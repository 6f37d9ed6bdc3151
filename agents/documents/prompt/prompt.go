// Package prompt builds the requests to models, from the texts of its .md files, earlier
// messages, and what a turn has read. It reads no store and calls no model.
package prompt

import (
	"embed"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
)

//go:embed *.md
var files embed.FS

// text returns an embedded prompt. A test checks that every name in use exists.
func text(name string) string {
	b, err := files.ReadFile(name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

const (
	maxRecent = 2000 // characters of an earlier message in a prompt
	// MaxEarlier is the same in the prompt of an answer.
	MaxEarlier = 8000
	// Characters of an answer that was stopped: its beginning, and its end, where a
	// "continue" goes on.
	maxPartialHead = 300
	maxPartialTail = 900
)

var citationMarker = regexp.MustCompile(`\s?\[\d{1,3}\]`)

// Recent converts earlier messages for a prompt: it shortens them, removes citation
// numbers, which mean other passages now, and replaces an answer that was stopped by
// a note with its beginning and its end. Answers to questions become notes, too: the label
// of a button is not what the person asks for.
func Recent(messages []chat.Message) []llm.Message {
	var out []llm.Message
	for _, m := range messages {
		if said := Message(m, maxRecent); said.Role != "" {
			out = append(out, said)
		}
	}
	return out
}

// Message converts one message as Recent does, with at most the given number of characters
// (most). It has no role when it does not belong in a prompt.
func Message(m chat.Message, most int) llm.Message {
	switch m.Role {
	case string(llm.Assistant):
		answer := citationMarker.ReplaceAllString(m.Content, "")
		if stopped, _ := m.Metadata["interrupted"].(bool); stopped {
			answer = stoppedNote(strings.TrimSpace(answer))
		}
		return llm.Message{Role: llm.Assistant, Text: Shorten(answer, most)}
	case string(llm.User):
		if !m.OpensTurn() {
			return llm.Message{Role: llm.User, Text: "(The answer to a question that you asked: " + Shorten(m.Content, most) + ")"}
		}
		return llm.Message{Role: llm.User, Text: Shorten(m.Content, most)}
	}
	return llm.Message{}
}

// Said converts earlier messages as Recent does, and leaves out answers to questions: what
// remains is what the person asked for in their own words, and what was answered.
func Said(messages []chat.Message) []llm.Message {
	var own []chat.Message
	for _, m := range messages {
		if m.Role != string(llm.User) || m.OpensTurn() {
			own = append(own, m)
		}
	}
	return Recent(own)
}

func stoppedNote(answer string) string {
	if answer == "" {
		return "(This answer was stopped before its first word.)"
	}
	runes := []rune(answer)
	if len(runes) <= maxPartialHead+maxPartialTail {
		return "(This answer was stopped before its end. So far: " + answer + ")"
	}
	return "(This answer was stopped before its end. It began: " + Shorten(answer, maxPartialHead) +
		"\nIt broke off after: … " + strings.TrimSpace(string(runes[len(runes)-maxPartialTail:])) + ")"
}

// Shorten keeps the first n characters, with a mark when more follows.
func Shorten(s string, n int) string {
	if short := language.Truncate(s, n); short != s {
		return strings.TrimSpace(short) + " …"
	}
	return s
}

// conversation returns a prompt of a system message, earlier messages and the new one.
func conversation(system string, recent []chat.Message, message string) []llm.Message {
	return withEarlier(system, Recent(recent), message)
}

func withEarlier(system string, earlier []llm.Message, message string) []llm.Message {
	out := append([]llm.Message{{Role: llm.System, Text: system}}, earlier...)
	return append(out, llm.Message{Role: llm.User, Text: message})
}

// maxSaid is the number of earlier messages that the facts of a request have.
const maxSaid = 6

// answering returns the prompt of an answer, with the recent messages word for word and the
// summary of those before them.
func (m Material) answering(system, message string) []llm.Message {
	var earlier []llm.Message
	for _, x := range m.Recent {
		if said := Message(x, MaxEarlier); said.Role != "" {
			earlier = append(earlier, said)
		}
	}
	return withEarlier(WithSummary(system, m.Summary), earlier, message)
}

// said returns the last messages before the turn, for the facts of a request.
func (m Material) said() []llm.Message {
	return Said(m.Recent[max(0, len(m.Recent)-maxSaid):])
}

// Known lists documents for a model's facts.
func Known(docs []chat.Document) []llm.Document {
	var out []llm.Document
	for _, d := range docs {
		out = append(out, llm.Document{ID: d.ID, Title: d.Title, Public: d.Owner == chat.PublicOwner})
	}
	return out
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil || string(b) == "null" {
		return "[]"
	}
	return string(b)
}
