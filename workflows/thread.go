package workflows

import (
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
	ContinueAfter int     `json:"continue_after,omitempty"`
	Carried       carried `json:"carried"`
}

// carried is what crosses continue-as-new. Update ids are not deduplicated
// across it, so recent turn ids are part of it.
type carried struct {
	Open   *openTurn       `json:"open,omitempty"`
	Queue  []SubmitRequest `json:"queue,omitempty"`
	Seen   []seen          `json:"seen,omitempty"`   // turns submitted lately
	Early  []earlyCancel   `json:"early,omitempty"`  // cancels that overtook their submit
	Agent  chat.Agent      `json:"agent,omitempty"`  // of the turn that began last
	Undone string          `json:"undone,omitempty"` // the turn just rolled back: the next one takes its place
}

type earlyCancel struct {
	TurnID string            `json:"turn"`
	Reason chat.CancelReason `json:"reason"`
}

// seen is what a thread remembers of a submit, so that it makes no second turn
// of a retry even when the database cannot tell.
type seen struct {
	TurnID string `json:"turn"`
	Client string `json:"client,omitempty"`
	Hash   string `json:"hash,omitempty"`
}

// SubmitRequest is the argument of the submit update.
type SubmitRequest struct {
	TurnID    string      `json:"turn"`
	OnBusy    chat.OnBusy `json:"on_busy"`
	Cancelled bool        `json:"cancelled,omitempty"`
	RunID     string      `json:"run,omitempty"`
	RequestID string      `json:"request,omitempty"`
	Client    string      `json:"client,omitempty"` // stands for the client_turn_id, chat.ClientKey
	Hash      string      `json:"hash,omitempty"`   // of the content
	// Generation of the turn's conversation; 0: not known.
	Generation int `json:"generation,omitempty"`
	// Unsaved is the message itself when the database was away.
	Unsaved *activities.Unsaved `json:"unsaved,omitempty"`
	// Stopped is why the turn was cancelled while it waited.
	Stopped chat.CancelReason `json:"stopped,omitempty"`
	Rules   *Rules            `json:"rules,omitempty"`
}

// SubmitReply says where the turn stands: accepted (it runs or waits its turn).
// TurnID is the turn that the message made, now or the first time it was sent.
// Log is what the turn has recorded so far, when it began at once.
type SubmitReply struct {
	Status chat.TurnStatus `json:"status"`
	TurnID string          `json:"turn,omitempty"`
	Log    []chat.Entry    `json:"log,omitempty"`
}

// ResumeRequest is the argument of the resume update.
type ResumeRequest struct {
	InterruptID string           `json:"interrupt_id,omitempty"`
	Value       chat.ResumeValue `json:"value"`
	Rules       *Rules           `json:"rules,omitempty"`
}

// What a thread remembers, at most.
const (
	maxSeen  = 200
	maxEarly = 50
	// maxUnsaved bounds the messages that wait for the database, in bytes: they
	// must fit into the input of the next run.
	maxUnsaved = 1 << 20
	// maxSignal bounds an answer from a shell, in bytes.
	maxSignal = 64 << 10
)

// Threads holds what workflow code may call without being replayed.
type Threads struct {
	// Hint tells followers that a turn's log has grown, where no activity is about
	// to publish what is new. It is called outside of
	// replay only, must not block, and nothing depends on it.
	Hint func(turnID string, n int)
}

// Thread is the workflow of one conversation. It runs one turn at a time, in
// the order in which submits were accepted; a superseding submit ends the turn
// before it first. Idle for IdleTimeout it completes; the next submit begins
// its next run.
func (w *Threads) Thread(ctx workflow.Context, in ThreadInput) error {
	requireKnown(in.Version)
	t := &thread{ThreadInput: in, hint: w.Hint, wanted: in.Version}
	if err := t.setup(ctx); err != nil {
		return err
	}
	return t.run(ctx)
}

type thread struct {
	ThreadInput
	hint     func(string, int)
	turn     *turn // the open one
	leaving  *turn // one that was stopped while it waited, being settled
	last     *turn // the one settled before, for followers that are a step behind
	resumes  workflow.ReceiveChannel
	cancels  workflow.ReceiveChannel
	versions workflow.ReceiveChannel
	idle     workflow.Future // the timer of idleness; it runs on through turns
	rested   time.Time       // end of the last turn
	wanted   int             // version that the thread is to follow from its next run on
	ending   bool            // the run begins no turn any more
}

func (t *thread) setup(ctx workflow.Context) error {
	if t.Carried.Open != nil {
		t.turn = t.restore(*t.Carried.Open)
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
		Validator: t.mayReject,
	})
	if err != nil {
		return err
	}
	err = workflow.SetUpdateHandlerWithOptions(ctx, UpdateResume, t.resume, workflow.UpdateHandlerOptions{
		Validator: t.mayResume,
	})
	if err != nil {
		return err
	}
	workflow.Go(ctx, t.listen)
	workflow.Go(ctx, t.sweep)
	return nil
}

func (t *thread) run(ctx workflow.Context) error {
	for {
		if t.turn == nil {
			submit, ok, err := t.next(ctx)
			if err != nil { // the workflow itself was cancelled, from a shell
				return t.close(ctx)
			}
			if !ok {
				if t.quiet(ctx) {
					return nil
				}
				continue
			}
			if submit == nil {
				return t.continueAsNew(ctx)
			}
			t.turn = t.begin(*submit)
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
	}
}

// close ends what still waits when the workflow itself is cancelled: an
// accepted turn is never left without its end.
func (t *thread) close(ctx workflow.Context) error {
	t.ending = true
	clean, _ := workflow.NewDisconnectedContext(ctx)
	for len(t.Carried.Queue) > 0 || t.leaving != nil || !workflow.AllHandlersFinished(ctx) {
		if err := workflow.Await(clean, func() bool { return t.leaving == nil && workflow.AllHandlersFinished(ctx) }); err != nil {
			return err
		}
		if len(t.Carried.Queue) > 0 {
			t.leaving = t.begin(t.Carried.Queue[0])
			t.Carried.Queue = t.Carried.Queue[1:]
			t.leaving.leave(clean, chat.UserCancelled)
			t.leaving = nil
		}
	}
	return ctx.Err()
}

// sweep settles turns that were stopped while they waited, without waiting for
// the turn that runs before them: that one may be asking a person.
func (t *thread) sweep(ctx workflow.Context) {
	stopped := func() int {
		return slices.IndexFunc(t.Carried.Queue, func(s SubmitRequest) bool { return s.Stopped != "" })
	}
	for {
		// Its place in the tree comes after that of the turn it waited for.
		err := workflow.Await(ctx, func() bool { return t.turn != nil && t.turn.placed() && t.leaving == nil && stopped() >= 0 })
		if err != nil {
			return
		}
		i := stopped()
		t.leaving = t.begin(t.Carried.Queue[i])
		t.Carried.Queue = slices.Delete(t.Carried.Queue, i, i+1)
		t.leaving.leave(ctx, t.leaving.Stopped)
		t.leaving = nil
	}
}

// beside is what the thread has beside one of its turns.
func (t *thread) beside(u *turn) *activities.Beside {
	b := &activities.Beside{}
	for _, other := range []*turn{t.turn, t.leaving} {
		if other != nil && other != u {
			b.Open = append(b.Open, other.TurnID)
		}
	}
	for _, q := range t.Carried.Queue {
		b.Waiting = append(b.Waiting, q.TurnID)
	}
	return b
}

// next waits for a submit. ok is false when the thread was idle for too long; a
// nil submit means that it is time to continue as new. A turn begins only when
// every turn before it is settled.
func (t *thread) next(ctx workflow.Context) (_ *SubmitRequest, ok bool, _ error) {
	if err := workflow.Await(ctx, func() bool { return t.leaving == nil }); err != nil {
		return nil, false, err
	}
	waiting := func() bool { return len(t.Carried.Queue) > 0 || t.full(ctx) }
	if !waiting() {
		t.showWork(ctx, statusIdle)
		t.rested = workflow.Now(ctx)
	}
	for !waiting() {
		if t.idle == nil {
			t.idle = workflow.NewTimer(ctx, t.IdleTimeout-workflow.Now(ctx).Sub(t.rested))
		}
		if err := workflow.Await(ctx, func() bool { return waiting() || t.idle == nil || t.idle.IsReady() }); err != nil {
			return nil, false, err
		}
		if t.idle == nil || !t.idle.IsReady() {
			continue
		}
		t.idle = nil // it may be older than the last turn
		if !waiting() && workflow.Now(ctx).Sub(t.rested) >= t.IdleTimeout {
			return nil, false, nil
		}
	}
	if t.full(ctx) {
		return nil, true, nil
	}
	submit := t.Carried.Queue[0]
	t.Carried.Queue = t.Carried.Queue[1:]
	return &submit, true, nil
}

// quiet reports whether nothing is left to handle, so that the run may end.
func (t *thread) quiet(ctx workflow.Context) bool {
	t.ending = true
	defer func() { t.ending = false }()
	if err := workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) }); err != nil {
		return false
	}
	t.drain(ctx)
	return len(t.Carried.Queue) == 0
}

// full reports whether it is time to continue as new: the history has grown
// enough, or the thread is to follow another version.
func (t *thread) full(ctx workflow.Context) bool {
	if t.wanted != t.Version {
		return true
	}
	info := workflow.GetInfo(ctx)
	if t.ContinueAfter > 0 {
		return info.GetCurrentHistoryLength() >= t.ContinueAfter
	}
	if t.Version >= 1 && info.GetCurrentHistoryLength() >= longestHistory {
		return true
	}
	return info.GetContinueAsNewSuggested()
}

// longestHistory bounds, in events, what a worker replays for a thread that is
// not in its cache. A plain turn has about 20.
const longestHistory = 500

// continueAsNew hands everything over to the next run. After the drain nothing
// may block, or a signal could be lost.
func (t *thread) continueAsNew(ctx workflow.Context) error {
	t.ending = true
	err := workflow.Await(ctx, func() bool { return t.leaving == nil && workflow.AllHandlersFinished(ctx) })
	if err != nil {
		return err
	}
	t.drain(ctx)
	next := t.ThreadInput
	next.Version = t.wanted
	next.Carried.Open = nil
	if t.turn != nil {
		open := t.turn.openTurn
		next.Carried.Open = &open
	}
	return workflow.NewContinueAsNewError(ctx, ThreadType, next)
}

// listen takes signals as they come. It waits beside the channels, not in them: a
// signal handed to a receiver that gets no turn before the thread continues as
// new would be lost, and one in its channel is drained.
func (t *thread) listen(ctx workflow.Context) {
	for {
		err := workflow.Await(ctx, func() bool { return t.cancels.Len()+t.resumes.Len()+t.versions.Len() > 0 })
		if err != nil {
			return
		}
		t.drain(ctx)
	}
}

func (t *thread) drain(ctx workflow.Context) {
	for {
		var v chat.Cancel
		if !t.cancels.ReceiveAsync(&v) {
			break
		}
		t.cancel(ctx, v)
	}
	for {
		var v converter.RawValue // received as anything else, one that cannot be read would be dropped by the SDK
		if !t.resumes.ReceiveAsync(&v) {
			break
		}
		t.signalled(ctx, v)
	}
	for {
		var version int
		if !t.versions.ReceiveAsync(&version) {
			break
		}
		t.wanted = version
	}
}

// mayReject refuses a submit with on_busy "reject" while a turn is open, one of a
// deleted conversation in the next one of its id, and messages that cannot be
// saved now when too many wait already: a rejection by the validator leaves no
// event.
func (t *thread) mayReject(_ workflow.Context, s SubmitRequest) error {
	if s.Generation != 0 && s.Generation < t.Generation {
		return temporal.NewApplicationError("the conversation was deleted", chat.CodeNotFound)
	}
	if _, again := t.known(s); again {
		return nil
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

// busy is the turn that runs or waits. A message that came in the same workflow
// task is in the queue: the handler of one update runs before the validator of
// the next.
func (t *thread) busy() (turnID string, busy bool) {
	switch {
	case t.turn != nil:
		return t.turn.TurnID, true
	case len(t.Carried.Queue) > 0:
		return t.Carried.Queue[0].TurnID, true
	}
	return "", false
}

// unsaved is how much of messages waits for the database.
func (t *thread) unsaved() (size int) {
	for _, q := range t.Carried.Queue {
		size += q.Unsaved.Size()
	}
	if t.turn != nil {
		size += t.turn.Unsaved.Size()
	}
	return size
}

// submit takes a turn into the queue. It runs no activity, and taking the same
// message twice changes nothing. Where the turn begins at once, the reply waits
// for what its first workflow task records: Temporal hands it out with that task
// anyway.
func (t *thread) submit(ctx workflow.Context, s SubmitRequest) (SubmitReply, error) {
	t.renew(s)
	if first, again := t.known(s); again {
		if first.Hash != s.Hash && first.Hash != "" && s.Hash != "" {
			return SubmitReply{}, temporal.NewApplicationError("the client_turn_id was used with other content", chat.CodeTurnConflict)
		}
		return SubmitReply{Status: chat.TurnAccepted, TurnID: first.TurnID}, nil
	}
	t.adopt(s.Rules)
	t.Carried.Seen = keepLast(append(t.Carried.Seen, seen{s.TurnID, s.Client, s.Hash}), maxSeen)
	s.Rules = nil // the thread has them
	t.Carried.Queue = append(t.Carried.Queue, s)
	reply := SubmitReply{Status: chat.TurnAccepted, TurnID: s.TurnID}
	if why := s.ends(); why != "" && t.turn != nil {
		t.turn.stop(ctx, why)
	} else if t.Version >= 1 && t.turn == nil && len(t.Carried.Queue) == 1 {
		reply.Log = t.firstEntries(ctx, s.TurnID)
	}
	return reply, nil
}

// firstEntries is what a turn that begins now has recorded when it first waits
// for anything that takes longer than a look-up. None, when it does not begin.
func (t *thread) firstEntries(ctx workflow.Context, turnID string) []chat.Entry {
	begins := func() bool { return t.turn == nil && t.leaving == nil && !t.ending && !t.full(ctx) }
	mine := func() bool { return t.turn != nil && t.turn.TurnID == turnID }
	err := workflow.Await(ctx, func() bool { return !begins() && (!mine() || t.turn.waits) })
	if err != nil || !mine() {
		return nil
	}
	return slices.Clone(t.turn.Log)
}

// renew notes that the thread's conversation was deleted and another one begun
// under its id, of which s is the first submit to come.
func (t *thread) renew(s SubmitRequest) {
	if s.Generation <= t.Generation {
		return
	}
	if t.Generation != 0 {
		t.Carried.Seen, t.Carried.Early, t.Carried.Undone = nil, nil, ""
	}
	t.Generation = s.Generation
}

// known finds the submit that s repeats: the same turn, or one of the same
// client_turn_id whose row could not be found.
func (t *thread) known(s SubmitRequest) (seen, bool) {
	if t.Generation != 0 && s.Generation > t.Generation {
		return seen{}, false
	}
	i := slices.IndexFunc(t.Carried.Seen, func(x seen) bool {
		return x.TurnID == s.TurnID || s.Client != "" && x.Client == s.Client
	})
	if i < 0 {
		return seen{}, false
	}
	return t.Carried.Seen[i], true
}

// ends is the reason for which a submit ends every turn accepted before it; ""
// for one that waits.
func (s SubmitRequest) ends() chat.CancelReason {
	switch s.OnBusy {
	case chat.Supersede:
		return chat.Superseded
	case chat.Rollback:
		return chat.RolledBack
	}
	return ""
}

func (t *thread) knows(turnID string) bool {
	return slices.ContainsFunc(t.Carried.Seen, func(x seen) bool { return x.TurnID == turnID })
}

// cancel ends the turn it names, wherever that is: running, waiting its turn or
// not yet here. Without a name it means the open one.
func (t *thread) cancel(ctx workflow.Context, c chat.Cancel) {
	if c.Reason == "" {
		c.Reason = chat.UserCancelled
	}
	if t.turn != nil && (c.TurnID == "" || c.TurnID == t.turn.TurnID) {
		t.turn.stop(ctx, c.Reason)
		return
	}
	if c.TurnID == "" {
		return
	}
	for i := range t.Carried.Queue {
		if t.Carried.Queue[i].TurnID == c.TurnID {
			if t.Carried.Queue[i].Stopped == "" {
				t.Carried.Queue[i].Stopped = c.Reason
			}
			return
		}
	}
	if !t.knows(c.TurnID) {
		t.Carried.Early = keepLast(append(t.Carried.Early, earlyCancel{c.TurnID, c.Reason}), maxEarly)
	}
}

// mayResume refuses an answer to a question that is not open or that the answer
// does not fit.
func (t *thread) mayResume(_ workflow.Context, r ResumeRequest) error {
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
	// Between validator and handler another answer may have been taken.
	if err := t.mayResume(ctx, r); err != nil {
		return err
	}
	t.adopt(r.Rules)
	t.turn.answered(ctx, r.Value)
	return nil
}

// signalled takes an answer that came from a shell. One that cannot be read, or
// does not fit, is dropped with a notice, and the question stays open.
func (t *thread) signalled(ctx workflow.Context, raw converter.RawValue) {
	var v chat.ResumeValue
	err := converter.GetDefaultDataConverter().FromPayload(raw.Payload(), &v)
	if err == nil && t.Version >= 1 && len(raw.Payload().GetData()) > maxSignal {
		err = errors.New("the value is larger than 64 kB")
	}
	v.Ref = "" // what it names is not what the person says
	if err == nil {
		err = t.mayResume(ctx, ResumeRequest{Value: v})
	}
	if err != nil {
		workflow.GetLogger(ctx).Warn("a resume signal was ignored", "error", err)
		if t.turn != nil {
			t.turn.ignored(ctx)
		}
		return
	}
	if v.Type == chat.ToolApproval && slices.ContainsFunc(v.Decisions, func(d chat.Decision) bool { return len(d.Arguments) > 0 }) {
		t.turn.Unchecked = &v
		return
	}
	t.turn.answered(ctx, v)
}

func (t *thread) progress(turnID string, after int) (chat.Progress, error) {
	for _, u := range []*turn{t.turn, t.leaving, t.last} {
		if u != nil && u.TurnID == turnID {
			return u.progress(after), nil
		}
	}
	// A turn that waits is known, and has no events yet.
	waits := slices.ContainsFunc(t.Carried.Queue, func(s SubmitRequest) bool { return s.TurnID == turnID })
	return chat.Progress{Known: waits}, nil
}

func (t *thread) state() (chat.ThreadState, error) {
	s := chat.ThreadState{Owner: t.Owner, Agent: t.Carried.Agent, Version: t.Version}
	name := func(turnID, runID string) {
		if s.Names == nil {
			s.Names = map[string]chat.TurnName{}
		}
		first, _ := t.known(SubmitRequest{TurnID: turnID})
		s.Names[turnID] = chat.TurnName{Client: first.Client, RunID: runID}
	}
	if t.turn != nil {
		name(t.turn.TurnID, t.turn.RunID)
		s.TurnID, s.Status, s.Pending = t.turn.TurnID, chat.TurnRunning, t.turn.Pending
		if t.turn.Pending != nil {
			s.Status = chat.TurnInterrupted
		}
	}
	for _, q := range t.Carried.Queue {
		s.Queue = append(s.Queue, q.TurnID)
		name(q.TurnID, q.RunID)
	}
	return s, nil
}

// show puts the thread's status where the Web UI lists and filters by it.
func (t *thread) show(ctx workflow.Context, status string) {
	_ = workflow.UpsertTypedSearchAttributes(ctx, StatusAttribute.ValueSet(status)) // fails for an empty list only
}

// showWork is show for the statuses that a thread of version 0 has.
func (t *thread) showWork(ctx workflow.Context, status string) {
	if t.Version == 0 {
		t.show(ctx, status)
	}
}

func keepLast[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }
