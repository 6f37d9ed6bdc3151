package workflows

import (
	"cmp"
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

// openTurn is the state of an open turn that the next run gets at continue-as-new.
type openTurn struct {
	activities.TurnRef
	Steps   map[string]json.RawMessage `json:"steps,omitempty"` // small results of finished steps
	Log     []chat.Entry               `json:"log,omitempty"`   // after the Kept first entries, which are rows
	Kept    int                        `json:"kept,omitempty"`
	Usage   chat.Usage                 `json:"usage"`
	Pending *chat.Question             `json:"pending,omitempty"`
	Answers []answer                   `json:"answers,omitempty"` // taken, and not used when the run ended
	Asked   int                        `json:"asked,omitempty"`   // questions so far
	AskedAt time.Time                  `json:"asked_at,omitzero"`
	// AnsweredBy is how the last answer came.
	AnsweredBy chat.Channel      `json:"answered_by,omitempty"`
	Stopped    chat.CancelReason `json:"stopped,omitempty"`
	StoppedBy  chat.Channel      `json:"stopped_by,omitempty"` // of a person's cancel
	Calls      int               `json:"calls,omitempty"`      // model calls begun, for TURN_MAX_STEPS
	Worked     time.Duration     `json:"worked,omitempty"`     // time until the last question; the deadline does not count waiting for people
	// Remembered are tools that the person has allowed in this turn for the rest of
	// the conversation.
	Remembered []string `json:"remembered,omitempty"`
	NoImages   bool     `json:"no_images,omitempty"` // the log has the notice
	// Given are messages that the person wrote while the turn worked, and that it has not read yet.
	Given []SubmitRequest `json:"given,omitempty"`
	// Taken are the turns of messages that it has read and whose rows may still exist.
	Taken []string `json:"taken,omitempty"`
	// Overdrawn: a limit was reached, and a last model call was made to answer.
	Overdrawn bool `json:"overdrawn,omitempty"`
	// Reported counts the reports in the log of calls whose outcome was unknown.
	Reported map[string]int `json:"reported,omitempty"`
}

// turn is accepted → running ⇄ interrupted → completed | cancelled | failed.
type turn struct {
	openTurn
	thread         *thread
	agent          Agent
	abort          workflow.CancelFunc // cancels the running step
	calling        bool                // a model call or a tool call is running
	handInUntil    time.Time           // how long stopped calls may take to return their partial result; zero: none is stopped
	stoppedCall    workflow.Future     // a stopped call that has not returned yet
	workingSince   time.Time           // zero while a person is asked
	answers        workflow.Channel    // of type answer, from update and signal handlers to the question
	asking         bool                // it waits for a person's answer
	checking       bool                // an answer is being checked
	settling       bool                // its end is decided
	taking         int                 // messages of Given that it is about to read
	acceptRecorded bool                // Temporal has recorded that the turn was accepted
	ended          bool                // the terminal entry is in the log
	notFound       bool                // it had no row when it began

	effort    chat.Effort
	steerable bool     // it has rounds, between which it can read further messages
	approved  []string // tools that need no approval
	blocked   bool     // it waits, or has waited, for something slower than a look-up
	published int      // number of log entries that activities were given to publish
	reporting []string // activities whose reports may not be in the log yet (chat.Report.Of)
}

var (
	// errContinue unwinds an interrupted turn so that its thread can continue as new.
	errContinue = errors.New("continue as new")
	// errSettled unwinds a turn that has been settled before.
	errSettled = errors.New("settled already")
	// errAcceptUnrecorded is the reason not to settle by a local activity.
	errAcceptUnrecorded = errors.New("the turn's acceptance may not be recorded")
)

// begin opens a submitted turn. It is stopped already when it was cancelled, or
// superseded by a later submit, while it waited.
func (t *thread) begin(ctx workflow.Context, s SubmitRequest) *turn {
	u := &turn{thread: t, answers: workflow.NewBufferedChannel(ctx, maxAnswers), openTurn: openTurn{
		TurnRef: activities.TurnRef{
			Owner: t.Owner, ThreadID: t.ThreadID, TurnID: s.TurnID, Parent: t.Carried.Undone, RunID: s.RunID, RequestID: s.RequestID, Unsaved: s.Unsaved,
		},
		Steps: map[string]json.RawMessage{},
	}}
	u.Stopped, u.StoppedBy = t.stoppedBefore(s)
	if s.Unsaved != nil && s.Unsaved.Generation == 0 {
		unsaved := *s.Unsaved
		unsaved.Generation = t.Generation
		u.Unsaved = &unsaved
	}
	return u
}

// restore continues the open turn of the run before.
func (t *thread) restore(ctx workflow.Context, o openTurn) *turn {
	if o.Steps == nil {
		o.Steps = map[string]json.RawMessage{}
	}
	u := &turn{thread: t, openTurn: o, acceptRecorded: true, published: o.Kept + len(o.Log), answers: workflow.NewBufferedChannel(ctx, maxAnswers)}
	for _, a := range o.Answers {
		u.answers.SendAsync(a)
	}
	u.Answers = nil
	return u
}

// carry returns the state of an open turn for the next run.
func (u *turn) carry() *openTurn {
	open := u.openTurn
	var a answer
	for u.answers.ReceiveAsync(&a) {
		open.Answers = append(open.Answers, a)
	}
	return &open
}

// run executes the turn and settles it. It returns errContinue when the turn
// waits for a person and the thread must continue as new.
func (u *turn) run(ctx workflow.Context) error {
	work, abort := workflow.WithCancel(ctx)
	u.abort = abort
	defer abort()
	u.workingSince = workflow.Now(ctx)

	ending, err := u.execute(work)
	if err == errContinue {
		return errContinue
	}
	if u.Stopped == "" && stoppedByActivity(err) {
		u.awaitStopReason(ctx)
	}
	// The last result and a stop before it can come in one workflow task, if its worker had
	// stopped answering. Then this coroutine runs before the one that receives signals.
	u.thread.drainSignals(ctx)
	u.settling = true // from here on a stop has no effect
	u.thread.enqueueUnread(u)
	if ctx.Err() != nil && u.Stopped == "" {
		u.Stopped = chat.UserCancelled
	}
	ending = u.conclude(ctx, ending, err)
	clean, _ := workflow.NewDisconnectedContext(ctx)
	u.settle(clean, ending)
	return nil
}

// conclude completes an agent's ending by how the turn ended.
func (u *turn) conclude(ctx workflow.Context, e activities.Ending, err error) activities.Ending {
	e.TurnRef, e.Usage = u.TurnRef, u.Usage
	switch {
	case err == errSettled: // Settle keeps the first end, whatever the status here
		e.Status = chat.TurnCancelled
	case u.Stopped != "":
		e.Status, e.Reason, e.Channel = chat.TurnCancelled, u.Stopped, u.StoppedBy
		e.Hidden = u.Stopped == chat.RolledBack
		u.log(ctx).Info("turn stopped", "reason", u.Stopped, "channel", u.StoppedBy)
	case err != nil:
		e.Status, e.Code = chat.TurnFailed, failureCode(err)
		u.log(ctx).Warn("turn failed", "code", e.Code, "error", err)
	default:
		e.Status = chat.TurnCompleted
	}
	if e.Status != chat.TurnCompleted {
		e.DocIDs = nil // the registry gets the documents of completed answers only
	}
	return e
}

// execute runs the turn's agent, unless the turn was stopped or settled before.
func (u *turn) execute(ctx workflow.Context) (activities.Ending, error) {
	begun, err := u.start(ctx)
	switch {
	case err != nil:
		u.notFound = isType(err, chat.CodeNotFound)
		return activities.Ending{}, err
	case begun.Settled:
		return activities.Ending{}, errSettled
	case begun.Cancelled:
		u.stop(ctx, chat.UserCancelled, "")
	}
	if u.Stopped != "" {
		return activities.Ending{}, nil
	}
	return u.runAgent(ctx, begun)
}

// start gives the turn its place in the tree, or returns the one it has.
func (u *turn) start(ctx workflow.Context) (activities.BeginResult, error) {
	return once(u, stepBegin, func() (activities.BeginResult, error) {
		clean, _ := workflow.NewDisconnectedContext(ctx) // a stopped turn gets a place, too
		ref := u.TurnRef
		ref.Others = u.thread.otherTurns(u)
		b, err := lookup[activities.BeginResult](clean, u, "Begin the turn", acts.BeginTurn, ref)
		if err == nil {
			if !u.settling { // else it was stopped in the queue, and its agent does not answer
				u.thread.Carried.Agent, u.thread.Carried.Space = b.Agent, b.Space
			}
			u.applyBegun(b)
			u.append(ctx, chat.Entry{Type: chat.EventTurnStarted})
		}
		return b, err
	})
}

func (u *turn) applyBegun(b activities.BeginResult) {
	u.Model, u.Space = b.Model, b.Space
	if b.Unsaved {
		return
	}
	u.Parent, u.Unsaved = b.Parent, nil
	u.RunID = cmp.Or(u.RunID, b.RunID)
}

// hasPlace reports whether the turn has its place in the tree.
func (u *turn) hasPlace() bool {
	_, begun := u.Steps[stepBegin]
	return begun || u.settling
}

// once runs a step and records its result. A turn that continues in a new run gets
// the recorded result instead. Errors are not recorded.
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

// settle stores the turn's end and closes its log. It retries until the database
// has stored it: an accepted turn is not lost.
func (u *turn) settle(ctx workflow.Context, e activities.Ending) {
	e.Log, e.Kept, e.Taken = u.Log, u.Kept, u.Taken
	workflow.SetCurrentDetails(ctx, "Turn "+u.TurnID+" has ended: "+string(e.Status))
	end := chat.Entry{Type: terminalType(e.Status), Code: e.Code, Reason: e.Reason, Channel: e.Channel}
	// A turn that ran nothing may have been accepted in this very workflow task. If
	// Temporal loses the task, the turn is accepted again, perhaps after others, so
	// it must not be settled yet. A regular activity runs only once the task is
	// recorded.
	var settled activities.SettleResult
	err := errAcceptUnrecorded
	if u.acceptRecorded {
		settled, err = runOnce[activities.SettleResult](ctx, "Settle the turn", acts.Settle, e)
	}
	if err != nil && !final(err) {
		u.awaitStoppedCall(ctx, err)
		settled, err = runWithRetries[activities.SettleResult](ctx, u, settleLimits, "Settle the turn", acts.Settle, e)
	}
	if err != nil { // final: the conversation was deleted, or the turn cannot be settled
		u.log(ctx).Warn("settling failed and is not retried; the turn has no end in the database", "error", err)
	} else {
		end.Type = settled.Type
	}
	u.Pending, u.ended, u.blocked = nil, true, true
	u.append(ctx, end)
	if err != nil { // else Settle has notified followers
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

// append numbers an entry and adds it to the log. The next activity publishes it
// to followers, or hint makes them ask.
func (u *turn) append(ctx workflow.Context, e chat.Entry) {
	e.N = u.logged() + 1
	e.At = workflow.Now(ctx).UTC().Truncate(time.Millisecond)
	if e.Type == chat.EventStatus && u.Usage.Calls > 0 {
		usage := u.Usage
		e.Usage, e.Took = &usage, int(u.worked(ctx).Milliseconds())
	}
	u.Log = append(u.Log, e)
	if label := chat.StatusLabel(e.Node); e.Type == chat.EventStatus && label != "" {
		workflow.SetCurrentDetails(ctx, "Turn "+u.TurnID+": "+label)
	}
}

func (u *turn) appendAll(ctx workflow.Context, entries []chat.Entry) {
	for _, e := range entries {
		u.append(ctx, e)
	}
}

func (u *turn) logged() int { return u.Kept + len(u.Log) }

// hint makes followers query the log. It is for entries that no activity is about
// to publish.
func (u *turn) hint(ctx workflow.Context) {
	if u.thread.hint != nil && !workflow.IsReplaying(ctx) {
		u.thread.hint(u.TurnID, u.logged())
	}
}

// maxFreshEntries bounds the entries that one activity publishes. Followers query
// the rest.
const maxFreshEntries = 50

// nextActivityRef names the turn to a regular activity, together with the log
// entries since the activity before. The activity publishes them: that it runs
// proves that Temporal has recorded them.
func (u *turn) nextActivityRef() activities.TurnRef {
	u.Order++
	ref := u.TurnRef
	ref.Logged = u.logged()
	if n := ref.Logged - u.published; n <= min(maxFreshEntries, len(u.Log)) {
		ref.Fresh = slices.Clone(u.Log[len(u.Log)-n:])
	}
	u.published = ref.Logged
	return ref
}

// log returns a logger that adds the turn, run and request ids to every line.
func (u *turn) log(ctx workflow.Context) log.Logger {
	return log.With(workflow.GetLogger(ctx), "turn", u.TurnID, "run", u.RunID, "request_id", u.RequestID)
}

func (u *turn) notice(ctx workflow.Context, code string) {
	u.append(ctx, chat.Entry{Type: chat.EventNotice, Code: code})
}

// maxPage bounds the entries, and so the bytes, of one answer to a progress query.
const maxPage = 200

func (u *turn) progress(after int) chat.Progress {
	p := chat.Progress{Known: true, Kept: u.Kept, Over: u.ended, Waiting: u.Pending != nil}
	from := min(max(after-u.Kept, 0), len(u.Log))
	to := min(from+maxPage, len(u.Log))
	p.Entries, p.More, p.Reporting = u.Log[from:to], to < len(u.Log), u.reporting
	return p
}

// failureCode returns the code that people get for an activity's error (docs/errors.md).
func failureCode(err error) string {
	var app *temporal.ApplicationError
	if errors.As(err, &app) && app.Type() != "" {
		if !app.NonRetryable() && (strings.HasPrefix(app.Type(), "model_") || app.Type() == activities.ErrTypeInterrupted) {
			return chat.CodeDeadline // a retryable error is returned when the deadline leaves no time for a retry
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
