package workflows_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/agents/assistant"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/workflows"
)

func reporting(n int) activities.CallResult {
	var c activities.CallResult
	for range n {
		c.Progress = append(c.Progress, chat.NodeImport)
	}
	return c
}

// The calls run in parallel, and the second one ends first.
func TestReportsOfACallComeBeforeItsResult(t *testing.T) {
	s := assistantTurn(toolCalls(1, "slow", "fast"), finalCall())
	fast := make(chan struct{})
	s.tool = func(_ context.Context, r activities.CallRequest, _ int) (activities.CallResult, error) {
		if r.Name == "fast" {
			defer close(fast)
			return reporting(1), nil
		}
		<-fast
		return reporting(2), nil
	}
	log := runTurn(t, s).Log
	require.Equal(t, []string{
		"turn_started", "status model", "tool_call slow", "tool_call fast", "status tool slow", "status tool fast",
		"status import progress:c1:1 slow", "status import progress:c1:2 slow", "tool_result slow",
		"status import progress:c2:1 fast", "tool_result fast", "status model", "text piece:1",
	}, summary(log))
	require.Equal(t, "c1", log[6].Call.ID)
}

func TestRunningCallIsNamedToFollowersUntilTheLogHasItsReports(t *testing.T) {
	s := assistantTurn(toolCalls(1, "look"), finalCall())
	p := newHarness(t, s)
	var during []string
	begun, release := make(chan struct{}), make(chan struct{})
	s.tool = func(context.Context, activities.CallRequest, int) (activities.CallResult, error) {
		close(begun)
		<-release
		return reporting(1), nil
	}
	p.onceClosed(begun, func() {
		during = p.progress("t1", 0).Reporting
		close(release)
	})
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() { require.Empty(t, p.progress("t1", 0).Reporting) })
	p.run()
	require.Equal(t, []string{"c1"}, during)
}

func TestReportsOfACallThatRunsAgainAreInTheLogOnce(t *testing.T) {
	s := assistantTurn(toolCalls(1, "draw"), finalCall())
	s.tool = func(_ context.Context, _ activities.CallRequest, n int) (activities.CallResult, error) {
		if n == 1 {
			return activities.CallResult{}, temporal.NewNonRetryableApplicationError("", activities.ErrTypeUnknownOutcome, nil)
		}
		return reporting(3), nil
	}
	left := reporting(2)
	left.Unknown = true
	s.storedResult = &left
	e := runTurn(t, s, decide(yes("c1")), decide(yes("c1")))
	require.Equal(t, []string{
		"turn_started", "status model", "tool_call draw", "interrupt approve_tools", "resumed", "status tool draw",
		"status import progress:c1:1 draw", "status import progress:c1:2 draw", "interrupt unknown_outcome", "resumed",
		"status tool draw", "status import progress:c1:3 draw", "tool_result draw", "status model", "text piece:1",
	}, summary(e.Log))
}

// told is a result of an agent's activity that has reported.
type told struct {
	Nodes []chat.Node `json:"nodes"`
}

func (r told) Reported() []chat.Node { return r.Nodes }

func TestReportsOfAnAgentsActivityComeBeforeItsNextStep(t *testing.T) {
	s := assistantTurn(finalCall())
	s.begin.Agent = "reader"
	var during []string
	p := newHarnessOf(t, s, workflows.Agent{
		AgentInfo: chat.AgentInfo{Name: "reader"}, Model: assistant.Model,
		Activities: map[string]any{"read": func(_ context.Context, ref activities.TurnRef, pages int) (told, error) {
			during = append(during, ref.Step)
			return told{[]chat.Node{chat.NodeAgent, chat.NodeAgent}}, nil
		}},
		Answer: func(t *workflows.Turn) error {
			if _, err := workflows.Call[told](t, "Read the pages", "read", 2); err != nil {
				return err
			}
			return t.Status("Writing...")
		},
	})
	p.submitAt(0, "t1", chat.Supersede)
	p.run()
	require.Equal(t, []string{"agent reader.read"}, during)
	require.Equal(t, []string{
		"turn_started", "status agent progress:agent reader.read:1", "status agent progress:agent reader.read:2",
		"status agent", "status model", "text piece:1",
	}, summary(p.endings[0].Log))
}

func newHarnessOf(t *testing.T, s *script, agent workflows.Agent) *harness {
	s.agents = append(s.agents, agent)
	return newHarness(t, s)
}
