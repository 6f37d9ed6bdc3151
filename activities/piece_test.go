package activities_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/testkit/activitytest"
)

func TestFirstTokenIsPublishedAtOnceAndSmallOnesAreBatched(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.Ask("How many?")
	b.Model.OnStream = func(_ context.Context, emit func(string) error) error {
		if err := emit("First"); err != nil {
			return err
		}
		require.Len(t, b.Bus.Deltas(), 1, "before the model streams more")
		for range 200 {
			if err := emit(" x"); err != nil {
				return err
			}
		}
		return nil
	}
	b.think(r)
	deltas := b.Bus.Deltas()
	require.Less(t, len(deltas), 100)
	require.Equal(t, "First"+strings.Repeat(" x", 200), b.Bus.Text(t))
}

func TestPendingDeltaIsPublishedWhileTheModelPauses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.Ask("How many?")
	b.Model.OnStream = func(_ context.Context, emit func(string) error) error {
		_ = emit("First")
		_ = emit(" second")
		require.Eventually(t, func() bool { return b.Bus.Text(t) == "First second" }, 5*time.Second, time.Millisecond)
		return nil
	}
	b.think(r)
}

func TestSecondAttemptStartsAgainAtOffsetZero(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.Ask("How many?")
	require.NoError(t, b.Store.SaveDraft(context.Background(), owner, db.Draft{TurnID: r.TurnID, Piece: 1, Attempt: 1, Text: "an old beginning"}))
	b.Info.Attempt = 2
	b.Model.OnStream = activitytest.StreamText("Again.")
	b.think(r)
	deltas := b.Bus.Deltas()
	require.Equal(t, 2, deltas[0].Attempt)
	require.Equal(t, 0, deltas[0].Offset)
}

func TestAnswerThatIsBegunAgainAfterALostAttemptIsReportedOnce(t *testing.T) {
	t.Parallel()
	failed := activities.Handover{Since: time.Now(), Tries: 1, Attempt: 1}
	for name, c := range map[string]struct {
		attempt int32
		left    activities.Handover
		stored  bool
		want    int
	}{
		"the first attempt":                    {attempt: 1},
		"the worker of the first died":         {attempt: 2, want: 1},
		"the model failed":                     {attempt: 2, left: failed},
		"the model failed, then a worker died": {attempt: 3, left: failed, want: 1},
		"the first had stored the piece":       {attempt: 2, stored: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			restarts := 0
			b.OnRestart = func() { restarts++ }
			r := b.Ask("Hello")
			b.Model.OnStream = activitytest.StreamText("An answer.")
			if c.stored {
				b.think(r)
			}
			b.Info.Attempt = c.attempt
			b.Env.SetHeartbeatDetails(c.left)
			b.think(r)
			require.Equal(t, c.want, restarts)
		})
	}
}

func TestPieceStoredByADeadAttemptIsNotWrittenAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.Ask("How many?")
	b.Model.OnStream = activitytest.StreamText("Done [1].")
	first := b.think(r)
	b.Info.Attempt = 2
	again := b.think(r)
	require.Equal(t, 1, b.Model.Calls(), "no model call is repeated")
	require.Equal(t, first.Chars, again.Chars)
	require.Equal(t, first.Citations, again.Citations)
}

func TestDraftIsSavedWhileTheAnswerStreams(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.Ask("How many?")
	drafts := make(chan db.Draft, 10)
	b.Store.OnDraft = func(d db.Draft) error { drafts <- d; return nil }
	b.Model.OnStream = func(_ context.Context, emit func(string) error) error {
		_ = emit("One")
		require.Equal(t, "One", (<-drafts).Text)
		_ = emit(" two")
		require.Equal(t, "One two", (<-drafts).Text)
		return nil
	}
	b.think(r)
}

func TestHangingDraftSaveDelaysNoToken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.Ask("How many?")
	hangs, release := make(chan struct{}), make(chan struct{})
	b.Store.OnDraft = func(db.Draft) error {
		close(hangs)
		<-release
		b.Store.Mu.Lock()
		b.Store.OnDraft = nil
		b.Store.Mu.Unlock()
		return nil
	}
	b.Model.OnStream = func(_ context.Context, emit func(string) error) error {
		_ = emit("One")
		<-hangs
		_ = emit(" two")
		require.Eventually(t, func() bool { return b.Bus.Text(t) == "One two" }, 5*time.Second, time.Millisecond)
		close(release)
		return nil
	}
	b.think(r)
}

func TestStopAnnouncementAbortsTheModelAndSavesThePartial(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.Ask("How many?")
	b.Model.OnStream = activitytest.StreamUntilStopped(func() { b.Bus.Stops <- struct{}{} })
	got := b.think(r)
	require.True(t, got.Stopped)
	require.Equal(t, activitytest.OneCall, got.Usage, "the usage so far counts")
	require.Equal(t, "A beginning [1]", b.Draft(r.TurnRef))
	require.NotContains(t, b.Texts(r.TurnRef), chat.PieceKey(1))
}

func TestCancelByTemporalIsAStop(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.Ask("How many?")
	ctx, cancel := context.WithCancelCause(context.Background())
	b.Env = b.NewEnv(worker.Options{BackgroundActivityContext: ctx})
	b.Model.OnStream = activitytest.StreamUntilStopped(func() { cancel(temporal.NewCanceledError()) })
	require.True(t, b.think(r).Stopped)
	require.Equal(t, "A beginning [1]", b.Draft(r.TurnRef))
}

func TestAnyOtherEndOfTheContextSavesTheDraftAndIsRetried(t *testing.T) {
	for name, end := range map[string]func(b *bundle) func(){
		"worker shutdown": func(b *bundle) func() {
			stop := make(chan struct{})
			b.Env.SetWorkerStopChannel(stop)
			return func() { close(stop) }
		},
		"a context cancelled for another reason": func(b *bundle) func() {
			ctx, cancel := context.WithCancelCause(context.Background())
			b.Env = b.NewEnv(worker.Options{BackgroundActivityContext: ctx})
			return func() { cancel(errors.New("paused")) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			r := b.Ask("How many?")
			b.Model.OnStream = activitytest.StreamUntilStopped(end(b))
			_, err := b.tryThink(r)
			var app *temporal.ApplicationError
			require.ErrorAs(t, err, &app)
			require.Equal(t, activities.ErrTypeInterrupted, app.Type())
			require.False(t, app.NonRetryable())
			require.Equal(t, "A beginning [1]", b.Draft(r.TurnRef))
		})
	}
}

func TestDraftSaveRejectedByASettledTurnEndsTheModelCall(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.Ask("How many?")
	b.Model.OnStream = activitytest.StreamUntilStopped(func() { b.End(activities.Ending{TurnRef: r.TurnRef, Status: chat.TurnCancelled}) })
	_, err := b.tryThink(r)
	var app *temporal.ApplicationError
	require.ErrorAs(t, err, &app)
	require.Equal(t, activities.ErrTypeSettled, app.Type())
	require.True(t, app.NonRetryable())
}

func TestAnswerStaysInMemoryWhileTheDatabaseIsUnavailable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.Ask("How many?")
	failures := 2
	b.Store.OnPut = func(string) error {
		if failures--; failures >= 0 {
			return db.ErrUnavailable
		}
		return nil
	}
	b.Model.OnStream = activitytest.StreamText("Kept.")
	b.think(r)
	require.Equal(t, "Kept.", b.Texts(r.TurnRef)[chat.PieceKey(1)])
	require.Equal(t, 1, b.Model.Calls())
}

func TestBrokenStreamSavesItsDraftAndIsRetried(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.Ask("How many?")
	b.Model.OnStream = func(_ context.Context, emit func(string) error) error {
		_ = emit("Half")
		return &llm.Error{Code: chat.CodeModelUnavailable, Retryable: true, Err: errors.New("cut")}
	}
	_, err := b.tryThink(r)
	var app *temporal.ApplicationError
	require.ErrorAs(t, err, &app)
	require.False(t, app.NonRetryable())
	require.Equal(t, "Half", b.Draft(r.TurnRef))
}

func TestEmptyAnswerIsARetryableError(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.Ask("How many?")
	b.Model.OnStream = activitytest.StreamText(" \n")
	_, err := b.tryThink(r)
	var app *temporal.ApplicationError
	require.ErrorAs(t, err, &app)
	require.Equal(t, chat.CodeModelUnavailable, app.Type())
}

func TestErrorsInHistoryHaveCodesOnly(t *testing.T) {
	const planted = "planted upstream text"
	for name, tc := range map[string]struct {
		err   error
		ago   time.Duration
		code  string
		final bool
		delay time.Duration
	}{
		"rate limited":           {&llm.Error{Code: chat.CodeModelUnavailable, Retryable: true, RetryAfter: 7 * time.Second, Err: errors.New(planted)}, 0, chat.CodeModelUnavailable, false, 7 * time.Second},
		"without a time":         {&llm.Error{Code: chat.CodeModelTimeout, Retryable: true, Err: errors.New(planted)}, 0, chat.CodeModelTimeout, false, activities.FirstBackoff},
		"longer than the budget": {&llm.Error{Code: chat.CodeModelUnavailable, Retryable: true, RetryAfter: time.Minute, Err: errors.New(planted)}, 0, chat.CodeModelUnavailable, true, 0},
		"budget used up":         {&llm.Error{Code: chat.CodeModelUnavailable, Retryable: true, Err: errors.New(planted)}, 45 * time.Second, chat.CodeModelUnavailable, true, 0},
		"bad key":                {&llm.Error{Code: chat.CodeModelRejected, Hint: messages.HintKey.With(messages.Params{"setting": "OPENAI_API_KEY"}), ForOperators: true, Err: errors.New(planted)}, 0, chat.CodeModelRejected, true, 0},
		"filtered":               {&llm.Error{Code: chat.CodeModelRejected, Hint: messages.HintFiltered, Err: errors.New(planted)}, 0, chat.CodeModelRejected, true, 0},
		"an unexpected error":    {errors.New(planted), 0, chat.CodeInternal, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			r := b.Ask("How many?")
			var c pausedClock
			b.Clock = c.read
			b.Model.OnStream = func(context.Context, func(string) error) error {
				c.passed.Store(int64(tc.ago))
				return tc.err
			}
			_, err := b.tryThink(r)
			var app *temporal.ApplicationError
			require.ErrorAs(t, err, &app)
			require.Equal(t, tc.code, app.Type())
			require.Equal(t, tc.final, app.NonRetryable())
			require.NotContains(t, err.Error(), planted)
			require.NoError(t, app.Unwrap())
			if tc.delay > 0 {
				require.Equal(t, tc.delay, app.NextRetryDelay())
			}
			var model *llm.Error
			if errors.As(tc.err, &model) && model.Hint.Text != "" {
				key, other := chat.TextFailureHint, chat.TextOperatorHint
				if model.ForOperators {
					key, other = other, key
				}
				require.Equal(t, model.Hint.Stored(), b.Texts(r.TurnRef)[key])
				require.NotContains(t, b.Texts(r.TurnRef), other)
			}
		})
	}
}

func TestMissingTurnIsAPermanentError(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.tryThink(activitytest.Step{TurnRef: activities.TurnRef{Owner: owner, ThreadID: b.Thread, TurnID: uuid.NewString(), Parent: chat.RootCheckpoint}, Stage: activities.Stage{Piece: 1}})
	require.True(t, activities.IsFinal(err))
}
