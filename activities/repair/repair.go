// Package repair makes the database and Temporal consistent again after one of them was
// lost or restored from a backup, or a workflow was terminated. It settles turns without a
// workflow, closes questions without an open row, and restarts ingests and imports.
package repair

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/clock"
)

// Threads queries Temporal for a check. After an error nothing is changed.
type Threads interface {
	// Run returns the newest run of the thread's workflow.
	Run(ctx context.Context, threadID string) (chat.WorkflowRun, error)
	// State returns a summary of the thread; it is zero when no workflow of it is open.
	State(ctx context.Context, threadID string) (chat.ThreadState, error)
	// Progress returns the entries of the turn's log after the given number; Known is false
	// when no open workflow has the turn.
	Progress(ctx context.Context, threadID, turnID string, after int) (chat.Progress, error)
	// Cancel ends a turn; open is false when no workflow of the thread is open.
	Cancel(ctx context.Context, threadID string, c chat.Cancel) (open bool, _ error)
	// EndRun ends one run of the thread's workflow.
	EndRun(ctx context.Context, threadID, run, reason string) error
	// Idle reports whether workers poll for workflow tasks and none waits for them.
	Idle(ctx context.Context) (bool, error)
	// ChangeOwner gives an open thread to another owner. It returns a *chat.RefusedError with
	// CodeTurnRunning while a turn runs.
	ChangeOwner(ctx context.Context, threadID, owner string) error
}

// Checker compares rows with workflows and repairs differences. Safe for concurrent use,
// also in several processes: settling is idempotent.
type Checker struct {
	Store   db.Store
	Threads Threads
	Log     *slog.Logger
	DryRun  bool // report findings without repairing them
	// Stop cancels the running activity of a turn; nil: activities cannot be reached.
	Stop func(turnID string)
	// Settled is called once for each turn that was settled (Activities.OnSettled); may be nil.
	Settled func(context.Context, activities.Ending)

	mu sync.Mutex
	// verified holds, by thread, the fingerprints of those whose rows and workflow were
	// consistent. While neither changes, the workflow is not queried. Both are hashes.
	verified map[uint64]uint64
	// sightings say since when this process has seen a state that may be temporary, by thread
	// or turn.
	sightings map[string]sighting
	limit     int // maxVerified; tests lower it
}

type sighting struct {
	state string
	since clock.Reading
}

// maxSightings limits the memory of a process. When they are dropped, repairs only wait longer.
const maxSightings = 10_000

// seenFor returns for how long this process has seen the same state of a thread or turn; zero
// the first time. It reads one clock only: those of other machines may differ.
func (c *Checker) seenFor(id, state string) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := clock.Read()
	seen, known := c.sightings[id]
	if known && seen.state == state {
		_, span := now.Since(seen.since)
		return span
	}
	if c.sightings == nil || len(c.sightings) >= maxSightings {
		c.sightings = map[string]sighting{}
	}
	c.sightings[id] = sighting{state, now}
	return 0
}

func (c *Checker) forgetSighting(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.sightings, id)
}

// maxVerified limits the memory of a process, to about 40 MB.
const maxVerified = 1_000_000

var seed = maphash.MakeSeed()

// Finding is a difference between the database and Temporal.
type Finding struct {
	Owner, ThreadID, TurnID, DocumentID, ImportKey string
	Problem                                        string
	Repair                                         string // the repair that was made, or would be made
	Later                                          bool   // the row is too recent to be certain; nothing was changed
}

// CheckThread checks one conversation. It returns its findings even with an error.
func (c *Checker) CheckThread(ctx context.Context, owner, threadID string) ([]Finding, error) {
	k := check{Checker: c, owner: owner, thread: threadID}
	err := k.run(ctx)
	return k.found, err
}

// CheckOthers is CheckThread without the turn of a message that is being retried: if its
// thread does not have it, it runs again.
func (c *Checker) CheckOthers(ctx context.Context, owner, threadID, clientTurnID string) ([]Finding, error) {
	k := check{Checker: c, owner: owner, thread: threadID, sent: clientTurnID}
	err := k.run(ctx)
	return k.found, err
}

// CheckCancelled is CheckThread after a request to stop a turn: if no workflow has the turn,
// it ends as cancelled, however recent it is.
func (c *Checker) CheckCancelled(ctx context.Context, t chat.Turn, reason chat.CancelReason) ([]Finding, error) {
	reason = cmp.Or(reason, chat.UserCancelled)
	k := check{Checker: c, owner: t.Owner, thread: t.ThreadID, stopped: t.ID, reason: reason}
	err := k.run(ctx)
	return k.found, err
}

// check is one check of one thread.
type check struct {
	*Checker
	owner, thread string
	stopped       string // the turn that is to be stopped
	reason        chat.CancelReason
	sent          string // client_turn_id of a message that is being retried
	found         []Finding
	recheck       bool // the result may change later although rows and workflow do not
}

func (k *check) run(ctx context.Context) error {
	// Read the rows first: a turn with an open row had an open workflow by then.
	rows, err := k.Store.OpenTurns(ctx, k.owner, k.thread)
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return err
	}
	rows = slices.DeleteFunc(rows, func(row chat.Turn) bool { return k.sent != "" && row.ClientTurnID == k.sent })
	run, err := k.Threads.Run(ctx, k.thread)
	if err != nil {
		return err
	}
	if len(rows) > 0 {
		if run, err = k.endLost(ctx, "lost "+k.thread, k.thread, run, lostAfter); err != nil {
			return err
		}
	}
	if run.Status != chat.RunOpen {
		k.forget()
		k.collect(ctx, run, rows)
		for _, row := range rows {
			problem := fmt.Sprintf("%s, but the workflow is %s", row.Status, run.Status)
			// Temporal can lose the workflow task in which a turn began. Then the workflow
			// completes without the turn, and the submit is retried.
			if run.Status == chat.RunCompleted && row.Status == chat.TurnRunning && k.maybeSubmitted(row, run.ID, problem) {
				continue
			}
			if err := k.settle(ctx, row, problem); err != nil {
				return err
			}
		}
		return nil
	}
	seen := fingerprint(run, rows)
	if k.stopped == "" && k.isVerified(seen) {
		return nil
	}
	if err := k.compare(ctx, run, rows); err != nil {
		return err
	}
	if len(k.found) == 0 && !k.recheck {
		k.setVerified(seen)
	}
	return nil
}

// errUnanswered means that the workflow is open and did not answer a query. Its worker may
// be down, or its code may be unable to replay the history.
var errUnanswered = errors.New("the workflow did not answer")

// ErrForeign means that the open workflow of a thread works for another user than its rows
// have: a claim moves them one after the other. If that lasts, the workflow is given to the
// owner of the rows.
var ErrForeign = errors.New("the workflow belongs to another user")

func unanswered(err error) error { return fmt.Errorf("%w: %w", errUnanswered, err) }

// collectTimeout is how long an activity may take to save the text in its memory.
// collectWindow is how long after the end of its workflow, which Temporal's clock has recorded,
// an activity may still run.
const (
	collectTimeout = 400 * time.Millisecond
	collectWindow  = 10*time.Second + activities.MaxSkew
)

// collect stops the activities of a workflow that was closed recently, so that they save
// their text. Otherwise they would run until their next heartbeat, and the newest text is in
// no draft yet.
func (k *check) collect(ctx context.Context, run chat.WorkflowRun, rows []chat.Turn) {
	works := func(row chat.Turn) bool { return row.Status == chat.TurnRunning }
	if k.DryRun || k.Stop == nil || time.Since(run.Closed) > collectWindow || !slices.ContainsFunc(rows, works) {
		return
	}
	for _, row := range rows {
		if works(row) {
			k.Stop(row.ID)
		}
	}
	select {
	case <-ctx.Done():
	case <-time.After(collectTimeout):
	}
}

// compare checks an open workflow's turns against the open rows.
func (k *check) compare(ctx context.Context, run chat.WorkflowRun, rows []chat.Turn) error {
	state, err := k.Threads.State(ctx, k.thread)
	if err != nil {
		return unanswered(err)
	}
	switch state.Owner {
	case k.owner:
	case "": // it has just closed
		k.recheck = true
		return nil
	default:
		if len(rows) == 0 {
			return ErrForeign
		}
		return k.giveBack(ctx, k.owner, state.Owner)
	}
	for _, row := range rows {
		_, has := state.Names[row.ID]
		switch {
		case has && row.ID == state.TurnID && row.Status != state.Status:
			err = k.mark(ctx, row, state)
		case has:
		default:
			err = k.checkMissingTurn(ctx, run, row)
		}
		if err != nil {
			return err
		}
	}
	for id := range state.Names {
		if slices.ContainsFunc(rows, func(row chat.Turn) bool { return row.ID == id }) {
			continue
		}
		if err := k.checkUnlistedTurn(ctx, id, state); err != nil {
			return err
		}
	}
	k.forgetSighting(k.thread)
	return nil
}

// stuckAfter is how long a workflow task waits for a worker before EndStuck takes it for lost.
const stuckAfter = 20 * time.Second

// EndStuck ends the run of a thread that has not accepted a message in time, if Temporal has lost
// its workflow task: no worker gets it, and the run would never accept a message. The run has no
// turn, and the next message starts a new one. Only a message that it had accepted during an outage
// of the database, and could not save, is lost with it.
func (c *Checker) EndStuck(ctx context.Context, owner, threadID string) error {
	key := "stuck " + threadID
	open, err := c.Store.OpenTurns(ctx, owner, threadID)
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return err
	}
	run, err := c.Threads.Run(ctx, threadID)
	if err != nil {
		return err
	}
	if len(open) > 0 {
		c.forgetSighting(key)
		return nil
	}
	_, err = c.endLost(ctx, key, threadID, run, stuckAfter)
	return err
}

// lostAfter is how long a workflow task of a thread with an open turn waits before it counts as lost.
const lostAfter = time.Minute

// hasLostTask reports whether Temporal has lost the workflow task of a run. It is sure of that
// when workers are idle, and the same task, which no worker ever had, has waited for so long: one
// that fails, because no worker can replay the thread, or for which no worker is there, may succeed
// later.
func (c *Checker) hasLostTask(ctx context.Context, key string, run chat.WorkflowRun, after time.Duration) (bool, error) {
	if run.Status != chat.RunOpen || !run.Waits || run.Tries > 1 {
		c.forgetSighting(key)
		return false, nil
	}
	if c.seenFor(key, fmt.Sprint(run.ID, run.Length)) < after {
		return false, nil
	}
	return c.Threads.Idle(ctx)
}

// endLost ends a run whose workflow task has been lost for so long. It returns the run as it is now.
func (c *Checker) endLost(ctx context.Context, key, threadID string, run chat.WorkflowRun, after time.Duration) (chat.WorkflowRun, error) {
	if lost, err := c.hasLostTask(ctx, key, run, after); err != nil || !lost || c.DryRun {
		return run, err
	}
	if err := c.Threads.EndRun(ctx, threadID, run.ID, "its workflow task is lost"); err != nil {
		return run, err
	}
	c.Log.Warn("ended the run of a thread whose workflow task is lost", "thread", threadID, "workflow_run", run.ID)
	c.forgetSighting(key)
	return chat.WorkflowRun{Status: chat.RunTerminated, ID: run.ID, Closed: time.Now()}, nil
}

// submitRetries is longer than a submit is retried.
const submitRetries = 30 * time.Second

// maybeSubmitted reports whether the submit of a turn that the workflow does not have may
// still be in flight: the row is recent, and this process has not seen the difference for
// long enough. It notes that in the findings. Only a row that is older than clocks may differ
// shows its age.
func (k *check) maybeSubmitted(row chat.Turn, run, problem string) bool {
	if row.ID == k.stopped || time.Since(row.CreatedAt) > activities.LostAfter+activities.MaxSkew || k.seenFor(row.ID, run) > submitRetries {
		return false
	}
	k.recheck = true
	k.found = append(k.found, k.finding(row.ID, problem, "left for the next check: it may be about to be accepted", true))
	return true
}

// giveBack gives the workflow to the owner of the thread's rows when it has worked for another
// one for a while: a claim was not completed. The person's next claim moves both.
func (k *check) giveBack(ctx context.Context, rows, workflow string) error {
	if k.seenFor(k.thread, workflow) < activities.LostAfter {
		return ErrForeign
	}
	problem := "the workflow works for another owner than the rows have"
	if k.DryRun {
		k.found = append(k.found, k.finding("", problem, "give it to the owner of the rows", false))
		return nil
	}
	if err := k.Threads.ChangeOwner(ctx, k.thread, rows); err != nil {
		return fmt.Errorf("%w: %w", ErrForeign, err)
	}
	k.forgetSighting(k.thread)
	k.repaired("", problem, "given to the owner of the rows")
	return nil
}

// checkMissingTurn handles an open row that the open workflow's state does not list. The
// turn is being settled, was just settled, is about to be accepted, or is lost.
func (k *check) checkMissingTurn(ctx context.Context, run chat.WorkflowRun, row chat.Turn) error {
	p, err := k.Threads.Progress(ctx, k.thread, row.ID, math.MaxInt32)
	if err != nil {
		return unanswered(err)
	}
	if p.Known && !p.Over { // it was stopped while it was waiting, and is being settled
		k.recheck = true
		return nil
	}
	problem := fmt.Sprintf("%s, but the workflow does not have it", row.Status)
	if p.Known { // the workflow has settled it: an older backup of the database was restored
		problem = fmt.Sprintf("%s, but the workflow has ended it", row.Status)
	} else if k.maybeSubmitted(row, run.ID, problem) {
		return nil
	}
	return k.settle(ctx, row, problem)
}

// settle ends a turn that no workflow has, unless it has ended after its row was read.
func (k *check) settle(ctx context.Context, row chat.Turn, problem string) error {
	k.recheck = true
	row, err := k.Store.Turn(ctx, k.owner, row.ID)
	if errors.Is(err, db.ErrNotFound) { // deleted with its conversation
		return nil
	}
	if err != nil || row.Status.Settled() || row.Status == chat.TurnNew {
		return err
	}
	if k.DryRun {
		k.found = append(k.found, k.finding(row.ID, problem, "settle it", false))
		return nil
	}
	reason := chat.CancelReason("")
	if row.ID == k.stopped {
		reason = k.reason
	}
	end, err := (&activities.Activities{Kit: &activities.Kit{Store: k.Store, Log: k.Log}, OnSettled: k.Settled}).SettleLost(ctx, row, reason)
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	k.forgetSighting(row.ID)
	k.repaired(row.ID, problem, "settled as "+outcome(end))
	return nil
}

func outcome(end chat.Event) string {
	return strings.TrimSpace(string(end.Type) + " " + end.Code + string(end.Reason))
}

// mark corrects a row's status if the workflow, for example restored from a backup, waits
// for a person and the row does not say so, or the reverse. A running workflow changes both
// one after the other, so the state is read again after the row.
func (k *check) mark(ctx context.Context, row chat.Turn, state chat.ThreadState) error {
	k.recheck = true
	now, err := k.Store.Turn(ctx, k.owner, row.ID)
	if err != nil || now.Status != row.Status {
		return db.IgnoreNotFound(err)
	}
	again, err := k.Threads.State(ctx, k.thread)
	if err != nil {
		return unanswered(err)
	}
	if again.TurnID != state.TurnID || again.Status != state.Status || questionID(again) != questionID(state) {
		return nil
	}
	return k.setStatus(ctx, row.ID, fmt.Sprintf("%s, but in the workflow it is %s", row.Status, state.Status), state.Status, state.Pending)
}

func (k *check) setStatus(ctx context.Context, turnID, problem string, status chat.TurnStatus, asks *chat.Question) error {
	k.recheck = true
	if k.DryRun {
		k.found = append(k.found, k.finding(turnID, problem, "mark it as "+string(status), false))
		return nil
	}
	mark := func() error { return k.Store.MarkTurn(ctx, k.owner, turnID, status, "") }
	if asks != nil {
		mark = func() error { return k.Store.MarkAsking(ctx, k.owner, turnID, asks.Type, "") }
	}
	if err := mark(); err != nil {
		return db.IgnoreNotFound(err)
	}
	repair := "marked as " + string(status)
	k.found = append(k.found, k.finding(turnID, problem, repair, false))
	k.Log.Info("corrected the status of a turn", "thread", k.thread, "turn", turnID, "problem", problem, "repair", repair)
	return nil
}

// checkUnlistedTurn handles a turn of the workflow that has no open row. A running turn fails
// by itself at its first write. A question would stay open, invisible, and block the
// messages behind it.
func (k *check) checkUnlistedTurn(ctx context.Context, turnID string, state chat.ThreadState) error {
	status, asks := chat.TurnAccepted, (*chat.Question)(nil)
	if turnID == state.TurnID {
		status, asks = state.Status, state.Pending
	}
	row, err := k.Store.Turn(ctx, k.owner, turnID)
	problem := "its question is open in the workflow, but the database has ended it"
	switch {
	case errors.Is(err, db.ErrNotFound): // or it was accepted without the database and is not saved yet
		owner, err := k.Store.OwnerOfTurn(ctx, turnID)
		if err == nil && owner != k.owner {
			return k.giveBack(ctx, owner, k.owner)
		}
		if err != nil && !errors.Is(err, db.ErrNotFound) {
			return err
		}
		problem = "its question is open in the workflow, but the database does not have it"
	case err != nil:
		return err
	case row.Status == chat.TurnNew && time.Since(row.CreatedAt) >= activities.LostAfter:
		return k.setStatus(ctx, turnID, "not accepted, but the workflow has it", status, asks)
	case !row.Status.Settled(): // accepted after the rows were read, or about to be marked
		k.recheck = true
		return nil
	}
	k.recheck = true
	if turnID != state.TurnID || state.Pending == nil {
		return nil
	}
	if k.DryRun {
		k.found = append(k.found, k.finding(turnID, problem, "close the question", false))
		return nil
	}
	if _, err := k.Threads.Cancel(ctx, k.thread, chat.Cancel{TurnID: turnID, Reason: chat.UserCancelled, Channel: chat.ByServer}); err != nil {
		return err
	}
	k.repaired(turnID, problem, "question closed")
	return nil
}

func (k *check) finding(turnID, problem, repair string, later bool) Finding {
	return Finding{Owner: k.owner, ThreadID: k.thread, TurnID: turnID, Problem: problem, Repair: repair, Later: later}
}

func (k *check) repaired(turnID, problem, repair string) {
	k.found = append(k.found, k.finding(turnID, problem, repair, false))
	k.Log.Warn("repaired a turn", "thread", k.thread, "turn", turnID, "problem", problem, "repair", repair)
}

func questionID(s chat.ThreadState) string {
	if s.Pending == nil {
		return ""
	}
	return s.Pending.ID
}

// fingerprint identifies the current state of a thread's rows and workflow.
func fingerprint(run chat.WorkflowRun, rows []chat.Turn) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	fmt.Fprintf(&h, "%s %d", run.ID, run.Length)
	for _, row := range rows {
		fmt.Fprintf(&h, " %s %s", row.ID, row.Status)
	}
	return h.Sum64()
}

func (k *check) key() uint64 { return maphash.String(seed, k.thread) }

func (k *check) isVerified(seen uint64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	verified, known := k.verified[k.key()]
	return known && verified == seen
}

// setVerified remembers a thread. When there are too many, one of the others is forgotten.
func (k *check) setVerified(seen uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.verified == nil {
		k.verified = map[uint64]uint64{}
	}
	if _, known := k.verified[k.key()]; !known && len(k.verified) >= cmp.Or(k.limit, maxVerified) {
		for other := range k.verified {
			delete(k.verified, other)
			break
		}
	}
	k.verified[k.key()] = seen
}

func (k *check) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.verified, k.key())
	delete(k.sightings, k.thread)
}
