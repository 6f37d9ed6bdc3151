package openai

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/palaver-chat/palaver/chat"
)

// Task is a request that a client makes for its own use: a title, tags, questions to
// suggest. It is answered without a model and never becomes a turn: a turn would show in
// the person's conversation and count against the person's budget.
type Task struct{ Answer string }

// Beginnings of the prompts of LibreChat (packages/agents, title.ts).
var libreTitles = []string{
	"Provide a concise, 5-word-or-less title for the conversation",
	"Please generate a concise, 5-word-or-less title for the conversation",
	"Please generate a concise title (max 40 characters) for a conversation that starts with",
	"Analyze this conversation and provide:\n1. The detected language of the conversation",
}

// Beginnings of the prompts of Open WebUI (config.py) whose form differs from the rest:
// which of its own tools to call, and an emoji for a spoken answer.
const (
	webUITools = "Available Tools: "
	webUIEmoji = "Your task is to reflect the speaker's likely facial expression through a fitting emoji."
)

var (
	userLine   = regexp.MustCompile(`(?m)^\s*(?i:user|human):\s*(.+)$`)
	outputName = regexp.MustCompile(`"(title|tags|follow_ups|queries|text|prompt)"\s*:`)
)

// findTask recognises the default prompts of Open WebUI and LibreChat. A prompt that an
// administrator has rewritten counts as a message.
func findTask(r Request) *Task {
	if strings.HasPrefix(r.system, webUITools) && strings.Contains(r.system, "Your task is to choose and return the correct tool(s)") {
		return &Task{`{"tool_calls":[]}`}
	}
	if len(r.Earlier) > 0 || r.hasFiles() {
		return nil
	}
	for _, begin := range libreTitles {
		if strings.HasPrefix(r.Text, begin) {
			return &Task{titleOf(r.Text)}
		}
	}
	if strings.HasPrefix(r.Text, webUIEmoji) {
		return &Task{"🙂"}
	}
	if !strings.HasPrefix(r.Text, "### Task:") || !strings.Contains(r.Text, "### Output:") || !strings.Contains(r.Text, "<chat_history>") {
		return nil
	}
	_, output, _ := strings.Cut(r.Text, "### Output:")
	_, history, _ := strings.Cut(r.Text, "<chat_history>")
	kind := outputName.FindStringSubmatch(output)
	if kind == nil { // the prompt for completions names it before the history
		instructions, _, _ := strings.Cut(r.Text, "<chat_history>")
		kind = outputName.FindStringSubmatch(instructions)
	}
	if kind == nil {
		return nil
	}
	answer := map[string]any{}
	switch kind[1] {
	case "title":
		answer["title"] = titleOf(history)
	case "tags":
		answer["tags"] = []string{"General"}
	case "text", "prompt":
		answer[kind[1]] = ""
	default:
		answer[kind[1]] = []string{}
	}
	b, _ := json.Marshal(answer) // cannot fail: only texts and lists
	return &Task{string(b)}
}

// titleOf returns a title like that of our own conversations: the beginning of the person's
// first message.
func titleOf(history string) string {
	if m := userLine.FindStringSubmatch(history); m != nil {
		return chat.TitleFrom(m[1])
	}
	return "New chat"
}
