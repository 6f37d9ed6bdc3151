package workflows

import (
	"errors"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
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
	// When another worker is asked after a heartbeat timeout. It does not grow:
	// errors of activities bring delays of their own, and a worker that fell silent
	// may be handed several attempts.
	takeOver = 500 * time.Millisecond
	// How long a stopped turn waits for its streaming activity to hand in what
	// it has; the draft has it anyway.
	stopPatience = 2 * time.Second
	// And how long while the database is away: as long as the activity tries.
	savePatience = activities.SavePatience + lookupLimit
	// Or when nobody knows whether it is.
	slowPatience = 10 * time.Second
)

// lookup runs a few milliseconds' worth of database work: as a local activity,
// and when that does not go at once, as a regular one with retries.
func lookup[T any](ctx workflow.Context, u *turn, summary string, activity, arg any) (T, error) {
	result, err := quick[T](ctx, summary, activity, arg)
	if err == nil || ctx.Err() != nil || final(err) {
		return result, err
	}
	return patient[T](ctx, u, lookupPatience, summary, activity, arg)
}

// quick tries once, as a local activity.
func quick[T any](ctx workflow.Context, summary string, activity, arg any) (result T, err error) {
	local := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		ScheduleToCloseTimeout: lookupLimit,
		RetryPolicy:            &temporal.RetryPolicy{MaximumAttempts: 1},
		Summary:                summary,
	})
	err = workflow.ExecuteLocalActivity(local, activity, arg).Get(ctx, &result)
	return result, err
}

// patient tries again and again, as a regular activity; patience 0: for ever.
func patient[T any](ctx workflow.Context, u *turn, patience time.Duration, summary string, activity, arg any) (result T, err error) {
	regular := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		ScheduleToCloseTimeout: patience,
		StartToCloseTimeout:    10 * time.Second,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: 200 * time.Millisecond, MaximumInterval: 5 * time.Second},
		Summary:                summary,
	})
	u.waits = true
	err = workflow.ExecuteActivity(regular, activity, arg).Get(ctx, &result)
	return result, err
}

// maxLog is how many entries of a turn's log its thread holds at most between
// two steps; older ones become rows.
const maxLog = 256

// trim has the log's entries stored when there are many, and forgets them: what
// a thread carries is bounded, however many steps a turn has.
func (u *turn) trim(ctx workflow.Context) error {
	if u.thread.Version == 0 || len(u.Log) < maxLog || u.Unsaved != nil {
		return nil
	}
	from, entries := u.Kept+1, u.Log
	_, err := lookup[any](ctx, u, "Store the log so far", acts.KeepLog, activities.LogRequest{TurnRef: u.TurnRef, From: from, Entries: entries})
	if err != nil {
		return err
	}
	u.Kept += len(entries)
	u.Log = slices.Clone(u.Log[len(entries):]) // what came meanwhile
	return nil
}

// final reports whether trying again cannot help.
func final(err error) bool {
	var app *temporal.ApplicationError
	return errors.As(err, &app) && app.NonRetryable()
}

// mark notes a status that lists show. Best effort: the turn does not wait for
// a database to say that it waits.
func (u *turn) mark(ctx workflow.Context, summary string, activity any) {
	if u.Unsaved != nil { // there is no row to mark
		return
	}
	if _, err := quick[any](ctx, summary, activity, u.TurnRef); err != nil && ctx.Err() == nil {
		u.log(ctx).Warn("status not marked", "error", err)
	}
}

// announceStop tells the activity that works for the turn; heartbeats would,
// too, much later.
func (u *turn) announceStop(ctx workflow.Context) {
	if _, err := quick[any](ctx, "Announce the stop", acts.AnnounceStop, u.TurnRef); err != nil {
		u.log(ctx).Warn("stop not announced", "error", err)
	}
}

// mayCall is asked before every model call of a turn, and counts it. Its error
// ends the turn with the code of the bound that is reached; what was written so
// far is kept.
func (u *turn) mayCall(ctx workflow.Context) error {
	code := ""
	switch bounds := u.thread.ThreadInput; {
	case u.Stopped != "":
		return errStopped
	case u.left(ctx) <= 0:
		code = chat.CodeDeadline
	case bounds.MaxSteps > 0 && u.Calls >= bounds.MaxSteps:
		code = chat.CodeStepLimit
	case bounds.MaxTokens > 0 && u.Usage.Tokens() >= bounds.MaxTokens:
		code = chat.CodeTokenLimit
	default:
		u.Calls++
		return nil
	}
	return temporal.NewNonRetryableApplicationError("a bound of the turn is reached", code, nil)
}

// left is how much longer the turn may work.
func (u *turn) left(ctx workflow.Context) time.Duration {
	left := u.thread.TurnDeadline - u.Worked
	if !u.since.IsZero() {
		left -= workflow.Now(ctx).Sub(u.since)
	}
	return left
}

// rest stops the clock while a person is asked.
func (u *turn) rest(ctx workflow.Context) {
	if !u.since.IsZero() {
		u.Worked += workflow.Now(ctx).Sub(u.since)
		u.since = time.Time{}
	}
}

// modelCall is how activities that call a model or the web run. Which errors
// are tried again, and for how long, the activity decides (LLM_RETRY_BUDGET);
// what is left of the turn's deadline bounds it all.
func (u *turn) modelCall(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout:    longestCall,
		ScheduleToCloseTimeout: max(time.Second, u.left(ctx)),
		HeartbeatTimeout:       heartbeat,
		WaitForCancellation:    true,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: takeOver, BackoffCoefficient: 1},
		Summary:                summary,
	})
}

// await gets the result of a model call or a tool. Stopped, it gives the call a
// moment to hand in what it has and then goes on without; however many calls
// there are, it is the same moment.
func (u *turn) await(ctx workflow.Context, call workflow.Future, result any) error {
	u.writing, u.waits = true, true
	defer func() {
		u.writing = false
		u.Order++ // what look-ups write from now on comes after it
	}()
	if err := workflow.Await(ctx, call.IsReady); err == nil {
		u.recorded = true
		return call.Get(ctx, result)
	}
	clean, _ := workflow.NewDisconnectedContext(ctx)
	if u.given.IsZero() {
		u.given = workflow.Now(ctx).Add(stopPatience)
	}
	ready, _ := workflow.AwaitWithTimeout(clean, max(0, u.given.Sub(workflow.Now(ctx))), call.IsReady)
	u.recorded = true
	if !ready {
		u.held = call
	} else if err := call.Get(clean, result); err != nil {
		return err
	}
	return errStopped
}
