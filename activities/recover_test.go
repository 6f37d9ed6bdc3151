package activities

import (
	"bytes"
	"context"
	"errors"
	"runtime/pprof"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

func TestPanickingModelCallIsTriedTwiceAndLeavesNoGoroutine(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.env = b.newEnv(worker.Options{Interceptors: []interceptor.WorkerInterceptor{Recover(b.Activities)}})
	r := b.question("How many?", leave)
	b.model.stream = func(_ context.Context, emit func(string) error) error {
		_ = emit("A beginning")
		panic("nil map")
	}
	_, err := run[Written](b, b.Write, r)
	require.Equal(t, chat.CodeInternal, appError(t, err).Type())
	require.False(t, IsFinal(err), "the first panic is retried")

	b.info.attempt = 2
	b.env.SetHeartbeatDetails(handover{Since: time.Now(), Tries: 1, Attempt: 1})
	_, err = run[Written](b, b.Write, r)
	require.Equal(t, chat.CodeInternal, appError(t, err).Type())
	require.True(t, IsFinal(err))
	require.Equal(t, 2, b.model.calls())

	var running bytes.Buffer
	require.NoError(t, pprof.Lookup("goroutine").WriteTo(&running, 1))
	require.NotContains(t, running.String(), "Activities).startDrafts", "the goroutine that saves drafts has ended")
}

func TestTurnThatCannotBeSettledIsSettledAsFailedWithItsText(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.question("How many days of leave do staff get?", leave)
	b.model.stream = streamText("25 days [1].")
	must[Written](b, b.Write, r)
	e := Ending{TurnRef: r.TurnRef, Status: chat.TurnCompleted, Log: written1}
	refuses := errors.New("a row that no database takes")
	b.store.settled = func(s db.Settlement) error {
		if s.Terminal.Response != nil {
			return refuses
		}
		return nil
	}
	for n := range maxSettleTries {
		b.info.attempt = int32(n + 1)
		b.env.SetHeartbeatDetails(handover{Since: time.Now(), Tries: n, Attempt: int32(n)})
		_, err := run[Settled](b, b.Settle, e)
		require.False(t, IsFinal(err), "try %d", n+1)
	}
	b.info.attempt = maxSettleTries + 1
	b.env.SetHeartbeatDetails(handover{Since: time.Now(), Tries: maxSettleTries, Attempt: maxSettleTries})
	require.Equal(t, Settled{N: 3, Type: chat.EventFailed}, must[Settled](b, b.Settle, e))
	end := b.terminal(r.TurnRef)
	require.Equal(t, chat.CodeInternal, end.Code)
	require.Equal(t, "25 days [1].", end.Partial)
	require.Equal(t, "25 days [1].", b.history()[1].Content)
}

func TestSettleGivesUpAfterItsAttempts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ref := b.say("hi")
	b.store.settled = func(db.Settlement) error { panic("no row fits") }
	b.info.attempt = 30 // most of them while the database was unavailable
	b.env.SetHeartbeatDetails(handover{Since: time.Now(), Tries: 2 * maxSettleTries, Attempt: 29})
	_, err := run[Settled](b, b.Settle, Ending{TurnRef: ref, Status: chat.TurnCompleted, Log: written1[:1]})
	require.True(t, IsFinal(err))
}
