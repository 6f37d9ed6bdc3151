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

// answering is how an agent answers with tools.
type answering struct {
	agent  chat.Agent
	status func(n int) chat.Node // shown before the n-th model call; "" for none
	model  func(workflow.Context, activities.Stage) workflow.Future
}

// round is where a turn stands in the loop of model and tools.
type round struct {
	N     int              `json:"n"` // of the next model call
	Stage activities.Stage `json:"stage"`
}

// answerWith calls a model and the tools it wants called, in turn, until it
// answers. Each text of the model's is a piece of the answer. Between two rounds
// the thread may continue as new.
func (u *turn) answerWith(ctx workflow.Context, a answering) (activities.Written, error) {
	next := round{N: 1, Stage: activities.Stage{Piece: 1}}
	if recorded, ok := u.Steps[stepRound]; ok {
		if err := json.Unmarshal(recorded, &next); err != nil {
			return activities.Written{}, err
		}
	}
	for {
		if next.N > 1 && u.thread.Version >= 1 {
			if err := u.trim(ctx); err != nil {
				return activities.Written{}, err
			}
			if u.Stopped == "" && u.thread.full(ctx) {
				u.rest(ctx)
				return activities.Written{}, errContinue
			}
		}
		said, err := u.say(ctx, a, next.N, next.Stage)
		if err != nil || len(said.Calls) == 0 {
			return said, err
		}
		made, err := u.callTools(ctx, a.agent, next.N, said.Calls)
		if err != nil {
			return said, err
		}
		if err := u.record(&next, said, made); err != nil {
			return said, err
		}
	}
}

// stepRound is the fact of where the loop stands; it takes the place of those of
// the rounds before.
const stepRound = "round"

// Steps of a round, by how their names begin.
var roundSteps = []string{"write", "approve", "run", "unknown"}

// record ends a round: one fact takes the place of its steps.
func (u *turn) record(r *round, said activities.Written, made []activities.Made) (err error) {
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
		r.Stage.Round = r.N // the activity knows the rounds from the turn's texts
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

// say has the model write the next piece, or say which tools to call.
func (u *turn) say(ctx workflow.Context, a answering, n int, stage activities.Stage) (activities.Written, error) {
	return once(u, nth("write", n), func() (w activities.Written, err error) {
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

// callTools makes the calls of one message of the model's: none before a person
// has decided about those that ask, then all that may run side by side. The
// results come in the order of the calls.
func (u *turn) callTools(ctx workflow.Context, agent chat.Agent, n int, calls []activities.Wanted) ([]activities.Made, error) {
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
		decided, err := u.decide(ctx, nth("approve", n), chat.Question{Prompt: chat.PromptApproveTools, Calls: refs(calls, ask, false)})
		if err != nil {
			return nil, err
		}
		run = append(run, decided.Run...)
		calls = withHashes(calls, decided.Hashes)
	}
	ended, err := u.runTools(ctx, agent, nth("run", n), calls, run)
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
	for k := 1; len(unknown) > 0 && (k <= maxAsks || u.thread.Version == 0); k++ {
		step := nth("unknown "+strconv.Itoa(n), k)
		decided, err := u.decide(ctx, step, chat.Question{Prompt: chat.PromptUnknownOutcome, Calls: refs(calls, unknown, true)})
		if err != nil {
			return nil, err
		}
		calls = withHashes(calls, decided.Hashes)
		again := slices.DeleteFunc(slices.Clone(calls), func(c activities.Wanted) bool { return !slices.Contains(unknown, c.ID) })
		if ended, err = u.runTools(ctx, agent, step+": run", again, decided.Run); err != nil {
			return nil, err
		}
		unknown = note(ended)
	}
	return made, nil
}

// withHashes are the calls with the hashes of the arguments that a person put in
// the place of the model's.
func withHashes(calls []activities.Wanted, hashes map[string]string) []activities.Wanted {
	calls = slices.Clone(calls)
	for i := range calls {
		if hash := hashes[calls[i].ID]; hash != "" {
			calls[i].Hash = hash
		}
	}
	return calls
}

// refs are the calls of these ids, as a question names them. Of one whose
// outcome is unknown the arguments stay: it is the same call.
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

// decide asks the person about tool calls and takes the decisions: the calls to
// run come back, the others have their result. What is to be remembered holds
// from here on.
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
	Unknown bool   `json:"unknown,omitempty"` // nobody knows; it has no result
}

// runTools makes those of the calls that run names, side by side; the others
// have their result. The log has every result, in the order of the calls.
func (u *turn) runTools(ctx workflow.Context, agent chat.Agent, step string, calls []activities.Wanted, run []string) ([]outcome, error) {
	return once(u, step, func() ([]outcome, error) {
		var out []outcome
		var failed error
		under := make([]workflow.Future, len(calls))
		for i, c := range calls {
			if slices.Contains(run, c.ID) {
				u.append(ctx, chat.Entry{Type: chat.EventStatus, Node: chat.NodeTool, Call: &c.CallRef})
				under[i] = u.callTool(ctx, agent, c)
			}
		}
		for i, c := range calls {
			o := outcome{ID: c.ID, IsError: true}
			if under[i] != nil {
				var err error
				if o, err = u.awaitTool(ctx, agent, c, under[i]); err != nil {
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

// awaitTool waits for a call to end. One whose worker went away before it ran
// is made again; of one that may have run it finds out whether its result
// stands.
func (u *turn) awaitTool(ctx workflow.Context, agent chat.Agent, c activities.Wanted, call workflow.Future) (outcome, error) {
	var got activities.Called
	err := u.await(ctx, call, &got)
	for range maxNotRun {
		if u.Stopped != "" || !isType(err, activities.ErrTypeNotRun) {
			break
		}
		err = u.await(ctx, u.callTool(ctx, agent, c), &got)
	}
	u.Usage = u.Usage.Add(got.Usage)
	if err == nil {
		return outcome{ID: c.ID, IsError: got.IsError}, nil
	}
	if u.Stopped != "" || !c.SideEffects || !inTheDark(err) {
		return outcome{}, err
	}
	u.log(ctx).Warn("a tool call ended in the dark", "tool", c.Name, "call", c.ID, "error", err)
	found, err := lookup[*activities.Called](ctx, u, "Look for the result of "+c.Name, acts.FindResult, u.callRequest(agent, c))
	if err != nil || found == nil {
		return outcome{ID: c.ID, Unknown: true}, err
	}
	u.Usage = u.Usage.Add(found.Usage)
	return outcome{ID: c.ID, IsError: found.IsError}, nil
}

// How often a call is made anew whose worker went away before it ran.
const maxNotRun = 5

// inTheDark reports whether a call with side effects ended so that nobody knows
// whether it ran: its worker fell silent, or could not say.
func inTheDark(err error) bool {
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

// callTool begins a call. One with side effects is tried once.
func (u *turn) callTool(ctx workflow.Context, agent chat.Agent, c activities.Wanted) workflow.Future {
	tries := int32(toolTries)
	if c.SideEffects {
		tries = 1
	}
	request := u.callRequest(agent, c)
	request.TurnRef = u.ref()
	return workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout:    longestTool,
		ScheduleToCloseTimeout: max(time.Second, u.left(ctx)),
		HeartbeatTimeout:       heartbeat,
		WaitForCancellation:    true,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: takeOver, BackoffCoefficient: 1, MaximumAttempts: tries},
		Summary:                "Call " + c.Name,
	}), acts.CallTool, request)
}

// One try of a tool call; a tool's own limit is shorter, and then its result is
// kept.
const longestTool = 20 * time.Minute

// Tries of a call without side effects. The activity gives up earlier, with a
// result that says so; what is left is for workers that die.
const toolTries = 10

func (u *turn) callRequest(agent chat.Agent, c activities.Wanted) activities.CallRequest {
	return activities.CallRequest{TurnRef: u.TurnRef, CallRef: c.CallRef, Agent: agent, SideEffects: c.SideEffects}
}

// nth names the n-th of a step that may be taken more than once.
func nth(step string, n int) string {
	if n == 1 {
		return step
	}
	return step + " " + strconv.Itoa(n)
}

// noticeNoImages says once in a turn that the model cannot see pictures.
func (u *turn) noticeNoImages(ctx workflow.Context, blind bool) {
	if blind && !u.NoImages {
		u.NoImages = true
		u.notice(ctx, chat.NoticeNoImages)
	}
}
