package workflows

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/log"
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
	Log     []chat.Entry               `json:"log,omitempty"`   // after the Kept first entries, which are rows
	Kept    int                        `json:"kept,omitempty"`
	Usage   chat.Usage                 `json:"usage"`
	Pending *chat.Question             `json:"pending,omitempty"`
	Answer  *chat.ResumeValue          `json:"answer,omitempty"` // taken, not yet used
	Asked   int                        `json:"asked,omitempty"`  // questions so far
	AskedAt time.Time                  `json:"asked_at,omitzero"`
	// Unchecked are decisions about tools that came by a signal and are yet to be
	// compared with the tools' schemas.
	Unchecked *chat.ResumeValue `json:"unchecked,omitempty"`
	Stopped   chat.CancelReason `json:"stopped,omitempty"`
	Calls     int               `json:"calls,omitempty"`  // model calls begun, for TURN_MAX_STEPS
	Worked    time.Duration     `json:"worked,omitempty"` // before the last question, for the deadline; people are not timed
	// Remembered are tools of which the person said in this turn that they need not
	// ask any more.
	Remembered []string `json:"remembered,omitempty"`
	NoImages   bool     `json:"no_images,omitempty"` // the notice of it is in the log
}

// turn is accepted → running ⇄ interrupted → completed | cancelled | failed.
type turn struct {
	openTurn
	thread   *thread
	abort    workflow.CancelFunc // cancels the running step
	writing  bool                // a model call or a tool is under way
	given    time.Time           // until when calls may hand in what they have; zero while none is stopped
	held     workflow.Future     // one that was stopped and has not handed in what it has
	since    time.Time           // it works, and no person is asked
	settling bool                // how it ends is decided
	recorded bool                // Temporal has it for sure that the turn was accepted
	over     bool                // the terminal entry is in the log

	approved []string // tools that need not ask
	waits    bool     // it has come to something that takes longer than a look-up
	told     int      // so many entries of the log went with activities, to be published
}

var (
	// errContinue unwinds an interrupted turn so that its thread can continue as new.
	errContinue = errors.New("continue as new")
	// errSettled unwinds a turn that turns out to have ended before.
	errSettled = errors.New("settled already")
	// errUnrecorded is why a turn is not settled at once.
	errUnrecorded = errors.New("perhaps not recorded")
)

// begin opens a turn that was submitted. One that was cancelled, or superseded
// by a later submit, while it waited is over before it runs anything.
func (t *thread) begin(s SubmitRequest) *turn {
	u := &turn{thread: t, openTurn: openTurn{
		TurnRef: activities.TurnRef{
			Owner: t.Owner, ThreadID: t.ThreadID, TurnID: s.TurnID, Parent: t.Carried.Undone, RunID: s.RunID, RequestID: s.RequestID, Unsaved: s.Unsaved,
		},
		Steps:   map[string]json.RawMessage{},
		Stopped: s.Stopped,
	}}
	if s.Unsaved != nil && s.Unsaved.Generation == 0 {
		unsaved := *s.Unsaved
		unsaved.Generation = t.Generation
		u.Unsaved = &unsaved
	}
	if s.Cancelled && u.Stopped == "" {
		u.Stopped = chat.UserCancelled
	}
	if i := slices.IndexFunc(t.Carried.Early, func(c earlyCancel) bool { return c.TurnID == s.TurnID }); i >= 0 && u.Stopped == "" {
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
	return &turn{thread: t, openTurn: o, recorded: true, told: o.Kept + len(o.Log)}
}

// run tells the story of the turn and settles it. errContinue comes back when
// the turn waits for a person and the thread must continue as new.
func (u *turn) run(ctx workflow.Context) error {
	work, abort := workflow.WithCancel(ctx)
	u.abort = abort
	defer abort()
	u.since = workflow.Now(ctx)
	u.thread.showWork(ctx, statusRunning)

	ending, err := u.story(work)
	if err == errContinue {
		return errContinue
	}
	if u.Stopped == "" && stoppedBelow(err) {
		u.awaitReason(ctx)
	}
	u.settling = true // from here on nothing stops it any more
	if ctx.Err() != nil && u.Stopped == "" {
		u.Stopped = chat.UserCancelled
	}
	ending.TurnRef, ending.Usage = u.TurnRef, u.Usage
	switch {
	case err == errSettled: // whatever is said here, its first end stands
		ending.Status = chat.TurnCancelled
	case u.Stopped != "":
		ending.Status, ending.Reason = chat.TurnCancelled, u.Stopped
		ending.Hidden = u.Stopped == chat.RolledBack
		u.log(ctx).Info("turn stopped", "reason", u.Stopped)
	case err != nil:
		ending.Status, ending.Code = chat.TurnFailed, failureCode(err)
		u.log(ctx).Warn("turn failed", "code", ending.Code, "error", err)
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

// stoppedBelow reports whether an activity says that its turn was stopped.
func stoppedBelow(err error) bool {
	return err == errStopped || isType(err, activities.ErrTypeStopped)
}

// How long a turn waits for the reason of a stop that its activity heard of.
const reasonPatience = 5 * time.Second

// awaitReason waits for the cancel or submit by which the turn was stopped. Its
// activity heard of it before the workflow did: the workflow task in which the
// stop was announced was lost, when Temporal died before it was recorded, and
// what came is told again, or sent again. If it never comes the stop stands all
// the same: no activity would work for the turn any more.
func (u *turn) awaitReason(ctx workflow.Context) {
	// An error says that the workflow itself was cancelled, which is a reason.
	_, _ = workflow.AwaitWithTimeout(ctx, reasonPatience, func() bool { return u.Stopped != "" })
	if u.Stopped == "" {
		u.Stopped = chat.UserCancelled
	}
}

// leave ends a turn that was stopped before it ran anything.
func (u *turn) leave(ctx workflow.Context, why chat.CancelReason) {
	clean, _ := workflow.NewDisconnectedContext(ctx)
	u.Stopped, u.settling = why, true
	u.log(ctx).Info("turn stopped", "reason", why)
	if _, err := u.start(clean); err != nil { // settling gives it its place, too
		u.log(ctx).Warn("turn not begun", "error", err)
	}
	u.settle(clean, activities.Ending{TurnRef: u.TurnRef, Status: chat.TurnCancelled, Reason: why, Hidden: why == chat.RolledBack})
}

// story runs the turn's agent, unless the turn is over before it begins.
func (u *turn) story(ctx workflow.Context) (activities.Ending, error) {
	begun, err := u.start(ctx)
	switch {
	case err != nil:
		return activities.Ending{}, err
	case begun.Settled:
		return activities.Ending{}, errSettled
	case begun.Cancelled:
		u.stop(ctx, chat.UserCancelled)
	}
	if u.Stopped != "" {
		return activities.Ending{}, nil
	}
	return u.agent(ctx, begun)
}

// start gives the turn its place in the tree, or finds the one it has.
func (u *turn) start(ctx workflow.Context) (activities.Begun, error) {
	return once(u, "begin", func() (activities.Begun, error) {
		clean, _ := workflow.NewDisconnectedContext(ctx) // a turn stopped early still gets its place
		ref := u.TurnRef
		ref.Beside = u.thread.beside(u)
		b, err := lookup[activities.Begun](clean, u, "Begin the turn", acts.BeginTurn, ref)
		if err == nil {
			u.thread.Carried.Agent = b.Agent
			u.began(b)
			u.append(ctx, chat.Entry{Type: chat.EventTurnStarted})
		}
		return b, err
	})
}

func (u *turn) began(b activities.Begun) {
	if b.Unsaved {
		return
	}
	u.Parent, u.Unsaved = b.Parent, nil
	if u.RunID == "" {
		u.RunID = b.RunID
	}
}

// placed reports whether the turn has been given its place in the tree.
func (u *turn) placed() bool {
	_, begun := u.Steps["begin"]
	return begun || u.settling
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
	if u.Stopped != "" || u.settling {
		return
	}
	u.Stopped = why
	if u.abort != nil {
		u.abort()
	}
	if u.writing {
		// Heartbeats would take seconds to tell the activity.
		clean, _ := workflow.NewDisconnectedContext(ctx)
		workflow.Go(clean, u.announceStop)
	}
}

// settle writes the turn's end and closes its log. It goes on until the
// database takes it: what was accepted is not lost.
func (u *turn) settle(ctx workflow.Context, e activities.Ending) {
	e.Log, e.Kept = u.Log, u.Kept
	end := chat.Entry{Type: terminalType(e.Status), Code: e.Code, Reason: e.Reason}
	// A turn that never ran anything may have been accepted in this very workflow
	// task. If that were lost, it would be accepted again, perhaps after others, and
	// must not have ended in the meantime: a regular activity runs when the task is
	// recorded.
	var settled activities.Settled
	err := errUnrecorded
	if u.recorded {
		settled, err = quick[activities.Settled](ctx, "Settle the turn", acts.Settle, e)
	}
	if err != nil && !final(err) {
		// The database is away, or slow. What was written when the turn was stopped
		// may be in the memory of its activity only, which saves it before it ends.
		if u.held != nil {
			patience := slowPatience
			if isType(err, chat.CodeDatabase) {
				patience = savePatience
			}
			_, _ = workflow.AwaitWithTimeout(ctx, patience, u.held.IsReady) // an error means that it is time to go on, too
		}
		settled, err = patient[activities.Settled](ctx, u, 0, "Settle the turn", acts.Settle, e)
	}
	if err != nil { // final: the conversation is gone
		u.log(ctx).Warn("turn not settled", "error", err)
	} else {
		end.Type = settled.Type
	}
	u.Pending, u.Answer, u.over, u.waits = nil, nil, true, true
	u.append(ctx, end)
	if err != nil { // else settling has told
		u.hint(ctx)
	}
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

// append numbers an entry and puts it into the log. Followers get it with the
// next activity, or by a hint.
func (u *turn) append(ctx workflow.Context, e chat.Entry) {
	e.N = u.logged() + 1
	e.At = workflow.Now(ctx).UTC().Truncate(time.Millisecond)
	u.Log = append(u.Log, e)
}

func (u *turn) logged() int { return u.Kept + len(u.Log) }

// hint has followers ask for what they lack of the log: no activity is about to
// publish it.
func (u *turn) hint(ctx workflow.Context) {
	if u.thread.hint != nil && !workflow.IsReplaying(ctx) {
		u.thread.hint(u.TurnID, u.logged())
	}
}

// maxFresh is how many entries go with an activity at most; who lacks more asks.
const maxFresh = 50

// ref names the turn to a regular activity, which publishes what came to the log
// since the activity before: it runs only when Temporal has recorded the workflow
// task that began it, and with it those entries.
func (u *turn) ref() activities.TurnRef {
	u.Order++
	ref := u.TurnRef
	ref.Logged = u.logged()
	if n := ref.Logged - u.told; n <= min(maxFresh, len(u.Log)) {
		ref.Fresh = slices.Clone(u.Log[len(u.Log)-n:])
	}
	u.told = ref.Logged
	return ref
}

// log names turn, run and request in every line.
func (u *turn) log(ctx workflow.Context) log.Logger {
	return log.With(workflow.GetLogger(ctx), "turn", u.TurnID, "run", u.RunID, "request_id", u.RequestID)
}

func (u *turn) status(ctx workflow.Context, node chat.Node) {
	u.append(ctx, chat.Entry{Type: chat.EventStatus, Node: node})
}

func (u *turn) notice(ctx workflow.Context, code string) {
	u.append(ctx, chat.Entry{Type: chat.EventNotice, Code: code})
}

// maxPage bounds the entries of one answer to a progress query, and with them
// its bytes.
const maxPage = 200

func (u *turn) progress(after int) chat.Progress {
	p := chat.Progress{Known: true, Kept: u.Kept, Over: u.over, Waiting: u.Pending != nil}
	from := min(max(after-u.Kept, 0), len(u.Log))
	to := min(from+maxPage, len(u.Log))
	p.Entries, p.More = u.Log[from:to], to < len(u.Log)
	return p
}

// failureCode is the code that people get for an activity's error (docs/errors.md).
func failureCode(err error) string {
	var app *temporal.ApplicationError
	if errors.As(err, &app) && app.Type() != "" {
		if !app.NonRetryable() && (strings.HasPrefix(app.Type(), "model_") || app.Type() == activities.ErrTypeInterrupted) {
			return chat.CodeDeadline // the server had no time left for another try
		}
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
