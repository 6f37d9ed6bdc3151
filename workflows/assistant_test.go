package workflows_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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
	"github.com/palaver-chat/palaver/agents/documents"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/tools"
	"github.com/palaver-chat/palaver/workflows"
)

var oneThought = chat.Usage{TokensIn: 10, TokensOut: 1, Calls: 1}

// finalCall is a model call that ends the answer.
func finalCall() activities.ModelResult {
	return activities.ModelResult{Chars: 20, Usage: oneThought, Attempt: 1}
}

// toolCalls is a model call that asks for tools: "search" has no side effects, "draw"
// has some and needs approval. A "!" after the name marks a refused call.
func toolCalls(first int, names ...string) activities.ModelResult {
	w := activities.ModelResult{Usage: oneThought, Attempt: 1}
	for i, name := range names {
		name, refused := strings.CutSuffix(name, "!")
		c := activities.RequestedCall{CallRef: chat.CallRef{ID: fmt.Sprintf("c%d", first+i), Name: name}, Refused: refused}
		if c.Approval = tools.Never; strings.HasPrefix(name, "draw") {
			c.Approval, c.SideEffects, c.Editable = tools.Edit, true, true
		}
		w.Calls = append(w.Calls, c)
	}
	return w
}

// assistantTurn is an assistant's turn whose model calls return thoughts.
func assistantTurn(thoughts ...activities.ModelResult) *script {
	s := clearTurn()
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

func TestAssistantAnswersAtOnceWhenItNeedsNoTool(t *testing.T) {
	e := runTurn(t, assistantTurn(finalCall()))
	require.Equal(t, []string{"turn_started", "status model", "text piece:1"}, summary(e.Log))
	require.Equal(t, oneThought, e.Usage)
	require.Equal(t, chat.TurnCompleted, e.Status)
}

// What the model thought stands in the log before what it wrote, and the notice that an
// answer is not complete after it.
func TestLogHasReasoningAndSaysThatAnAnswerIsNotComplete(t *testing.T) {
	look, answer := toolCalls(1, "search"), finalCall()
	look.Thought, answer.Thought, answer.Cut = 8000, 1500, chat.NoticeAnswerCut
	e := runTurn(t, assistantTurn(look, answer))
	var got []string
	for _, entry := range e.Log {
		switch entry.Type {
		case chat.EventReasoning:
			got = append(got, fmt.Sprint(entry.Ref, " ", entry.Took))
		case chat.EventText, chat.EventToolCall, chat.EventNotice:
			got = append(got, string(entry.Type)+entry.Code)
		}
	}
	require.Equal(t, []string{"reasoning:1 8000", "tool_call", "reasoning:2 1500", "text", "noticeanswer_cut"}, got)
	require.Equal(t, chat.FinishLength, chat.FinishOf(e.Log))
}

func TestTurnSaysThatFiguresAreNotFound(t *testing.T) {
	answer := finalCall()
	answer.WrongFigures = 2
	e := runTurn(t, assistantTurn(answer))
	require.True(t, slices.ContainsFunc(e.Log, func(x chat.Entry) bool { return x.Type == chat.EventNotice && x.Code == chat.NoticeFigures }))
}

func TestAssistantLoopsThroughToolsUntilItAnswers(t *testing.T) {
	first := toolCalls(1, "search")
	first.Chars = 9 // "Let me look."
	s := assistantTurn(first, toolCalls(2, "list", "search!"), finalCall())
	e := runTurn(t, s)
	require.Equal(t, []string{
		"turn_started", "status model", "text piece:1", "tool_call search", "status tool search", "tool_result search",
		"status model", "tool_call list", "tool_call search", "status tool list", "tool_result list", "tool_result error search",
		"status model", "text piece:2",
	}, summary(e.Log))
	require.Equal(t, 3, e.Usage.Calls)
	require.Equal(t, activities.Stage{Piece: 2, Calls: 3, Tried: 1, Round: 2}, s.thinks[2].Stage, "the rounds themselves are in the turn's texts")
	require.Equal(t, []string{"search", "list"}, s.called, "a refused call does not run")
}

func TestCallsOfOneMessageRunInParallelAndTheirResultsAreInOrder(t *testing.T) {
	s := assistantTurn(toolCalls(1, "slow", "fast"), finalCall())
	fast := make(chan struct{})
	s.tool = func(_ context.Context, r activities.CallRequest, _ int) (activities.CallResult, error) {
		if r.Name == "fast" {
			close(fast)
		} else {
			<-fast // blocks for ever unless the calls run in parallel
		}
		return activities.CallResult{Usage: chat.Usage{CostUSD: 1}}, nil
	}
	e := runTurn(t, s)
	require.Equal(t, []string{
		"turn_started", "status model", "tool_call slow", "tool_call fast", "status tool slow", "status tool fast",
		"tool_result slow", "tool_result fast", "status model", "text piece:1",
	}, summary(e.Log))
	require.Equal(t, 2.0, e.Usage.CostUSD, "the cost of tools counts")
}

func TestApprovalsOfOneMessageAreAskedTogetherBeforeAnyOfItsCallsRuns(t *testing.T) {
	s := assistantTurn(toolCalls(1, "draw", "search", "draw2"), finalCall())
	p := newHarness(t, s)
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
	}, summary(p.endings[0].Log))
	require.ElementsMatch(t, []string{"search", "draw2"}, s.called)
	require.Equal(t, decide(yes("c3"), no("c1")), s.decided[0].Value)
}

// Rule N5.
func TestDecisionsThatDoNotFitTheQuestionAreRejected(t *testing.T) {
	p := newHarness(t, assistantTurn(toolCalls(1, "draw"), finalCall()))
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
	require.Equal(t, chat.CodeNoInterrupt, errType(second.rejected), "each decision is accepted once")
	require.Equal(t, 1, p.calls["CallTool c1"])
}

// Rule W8.
func TestCallRunsWithTheHashOfTheShownOrEditedArguments(t *testing.T) {
	asks := toolCalls(1, "draw", "draw")
	asks.Calls[0].Hash, asks.Calls[1].Hash = "shown-1", "shown-2"
	s := assistantTurn(asks, finalCall())
	s.hashes = map[string]string{"c2": "edited-2"}
	var got sync.Map
	s.tool = func(_ context.Context, r activities.CallRequest, n int) (activities.CallResult, error) {
		got.Store(r.ID, r.Hash)
		if r.ID == "c2" && n == 1 {
			return activities.CallResult{}, temporal.NewNonRetryableApplicationError("", activities.ErrTypeUnknownOutcome, nil)
		}
		return activities.CallResult{}, nil
	}
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() { p.resume(decide(yes("c1"), yes("c2"))) })
	p.at(2, func() {
		require.Equal(t, "edited-2", p.state().Pending.Calls[0].Hash, "the second question has the arguments that ran")
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

func TestRememberedApprovalCountsInLaterRoundsAndTurns(t *testing.T) {
	remember := yes("c1")
	remember.Remember = true
	s := assistantTurn(toolCalls(1, "draw"), toolCalls(2, "draw"), toolCalls(3, "draw2"), finalCall())
	e := runTurn(t, s, decide(remember), decide(no("c3")))
	require.Equal(t, []string{"draw"}, e.Approvals)
	require.Equal(t, 1, s.calls["CallTool c2"])

	s = assistantTurn(toolCalls(1, "draw"), finalCall())
	s.begin.Approved = []string{"draw"}
	e = runTurn(t, s)
	require.NotContains(t, summary(e.Log), "interrupt approve_tools")
	require.Empty(t, e.Approvals, "approvals of the parent are not repeated")
}

func TestRememberedApprovalSurvivesAStop(t *testing.T) {
	remember := yes("c1")
	remember.Remember = true
	s := assistantTurn(toolCalls(1, "draw"), toolCalls(2, "draw2"))
	e := runTurn(t, s, decide(remember), answer(chat.CancelResume, ""))
	require.Equal(t, chat.TurnCancelled, e.Status)
	require.Equal(t, []string{"draw"}, e.Approvals)
}

func TestEditedArgumentsFromASignalAreCheckedAndBadOnesLeaveTheQuestionOpen(t *testing.T) {
	edited := yes("c1")
	edited.Arguments = json.RawMessage(`{"prompt":"two cats"}`)
	s := assistantTurn(toolCalls(1, "draw"), finalCall())
	s.misfit = true
	p := newHarness(t, s)
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
	}, summary(p.endings[0].Log))
	require.True(t, s.decided[0].Check)
	require.False(t, s.decided[2].Check)
}

func TestApprovalWithoutATimeoutWaitsForever(t *testing.T) {
	s := assistantTurn(toolCalls(1, "draw"), finalCall())
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	p.at(60*24*90, func() { p.resume(decide(yes("c1"))) })
	p.run()
	require.Equal(t, []string{"t1 completed"}, statuses(p.endings))
}

func TestApprovalTimeoutRejectsTheCalls(t *testing.T) {
	s := assistantTurn(toolCalls(1, "draw"), finalCall())
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	limited := input
	limited.ApprovalTimeout = time.Hour
	p.env.ExecuteWorkflow(workflows.ThreadType, limited)
	require.NoError(t, p.env.GetWorkflowError())
	require.Equal(t, []string{"t1 completed"}, statuses(p.endings))
	require.Empty(t, s.called)
	require.Equal(t, activities.NoAnswerInTime, s.decided[0].Value.Decisions[0].Reason)
	require.Equal(t, chat.ByServer, resumed(t, p.endings[0].Log).Channel)
	require.Contains(t, summary(p.endings[0].Log), "tool_result error draw")
}

// unknownOutcomes are the errors after which a call's outcome is unknown.
var unknownOutcomes = map[string]error{
	"heartbeat timeout":      temporal.NewHeartbeatTimeoutError(),
	"schedule-to-close":      temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE, nil),
	"start-to-close timeout": temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_START_TO_CLOSE, nil),
	"unknown outcome":        temporal.NewNonRetryableApplicationError("", activities.ErrTypeUnknownOutcome, nil),
	"worker stopped":         temporal.NewApplicationError("", activities.ErrTypeInterrupted),
}

func TestUnknownOutcomeOfASideEffectIsAskedAboutAndNotRetriedSilently(t *testing.T) {
	for name, end := range unknownOutcomes {
		for verdict, d := range map[string]chat.Decision{"again": yes("c1"), "not again": no("c1")} {
			t.Run(name+", "+verdict, func(t *testing.T) {
				s := assistantTurn(toolCalls(1, "draw", "search"), finalCall())
				s.tool = func(_ context.Context, r activities.CallRequest, n int) (activities.CallResult, error) {
					if r.Name == "draw" && n == 1 {
						return activities.CallResult{}, end
					}
					return activities.CallResult{}, nil
				}
				p := newHarness(t, s)
				p.submitAt(0, "t1", chat.Supersede)
				p.at(1, func() { p.resume(decide(yes("c1"))) })
				p.at(2, func() {
					require.Equal(t, 1, s.calls["CallTool c1"])
					q := p.state().Pending
					require.Equal(t, chat.PromptUnknownOutcome, q.Prompt)
					require.Equal(t, []chat.CallRef{{ID: "c1", Name: "draw"}}, q.Calls, "only that call, and its arguments are not editable")
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
				require.Equal(t, append(want, "status model", "text piece:1"), summary(p.endings[0].Log))
				require.Equal(t, map[string]int{"again": 2, "not again": 1}[verdict], s.calls["CallTool c1"])
			})
		}
	}
}

// The turn's deadline does not cut a call with side effects; its tool says how long it may take.
func TestCallWithSideEffectsKnowsTheTimeLeftAndHowOftenItWasRepeated(t *testing.T) {
	s := assistantTurn(toolCalls(1, "draw", "search"), finalCall())
	var left, repeats []time.Duration
	s.tool = func(ctx context.Context, r activities.CallRequest, n int) (activities.CallResult, error) {
		if r.Name == "search" {
			require.Zero(t, r.Left)
			return activities.CallResult{}, nil
		}
		left, repeats = append(left, r.Left), append(repeats, time.Duration(r.Repeat))
		if n == 1 {
			return activities.CallResult{}, temporal.NewHeartbeatTimeoutError()
		}
		return activities.CallResult{}, nil
	}
	runTurn(t, s, decide(yes("c1")), decide(yes("c1")))
	require.Equal(t, []time.Duration{0, 1}, repeats)
	for _, d := range left {
		require.Positive(t, d)
		require.LessOrEqual(t, d, input.TurnDeadline)
	}
}

func TestSecondUnknownOutcomeIsAskedAboutAgain(t *testing.T) {
	s := assistantTurn(toolCalls(1, "draw"), finalCall())
	s.tool = func(context.Context, activities.CallRequest, int) (activities.CallResult, error) {
		return activities.CallResult{}, temporal.NewHeartbeatTimeoutError()
	}
	e := runTurn(t, s, decide(yes("c1")), decide(yes("c1")), decide(no("c1")))
	require.Equal(t, chat.TurnCompleted, e.Status)
	require.Equal(t, 2, s.calls["CallTool c1"])
}

func TestStoredResultOfAnUnknownOutcomeNeedsNoQuestion(t *testing.T) {
	s := assistantTurn(toolCalls(1, "draw"), finalCall())
	s.storedResult = &activities.CallResult{Usage: chat.Usage{CostUSD: 3}}
	s.tool = func(context.Context, activities.CallRequest, int) (activities.CallResult, error) {
		return activities.CallResult{}, temporal.NewHeartbeatTimeoutError()
	}
	e := runTurn(t, s, decide(yes("c1")))
	require.NotContains(t, summary(e.Log), "interrupt unknown_outcome")
	require.Equal(t, 1, s.calls["CallTool c1"])
	require.Equal(t, 3.0, e.Usage.CostUSD)
}

func TestCallWhoseWorkerStoppedBeforeItRanIsRepeatedWithoutAQuestion(t *testing.T) {
	s := assistantTurn(toolCalls(1, "draw"), finalCall())
	s.tool = func(_ context.Context, _ activities.CallRequest, n int) (activities.CallResult, error) {
		if n < 3 {
			return activities.CallResult{}, temporal.NewNonRetryableApplicationError("", activities.ErrTypeNotRun, nil)
		}
		return activities.CallResult{}, nil
	}
	e := runTurn(t, s, decide(yes("c1")))
	require.NotContains(t, summary(e.Log), "interrupt unknown_outcome")
	require.Equal(t, 3, s.calls["CallTool c1"])
}

func TestToolWithoutSideEffectsIsRetried(t *testing.T) {
	s := assistantTurn(toolCalls(1, "search"), finalCall())
	s.tool = func(_ context.Context, _ activities.CallRequest, n int) (activities.CallResult, error) {
		if n < 3 {
			return activities.CallResult{}, temporal.NewHeartbeatTimeoutError()
		}
		return activities.CallResult{}, nil
	}
	e := runTurn(t, s)
	require.Equal(t, chat.TurnCompleted, e.Status)
	require.Equal(t, 3, s.calls["CallTool c1"])
}

func TestAStopDuringAToolEndsTheTurnAndItsCall(t *testing.T) {
	s := assistantTurn(toolCalls(1, "draw"), finalCall())
	var ended sync.WaitGroup
	ended.Add(1)
	s.stops = make(chan struct{})
	p := newHarness(t, s)
	s.tool = func(ctx context.Context, _ activities.CallRequest, _ int) (activities.CallResult, error) {
		defer ended.Done()
		p.env.RegisterDelayedCallback(func() { p.env.SignalWorkflow(workflows.SignalCancel, chat.Cancel{}) }, 0)
		select {
		case <-ctx.Done():
		case <-s.stops:
		}
		return activities.CallResult{}, temporal.NewNonRetryableApplicationError("", activities.ErrTypeStopped, nil)
	}
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() { p.resume(decide(yes("c1"))) })
	p.run()
	ended.Wait()
	require.Equal(t, []string{"t1 cancelled/user_cancelled"}, statuses(p.endings))
	require.NotContains(t, summary(p.endings[0].Log), "interrupt unknown_outcome", "a stopped turn asks nothing")
	require.Equal(t, 1, s.calls["CallTool c1"])
	require.Equal(t, "status tool draw", summary(p.endings[0].Log)[len(p.endings[0].Log)-1], "the call has no result")
}

func TestSubmitSupersedesAPendingApprovalAndItsCallHasNoResult(t *testing.T) {
	s := assistantTurn(toolCalls(1, "draw"), finalCall())
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	p.submitAt(1, "t2", chat.Supersede)
	p.run()
	require.Equal(t, []string{"t1 cancelled/superseded", "t2 completed"}, statuses(p.endings))
	require.Equal(t, []string{"turn_started", "status model", "tool_call draw", "interrupt approve_tools"}, summary(p.endings[0].Log))
	require.Empty(t, s.called)
}

func TestStepLimitEndsAnEndlessToolLoopWithItsBestAnswer(t *testing.T) {
	s := assistantTurn(toolCalls(1, "search"))
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	bounded := input
	bounded.MaxSteps = 3
	p.env.ExecuteWorkflow(workflows.ThreadType, bounded)
	require.NoError(t, p.env.GetWorkflowError())
	require.Equal(t, []string{"t1 completed"}, statuses(p.endings))
	require.Equal(t, 3, s.calls["Think"])
	require.Equal(t, []bool{false, false, true}, []bool{s.thinks[0].Last, s.thinks[1].Last, s.thinks[2].Last})
	require.Equal(t, []string{"notice steps_used", "status model"}, lastOf(summary(p.endings[0].Log), 2), "the calls of the last message are not made")
}

func TestPendingApprovalSurvivesContinueAsNewAndNoStepRunsAgain(t *testing.T) {
	remember := yes("c2")
	remember.Remember = true
	s := assistantTurn(toolCalls(1, "search"), toolCalls(2, "draw"), toolCalls(3, "draw"), finalCall())
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() { p.env.SetContinueAsNewSuggested(true) })
	p.at(2, func() { p.env.SignalWorkflow(workflows.SignalCancel, chat.Cancel{TurnID: "t9"}) }) // any event wakes the workflow
	carried := p.runUntilContinueAsNew(input)
	require.Equal(t, 2, s.calls["Think"])
	require.Equal(t, chat.ToolApproval, carried.Carried.Open.Pending.Type)

	next := newHarness(t, s)
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

func TestPicturesThatTheModelCannotSeeGiveOneNotice(t *testing.T) {
	blind := finalCall()
	blind.NoImages = true
	s := assistantTurn(blind)
	s.begin.NoImages = true
	e := runTurn(t, s)
	require.Equal(t, []string{"turn_started", "notice images_not_supported", "status model", "text piece:1"}, summary(e.Log))

	e = runTurn(t, assistantTurn(blind))
	require.Equal(t, []string{"turn_started", "status model", "notice images_not_supported", "text piece:1"}, summary(e.Log))
}

func TestDocumentsAgentCallsToolsByTheSameLoop(t *testing.T) {
	s := clearTurn()
	s.write = func(_ context.Context, n int) (activities.ModelResult, error) {
		if n == 1 {
			return toolCalls(1, "search"), nil
		}
		return activities.ModelResult{Chars: 10, Citations: 1, Attempt: 1}, nil
	}
	e := runTurn(t, s)
	require.Equal(t, []string{
		"turn_started", "status intent_resolver", "status doc_resolver", "status doc_resolver docs",
		"status validate_inputs", "status inquire", "tool_call search", "status tool search", "tool_result search",
		"status model", "text piece:1", "status format_response",
	}, summary(e.Log))
	require.Equal(t, chat.High, e.Retrieval)
}

// The state of a thread with a turn of a thousand steps must stay small, and its
// history must not grow without limit.
func TestTurnOfAThousandStepsContinuesAsNewWithLittleState(t *testing.T) {
	const steps = 1000
	s := assistantTurn()
	for n := range steps - 1 {
		w := toolCalls(n+1, "search")
		w.Chars = n % 2
		s.thoughts = append(s.thoughts, w)
	}
	s.thoughts = append(s.thoughts, finalCall())
	in := input
	in.ContinueAfter, in.TurnDeadline = 1500, time.Hour
	runs, largest := 0, 0
	var p *harness
	for {
		p = newHarness(t, s)
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

func TestManyQuestionsOfOneTurnKeepNoTextInTheHistory(t *testing.T) {
	s := clearTurn()
	s.intent.Action = chat.Summarize
	s.docs = []documents.Docs{{Confidence: chat.High}}
	s.answers = []documents.ReadAnswerResult{{}}
	p := newHarness(t, s)
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

func TestChosenModelOfATurnReachesItsActivities(t *testing.T) {
	s := assistantTurn(toolCalls(1, "search"), finalCall())
	s.begin.Model = "other"
	e := runTurn(t, s)
	require.Equal(t, "other", e.Model)
	for _, r := range s.thinks {
		require.Equal(t, "other", r.Model)
	}
}
