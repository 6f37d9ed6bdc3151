package workflows_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/workflows"
)

func TestChangedOwnerHoldsForAnOpenQuestionAndForLaterTurns(t *testing.T) {
	p := newHarness(t, ambiguousTurn())
	p.submitAt(0, "t1", chat.Supersede)
	var changed, again *reply
	p.at(1, func() { changed = p.update(workflows.UpdateOwner, "o1", "account") })
	p.at(2, func() { again = p.update(workflows.UpdateOwner, "o2", "account") })
	p.resumeAt(3, chat.ActionChoice, "summarize")
	p.at(4, func() { require.Equal(t, "account", p.state().Owner) })
	p.submitAt(5, "t2", chat.Supersede)
	p.resumeAt(6, chat.ActionChoice, "summarize")
	p.run()
	require.NoError(t, changed.rejected)
	require.NoError(t, changed.err)
	require.NoError(t, again.rejected)
	require.Equal(t, []string{"t1 completed", "t2 completed"}, statuses(p.endings))
	for _, e := range p.endings {
		require.Equal(t, "account", e.Owner)
	}
}

func TestOwnerIsNotChangedWhileATurnRuns(t *testing.T) {
	s := clearTurn()
	p := newHarness(t, s)
	var early, public, empty *reply
	p.at(0, func() {
		p.submit("t1", chat.Supersede)
		early = p.update(workflows.UpdateOwner, "o1", "account")
		public = p.update(workflows.UpdateOwner, "o2", chat.PublicOwner)
		empty = p.update(workflows.UpdateOwner, "o3", "")
	})
	p.run()
	require.Equal(t, chat.CodeTurnRunning, errType(early.rejected))
	require.Equal(t, chat.CodeValidation, errType(public.rejected))
	require.Equal(t, chat.CodeValidation, errType(empty.rejected))
	require.Equal(t, []string{"t1 completed"}, statuses(p.endings))
	require.NotEqual(t, "account", p.endings[0].Owner)
}

func TestChangedOwnerIsPassedToTheNextRun(t *testing.T) {
	p := newHarness(t, ambiguousTurn())
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() { p.update(workflows.UpdateOwner, "o1", "account") })
	p.at(2, func() { p.env.SignalWorkflow(workflows.SignalVersion, 0) })
	next := p.runUntilContinueAsNew(input)
	require.Equal(t, "account", next.Owner)
	require.Equal(t, "account", next.Carried.Open.Owner)
}

func (p *harness) submitOf(owner, turn string) *reply {
	return p.send(turn, workflows.SubmitRequest{Owner: owner})
}

// A claim that moved only the workflow, or was given up: the rows decide whose thread it is.
// Rule W17.
func TestMessageOfTheOwnerOfTheRowsGivesThemTheThread(t *testing.T) {
	p := newHarness(t, clearTurn())
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() { p.update(workflows.UpdateOwner, "o1", "account") })
	p.at(2, func() { p.submitOf("ann", "t2") })
	p.at(3, func() { require.Equal(t, "ann", p.state().Owner) })
	p.run()
	require.Equal(t, []string{"t1 completed", "t2 completed"}, statuses(p.endings))
	require.Equal(t, "ann", p.endings[1].Owner)
}

func TestMessageOfAnotherOwnerIsRefusedWhileATurnRuns(t *testing.T) {
	p := newHarness(t, clearTurn())
	var refused *reply
	p.at(0, func() {
		p.submit("t1", chat.Supersede)
		refused = p.submitOf("account", "t2")
	})
	p.run()
	require.Equal(t, chat.CodeNotFound, errType(refused.rejected))
	require.Equal(t, []string{"t1 completed"}, statuses(p.endings))
}

// Its owner does not have the conversation any more: while it is idle, the next message of
// the new owner would fail, too.
func TestRunWhoseTurnHasNoRowEndsAtOnce(t *testing.T) {
	s := clearTurn()
	s.onBegin = func(activities.TurnRef) (activities.BeginResult, error) {
		return activities.BeginResult{}, temporal.NewNonRetryableApplicationError("not found", chat.CodeNotFound, nil)
	}
	s.settle = func() error { return temporal.NewNonRetryableApplicationError("not found", chat.CodeNotFound, nil) }
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	began := p.env.Now()
	p.run()
	require.Less(t, p.env.Now().Sub(began), input.IdleTimeout)
}
