package workflows

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/tools"
)

// toolLoop configures the loop of model calls and tool calls for an agent.
type toolLoop struct {
	status func(n int) chat.Node // status before the n-th model call; "" for none
	model  func(workflow.Context, activities.Stage) workflow.Future
}

// round is the position of a turn in the tool loop.
type round struct {
	N     int              `json:"n"` // of the next model call
	Stage activities.Stage `json:"stage"`
}

// runToolLoop calls the model, then the tools that it asks for, until it answers
// without tools. Each text of the model is a piece of the answer. The thread may
// continue as new between two rounds.
func (u *turn) runToolLoop(ctx workflow.Context, a toolLoop) (activities.Written, error) {
	next := round{N: 1, Stage: activities.Stage{Piece: 1}}
	if recorded, ok := u.Steps[stepRound]; ok {
		if err := json.Unmarshal(recorded, &next); err != nil {
			return activities.Written{}, err
		}
	}
	for {
		if next.N > 1 && u.thread.Version >= 1 {
			if err := u.storeOldLog(ctx); err != nil {
				return activities.Written{}, err
			}
			if u.Stopped == "" && u.thread.mustContinueAsNew(ctx) {
				u.pauseClock(ctx)
				return activities.Written{}, errContinue
			}
		}
		said, err := u.callModel(ctx, a, next.N, next.Stage)
		if err != nil || len(said.Calls) == 0 {
			return said, err
		}
		made, err := u.callTools(ctx, next.N, said.Calls)
		if err != nil {
			return said, err
		}
		if err := u.finishRound(&next, said, made); err != nil {
			return said, err
		}
	}
}

// stepRound is the step that records the round. It replaces the steps of the rounds
// before.
const stepRound = "round"

// roundSteps are the prefixes of the names of a round's steps.
var roundSteps = []string{"write", "approve", "run", "unknown"}

// finishRound records the next round in place of this round's steps.
func (u *turn) finishRound(r *round, said activities.Written, made []activities.Made) (err error) {
	done := activities.Round{Calls: made}
	if said.Chars > 0 {
		done.Piece = r.Stage.Piece
		r.Stage.Piece, r.Stage.Tried = r.Stage.Piece+1, 0
	} else {
		r.Stage.Tried += said.Attempt
	}
	if u.thread.Version == 0 {
		r.Stage.Rounds = append(r.Stage.Rounds, done)
	} else {
		r.Stage.Round = r.N // the activity reads the rounds from the turn's texts
	}
	r.Stage.Calls += len(said.Calls)
	r.N++
	for _, step := range workflow.DeterministicKeys(u.Steps) {
		if slices.ContainsFunc(roundSteps, func(prefix string) bool { return strings.HasPrefix(step, prefix) }) {
			delete(u.Steps, step)
		}
	}
	u.Steps[stepRound], err = json.Marshal(*r)
	return err
}

// callModel has the model write the next piece, or ask for tool calls.
func (u *turn) callModel(ctx workflow.Context, a toolLoop, n int, stage activities.Stage) (activities.Written, error) {
	return once(u, stepName("write", n), func() (w activities.Written, err error) {
		if err := u.mayCall(ctx); err != nil {
			return w, err
		}
		if node := a.status(n); node != "" {
			u.status(ctx, node)
		}
		err = u.await(ctx, a.model(ctx, stage), &w)
		u.Usage = u.Usage.Add(w.Usage)
		if err != nil {
			return w, err
		}
		if w.Stopped {
			return w, errStopped
		}
		u.noticeNoImages(ctx, w.NoImages)
		if w.Chars > 0 {
			u.append(ctx, chat.Entry{Type: chat.EventText, Piece: stage.Piece, Ref: chat.PieceKey(stage.Piece)})
		}
		for _, c := range w.Calls {
			u.append(ctx, chat.Entry{Type: chat.EventToolCall, Call: &c.CallRef})
		}
		return w, nil
	})
}

// callTools makes the tool calls of one model message. It first asks the person
// about those that need approval, then runs all allowed calls in parallel. The
// results are in the order of the calls.
func (u *turn) callTools(ctx workflow.Context, n int, calls []activities.Wanted) ([]activities.Made, error) {
	var run, ask []string
	for _, c := range calls {
		switch {
		case c.Refused:
		case c.Approval == tools.Never || slices.Contains(u.approved, c.Name):
			run = append(run, c.ID)
		default:
			ask = append(ask, c.ID)
		}
	}
	if len(ask) > 0 {
		decided, err := u.decide(ctx, stepName("approve", n), chat.Question{Prompt: chat.PromptApproveTools, Calls: refs(calls, ask, false)})
		if err != nil {
			return nil, err
		}
		run = append(run, decided.Run...)
		calls = withHashes(calls, decided.Hashes)
	}
	ended, err := u.runTools(ctx, stepName("run", n), calls, run)
	if err != nil {
		return nil, err
	}
	made := make([]activities.Made, len(calls))
	for i, c := range calls {
		made[i].CallRef = c.CallRef
	}
	note := func(ended []outcome) (unknown []string) {
		for _, o := range ended {
			i := slices.IndexFunc(calls, func(c activities.Wanted) bool { return c.ID == o.ID })
			made[i].IsError = o.IsError
			if o.Unknown {
				unknown = append(unknown, o.ID)
			}
		}
		return unknown
	}
	unknown := note(ended)
	for k := 1; len(unknown) > 0 && (k <= maxSameQuestion || u.thread.Version == 0); k++ {
		step := stepName("unknown "+strconv.Itoa(n), k)
		decided, err := u.decide(ctx, step, chat.Question{Prompt: chat.PromptUnknownOutcome, Calls: refs(calls, unknown, true)})
		if err != nil {
			return nil, err
		}
		calls = withHashes(calls, decided.Hashes)
		again := slices.DeleteFunc(slices.Clone(calls), func(c activities.Wanted) bool { return !slices.Contains(unknown, c.ID) })
		if ended, err = u.runTools(ctx, step+": run", again, decided.Run); err != nil {
			return nil, err
		}
		unknown = note(ended)
	}
	return made, nil
}

// withHashes replaces the hashes of calls whose arguments the person has edited.
func withHashes(calls []activities.Wanted, hashes map[string]string) []activities.Wanted {
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
func refs(calls []activities.Wanted, ids []string, fixed bool) []chat.CallRef {
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
func (u *turn) decide(ctx workflow.Context, step string, q chat.Question) (activities.Decided, error) {
	q.Type = chat.ToolApproval
	answer, err := u.ask(ctx, step, q)
	if err != nil {
		return activities.Decided{}, err
	}
	decided, err := once(u, step+": decide", func() (activities.Decided, error) {
		return lookup[activities.Decided](ctx, u, "Take the decisions", acts.Decide,
			activities.DecideRequest{TurnRef: u.TurnRef, Question: q, Value: answer})
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
func (u *turn) runTools(ctx workflow.Context, step string, calls []activities.Wanted, run []string) ([]outcome, error) {
	return once(u, step, func() ([]outcome, error) {
		var out []outcome
		var failed error
		running := make([]workflow.Future, len(calls))
		for i, c := range calls {
			if slices.Contains(run, c.ID) {
				u.append(ctx, chat.Entry{Type: chat.EventStatus, Node: chat.NodeTool, Call: &c.CallRef})
				running[i] = u.callTool(ctx, c)
			}
		}
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
	})
}

// awaitTool waits for a call to end. It repeats a call whose worker stopped before
// the tool ran. For a call that may have run it looks for a stored result.
func (u *turn) awaitTool(ctx workflow.Context, c activities.Wanted, call workflow.Future) (outcome, error) {
	var got activities.Called
	err := u.await(ctx, call, &got)
	for range maxNotRunRetries {
		if u.Stopped != "" || !isType(err, activities.ErrTypeNotRun) {
			break
		}
		err = u.await(ctx, u.callTool(ctx, c), &got)
	}
	u.Usage = u.Usage.Add(got.Usage)
	if err == nil {
		return outcome{ID: c.ID, IsError: got.IsError}, nil
	}
	if u.Stopped != "" || !c.SideEffects || !outcomeIsUnknown(err) {
		return outcome{}, err
	}
	u.log(ctx).Warn("tool call ended with unknown outcome; looking for its result", "tool", c.Name, "call", c.ID, "error", err)
	found, err := lookup[*activities.Called](ctx, u, "Look for the result of "+c.Name, acts.FindResult, u.callRequest(c))
	if err != nil || found == nil {
		return outcome{ID: c.ID, Unknown: true}, err
	}
	u.Usage = u.Usage.Add(found.Usage)
	return outcome{ID: c.ID, IsError: found.IsError}, nil
}

// maxNotRunRetries bounds how often a call is repeated whose worker stopped before
// the tool ran.
const maxNotRunRetries = 5

// outcomeIsUnknown reports whether a call with side effects may have run: its
// heartbeats stopped, or the worker could not tell.
func outcomeIsUnknown(err error) bool {
	var timeout *temporal.TimeoutError
	if errors.As(err, &timeout) {
		return timeout.TimeoutType() == enumspb.TIMEOUT_TYPE_HEARTBEAT || timeout.TimeoutType() == enumspb.TIMEOUT_TYPE_START_TO_CLOSE
	}
	return isType(err, activities.ErrTypeUnknownOutcome) || isType(err, activities.ErrTypeInterrupted)
}

func isType(err error, name string) bool {
	var app *temporal.ApplicationError
	return errors.As(err, &app) && app.Type() == name
}

// callTool starts a call. A call with side effects has one attempt.
func (u *turn) callTool(ctx workflow.Context, c activities.Wanted) workflow.Future {
	tries := int32(maxToolAttempts)
	if c.SideEffects {
		tries = 1
	}
	request := u.callRequest(c)
	request.TurnRef = u.nextActivityRef()
	return workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout:    toolCallTimeout,
		ScheduleToCloseTimeout: max(time.Second, u.timeLeft(ctx)),
		HeartbeatTimeout:       heartbeatTimeout,
		WaitForCancellation:    true,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: retryInterval, BackoffCoefficient: 1, MaximumAttempts: tries},
		Summary:                "Call " + c.Name,
	}), acts.CallTool, request)
}

// One attempt of a tool call. A tool's own timeout is shorter, and gives a result.
const toolCallTimeout = 20 * time.Minute

// Attempts of a call without side effects. The activity gives up after fewer
// failures, with an error result; the other attempts are for workers that die.
const maxToolAttempts = 10

func (u *turn) callRequest(c activities.Wanted) activities.CallRequest {
	return activities.CallRequest{TurnRef: u.TurnRef, CallRef: c.CallRef, Agent: u.agent.Name, SideEffects: c.SideEffects}
}

// stepName is the name of the n-th run of a step.
func stepName(step string, n int) string {
	if n == 1 {
		return step
	}
	return step + " " + strconv.Itoa(n)
}

// noticeNoImages adds the notice that the model cannot see pictures, once per turn.
func (u *turn) noticeNoImages(ctx workflow.Context, cannotSee bool) {
	if cannotSee && !u.NoImages {
		u.NoImages = true
		u.notice(ctx, chat.NoticeNoImages)
	}
}
