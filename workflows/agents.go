package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
)

// Agent declares an agent: what clients see of it, and how it answers a turn. To add
// one, add a file that declares it, and name it in Agents.
type Agent struct {
	chat.AgentInfo
	// Answer runs the turn until it is answered. It is workflow code: it must replay.
	Answer func(ctx workflow.Context, u *turn, begun activities.Begun) (activities.Ending, error)
}

// Own declares an agent from outside this package. answer decides what happens in a turn;
// when it is nil, the agent runs the assistant's loop.
func Own(info chat.AgentInfo, answer func(*Turn) error) Agent {
	return Agent{AgentInfo: info, Answer: func(ctx workflow.Context, u *turn, begun activities.Begun) (activities.Ending, error) {
		return activities.Ending{}, answerByOwn(ctx, u, begun, answer)
	}}
}

// Agents returns the built-in agents. The first one also runs turns whose agent no longer
// exists.
func Agents() []Agent { return []Agent{documents, assistant, discovery} }

// AgentInfos returns what clients, the page and activities know about agents.
func AgentInfos(agents []Agent) chat.Agents {
	infos := make(chat.Agents, len(agents))
	for i, a := range agents {
		infos[i] = a.AgentInfo
	}
	return infos
}

// runAgent runs the agent that the message asked for. Remembered approvals are kept,
// however the turn ends.
func (u *turn) runAgent(ctx workflow.Context, begun activities.Begun) (ending activities.Ending, err error) {
	u.approved = append(slices.Clone(begun.Approved), u.Remembered...)
	u.noticeNoImages(ctx, begun.NoImages)
	u.agent = u.thread.agentNamed(begun.Agent)
	done, imported, err := u.importFirst(ctx, begun)
	if err == nil && !done {
		ending, err = u.agent.Answer(ctx, u, begun)
	}
	if len(imported) > 0 {
		ending.DocIDs = append(imported, ending.DocIDs...)
	}
	ending.Approvals = u.Remembered
	return ending, err
}

func (t *thread) agentNamed(name chat.Agent) Agent {
	i := slices.IndexFunc(t.agents, func(a Agent) bool { return a.Name == name })
	return t.agents[max(i, 0)]
}
