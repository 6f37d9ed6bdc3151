package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
)

// assistant loops model → tools → model until it answers.
var assistant = Agent{
	AgentInfo: chat.AgentInfo{
		Name:           chat.AgentAssistant,
		Label:          "Assistant with tools",
		Description:    "Searches documents, draws pictures, calls tools",
		AnswersUnsaved: true,
	},
	Answer: answerWithTools,
}

func answerWithTools(ctx workflow.Context, u *turn, _ activities.Begun) (activities.Ending, error) {
	_, err := u.runToolLoop(ctx, u.thinking(nil))
	return activities.Ending{}, err
}

// thinking is the tool loop of the assistant, and of agents like it; asked are the
// agent's own questions so far.
func (u *turn) thinking(asked []activities.Asked) toolLoop {
	return toolLoop{
		status: func(int) chat.Node { return chat.NodeModel },
		model: func(ctx workflow.Context, s activities.Stage) workflow.Future {
			return workflow.ExecuteActivity(u.modelCall(ctx, "Think"), acts.Think, activities.ThinkRequest{TurnRef: u.nextActivityRef(), Stage: s, Asked: asked})
		},
	}
}
