package activities_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/testkit/activitytest"
)

// unsaved is a turn that was submitted while the database was unavailable.
func (b *bundle) unsaved(c chat.Content) activities.TurnRef {
	id := uuid.NewString()
	return activities.TurnRef{Owner: owner, ThreadID: b.Thread, TurnID: id, RunID: "run-" + id, Unsaved: &activities.UnsavedTurn{
		ClientTurnID: "client-" + id, Content: c, ContentHash: c.Hash(), CreatedAt: time.Now(),
	}}
}

func TestWorkerCrashUsesNoRetryBudget(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.Ask("How many?")
	b.Model.OnStream = activitytest.StreamError(activitytest.Overloaded)
	b.Info.Attempt, b.Info.Scheduled = 4, time.Hour // three workers died
	_, err := b.tryThink(r)
	require.False(t, activitytest.AppError(t, err).NonRetryable())
	require.Equal(t, activities.FirstBackoff, activitytest.AppError(t, err).NextRetryDelay())
}

func TestConsecutiveFailuresShareOneRetryBudget(t *testing.T) {
	for name, tc := range map[string]struct {
		before activities.Handover
		final  bool
	}{
		"within":                       {activities.Handover{Since: time.Now().Add(-10 * time.Second), Tries: 2, Attempt: 2}, false},
		"used up":                      {activities.Handover{Since: time.Now().Add(-45 * time.Second), Tries: 2, Attempt: 2}, true},
		"used up before a worker died": {activities.Handover{Since: time.Now().Add(-45 * time.Second), Tries: 1, Attempt: 1}, false},
		"no activities.Handover":       {activities.Handover{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			r := b.Ask("How many?")
			b.Model.OnStream = activitytest.StreamError(activitytest.Overloaded)
			b.Info.Attempt = 3
			b.Env.SetHeartbeatDetails(tc.before)
			_, err := b.tryThink(r)
			require.Equal(t, tc.final, activitytest.AppError(t, err).NonRetryable())
		})
	}
}

// The server's clock and the worker's may differ: only spans of one clock count.
func TestRetryBudgetDoesNotDependOnTheWorkersClock(t *testing.T) {
	for _, ahead := range []time.Duration{-5 * time.Minute, 5 * time.Minute} {
		b := setup(t)
		r := b.Ask("How many?")
		b.Model.OnStream = activitytest.StreamError(activitytest.Overloaded)
		b.Info.Attempt, b.Info.Ago = 3, ahead
		server := time.Now().Add(-ahead)
		b.Env.SetHeartbeatDetails(activities.Handover{Since: server.Add(-10 * time.Second), Tries: 2, Attempt: 2})
		_, err := b.tryThink(r)
		require.False(t, activitytest.AppError(t, err).NonRetryable(), ahead)
		b.Env.SetHeartbeatDetails(activities.Handover{Since: server.Add(-46 * time.Second), Tries: 2, Attempt: 2})
		_, err = b.tryThink(r)
		require.True(t, activitytest.AppError(t, err).NonRetryable(), ahead)
	}
}

func TestFailedAttemptHandsOverSinceWhenAttemptsFail(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.Ask("How many?")
	b.Model.OnStream = activitytest.StreamError(activitytest.Overloaded)
	b.Info.Attempt = 2
	since := time.Now().Add(-7 * time.Second).UTC()
	b.Env.SetHeartbeatDetails(activities.Handover{Since: since, Tries: 1, Attempt: 1})
	var handovers []activities.Handover
	b.Env.SetOnActivityHeartbeatListener(func(_ *activity.Info, details converter.EncodedValues) {
		var v activities.Handover
		if details.HasValues() && details.Get(&v) == nil {
			handovers = append(handovers, v)
		}
	})
	_, err := b.tryThink(r)
	require.Error(t, err)
	require.Equal(t, []activities.Handover{{Since: since, Tries: 2, Attempt: 2}}, handovers)
}

func TestUnsavedMessageIsSavedOnceTheDatabaseIsAvailableAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	before := b.Exchange("one", "1")
	ref := b.unsaved(chat.Content{Message: "two", Agent: chat.AgentAssistant})
	b.Store.Unavailable.Store(true)
	begun := must[activities.BeginResult](b, b.BeginTurn, ref)
	require.Equal(t, activities.BeginResult{Agent: chat.AgentAssistant, RunID: ref.RunID, Rounds: true, Unsaved: true}, begun)

	b.Store.Unavailable.Store(false)
	require.NoError(t, b.saveTurn(ref))
	require.NoError(t, b.saveTurn(ref), "saving is idempotent")
	b.End(activities.Ending{TurnRef: ref, Status: chat.TurnCancelled, Reason: chat.UserCancelled})
	turn, err := b.Store.Turn(context.Background(), owner, ref.TurnID)
	require.NoError(t, err)
	require.Equal(t, before.TurnID, turn.Parent)
	require.Equal(t, "two", turn.Content.Message)
	require.Equal(t, ref.Unsaved.ClientTurnID, turn.ClientTurnID)
	require.Equal(t, "two", b.history()[2].Content)
	require.Equal(t, ref.RunID, b.terminal(ref).StreamRunID)
}

func (b *bundle) saveTurn(ref activities.TurnRef) error {
	_, _, err := b.Save(context.Background(), &ref)
	return err
}

// cancel stores a cancel that found no turn: its submit came later, or the turn was not saved.
func (b *bundle) cancel(ref activities.TurnRef) {
	b.T.Helper()
	require.NoError(b.T, b.Store.Cancel(context.Background(), owner, db.CancelRef{ThreadID: b.Thread, ClientTurnID: ref.Unsaved.ClientTurnID}, chat.UserCancelled))
}

func TestCancelThatCameBeforeAnUnsavedTurnIsFoundWhenItBegins(t *testing.T) {
	for name, tc := range map[string]struct {
		fault  func(*bundle) // nil: the database can save it
		agent  chat.Agent
		missed bool // nobody can know of it yet
	}{
		"saved":                              {nil, chat.AgentAssistant, false},
		"full disk":                          {func(b *bundle) { b.Store.Full.Store(true) }, chat.AgentAssistant, false},
		"full disk, it needs stored data":    {func(b *bundle) { b.Store.Full.Store(true) }, chat.AgentDocuments, false},
		"the database cannot be read either": {func(b *bundle) { b.Store.Unavailable.Store(true) }, chat.AgentAssistant, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			ref := b.unsaved(chat.Content{Message: "Hello", Agent: tc.agent})
			b.cancel(ref)
			if tc.fault != nil {
				tc.fault(b)
			}
			begun := must[activities.BeginResult](b, b.BeginTurn, ref)
			require.Equal(t, tc.fault != nil, begun.Unsaved)
			require.Equal(t, !tc.missed, begun.Cancelled)
		})
	}
}

// A cancel that no earlier step could read stops the turn in the step that saves its row.
func TestCancelOfAnUnsavedTurnStopsTheStepThatSavesIt(t *testing.T) {
	ask := func(b *bundle) activitytest.Step {
		return activitytest.Step{TurnRef: b.unsaved(chat.Content{Message: "Hello", Agent: chat.AgentAssistant}), Stage: b.Ask("before").Stage}
	}
	t.Run("before the model call", func(t *testing.T) {
		b := setup(t)
		r := ask(b)
		b.cancel(r.TurnRef)
		_, err := b.tryThink(r)
		app := activitytest.AppError(t, err)
		require.Equal(t, activities.ErrTypeStopped, app.Type())
		require.True(t, app.NonRetryable())
		require.Zero(t, b.Model.Calls())
	})
	t.Run("with a draft", func(t *testing.T) {
		b := setup(t)
		r := ask(b)
		b.cancel(r.TurnRef)
		b.Store.Unavailable.Store(true)
		b.Model.OnStream = func(ctx context.Context, emit func(string) error) error {
			_ = emit("One")
			b.Store.Unavailable.Store(false)
			<-ctx.Done()
			return ctx.Err()
		}
		require.True(t, b.think(r).Stopped)
		require.Equal(t, "One", b.Draft(r.TurnRef))
	})
	t.Run("with the answer", func(t *testing.T) {
		b := setup(t)
		r := ask(b)
		b.cancel(r.TurnRef)
		b.Store.Unavailable.Store(true)
		b.Model.OnStream = func(_ context.Context, emit func(string) error) error {
			_ = emit("One")
			b.Store.Unavailable.Store(false)
			return nil
		}
		require.True(t, b.think(r).Stopped)
		require.Equal(t, "One", b.Draft(r.TurnRef))
	})
	for name, end := range map[string]activities.Ending{
		"with its answer as the end":  {Status: chat.TurnCompleted, Log: activitytest.Written1[:1]},
		"with its failure as the end": {Status: chat.TurnFailed, Code: chat.CodeModelUnavailable, Log: activitytest.Written1[:1]},
	} {
		for attempt, tries := range map[string]int{"": 0, ", plainly": activities.MaxSettleTries} {
			t.Run(name+attempt, func(t *testing.T) {
				b := setup(t)
				end.TurnRef = b.unsaved(chat.Content{Message: "Hello", Agent: chat.AgentAssistant})
				b.cancel(end.TurnRef)
				b.Info.Attempt = int32(tries + 1)
				b.Env.SetHeartbeatDetails(activities.Handover{Since: time.Now(), Tries: tries, Attempt: int32(tries)})
				require.Equal(t, chat.EventCancelled, b.End(end).Type)
				stored := b.terminal(end.TurnRef)
				require.Equal(t, chat.UserCancelled, stored.Reason)
				require.Empty(t, stored.Code)
			})
		}
	}
}

func TestUnsavedTurnThatNeedsStoredDataWaitsForTheDatabase(t *testing.T) {
	for name, c := range map[string]chat.Content{
		"the documents agent": {Message: "Sum it up", Agent: chat.AgentDocuments},
		"a tagged document":   {Message: "Sum it up", Agent: chat.AgentAssistant, TaggedDocs: []string{uuid.NewString()}},
		"a picture":           {Message: "What is this?", Agent: chat.AgentAssistant, Attachments: []string{uuid.NewString()}},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			ref := b.unsaved(c)
			b.Store.Unavailable.Store(true)
			_, err := run[activities.BeginResult](b, b.BeginTurn, ref)
			app := activitytest.AppError(t, err)
			require.Equal(t, chat.CodeDatabase, app.Type())
			require.False(t, app.NonRetryable(), "it is retried for a while")
			b.Store.Unavailable.Store(false)
			begun := must[activities.BeginResult](b, b.BeginTurn, ref)
			require.False(t, begun.Unsaved)
			require.Equal(t, chat.RootCheckpoint, begun.Parent)
		})
	}
}

func TestUnsavedTurnIsSavedThoughARetryHasWrittenARow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := chat.Content{Message: "once", Agent: chat.AgentAssistant}
	ref := b.unsaved(c)
	again := chat.Turn{ID: uuid.NewString(), ThreadID: b.Thread, Owner: owner, ClientTurnID: ref.Unsaved.ClientTurnID, Content: c, CreatedAt: time.Now()}
	_, _, _, err := b.Store.InsertTurn(context.Background(), again)
	require.NoError(t, err)
	require.NoError(t, b.saveTurn(ref))
	b.End(activities.Ending{TurnRef: ref, Status: chat.TurnCancelled, Reason: chat.UserCancelled})
	for _, m := range b.history() {
		require.Equal(t, ref.TurnID, m.TurnID, "the row of the retry was never accepted")
	}
	require.Equal(t, ref.TurnID, b.history()[0].TurnID)
	again.ID = uuid.NewString()
	row, created, _, err := b.Store.InsertTurn(context.Background(), again)
	require.NoError(t, err)
	require.False(t, created)
	require.Equal(t, ref.TurnID, row.ID, "a later retry gets the same turn")
}

func TestSettleIsRetriedWithoutLimitWhileTheDatabaseIsUnavailable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ref := b.Say("hi")
	b.Store.Unavailable.Store(true)
	b.Info.Attempt, b.Info.Ago, b.Info.Scheduled = 1000, time.Hour, time.Hour
	_, err := run[activities.SettleResult](b, b.Settle, activities.Ending{TurnRef: ref, Status: chat.TurnCancelled})
	require.Equal(t, chat.CodeDatabase, activitytest.AppError(t, err).Type())
	require.False(t, activitytest.AppError(t, err).NonRetryable())
	b.Store.Unavailable.Store(false)
	b.End(activities.Ending{TurnRef: ref, Status: chat.TurnCancelled})

	deleted := activities.TurnRef{Owner: owner, ThreadID: b.Thread, TurnID: uuid.NewString()}
	_, err = run[activities.SettleResult](b, b.Settle, activities.Ending{TurnRef: deleted, Status: chat.TurnCancelled})
	require.True(t, activities.IsFinal(err), "a conversation that was deleted has no turn to settle")
}

func TestPartialOfAStoppedTurnIsSavedOnceTheDatabaseIsAvailableAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.Ask("How many?")
	b.Model.OnStream = activitytest.StreamUntilStopped(func() {
		b.Store.AvailableAfter.Store(3)
		b.Store.Unavailable.Store(true)
		b.Bus.Stops <- struct{}{}
	})
	require.True(t, b.think(r).Stopped)
	require.Equal(t, "A beginning [1]", b.Draft(r.TurnRef))
}

func TestPartialOfAFailedTurnIsSavedOnceTheDatabaseIsAvailableAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.Ask("How many?")
	b.Model.OnStream = func(_ context.Context, emit func(string) error) error {
		_ = emit("Half")
		b.Store.AvailableAfter.Store(3)
		b.Store.Unavailable.Store(true)
		return &llm.Error{Code: chat.CodeModelRejected, Err: errors.New("400")}
	}
	_, err := b.tryThink(r)
	require.True(t, activities.IsFinal(err))
	require.Equal(t, "Half", b.Draft(r.TurnRef))
}
