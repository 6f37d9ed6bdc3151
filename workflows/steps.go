package workflows

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/activities"
)

// acts names activities; it is never called.
var acts *activities.Activities

// errStopped unwinds a turn that was stopped while it waited.
var errStopped = errors.New("stopped")

const (
	// A look-up takes milliseconds. While it runs, the thread answers nobody, so
	// a slow one becomes a regular activity.
	lookupLimit = time.Second
	// How long a look-up's database may be away before the turn fails plainly.
	lookupPatience = time.Minute
	// One try of a model call; LLM_TIMEOUT is shorter.
	longestCall = 10 * time.Minute
	// Silence after which a streaming activity's worker is taken for dead.
	heartbeat = 4 * time.Second
	// How long a stopped turn waits for its streaming activity to hand in what
	// it has; the draft has it anyway.
	stopPatience = 2 * time.Second
)

// lookup runs a few milliseconds' worth of database work: as a local activity,
// and when that does not go at once, as a regular one with retries.
func lookup[T any](ctx workflow.Context, summary string, activity, arg any) (T, error) {
	var result T
	local := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		ScheduleToCloseTimeout: lookupLimit,
		RetryPolicy:            &temporal.RetryPolicy{MaximumAttempts: 1},
		Summary:                summary,
	})
	err := workflow.ExecuteLocalActivity(local, activity, arg).Get(ctx, &result)
	if err == nil || ctx.Err() != nil || final(err) {
		return result, err
	}
	regular := workflow.ActivityOptions{
		StartToCloseTimeout: 10 * time.Second,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: 200 * time.Millisecond, MaximumInterval: 5 * time.Second},
		Summary:             summary,
	}
	if _, settling := arg.(activities.Ending); !settling {
		regular.ScheduleToCloseTimeout = lookupPatience
	}
	err = workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, regular), activity, arg).Get(ctx, &result)
	return result, err
}

// final reports whether trying again cannot help.
func final(err error) bool {
	var app *temporal.ApplicationError
	return errors.As(err, &app) && app.NonRetryable()
}

// mark notes a status that lists show. Best effort: the turn does not wait for
// a database to say that it waits.
func mark(ctx workflow.Context, summary string, activity any, ref activities.TurnRef) {
	local := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		ScheduleToCloseTimeout: lookupLimit,
		RetryPolicy:            &temporal.RetryPolicy{MaximumAttempts: 1},
		Summary:                summary,
	})
	if err := workflow.ExecuteLocalActivity(local, activity, ref).Get(ctx, nil); err != nil {
		workflow.GetLogger(ctx).Warn("status not marked", "turn", ref.TurnID, "error", err)
	}
}

func announceStop(ctx workflow.Context, ref activities.TurnRef) {
	mark(ctx, "Announce the stop", acts.AnnounceStop, ref)
}

// modelCall is how activities that call a model or the web run. Which errors
// are tried again, and for how long, the activity decides (LLM_RETRY_BUDGET);
// what is left of the turn's deadline bounds it all.
func (u *turn) modelCall(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout:    longestCall,
		ScheduleToCloseTimeout: max(time.Second, u.thread.TurnDeadline-u.Worked),
		HeartbeatTimeout:       heartbeat,
		WaitForCancellation:    true,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: 500 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: 8 * time.Second,
		},
		Summary: summary,
	})
}

// await gets a model call's result. Stopped, it gives the call a moment to hand
// in what it has and then goes on without.
func (u *turn) await(ctx workflow.Context, call workflow.Future, result any) error {
	began := workflow.Now(ctx)
	u.writing = true
	defer func() {
		u.writing = false
		u.Worked += workflow.Now(ctx).Sub(began)
	}()
	if err := workflow.Await(ctx, call.IsReady); err == nil {
		return call.Get(ctx, result)
	}
	clean, _ := workflow.NewDisconnectedContext(ctx)
	if ready, _ := workflow.AwaitWithTimeout(clean, stopPatience, call.IsReady); ready {
		if err := call.Get(clean, result); err != nil {
			return err
		}
	}
	return errStopped
}
