package workflows

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
)

// A stop can arrive before its turn, while the turn waits, runs or ends, and twice. So
// it is remembered in several places:
//
//	where                             why                                                  for how long
//	cancel row (db.Store.Cancel)      a cancel can overtake its submit; its turn may be    a day
//	                                  one that no workflow has (SettleLost), or that is
//	                                  not saved yet (Kit.save)
//	SubmitRequest.Cancelled           the API found that row when it stored the message    until the turn begins
//	carried.Early                     a cancel came before its submit                      the last maxEarly of a thread
//	SubmitRequest.Stopped             the turn was cancelled while it waited in the queue  until it is settled
//	thread.withdrawn                  such a turn is being settled; no other may begin     until it is settled
//	openTurn.Stopped                  the first reason counts, also in the next run        until the turn is settled
//	turn.settling                     the end is decided; a stop comes too late            until the turn is settled
//	turn.handInUntil, .stoppedCall    stopped calls may still return a partial answer      stopTimeout; while settling fails, longer
//	carried.Undone                    the next turn takes the place of one rolled back     until the next turn ends
//	bus.announcements                 a stop can be announced before its activity listens  the last 4,096 of a process, at least
//	watch.turnStopped (activities)    other ends of the context lead to another attempt    the attempt
//	Ending.Reason                     history and followers show why the turn ended        with the turn

// earlyCancel is a cancel that came before the submit of its turn.
type earlyCancel struct {
	TurnID  string            `json:"turn"`
	Reason  chat.CancelReason `json:"reason"`
	Channel chat.Channel      `json:"channel,omitempty"`
}

// errStopped unwinds a turn that was stopped while it waited.
var errStopped = errors.New("stopped")

const (
	// How long a stopped turn waits for its streaming activity to return the
	// partial answer. The draft has it anyway.
	stopTimeout = 2 * time.Second
	// The same while the database is unavailable: as long as the activity retries.
	saveTimeout = activities.SaveTimeout + lookupTimeout
	// The same when settling failed for another reason, such as a slow database.
	slowSettleTimeout = 10 * time.Second
	// How long a turn waits for the reason of a stop that its activity received first.
	stopReasonTimeout = 5 * time.Second
)

// cancel stops the turn that it names, whether it runs, waits, or is not submitted
// yet. Without a turn id it stops the open one.
func (t *thread) cancel(ctx workflow.Context, c chat.Cancel) {
	c.Reason = cmp.Or(c.Reason, chat.UserCancelled)
	c.Channel = cmp.Or(c.Channel, chat.BySignal)
	if t.turn != nil && (c.TurnID == "" || c.TurnID == t.turn.TurnID) {
		t.turn.stop(ctx, c.Reason, c.Channel)
		return
	}
	if c.TurnID == "" {
		return
	}
	t.takeBack(c.TurnID)
	for i := range t.Carried.Queue {
		if t.Carried.Queue[i].TurnID == c.TurnID {
			if t.Carried.Queue[i].Stopped == "" {
				t.Carried.Queue[i].Stopped, t.Carried.Queue[i].StoppedBy = c.Reason, c.Channel
			}
			return
		}
	}
	if !t.wasSubmitted(c.TurnID) {
		t.Carried.Early = keepLast(append(t.Carried.Early, earlyCancel{c.TurnID, c.Reason, c.Channel}), maxEarly)
	}
}

// stopReason is the reason with which a submit stops every turn accepted before it;
// "" when it waits for them.
func (s SubmitRequest) stopReason() chat.CancelReason {
	switch s.OnBusy {
	case chat.Supersede:
		return chat.Superseded
	case chat.Rollback:
		return chat.RolledBack
	}
	return ""
}

// stoppedBefore returns why a turn is stopped before it begins, and the channel by which a
// person cancelled it; "" when it is not stopped.
func (t *thread) stoppedBefore(s SubmitRequest) (chat.CancelReason, chat.Channel) {
	if s.Stopped != "" {
		return s.Stopped, s.StoppedBy
	}
	for _, c := range t.Carried.Early {
		if c.TurnID == s.TurnID {
			return c.Reason, c.Channel
		}
	}
	if s.Cancelled {
		return chat.UserCancelled, ""
	}
	for _, later := range t.Carried.Queue {
		if why := later.stopReason(); why != "" {
			return why, ""
		}
	}
	return "", ""
}

// settleWithdrawnTurns settles turns that were stopped in the queue. It does not
// wait for the running turn, which may be asking a person.
func (t *thread) settleWithdrawnTurns(ctx workflow.Context) {
	stopped := func() int {
		return slices.IndexFunc(t.Carried.Queue, func(s SubmitRequest) bool { return s.Stopped != "" })
	}
	for {
		// Its place in the tree comes after that of the running turn.
		err := workflow.Await(ctx, func() bool { return t.turn != nil && t.turn.hasPlace() && t.withdrawn == nil && stopped() >= 0 })
		if err != nil {
			return
		}
		i := stopped()
		t.withdrawn = t.begin(ctx, t.Carried.Queue[i])
		t.Carried.Queue = slices.Delete(t.Carried.Queue, i, i+1)
		t.withdrawn.settleUnstarted(ctx, t.withdrawn.Stopped)
		t.withdrawn = nil
		t.changed.SendAsync(true)
	}
}

// settleUnstarted settles a turn that was stopped in the queue.
func (u *turn) settleUnstarted(ctx workflow.Context, why chat.CancelReason) {
	clean, _ := workflow.NewDisconnectedContext(ctx)
	u.Stopped, u.settling = why, true
	u.log(ctx).Info("turn stopped", "reason", why, "channel", u.StoppedBy)
	if _, err := u.start(clean); err != nil { // settling gives it its place, too
		u.log(ctx).Warn("beginning the stopped turn failed; settling it anyway", "error", err)
	}
	u.settle(clean, activities.Ending{TurnRef: u.TurnRef, Status: chat.TurnCancelled, Reason: why, Channel: u.StoppedBy, Hidden: why == chat.RolledBack})
}

// stop cancels the turn's running step. The first reason counts. It does nothing
// to a turn that is being settled. by is the channel of a person's cancel.
func (u *turn) stop(ctx workflow.Context, why chat.CancelReason, by chat.Channel) {
	if u.Stopped != "" || u.settling {
		return
	}
	u.Stopped, u.StoppedBy = why, by
	if u.abort != nil {
		u.abort()
	}
	if u.calling {
		clean, _ := workflow.NewDisconnectedContext(ctx)
		workflow.Go(clean, u.announceStop)
	}
}

// announceStop sends the stop to the running activity over the bus. Without it the
// activity learns of the stop by its next heartbeat, up to seconds later.
func (u *turn) announceStop(ctx workflow.Context) {
	if _, err := runOnce[any](ctx, "Announce the stop", acts.AnnounceStop, u.TurnRef); err != nil {
		u.log(ctx).Warn("announcing the stop failed; the activity stops at its next heartbeat", "error", err)
	}
}

// awaitPartial waits for what a stopped call has made so far, at most stopTimeout. All
// calls of the turn share that time.
func (u *turn) awaitPartial(ctx workflow.Context, call workflow.Future, result any) error {
	clean, _ := workflow.NewDisconnectedContext(ctx)
	if u.handInUntil.IsZero() {
		u.handInUntil = workflow.Now(ctx).Add(stopTimeout)
	}
	ready, _ := workflow.AwaitWithTimeout(clean, max(0, u.handInUntil.Sub(workflow.Now(ctx))), call.IsReady)
	u.acceptRecorded = true
	if !ready {
		u.stoppedCall = call
	} else if err := call.Get(clean, result); err != nil {
		return err
	}
	return errStopped
}

// awaitStoppedCall waits for a stopped call that has not returned yet, when settling
// failed with err: the partial answer may only be in the memory of its activity, which
// saves it before it returns.
func (u *turn) awaitStoppedCall(ctx workflow.Context, err error) {
	if u.stoppedCall == nil {
		return
	}
	timeout := slowSettleTimeout
	if isType(err, chat.CodeDatabase) {
		timeout = saveTimeout
	}
	_, _ = workflow.AwaitWithTimeout(ctx, timeout, u.stoppedCall.IsReady) // an error means the same as the timeout
}

// stoppedByActivity reports whether an activity ended because its turn was stopped.
func stoppedByActivity(err error) bool {
	return err == errStopped || isType(err, activities.ErrTypeStopped)
}

// awaitStopReason waits for the cancel or submit that stopped the turn. The
// activity can receive a stop before the workflow: Temporal died before it had
// recorded the workflow task that announced the stop, and delivers the cancel or
// submit again. If it never comes, the turn is stopped all the same, because no
// activity works for it any more.
func (u *turn) awaitStopReason(ctx workflow.Context) {
	// An error means that the workflow itself was cancelled: that is a reason, too.
	_, _ = workflow.AwaitWithTimeout(ctx, stopReasonTimeout, func() bool { return u.Stopped != "" })
	u.Stopped = cmp.Or(u.Stopped, chat.UserCancelled)
}
