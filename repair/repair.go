// Package repair makes the database and Temporal agree again after one of them
// was lost, restored from a copy, or had a workflow terminated. It settles turns
// that no workflow has, ends questions that no row knows, and restarts ingests.
package repair

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// Threads is what a check asks of Temporal. An error means that the answer is
// not known; then nothing is changed.
type Threads interface {
	// Run is the newest run of the thread's workflow.
	Run(ctx context.Context, threadID string) (chat.WorkflowRun, error)
	// State is the thread at a glance; zero when no workflow of it is open.
	State(ctx context.Context, threadID string) (chat.ThreadState, error)
	// Progress is the turn's log after n; Known is false when no open workflow has
	// the turn.
	Progress(ctx context.Context, threadID, turnID string, after int) (chat.Progress, error)
	// Cancel ends a turn; open is false when no workflow of the thread is open.
	Cancel(ctx context.Context, owner, threadID string, c chat.Cancel) (open bool, _ error)
}

// Checker compares rows with workflows and repairs what does not agree. Safe for
// concurrent use, in any number of processes at once: settling is idempotent.
type Checker struct {
	Store   db.Store
	Threads Threads
	Log     *slog.Logger
	DryRun  bool // find, and change nothing
	// Stop ends the activity that works for a turn; nil: none can be reached.
	Stop func(turnID string)

	mu sync.Mutex
	// verified are threads whose rows and workflow agreed, with what both were
	// then. While neither changes, the workflow need not be asked.
	verified map[string]string
}

// maxVerified bounds the memory of a process.
const maxVerified = 10_000

// Finding is something that did not agree.
type Finding struct {
	Owner, ThreadID, TurnID, DocumentID string
	Problem                             string
	Repair                              string // what was done about it, or would be
	Later                               bool   // it is too young to be sure of; nothing was done
}

// Thread checks one conversation and returns what it repaired, also when there
// is an error.
func (c *Checker) Thread(ctx context.Context, owner, threadID string) ([]Finding, error) {
	k := check{Checker: c, owner: owner, thread: threadID}
	err := k.run(ctx)
	return k.found, err
}

// Others is Thread, but for the turn of a message that is just sent again: it
// runs again where its thread does not have it.
func (c *Checker) Others(ctx context.Context, owner, threadID, clientTurnID string) ([]Finding, error) {
	k := check{Checker: c, owner: owner, thread: threadID, sent: clientTurnID}
	err := k.run(ctx)
	return k.found, err
}

// Cancelled is Thread when somebody has asked to stop a turn: if no workflow has the
// turn it ends as cancelled, however young it is.
func (c *Checker) Cancelled(ctx context.Context, t chat.Turn, reason chat.CancelReason) ([]Finding, error) {
	if reason == "" {
		reason = chat.UserCancelled
	}
	k := check{Checker: c, owner: t.Owner, thread: t.ThreadID, stopped: t.ID, reason: reason}
	err := k.run(ctx)
	return k.found, err
}

// check is one look at one thread.
type check struct {
	*Checker
	owner, thread string
	stopped       string // the turn that somebody asked to stop
	reason        chat.CancelReason
	sent          string // client_turn_id of a message that is just sent again
	found         []Finding
	unsure        bool // something may be different at the next look though nothing changes
}

func (k *check) run(ctx context.Context) error {
	// The rows first: a turn that is open in a row had an open workflow by then.
	rows, err := k.Store.OpenTurns(ctx, k.owner, k.thread)
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return err
	}
	rows = slices.DeleteFunc(rows, func(row chat.Turn) bool { return k.sent != "" && row.ClientTurnID == k.sent })
	run, err := k.Threads.Run(ctx, k.thread)
	if err != nil {
		return err
	}
	if run.Status != chat.RunOpen {
		k.collect(ctx, run, rows)
		for _, row := range rows {
			if err := k.settle(ctx, row, fmt.Sprintf("%s, but the workflow is %s", row.Status, run.Status)); err != nil {
				return err
			}
		}
		return nil
	}
	seen := fingerprint(run, rows)
	if k.stopped == "" && k.isVerified(seen) {
		return nil
	}
	if err := k.compare(ctx, rows); err != nil {
		return err
	}
	if len(k.found) == 0 && !k.unsure {
		k.setVerified(seen)
	}
	return nil
}

// errUnanswered: the workflow is open and did not answer a query. Its worker may
// be down, or its code may not fit its history.
var errUnanswered = errors.New("the workflow did not answer")

// errForeign: the ids of two users' threads are the same; neither is touched.
var errForeign = errors.New("the workflow belongs to another user")

func unanswered(err error) error { return fmt.Errorf("%w: %w", errUnanswered, err) }

// collectTime is how long an activity may take to save the text that it has in
// memory, and collectFor how long after the end of its workflow one may still run.
const (
	collectTime = 400 * time.Millisecond
	collectFor  = 10 * time.Second
)

// collect ends the activities of a workflow that was closed just now. They would
// go on until their next heartbeat, and what they have written is in no draft yet.
func (k *check) collect(ctx context.Context, run chat.WorkflowRun, rows []chat.Turn) {
	works := func(row chat.Turn) bool { return row.Status == chat.TurnRunning }
	if k.DryRun || k.Stop == nil || time.Since(run.Closed) > collectFor || !slices.ContainsFunc(rows, works) {
		return
	}
	for _, row := range rows {
		if works(row) {
			k.Stop(row.ID)
		}
	}
	select {
	case <-ctx.Done():
	case <-time.After(collectTime):
	}
}

// compare checks an open workflow's turns against the open rows.
func (k *check) compare(ctx context.Context, rows []chat.Turn) error {
	state, err := k.Threads.State(ctx, k.thread)
	if err != nil {
		return unanswered(err)
	}
	switch state.Owner {
	case k.owner:
	case "": // it closed just now
		k.unsure = true
		return nil
	default:
		return errForeign
	}
	for _, row := range rows {
		_, has := state.Names[row.ID]
		switch {
		case has && row.ID == state.TurnID && row.Status != state.Status:
			err = k.mark(ctx, row, state)
		case has:
		default:
			err = k.absent(ctx, row)
		}
		if err != nil {
			return err
		}
	}
	for id := range state.Names {
		if slices.ContainsFunc(rows, func(row chat.Turn) bool { return row.ID == id }) {
			continue
		}
		if err := k.unlisted(ctx, id, state); err != nil {
			return err
		}
	}
	return nil
}

// absent handles an open row that the open workflow's state does not name. The
// turn is being settled, was just settled, is about to be accepted, or is lost.
func (k *check) absent(ctx context.Context, row chat.Turn) error {
	p, err := k.Threads.Progress(ctx, k.thread, row.ID, math.MaxInt32)
	if err != nil {
		return unanswered(err)
	}
	if p.Known && !p.Over { // it was stopped while it waited, and is being settled
		k.unsure = true
		return nil
	}
	problem := fmt.Sprintf("%s, but the workflow does not have it", row.Status)
	if p.Known { // the workflow settled it: a copy of the database from before was restored
		problem = fmt.Sprintf("%s, but the workflow has ended it", row.Status)
	} else if row.ID != k.stopped && time.Since(row.CreatedAt) < activities.LostAfter {
		// Its submit may be under way.
		k.unsure = true
		k.found = append(k.found, k.finding(row.ID, problem, "left for the next check: it was sent less than a minute ago", true))
		return nil
	}
	return k.settle(ctx, row, problem)
}

// settle ends a turn that no workflow has, unless it has ended since its row was
// read.
func (k *check) settle(ctx context.Context, row chat.Turn, problem string) error {
	k.unsure = true
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
	end, err := (&activities.Activities{Store: k.Store, Log: k.Log}).SettleLost(ctx, row, reason)
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	k.repaired(row.ID, problem, "settled as "+outcome(end))
	return nil
}

func outcome(end chat.Event) string {
	return strings.TrimSpace(string(end.Type) + " " + end.Code + string(end.Reason))
}

// mark corrects a row's status where the workflow, restored from an older copy,
// waits for a person again, or no longer. While a workflow works both change, one
// after the other: so the state is read again after the row.
func (k *check) mark(ctx context.Context, row chat.Turn, state chat.ThreadState) error {
	k.unsure = true
	now, err := k.Store.Turn(ctx, k.owner, row.ID)
	if err != nil || now.Status != row.Status {
		return ignoreNotFound(err)
	}
	again, err := k.Threads.State(ctx, k.thread)
	if err != nil {
		return unanswered(err)
	}
	if again.TurnID != state.TurnID || again.Status != state.Status || questionID(again) != questionID(state) {
		return nil
	}
	return k.setStatus(ctx, row.ID, fmt.Sprintf("%s, but in the workflow it is %s", row.Status, state.Status), state.Status)
}

func (k *check) setStatus(ctx context.Context, turnID, problem string, status chat.TurnStatus) error {
	k.unsure = true
	if k.DryRun {
		k.found = append(k.found, k.finding(turnID, problem, "mark it as "+string(status), false))
		return nil
	}
	if err := k.Store.MarkTurn(ctx, k.owner, turnID, status, ""); err != nil {
		return ignoreNotFound(err)
	}
	repair := "marked as " + string(status)
	k.found = append(k.found, k.finding(turnID, problem, repair, false))
	k.Log.Info("status of turn corrected", "thread", k.thread, "turn", turnID, "problem", problem, "repair", repair)
	return nil
}

// unlisted handles a turn that the workflow runs or has waiting, and that is not
// open in any row. What runs ends by itself at the first thing that it writes; a
// question would stay open, unseen, and hold up the messages behind it.
func (k *check) unlisted(ctx context.Context, turnID string, state chat.ThreadState) error {
	status := chat.TurnAccepted
	if turnID == state.TurnID {
		status = state.Status
	}
	row, err := k.Store.Turn(ctx, k.owner, turnID)
	problem := "its question is open in the workflow, but the database has ended it"
	switch {
	case errors.Is(err, db.ErrNotFound): // or it was taken without the database, and is not saved yet
		problem = "its question is open in the workflow, but the database does not have it"
	case err != nil:
		return err
	case row.Status == chat.TurnNew && time.Since(row.CreatedAt) >= activities.LostAfter:
		return k.setStatus(ctx, turnID, "not accepted, but the workflow has it", status)
	case !row.Status.Settled(): // accepted since the rows were read, or about to be marked
		k.unsure = true
		return nil
	}
	k.unsure = true
	if turnID != state.TurnID || state.Pending == nil {
		return nil
	}
	if k.DryRun {
		k.found = append(k.found, k.finding(turnID, problem, "close the question", false))
		return nil
	}
	if _, err := k.Threads.Cancel(ctx, k.owner, k.thread, chat.Cancel{TurnID: turnID, Reason: chat.UserCancelled}); err != nil {
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
	k.Log.Warn("turn repaired", "thread", k.thread, "turn", turnID, "problem", problem, "repair", repair)
}

func questionID(s chat.ThreadState) string {
	if s.Pending == nil {
		return ""
	}
	return s.Pending.ID
}

func ignoreNotFound(err error) error {
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	return err
}

// fingerprint is what a thread's rows and its open workflow are now.
func fingerprint(run chat.WorkflowRun, rows []chat.Turn) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d", run.ID, run.Length)
	for _, row := range rows {
		fmt.Fprintf(&b, " %s %s", row.ID, row.Status)
	}
	return b.String()
}

func (k *check) isVerified(seen string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.verified[k.thread] == seen
}

func (k *check) setVerified(seen string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.verified == nil || len(k.verified) >= maxVerified {
		k.verified = map[string]string{}
	}
	k.verified[k.thread] = seen
}
