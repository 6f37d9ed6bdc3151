package workflows_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/workflows"
)

// aheadOf is what Resolve records for the turn of s before it goes on to the answer.
func aheadOf(s *script, r activities.ResolveRequest) *activities.Ahead {
	a := &activities.Ahead{Intent: s.intent, Docs: s.docs[0], Found: s.found[0]}
	a.Entries = slices.Concat(activities.InferredEntries(), activities.DocsEntries(a.Docs), activities.ValidateEntries(a.Intent), activities.ActionEntries(a.Intent.Action))
	for i := range a.Entries {
		a.Entries[i].N, a.Entries[i].At = r.Logged+1+i, time.Date(2031, 1, 1, 0, 0, i, 0, time.UTC)
	}
	return a
}

// aheadTurn is a plain turn whose Resolve goes on to the answer.
func aheadTurn() *script {
	s := clearTurn()
	s.onResolve = func(_ context.Context, r activities.ResolveRequest) (activities.Resolved, error) {
		return activities.Resolved{
			Ahead: aheadOf(s, r), Written: &activities.Written{Chars: 10, Citations: 1, Usage: chat.Usage{TokensOut: 5, Calls: 1}},
		}, nil
	}
	return s
}

// numbered fails unless the entries are numbered from 1 without a gap.
func numbered(t *testing.T, log []chat.Entry) {
	t.Helper()
	for i, e := range log {
		require.Equal(t, i+1, e.N)
	}
}

func TestTurnOfOneActivityEndsAsOneOfSeparateActivities(t *testing.T) {
	separate := newHarness(t, clearTurn())
	separate.submitAt(0, "t1", chat.Supersede)
	separate.runWithInput(withInput(func(in *workflows.ThreadInput) { in.Version = 1 }))

	s := aheadTurn()
	e := runTurn(t, s)
	require.Equal(t, []int{1, 0, 0, 0}, []int{s.calls["Resolve"], s.calls["Retrieve"], s.calls["Write"], s.calls["SealAhead"]})
	want := separate.endings[0]
	require.Equal(t, summary(want.Log), summary(e.Log))
	numbered(t, e.Log)
	require.Equal(t, 2031, e.Log[2].At.Year(), "entries keep the time that was shown")
	want.Log, e.Log = nil, nil
	want.TurnRef, e.TurnRef = activities.TurnRef{}, activities.TurnRef{}
	require.Equal(t, want, e)
}

func TestThreadOfVersion1AsksForNoAnswerFromResolve(t *testing.T) {
	p := newHarness(t, clearTurn())
	p.submitAt(0, "t1", chat.Supersede)
	p.runWithInput(withInput(func(in *workflows.ThreadInput) { in.Version = 1 }))
	require.Nil(t, p.open[0].GoOn)
	require.Equal(t, 1, p.calls["Write"])
}

func TestResolveGoesOnOnlyWithinTheTurnsLimits(t *testing.T) {
	for name, c := range map[string]struct {
		steps, tokens int
		want          *activities.GoOn
	}{
		"no limits":                {0, 0, &activities.GoOn{}},
		"steps for the answer":     {3, 0, &activities.GoOn{}},
		"no step for the answer":   {2, 0, nil},
		"the tokens that are left": {0, 1000, &activities.GoOn{Tokens: 1000}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newHarness(t, clearTurn())
			p.submitAt(0, "t1", chat.Supersede)
			p.runWithInput(withInput(func(in *workflows.ThreadInput) { in.MaxSteps, in.MaxTokens = c.steps, c.tokens }))
			require.Equal(t, c.want, p.open[0].GoOn)
		})
	}
}

func TestResolveThatDoesNotGoOnIsFollowedByTheOtherSteps(t *testing.T) {
	s := clearTurn()
	s.found = []activities.Retrieved{{Confidence: chat.Low}}
	e := runTurn(t, s, answer(chat.RetrievalLow, chat.OptionContinue))
	require.Contains(t, summary(e.Log), "interrupt retrieval_low")
	require.Equal(t, 1, s.calls["Write"])
	require.Zero(t, s.calls["SealAhead"])
}

func TestAnswerThatFailsKeepsTheEntriesThatItsActivityRecorded(t *testing.T) {
	s := clearTurn()
	var sealed *activities.Ahead
	s.onResolve = func(_ context.Context, r activities.ResolveRequest) (activities.Resolved, error) {
		sealed = aheadOf(s, r)
		return activities.Resolved{}, temporal.NewNonRetryableApplicationError("rejected", chat.CodeModelRejected, nil)
	}
	s.onSeal = func(n int) (activities.Ahead, error) {
		if n < 3 {
			return activities.Ahead{}, errors.New("the database is away")
		}
		return *sealed, nil
	}
	e := runTurn(t, s)
	require.Equal(t, chat.TurnFailed, e.Status)
	require.Equal(t, chat.CodeModelRejected, e.Code)
	require.Equal(t, []string{
		"turn_started", "status intent_resolver", "status doc_resolver", "status doc_resolver docs", "status validate_inputs", "status inquire",
	}, summary(e.Log))
	numbered(t, e.Log)
	require.Equal(t, []any{chat.Inquire, chat.High, 2}, []any{e.Action, e.Retrieval, e.Usage.Calls})
	require.Equal(t, 3, s.calls["SealAhead"], "it is retried: people may have seen the entries")
	require.Zero(t, s.calls["Write"]+s.calls["Retrieve"])
}

func TestFailureBeforeAnythingIsRecordedAddsNoEntries(t *testing.T) {
	s := clearTurn()
	s.onResolve = func(context.Context, activities.ResolveRequest) (activities.Resolved, error) {
		return activities.Resolved{}, temporal.NewNonRetryableApplicationError("rejected", chat.CodeModelRejected, nil)
	}
	e := runTurn(t, s)
	require.Equal(t, chat.CodeModelRejected, e.Code)
	require.Equal(t, []string{"turn_started", "status intent_resolver"}, summary(e.Log))
	require.Equal(t, 1, s.calls["SealAhead"], "nothing can be recorded after it")
}

func TestStoppedAnswerKeepsTheEntriesThatItsActivityRecorded(t *testing.T) {
	for name, returns := range map[string]bool{"it returns the partial answer": true, "it returns nothing": false} {
		t.Run(name, func(t *testing.T) {
			s := clearTurn()
			s.stops = make(chan struct{})
			p := newHarness(t, s)
			var sealed *activities.Ahead
			s.onResolve = func(_ context.Context, r activities.ResolveRequest) (activities.Resolved, error) {
				sealed = aheadOf(s, r)
				p.cancel("t1")
				<-s.stops
				if !returns {
					return activities.Resolved{}, temporal.NewNonRetryableApplicationError("stopped", activities.ErrTypeStopped, nil)
				}
				return activities.Resolved{Ahead: sealed, Written: &activities.Written{Stopped: true, Usage: chat.Usage{Calls: 1}}}, nil
			}
			s.onSeal = func(int) (activities.Ahead, error) { return *sealed, nil }
			p.submitAt(0, "t1", chat.Supersede)
			p.run()
			require.Equal(t, []string{"t1 cancelled/user_cancelled"}, statuses(p.endings))
			require.Equal(t, "status inquire", summary(p.endings[0].Log)[5])
			numbered(t, p.endings[0].Log)
		})
	}
}

// A signal's answer to no question is a notice in the log. The running activity may have
// shown the entries that come next, under the same numbers.
func TestNoticeWaitsForTheEntriesOfTheRunningActivity(t *testing.T) {
	s := aheadTurn()
	p := newHarness(t, s)
	goesOn, shown := s.onResolve, chat.Progress{}
	begun, release := make(chan struct{}), make(chan struct{})
	s.onResolve = func(ctx context.Context, r activities.ResolveRequest) (activities.Resolved, error) {
		close(begun)
		<-release
		return goesOn(ctx, r)
	}
	p.onceClosed(begun, func() {
		p.env.SignalWorkflow(workflows.SignalResume, answer(chat.DocChoice, "d1"))
		p.env.RegisterDelayedCallback(func() {
			shown = p.progress("t1", 0)
			close(release)
		}, 0)
	})
	p.submitAt(0, "t1", chat.Supersede)
	p.run()
	require.True(t, shown.Ahead, "followers look for what the activity has recorded")
	require.Len(t, shown.Entries, 2)
	log := p.endings[0].Log
	require.Equal(t, []string{"status inquire", "notice " + chat.NoticeResumeIgnored, "text piece:1"}, summary(log)[5:8])
	numbered(t, log)
}

func TestAnswerOfTheSameActivityMayAskForTools(t *testing.T) {
	s := aheadTurn()
	goesOn := s.onResolve
	s.onResolve = func(ctx context.Context, r activities.ResolveRequest) (activities.Resolved, error) {
		out, err := goesOn(ctx, r)
		out.Written.Calls = toolCalls(1, "search").Calls
		return out, err
	}
	e := runTurn(t, s)
	require.Equal(t, chat.TurnCompleted, e.Status)
	require.Len(t, s.writes, 1)
	require.Equal(t, activities.Stage{Piece: 2, Round: 1, Calls: 1}, s.writes[0].Stage)
	numbered(t, e.Log)
}
