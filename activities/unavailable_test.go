package activities

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/llm"
)

func (s *faultyStore) Turn(ctx context.Context, owner, id string) (chat.Turn, error) {
	if s.unavailable.Load() {
		return chat.Turn{}, db.ErrUnavailable
	}
	return s.Store.Turn(ctx, owner, id)
}

func (s *faultyStore) SaveTurn(ctx context.Context, t chat.Turn) (chat.Turn, error) {
	if s.unavailable.Load() {
		return chat.Turn{}, db.ErrUnavailable
	}
	return s.Store.SaveTurn(ctx, t)
}

// unsaved is a turn that was submitted while the database was unavailable.
func (b *testBundle) unsaved(c chat.Content) TurnRef {
	id := uuid.NewString()
	return TurnRef{Owner: owner, ThreadID: b.thread, TurnID: id, RunID: "run-" + id, Unsaved: &Unsaved{
		ClientTurnID: "client-" + id, Content: c, ContentHash: c.Hash(), CreatedAt: time.Now(),
	}}
}

func appError(t *testing.T, err error) *temporal.ApplicationError {
	t.Helper()
	var app *temporal.ApplicationError
	require.ErrorAs(t, err, &app)
	return app
}

var overloaded = &llm.Error{Code: chat.CodeModelUnavailable, Retryable: true, Err: errors.New("503")}

func streamError(err error) func(context.Context, func(string) error) error {
	return func(context.Context, func(string) error) error { return err }
}

func TestWorkerCrashUsesNoRetryBudget(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.question("How many?", leave)
	b.model.stream = streamError(overloaded)
	b.info.attempt, b.info.scheduled = 4, time.Hour // three workers died
	_, err := run[Written](b, b.Write, r)
	require.False(t, appError(t, err).NonRetryable())
	require.Equal(t, firstBackoff, appError(t, err).NextRetryDelay())
}

func TestConsecutiveFailuresShareOneRetryBudget(t *testing.T) {
	for name, tc := range map[string]struct {
		before handover
		final  bool
	}{
		"within":                       {handover{Since: time.Now().Add(-10 * time.Second), Tries: 2, Attempt: 2}, false},
		"used up":                      {handover{Since: time.Now().Add(-45 * time.Second), Tries: 2, Attempt: 2}, true},
		"used up before a worker died": {handover{Since: time.Now().Add(-45 * time.Second), Tries: 1, Attempt: 1}, false},
		"no handover":                  {handover{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			r := b.question("How many?", leave)
			b.model.stream = streamError(overloaded)
			b.info.attempt = 3
			b.env.SetHeartbeatDetails(tc.before)
			_, err := run[Written](b, b.Write, r)
			require.Equal(t, tc.final, appError(t, err).NonRetryable())
		})
	}
}

func TestFailedAttemptHandsOverSinceWhenAttemptsFail(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.question("How many?", leave)
	b.model.stream = streamError(overloaded)
	b.info.attempt = 2
	since := time.Now().Add(-7 * time.Second).UTC()
	b.env.SetHeartbeatDetails(handover{Since: since, Tries: 1, Attempt: 1})
	var handovers []handover
	b.env.SetOnActivityHeartbeatListener(func(_ *activity.Info, details converter.EncodedValues) {
		var v handover
		if details.HasValues() && details.Get(&v) == nil {
			handovers = append(handovers, v)
		}
	})
	_, err := run[Written](b, b.Write, r)
	require.Error(t, err)
	require.Equal(t, []handover{{Since: since, Tries: 2, Attempt: 2}}, handovers)
}

func TestUnsavedMessageIsSavedOnceTheDatabaseIsAvailableAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	before := b.exchange("one", "1")
	ref := b.unsaved(chat.Content{Message: "two", Agent: chat.AgentAssistant})
	b.store.unavailable.Store(true)
	begun := must[Begun](b, b.BeginTurn, ref)
	require.Equal(t, Begun{Agent: chat.AgentAssistant, RunID: ref.RunID, Unsaved: true}, begun)

	b.store.unavailable.Store(false)
	require.NoError(t, b.saveTurn(ref))
	require.NoError(t, b.saveTurn(ref), "saving is idempotent")
	must[Settled](b, b.Settle, Ending{TurnRef: ref, Status: chat.TurnCancelled, Reason: chat.UserCancelled})
	turn, err := b.store.Turn(context.Background(), owner, ref.TurnID)
	require.NoError(t, err)
	require.Equal(t, before.TurnID, turn.Parent)
	require.Equal(t, "two", turn.Content.Message)
	require.Equal(t, ref.Unsaved.ClientTurnID, turn.ClientTurnID)
	require.Equal(t, "two", b.history()[2].Content)
	require.Equal(t, ref.RunID, b.terminal(ref).StreamRunID)
}

func (b *testBundle) saveTurn(ref TurnRef) error {
	_, err := b.save(context.Background(), &ref)
	return err
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
			b.store.unavailable.Store(true)
			_, err := run[Begun](b, b.BeginTurn, ref)
			app := appError(t, err)
			require.Equal(t, chat.CodeDatabase, app.Type())
			require.False(t, app.NonRetryable(), "it is retried for a while")
			b.store.unavailable.Store(false)
			begun := must[Begun](b, b.BeginTurn, ref)
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
	again := chat.Turn{ID: uuid.NewString(), ThreadID: b.thread, Owner: owner, ClientTurnID: ref.Unsaved.ClientTurnID, Content: c, CreatedAt: time.Now()}
	_, _, _, err := b.store.InsertTurn(context.Background(), again)
	require.NoError(t, err)
	require.NoError(t, b.saveTurn(ref))
	must[Settled](b, b.Settle, Ending{TurnRef: ref, Status: chat.TurnCancelled, Reason: chat.UserCancelled})
	for _, m := range b.history() {
		require.Equal(t, ref.TurnID, m.TurnID, "the row of the retry was never accepted")
	}
	require.Equal(t, ref.TurnID, b.history()[0].TurnID)
	again.ID = uuid.NewString()
	row, created, _, err := b.store.InsertTurn(context.Background(), again)
	require.NoError(t, err)
	require.False(t, created)
	require.Equal(t, ref.TurnID, row.ID, "a later retry gets the same turn")
}

func TestSettleIsRetriedWithoutLimitWhileTheDatabaseIsUnavailable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ref := b.say("hi")
	b.store.unavailable.Store(true)
	b.info.attempt, b.info.ago, b.info.scheduled = 1000, time.Hour, time.Hour
	_, err := run[Settled](b, b.Settle, Ending{TurnRef: ref, Status: chat.TurnCancelled})
	require.Equal(t, chat.CodeDatabase, appError(t, err).Type())
	require.False(t, appError(t, err).NonRetryable())
	b.store.unavailable.Store(false)
	must[Settled](b, b.Settle, Ending{TurnRef: ref, Status: chat.TurnCancelled})

	deleted := TurnRef{Owner: owner, ThreadID: b.thread, TurnID: uuid.NewString()}
	_, err = run[Settled](b, b.Settle, Ending{TurnRef: deleted, Status: chat.TurnCancelled})
	require.True(t, IsFinal(err), "a conversation that was deleted has no turn to settle")
}

func TestPartialOfAStoppedTurnIsSavedOnceTheDatabaseIsAvailableAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.question("How many?", leave)
	b.model.stream = streamUntilStopped(func() {
		b.store.availableAfter.Store(3)
		b.store.unavailable.Store(true)
		b.bus.stops <- struct{}{}
	})
	require.True(t, must[Written](b, b.Write, r).Stopped)
	require.Equal(t, "A beginning [1]", partial(t, b, r))
}

func TestPartialOfAFailedTurnIsSavedOnceTheDatabaseIsAvailableAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.question("How many?", leave)
	b.model.stream = func(_ context.Context, emit func(string) error) error {
		_ = emit("Half")
		b.store.availableAfter.Store(3)
		b.store.unavailable.Store(true)
		return &llm.Error{Code: chat.CodeModelRejected, Err: errors.New("400")}
	}
	_, err := run[Written](b, b.Write, r)
	require.True(t, IsFinal(err))
	require.Equal(t, "Half", partial(t, b, r))
}
