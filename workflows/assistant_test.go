package workflows_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/tools"
	"github.com/palaver-chat/palaver/workflows"
)

var oneThought = chat.Usage{TokensIn: 10, TokensOut: 1, Calls: 1}

// says is a model call that ends the answer.
func says() activities.Written { return activities.Written{Chars: 20, Usage: oneThought, Attempt: 1} }

// wants is a model call that wants tools called: "search", free of side effects,
// or "draw", which has some and asks.
func wants(first int, names ...string) activities.Written {
	w := activities.Written{Usage: oneThought, Attempt: 1}
	for i, name := range names {
		name, refused := strings.CutSuffix(name, "!")
		c := activities.Wanted{CallRef: chat.CallRef{ID: fmt.Sprintf("c%d", first+i), Name: name}, Refused: refused}
		if c.Approval = tools.Never; strings.HasPrefix(name, "draw") {
			c.Approval, c.SideEffects, c.Editable = tools.Edit, true, true
		}
		w.Calls = append(w.Calls, c)
	}
	return w
}

// thinking is an assistant's turn whose model calls come to this.
func thinking(thoughts ...activities.Written) *script {
	s := perfect()
	s.begin.Agent = chat.AgentAssistant
	s.thoughts = thoughts
	return s
}

func decide(decisions ...chat.Decision) chat.ResumeValue {
	return chat.ResumeValue{Type: chat.ToolApproval, Decisions: decisions}
}

func yes(id string) chat.Decision { return chat.Decision{ID: id, Decision: chat.Approved} }
func no(id string) chat.Decision {
	return chat.Decision{ID: id, Decision: chat.Rejected, Reason: "not now"}
}

func TestTheAssistantAnswersAtOnceWhenItNeedsNoTool(t *testing.T) {
	e := tell(t, thinking(says()))
	require.Equal(t, []string{"turn_started", "status model", "text piece:1"}, story(e.Log))
	require.Equal(t, oneThought, e.Usage)
	require.Equal(t, chat.TurnCompleted, e.Status)
}

func TestTheAssistantLoopsThroughToolsUntilItAnswers(t *testing.T) {
	first := wants(1, "search")
	first.Chars = 9 // "Let me look."
	s := thinking(first, wants(2, "list", "search!"), says())
	e := tell(t, s)
	require.Equal(t, []string{
		"turn_started", "status model", "text piece:1", "tool_call search", "status tool search", "tool_result search",
		"status model", "tool_call list", "tool_call search", "status tool list", "tool_result list", "tool_result error search",
		"status model", "text piece:2",
	}, story(e.Log))
	require.Equal(t, 3, e.Usage.Calls)
	require.Equal(t, activities.Stage{Piece: 2, Calls: 3, Tried: 1, Round: 2}, s.thinks[2].Stage, "the turn's texts tell what was said and called")
	require.Equal(t, []string{"search", "list"}, s.called, "a call that cannot be made is not made")
}

func TestCallsOfOneMessageRunSideBySideAndEndInOrder(t *testing.T) {
	s := thinking(wants(1, "slow", "fast"), says())
	fast := make(chan struct{})
	s.tool = func(_ context.Context, r activities.CallRequest, _ int) (activities.Called, error) {
		if r.Name == "fast" {
			close(fast)
		} else {
			<-fast // were they not side by side, this would never end
		}
		return activities.Called{Usage: chat.Usage{CostUSD: 1}}, nil
	}
	e := tell(t, s)
	require.Equal(t, []string{
		"turn_started", "status model", "tool_call slow", "tool_call fast", "status tool slow", "status tool fast",
		"tool_result slow", "tool_result fast", "status model", "text piece:1",
	}, story(e.Log))
	require.Equal(t, 2.0, e.Usage.CostUSD, "what tools cost counts")
}

func TestAllCallsThatAskAreShownTogetherAndNoneOfTheirMessageRunsBefore(t *testing.T) {
	s := thinking(wants(1, "draw", "search", "draw2"), says())
	p := newPlay(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() {
		q := p.state().Pending
		require.Equal(t, []chat.CallRef{{ID: "c1", Name: "draw", Editable: true}, {ID: "c3", Name: "draw2", Editable: true}}, q.Calls)
		require.Empty(t, s.called)
		p.resume(decide(yes("c3"), no("c1")))
	})
	p.run()
	require.Equal(t, []string{
		"turn_started", "status model", "tool_call draw", "tool_call search", "tool_call draw2",
		"interrupt approve_tools", "resumed", "status tool search", "status tool draw2",
		"tool_result error draw", "tool_result search", "tool_result draw2", "status model", "text piece:1",
	}, story(p.endings[0].Log))
	require.ElementsMatch(t, []string{"search", "draw2"}, s.called)
	require.Equal(t, decide(yes("c3"), no("c1")), s.decided[0].Value)
}

func TestDecisionsThatDoNotFitTheQuestionChangeNothing(t *testing.T) {
	p := newPlay(t, thinking(wants(1, "draw"), says()))
	p.submitAt(0, "t1", chat.Supersede)
	bad := map[string]*reply{}
	p.at(1, func() {
		for name, v := range map[string]chat.ResumeValue{
			"undecided": decide(), "another call": decide(yes("c9")), "twice": decide(yes("c1"), no("c1")),
			"neither": decide(chat.Decision{ID: "c1", Decision: "maybe"}), "of another kind": answer(chat.TextInput, "yes"),
		} {
			bad[name] = p.resume(v)
		}
	})
	var first, second *reply
	p.at(2, func() {
		require.NotNil(t, p.state().Pending)
		first, second = p.resume(decide(yes("c1"))), p.resume(decide(yes("c1")))
	})
	p.run()
	for name, r := range bad {
		require.Equal(t, chat.CodeBadResume, errType(r.rejected), name)
	}
	require.NoError(t, first.rejected)
	require.Equal(t, chat.CodeNoInterrupt, errType(second.rejected), "each decision is taken once")
	require.Equal(t, 1, p.calls["CallTool c1"])
}

func TestCallRunsUnderTheHashOfTheArgumentsThatWereShownOrPutInTheirPlace(t *testing.T) {
	asks := wants(1, "draw", "draw")
	asks.Calls[0].Hash, asks.Calls[1].Hash = "shown-1", "shown-2"
	s := thinking(asks, says())
	s.hashes = map[string]string{"c2": "edited-2"}
	var got sync.Map
	s.tool = func(_ context.Context, r activities.CallRequest, n int) (activities.Called, error) {
		got.Store(r.ID, r.Hash)
		if r.ID == "c2" && n == 1 {
			return activities.Called{}, temporal.NewNonRetryableApplicationError("", activities.ErrTypeUnknownOutcome, nil)
		}
		return activities.Called{}, nil
	}
	p := newPlay(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() { p.resume(decide(yes("c1"), yes("c2"))) })
	p.at(2, func() {
		require.Equal(t, "edited-2", p.state().Pending.Calls[0].Hash, "asked again about what ran")
		s.hashes = nil
		got.Delete("c2")
		p.resume(decide(yes("c2")))
	})
	p.run()
	for id, want := range map[string]string{"c1": "shown-1", "c2": "edited-2"} {
		hash, _ := got.Load(id)
		require.Equal(t, want, hash, id)
	}
}

func TestARememberedToolAsksNoMoreInLaterRoundsAndLaterTurns(t *testing.T) {
	remember := yes("c1")
	remember.Remember = true
	s := thinking(wants(1, "draw"), wants(2, "draw"), wants(3, "draw2"), says())
	e := tell(t, s, decide(remember), decide(no("c3")))
	require.Equal(t, []string{"draw"}, e.Approvals)
	require.Equal(t, 1, s.calls["CallTool c2"])

	s = thinking(wants(1, "draw"), says())
	s.begin.Approved = []string{"draw"}
	e = tell(t, s)
	require.NotContains(t, story(e.Log), "interrupt approve_tools")
	require.Empty(t, e.Approvals, "what the parent has needs not be said again")
}

func TestWhatIsRememberedStaysSoWhenTheTurnIsStopped(t *testing.T) {
	remember := yes("c1")
	remember.Remember = true
	s := thinking(wants(1, "draw"), wants(2, "draw2"))
	e := tell(t, s, decide(remember), answer(chat.CancelResume, ""))
	require.Equal(t, chat.TurnCancelled, e.Status)
	require.Equal(t, []string{"draw"}, e.Approvals)
}

func TestEditedArgumentsOfASignalAreCheckedAndABadOneLeavesTheQuestionOpen(t *testing.T) {
	edited := yes("c1")
	edited.Arguments = json.RawMessage(`{"prompt":"two cats"}`)
	s := thinking(wants(1, "draw"), says())
	s.misfit = true
	p := newPlay(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() { p.env.SignalWorkflow(workflows.SignalResume, decide(edited)) })
	p.at(2, func() {
		require.Equal(t, chat.InterruptID("t1", 1), p.state().Pending.ID)
		require.Empty(t, s.called)
		s.misfit = false
		p.env.SignalWorkflow(workflows.SignalResume, decide(edited))
	})
	p.run()
	require.Equal(t, []string{
		"turn_started", "status model", "tool_call draw", "interrupt approve_tools", "notice resume_ignored",
		"resumed", "status tool draw", "tool_result draw", "status model", "text piece:1",
	}, story(p.endings[0].Log))
	require.True(t, s.decided[0].Check)
	require.False(t, s.decided[2].Check)
}

func TestAnApprovalWaitsAsLongAsItTakes(t *testing.T) {
	s := thinking(wants(1, "draw"), says())
	p := newPlay(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	p.at(60*24*90, func() { p.resume(decide(yes("c1"))) })
	p.run()
	require.Equal(t, []string{"t1 completed"}, statuses(p.endings))
}

func TestAnApprovalWithATimeLimitEndsAsARejection(t *testing.T) {
	s := thinking(wants(1, "draw"), says())
	p := newPlay(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	limited := input
	limited.ApprovalTimeout = time.Hour
	p.env.ExecuteWorkflow(workflows.ThreadType, limited)
	require.NoError(t, p.env.GetWorkflowError())
	require.Equal(t, []string{"t1 completed"}, statuses(p.endings))
	require.Empty(t, s.called)
	require.Equal(t, activities.NobodyAnswered, s.decided[0].Value.Decisions[0].Reason)
	require.Contains(t, story(p.endings[0].Log), "tool_result error draw")
}

// darkly are the ways in which a call's end stays unknown.
var darkly = map[string]error{
	"its worker fell silent": temporal.NewHeartbeatTimeoutError(),
	"it took for ever":       temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_START_TO_CLOSE, nil),
	"it could not say":       temporal.NewNonRetryableApplicationError("", activities.ErrTypeUnknownOutcome, nil),
	"its worker went away":   temporal.NewApplicationError("", activities.ErrTypeInterrupted),
}

func TestASideEffectWhoseOutcomeIsUnknownIsAskedAboutAndNeverSilentlyRunAgain(t *testing.T) {
	for name, end := range darkly {
		for verdict, d := range map[string]chat.Decision{"again": yes("c1"), "not again": no("c1")} {
			t.Run(name+", "+verdict, func(t *testing.T) {
				s := thinking(wants(1, "draw", "search"), says())
				s.tool = func(_ context.Context, r activities.CallRequest, n int) (activities.Called, error) {
					if r.Name == "draw" && n == 1 {
						return activities.Called{}, end
					}
					return activities.Called{}, nil
				}
				p := newPlay(t, s)
				p.submitAt(0, "t1", chat.Supersede)
				p.at(1, func() { p.resume(decide(yes("c1"))) })
				p.at(2, func() {
					require.Equal(t, 1, s.calls["CallTool c1"])
					q := p.state().Pending
					require.Equal(t, chat.PromptUnknownOutcome, q.Prompt)
					require.Equal(t, []chat.CallRef{{ID: "c1", Name: "draw"}}, q.Calls, "only that one, and its arguments stay")
					p.resume(decide(d))
				})
				p.run()
				want := []string{
					"turn_started", "status model", "tool_call draw", "tool_call search", "interrupt approve_tools", "resumed",
					"status tool draw", "status tool search", "tool_result search", "interrupt unknown_outcome", "resumed",
				}
				if verdict == "again" {
					want = append(want, "status tool draw", "tool_result draw")
				} else {
					want = append(want, "tool_result error draw")
				}
				require.Equal(t, append(want, "status model", "text piece:1"), story(p.endings[0].Log))
				require.Equal(t, map[string]int{"again": 2, "not again": 1}[verdict], s.calls["CallTool c1"])
			})
		}
	}
}

func TestASideEffectThatEndsInTheDarkAgainIsAskedAboutAgain(t *testing.T) {
	s := thinking(wants(1, "draw"), says())
	s.tool = func(context.Context, activities.CallRequest, int) (activities.Called, error) {
		return activities.Called{}, temporal.NewHeartbeatTimeoutError()
	}
	e := tell(t, s, decide(yes("c1")), decide(yes("c1")), decide(no("c1")))
	require.Equal(t, chat.TurnCompleted, e.Status)
	require.Equal(t, 2, s.calls["CallTool c1"])
}

func TestAResultThatStandsAfterAllNeedsNoQuestion(t *testing.T) {
	s := thinking(wants(1, "draw"), says())
	s.stands = &activities.Called{Usage: chat.Usage{CostUSD: 3}}
	s.tool = func(context.Context, activities.CallRequest, int) (activities.Called, error) {
		return activities.Called{}, temporal.NewHeartbeatTimeoutError()
	}
	e := tell(t, s, decide(yes("c1")))
	require.NotContains(t, story(e.Log), "interrupt unknown_outcome")
	require.Equal(t, 1, s.calls["CallTool c1"])
	require.Equal(t, 3.0, e.Usage.CostUSD)
}

func TestACallWhoseWorkerWentAwayBeforeItRanIsMadeWithoutAsking(t *testing.T) {
	s := thinking(wants(1, "draw"), says())
	s.tool = func(_ context.Context, _ activities.CallRequest, n int) (activities.Called, error) {
		if n < 3 {
			return activities.Called{}, temporal.NewNonRetryableApplicationError("", activities.ErrTypeNotRun, nil)
		}
		return activities.Called{}, nil
	}
	e := tell(t, s, decide(yes("c1")))
	require.NotContains(t, story(e.Log), "interrupt unknown_outcome")
	require.Equal(t, 3, s.calls["CallTool c1"])
}

func TestAToolWithoutSideEffectsIsSimplyTriedAgain(t *testing.T) {
	s := thinking(wants(1, "search"), says())
	s.tool = func(_ context.Context, _ activities.CallRequest, n int) (activities.Called, error) {
		if n < 3 {
			return activities.Called{}, temporal.NewHeartbeatTimeoutError()
		}
		return activities.Called{}, nil
	}
	e := tell(t, s)
	require.Equal(t, chat.TurnCompleted, e.Status)
	require.Equal(t, 3, s.calls["CallTool c1"])
}

func TestAStopDuringAToolEndsTheTurnAndItsCall(t *testing.T) {
	s := thinking(wants(1, "draw"), says())
	var ended sync.WaitGroup
	ended.Add(1)
	s.stops = make(chan struct{})
	p := newPlay(t, s)
	s.tool = func(ctx context.Context, _ activities.CallRequest, _ int) (activities.Called, error) {
		defer ended.Done()
		p.env.RegisterDelayedCallback(func() { p.env.SignalWorkflow(workflows.SignalCancel, chat.Cancel{}) }, 0)
		select {
		case <-ctx.Done():
		case <-s.stops:
		}
		return activities.Called{}, temporal.NewNonRetryableApplicationError("", activities.ErrTypeStopped, nil)
	}
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() { p.resume(decide(yes("c1"))) })
	p.run()
	ended.Wait()
	require.Equal(t, []string{"t1 cancelled/user_cancelled"}, statuses(p.endings))
	require.NotContains(t, story(p.endings[0].Log), "interrupt unknown_outcome", "who stops it is not asked")
	require.Equal(t, 1, s.calls["CallTool c1"])
	require.Equal(t, "status tool draw", story(p.endings[0].Log)[len(p.endings[0].Log)-1], "the call stays without a result")
}

func TestASubmitSupersedesAPendingApprovalAndTheCallStaysWithoutAResult(t *testing.T) {
	s := thinking(wants(1, "draw"), says())
	p := newPlay(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	p.submitAt(1, "t2", chat.Supersede)
	p.run()
	require.Equal(t, []string{"t1 cancelled/superseded", "t2 completed"}, statuses(p.endings))
	require.Equal(t, []string{"turn_started", "status model", "tool_call draw", "interrupt approve_tools"}, story(p.endings[0].Log))
	require.Empty(t, s.called)
}

func TestTheStepLimitEndsALoopThatFindsNoEnd(t *testing.T) {
	s := thinking(wants(1, "search"))
	p := newPlay(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	bounded := input
	bounded.MaxSteps = 3
	p.env.ExecuteWorkflow(workflows.ThreadType, bounded)
	require.NoError(t, p.env.GetWorkflowError())
	require.Equal(t, []string{"t1 failed/step_limit"}, statuses(p.endings))
	require.Equal(t, 3, s.calls["Think"])
	require.Equal(t, "tool_result search", story(p.endings[0].Log)[len(p.endings[0].Log)-1], "what came is kept")
}

func TestAnApprovalCrossesContinueAsNewAndNothingBeforeItRunsAgain(t *testing.T) {
	remember := yes("c2")
	remember.Remember = true
	s := thinking(wants(1, "search"), wants(2, "draw"), wants(3, "draw"), says())
	p := newPlay(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() { p.env.SetContinueAsNewSuggested(true) })
	p.at(2, func() { p.env.SignalWorkflow(workflows.SignalCancel, chat.Cancel{TurnID: "t9"}) }) // any event wakes it
	carried := p.runOn(input)
	require.Equal(t, 2, s.calls["Think"])
	require.Equal(t, chat.ToolApproval, carried.Carried.Open.Pending.Type)

	next := newPlay(t, s)
	next.at(1, func() { next.resume(decide(remember)) })
	next.env.ExecuteWorkflow(workflows.ThreadType, carried)
	require.NoError(t, next.env.GetWorkflowError())
	require.Equal(t, []string{"t1 completed"}, statuses(next.endings))
	require.Equal(t, 4, s.calls["Think"])
	require.Equal(t, []string{"search", "draw", "draw"}, s.called)
	require.Equal(t, []string{"draw"}, next.endings[0].Approvals)
	log := next.endings[0].Log
	for i, e := range log {
		require.Equal(t, i+1, e.N)
	}
}

func TestPicturesThatTheModelCannotSeeAreSaidSoOnce(t *testing.T) {
	blind := says()
	blind.NoImages = true
	s := thinking(blind)
	s.begin.NoImages = true
	e := tell(t, s)
	require.Equal(t, []string{"turn_started", "notice images_not_supported", "status model", "text piece:1"}, story(e.Log))

	e = tell(t, thinking(blind))
	require.Equal(t, []string{"turn_started", "status model", "notice images_not_supported", "text piece:1"}, story(e.Log))
}

func TestTheDocumentsAgentCallsToolsInsideItsActionByTheSameLoop(t *testing.T) {
	s := perfect()
	s.write = func(_ context.Context, n int) (activities.Written, error) {
		if n == 1 {
			return wants(1, "search"), nil
		}
		return activities.Written{Chars: 10, Citations: 1, Attempt: 1}, nil
	}
	e := tell(t, s)
	require.Equal(t, []string{
		"turn_started", "status intent_resolver", "status doc_resolver", "status doc_resolver docs",
		"status validate_inputs", "status inquire", "tool_call search", "status tool search", "tool_result search",
		"status model", "text piece:1", "status format_response",
	}, story(e.Log))
	require.Equal(t, chat.High, e.Retrieval)
}

// A turn of a thousand steps: what its thread carries must stay small, and its
// history must not grow without end.
func TestTurnOfAThousandStepsContinuesAsNewOnItsWayAndCarriesLittle(t *testing.T) {
	const steps = 1000
	s := thinking()
	for n := range steps - 1 {
		w := wants(n+1, "search")
		w.Chars = n % 2
		s.thoughts = append(s.thoughts, w)
	}
	s.thoughts = append(s.thoughts, says())
	in := input
	in.ContinueAfter, in.TurnDeadline = 1500, time.Hour
	runs, largest := 0, 0
	var p *play
	for {
		p = newPlay(t, s)
		if runs == 0 {
			p.submitAt(0, "t1", chat.Supersede)
		}
		length := 0
		p.env.SetOnActivityStartedListener(func(*activity.Info, context.Context, converter.EncodedValues) {
			length += 6
			p.env.SetCurrentHistoryLength(length)
		})
		p.env.ExecuteWorkflow(workflows.ThreadType, in)
		var next *workflow.ContinueAsNewError
		if !errors.As(p.env.GetWorkflowError(), &next) {
			break
		}
		runs++
		in = workflows.ThreadInput{}
		largest = max(largest, len(next.Input.Payloads[0].Data))
		require.NoError(t, converter.GetDefaultDataConverter().FromPayload(next.Input.Payloads[0], &in))
	}
	require.NoError(t, p.env.GetWorkflowError())
	require.Equal(t, []string{"t1 completed"}, statuses(s.endings))
	require.Equal(t, steps, s.calls["Think"], "no step runs twice")
	require.Greater(t, runs, 1)
	require.Less(t, largest, 100_000, "bytes that a run hands to the next")
	e := s.endings[0]
	log := append(s.log, e.Log...)
	require.Len(t, s.log, e.Kept)
	for i, entry := range log {
		require.Equal(t, i+1, entry.N)
	}
	require.Equal(t, chat.EventText, log[len(log)-1].Type)
}

func TestManyQuestionsOfOneTurnCarryNoText(t *testing.T) {
	s := perfect()
	s.intent.Action = chat.Summarize
	s.docs = []activities.Docs{{Confidence: chat.High}}
	s.answers = []activities.Answered{{}}
	p := newPlay(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	for i := range 20 {
		p.at(i+1, func() { p.resume(answer(chat.TextInput, strings.Repeat("text ", 5000))) })
	}
	p.at(30, func() { p.env.SignalWorkflow(workflows.SignalVersion, 0) })
	p.env.ExecuteWorkflow(workflows.ThreadType, input)
	var next *workflow.ContinueAsNewError
	require.ErrorAs(t, p.env.GetWorkflowError(), &next)
	require.Less(t, len(next.Input.Payloads[0].Data), 20_000, "bytes that a run hands to the next")
	require.Equal(t, 20, p.calls["KeepAnswer"])
}
