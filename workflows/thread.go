package workflows

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
)

// ThreadInput starts a thread's workflow, or continues it.
type ThreadInput struct {
	Owner      string `json:"owner"`
	ThreadID   string `json:"thread"`
	Generation int    `json:"generation,omitempty"` // of the conversation, see chat.Turn; that of the newest submit
	Rules
	// ContinueAfter is the number of history events after which the thread
	// continues as new; 0: when the server suggests it.
	ContinueAfter int          `json:"continue_after,omitempty"`
	Carried       carriedState `json:"carried"`
}

// carriedState is the state that the next run gets at continue-as-new. Temporal does not
// deduplicate update ids across runs, so it has the recent turn ids.
type carriedState struct {
	Open   *openTurn       `json:"open,omitempty"`
	Queue  []SubmitRequest `json:"queue,omitempty"`
	Seen   []seenSubmit    `json:"seen,omitempty"`   // recent submits
	Early  []earlyCancel   `json:"early,omitempty"`  // cancels that came before their submit
	Agent  chat.Agent      `json:"agent,omitempty"`  // of the turn that began last
	Space  string          `json:"space,omitempty"`  // of the same turn
	Undone string          `json:"undone,omitempty"` // the turn rolled back last; the next one takes its place
	// Resumed is the id of the resume update that was accepted last. Its client may have lost
	// the acknowledgement and sends it again to the next run.
	Resumed string `json:"resumed,omitempty"`
}

// seenSubmit identifies an earlier submit, so that a retry makes no second turn even
// while the database is unavailable.
type seenSubmit struct {
	TurnID string `json:"turn"`
	Client string `json:"client,omitempty"`
	Hash   string `json:"hash,omitempty"`
	Into   string `json:"into,omitempty"` // the turn that reads the message
}

// SubmitRequest is the argument of the submit update.
type SubmitRequest struct {
	TurnID string `json:"turn"`
	// Owner of the turn's row; empty: that of the thread. The rows decide whose thread it is.
	Owner     string      `json:"owner,omitempty"`
	OnBusy    chat.OnBusy `json:"on_busy"`
	Space     string      `json:"space,omitempty"`    // of the turn's row
	Replaces  string      `json:"replaces,omitempty"` // the waiting turn whose place this one takes
	Cancelled bool        `json:"cancelled,omitempty"`
	RunID     string      `json:"run,omitempty"`
	RequestID string      `json:"request,omitempty"`
	Client    string      `json:"client,omitempty"` // stands for the client_turn_id, chat.ClientKey
	Hash      string      `json:"hash,omitempty"`   // of the content
	// Generation of the turn's conversation; 0: not known.
	Generation int `json:"generation,omitempty"`
	// Unsaved is the message itself when the database was unavailable.
	Unsaved *activities.UnsavedTurn `json:"unsaved,omitempty"`
	// Stopped is why the turn was cancelled while it waited.
	Stopped   chat.CancelReason `json:"stopped,omitempty"`
	StoppedBy chat.Channel      `json:"stopped_by,omitempty"`
	Rules     *Rules            `json:"rules,omitempty"`
}

// SubmitReply says that the turn was accepted: it runs, or waits in the queue.
// TurnID is the turn of the message; a retry gets that of the first submit. Log is
// what the turn has recorded so far, when it began at once.
type SubmitReply struct {
	Status chat.TurnStatus `json:"status"`
	TurnID string          `json:"turn,omitempty"`
	Given  bool            `json:"given,omitempty"` // the turn TurnID will read the message
	Log    []chat.Entry    `json:"log,omitempty"`
}

// ResumeRequest is the argument of the resume update.
type ResumeRequest struct {
	InterruptID string           `json:"interrupt_id,omitempty"`
	Value       chat.ResumeValue `json:"value"`
	Channel     chat.Channel     `json:"channel,omitempty"`
	Rules       *Rules           `json:"rules,omitempty"`
}

// Limits of what a thread keeps.
const (
	maxSeen  = 200
	maxEarly = 50
	// maxUnsaved bounds the messages that are not in the database yet, in bytes:
	// they must fit into the input of the next run.
	maxUnsaved = 1 << 20
	// maxSignal bounds an answer that comes by a signal, in bytes.
	maxSignal = 64 << 10
)

// Threads holds what the worker gives to the workflow.
type Threads struct {
	// Agents answer the turns. A turn needs its agent until it ends: see docs/upgrades.md
	// before one is dropped or its code changes.
	Agents []Agent
	// Prepare runs before the agent answers, whatever the agent is. done: the turn is
	// answered. nil: nothing is prepared.
	Prepare func(*Turn) (done bool, _ error)
	// Hint notifies followers that a turn's log has new entries which no activity is
	// about to publish. It is not called during replay, must not block, and nothing
	// depends on it.
	Hint func(turnID string, n int)
}

// Thread is the workflow of one conversation. It runs one turn at a time, in
// the order in which submits were accepted; a superseding submit ends the turn
// before it first. Idle for IdleTimeout it completes; the next submit begins
// its next run.
func (w *Threads) Thread(ctx workflow.Context, in ThreadInput) error {
	requireKnownVersion(in.Version)
	t := &thread{ThreadInput: in, hint: w.Hint, agents: w.Agents, prepare: w.Prepare, nextVersion: in.Version}
	if err := t.setup(ctx); err != nil {
		return err
	}
	return t.run(ctx)
}

type thread struct {
	ThreadInput
	hint        func(string, int)
	agents      []Agent
	prepare     func(*Turn) (bool, error)
	turn        *turn // the open one
	withdrawn   *turn // was stopped in the queue and is being settled
	last        *turn // settled last; followers may still query it
	resumes     workflow.ReceiveChannel
	cancels     workflow.ReceiveChannel
	versions    workflow.ReceiveChannel
	changed     workflow.Channel // wakes a turn that waits for a person, to look whether the thread must continue as new
	idle        workflow.Future  // the idle timer; turns do not stop it
	idleSince   time.Time        // end of the last turn
	nextVersion int              // the version that the next run follows
	ending      bool             // this run begins no more turns
}

// setup registers the handlers. That of an update runs in one go with its validator, and alone
// when a history is replayed. So it does not check again: its error would be the update's outcome
// for ever, and a validator that has become stricter would fail the replay.
func (t *thread) setup(ctx workflow.Context) error {
	t.changed = workflow.NewBufferedChannel(ctx, 1)
	if t.Carried.Open != nil {
		t.turn = t.restore(ctx, *t.Carried.Open)
	}
	t.resumes = workflow.GetSignalChannel(ctx, SignalResume)
	t.cancels = workflow.GetSignalChannel(ctx, SignalCancel)
	t.versions = workflow.GetSignalChannel(ctx, SignalVersion)
	if err := workflow.SetQueryHandler(ctx, QueryProgress, t.progress); err != nil {
		return err
	}
	if err := workflow.SetQueryHandler(ctx, QueryThread, t.state); err != nil {
		return err
	}
	err := workflow.SetUpdateHandlerWithOptions(ctx, UpdateSubmit, t.submit, workflow.UpdateHandlerOptions{
		Validator: t.validateSubmit,
	})
	if err != nil {
		return err
	}
	err = workflow.SetUpdateHandlerWithOptions(ctx, UpdateResume, t.resume, workflow.UpdateHandlerOptions{
		Validator: t.validateResumeUpdate,
	})
	if err != nil {
		return err
	}
	err = workflow.SetUpdateHandlerWithOptions(ctx, UpdateOwner, t.changeOwner, workflow.UpdateHandlerOptions{
		Validator: t.validateOwner,
	})
	if err != nil {
		return err
	}
	workflow.Go(ctx, t.receiveSignals)
	workflow.Go(ctx, t.settleWithdrawnTurns)
	return nil
}

func (t *thread) run(ctx workflow.Context) error {
	for {
		if t.turn == nil {
			submit, ok, err := t.next(ctx)
			if err != nil { // an operator has cancelled the workflow
				return t.close(ctx)
			}
			if !ok {
				if t.mayComplete(ctx) {
					return nil
				}
				continue
			}
			if submit == nil {
				return t.continueAsNew(ctx)
			}
			t.turn = t.begin(ctx, *submit)
		}
		if t.turn.run(ctx) == errContinue {
			return t.continueAsNew(ctx)
		}
		t.last, t.turn, t.Carried.Undone = t.turn, nil, ""
		if t.last.Stopped == chat.RolledBack {
			t.Carried.Undone = t.last.TurnID
		}
		if ctx.Err() != nil {
			return t.close(ctx)
		}
		// Its owner does not have the conversation. The next message starts a run for the
		// owner of its row.
		if t.last.notFound && len(t.Carried.Queue) == 0 && t.mayComplete(ctx) {
			return nil
		}
	}
}

// close settles the turns in the queue when the workflow itself is cancelled: every
// accepted turn gets an end.
func (t *thread) close(ctx workflow.Context) error {
	t.ending = true
	clean, _ := workflow.NewDisconnectedContext(ctx)
	for len(t.Carried.Queue) > 0 || t.withdrawn != nil || !workflow.AllHandlersFinished(ctx) {
		if err := workflow.Await(clean, func() bool { return t.withdrawn == nil && workflow.AllHandlersFinished(ctx) }); err != nil {
			return err
		}
		if len(t.Carried.Queue) > 0 {
			t.withdrawn = t.begin(ctx, t.Carried.Queue[0])
			t.Carried.Queue = t.Carried.Queue[1:]
			t.withdrawn.settleUnstarted(clean, chat.UserCancelled)
			t.withdrawn = nil
		}
	}
	return ctx.Err()
}

// otherTurns names the thread's other open and waiting turns.
func (t *thread) otherTurns(u *turn) *activities.OtherTurns {
	b := &activities.OtherTurns{}
	for _, other := range []*turn{t.turn, t.withdrawn} {
		if other != nil && other != u {
			b.Open = append(b.Open, other.TurnID)
		}
	}
	for _, q := range t.allWaiting() {
		b.Waiting = append(b.Waiting, q.TurnID)
	}
	return b
}

// next waits for a submit. ok is false when the idle timeout has passed; a nil
// submit means that the thread must continue as new. A turn begins only when every
// turn before it is settled.
func (t *thread) next(ctx workflow.Context) (_ *SubmitRequest, ok bool, _ error) {
	if err := workflow.Await(ctx, func() bool { return t.withdrawn == nil }); err != nil {
		return nil, false, err
	}
	waiting := func() bool { return len(t.Carried.Queue) > 0 || t.mustContinueAsNew(ctx) }
	if !waiting() {
		t.idleSince = workflow.Now(ctx)
	}
	for !waiting() {
		if t.idle == nil {
			left := t.IdleTimeout - workflow.Now(ctx).Sub(t.idleSince)
			t.idle = workflow.NewTimerWithOptions(ctx, left, workflow.TimerOptions{Summary: "Complete when idle"})
		}
		if err := workflow.Await(ctx, func() bool { return waiting() || t.idle == nil || t.idle.IsReady() }); err != nil {
			return nil, false, err
		}
		if t.idle == nil || !t.idle.IsReady() {
			continue
		}
		t.idle = nil // the timer may have started before the last turn
		if !waiting() && workflow.Now(ctx).Sub(t.idleSince) >= t.IdleTimeout {
			return nil, false, nil
		}
	}
	if t.mustContinueAsNew(ctx) {
		return nil, true, nil
	}
	submit := t.Carried.Queue[0]
	t.Carried.Queue = t.Carried.Queue[1:]
	return &submit, true, nil
}

// mayComplete waits for update handlers, drains signals and reports whether the
// queue is empty, so that the run may end.
func (t *thread) mayComplete(ctx workflow.Context) bool {
	t.ending = true
	defer func() { t.ending = false }()
	if err := workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) }); err != nil {
		return false
	}
	t.drainSignals(ctx)
	return len(t.Carried.Queue) == 0
}

// mustContinueAsNew reports whether the history is long enough, or the thread is to
// follow another version.
func (t *thread) mustContinueAsNew(ctx workflow.Context) bool {
	if t.nextVersion != t.Version {
		return true
	}
	info := workflow.GetInfo(ctx)
	if t.ContinueAfter > 0 {
		return info.GetCurrentHistoryLength() >= t.ContinueAfter
	}
	return info.GetCurrentHistoryLength() >= maxHistoryEvents || info.GetContinueAsNewSuggested()
}

// maxHistoryEvents bounds what a worker replays for a thread that is not in its
// cache. A plain turn has about 20 events.
const maxHistoryEvents = 500

// continueAsNew passes the thread's state to the next run. Nothing may block after
// the drain, or a signal could be lost.
func (t *thread) continueAsNew(ctx workflow.Context) error {
	t.ending = true
	err := workflow.Await(ctx, func() bool { return t.withdrawn == nil && workflow.AllHandlersFinished(ctx) })
	if err != nil {
		return err
	}
	t.drainSignals(ctx)
	next := t.ThreadInput
	next.Version = t.nextVersion
	next.Carried.Open = nil
	if t.turn != nil {
		next.Carried.Open = t.turn.carry()
	}
	return workflow.NewContinueAsNewError(ctx, ThreadType, next)
}

// receiveSignals handles signals as they come. It waits until a channel is not
// empty instead of blocking in Receive: a signal that a blocked receiver has taken,
// but not handled when the thread continues as new, would be lost. One that is
// still in its channel is drained.
func (t *thread) receiveSignals(ctx workflow.Context) {
	for {
		err := workflow.Await(ctx, func() bool { return t.cancels.Len()+t.resumes.Len()+t.versions.Len() > 0 })
		if err != nil {
			return
		}
		t.drainSignals(ctx)
		t.changed.SendAsync(true)
	}
}

func (t *thread) drainSignals(ctx workflow.Context) {
	for {
		var v chat.Cancel
		if !t.cancels.ReceiveAsync(&v) {
			break
		}
		t.cancel(ctx, v)
	}
	for {
		var v converter.RawValue // the SDK drops a signal that cannot be decoded into another type
		if !t.resumes.ReceiveAsync(&v) {
			break
		}
		t.resumeBySignal(ctx, v)
	}
	for {
		var version int
		if !t.versions.ReceiveAsync(&version) {
			break
		}
		if knownVersion(ctx, version) {
			t.nextVersion = version
		} else {
			workflow.GetLogger(ctx).Warn("version signal ignored: this build does not know the version", "version", version)
		}
	}
}

// validateSubmit rejects a submit with on_busy "reject" while a turn is open, a
// submit of a deleted conversation whose id is in use again or whose owner is another one
// while a turn runs, and an unsaved message when too many are unsaved already. A rejection by the validator adds no event to
// the history.
func (t *thread) validateSubmit(_ workflow.Context, s SubmitRequest) error {
	if s.Generation != 0 && s.Generation < t.Generation {
		return temporal.NewApplicationError("the conversation was deleted", chat.CodeNotFound)
	}
	if s.Owner != "" && s.Owner != t.Owner && (s.Unsaved != nil || !t.mayChangeOwner()) {
		return temporal.NewApplicationError("the thread works for another owner", chat.CodeNotFound)
	}
	if _, again := t.earlierSubmit(s); again {
		return nil
	}
	if s.Replaces != "" && t.waiting(s.Replaces) < 0 && t.given(s.Replaces) < 0 {
		return temporal.NewApplicationError("the message does not wait any more", chat.CodeTurnBegun)
	}
	if s.OnBusy == chat.Reject {
		if running, busy := t.busy(); busy {
			return temporal.NewApplicationError("a turn is running", chat.CodeTurnRunning, running)
		}
	}
	if s.Unsaved != nil && t.unsaved()+s.Unsaved.Size() > maxUnsaved {
		return temporal.NewApplicationError("too many messages wait for the database", chat.CodeDatabase)
	}
	return nil
}

// allWaiting returns the messages that wait: for the open turn to read them, or for turns of
// their own.
func (t *thread) allWaiting() []SubmitRequest {
	if t.turn == nil {
		return t.Carried.Queue
	}
	return slices.Concat(t.turn.Given, t.Carried.Queue)
}

// waiting returns the place in the queue of a turn that waits and is not stopped; -1: none.
func (t *thread) waiting(turnID string) int {
	return slices.IndexFunc(t.Carried.Queue, func(s SubmitRequest) bool { return s.TurnID == turnID && s.Stopped == "" })
}

// busy returns a turn that runs or waits. It also finds a submit of the same workflow
// task, because the handler of one update runs before the validator of the next.
func (t *thread) busy() (turnID string, busy bool) {
	switch {
	case t.turn != nil:
		return t.turn.TurnID, true
	case len(t.Carried.Queue) > 0:
		return t.Carried.Queue[0].TurnID, true
	}
	return "", false
}

// unsaved is the size of the messages that are not in the database yet, in bytes.
func (t *thread) unsaved() (size int) {
	for _, q := range t.Carried.Queue {
		size += q.Unsaved.Size()
	}
	if t.turn != nil {
		size += t.turn.Unsaved.Size()
	}
	return size
}

// submit adds a turn to the queue. It runs no activity and is idempotent. When the
// turn begins at once, the reply waits for what the first workflow task records:
// Temporal delivers it with that task anyway.
func (t *thread) submit(ctx workflow.Context, s SubmitRequest) (SubmitReply, error) {
	t.adoptGeneration(s)
	if s.Owner != "" { // a claim may have moved only the workflow, or only the rows
		if err := t.changeOwner(ctx, s.Owner); err != nil {
			return SubmitReply{}, err
		}
	}
	s.Owner = "" // the thread has it
	if first, again := t.earlierSubmit(s); again {
		if first.Hash != s.Hash && first.Hash != "" && s.Hash != "" {
			return SubmitReply{}, temporal.NewApplicationError("the client_turn_id was used with other content", chat.CodeTurnConflict)
		}
		return SubmitReply{Status: chat.TurnAccepted, TurnID: cmp.Or(first.Into, first.TurnID), Given: t.given(s.TurnID) >= 0}, nil
	}
	at := len(t.Carried.Queue)
	if s.Replaces != "" {
		t.takeBack(s.Replaces)
		at = t.waiting(s.Replaces)
		t.Carried.Queue[at].Stopped = chat.RolledBack
		at++
	}
	t.adoptRules(s.Rules)
	t.Carried.Seen = keepLast(append(t.Carried.Seen, seenSubmit{TurnID: s.TurnID, Client: s.Client, Hash: s.Hash}), maxSeen)
	s.Rules = nil // the thread has them
	if t.mayBeGiven(s) {
		return t.give(s), nil
	}
	t.Carried.Queue = slices.Insert(t.Carried.Queue, at, s)
	t.changed.SendAsync(true)
	reply := SubmitReply{Status: chat.TurnAccepted, TurnID: s.TurnID}
	if why := s.stopReason(); why != "" && t.turn != nil {
		t.turn.stop(ctx, why, "")
	} else if t.turn == nil && len(t.Carried.Queue) == 1 {
		reply.Log = t.firstEntries(ctx, s.TurnID)
	}
	return reply, nil
}

// firstEntries waits until the turn waits for something slower than a look-up, and
// returns the log up to there. It is empty when the turn does not begin now.
func (t *thread) firstEntries(ctx workflow.Context, turnID string) []chat.Entry {
	begins := func() bool { return t.turn == nil && t.withdrawn == nil && !t.ending && !t.mustContinueAsNew(ctx) }
	mine := func() bool { return t.turn != nil && t.turn.TurnID == turnID }
	err := workflow.Await(ctx, func() bool { return !begins() && (!mine() || t.turn.blocked) })
	if err != nil || !mine() {
		return nil
	}
	return slices.Clone(t.turn.Log)
}

// adoptGeneration resets the thread when s is the first submit of a new
// conversation with the id of a deleted one.
func (t *thread) adoptGeneration(s SubmitRequest) {
	if s.Generation <= t.Generation {
		return
	}
	if t.Generation != 0 {
		t.Carried.Seen, t.Carried.Early, t.Carried.Undone = nil, nil, ""
	}
	t.Generation = s.Generation
}

// earlierSubmit finds the submit that s repeats: the same turn, or one with the same
// client_turn_id whose row could not be found.
func (t *thread) earlierSubmit(s SubmitRequest) (seenSubmit, bool) {
	if t.Generation != 0 && s.Generation > t.Generation {
		return seenSubmit{}, false
	}
	i := slices.IndexFunc(t.Carried.Seen, func(x seenSubmit) bool {
		return x.TurnID == s.TurnID || s.Client != "" && x.Client == s.Client
	})
	if i < 0 {
		return seenSubmit{}, false
	}
	return t.Carried.Seen[i], true
}

func (t *thread) wasSubmitted(turnID string) bool {
	return slices.ContainsFunc(t.Carried.Seen, func(x seenSubmit) bool { return x.TurnID == turnID })
}

// acceptedBefore reports whether an earlier run has accepted this resume update.
func (t *thread) acceptedBefore(ctx workflow.Context) bool {
	return workflow.GetCurrentUpdateInfo(ctx).ID == t.Carried.Resumed
}

// maxUpdateID bounds the ids that are remembered. Those of Client are UUIDs.
const maxUpdateID = 64

func (t *thread) validateResumeUpdate(ctx workflow.Context, r ResumeRequest) error {
	if t.acceptedBefore(ctx) {
		return nil
	}
	return t.validateResume(r)
}

// validateResume rejects an answer when its question is not open, or when it does
// not fit the question.
func (t *thread) validateResume(r ResumeRequest) error {
	if t.turn == nil || t.turn.Pending == nil || t.turn.Stopped != "" ||
		(r.InterruptID != "" && r.InterruptID != t.turn.Pending.ID) {
		return temporal.NewApplicationError("no such question is open", chat.CodeNoInterrupt)
	}
	if problem := r.Value.Fits(*t.turn.Pending); problem != "" {
		return temporal.NewApplicationError(problem, chat.CodeBadResume)
	}
	return nil
}

func (t *thread) resume(ctx workflow.Context, r ResumeRequest) error {
	if t.acceptedBefore(ctx) {
		return nil
	}
	if t.Carried.Resumed = workflow.GetCurrentUpdateInfo(ctx).ID; len(t.Carried.Resumed) > maxUpdateID {
		t.Carried.Resumed = ""
	}
	t.adoptRules(r.Rules)
	t.turn.acceptAnswer(ctx, r.Value, r.Channel)
	return nil
}

// resumeBySignal accepts an answer that came by a signal. An answer that cannot be
// decoded, or does not fit, is dropped with a notice, and the question stays open.
func (t *thread) resumeBySignal(ctx workflow.Context, raw converter.RawValue) {
	var v chat.ResumeValue
	err := converter.GetDefaultDataConverter().FromPayload(raw.Payload(), &v)
	if err == nil && len(raw.Payload().GetData()) > maxSignal {
		err = errors.New("the value is larger than 64 kB")
	}
	v.Ref = "" // only the API may refer to a stored text
	if err == nil {
		err = t.validateResume(ResumeRequest{Value: v})
	}
	if err != nil {
		workflow.GetLogger(ctx).Warn("resume signal ignored", "error", err)
		if t.turn != nil {
			t.turn.noticeIgnoredResume(ctx)
		}
		return
	}
	if v.Type == chat.ToolApproval && slices.ContainsFunc(v.Decisions, func(d chat.Decision) bool { return len(d.Arguments) > 0 }) {
		t.turn.offerAnswer(ctx, v, chat.BySignal)
		return
	}
	t.turn.acceptAnswer(ctx, v, chat.BySignal)
}

func (t *thread) progress(turnID string, after int) (chat.Progress, error) {
	for _, u := range []*turn{t.turn, t.withdrawn, t.last} {
		if u != nil && u.TurnID == turnID {
			return u.progress(after), nil
		}
	}
	// A waiting turn is known, and has no events yet.
	waits := slices.ContainsFunc(t.allWaiting(), func(s SubmitRequest) bool { return s.TurnID == turnID })
	return chat.Progress{Known: waits || t.turn != nil && slices.Contains(t.turn.Taken, turnID)}, nil
}

func (t *thread) state() (chat.ThreadState, error) {
	s := chat.ThreadState{Owner: t.Owner, Agent: t.Carried.Agent, Space: t.Carried.Space, Version: t.Version}
	name := func(turnID, runID string) {
		if s.Names == nil {
			s.Names = map[string]chat.TurnName{}
		}
		first, _ := t.earlierSubmit(SubmitRequest{TurnID: turnID})
		s.Names[turnID] = chat.TurnName{Client: first.Client, RunID: runID}
	}
	if t.turn != nil {
		name(t.turn.TurnID, t.turn.RunID)
		s.TurnID, s.Status, s.Pending = t.turn.TurnID, chat.TurnRunning, t.turn.Pending
		if t.turn.Pending != nil {
			s.Status = chat.TurnInterrupted
		}
	}
	for _, q := range t.allWaiting() {
		s.Queue = append(s.Queue, q.TurnID)
		name(q.TurnID, q.RunID)
	}
	if t.turn != nil { // repair leaves their rows alone
		s.Queue = append(s.Queue, t.turn.Taken...)
	}
	return s, nil
}

// setStatus sets the search attribute by which Temporal's Web UI lists threads.
func (t *thread) setStatus(ctx workflow.Context, status string) {
	_ = workflow.UpsertTypedSearchAttributes(ctx, StatusAttribute.ValueSet(status)) // its only error is an empty list
}

func keepLast[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }
