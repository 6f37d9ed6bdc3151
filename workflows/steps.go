package workflows

import (
	"errors"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
)

// acts names activities; it is never called.
var acts *activities.Activities

const (
	// A look-up takes milliseconds. The thread handles nothing else while it runs,
	// so a slow one becomes a regular activity.
	lookupTimeout = time.Second
	// How long a look-up is retried while the database is unavailable. Then the
	// turn fails.
	lookupRetryTimeout = time.Minute
	// One attempt of a look-up as a regular activity.
	lookupAttemptTimeout = 10 * time.Second
	// One attempt to settle: it reads and writes all texts of the turn, which can be 30 MB,
	// over a link of 20 Mbit/s.
	settleAttemptTimeout = time.Minute
	// One attempt of a model call; LLM_TIMEOUT is shorter.
	modelCallTimeout = 25 * time.Minute
	// Temporal gives up an attempt that sends no heartbeat for this long.
	heartbeatTimeout = 4 * time.Second
	// The retry delay after a heartbeat timeout. It does not grow: errors of
	// activities set their own delays, and a frozen worker may be handed several
	// attempts.
	retryInterval = 500 * time.Millisecond
)

// lookup runs a short database activity: first as a local activity, and if that
// fails, as a regular one with retries.
func lookup[T any](ctx workflow.Context, u *turn, summary string, activity any, args ...any) (T, error) {
	result, err := runOnce[T](ctx, summary, activity, args...)
	if err == nil || ctx.Err() != nil || final(err) {
		return result, err
	}
	return runWithRetries[T](ctx, u, lookupLimits, summary, activity, args...)
}

// runOnce runs a local activity, without retries.
func runOnce[T any](ctx workflow.Context, summary string, activity any, args ...any) (result T, err error) {
	local := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		ScheduleToCloseTimeout: lookupTimeout,
		RetryPolicy:            &temporal.RetryPolicy{MaximumAttempts: 1},
		Summary:                summary,
	})
	err = workflow.ExecuteLocalActivity(local, activity, args...).Get(ctx, &result)
	return result, err
}

// limits bound the attempts of a regular activity.
type limits struct {
	all       time.Duration // 0: retried without limit
	attempt   time.Duration
	heartbeat time.Duration // 0: the activity sends none
}

var (
	lookupLimits = limits{all: lookupRetryTimeout, attempt: lookupAttemptTimeout}
	settleLimits = limits{attempt: settleAttemptTimeout, heartbeat: heartbeatTimeout}
)

// runWithRetries runs a regular activity and retries it.
func runWithRetries[T any](ctx workflow.Context, u *turn, l limits, summary string, activity any, args ...any) (result T, err error) {
	regular := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		ScheduleToCloseTimeout: l.all,
		StartToCloseTimeout:    l.attempt,
		HeartbeatTimeout:       l.heartbeat,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: 200 * time.Millisecond, MaximumInterval: 5 * time.Second},
		Summary:                summary,
	})
	u.blocked = true
	err = workflow.ExecuteActivity(regular, activity, args...).Get(ctx, &result)
	return result, err
}

// maxLog is how many entries of a turn's log its thread holds at most between two steps, and
// maxLogWords how many bytes of an agent's own words in them; older entries become rows.
const (
	maxLog      = 256
	maxLogWords = 256 << 10
)

// storeOldLog moves the log's entries to the database when there are many. So the
// state of a thread is bounded, however many steps a turn has.
func (u *turn) storeOldLog(ctx workflow.Context) error {
	if len(u.Log) < maxLog && ownWords(u.Log) < maxLogWords || u.Unsaved != nil {
		return nil
	}
	from, entries := u.Kept+1, u.Log
	_, err := lookup[any](ctx, u, "Store the log so far", acts.KeepLog, activities.LogRequest{TurnRef: u.TurnRef, From: from, Entries: entries})
	if err != nil {
		return err
	}
	u.Kept += len(entries)
	u.Log = slices.Clone(u.Log[len(entries):]) // entries added during the look-up
	return nil
}

// ownWords counts the bytes of an agent's own words.
func ownWords(log []chat.Entry) (bytes int) {
	for _, e := range log {
		bytes += len(e.Text)
		if e.Question != nil {
			bytes += len(e.Question.Text) + len(strings.Join(e.Question.Labels, ""))
		}
	}
	return bytes
}

// final reports whether a retry cannot help.
func final(err error) bool {
	var app *temporal.ApplicationError
	return errors.As(err, &app) && app.NonRetryable()
}

// markStatus stores a status for lists of conversations. Best effort: the turn does
// not wait for the database.
func (u *turn) markStatus(ctx workflow.Context, summary string, activity any) {
	if u.Unsaved != nil { // there is no row to mark
		return
	}
	ref := u.TurnRef
	if u.Pending != nil {
		ref.Asks = u.Pending.Type
	}
	if _, err := runOnce[any](ctx, summary, activity, ref); err != nil && ctx.Err() == nil {
		u.log(ctx).Warn("storing the turn's status failed", "error", err)
	}
}

// timeLeft is the time until the turn's deadline.
func (u *turn) timeLeft(ctx workflow.Context) time.Duration {
	return u.thread.TurnDeadline - u.worked(ctx)
}

// worked is how long the turn has run so far, without the time in which it waited for people.
func (u *turn) worked(ctx workflow.Context) time.Duration {
	if u.workingSince.IsZero() {
		return u.Worked
	}
	return u.Worked + workflow.Now(ctx).Sub(u.workingSince)
}

// pauseClock stops the clock of the deadline while a person is asked.
func (u *turn) pauseClock(ctx workflow.Context) {
	if !u.workingSince.IsZero() {
		u.Worked, u.workingSince = u.worked(ctx), time.Time{}
	}
}

// modelCall has the options of activities that call a model or the web. The
// activity decides which errors are retried, and for how long (LLM_RETRY_BUDGET).
// The turn's deadline bounds all attempts.
func (u *turn) modelCall(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout:    modelCallTimeout,
		ScheduleToCloseTimeout: max(time.Second, u.timeLeft(ctx)),
		HeartbeatTimeout:       heartbeatTimeout,
		WaitForCancellation:    true,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: retryInterval, BackoffCoefficient: 1},
		Summary:                summary,
	})
}

// await waits for the result of a model call or a tool call, or for the partial result
// when the turn is stopped.
func (u *turn) await(ctx workflow.Context, call workflow.Future, result any) error {
	u.calling, u.blocked = true, true
	defer func() {
		u.calling = false
		u.Order++ // later look-ups overwrite what the call has written
	}()
	if err := workflow.Await(ctx, call.IsReady); err == nil {
		u.acceptRecorded = true
		return call.Get(ctx, result)
	}
	return u.awaitPartial(ctx, call, result)
}
