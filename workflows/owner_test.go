package workflows_test

import (
	"testing"

	"github.com/stretchr/testify/require"

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
