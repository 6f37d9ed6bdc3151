package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/board"
)

// discovery talks about a discovery board and proposes changes to it. A proposal is not an
// interrupt: it stays with the board, and the turn goes on.
var discovery = Agent{
	AgentInfo: chat.AgentInfo{
		Name:        chat.AgentDiscovery,
		Label:       "Discovery board",
		Description: "Answers about a discovery board and proposes changes to it",
		OnBoards:    true,
		Tools:       func(name string) bool { return slices.Contains(board.AgentTools, name) },
	},
	Answer: answerOnBoard,
}

// maxWrongRounds is the number of rounds with a rejected proposal that ends the turn. The
// person reads in the proposals why they were rejected.
const maxWrongRounds = 2

func answerOnBoard(ctx workflow.Context, u *turn, _ activities.Begun) (activities.Ending, error) {
	for wrong := 0; ; {
		said, made, err := u.runRound(ctx, u.thinking(nil))
		if err != nil || len(said.Calls) == 0 {
			return activities.Ending{}, err
		}
		if slices.ContainsFunc(made, func(m activities.Made) bool { return m.IsError }) {
			wrong++
		}
		if wrong == maxWrongRounds {
			u.notice(ctx, chat.NoticeWrongProposal)
			return activities.Ending{}, nil
		}
	}
}
