package workflows

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
)

// openTurn is a turn as it crosses continue-as-new: what it has recorded, and
// the question that is open.
type openTurn struct {
	activities.TurnRef
	Steps   map[string]json.RawMessage `json:"steps,omitempty"` // small results of finished steps
	Log     []chat.Entry               `json:"log,omitempty"`
	Usage   chat.Usage                 `json:"usage"`
	Pending *chat.Question             `json:"pending,omitempty"`
	Answer  *chat.ResumeValue          `json:"answer,omitempty"` // taken, not yet used
	Asked   int                        `json:"asked,omitempty"`  // questions so far
	Stopped chat.CancelReason          `json:"stopped,omitempty"`
	Worked  time.Duration              `json:"worked,omitempty"` // in model calls, for the deadline; people are not timed
}

// turn is accepted → running ⇄ interrupted → completed | cancelled | failed.
type turn struct {
	openTurn
	thread  *thread
	abort   workflow.CancelFunc // cancels the running step
	writing bool                // a streaming activity is under way
	over    bool                // the terminal entry is in the log
}

// errContinue unwinds an interrupted turn so that its thread can continue as new.
var errContinue = errors.New("continue as new")

// begin opens a turn that was submitted. One that was cancelled, or superseded
// by a later submit, while it waited is over before it runs anything.
func (t *thread) begin(ctx workflow.Context, s SubmitRequest) *turn {
	u := &turn{thread: t, openTurn: openTurn{
		TurnRef: activities.TurnRef{Owner: t.Owner, ThreadID: t.ThreadID, TurnID: s.TurnID, Parent: t.Carried.Undone},
		Steps:   map[string]json.RawMessage{},
	}}
	if s.Cancelled {
		u.Stopped = chat.UserCancelled
	}
	if i := slices.IndexFunc(t.Carried.Early, func(c earlyCancel) bool { return c.TurnID == s.TurnID }); i >= 0 {
		u.Stopped = t.Carried.Early[i].Reason
	}
	for _, later := range t.Carried.Queue {
		if why := later.ends(); why != "" && u.Stopped == "" {
			u.Stopped = why
		}
	}
	return u
}

func (t *thread) restore(o openTurn) *turn {
	if o.Steps == nil {
		o.Steps = map[string]json.RawMessage{}
	}
	return &turn{thread: t, openTurn: o}
}

// run tells the story of the turn and settles it. errContinue comes back when
// the turn waits for a person and the thread must continue as new.
func (u *turn) run(ctx workflow.Context) error {
	work, abort := workflow.WithCancel(ctx)
	u.abort = abort
	defer abort()
	u.thread.show(ctx, statusRunning)

	ending, err := u.story(work)
	if err == errContinue {
		return errContinue
	}
	if ctx.Err() != nil && u.Stopped == "" {
		u.Stopped = chat.UserCancelled
	}
	ending.TurnRef, ending.Usage = u.TurnRef, u.Usage
	switch {
	case u.Stopped != "":
		ending.Status, ending.Reason = chat.TurnCancelled, u.Stopped
		ending.Hidden = u.Stopped == chat.RolledBack
	case err != nil:
		ending.Status, ending.Code = chat.TurnFailed, failureCode(err)
		workflow.GetLogger(ctx).Warn("turn failed", "turn", u.TurnID, "code", ending.Code, "error", err)
	default:
		ending.Status = chat.TurnCompleted
	}
	if ending.Status != chat.TurnCompleted {
		ending.DocIDs = nil // only what was answered from becomes known to the conversation
	}
	clean, _ := workflow.NewDisconnectedContext(ctx)
	u.settle(clean, ending)
	return nil
}

// story runs the turn's agent, unless the turn is over before it begins.
func (u *turn) story(ctx workflow.Context) (activities.Ending, error) {
	begun, err := once(u, "begin", func() (activities.Begun, error) {
		clean, _ := workflow.NewDisconnectedContext(ctx) // a turn stopped early still gets its place in the tree
		b, err := lookup[activities.Begun](clean, "Begin the turn", acts.BeginTurn, u.TurnRef)
		if err == nil {
			u.Parent = b.Parent
			u.append(ctx, chat.Entry{Type: chat.EventTurnStarted})
		}
		return b, err
	})
	if err == nil && begun.Cancelled {
		u.stop(ctx, chat.UserCancelled)
	}
	if err != nil || u.Stopped != "" {
		return activities.Ending{}, err
	}
	return u.documents(ctx, begun)
}

// once runs a step and records its result; a turn that re-enters its story
// after continue-as-new gets the recorded one. Errors are not recorded.
func once[T any](u *turn, step string, run func() (T, error)) (T, error) {
	var result T
	if recorded, ok := u.Steps[step]; ok {
		return result, json.Unmarshal(recorded, &result)
	}
	result, err := run()
	if err != nil {
		return result, err
	}
	u.Steps[step], err = json.Marshal(result)
	return result, err
}

// stop ends the turn early. The first reason stands; a turn already being
// settled is left alone.
func (u *turn) stop(ctx workflow.Context, why chat.CancelReason) {
	if u.Stopped != "" || u.over {
		return
	}
	u.Stopped = why
	if u.abort != nil {
		u.abort()
	}
	if u.writing {
		// Heartbeats would take seconds to tell the activity.
		clean, _ := workflow.NewDisconnectedContext(ctx)
		workflow.Go(clean, func(ctx workflow.Context) { announceStop(ctx, u.TurnRef) })
	}
}

// settle writes the turn's end and closes its log. It goes on until the
// database takes it: what was accepted is not lost.
func (u *turn) settle(ctx workflow.Context, e activities.Ending) {
	e.Log = u.Log
	end := chat.Entry{Type: terminalType(e.Status), Code: e.Code, Reason: e.Reason}
	settled, err := lookup[activities.Settled](ctx, "Settle the turn", acts.Settle, e)
	if err != nil { // final: the conversation is gone
		workflow.GetLogger(ctx).Warn("turn not settled", "turn", u.TurnID, "error", err)
	} else {
		end.Type = settled.Type
	}
	u.Pending, u.Answer, u.over = nil, nil, true
	u.append(ctx, end)
}

func terminalType(s chat.TurnStatus) chat.EventType {
	switch s {
	case chat.TurnCompleted:
		return chat.EventResponse
	case chat.TurnCancelled:
		return chat.EventCancelled
	}
	return chat.EventFailed
}

// append numbers an entry, puts it into the log and hints at it.
func (u *turn) append(ctx workflow.Context, e chat.Entry) {
	e.N = len(u.Log) + 1
	e.At = workflow.Now(ctx).UTC().Truncate(time.Millisecond)
	u.Log = append(u.Log, e)
	if u.thread.hint != nil && !workflow.IsReplaying(ctx) {
		u.thread.hint(u.TurnID, e.N)
	}
}

func (u *turn) status(ctx workflow.Context, node chat.Node) {
	u.append(ctx, chat.Entry{Type: chat.EventStatus, Node: node})
}

func (u *turn) notice(ctx workflow.Context, code string) {
	u.append(ctx, chat.Entry{Type: chat.EventNotice, Code: code})
}

func (u *turn) progress(after int) chat.Progress {
	after = min(max(after, 0), len(u.Log))
	return chat.Progress{Known: true, Entries: u.Log[after:], Over: u.over, Waiting: u.Pending != nil}
}

// failureCode is the code of part 8 for an activity's error.
func failureCode(err error) string {
	var app *temporal.ApplicationError
	if errors.As(err, &app) && app.Type() != "" {
		if _, known := knownCodes[app.Type()]; known {
			return app.Type()
		}
		return chat.CodeInternal
	}
	var timeout *temporal.TimeoutError
	if errors.As(err, &timeout) {
		return chat.CodeDeadline
	}
	return chat.CodeInternal
}

var knownCodes = map[string]struct{}{
	chat.CodeModelUnavailable: {}, chat.CodeModelRejected: {}, chat.CodeModelTimeout: {},
	chat.CodeDatabase: {}, chat.CodeStepLimit: {}, chat.CodeTokenLimit: {}, chat.CodeDeadline: {},
}
