package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/workflows"
)

// withRules returns the test's rules with a change.
// A run that follows a version that no build knows would never go on.
func TestSignalOfAnUnknownVersionIsIgnored(t *testing.T) {
	for _, version := range []int{-1, workflows.NewestVersion + 98} {
		p := newHarness(t, clearTurn())
		p.at(0, func() { p.env.SignalWorkflow(workflows.SignalVersion, version) })
		p.submitAt(1, "t1", chat.Supersede)
		p.run()
		require.Equal(t, []string{"t1 completed"}, statuses(p.endings), version)
	}
}

func withRules(change func(*workflows.Rules)) *workflows.Rules {
	r := input.Rules
	change(&r)
	return &r
}

func (p *harness) submitWithRules(turn string, r *workflows.Rules) *reply {
	return p.update(workflows.UpdateSubmit, turn, workflows.SubmitRequest{TurnID: turn, OnBusy: chat.Supersede, Rules: r})
}

// Rule W3.
func TestSettingsOfASubmitApplyToAnOpenThread(t *testing.T) {
	p := newHarness(t, assistantTurn(toolCalls(1, "search")))
	p.at(0, func() { p.submitWithRules("t1", withRules(func(r *workflows.Rules) { r.MaxSteps = 2 })) })
	p.at(1, func() { p.submitWithRules("t2", withRules(func(r *workflows.Rules) { r.MaxSteps = 3 })) })
	p.run()
	require.Equal(t, []string{"t1 completed", "t2 completed"}, statuses(p.endings))
	require.Equal(t, 5, p.calls["Think"])
}

func TestShorterIdleTimeoutOfASubmitCompletesTheThreadSooner(t *testing.T) {
	p := newHarness(t, clearTurn())
	p.submitAt(0, "t1", chat.Supersede)
	p.at(5, func() {
		p.submitWithRules("t2", withRules(func(r *workflows.Rules) { r.IdleTimeout = time.Minute }))
	})
	p.at(7, func() { t.Error("the thread is still open") })
	p.run()
}

// Rule W5.
func TestThreadChangesItsVersionAtContinueAsNew(t *testing.T) {
	another := withRules(func(r *workflows.Rules) { r.Version = 0 })
	t.Run("before the turn that asks for it", func(t *testing.T) {
		p := newHarness(t, clearTurn())
		p.at(0, func() { p.submitWithRules("t1", another) })
		next := p.runUntilContinueAsNew(input)
		require.Empty(t, p.endings)
		require.Equal(t, 0, next.Version)
		require.Equal(t, input.IdleTimeout, next.IdleTimeout)
		p = newHarness(t, clearTurn())
		p.env.ExecuteWorkflow(workflows.ThreadType, next)
		require.NoError(t, p.env.GetWorkflowError())
		require.Equal(t, []string{"t1 completed"}, statuses(p.endings))
	})
	t.Run("while it is idle", func(t *testing.T) {
		p := newHarness(t, clearTurn())
		p.submitAt(0, "t1", chat.Supersede)
		p.at(1, func() { p.env.SignalWorkflow(workflows.SignalVersion, 0) })
		require.Equal(t, 0, p.runUntilContinueAsNew(input).Version)
	})
	t.Run("with its question", func(t *testing.T) {
		s := ambiguousTurn()
		p := newHarness(t, s)
		p.submitAt(0, "t1", chat.Supersede)
		p.at(1, func() { p.env.SignalWorkflow(workflows.SignalVersion, 0) })
		next := p.runUntilContinueAsNew(input)
		require.Equal(t, 0, next.Version)

		p = newHarness(t, s)
		p.at(0, func() {
			require.Equal(t, chat.TurnInterrupted, p.state().Status)
			require.Equal(t, 0, p.state().Version)
			p.resume(answer(chat.ActionChoice, "inquire"))
		})
		p.env.ExecuteWorkflow(workflows.ThreadType, next)
		require.NoError(t, p.env.GetWorkflowError())
		require.Equal(t, []string{"t1 completed"}, statuses(p.endings))
		require.Equal(t, 1, p.calls["InferIntent"], "nothing before the question runs again")
	})
}

// Temporal retries the workflow task until a newer worker takes it. If the panic
// closed the workflow instead, its open turn would be lost.
func TestVersionNewerThanTheBuildDoesNotCloseTheThread(t *testing.T) {
	newer := input
	newer.Version = workflows.NewestVersion + 1
	p := newHarness(t, clearTurn())
	p.env.ExecuteWorkflow(workflows.ThreadType, newer)
	var panicked *temporal.PanicError // the worker's policy for panics is to fail the workflow task only
	require.ErrorAs(t, p.env.GetWorkflowError(), &panicked)
	require.Contains(t, panicked.Error(), "docs/upgrades.md")
}
