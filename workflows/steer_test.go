package workflows_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/workflows"
)

func lastOf[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }

// steerable is an assistant's turn of two rounds, between which it asks the person at minute 0.
func steerable() *script {
	s := assistantTurn(toolCalls(1, "draw"), finalCall())
	s.begin.Rounds = true
	return s
}

// Rule T11.
func TestMessageThatSteersReachesTheModelBeforeItsNextCall(t *testing.T) {
	s := steerable()
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	var given, again *reply
	p.at(1, func() { given = p.submit("t2", chat.Steer) })
	p.at(2, func() { p.resume(decide(yes("c1"))) })
	p.at(5, func() {
		again = p.update(workflows.UpdateSubmit, "again", workflows.SubmitRequest{TurnID: "t2", OnBusy: chat.Steer})
	})
	p.run()
	require.Equal(t, "t1", given.value.(workflows.SubmitReply).TurnID, "its sender follows the turn that reads it")
	require.Equal(t, "t1", again.value.(workflows.SubmitReply).TurnID, "a retry, too, after the turn has ended")
	require.Equal(t, []string{"t1 completed"}, statuses(p.endings))
	require.Len(t, s.given, 1)
	require.Equal(t, []any{[]string{"t2"}, 1, "t1"}, []any{s.given[0].TurnIDs, s.given[0].First, s.given[0].TurnID})
	require.Equal(t, []string{"tool_result draw", "notice steered", "status model", "text piece:1"}, lastOf(summary(p.endings[0].Log), 4))
	require.Equal(t, [][]int{nil, {2}}, [][]int{s.thinks[0].Given, s.thinks[1].Given})
}

// Rule C20. The running turn reads nothing of a space that a message adds.
func TestMessageThatAddsASpaceWaitsForItsOwnTurn(t *testing.T) {
	for space, given := range map[string]bool{"": true, "+team": true, "+team+other": false} {
		s := steerable()
		s.begin.Space = "+team"
		p := newHarness(t, s)
		p.submitAt(0, "t1", chat.Supersede)
		var got *reply
		p.at(1, func() {
			got = p.update(workflows.UpdateSubmit, "t2", workflows.SubmitRequest{TurnID: "t2", OnBusy: chat.Steer, Space: space})
		})
		p.at(2, func() { p.resume(decide(yes("c1"))) })
		p.run()
		require.Equal(t, given, got.value.(workflows.SubmitReply).Given, space)
		require.Equal(t, given, len(statuses(p.endings)) == 1, space)
	}
}

func TestMessageThatSteersIsCarriedIntoTheNextRun(t *testing.T) {
	s := steerable()
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() { p.submit("t2", chat.Steer) })
	p.at(2, func() { p.env.SetContinueAsNewSuggested(true) })
	p.at(3, func() { p.env.SignalWorkflow(workflows.SignalCancel, chat.Cancel{TurnID: "t9"}) })
	carried := p.runUntilContinueAsNew(input)
	next := newHarness(t, s)
	next.at(1, func() { next.resume(decide(yes("c1"))) })
	next.runWithInput(carried)
	require.Equal(t, []string{"t1 completed"}, statuses(next.endings))
	require.Len(t, s.given, 1)
	require.Equal(t, []int{2}, s.thinks[1].Given)
}

func TestMessageThatSteersWhileTheModelAnswersGetsARoundOfItsOwn(t *testing.T) {
	s := clearTurn()
	s.begin.Rounds = true
	begun, given := make(chan struct{}), make(chan struct{})
	s.write = func(_ context.Context, n int) (activities.ModelResult, error) {
		if n == 1 {
			close(begun)
			<-given
		}
		return activities.ModelResult{Chars: 10, Citations: 1}, nil
	}
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	p.onceClosed(begun, func() { p.submit("t2", chat.Steer); close(given) })
	p.run()
	require.Equal(t, []string{"t1 completed"}, statuses(p.endings))
	require.Equal(t, [][]int{nil, {2}}, [][]int{p.writes[0].Given, p.writes[1].Given})
	require.Equal(t, []string{"text piece:1", "notice steered", "status model", "text piece:2", "status format_response"}, lastOf(summary(p.endings[0].Log), 5))
}

func TestMessageThatSteersIsEnqueuedWhereNoModelReadsIt(t *testing.T) {
	s := steerable()
	s.begin.Rounds = false
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	var given *reply
	p.at(1, func() { given = p.submit("t2", chat.Steer) })
	p.at(2, func() { p.resume(decide(yes("c1"))) })
	p.run()
	require.Equal(t, "t2", given.value.(workflows.SubmitReply).TurnID)
	require.Equal(t, []string{"t1 completed", "t2 completed"}, statuses(p.endings))
	require.Empty(t, s.given)
}

func TestUnreadMessageBecomesATurnWhenTheTurnIsStopped(t *testing.T) {
	s := steerable()
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() { p.submit("t2", chat.Steer) })
	p.at(2, func() { p.cancel("t1") })
	var again *reply
	p.at(4, func() {
		again = p.update(workflows.UpdateSubmit, "again", workflows.SubmitRequest{TurnID: "t2", OnBusy: chat.Steer})
	})
	p.run()
	require.Equal(t, []string{"t1 cancelled/user_cancelled", "t2 completed"}, statuses(p.endings))
	require.Empty(t, s.given)
	require.Equal(t, "t2", again.value.(workflows.SubmitReply).TurnID)
}

// Rule T11.
func TestCancelledMessageThatSteersReachesNoModel(t *testing.T) {
	s := steerable()
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() { p.submit("t2", chat.Steer) })
	p.at(2, func() { p.cancel("t2") })
	var again *reply
	p.at(3, func() {
		again = p.update(workflows.UpdateSubmit, "again", workflows.SubmitRequest{TurnID: "t2", OnBusy: chat.Steer})
	})
	p.at(4, func() { p.resume(decide(yes("c1"))) })
	p.run()
	require.Equal(t, []string{"t2 cancelled/user_cancelled", "t1 completed"}, statuses(p.endings))
	require.Empty(t, s.given)
	require.Equal(t, []string{"t1"}, p.others[1].Open)
	require.Equal(t, "t2", again.value.(workflows.SubmitReply).TurnID, "a retry sees the cancel")
}

func TestCancelThatOvertakesAMessageThatSteersStopsItAlone(t *testing.T) {
	s := steerable()
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() { p.cancel("t2"); p.submit("t2", chat.Steer) })
	p.at(2, func() { p.resume(decide(yes("c1"))) })
	p.run()
	require.Equal(t, []string{"t1 completed", "t2 cancelled/user_cancelled"}, statuses(p.endings))
	require.Empty(t, s.given)
}

// The rows of the messages are deleted meanwhile.
func TestCancelOfAMessageThatIsBeingReadComesTooLate(t *testing.T) {
	s := steerable()
	p := newHarness(t, s)
	reading, cancelled := make(chan struct{}), make(chan struct{})
	s.onGiven = func() { close(reading); <-cancelled }
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() { p.submit("t2", chat.Steer); p.submit("t3", chat.Steer) })
	p.at(2, func() { p.resume(decide(yes("c1"))) })
	p.onceClosed(reading, func() { p.cancel("t2"); p.submit("t4", chat.Steer); p.cancel("t4"); close(cancelled) })
	p.run()
	require.ElementsMatch(t, []string{"t1 completed", "t4 cancelled/user_cancelled"}, statuses(p.endings))
	require.Equal(t, []string{"t2", "t3"}, s.given[0].TurnIDs)
	require.Len(t, s.given, 1)
	require.Equal(t, []int{2, 2}, s.thinks[1].Given)
}

// A stop does not undo that the messages are part of the turn.
func TestStopWhileMessagesAreBeingReadKeepsThemInTheTurn(t *testing.T) {
	s := steerable()
	p := newHarness(t, s)
	reading, stopped := make(chan struct{}), make(chan struct{})
	s.onGiven = func() { close(reading); <-stopped }
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() { p.submit("t2", chat.Steer) })
	p.at(2, func() { p.resume(decide(yes("c1"))) })
	p.onceClosed(reading, func() { p.cancel("t1"); close(stopped) })
	p.run()
	require.Equal(t, []string{"t1 cancelled/user_cancelled"}, statuses(p.endings))
	require.Equal(t, "notice steered", summary(p.endings[0].Log)[len(p.endings[0].Log)-1])
}

// An attempt may have copied the message before its answer was lost. Its own turn must still exist.
func TestMessageThatCannotBeReadKeepsItsOwnTurn(t *testing.T) {
	s := steerable()
	s.givenErr = temporal.NewNonRetryableApplicationError("take", chat.CodeDatabase, nil)
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() { p.submit("t2", chat.Steer) })
	p.at(2, func() { p.resume(decide(yes("c1"))) })
	p.run()
	require.Equal(t, []string{"t1 failed/" + chat.CodeDatabase, "t2 completed"}, statuses(p.endings))
	require.Zero(t, s.calls["DropGiven"])
}

func TestTurnOfAMessageThatWasReadIsDroppedAtTheEndIfItCannotBeBefore(t *testing.T) {
	for _, dropErr := range []error{nil, temporal.NewApplicationError("drop", chat.CodeDatabase)} {
		s := steerable()
		s.dropErr = dropErr
		p := newHarness(t, s)
		p.submitAt(0, "t1", chat.Supersede)
		p.at(1, func() { p.submit("t2", chat.Steer) })
		p.at(2, func() { p.resume(decide(yes("c1"))) })
		p.run()
		require.Equal(t, []string{"t1 completed"}, statuses(p.endings))
		if dropErr == nil {
			require.Empty(t, p.endings[0].Taken)
		} else {
			require.Equal(t, []string{"t2"}, p.endings[0].Taken)
			require.Equal(t, 1, s.calls["DropGiven"], "the turn does not wait for the database")
		}
	}
}

// Repair keeps, and history shows, what a thread says that it has.
func TestThreadKnowsMessagesThatItsTurnHasNotRead(t *testing.T) {
	s := steerable()
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	var given, again, owner *reply
	p.at(1, func() { given = p.submit("t2", chat.Steer) })
	p.at(2, func() {
		again = p.update(workflows.UpdateSubmit, "again", workflows.SubmitRequest{TurnID: "t2", OnBusy: chat.Steer})
		owner = p.update(workflows.UpdateOwner, "owner", "bob")
	})
	p.at(3, func() {
		require.True(t, p.progress("t2", 0).Known)
		state := p.state()
		require.Equal(t, []string{"t2"}, state.Queue)
		require.Contains(t, state.Names, "t2")
		p.resume(decide(yes("c1")))
	})
	p.run()
	require.Equal(t, chat.CodeTurnRunning, errType(owner.rejected), "as for a message in the queue")
	for _, r := range []*reply{given, again} {
		require.True(t, r.value.(workflows.SubmitReply).Given)
	}
	require.Equal(t, []string{"t1 completed"}, statuses(p.endings))
}

func TestMessageThatSteersIsReplacedWhileNobodyHasReadIt(t *testing.T) {
	s := steerable()
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() { p.submit("t2", chat.Steer) })
	var taken, late *reply
	p.at(2, func() { taken = p.replace("t3", "t2") })
	p.at(3, func() { p.resume(decide(yes("c1"))) })
	p.at(4, func() { late = p.replace("t4", "t2") })
	p.run()
	require.NoError(t, taken.rejected)
	require.Equal(t, chat.CodeTurnBegun, errType(late.rejected))
	require.ElementsMatch(t, []string{"t2 cancelled/rolled_back", "t1 completed", "t3 completed"}, statuses(p.endings))
	require.Empty(t, s.given)
}

func TestMessageThatSteersIsSupersededWithItsTurn(t *testing.T) {
	s := steerable()
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	p.at(1, func() { p.submit("t2", chat.Steer) })
	p.submitAt(2, "t3", chat.Supersede)
	p.run()
	require.Equal(t, []string{"t1 cancelled/superseded", "t2 cancelled/superseded", "t3 completed"}, statuses(p.endings))
}

// Rule T15.
func TestThoroughTurnShowsItsPlanAndItsModelKnowsWhatIsLeft(t *testing.T) {
	for effort, want := range map[chat.Effort]int{"": 0, chat.Quick: 0, chat.Normal: 0, chat.Thorough: 1} {
		s := assistantTurn(toolCalls(1, "search"), finalCall())
		s.begin.Effort, s.planned = effort, 3
		p := newHarness(t, s)
		p.submitAt(0, "t1", chat.Supersede)
		bounded := input
		bounded.MaxSteps, bounded.MaxTokens = 20, 1000
		p.runWithInput(bounded)
		require.Equal(t, want, s.calls["Plan"], effort)
		shown := summary(p.endings[0].Log)
		if want == 1 {
			require.Contains(t, shown, "notice plan")
		} else {
			require.NotContains(t, shown, "notice plan")
		}
		second := s.thinks[1]
		switch effort {
		case chat.Normal:
			require.Equal(t, []any{chat.Normal, 5}, []any{second.Effort, second.Left.Steps})
		case chat.Thorough:
			require.Equal(t, []any{chat.Thorough, 18}, []any{second.Effort, second.Left.Steps})
			require.Equal(t, 1000-oneThought.Tokens(), second.Left.Tokens)
		default:
			require.Equal(t, []any{chat.Effort(""), (*activities.LimitsLeft)(nil)}, []any{second.Effort, second.Left}, "as before")
		}
	}
}

func TestEffortOfTheSettingsCountsIfTheMessageNamesNone(t *testing.T) {
	s := assistantTurn(finalCall())
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	thorough := input
	thorough.Effort = chat.Thorough
	p.runWithInput(thorough)
	require.Equal(t, chat.Thorough, s.thinks[0].Effort)
}

func TestNormalEffortAnswersAfterAFewStepsWithoutANotice(t *testing.T) {
	s := assistantTurn(toolCalls(1, "search"))
	s.begin.Effort = chat.Normal
	e := runTurn(t, s)
	require.Equal(t, chat.TurnCompleted, e.Status)
	require.Equal(t, 6, s.calls["Think"])
	require.True(t, s.thinks[5].Last)
	for _, line := range summary(e.Log) {
		require.NotContains(t, line, "notice")
	}
}
