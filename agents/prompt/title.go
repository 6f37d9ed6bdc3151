package prompt

import (
	_ "embed"
	"strings"

	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
)

//go:embed title.md
var titleInstructions string

const (
	maxTitleTokens = 200 // some models think first
	maxTitled      = 1500
)

// Title asks for the title of a conversation.
func Title(question, answer string) llm.Request {
	return llm.Request{
		Task: llm.TaskTitle,
		Messages: []llm.Message{{Role: llm.System, Text: strings.TrimSpace(titleInstructions)}, {Role: llm.User, Text: "<question>\n" + llm.Data(language.Truncate(question, maxTitled)) +
			"\n</question>\n<answer>\n" + llm.Data(language.Truncate(answer, maxTitled)) + "\n</answer>"}},
		MaxTokens: maxTitleTokens,
	}
}
