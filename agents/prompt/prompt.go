// Package prompt has what the requests of all agents to models share: earlier messages, tool
// calls with their results, the summary of older messages, titles, and rules of conduct.
package prompt

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/cite"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
)

const (
	// MaxAnswerTokens limits the length of one answer.
	MaxAnswerTokens = 4096
	// MaxRecent limits an earlier message in a prompt, in characters.
	MaxRecent = 2000
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
		if said := Message(m, MaxRecent); said.Role != "" {
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

// Conversation returns a prompt of a system message, earlier messages and the new one.
func Conversation(system string, earlier []llm.Message, message string) []llm.Message {
	out := append([]llm.Message{{Role: llm.System, Text: system}}, earlier...)
	return append(out, llm.Message{Role: llm.User, Text: message})
}

// Known lists documents for a model's facts.
func Known(docs []chat.Document) []llm.Document {
	var out []llm.Document
	for _, d := range docs {
		names := d.OtherNames
		if d.Name != "" {
			names = append([]string{d.Name}, names...)
		}
		out = append(out, llm.Document{ID: d.ID, Title: d.Title, Label: d.Label, Names: names, Format: d.Format, Status: string(d.Status), Added: d.CreatedAt, Public: d.Owner == chat.PublicOwner, Imported: d.SourceURL != ""})
	}
	return out
}

// Numbered returns a passage with its number in the prompt, and as a source of citations.
func Numbered(n int, h chat.Hit) (cite.Source, llm.Passage) {
	return cite.Source{N: n, DocID: h.DocID, ChunkID: h.ID, Title: h.Title, Heading: h.Heading, Text: h.Text, Start: h.Start, Pages: h.Pages},
		llm.Passage{N: n, DocID: h.DocID, Title: h.Title, Heading: h.Heading, Text: h.Text, Score: h.Score}
}

// maxPromptNames is the number of names of a document in a prompt, besides its title.
const maxPromptNames = 6

// TitlesJSON returns a list of documents as JSON. In it a title can neither end its line nor
// open or close a tag.
func TitlesJSON(known []llm.Document) string {
	type entry struct {
		ID    string   `json:"id"`
		Title string   `json:"title"`
		Names []string `json:"other_names,omitempty"`
	}
	entries := make([]entry, 0, len(known))
	for _, d := range known {
		e := entry{ID: d.ID, Title: chat.OneLine(cmp.Or(d.Label, d.Title))}
		for _, n := range d.Names[:min(len(d.Names), maxPromptNames)] {
			e.Names = append(e.Names, chat.OneLine(n))
		}
		entries = append(entries, e)
	}
	return JSON(entries)
}

// JSON returns a value as JSON. A nil list is an empty one.
func JSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil || string(b) == "null" {
		return "[]"
	}
	return string(b)
}
