package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/agents/documents"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/workflows"
)

func asApp(err error, app **temporal.ApplicationError) bool { return errors.As(err, app) }

// ambiguousTurn is a turn that asks which action is meant.
func ambiguousTurn() *script {
	s := clearTurn()
	s.intent = documents.Intent{Action: chat.Inquire, Confidence: chat.Low, Likely: []chat.Action{chat.Inquire, chat.Summarize, chat.Audit}}
	return s
}

func statuses(endings []activities.Ending) (out []string) {
	for _, e := range endings {
		s := e.TurnID + " " + string(e.Status)
		if e.Reason != "" {
			s += "/" + string(e.Reason)
		}
		if e.Code != "" {
			s += "/" + e.Code
		}
		out = append(out, s)
	}
	return out
}

func TestIdleThreadCompletesAfterItsTurns(t *testing.T) {
	p := newHarness(t, clearTurn())
	p.submitAt(0, "t1", chat.Supersede)
	p.submitAt(5, "t2", chat.Supersede)
	p.run()
	require.Equal(t, []string{"t1 completed", "t2 completed"}, statuses(p.endings))
	require.Equal(t, 1+2+5, p.endings[0].Usage.TokensIn+p.endings[0].Usage.TokensOut)
	require.Equal(t, 3, p.endings[0].Usage.Calls)
}

// Rule W2.
func TestSameSubmitTwiceMakesOneTurn(t *testing.T) {
	p := newHarness(t, clearTurn())
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() {
		r := p.update(workflows.UpdateSubmit, "another update id", workflows.SubmitRequest{TurnID: "t1", OnBusy: chat.Supersede})
		require.NoError(t, r.rejected)
	})
	p.run()
	require.Equal(t, []string{"t1 completed"}, statuses(p.endings))
}

func TestBurstOfSupersedingSubmitsIsSettledInOrderAndTheLastOneRuns(t *testing.T) {
	p := newHarness(t, ambiguousTurn())
	p.submitAt(0, "t00", chat.Supersede)
	var want []string
	p.at(1, func() {
		p.script.intent = clearTurn().intent
		for i := 1; i <= 20; i++ {
			p.submit(fmt.Sprintf("t%02d", i), chat.Supersede)
		}
	})
	for i := range 20 {
		want = append(want, fmt.Sprintf("t%02d cancelled/superseded", i))
	}
	p.run()
	require.Equal(t, append(want, "t20 completed"), statuses(p.endings))
	require.Equal(t, 1, p.calls["Write"])
}

// Rule T11.
func TestEnqueueBehindAnInterruptWaitsForTheAnswer(t *testing.T) {
	p := newHarness(t, ambiguousTurn())
	p.submitAt(0, "t1", chat.Supersede)
	p.submitAt(1, "t2", chat.Enqueue)
	p.at(2, func() {
		require.Equal(t, []string{"t2"}, p.state().Queue)
		require.True(t, p.progress("t2", 0).Known)
		p.script.intent = clearTurn().intent
		p.resume(answer(chat.ActionChoice, "inquire"))
	})
	p.run()
	require.Equal(t, []string{"t1 completed", "t2 completed"}, statuses(p.endings))
}

// Rule T11.
func TestRejectReturnsTheRunningTurnAndChangesNothing(t *testing.T) {
	p := newHarness(t, ambiguousTurn())
	p.submitAt(0, "t1", chat.Supersede)
	var r *reply
	p.at(1, func() { r = p.submit("t2", chat.Reject) })
	p.at(2, func() { p.resume(answer(chat.CancelResume, "")) })
	p.submitAt(3, "t3", chat.Reject)
	p.at(4, func() { p.resume(answer(chat.CancelResume, "")) })
	p.run()
	require.Equal(t, chat.CodeTurnRunning, errType(r.rejected))
	var app *temporal.ApplicationError
	require.True(t, asApp(r.rejected, &app))
	var running string
	require.NoError(t, app.Details(&running))
	require.Equal(t, "t1", running)
	require.Equal(t, []string{"t1 cancelled/user_cancelled", "t3 cancelled/user_cancelled"}, statuses(p.endings))
}

// Rule N6.
func TestSkippedQuestionEndsItsTurnAsSuperseded(t *testing.T) {
	p := newHarness(t, ambiguousTurn())
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() { p.resume(answer(chat.CancelResume, string(chat.Superseded))) })
	p.run()
	require.Equal(t, []string{"t1 cancelled/superseded"}, statuses(p.endings))
}

// Rule T11.
func TestRollbackRemovesTheRunningTurnFromTheHistory(t *testing.T) {
	p := newHarness(t, ambiguousTurn())
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() {
		p.script.intent = clearTurn().intent
		p.submit("t2", chat.Rollback)
	})
	p.run()
	require.Equal(t, []string{"t1 cancelled/rolled_back", "t2 completed"}, statuses(p.endings))
	require.True(t, p.endings[0].Hidden)
	require.False(t, p.endings[1].Hidden)
	require.Equal(t, []string{"", "t1"}, p.parents, "the next turn takes the place of the one rolled back")
}

func TestCancelBeforeItsSubmitCancelsTheTurn(t *testing.T) {
	p := newHarness(t, clearTurn())
	p.at(0, func() { p.env.SignalWorkflow(workflows.SignalCancel, chat.Cancel{TurnID: "t1"}) })
	p.submitAt(1, "t1", chat.Supersede)
	p.at(2, func() {
		p.update(workflows.UpdateSubmit, "t2", workflows.SubmitRequest{TurnID: "t2", Cancelled: true})
	})
	p.run()
	require.Equal(t, []string{"t1 cancelled/user_cancelled", "t2 cancelled/user_cancelled"}, statuses(p.endings))
	require.Zero(t, p.calls["Write"]+p.calls["InferDocs"])
}

func TestCancelBetweenRowAndSubmitCancelsTheTurnWhenItBegins(t *testing.T) {
	s := clearTurn()
	s.begin.Cancelled = true
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	p.run()
	require.Equal(t, []string{"t1 cancelled/user_cancelled"}, statuses(p.endings))
	require.Zero(t, p.calls["InferDocs"])
}

func TestCancelWithoutATurnIDStopsTheRunningTurn(t *testing.T) {
	p := newHarness(t, ambiguousTurn())
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() { p.env.SignalWorkflow(workflows.SignalCancel, chat.Cancel{}) })
	p.at(2, func() { p.env.SignalWorkflow(workflows.SignalCancel, chat.Cancel{}) }) // no turn runs: no effect
	p.run()
	require.Equal(t, []string{"t1 cancelled/user_cancelled"}, statuses(p.endings))
}

func TestCancellingAnInterruptAndSendingAgainAtOnceWorks(t *testing.T) {
	s := ambiguousTurn()
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() {
		s.intent = clearTurn().intent
		p.resume(answer(chat.CancelResume, ""))
		p.submit("t2", chat.Supersede)
	})
	p.at(2, func() {
		require.Equal(t, chat.ThreadState{Owner: "ann", Agent: chat.AgentDocuments, Version: workflows.DefaultVersion}, p.state())
	})
	p.run()
	require.Equal(t, []string{"t1 cancelled/user_cancelled", "t2 completed"}, statuses(p.endings))
}

func TestStopWhileWritingAnnouncesItAndSettlesWithThePartial(t *testing.T) {
	s := clearTurn()
	s.stops = make(chan struct{})
	p := newHarness(t, s)
	s.write = func(context.Context, int) (activities.ModelResult, error) {
		p.env.SignalWorkflow(workflows.SignalCancel, chat.Cancel{TurnID: "t1"})
		<-s.stops
		return activities.ModelResult{Stopped: true, Usage: chat.Usage{TokensOut: 3}}, nil
	}
	p.submitAt(0, "t1", chat.Supersede)
	p.run()
	require.Equal(t, []string{"t1 cancelled/user_cancelled"}, statuses(p.endings))
	require.Equal(t, 1, p.calls["AnnounceStop"])
}

func TestBeginTurnGetsTheOtherTurnsOfTheThread(t *testing.T) {
	s := ambiguousTurn()
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	p.submitAt(1, "t2", chat.Enqueue)
	p.submitAt(1, "t3", chat.Enqueue)
	p.at(2, func() { p.env.SignalWorkflow(workflows.SignalCancel, chat.Cancel{TurnID: "t3"}) })
	p.at(3, func() { p.env.SignalWorkflow(workflows.SignalCancel, chat.Cancel{TurnID: "t1"}) })
	p.at(4, func() { p.env.SignalWorkflow(workflows.SignalCancel, chat.Cancel{TurnID: "t2"}) })
	p.run()
	require.Equal(t, []activities.OtherTurns{{}, {Open: []string{"t1"}, Waiting: []string{"t2"}}, {}}, s.others)
}

// A local activity runs before its workflow task is recorded. If the task is lost,
// the submit that it accepted is lost, too.
func TestUnstartedTurnIsSettledOnlyOnceItsAcceptanceIsRecorded(t *testing.T) {
	for name, stopped := range map[string]bool{"stopped before it ran": true, "answered": false} {
		t.Run(name, func(t *testing.T) {
			p := newHarness(t, clearTurn())
			var local []string
			p.env.SetOnLocalActivityStartedListener(func(info *activity.Info, _ context.Context, _ []any) {
				local = append(local, info.ActivityType.Name)
			})
			p.at(0, func() {
				if stopped {
					p.env.SignalWorkflow(workflows.SignalCancel, chat.Cancel{TurnID: "t1"})
				}
				p.submit("t1", chat.Supersede)
			})
			p.run()
			require.Equal(t, 1, p.calls["Settle"])
			require.Equal(t, !stopped, slices.Contains(local, "Settle"))
		})
	}
}

// The workflow task that announces a stop can be lost. Then the activity receives the
// stop, and the workflow receives it later or never.
func TestStopReceivedOnlyByTheActivityStopsTheTurnWithTheReasonThatFollows(t *testing.T) {
	for name, c := range map[string]struct {
		later func(p *harness)
		want  chat.CancelReason
	}{
		"the cancel comes after it": {func(p *harness) { p.env.SignalWorkflow(workflows.SignalCancel, chat.Cancel{TurnID: "t1"}) }, chat.UserCancelled},
		"the submit comes after it": {func(p *harness) { p.submit("t2", chat.Supersede) }, chat.Superseded},
		"it never comes":            {func(*harness) {}, chat.UserCancelled},
	} {
		for form, err := range map[string]error{
			"as a value":  nil,
			"as an error": temporal.NewNonRetryableApplicationError("stopped", activities.ErrTypeStopped, nil),
		} {
			t.Run(name+", "+form, func(t *testing.T) {
				s := clearTurn()
				s.write = func(_ context.Context, attempt int) (activities.ModelResult, error) {
					if attempt > 1 {
						return activities.ModelResult{Chars: 10}, nil
					}
					return activities.ModelResult{Stopped: err == nil}, err
				}
				p := newHarness(t, s)
				p.submitAt(0, "t1", chat.Supersede)
				p.env.RegisterDelayedCallback(func() { c.later(p) }, 2*time.Second)
				p.run()
				require.Equal(t, chat.TurnCancelled, s.endings[0].Status)
				require.Equal(t, c.want, s.endings[0].Reason)
			})
		}
	}
}

func TestPendingQuestionSurvivesContinueAsNewAndNoStepRunsAgain(t *testing.T) {
	first := newHarness(t, ambiguousTurn())
	first.submitAt(0, "t1", chat.Supersede)
	first.submitAt(1, "t2", chat.Enqueue)
	first.at(2, func() { first.env.SetContinueAsNewSuggested(true) })
	first.at(3, func() { first.env.SignalWorkflow(workflows.SignalCancel, chat.Cancel{TurnID: "t9"}) }) // any event wakes the workflow
	carried := first.runUntilContinueAsNew(input)
	require.NotNil(t, carried.Carried.Open)
	require.Len(t, carried.Carried.Queue, 1)
	before := carried.Carried.Open.Log

	second := newHarness(t, ambiguousTurn())
	second.script.calls = map[string]int{}
	second.at(1, func() {
		state := second.state()
		require.Equal(t, "t1", state.TurnID)
		require.Equal(t, chat.ActionChoice, state.Pending.Type)
		require.Equal(t, before, second.progress("t1", 0).Entries, "the log is unchanged")
		second.script.intent = clearTurn().intent
		second.resume(answer(chat.ActionChoice, "summarize"))
	})
	second.at(2, func() {
		require.Equal(t, chat.Progress{Known: false}, second.progress("t1", 0))
		second.submit("t2", chat.Supersede) // a retry after continue-as-new
	})
	second.env.ExecuteWorkflow(workflows.ThreadType, carried)
	require.NoError(t, second.env.GetWorkflowError())
	require.Equal(t, []string{"t1 completed", "t2 completed"}, statuses(second.endings))
	require.Equal(t, 1, second.calls["InferIntent"], "only t2's")
	require.Equal(t, 1, second.calls["InferDocs"], "only t2's")
	require.Equal(t, chat.Summarize, second.endings[0].Action)
}

func TestContinueAsNewBetweenTurnsLosesNoSubmit(t *testing.T) {
	first := newHarness(t, clearTurn())
	first.submitAt(0, "t1", chat.Supersede)
	first.at(1, func() {
		accepted := &testsuite.TestUpdateCallback{
			OnReject:   func(err error) { t.Error(err) },
			OnAccept:   func() { first.env.SetContinueAsNewSuggested(true) },
			OnComplete: func(any, error) {},
		}
		first.env.UpdateWorkflow(workflows.UpdateSubmit, "t2", accepted, workflows.SubmitRequest{TurnID: "t2", OnBusy: chat.Supersede})
	})
	carried := first.runUntilContinueAsNew(input)
	require.Equal(t, []string{"t1 completed"}, statuses(first.endings))
	require.Nil(t, carried.Carried.Open)

	second := newHarness(t, clearTurn())
	second.env.ExecuteWorkflow(workflows.ThreadType, carried)
	require.NoError(t, second.env.GetWorkflowError())
	require.Equal(t, []string{"t2 completed"}, statuses(second.endings))
}

func TestModelFailureEndsTheTurnWithItsCodeAndTheThreadGoesOn(t *testing.T) {
	s := clearTurn()
	s.write = func(_ context.Context, n int) (activities.ModelResult, error) {
		if n == 1 {
			return activities.ModelResult{}, temporal.NewNonRetryableApplicationError("write: model_rejected", chat.CodeModelRejected, nil)
		}
		return activities.ModelResult{Chars: 1}, nil
	}
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	p.submitAt(1, "t2", chat.Supersede)
	p.run()
	require.Equal(t, []string{"t1 failed/model_rejected", "t2 completed"}, statuses(p.endings))
	require.Empty(t, p.endings[0].DocIDs, "a failed turn adds no documents to the registry")
}

func TestUnavailableDatabaseDelaysSettleAndTheTurnIsNotLost(t *testing.T) {
	s := clearTurn()
	tries := 0
	s.settle = func() error {
		if tries++; tries < 8 {
			return temporal.NewApplicationError("settle", chat.CodeDatabase)
		}
		return nil
	}
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	p.run()
	require.Equal(t, []string{"t1 completed"}, statuses(p.endings))
}

// Rules N4, N5.
func TestAnswerIsAcceptedOnceAndAWrongOneIsRejected(t *testing.T) {
	p := newHarness(t, ambiguousTurn())
	p.submitAt(0, "t1", chat.Supersede)
	var notOffered, otherKind, otherQuestion, first, second *reply
	p.at(1, func() {
		notOffered = p.resume(answer(chat.ActionChoice, "audit"))
		otherKind = p.resume(answer(chat.TextInput, "x"))
		otherQuestion = p.update(workflows.UpdateResume, "r", workflows.ResumeRequest{InterruptID: "t1.q7", Value: answer(chat.ActionChoice, "inquire")})
		first = p.resume(answer(chat.ActionChoice, "summarize"))
		second = p.resume(answer(chat.ActionChoice, "inquire"))
	})
	p.run()
	require.Equal(t, chat.CodeBadResume, errType(notOffered.rejected))
	require.Equal(t, chat.CodeBadResume, errType(otherKind.rejected))
	require.Equal(t, chat.CodeNoInterrupt, errType(otherQuestion.rejected))
	require.True(t, first.done)
	require.NoError(t, first.err)
	require.Equal(t, chat.CodeNoInterrupt, errType(errors.Join(second.rejected, second.err)))
	require.Equal(t, chat.Summarize, p.endings[0].Action)
	require.Equal(t, 1, p.calls["InferIntent"])
}

// Rule W4.
func TestResumeSignalThatDoesNotFitIsDroppedWithANotice(t *testing.T) {
	p := newHarness(t, ambiguousTurn())
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() { p.env.SignalWorkflow(workflows.SignalResume, answer(chat.DocChoice, "d1")) })
	p.at(2, func() { p.env.SignalWorkflow(workflows.SignalResume, answer(chat.ActionChoice, "summarize")) })
	p.run()
	require.Equal(t, []string{"t1 completed"}, statuses(p.endings))
	require.Contains(t, summary(p.endings[0].Log), "notice "+chat.NoticeResumeIgnored)
	require.Equal(t, chat.Summarize, p.endings[0].Action)
}

func TestResumeSignalThatCannotBeDecodedIsDroppedWithANotice(t *testing.T) {
	for name, signal := range map[string]any{
		"a text":             "summarize",
		"a list":             []string{"summarize"},
		"a number as value":  map[string]any{"type": "action_choice", "value": 7},
		"a list as value":    map[string]any{"type": "action_choice", "value": []string{"summarize"}},
		"null":               nil,
		"nothing in it":      map[string]any{},
		"no JSON":            rawPayload("json/plain", `{"type":`),
		"another encoding":   rawPayload("text/plain", `{"type":"action_choice","value":"summarize"}`),
		"no payload at all":  rawPayload("", ""),
		"bytes, not encoded": []byte(`{"type":"action_choice","value":"summarize"}`),
	} {
		t.Run(name, func(t *testing.T) {
			p := newHarness(t, ambiguousTurn())
			p.submitAt(0, "t1", chat.Supersede)
			p.at(1, func() { p.env.SignalWorkflow(workflows.SignalResume, signal) })
			p.at(2, func() {
				now := p.progress("t1", 0)
				require.True(t, now.Waiting, "the question stays open")
				require.Equal(t, chat.NoticeResumeIgnored, now.Entries[len(now.Entries)-1].Code)
			})
			p.at(3, func() { p.env.SignalWorkflow(workflows.SignalResume, answer(chat.ActionChoice, "summarize")) })
			p.run()
			require.Equal(t, []string{"t1 completed"}, statuses(p.endings))
			require.Equal(t, chat.Summarize, p.endings[0].Action)
		})
	}
}

// rawPayload is a payload that Temporal's command line can send.
func rawPayload(encoding, data string) converter.RawValue {
	p := &commonpb.Payload{Data: []byte(data)}
	if encoding != "" {
		p.Metadata = map[string][]byte{converter.MetadataEncoding: []byte(encoding)}
	}
	return converter.NewRawValue(p)
}

func TestActivitiesGetNewLogEntriesAndAQuestionGivesAHint(t *testing.T) {
	p := newHarness(t, ambiguousTurn())
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() {
		require.Equal(t, []int{3}, p.hints, "no activity runs that could publish the question")
		p.resume(answer(chat.ActionChoice, "inquire"))
	})
	p.run()
	var fresh []chat.Entry
	for _, ref := range []activities.TurnRef{p.intents[0], p.writes[0].TurnRef} {
		fresh = append(fresh, ref.Fresh...)
		require.Equal(t, len(fresh), ref.Logged)
	}
	require.Equal(t, p.endings[0].Log[:len(fresh)], fresh)
	require.Less(t, p.asked[0].Order, p.writes[0].Order, "what a later activity writes has a higher order")
	require.Equal(t, []string{"text piece:1", "status format_response"}, summary(p.endings[0].Log[len(fresh):]), "Settle publishes these")
	require.Len(t, p.hints, 1)
}

// Rule W2.
func TestSubmitReplyHasTheEntriesOfTheFirstWorkflowTask(t *testing.T) {
	p := newHarness(t, clearTurn())
	var first *reply
	p.at(0, func() { first = p.submit("t1", chat.Supersede) })
	p.run()
	require.Equal(t, workflows.SubmitReply{Status: chat.TurnAccepted, TurnID: "t1", Log: p.endings[0].Log[:2]}, first.value)
}

func TestSubmitReplyDoesNotWaitForASlowDatabaseOrAnotherTurn(t *testing.T) {
	s := ambiguousTurn()
	unavailable := true
	s.onBegin = func(activities.TurnRef) (activities.BeginResult, error) {
		if unavailable {
			return activities.BeginResult{}, temporal.NewApplicationError("begin", chat.CodeDatabase)
		}
		return activities.BeginResult{}, nil
	}
	p := newHarness(t, s)
	var slow, queued *reply
	p.at(0, func() { slow = p.submit("t1", chat.Supersede) })
	p.env.RegisterDelayedCallback(func() {
		require.Equal(t, workflows.SubmitReply{Status: chat.TurnAccepted, TurnID: "t1"}, slow.value)
		unavailable = false
	}, 10*time.Second)
	p.at(2, func() { queued = p.submit("t2", chat.Enqueue) })
	p.at(3, func() {
		require.Equal(t, workflows.SubmitReply{Status: chat.TurnAccepted, TurnID: "t2"}, queued.value)
		p.resume(answer(chat.ActionChoice, "inquire"))
	})
	p.at(4, func() { p.resume(answer(chat.ActionChoice, "inquire")) })
	p.run()
	require.Equal(t, []string{"t1 completed", "t2 completed"}, statuses(p.endings))
}

// Rule W7.
func TestProgressReturnsLaterEntriesAndWhetherTheTurnIsOver(t *testing.T) {
	p := newHarness(t, ambiguousTurn())
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() {
		all := p.progress("t1", 0)
		require.True(t, all.Waiting)
		require.Equal(t, all.Entries[1:], p.progress("t1", 1).Entries)
		require.Empty(t, p.progress("t1", 99).Entries)
		require.False(t, p.progress("unknown", 0).Known)
		p.resume(answer(chat.ActionChoice, "inquire"))
	})
	p.at(2, func() {
		done := p.progress("t1", 0)
		require.True(t, done.Over)
		require.Equal(t, chat.EventResponse, done.Entries[len(done.Entries)-1].Type)
	})
	p.run()
}

func TestLateSubmitOfADeletedConversationIsRejectedByTheNextOneWithItsID(t *testing.T) {
	p := newHarness(t, ambiguousTurn())
	send := func(turn, client string, generation int) *reply {
		return p.update(workflows.UpdateSubmit, turn, workflows.SubmitRequest{TurnID: turn, OnBusy: chat.Supersede, Client: client, Hash: "same", Generation: generation})
	}
	var first, renamed, late, unknown *reply
	p.at(0, func() { first = send("t1", "c1", 1) })
	p.at(1, func() { renamed = send("t2", "c1", 2) }) // the same client_turn_id in the next conversation is no retry
	p.at(2, func() { late = send("t3", "c3", 1) })
	p.at(3, func() {
		require.Equal(t, "t2", p.state().TurnID, "its question stays open")
		unknown = send("t4", "c4", 0) // the rows could not be read
	})
	p.at(4, func() { p.cancel("t4") })
	p.run()
	for _, taken := range []*reply{first, renamed, unknown} {
		require.NoError(t, taken.rejected)
		require.True(t, taken.done)
	}
	var refused *temporal.ApplicationError
	require.True(t, asApp(late.rejected, &refused))
	require.Equal(t, chat.CodeNotFound, refused.Type())
	require.Equal(t, []string{"t1 cancelled/superseded", "t2 cancelled/superseded", "t4 cancelled/user_cancelled"}, statuses(p.endings))
}

func TestUnsavedTurnHasTheGenerationOfItsConversation(t *testing.T) {
	s := clearTurn()
	p := newHarness(t, s)
	var begun []int
	s.onBegin = func(ref activities.TurnRef) (activities.BeginResult, error) {
		if ref.Unsaved != nil {
			begun = append(begun, ref.Unsaved.Generation)
		}
		return activities.BeginResult{}, nil
	}
	p.at(0, func() {
		p.update(workflows.UpdateSubmit, "t1", workflows.SubmitRequest{TurnID: "t1", OnBusy: chat.Enqueue, Generation: 3})
		p.update(workflows.UpdateSubmit, "t2", workflows.SubmitRequest{TurnID: "t2", OnBusy: chat.Enqueue, Unsaved: &activities.UnsavedTurn{ClientTurnID: "c2"}})
	})
	p.run()
	require.Equal(t, []int{3}, begun)
}
