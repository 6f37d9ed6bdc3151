package activities_test

import (
	"bytes"
	"context"
	"errors"
	"runtime/pprof"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/activitytest"
)

func TestPanickingModelCallIsTriedTwiceAndLeavesNoGoroutine(t *testing.T) { // not parallel: others save drafts, too
	b := setup(t)
	b.Env = b.NewEnv(worker.Options{Interceptors: []interceptor.WorkerInterceptor{activities.Recover(b.Kit)}})
	r := b.Ask("How many?")
	b.Model.OnStream = func(_ context.Context, emit func(string) error) error {
		_ = emit("A beginning")
		panic("nil map")
	}
	_, err := b.tryThink(r)
	require.Equal(t, chat.CodeInternal, activitytest.AppError(t, err).Type())
	require.False(t, activities.IsFinal(err), "the first panic is retried")

	b.Info.Attempt = 2
	b.Env.SetHeartbeatDetails(activities.Handover{Since: time.Now(), Tries: 1, Attempt: 1})
	_, err = b.tryThink(r)
	require.Equal(t, chat.CodeInternal, activitytest.AppError(t, err).Type())
	require.True(t, activities.IsFinal(err))
	require.Equal(t, 2, b.Model.Calls())

	var running bytes.Buffer
	require.NoError(t, pprof.Lookup("goroutine").WriteTo(&running, 1))
	require.NotContains(t, running.String(), "Kit).startDrafts", "the goroutine that saves drafts has ended")
}

func TestTurnThatCannotBeSettledIsSettledAsFailedWithItsText(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ref, _ := b.answered("How many days of leave do staff get?")
	e := activities.Ending{TurnRef: ref, Status: chat.TurnCompleted, Log: activitytest.Written1}
	refuses := errors.New("a row that no database takes")
	b.Store.OnSettle = func(s db.Settlement) error {
		if s.Terminal.Response != nil {
			return refuses
		}
		return nil
	}
	for n := range activities.MaxSettleTries {
		b.Info.Attempt = int32(n + 1)
		b.Env.SetHeartbeatDetails(activities.Handover{Since: time.Now(), Tries: n, Attempt: int32(n)})
		_, err := run[activities.SettleResult](b, b.Settle, e)
		require.False(t, activities.IsFinal(err), "try %d", n+1)
	}
	b.Info.Attempt = activities.MaxSettleTries + 1
	b.Env.SetHeartbeatDetails(activities.Handover{Since: time.Now(), Tries: activities.MaxSettleTries, Attempt: activities.MaxSettleTries})
	require.Equal(t, activities.SettleResult{N: 3, Type: chat.EventFailed}, b.End(e))
	end := b.terminal(ref)
	require.Equal(t, chat.CodeInternal, end.Code)
	require.Equal(t, "25 days [1].", end.Partial)
	require.Equal(t, "25 days [1].", b.history()[1].Content)
}

// What a person wrote while the turn ran was accepted, too.
func TestTurnThatCannotBeSettledKeepsWhatThePersonWroteMeanwhile(t *testing.T) {
	t.Parallel()
	for name, settle := range map[string]func(*bundle, activities.Ending){
		"by its workflow": func(b *bundle, e activities.Ending) {
			b.Info.Attempt = activities.MaxSettleTries + 1
			b.Env.SetHeartbeatDetails(activities.Handover{Since: time.Now(), Tries: activities.MaxSettleTries, Attempt: activities.MaxSettleTries})
			b.End(e)
		},
		"lost": func(b *bundle, e activities.Ending) { b.lose(e.TurnRef, "") },
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			ref := b.Say("Tell me")
			further := b.Insert(chat.Content{Message: "In two sentences."})
			take := activities.GivenRequest{TurnRef: ref, First: 1, TurnIDs: []string{further.TurnID}}
			activitytest.Must[any](b.Fixture, b.TakeGiven, take)
			b.Store.OnSettle = func(s db.Settlement) error {
				if s.Metadata["token_estimate"] != nil || s.Terminal.Response != nil { // only a whole settlement has one of them
					return errors.New("a row that no database takes")
				}
				return nil
			}
			settle(b, activities.Ending{TurnRef: ref, Status: chat.TurnCompleted, Taken: take.TurnIDs, Log: []chat.Entry{
				{N: 1, Type: chat.EventTurnStarted}, {N: 2, Type: chat.EventNotice, Code: chat.NoticeSteered, Ref: chat.GivenKey(1)}}})
			require.Equal(t, []string{"Tell me", "In two sentences."}, b.said()[:2])
		})
	}
}

// A settlement of many megabytes over a slow link never arrives in time; a plain one does. While
// the database does not answer at all, nothing is counted.
func TestSettlementThatIsAlwaysTooSlowBecomesAPlainOne(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ref, _ := b.answered("How many days of leave do staff get?")
	e := activities.Ending{TurnRef: ref, Status: chat.TurnCompleted, Log: activitytest.Written1}
	why := db.ErrTimeout
	b.Store.OnSettle = func(s db.Settlement) error {
		if s.Terminal.Response != nil {
			return why
		}
		return nil
	}
	var counted []int
	b.Env.SetOnActivityHeartbeatListener(func(_ *activity.Info, details converter.EncodedValues) {
		var v activities.Handover
		if details.HasValues() && details.Get(&v) == nil {
			counted = append(counted, v.Tries)
		}
	})
	settle := func(attempt int) error {
		b.Info.Attempt = int32(attempt)
		_, err := run[activities.SettleResult](b, b.Settle, e)
		require.False(t, activities.IsFinal(err))
		return err
	}
	require.Error(t, settle(1))
	require.Equal(t, []int{1}, counted)
	why = db.ErrUnavailable
	require.Error(t, settle(2))
	require.Equal(t, []int{1}, counted, "an outage only delays")
	b.Env.SetHeartbeatDetails(activities.Handover{Since: time.Now(), Tries: activities.MaxSettleTries, Attempt: activities.MaxSettleTries})
	require.NoError(t, settle(activities.MaxSettleTries+1))
	require.Equal(t, "25 days [1].", b.history()[1].Content)
}

func TestSettleGivesUpAfterItsAttempts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ref := b.Say("hi")
	b.Store.OnSettle = func(db.Settlement) error { panic("no row fits") }
	b.Info.Attempt = 30 // most of them while the database was unavailable
	b.Env.SetHeartbeatDetails(activities.Handover{Since: time.Now(), Tries: 2 * activities.MaxSettleTries, Attempt: 29})
	_, err := run[activities.SettleResult](b, b.Settle, activities.Ending{TurnRef: ref, Status: chat.TurnCompleted, Log: activitytest.Written1[:1]})
	require.True(t, activities.IsFinal(err))
}
