package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/agents/assistant"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/tools"
	"github.com/palaver-chat/palaver/workflows"
)

// customTurn is a turn of a custom agent, whose model calls return thoughts.
func customTurn(answer func(*workflows.Turn) error, thoughts ...activities.ModelResult) *script {
	s := assistantTurn(thoughts...)
	s.begin.Agent = "custom"
	s.checked = []string{"known"}
	check := func(context.Context, chat.Said) (string, error) { return "", nil }
	s.agents = []workflows.Agent{assistant.Custom(chat.AgentInfo{Name: "custom", Version: 2, Checks: map[string]chat.Check{"order": check}}, answer)}
	return s
}

// askUntilKnown asks for an order until the check knows it.
func askUntilKnown(t *workflows.Turn) error {
	for {
		word, err := t.Check("order")
		if err != nil {
			return err
		}
		if word == "known" {
			break
		}
		if err := t.Ask("order", "Which order?"); err != nil {
			return err
		}
	}
	if err := t.Status("Looking..."); err != nil {
		return err
	}
	return t.Answer()
}

func TestCustomAgentAsksThenAnswersByTheAssistantsLoop(t *testing.T) {
	s := customTurn(askUntilKnown, toolCalls(1, "search"), finalCall())
	s.checked = []string{"missing", "missing", "known"}
	e := runTurn(t, s, answer(chat.TextInput, "the blue one"), answer(chat.TextInput, "A-1"))
	require.Equal(t, []string{
		"turn_started", "interrupt own", "resumed", "interrupt own", "resumed", "status agent",
		"status model", "tool_call search", "status tool search", "tool_result search", "status model", "text piece:1",
	}, summary(e.Log))
	require.Equal(t, chat.TurnCompleted, e.Status)
	require.Equal(t, "Which order?", e.Log[1].Question.Message("", "").Text)
	require.Equal(t, "Looking...", e.Log[5].StatusMessage("").Text)
	require.Empty(t, s.checks[0].Asked)
	require.Len(t, s.checks[2].Asked, 2)
	require.Len(t, s.thinks[0].Asked, 2)
	require.Equal(t, "Which order?", s.thinks[0].Asked[1].Question)
	require.Equal(t, "A-1", s.thinks[0].Asked[1].Value.Whole(s.texts).Text())
}

func TestCustomAgentReturnsTheChoiceAndAnswersInRounds(t *testing.T) {
	var chosen string
	var rounds []workflows.Round
	s := customTurn(func(t *workflows.Turn) (err error) {
		chosen, err = t.Choose("how", "How fast?", workflows.Choice{ID: "today", Label: "Today"}, workflows.Choice{ID: "later", Label: "Some day"})
		for err == nil {
			var r workflows.Round
			if r, err = t.Round(); r.Answered {
				break
			}
			rounds = append(rounds, r)
		}
		if err == nil {
			err = t.Notice("It was done.")
		}
		return err
	}, toolCalls(1, "search", "list!"), finalCall())
	e := runTurn(t, s, answer(chat.Choice, "later"))
	require.Equal(t, "later", chosen)
	require.Equal(t, []workflows.Round{{Calls: []workflows.ToolCall{{Tool: "search"}, {Tool: "list", Failed: true}}}}, rounds)
	require.Equal(t, "Some day", e.Log[1].Question.OptionLabel("later", "").Text)
	require.Equal(t, "Some day", s.thinks[0].Asked[0].Label)
	require.Equal(t, "notice agent", summary(e.Log)[len(e.Log)-1])
	require.Equal(t, 2, s.calls["Think"])
}

// Otherwise what continue-as-new carries is larger than Temporal permits.
func TestLogOfManyLongQuestionsIsMovedToTheDatabase(t *testing.T) {
	const questions = 24
	s := customTurn(func(t *workflows.Turn) (err error) {
		var choices []workflows.Choice
		for i := range 20 {
			choices = append(choices, workflows.Choice{ID: fmt.Sprint("c", i), Label: strings.Repeat("\u6f22", 200)})
		}
		for range questions {
			if _, err := t.Choose("which", "Which one?", choices...); err != nil {
				return err
			}
		}
		return t.Answer()
	}, finalCall())
	var answers []chat.ResumeValue
	for range questions {
		answers = append(answers, answer(chat.Choice, "c1"))
	}
	e := runTurn(t, s, answers...)
	require.Equal(t, chat.TurnCompleted, e.Status)
	require.Equal(t, 1, s.calls["KeepLog"])
	require.Less(t, len(e.Log), questions)
}

func TestCustomAgentWithoutCodeIsTheAssistantsLoop(t *testing.T) {
	for name, s := range map[string]*script{
		"no code":          customTurn(nil, toolCalls(1, "search"), finalCall()),
		"code that forgot": customTurn(func(*workflows.Turn) error { return nil }, toolCalls(1, "search"), finalCall()),
	} {
		t.Run(name, func(t *testing.T) {
			e := runTurn(t, s)
			require.Equal(t, chat.TurnCompleted, e.Status)
			require.Equal(t, "text piece:1", summary(e.Log)[len(e.Log)-1])
		})
	}
}

func TestCustomAgentGoesOnInTheNextRunWithoutRepeatingAStep(t *testing.T) {
	rounds := func(t *workflows.Turn) error {
		_ = t.Status("Beginning...")
		_, _ = t.Check("order")
		_, _ = t.Round()
		_ = t.Notice("One round is done.")
		return askUntilKnown(t)
	}
	s := customTurn(rounds, toolCalls(1, "search"), toolCalls(2, "list"), finalCall())
	s.checked = []string{"known", "missing", "known"}
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() { p.env.SetContinueAsNewSuggested(true) })
	p.at(2, func() { p.env.SignalWorkflow(workflows.SignalCancel, chat.Cancel{TurnID: "t9"}) }) // any event wakes the workflow
	carried := p.runUntilContinueAsNew(input)
	require.Equal(t, "Which order?", carried.Carried.Open.Pending.Text)
	require.Equal(t, 1, s.calls["Think"])

	next := newHarness(t, s)
	next.at(1, func() { next.resume(answer(chat.TextInput, "A-1")) })
	next.env.ExecuteWorkflow(workflows.ThreadType, carried)
	require.NoError(t, next.env.GetWorkflowError())
	require.Equal(t, []string{"t1 completed"}, statuses(next.endings))
	require.Equal(t, []string{
		"turn_started", "status agent", "status model", "tool_call search", "status tool search", "tool_result search", "notice agent",
		"interrupt own", "resumed", "status agent", "status model", "tool_call list", "status tool list", "tool_result list", "status model", "text piece:1",
	}, summary(next.endings[0].Log))
	require.Equal(t, []string{"search", "list"}, s.called)
	require.Equal(t, 3, s.calls["Check"])
}

func TestStopEndsACustomAgentWhateverItReturns(t *testing.T) {
	went := false
	s := customTurn(func(t *workflows.Turn) error {
		_ = t.Ask("order", "Which order?")
		_, _ = t.Check("order")
		went = t.Answer() == nil
		return nil
	}, finalCall())
	e := runTurn(t, s, answer(chat.CancelResume, ""))
	require.Equal(t, chat.TurnCancelled, e.Status)
	require.False(t, went)
	require.Zero(t, s.calls["Check"]+s.calls["Think"])
}

func TestCustomAgentIsBoundedLikeEveryOther(t *testing.T) {
	s := customTurn(func(t *workflows.Turn) error {
		for {
			if _, err := t.Round(); err != nil {
				return err
			}
		}
	}, toolCalls(1, "search"))
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	bounded := input
	bounded.MaxSteps = 3
	p.env.ExecuteWorkflow(workflows.ThreadType, bounded)
	require.NoError(t, p.env.GetWorkflowError())
	require.Equal(t, []string{"t1 failed/step_limit"}, statuses(p.endings))
	require.Equal(t, 3, s.calls["Think"])
}

func TestQuestionThatIsNeverAnsweredWellEndsTheTurn(t *testing.T) {
	s := customTurn(askUntilKnown)
	s.checked = []string{"missing"}
	var answers []chat.ResumeValue
	for range 25 {
		answers = append(answers, answer(chat.TextInput, "no"))
	}
	e := runTurn(t, s, answers...)
	require.Equal(t, chat.CodeStepLimit, e.Code)
}

func TestCustomAgentThatBreaksARuleFailsItsTurn(t *testing.T) {
	two := []workflows.Choice{{ID: "a", Label: "A"}, {ID: "b", Label: "B"}}
	for name, answer := range map[string]func(*workflows.Turn) error{
		"an error of its own":   func(*workflows.Turn) error { return errors.New("broken") },
		"an unknown check":      func(t *workflows.Turn) error { _, err := t.Check("weather"); return err },
		"a name with a space":   func(t *workflows.Turn) error { return t.Ask("the order", "Which?") },
		"no question":           func(t *workflows.Turn) error { return t.Ask("order", "") },
		"a long question":       func(t *workflows.Turn) error { return t.Ask("order", strings.Repeat("x", 1001)) },
		"a long status":         func(t *workflows.Turn) error { return t.Status(strings.Repeat("x", 201)) },
		"one choice":            func(t *workflows.Turn) error { _, err := t.Choose("how", "How?", two[0]); return err },
		"two choices of one id": func(t *workflows.Turn) error { _, err := t.Choose("how", "How?", two[0], two[0]); return err },
		"a choice without label": func(t *workflows.Turn) error {
			_, err := t.Choose("how", "How?", two[0], workflows.Choice{ID: "c"})
			return err
		},
		"an error that it ignores": func(t *workflows.Turn) error { _ = t.Status(""); return t.Answer() },
	} {
		t.Run(name, func(t *testing.T) {
			e := runTurn(t, customTurn(answer, finalCall()))
			require.Equal(t, chat.TurnFailed, e.Status)
			require.Equal(t, chat.CodeInternal, e.Code)
		})
	}
}

func TestTurnKeepsTheVersionOfItsAgentThatItBeganWith(t *testing.T) {
	var version int
	s := customTurn(func(t *workflows.Turn) error { version = t.Version(); return t.Answer() }, finalCall())
	s.begin.AgentVersion = 1
	runTurn(t, s)
	require.Equal(t, 1, version)
}

func TestTurnOfANewerVersionOfItsAgentWaitsForANewerRelease(t *testing.T) {
	s := customTurn(nil, finalCall())
	s.begin.AgentVersion = 3
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	p.env.ExecuteWorkflow(workflows.ThreadType, input)
	require.ErrorContains(t, p.env.GetWorkflowError(), "run the newer release")
	require.Zero(t, s.calls["Think"])
}

func TestRequestedCallWithAnUnknownOutcomeIsAskedAbout(t *testing.T) {
	for verdict, d := range map[string]chat.Decision{"again": yes("c1"), "not again": no("c1")} {
		t.Run(verdict, func(t *testing.T) {
			s := customTurn(func(t *workflows.Turn) error {
				call := activities.RequestedCall{CallRef: chat.CallRef{ID: "c1", Name: "draw"}, Approval: tools.Never, SideEffects: true}
				if err := t.CallTool(call); err != nil {
					return err
				}
				return t.Answer()
			}, finalCall())
			s.tool = func(_ context.Context, _ activities.CallRequest, n int) (activities.CallResult, error) {
				if n == 1 {
					return activities.CallResult{}, temporal.NewNonRetryableApplicationError("", activities.ErrTypeUnknownOutcome, nil)
				}
				return activities.CallResult{}, nil
			}
			e := runTurn(t, s, decide(d))
			want := []string{"turn_started", "tool_call draw", "status tool draw", "interrupt unknown_outcome", "resumed"}
			if verdict == "again" {
				want = append(want, "status tool draw", "tool_result draw")
			} else {
				want = append(want, "tool_result error draw")
			}
			require.Equal(t, append(want, "status model", "text piece:1"), summary(e.Log))
			require.Equal(t, chat.TurnCompleted, e.Status)
		})
	}
}
