package workflows

import (
	"errors"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/tools"
)

// callTools makes the tool calls of one model message. It first asks the person about
// those that need approval, then runs all allowed calls in parallel, and asks again about
// those whose outcome is unknown. The results are in the order of the calls.
func (u *turn) callTools(ctx workflow.Context, n int, calls []activities.RequestedCall) ([]activities.CompletedCall, error) {
	calls, run, err := u.approveCalls(ctx, n, calls)
	if err != nil {
		return nil, err
	}
	return u.runUntilKnown(ctx, stepName(stepRun, n), numbered(stepUnknown, n), calls, run)
}

// callRequested makes a call that the message itself asks for.
func (u *turn) callRequested(ctx workflow.Context, step string, c activities.RequestedCall) ([]activities.CompletedCall, error) {
	_, err := once(u, step, func() (bool, error) {
		u.append(ctx, chat.Entry{Type: chat.EventToolCall, Call: &c.CallRef})
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	return u.runUntilKnown(ctx, step+stepRunAfter, step+stepUnknownAfter, []activities.RequestedCall{c}, []string{c.ID})
}

// runUntilKnown makes the calls that run names, and asks the person about those whose outcome
// is unknown, until it is known.
func (u *turn) runUntilKnown(ctx workflow.Context, step, ask string, calls []activities.RequestedCall, run []string) ([]activities.CompletedCall, error) {
	made := make([]activities.CompletedCall, len(calls))
	for i, c := range calls {
		made[i].CallRef = c.CallRef
	}
	ended, err := u.runTools(ctx, step, calls, run)
	if err != nil {
		return nil, err
	}
	unknown := noteOutcomes(made, ended)
	for k := 1; len(unknown) > 0 && k <= maxSameQuestion; k++ {
		calls, ended, err = u.repeatUnknown(ctx, stepName(ask, k), k, calls, unknown)
		if err != nil {
			return nil, err
		}
		unknown = noteOutcomes(made, ended)
	}
	return made, nil
}

// approveCalls asks the person about the calls that need it. It returns the calls with the
// hashes of their arguments, and the ids of those to run.
func (u *turn) approveCalls(ctx workflow.Context, n int, calls []activities.RequestedCall) (_ []activities.RequestedCall, run []string, _ error) {
	var ask []string
	for _, c := range calls {
		switch {
		case c.Refused:
		case c.Approval == tools.Never || slices.Contains(u.approved, c.Name):
			run = append(run, c.ID)
		default:
			ask = append(ask, c.ID)
		}
	}
	if len(ask) == 0 {
		return calls, run, nil
	}
	decided, err := u.decide(ctx, stepName(stepApprove, n), chat.Question{Prompt: chat.PromptApproveTools, Calls: refs(calls, ask, false)})
	return withHashes(calls, decided.Hashes), append(run, decided.Run...), err
}

// repeatUnknown asks the person about calls whose outcome is unknown, and runs again those
// that they want run again, for the k-th time.
func (u *turn) repeatUnknown(ctx workflow.Context, step string, k int, calls []activities.RequestedCall, unknown []string) ([]activities.RequestedCall, []outcome, error) {
	decided, err := u.decide(ctx, step, chat.Question{Prompt: chat.PromptUnknownOutcome, Calls: refs(calls, unknown, true)})
	if err != nil {
		return calls, nil, err
	}
	calls = withHashes(calls, decided.Hashes)
	again := slices.DeleteFunc(slices.Clone(calls), func(c activities.RequestedCall) bool { return !slices.Contains(unknown, c.ID) })
	for i := range again {
		again[i].Repeat = k
	}
	ended, err := u.runTools(ctx, step+stepRunAfter, again, decided.Run)
	return calls, ended, err
}

// noteOutcomes marks failed calls, and returns the ids of those whose outcome is unknown.
func noteOutcomes(made []activities.CompletedCall, ended []outcome) (unknown []string) {
	for _, o := range ended {
		i := slices.IndexFunc(made, func(m activities.CompletedCall) bool { return m.ID == o.ID })
		made[i].IsError = o.IsError
		if o.Unknown {
			unknown = append(unknown, o.ID)
		}
	}
	return unknown
}

// withHashes replaces the hashes of calls whose arguments the person has edited.
func withHashes(calls []activities.RequestedCall, hashes map[string]string) []activities.RequestedCall {
	calls = slices.Clone(calls)
	for i := range calls {
		if hash := hashes[calls[i].ID]; hash != "" {
			calls[i].Hash = hash
		}
	}
	return calls
}

// refs returns the calls with these ids for a question. fixed: their arguments
// cannot be edited, because a call whose outcome is unknown is repeated as it was.
func refs(calls []activities.RequestedCall, ids []string, fixed bool) []chat.CallRef {
	var out []chat.CallRef
	for _, c := range calls {
		if slices.Contains(ids, c.ID) {
			c.Editable = c.Editable && !fixed
			out = append(out, c.CallRef)
		}
	}
	return out
}

// decide asks the person about tool calls. It returns the calls to run; the others
// have their result. Remembered approvals count from here on.
func (u *turn) decide(ctx workflow.Context, step string, q chat.Question) (activities.DecideResult, error) {
	q.Type = chat.ToolApproval
	answer, err := u.ask(ctx, step, q)
	if err != nil {
		return activities.DecideResult{}, err
	}
	q.ID = chat.InterruptID(u.TurnID, u.Asked)
	decided, err := once(u, step+stepDecideAfter, func() (activities.DecideResult, error) {
		return lookup[activities.DecideResult](ctx, u, "Take the decisions", acts.Decide,
			activities.DecideRequest{TurnRef: u.TurnRef, Question: q, Value: answer, Channel: u.AnsweredBy})
	})
	for _, name := range decided.Remember {
		if !slices.Contains(u.approved, name) {
			u.approved = append(slices.Clone(u.approved), name)
			u.Remembered = append(u.Remembered, name)
		}
	}
	return decided, err
}

// outcome is how a tool call ended.
type outcome struct {
	ID      string `json:"id"`
	IsError bool   `json:"error,omitempty"`
	Unknown bool   `json:"unknown,omitempty"` // it may have run or not; it has no result
}

// runTools makes the calls that run names, in parallel; the others have their
// result already. The log gets every result, in the order of the calls.
func (u *turn) runTools(ctx workflow.Context, step string, calls []activities.RequestedCall, run []string) ([]outcome, error) {
	return once(u, step, func() ([]outcome, error) {
		running := make([]workflow.Future, len(calls))
		for i, c := range calls {
			if slices.Contains(run, c.ID) {
				if !c.Quiet {
					u.append(ctx, chat.Entry{Type: chat.EventStatus, Node: chat.NodeTool, Call: &c.CallRef})
				}
				running[i] = u.callTool(ctx, c)
			}
		}
		return u.awaitTools(ctx, calls, running)
	})
}

// awaitTools waits for all calls that run, also when one of them fails.
func (u *turn) awaitTools(ctx workflow.Context, calls []activities.RequestedCall, running []workflow.Future) (out []outcome, failed error) {
	for i, c := range calls {
		o := outcome{ID: c.ID, IsError: true}
		if running[i] != nil {
			var err error
			if o, err = u.awaitTool(ctx, c, running[i]); err != nil {
				failed = err
				continue
			}
		}
		out = append(out, o)
		if !o.Unknown {
			u.append(ctx, chat.Entry{Type: chat.EventToolResult, Call: &c.CallRef, IsError: o.IsError})
		}
	}
	return out, failed
}

// awaitTool waits for a call to end. It repeats a call whose worker stopped before
// the tool ran. For a call that may have run it looks for a stored result.
func (u *turn) awaitTool(ctx workflow.Context, c activities.RequestedCall, call workflow.Future) (outcome, error) {
	var got activities.CallResult
	err := u.await(ctx, call, &got)
	for range maxNotRunRetries {
		if u.Stopped != "" || !isType(err, activities.ErrTypeNotRun) {
			break
		}
		err = u.await(ctx, u.callTool(ctx, c), &got)
	}
	u.Usage = u.Usage.Add(got.Usage)
	u.logReports(ctx, c.ID, &c.CallRef, got.Progress)
	if err == nil {
		return outcome{ID: c.ID, IsError: got.IsError}, nil
	}
	if u.Stopped != "" || !c.SideEffects || !outcomeIsUnknown(err) {
		return outcome{}, err
	}
	u.log(ctx).Warn("tool call ended with unknown outcome; looking for its result", "tool", c.Name, "call", c.ID, "error", err)
	return u.findOutcome(ctx, c)
}

// findOutcome looks for the stored result of a call that may have run.
func (u *turn) findOutcome(ctx workflow.Context, c activities.RequestedCall) (outcome, error) {
	found, err := lookup[*activities.CallResult](ctx, u, "Look for the result of "+c.Name, acts.FindResult, u.callRequest(c))
	if err != nil || found == nil {
		return outcome{ID: c.ID, Unknown: true}, err
	}
	u.Usage = u.Usage.Add(found.Usage)
	u.logReports(ctx, c.ID, &c.CallRef, found.Progress)
	if found.Unknown {
		u.noteReports(c.ID, len(found.Progress))
		return outcome{ID: c.ID, Unknown: true}, nil
	}
	return outcome{ID: c.ID, IsError: found.IsError}, nil
}

// maxNotRunRetries bounds how often a call is repeated whose worker stopped before
// the tool ran.
const maxNotRunRetries = 5

// outcomeIsUnknown reports whether a call with side effects may have run: it timed out
// after a worker took it, or the worker could not tell.
func outcomeIsUnknown(err error) bool {
	var timeout *temporal.TimeoutError
	if errors.As(err, &timeout) {
		return timeout.TimeoutType() != enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START
	}
	return isType(err, activities.ErrTypeUnknownOutcome) || isType(err, activities.ErrTypeInterrupted)
}

func isType(err error, name string) bool {
	var app *temporal.ApplicationError
	return errors.As(err, &app) && app.Type() == name
}

// callTool starts a call. A call with side effects has one attempt, and the turn's deadline
// does not cut it: it does not begin when less time is left than its tool may take.
func (u *turn) callTool(ctx workflow.Context, c activities.RequestedCall) workflow.Future {
	left := max(time.Second, u.timeLeft(ctx))
	options := workflow.ActivityOptions{
		StartToCloseTimeout: toolCallTimeout,
		HeartbeatTimeout:    heartbeatTimeout,
		WaitForCancellation: true,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: retryInterval, BackoffCoefficient: 1, MaximumAttempts: maxToolAttempts},
		Summary:             "Call " + c.Name,
	}
	request := u.callRequest(c)
	request.TurnRef = u.nextActivityRef()
	if c.SideEffects {
		options.RetryPolicy.MaximumAttempts = 1
		options.ScheduleToStartTimeout, request.Left = left, left
	} else {
		options.ScheduleToCloseTimeout = left
	}
	u.reporting = append(u.reporting, c.ID)
	return workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, options), acts.CallTool, request)
}

// One attempt of a tool call. A tool's own timeout is shorter, and gives a result.
const toolCallTimeout = 20 * time.Minute

// Attempts of a call without side effects. The activity gives up after fewer
// failures, with an error result; the other attempts are for workers that die.
const maxToolAttempts = 10

func (u *turn) callRequest(c activities.RequestedCall) activities.CallRequest {
	return activities.CallRequest{TurnRef: u.TurnRef, CallRef: c.CallRef, Agent: u.agent.Name, SideEffects: c.SideEffects, Repeat: c.Repeat}
}
