package workflows_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/workflows"
)

// boardTurn is a turn about a board whose proposals are rejected.
func boardTurn(thoughts ...activities.ModelResult) *script {
	s := assistantTurn(thoughts...)
	s.begin.Agent = chat.AgentDiscovery
	s.tool = func(context.Context, activities.CallRequest, int) (activities.CallResult, error) {
		return activities.CallResult{IsError: true}, nil
	}
	return s
}

func TestTwoRoundsWithARejectedProposalEndTheTurn(t *testing.T) {
	e := runTurn(t, boardTurn(toolCalls(1, "propose"), toolCalls(2, "propose"), finalCall()))
	require.Equal(t, []string{
		"turn_started", "status model", "tool_call propose", "status tool propose", "tool_result error propose",
		"status model", "tool_call propose", "status tool propose", "tool_result error propose", "notice " + chat.NoticeWrongProposal,
	}, summary(e.Log))
	require.Equal(t, chat.TurnCompleted, e.Status)
}

// A turn runs in the next run from its first line: it must count the rounds before, too.
func TestRejectedProposalCountsInTheNextRun(t *testing.T) {
	s := boardTurn(toolCalls(1, "propose"), toolCalls(2, "propose"), finalCall())
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	s.tool = func(context.Context, activities.CallRequest, int) (activities.CallResult, error) {
		p.env.SetContinueAsNewSuggested(true) // the thread continues as new before the next round
		return activities.CallResult{IsError: true}, nil
	}
	carried := p.runUntilContinueAsNew(input)
	require.Equal(t, 1, s.calls["Think"])

	s.tool = boardTurn().tool
	next := newHarness(t, s)
	next.env.ExecuteWorkflow(workflows.ThreadType, carried)
	require.NoError(t, next.env.GetWorkflowError())
	require.Equal(t, []string{"t1 completed"}, statuses(next.endings))
	require.Equal(t, 2, s.calls["Think"], "the second rejected round ends the turn")
	log := summary(next.endings[0].Log)
	require.Equal(t, "notice "+chat.NoticeWrongProposal, log[len(log)-1])
}
