// Package assistant has the agent that alternates between a model and its tools until it has
// an answer. Agents of other programs use its model call.
package assistant

import (
	"github.com/palaver-chat/palaver/agents/plan"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/workflows"
)

// Agent loops model → tools → model until it answers.
var Agent = workflows.Agent{
	AgentInfo: chat.AgentInfo{
		Name:           chat.AgentAssistant,
		Label:          "Assistant with tools",
		Description:    "Searches documents, draws pictures, calls tools",
		AnswersUnsaved: true,
	},
	Answer: answer,
	Model:  Model,
}

func answer(t *workflows.Turn) error {
	if err := plan.Show(t); err != nil {
		return err
	}
	return t.Answer()
}

// Model makes the model calls of the assistant, and of agents like it.
var Model = workflows.ModelCall{
	Activity: acts.Think,
	Summary:  "Ask the model",
	Status:   func(int) chat.Node { return chat.NodeModel },
}

// Custom declares an agent of another program. answer decides what happens in a turn; when it
// is nil, the agent runs the assistant's loop.
func Custom(info chat.AgentInfo, answer func(*workflows.Turn) error) workflows.Agent {
	return workflows.Agent{AgentInfo: info, Answer: answer, Model: Model}
}
