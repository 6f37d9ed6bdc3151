// Package discovery has the agent that talks about a discovery board.
package discovery

import (
	"slices"

	"github.com/palaver-chat/palaver/boards/board"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/workflows"
)

// Agent talks about a discovery board and proposes changes to it. A proposal is not an
// interrupt: it stays with the board, and the turn goes on.
var Agent = workflows.Agent{
	AgentInfo: chat.AgentInfo{
		Name:        chat.AgentDiscovery,
		Label:       "Discovery board",
		Description: "Answers about a discovery board and proposes changes to it",
		OnBoards:    true,
		Tools:       func(name string) bool { return slices.Contains(board.AgentTools, name) },
	},
	Answer: answer,
	Model: workflows.ModelCall{
		Activity: acts.Discuss,
		Summary:  "Discuss the board",
		Status:   func(int) chat.Node { return chat.NodeModel },
	},
}

// maxWrongRounds is the number of rounds with a rejected proposal that ends the turn. The
// person reads in the proposals why they were rejected.
const maxWrongRounds = 2

func answer(t *workflows.Turn) error {
	for wrong := 0; ; {
		r, err := t.Round()
		if err != nil || r.Answered {
			return err
		}
		if slices.ContainsFunc(r.Calls, func(c workflows.ToolCall) bool { return c.Failed }) {
			wrong++
		}
		if wrong == maxWrongRounds {
			return t.End(chat.NoticeWrongProposal)
		}
	}
}
