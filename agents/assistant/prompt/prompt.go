// Package prompt has the prompt of the assistant.
package prompt

import (
	"cmp"
	_ "embed"
	"time"

	"github.com/palaver-chat/palaver/agents/prompt"
	"github.com/palaver-chat/palaver/llm"
)

//go:embed assistant.md
var instructions string

// Assistant returns the system message of the assistant, or of an agent with instructions of
// its own.
func Assistant(own, summary string, today time.Time) llm.Message {
	return prompt.System(cmp.Or(own, instructions), summary, today)
}
