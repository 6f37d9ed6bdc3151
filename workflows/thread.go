package workflows

import (
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/chat"
)

// ThreadInput starts a thread's workflow, or continues it.
type ThreadInput struct {
	Owner       string        `json:"owner"`
	ThreadID    string        `json:"thread"`
	IdleTimeout time.Duration `json:"idle"` // completes after so long with nothing open
	// TurnDeadline bounds the time a turn may work; waiting for people is not
	// counted.
	TurnDeadline time.Duration `json:"deadline"`
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
	Seen   []string        `json:"seen,omitempty"`   // turn ids submitted lately
	Early  []earlyCancel   `json:"early,omitempty"`  // cancels that overtook their submit
	Undone string          `json:"undone,omitempty"` // the turn just rolled back: the next one takes its place
}

type earlyCancel struct {
	TurnID string            `json:"turn"`
	Reason chat.CancelReason `json:"reason"`
}

// SubmitRequest is the argument of the submit update.
type SubmitRequest struct {
	TurnID    string      `json:"turn"`
	OnBusy    chat.OnBusy `json:"on_busy"`
	Cancelled bool        `json:"cancelled,omitempty"`
}

// SubmitReply says where the turn stands: accepted (it runs or waits its turn).
type SubmitReply struct {
	Status chat.TurnStatus `json:"status"`
}

// ResumeRequest is the argument of the resume update.
type ResumeRequest struct {
	InterruptID string           `json:"interrupt_id,omitempty"`
	Value       chat.ResumeValue `json:"value"`
}

// What a thread remembers, at most.
const (
	maxSeen  = 200
	maxEarly = 50
)

// Threads holds what workflow code may call without being replayed.
type Threads struct {
	// Hint tells followers that a turn's log has grown. It is called outside of
	// replay only, must not block, and nothing depends on it.
	Hint func(turnID string, n int)
}

// Thread is the workflow of one conversation. It runs one turn at a time, in
// the order in which submits were accepted; a superseding submit ends the turn
// before it first. Idle for IdleTimeout it completes; the next submit begins
// its next run.
func (w *Threads) Thread(ctx workflow.Context, in ThreadInput) error {
	t := &thread{ThreadInput: in, hint: w.Hint}
	if err := t.setup(ctx); err != nil {
		return err
	}
	return t.run(ctx)
}

type thread struct {
	ThreadInput
	hint    func(string, int)
	turn    *turn // the open one
	last    *turn // the one settled before, for followers that are a step behind
	resumes workflow.ReceiveChannel
	cancels workflow.ReceiveChannel
	idle    workflow.Future // the timer of idleness; it runs on through turns
	rested  time.Time       // end of the last turn
}

func (t *thread) setup(ctx workflow.Context) error {
	if t.Carried.Open != nil {
		t.turn = t.restore(*t.Carried.Open)
	}
	t.resumes = workflow.GetSignalChannel(ctx, SignalResume)
	t.cancels = workflow.GetSignalChannel(ctx, SignalCancel)
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
	return nil
}

func (t *thread) run(ctx workflow.Context) error {
	for {
		if t.turn == nil {
			submit, ok, err := t.next(ctx)
			if err != nil {
				return err
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
			t.turn = t.begin(ctx, *submit)
		}
		if t.turn.run(ctx) == errContinue {
			return t.continueAsNew(ctx)
		}
		t.last, t.turn, t.Carried.Undone = t.turn, nil, ""
		if t.last.Stopped == chat.RolledBack {
			t.Carried.Undone = t.last.TurnID
		}
		if ctx.Err() != nil { // the workflow itself was cancelled, from a shell
			return ctx.Err()
		}
	}
}

// next waits for a submit. ok is false when the thread was idle for too long; a
// nil submit means that it is time to continue as new.
func (t *thread) next(ctx workflow.Context) (_ *SubmitRequest, ok bool, _ error) {
	waiting := func() bool { return len(t.Carried.Queue) > 0 || t.full(ctx) }
	if !waiting() {
		t.show(ctx, statusIdle)
		t.rested = workflow.Now(ctx)
	}
	for !waiting() {
		if t.idle == nil {
			t.idle = workflow.NewTimer(ctx, t.IdleTimeout-workflow.Now(ctx).Sub(t.rested))
		}
		if err := workflow.Await(ctx, func() bool { return waiting() || t.idle.IsReady() }); err != nil {
			return nil, false, err
		}
		if !t.idle.IsReady() {
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
	if err := workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) }); err != nil {
		return false
	}
	t.drain(ctx)
	return len(t.Carried.Queue) == 0
}

// full reports whether the history has grown enough to continue as new.
func (t *thread) full(ctx workflow.Context) bool {
	info := workflow.GetInfo(ctx)
	if t.ContinueAfter > 0 {
		return info.GetCurrentHistoryLength() >= t.ContinueAfter
	}
	return info.GetContinueAsNewSuggested()
}

// continueAsNew hands everything over to the next run. After the drain nothing
// may block, or a signal could be lost.
func (t *thread) continueAsNew(ctx workflow.Context) error {
	if err := workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) }); err != nil {
		return err
	}
	t.drain(ctx)
	next := t.ThreadInput
	next.Carried.Open = nil
	if t.turn != nil {
		open := t.turn.openTurn
		next.Carried.Open = &open
	}
	return workflow.NewContinueAsNewError(ctx, ThreadType, next)
}

// listen takes signals as they come.
func (t *thread) listen(ctx workflow.Context) {
	s := workflow.NewSelector(ctx)
	s.AddReceive(t.cancels, func(c workflow.ReceiveChannel, _ bool) {
		var v chat.Cancel
		c.Receive(ctx, &v)
		t.cancel(ctx, v)
	})
	s.AddReceive(t.resumes, func(c workflow.ReceiveChannel, _ bool) {
		var v chat.ResumeValue
		c.Receive(ctx, &v)
		t.signalled(ctx, v)
	})
	for ctx.Err() == nil {
		s.Select(ctx)
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
		var v chat.ResumeValue
		if !t.resumes.ReceiveAsync(&v) {
			break
		}
		t.signalled(ctx, v)
	}
}

// mayReject refuses a submit with on_busy "reject" while a turn is open. It is
// the only decision a validator takes: a rejection leaves no event.
func (t *thread) mayReject(_ workflow.Context, s SubmitRequest) error {
	if s.OnBusy != chat.Reject || t.turn == nil || t.knows(s.TurnID) {
		return nil
	}
	return temporal.NewApplicationError("a turn is running", chat.CodeTurnRunning, t.turn.TurnID)
}

// submit takes a turn into the queue. It never blocks, runs no activity, and
// taking the same turn twice changes nothing.
func (t *thread) submit(ctx workflow.Context, s SubmitRequest) (SubmitReply, error) {
	if t.knows(s.TurnID) {
		return SubmitReply{chat.TurnAccepted}, nil
	}
	t.Carried.Seen = keepLast(append(t.Carried.Seen, s.TurnID), maxSeen)
	t.Carried.Queue = append(t.Carried.Queue, s)
	if why := s.ends(); why != "" && t.turn != nil {
		t.turn.stop(ctx, why)
	}
	return SubmitReply{chat.TurnAccepted}, nil
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

func (t *thread) knows(turnID string) bool { return slices.Contains(t.Carried.Seen, turnID) }

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
			t.Carried.Queue[i].Cancelled = true
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
	t.turn.answered(ctx, r.Value)
	return nil
}

func (t *thread) signalled(ctx workflow.Context, v chat.ResumeValue) {
	if err := t.mayResume(ctx, ResumeRequest{Value: v}); err != nil {
		if t.turn != nil {
			t.turn.notice(ctx, chat.NoticeResumeIgnored)
		}
		return
	}
	t.turn.answered(ctx, v)
}

func (t *thread) progress(turnID string, after int) (chat.Progress, error) {
	for _, u := range []*turn{t.turn, t.last} {
		if u != nil && u.TurnID == turnID {
			return u.progress(after), nil
		}
	}
	// A turn that waits is known, and has no events yet.
	waits := slices.ContainsFunc(t.Carried.Queue, func(s SubmitRequest) bool { return s.TurnID == turnID })
	return chat.Progress{Known: waits}, nil
}

func (t *thread) state() (chat.ThreadState, error) {
	s := chat.ThreadState{Owner: t.Owner}
	if t.turn != nil {
		s.TurnID, s.Status, s.Pending = t.turn.TurnID, chat.TurnRunning, t.turn.Pending
		if t.turn.Pending != nil {
			s.Status = chat.TurnInterrupted
		}
	}
	for _, q := range t.Carried.Queue {
		s.Queue = append(s.Queue, q.TurnID)
	}
	return s, nil
}

// show puts the thread's status where the Web UI lists and filters by it.
func (t *thread) show(ctx workflow.Context, status string) {
	_ = workflow.UpsertTypedSearchAttributes(ctx, StatusAttribute.ValueSet(status)) // fails for an empty list only
}

func keepLast[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }
