package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/workflows"
)

func (p *harness) cancel(turn string) {
	p.env.SignalWorkflow(workflows.SignalCancel, chat.Cancel{TurnID: turn})
}

// onceClosed calls do when a channel is closed, on the environment's goroutine.
// Activities run on others, where it may not be called.
func (p *harness) onceClosed(begun <-chan struct{}, do func()) {
	p.env.RegisterDelayedCallback(func() {
		select {
		case <-begun:
			do()
		default:
			p.onceClosed(begun, do)
		}
	}, time.Millisecond)
}

// Stops of the running turn.

func TestStopWhileTheTurnBeginsDoesNotRunItsAgent(t *testing.T) {
	s := clearTurn()
	p := newHarness(t, s)
	s.onBegin = func(activities.TurnRef) (activities.BeginResult, error) {
		p.cancel("t1")
		return activities.BeginResult{}, nil
	}
	p.submitAt(0, "t1", chat.Supersede)
	p.run()
	require.Equal(t, []string{"t1 cancelled/user_cancelled"}, statuses(p.endings))
	require.Zero(t, p.calls["InferDocs"]+p.calls["Write"])
}

func TestStopBeforeTheFirstTokenIsAnnouncedToTheRunningCalls(t *testing.T) {
	s := clearTurn()
	s.stops = make(chan struct{})
	p := newHarness(t, s)
	s.onIntent = func(context.Context, int) error {
		p.cancel("t1")
		<-s.stops
		return temporal.NewNonRetryableApplicationError("stopped: intent_resolver", activities.ErrTypeStopped, nil)
	}
	p.submitAt(0, "t1", chat.Supersede)
	p.run()
	require.Equal(t, []string{"t1 cancelled/user_cancelled"}, statuses(p.endings))
	require.Equal(t, 1, p.calls["AnnounceStop"], "heartbeats would take seconds")
	require.Zero(t, p.calls["Write"])
}

func TestStopDuringABackOffDoesNotWaitForTheRetry(t *testing.T) {
	s := clearTurn()
	p := newHarness(t, s)
	s.write = func(context.Context, int) (activities.ModelResult, error) {
		return activities.ModelResult{}, temporal.NewApplicationErrorWithOptions("write", chat.CodeModelUnavailable,
			temporal.ApplicationErrorOptions{NextRetryDelay: 8 * time.Minute})
	}
	var settled time.Time
	s.settle = func() error { settled = p.env.Now(); return nil }
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() { p.cancel("t1") })
	began := p.env.Now()
	p.run()
	require.Equal(t, []string{"t1 cancelled/user_cancelled"}, statuses(p.endings))
	require.Less(t, settled.Sub(began), 2*time.Minute)
}

func TestStopDoesNotWaitForAWorkerThatDoesNotRespond(t *testing.T) {
	s := clearTurn()
	release := make(chan struct{})
	p := newHarness(t, s)
	var stopped, settled time.Time
	s.write = func(context.Context, int) (activities.ModelResult, error) {
		stopped = p.env.Now()
		p.cancel("t1")
		<-release
		return activities.ModelResult{Stopped: true}, nil
	}
	s.settle = func() error {
		settled = p.env.Now()
		close(release)
		return nil
	}
	p.submitAt(0, "t1", chat.Supersede)
	p.run()
	require.Equal(t, []string{"t1 cancelled/user_cancelled"}, statuses(p.endings))
	require.Less(t, settled.Sub(stopped), 5*time.Second)
}

func TestSecondStopChangesNothingAndTheFirstReasonCounts(t *testing.T) {
	p := newHarness(t, ambiguousTurn())
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() {
		p.env.SignalWorkflow(workflows.SignalCancel, chat.Cancel{TurnID: "t1", Reason: chat.Disconnected})
		p.cancel("t1")
		p.cancel("t1")
	})
	p.at(2, func() { p.cancel("t1") }) // it is over
	p.run()
	require.Equal(t, []string{"t1 cancelled/disconnect"}, statuses(p.endings))
}

func TestStopOfASettledTurnDoesNotStopTheNextOne(t *testing.T) {
	s := ambiguousTurn()
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	p.resumeAt(1, chat.ActionChoice, "inquire")
	p.submitAt(2, "t2", chat.Supersede)
	p.at(3, func() { p.cancel("t1") })
	p.resumeAt(4, chat.ActionChoice, "inquire")
	p.run()
	require.Equal(t, []string{"t1 completed", "t2 completed"}, statuses(p.endings))
}

func TestStopWhileTheTurnIsBeingSettledHasNoEffect(t *testing.T) {
	s := clearTurn()
	p := newHarness(t, s)
	s.settle = func() error {
		p.cancel("t1")
		return nil
	}
	p.submitAt(0, "t1", chat.Supersede)
	p.submitAt(1, "t2", chat.Supersede)
	p.run()
	require.Equal(t, []string{"t1 completed", "t2 completed"}, statuses(p.endings))
}

func TestWorkerThatDiesWhileItSettlesIsNoticedSoon(t *testing.T) {
	s := clearTurn()
	p := newHarness(t, s)
	tries := 0
	s.settle = func() error {
		if tries++; tries == 1 {
			return errors.New("slow") // the local activity
		}
		return nil
	}
	var silence time.Duration
	p.env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
		if info.ActivityType.Name == "Settle" {
			silence = info.HeartbeatTimeout
		}
	})
	p.submitAt(0, "t1", chat.Supersede)
	p.run()
	require.Positive(t, silence)
	require.Less(t, silence, 10*time.Second)
}

// A worker that stopped answering delivers both in one workflow task.
func TestStopRecordedBeforeTheLastResultCountsInTheSameWorkflowTask(t *testing.T) {
	s := clearTurn()
	p := newHarness(t, s)
	s.write = func(context.Context, int) (activities.ModelResult, error) {
		p.env.SignalWorkflowSkippingWorkflowTask(workflows.SignalCancel, chat.Cancel{TurnID: "t1"}) // the result of this call begins the task
		return activities.ModelResult{Chars: 10}, nil
	}
	p.submitAt(0, "t1", chat.Supersede)
	p.run()
	require.Equal(t, []string{"t1 cancelled/user_cancelled"}, statuses(p.endings))
}

// The stored log has the terminal event under the next number.
func TestResumeSignalWhileTheTurnIsBeingSettledAddsNothing(t *testing.T) {
	s := clearTurn()
	p := newHarness(t, s)
	s.settle = func() error {
		p.env.SignalWorkflow(workflows.SignalResume, answer(chat.ActionChoice, "summarize"))
		return nil
	}
	p.submitAt(0, "t1", chat.Supersede)
	var live chat.Progress
	p.at(1, func() { live = p.progress("t1", 0) })
	p.run()
	require.Len(t, live.Entries, len(p.endings[0].Log)+1)
	require.True(t, live.Entries[len(live.Entries)-1].Type.Terminal())
}

// The acknowledgement of the first try was lost, and the thread has continued as new since.
func TestResumeThatIsRetriedInTheNextRunIsAcknowledgedAgain(t *testing.T) {
	p := newHarness(t, ambiguousTurn())
	next := input
	next.Carried.Resumed = "r1"
	var again, other *reply
	p.at(0, func() {
		again = p.update(workflows.UpdateResume, "r1", workflows.ResumeRequest{Value: answer(chat.ActionChoice, "summarize")})
		other = p.update(workflows.UpdateResume, "r2", workflows.ResumeRequest{Value: answer(chat.ActionChoice, "summarize")})
	})
	p.runWithInput(next)
	require.NoError(t, again.rejected)
	require.NoError(t, again.err)
	require.Equal(t, chat.CodeNoInterrupt, errType(other.rejected))
}

func TestAcceptedResumeIsCarriedToTheNextRun(t *testing.T) {
	p := newHarness(t, ambiguousTurn())
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() {
		p.update(workflows.UpdateResume, "r1", workflows.ResumeRequest{Value: answer(chat.ActionChoice, "summarize")})
	})
	p.at(2, func() { p.env.SignalWorkflow(workflows.SignalVersion, 0) })
	require.Equal(t, "r1", p.runUntilContinueAsNew(input).Carried.Resumed)
}

func TestRollbackWhileTheTurnIsBeingSettledUndoesNothing(t *testing.T) {
	s := clearTurn()
	p := newHarness(t, s)
	settling, submitted := make(chan struct{}), make(chan struct{})
	s.settle = sync.OnceValue(func() error {
		close(settling)
		<-submitted
		return nil
	})
	p.onceClosed(settling, func() {
		p.submit("t2", chat.Rollback)
		close(submitted)
	})
	p.submitAt(0, "t1", chat.Supersede)
	p.run()
	require.Equal(t, []string{"t1 completed", "t2 completed"}, statuses(p.endings))
	require.Equal(t, []string{"", ""}, p.parents, "a settled turn is not rolled back")
}

// Stops of queued turns.

func TestStopOfTheRunningTurnLetsQueuedTurnsRunInOrder(t *testing.T) {
	p := newHarness(t, ambiguousTurn())
	p.submitAt(0, "t1", chat.Supersede)
	p.submitAt(1, "t2", chat.Enqueue)
	p.submitAt(1, "t3", chat.Enqueue)
	p.at(2, func() {
		p.script.intent = clearTurn().intent
		p.cancel("t1")
	})
	p.run()
	require.Equal(t, []string{"t1 cancelled/user_cancelled", "t2 completed", "t3 completed"}, statuses(p.endings))
}

func TestTurnStoppedInTheQueueIsSettledAtOnceAndPlacedAfterTheRunningTurn(t *testing.T) {
	s := ambiguousTurn()
	p := newHarness(t, s)
	var order []string
	s.onBegin = func(ref activities.TurnRef) (activities.BeginResult, error) {
		order = append(order, ref.TurnID)
		return activities.BeginResult{}, nil
	}
	p.submitAt(0, "t1", chat.Supersede)
	p.submitAt(1, "t2", chat.Enqueue)
	p.submitAt(1, "t3", chat.Enqueue)
	p.at(2, func() { p.cancel("t2") })
	p.at(3, func() {
		require.Equal(t, []string{"t2 cancelled/user_cancelled"}, statuses(p.endings), "while the running turn still waits for an answer")
		require.Equal(t, "t1", p.state().TurnID)
		require.Equal(t, []string{"t3"}, p.state().Queue)
		require.False(t, p.progress("t2", 0).Known, "the settled log has it")
		p.resume(answer(chat.ActionChoice, "inquire"))
	})
	p.resumeAt(4, chat.ActionChoice, "inquire")
	p.run()
	require.Equal(t, []string{"t2 cancelled/user_cancelled", "t1 completed", "t3 completed"}, statuses(p.endings))
	require.Equal(t, []string{"t1", "t2", "t3"}, order, "the tree's order is that of acceptance")
	require.Equal(t, []string{"turn_started"}, summary(p.endings[0].Log))
}

func TestTurnStoppedInTheQueueIsSettledBeforeTheNextBegins(t *testing.T) {
	s := ambiguousTurn()
	p := newHarness(t, s)
	s.settle = func() error { // the database is unavailable for a while
		if s.count("tries") < 5 {
			return databaseUnavailable()
		}
		return nil
	}
	p.submitAt(0, "t1", chat.Supersede)
	p.submitAt(1, "t2", chat.Enqueue)
	p.submitAt(1, "t3", chat.Enqueue)
	p.at(2, func() {
		p.cancel("t2")
		p.cancel("t1")
	})
	p.at(3, func() { p.cancel("t3") })
	p.run()
	require.Len(t, p.endings, 3)
	require.Equal(t, "t3 cancelled/user_cancelled", statuses(p.endings)[2])
}

func TestStopOfAQueuedTurnSurvivesContinueAsNew(t *testing.T) {
	first := newHarness(t, ambiguousTurn())
	first.submitAt(0, "t1", chat.Supersede)
	first.submitAt(1, "t2", chat.Enqueue)
	first.at(2, func() { // the signal is in its channel when the workflow wakes
		first.env.SignalWorkflowSkippingWorkflowTask(workflows.SignalCancel, chat.Cancel{TurnID: "t2"})
	})
	first.at(3, func() { first.env.SetContinueAsNewSuggested(true) })
	carried := first.runUntilContinueAsNew(input)
	require.NotNil(t, carried.Carried.Open)

	second := newHarness(t, ambiguousTurn())
	second.at(1, func() { second.cancel("t1") })
	second.env.ExecuteWorkflow(workflows.ThreadType, carried)
	require.NoError(t, second.env.GetWorkflowError())
	all := append(statuses(first.endings), statuses(second.endings)...)
	slices.Sort(all)
	require.Equal(t, []string{"t1 cancelled/user_cancelled", "t2 cancelled/user_cancelled"}, all)
}

func TestCancellingTheWorkflowSettlesEveryAcceptedTurn(t *testing.T) {
	p := newHarness(t, ambiguousTurn())
	p.submitAt(0, "t1", chat.Supersede)
	p.submitAt(1, "t2", chat.Enqueue)
	p.submitAt(1, "t3", chat.Enqueue)
	p.at(2, p.env.CancelWorkflow)
	p.env.ExecuteWorkflow(workflows.ThreadType, input)
	require.True(t, p.env.IsWorkflowCompleted())
	var cancelled *temporal.CanceledError
	require.ErrorAs(t, p.env.GetWorkflowError(), &cancelled)
	require.Equal(t, []string{"t1 cancelled/user_cancelled", "t2 cancelled/user_cancelled", "t3 cancelled/user_cancelled"}, statuses(p.endings))
}

// Submits while a turn runs.

func TestTwentyEnqueuedTurnsRunInTheOrderOfAcceptance(t *testing.T) {
	p := newHarness(t, clearTurn())
	var want []string
	p.at(0, func() {
		for i := range 20 {
			turn := fmt.Sprintf("t%02d", i)
			want = append(want, turn+" completed")
			p.submit(turn, chat.Enqueue)
		}
	})
	p.run()
	require.Equal(t, want, statuses(p.endings))
}

func TestSupersedeStopsTurnsAcceptedBeforeItAndNoneAfter(t *testing.T) {
	s := ambiguousTurn()
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() {
		s.intent = clearTurn().intent
		p.submit("t2", chat.Enqueue)
		p.submit("t3", chat.Supersede)
		p.submit("t4", chat.Enqueue)
	})
	p.run()
	require.Equal(t, []string{"t1 cancelled/superseded", "t2 cancelled/superseded", "t3 completed", "t4 completed"}, statuses(p.endings))
	require.Equal(t, 2, p.calls["Write"])
}

// Rules T1, T11.
func TestSupersedeWhileWritingSettlesTheOldTurnFirstAndMakesOneNewTurn(t *testing.T) {
	s := clearTurn()
	s.stops = make(chan struct{})
	writing := make(chan struct{})
	p := newHarness(t, s)
	p.onceClosed(writing, func() {
		p.submit("t2", chat.Supersede)
		p.submit("t2", chat.Supersede)
	})
	s.write = func(_ context.Context, n int) (activities.ModelResult, error) {
		if n > 1 {
			s.mu.Lock()
			defer s.mu.Unlock()
			require.Len(t, p.endings, 1, "the old turn is settled before the new one writes")
			return activities.ModelResult{Chars: 1}, nil
		}
		close(writing)
		<-s.stops
		return activities.ModelResult{Stopped: true}, nil
	}
	p.submitAt(0, "t1", chat.Supersede)
	p.run()
	require.Equal(t, []string{"t1 cancelled/superseded", "t2 completed"}, statuses(p.endings))
	require.Equal(t, 2, p.calls["Write"])
}

// Retries of a submit.

func (p *harness) send(turn string, s workflows.SubmitRequest) *reply {
	s.TurnID = turn
	if s.OnBusy == "" {
		s.OnBusy = chat.Supersede
	}
	return p.update(workflows.UpdateSubmit, turn, s)
}

func TestRetryWithoutARowMakesNoSecondTurn(t *testing.T) {
	p := newHarness(t, ambiguousTurn())
	first := workflows.SubmitRequest{Client: "c1", Hash: "h1"}
	var again, other *reply
	p.at(0, func() { p.send("t1", first) })
	p.at(1, func() {
		again = p.send("t2", first)
		other = p.send("t3", workflows.SubmitRequest{Client: "c1", Hash: "h2"})
		p.send("t4", workflows.SubmitRequest{Client: "c1", Hash: "h1", OnBusy: chat.Reject})
	})
	p.at(2, func() {
		require.Equal(t, "t1", p.state().TurnID, "a retry does not supersede the turn")
		require.Equal(t, map[string]chat.TurnName{"t1": {Client: "c1"}}, p.state().Names)
		p.resume(answer(chat.ActionChoice, "inquire"))
	})
	p.at(3, func() { p.send("t5", first) }) // also when it has ended
	p.run()
	require.Equal(t, []string{"t1 completed"}, statuses(p.endings))
	require.NoError(t, again.err)
	require.Equal(t, chat.CodeTurnConflict, errType(other.err))
}

func TestRetryAcrossContinueAsNewMakesNoSecondTurn(t *testing.T) {
	first := newHarness(t, ambiguousTurn())
	sent := workflows.SubmitRequest{Client: "c1", Hash: "h1"}
	first.at(0, func() { first.send("t1", sent) })
	first.at(1, func() { first.env.SetContinueAsNewSuggested(true) })
	first.at(2, func() { first.cancel("unknown") }) // any event wakes the workflow
	carried := first.runUntilContinueAsNew(input)
	second := newHarness(t, ambiguousTurn())
	second.at(1, func() {
		second.send("t1", sent)
		second.send("t2", sent)
	})
	second.resumeAt(2, chat.ActionChoice, "inquire")
	second.env.ExecuteWorkflow(workflows.ThreadType, carried)
	require.NoError(t, second.env.GetWorkflowError())
	require.Equal(t, []string{"t1 completed"}, statuses(second.endings))
	require.Equal(t, 1, second.calls["Write"])
}

func TestTurnSettledInAnEarlierRunDoesNotRunAgain(t *testing.T) {
	s := clearTurn()
	s.begin.Settled = true
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	p.run()
	require.Zero(t, p.calls["InferDocs"]+p.calls["InferIntent"]+p.calls["Write"])
	require.Len(t, p.endings, 1, "Settle returns the first end")
}

// Limits.

func withInput(change func(*workflows.ThreadInput)) workflows.ThreadInput {
	in := input
	change(&in)
	return in
}

func (p *harness) runWithInput(in workflows.ThreadInput) {
	p.t.Helper()
	p.env.ExecuteWorkflow(workflows.ThreadType, in)
	require.True(p.t, p.env.IsWorkflowCompleted())
	require.NoError(p.t, p.env.GetWorkflowError())
}

// Rule T16.
func TestTurnThatUsesUpItsLimitBeforeItKnowsTheDocumentsAnswersOnce(t *testing.T) {
	p := newHarness(t, clearTurn())
	p.submitAt(0, "t1", chat.Supersede)
	p.runWithInput(withInput(func(in *workflows.ThreadInput) { in.MaxSteps = 1 })) // action and documents are two
	require.Equal(t, []string{"t1 completed"}, statuses(p.endings))
	require.Equal(t, 1, p.calls["Write"])
	require.Contains(t, summary(p.endings[0].Log), "notice steps_used")
}

func TestStatusesSayWhatTheTurnHasTakenSoFar(t *testing.T) {
	s := clearTurn()
	s.docs[0].Usage.CostUSD = 0.02
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	p.run()
	var costs []float64
	for _, e := range p.endings[0].Log {
		if e.Type == chat.EventStatus && e.Usage != nil {
			require.Positive(t, e.Usage.Calls)
			costs = append(costs, e.Usage.CostUSD)
		}
	}
	require.Contains(t, costs, 0.02)
	require.IsNonDecreasing(t, costs)
}

// Rule T16.
func TestTurnThatUsesUpALimitAnswersOnceMoreWithANotice(t *testing.T) {
	for notice, limit := range map[string]func(*workflows.ThreadInput){
		chat.NoticeStepsUsed:  func(in *workflows.ThreadInput) { in.MaxSteps = 2 },
		chat.NoticeTokensUsed: func(in *workflows.ThreadInput) { in.MaxTokens = 3 }, // which the resolvers use
		chat.NoticeCostUsed:   func(in *workflows.ThreadInput) { in.MaxCostUSD = 0.01 },
	} {
		s := clearTurn()
		s.docs[0].Usage.CostUSD = 0.02
		p := newHarness(t, s)
		p.submitAt(0, "t1", chat.Supersede)
		p.runWithInput(withInput(limit))
		require.Equal(t, []string{"t1 completed"}, statuses(p.endings), notice)
		require.Contains(t, summary(p.endings[0].Log), "notice "+notice)
		require.Len(t, p.writes, 1)
		require.True(t, p.writes[0].Last, "it is offered no tools")
	}
}

func TestTurnOverItsDeadlineFailsAndWaitingForPeopleDoesNotCount(t *testing.T) {
	s := ambiguousTurn()
	p := newHarness(t, s)
	s.write = func(context.Context, int) (activities.ModelResult, error) {
		return activities.ModelResult{}, temporal.NewApplicationErrorWithOptions("write", chat.CodeModelUnavailable,
			temporal.ApplicationErrorOptions{NextRetryDelay: time.Minute})
	}
	p.submitAt(0, "t1", chat.Supersede)
	p.resumeAt(25, chat.ActionChoice, "inquire") // longer than the deadline
	var settled time.Time
	s.settle = func() error { settled = p.env.Now(); return nil }
	began := p.env.Now()
	p.run()
	require.Equal(t, []string{"t1 failed/deadline_exceeded"}, statuses(p.endings))
	require.Greater(t, settled.Sub(began), 33*time.Minute)
	require.Less(t, settled.Sub(began), 37*time.Minute)
	require.Greater(t, p.calls["Write"], 5)
}

// An unavailable database.

func databaseUnavailable() error { return temporal.NewApplicationError("begin", chat.CodeDatabase) }

func TestUnavailableDatabaseDelaysTheBeginningOfATurnAndThenFailsIt(t *testing.T) {
	for name, tc := range map[string]struct {
		tries int
		want  string
	}{
		"available before the timeout": {5, "t1 completed"},
		"unavailable for longer":       {1000, "t1 failed/database_unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			s := clearTurn()
			s.onBegin = func(activities.TurnRef) (activities.BeginResult, error) {
				if s.count("begun") < tc.tries {
					return activities.BeginResult{}, databaseUnavailable()
				}
				return activities.BeginResult{}, nil
			}
			p := newHarness(t, s)
			p.submitAt(0, "t1", chat.Supersede)
			p.run()
			require.Equal(t, []string{tc.want}, statuses(p.endings))
		})
	}
}

func unsaved(message string) workflows.SubmitRequest {
	return workflows.SubmitRequest{RunID: "r1", RequestID: "request-1", Client: message[:1], Unsaved: &activities.UnsavedTurn{
		ClientTurnID: message[:1], Content: chat.Content{Message: message, Agent: chat.AgentAssistant}}}
}

func TestUnsavedMessageRunsWithoutTheDatabaseAndIsSavedWhenSettled(t *testing.T) {
	s := assistantTurn(finalCall())
	var begun []activities.TurnRef
	s.onBegin = func(ref activities.TurnRef) (activities.BeginResult, error) {
		begun = append(begun, ref)
		return activities.BeginResult{Agent: chat.AgentAssistant, Unsaved: true}, nil
	}
	s.settle = func() error {
		if s.count("tries") < 10 {
			return databaseUnavailable()
		}
		return nil
	}
	p := newHarness(t, s)
	p.at(0, func() { p.send("t1", unsaved("a message")) })
	p.run()
	require.Equal(t, []string{"t1 completed"}, statuses(p.endings))
	require.Equal(t, "a message", begun[0].Unsaved.Content.Message)
	require.Equal(t, "a message", s.thinks[0].Unsaved.Content.Message, "the model call gets the message")
	require.Equal(t, "a message", p.endings[0].Unsaved.Content.Message, "Settle writes the row")
	require.Equal(t, "r1", p.endings[0].RunID)
	require.Equal(t, "request-1", p.endings[0].RequestID)
	require.Zero(t, p.calls["MarkRunning"]+p.calls["MarkInterrupted"])
}

func TestUnsavedMessageThatWasStoppedBeforeItCameIsNotAnswered(t *testing.T) {
	for name, s := range map[string]*script{
		"known when it begins":          assistantTurn(finalCall()),
		"known when a step can save it": assistantTurn(finalCall()),
	} {
		t.Run(name, func(t *testing.T) {
			known := name == "known when it begins"
			s.begin = activities.BeginResult{Agent: chat.AgentAssistant, Unsaved: true, Cancelled: known}
			s.thinkErr = temporal.NewNonRetryableApplicationError("stopped: load", activities.ErrTypeStopped, nil)
			p := newHarness(t, s)
			p.at(0, func() { p.send("t1", unsaved("a message")) })
			p.run()
			require.Equal(t, []string{"t1 cancelled/user_cancelled"}, statuses(p.endings))
			require.Equal(t, "a message", p.endings[0].Unsaved.Content.Message, "Settle writes the row")
			require.Equal(t, known, len(s.thinks) == 0)
		})
	}
}

func TestSavedMessageIsNoLongerPassedToActivities(t *testing.T) {
	s := assistantTurn(finalCall())
	s.begin = activities.BeginResult{Agent: chat.AgentAssistant, Parent: "t0"}
	p := newHarness(t, s)
	p.at(0, func() { p.send("t1", unsaved("a message")) })
	p.run()
	require.Equal(t, []string{"t1 completed"}, statuses(p.endings))
	require.Nil(t, s.thinks[0].Unsaved)
	require.Nil(t, p.endings[0].Unsaved)
	require.Equal(t, "t0", p.endings[0].Parent)
}

func TestUnsavedMessagesAreBounded(t *testing.T) {
	p := newHarness(t, ambiguousTurn())
	p.submitAt(0, "t1", chat.Supersede)
	var replies []*reply
	p.at(1, func() {
		for i := range 40 {
			m := unsaved(fmt.Sprint(i) + strings.Repeat("x", 100_000))
			m.Client, m.OnBusy = fmt.Sprint(i), chat.Enqueue
			replies = append(replies, p.send(fmt.Sprintf("u%d", i), m))
		}
		p.submit("t2", chat.Rollback)
	})
	p.at(2, func() { p.cancel("t2") })
	p.run()
	refused := 0
	for _, r := range replies {
		if r.rejected != nil {
			require.Equal(t, chat.CodeDatabase, errType(r.rejected))
			refused++
		}
	}
	require.Equal(t, 30, refused)
	require.Len(t, p.endings, 12, "every accepted turn is settled")
}

func TestSettleWaitsForTheStoppedActivityWhileTheDatabaseIsUnavailable(t *testing.T) {
	s := clearTurn()
	release := make(chan struct{})
	p := newHarness(t, s)
	var handedIn atomic.Bool
	s.write = func(context.Context, int) (activities.ModelResult, error) {
		p.cancel("t1")
		<-release
		handedIn.Store(true)
		return activities.ModelResult{Stopped: true}, nil
	}
	s.settle = func() error {
		if s.count("tries") == 1 {
			close(release)
			return databaseUnavailable()
		}
		require.True(t, handedIn.Load(), "the partial was only in the activity's memory")
		return nil
	}
	p.submitAt(0, "t1", chat.Supersede)
	p.run()
	require.Equal(t, []string{"t1 cancelled/user_cancelled"}, statuses(p.endings))
}

func TestTurnStoppedInTheQueueSetsNeitherAgentNorSpaceOfTheThread(t *testing.T) {
	s := ambiguousTurn()
	s.begin.Space = "s"
	s.onBegin = func(ref activities.TurnRef) (activities.BeginResult, error) {
		if ref.TurnID == "t2" {
			return activities.BeginResult{Agent: chat.AgentAssistant, Parent: "t1"}, nil
		}
		return activities.BeginResult{}, nil
	}
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	p.submitAt(1, "t2", chat.Enqueue)
	p.at(2, func() { p.cancel("t2") })
	p.at(3, func() {
		require.Equal(t, []string{"t2 cancelled/user_cancelled"}, statuses(p.endings))
		require.Equal(t, 2, s.calls["BeginTurn"], "it has its place in the tree")
		require.Equal(t, chat.AgentDocuments, p.state().Agent)
		require.Equal(t, "s", p.state().Space)
	})
	p.resumeAt(4, chat.ActionChoice, "inquire")
	p.run()
	require.Len(t, p.endings, 2)
}

// Edits of queued messages.

func TestEditedMessageTakesThePlaceOfTheOneThatWaits(t *testing.T) {
	p := newHarness(t, ambiguousTurn())
	p.submitAt(0, "t1", chat.Supersede)
	p.submitAt(1, "t2", chat.Enqueue)
	p.submitAt(1, "t3", chat.Enqueue)
	p.at(2, func() { p.replace("t4", "t2") })
	p.at(3, func() {
		require.Equal(t, []string{"t2 cancelled/rolled_back"}, statuses(p.endings))
		require.True(t, p.endings[0].Hidden)
		require.Equal(t, []string{"t4", "t3"}, p.state().Queue)
		p.script.intent = clearTurn().intent
		p.resume(answer(chat.ActionChoice, "inquire"))
	})
	p.run()
	require.Equal(t, []string{"t2 cancelled/rolled_back", "t1 completed", "t4 completed", "t3 completed"}, statuses(p.endings))
}

func TestMessageThatHasBegunCannotBeEdited(t *testing.T) {
	p := newHarness(t, ambiguousTurn())
	p.submitAt(0, "t1", chat.Supersede)
	var edit *reply
	p.at(1, func() { edit = p.replace("t2", "t1") })
	p.at(2, func() {
		require.Equal(t, chat.CodeTurnBegun, errType(edit.rejected))
		require.Empty(t, p.state().Queue)
		p.script.intent = clearTurn().intent
		p.resume(answer(chat.ActionChoice, "inquire"))
	})
	p.run()
	require.Equal(t, []string{"t1 completed"}, statuses(p.endings))
}
