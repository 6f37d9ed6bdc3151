package activities_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/clock"
	"github.com/palaver-chat/palaver/testkit/activitytest"
	"github.com/palaver-chat/palaver/tools"
)

// answerHeartbeats makes every heartbeat end with err, and counts them.
func (b *bundle) answerHeartbeats(err error) *atomic.Int32 {
	var sent atomic.Int32
	b.Heartbeat = func(context.Context, []byte, ...any) error {
		sent.Add(1)
		return err
	}
	return &sent
}

const longTimeout = time.Minute

func TestFailedHeartbeatDoesNotEndTheWork(t *testing.T) {
	for name, err := range map[string]error{
		"got through":        nil,
		"unavailable":        serviceerror.NewUnavailable("connection refused"),
		"deadline exceeded":  serviceerror.NewDeadlineExceeded("context deadline exceeded"),
		"the call's context": context.DeadlineExceeded,
		"cancelled call":     serviceerror.NewCanceled("the connection is closing"),
		"internal":           serviceerror.NewInternal("bug"),
		"resource exhausted": serviceerror.NewResourceExhausted(0, "too many requests"),
		"permission denied":  serviceerror.NewPermissionDenied("key is being rotated", ""),
		"anything else":      errors.New("unknown"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.Info.Heartbeat = longTimeout
			sent := b.answerHeartbeats(err)
			r := b.Ask("How many?")
			b.Model.OnStream = func(ctx context.Context, emit func(string) error) error {
				require.Eventually(t, func() bool { return sent.Load() >= 2 }, longTimeout, time.Millisecond)
				return errors.Join(emit("Kept."), ctx.Err())
			}
			b.think(r)
			require.Equal(t, "Kept.", b.Texts(r.TurnRef)[chat.PieceKey(1)])
		})
	}
}

// streamUntilEnded streams a beginning, waits until the context ends, and then streams
// more.
func streamUntilEnded(cause *error) func(context.Context, func(string) error) error {
	return func(ctx context.Context, emit func(string) error) error {
		if err := emit("A beginning."); err != nil {
			return err
		}
		<-ctx.Done()
		*cause = context.Cause(ctx)
		_ = emit(" More.")
		return ctx.Err()
	}
}

func TestHeartbeatAnswerOrTimeoutEndsTheWork(t *testing.T) {
	for name, tc := range map[string]struct {
		answer  error
		timeout time.Duration
		cause   error // nil: the answer
		stopped bool
		handsIn bool
	}{
		"cancelled":                    {answer: temporal.NewCanceledError(), timeout: longTimeout, stopped: true, handsIn: true},
		"paused":                       {answer: activity.ErrActivityPaused, timeout: longTimeout, handsIn: true},
		"reset":                        {answer: activity.ErrActivityReset, timeout: longTimeout, handsIn: true},
		"timed out or closed":          {answer: serviceerror.NewNotFound("activity not found"), timeout: longTimeout, cause: activities.ErrAttemptUnknown},
		"namespace not found":          {answer: serviceerror.NewNamespaceNotFound("default"), timeout: longTimeout, cause: activities.ErrAttemptUnknown},
		"namespace moved":              {answer: serviceerror.NewNamespaceNotActive("default", "here", "there"), timeout: longTimeout, cause: activities.ErrAttemptUnknown},
		"failing until the timeout":    {answer: serviceerror.NewUnavailable("down"), timeout: 1500 * time.Millisecond, cause: activities.ErrHeartbeatTimeout},
		"timing out until the timeout": {answer: context.DeadlineExceeded, timeout: 500 * time.Millisecond, cause: activities.ErrHeartbeatTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.Info.Heartbeat = tc.timeout
			b.answerHeartbeats(tc.answer)
			var drafts atomic.Int32
			b.Store.OnDraft = func(d db.Draft) error {
				if d.Text != "A beginning." {
					drafts.Add(1)
				}
				return nil
			}
			r := b.Ask("How many?")
			var cause error
			b.Model.OnStream = streamUntilEnded(&cause)
			got, err := b.tryThink(r)
			if tc.cause == nil {
				tc.cause = tc.answer
			}
			require.ErrorIs(t, cause, tc.cause)
			if tc.stopped {
				require.NoError(t, err)
				require.True(t, got.Stopped)
			} else {
				require.Equal(t, activities.ErrTypeInterrupted, activitytest.AppError(t, err).Type())
				require.False(t, activitytest.AppError(t, err).NonRetryable(), "another attempt follows")
			}
			_, cited := b.Texts(r.TurnRef)[chat.TextCitations]
			require.Equal(t, tc.handsIn, cited)
			if tc.handsIn {
				require.Equal(t, "A beginning. More.", b.Draft(r.TurnRef))
				return
			}
			require.Equal(t, "A beginning.", b.Bus.Text(t), "nothing more is published")
			require.Zero(t, drafts.Load(), "nothing more is saved")
		})
	}
}

func TestHeartbeatsGoOnWhileThePartialAnswerIsSaved(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Info.Heartbeat = longTimeout
	sent := b.answerHeartbeats(nil)
	r := b.Ask("How many?")
	b.Store.OnDraft = func(db.Draft) error {
		if sent.Load() < 2 {
			return db.ErrUnavailable
		}
		return nil
	}
	b.RetryBudget = 0
	b.Model.OnStream = func(_ context.Context, emit func(string) error) error {
		_ = emit("Half")
		return activitytest.Overloaded
	}
	_, err := b.tryThink(r)
	require.True(t, activitytest.AppError(t, err).NonRetryable())
	require.Equal(t, "Half", b.Draft(r.TurnRef))
}

// TestAttemptThatResumesAfterAFreezeDoesNothing: no code of the process ran until after
// the heartbeat timeout, so only the clock shows that the lease has expired.
func TestAttemptThatResumesAfterAFreezeDoesNothing(t *testing.T) {
	t.Run("an answer", func(t *testing.T) {
		b := setup(t)
		b.Info.Heartbeat = 50 * time.Millisecond // expires before the first heartbeat
		r := b.Ask("How many?")
		b.Model.OnStream = func(ctx context.Context, emit func(string) error) error {
			for {
				if err := emit("x"); err != nil {
					require.ErrorIs(t, context.Cause(ctx), activities.ErrHeartbeatTimeout)
					return nil // as if the model had finished
				}
			}
		}
		_, err := b.tryThink(r)
		require.Equal(t, activities.ErrTypeInterrupted, activitytest.AppError(t, err).Type())
		require.NotContains(t, b.Texts(r.TurnRef), chat.PieceKey(1))
	})
	t.Run("a tool call", func(t *testing.T) {
		b := setup(t)
		b.Info.Heartbeat = time.Nanosecond
		r := b.wanting(activitytest.SendTool(func(context.Context, tools.Call) (tools.Result, error) {
			t.Error("the tool ran")
			return tools.Result{}, nil
		}), `{"query":"a"}`)
		_, err := run[activities.CallResult](b, b.CallTool, r)
		require.Error(t, err)
	})
}

// TestAttemptHandedToAFrozenWorkerDoesNotRun: the worker was frozen while it polled.
// When it goes on, it receives a task that has timed out on the server.
func TestAttemptHandedToAFrozenWorkerDoesNotRun(t *testing.T) {
	for name, tc := range map[string]struct {
		ago    time.Duration
		answer error
		made   bool
	}{
		"timed out":           {time.Minute, serviceerror.NewNotFound("activity not found"), false},
		"server unavailable":  {time.Minute, serviceerror.NewUnavailable("down"), false},
		"still valid":         {time.Minute, nil, true},
		"handed out just now": {0, serviceerror.NewUnavailable("down"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.Info.Heartbeat, b.Info.Ago = 10*time.Second, tc.ago
			if !tc.made {
				b.Info.Heartbeat = time.Second
			}
			b.answerHeartbeats(tc.answer)
			r := b.Ask("How many?")
			b.Model.OnStream = activitytest.StreamText("Fine.")
			_, err := b.tryThink(r)
			if tc.made {
				require.NoError(t, err)
				return
			}
			require.Equal(t, activities.ErrTypeInterrupted, activitytest.AppError(t, err).Type())
			require.Zero(t, b.Model.Calls())
		})
	}
}

// pausedClock is the clock of a machine: a pause stops the monotonic clock, and whoever sets
// the wall clock changes only that.
type pausedClock struct{ jump, passed atomic.Int64 } // of the wall clock; of both

func (c *pausedClock) read() clock.Reading {
	now := clock.Read()
	now.Wall = now.Wall.Add(time.Duration(c.jump.Load() + c.passed.Load()))
	now.Mono += time.Duration(c.passed.Load())
	return now
}

func TestAttemptOnAMachineThatWasPausedAsksTheServerBeforeItGoesOn(t *testing.T) {
	for name, tc := range map[string]struct {
		answer error
		jump   time.Duration
		made   bool
	}{
		"paused, and another attempt runs":        {serviceerror.NewNotFound("activity not found"), 5 * time.Minute, false},
		"paused, and the server is unreachable":   {serviceerror.NewUnavailable("down"), 5 * time.Minute, false},
		"its wall clock was set forwards":         {nil, 5 * time.Minute, true},
		"its wall clock was set back":             {nil, -5 * time.Minute, true},
		"set back, and the server is unreachable": {serviceerror.NewUnavailable("down"), -5 * time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			var c pausedClock
			b.Clock = c.read
			b.Info.Heartbeat = longTimeout
			b.answerHeartbeats(tc.answer)
			r := b.Ask("How many?")
			b.Model.OnStream = func(ctx context.Context, emit func(string) error) error {
				c.jump.Store(int64(tc.jump))
				return errors.Join(emit("Fine."), ctx.Err())
			}
			_, err := b.tryThink(r)
			if tc.made {
				require.NoError(t, err)
				require.Equal(t, "Fine.", b.Texts(r.TurnRef)[chat.PieceKey(1)])
				return
			}
			require.Equal(t, activities.ErrTypeInterrupted, activitytest.AppError(t, err).Type())
			require.NotContains(t, b.Texts(r.TurnRef), chat.PieceKey(1))
		})
	}
}

func TestModelIsNotCalledAfterAPauseThatLostTheAttempt(t *testing.T) {
	b := setup(t)
	var c pausedClock
	b.Clock = c.read
	b.Info.Heartbeat, b.Info.Attempt = longTimeout, 2
	b.answerHeartbeats(serviceerror.NewNotFound("activity not found"))
	r := b.Ask("How many?")
	b.OnRestart = func() { c.jump.Store(int64(5 * time.Minute)) } // right before the call
	b.Model.OnStream = func(context.Context, func(string) error) error {
		t.Error("the model was called")
		return nil
	}
	_, err := b.tryThink(r)
	require.Equal(t, activities.ErrTypeInterrupted, activitytest.AppError(t, err).Type())
}

// A server that does not answer must not make the worker's clock decide.
func TestSideEffectOnAPausedMachineDoesNotHappen(t *testing.T) {
	for _, skew := range []time.Duration{-time.Minute, 0, 5 * time.Minute} {
		b := setup(t)
		b.Info.Heartbeat, b.Info.Ago = longTimeout, skew
		b.answerHeartbeats(serviceerror.NewNotFound("activity not found"))
		r := b.wanting(activitytest.SendTool(func(context.Context, tools.Call) (tools.Result, error) {
			t.Error("the tool ran", skew)
			return tools.Result{}, nil
		}), `{"query":"a"}`)
		_, err := run[activities.CallResult](b, b.CallTool, r)
		require.Error(t, err)
	}
}
