package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
)

// agent runs the agent that the message asked for. Remembered approvals are kept,
// however the turn ends.
func (u *turn) agent(ctx workflow.Context, begun activities.Begun) (ending activities.Ending, err error) {
	u.approved = append(slices.Clone(begun.Approved), u.Remembered...)
	u.noticeNoImages(ctx, begun.NoImages)
	switch begun.Agent {
	case chat.AgentAssistant:
		ending, err = u.assistant(ctx)
	default:
		ending, err = u.documents(ctx, begun)
	}
	ending.Approvals = u.Remembered
	return ending, err
}

// assistant is the agent that loops model → tools → model until it answers.
func (u *turn) assistant(ctx workflow.Context) (activities.Ending, error) {
	_, err := u.runToolLoop(ctx, toolLoop{
		agent:  chat.AgentAssistant,
		status: func(int) chat.Node { return chat.NodeModel },
		model: func(ctx workflow.Context, s activities.Stage) workflow.Future {
			return workflow.ExecuteActivity(u.modelCall(ctx, "Think"), acts.Think, activities.ThinkRequest{TurnRef: u.nextActivityRef(), Stage: s})
		},
	})
	return activities.Ending{}, err
}
