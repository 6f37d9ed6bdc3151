package chat

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"
)

// Submit asks a thread to run a turn whose row exists, or that is Unsaved.
type Submit struct {
	Owner    string
	ThreadID string
	TurnID   string
	OnBusy   OnBusy
	// ClientTurnID and ContentHash tell a retry from another message where the
	// rows cannot be asked.
	ClientTurnID string
	ContentHash  string
	// Generation of the turn's conversation: a submit of a deleted one is refused
	// (CodeNotFound) by the next conversation of its id. 0: not known.
	Generation int
	// NoRepeat: the thread took the message for one that it remembers, and the
	// database has lost that one's turn. This one is to run.
	NoRepeat    bool
	StreamRunID string
	RequestID   string // of the request that brought it, for the log
	// Unsaved is the turn itself when the database was away: there is no row of
	// it yet. Nil otherwise.
	Unsaved *Turn
	// Cancelled: a cancel overtook this submit (its tombstone was found); the
	// turn is ended at once and runs nothing.
	Cancelled bool
}

// Submitted is what a thread says when it has taken a turn.
type Submitted struct {
	// TurnID is the turn that the message made, now or when it was first sent.
	TurnID string
	// Log is what the turn has recorded so far, from its first entry on; empty when
	// it waits, or when it was sent before.
	Log []Entry
}

// Cancel asks a thread to end a turn. Without a TurnID (from a shell) it acts on
// the turn running when it is seen.
type Cancel struct {
	TurnID string       `json:"turn_id,omitempty"`
	Reason CancelReason `json:"reason,omitempty"` // default user_cancelled
}

// Resume answers a thread's pending interrupt.
type Resume struct {
	Owner       string      `json:"-"`
	ThreadID    string      `json:"-"`
	InterruptID string      `json:"interrupt_id,omitempty"` // empty: whichever is pending
	Value       ResumeValue `json:"value"`
}

// Progress is the open turn's log after some n, as the workflow knows it, in
// pages: Entries begin after n or after Kept, whichever is later.
type Progress struct {
	Known   bool    `json:"known"`          // false: not an open turn of this thread; read the settled log
	Kept    int     `json:"kept,omitempty"` // the first so many entries are texts of the turn (KeptLog)
	Entries []Entry `json:"entries,omitempty"`
	More    bool    `json:"more,omitempty"`    // and further ones follow
	Over    bool    `json:"over,omitempty"`    // a terminal entry is in the log
	Waiting bool    `json:"waiting,omitempty"` // an interrupt is pending
}

// ThreadState is a thread at a glance.
type ThreadState struct {
	Owner   string     `json:"owner"`
	TurnID  string     `json:"turn_id,omitempty"` // the open turn
	Status  TurnStatus `json:"status,omitempty"`
	Pending *Question  `json:"pending,omitempty"`
	Queue   []string   `json:"queue,omitempty"` // turn ids that wait
	Agent   Agent      `json:"agent,omitempty"` // of the turn that began last
	// Names are those that clients gave to the open turn and to those that wait,
	// by turn id.
	Names map[string]TurnName `json:"names,omitempty"`
	// Version is that of the workflow's rules which the thread's run follows.
	Version int `json:"version,omitempty"`
}

// WorkflowRun is the newest run of a workflow, as Temporal has it for sure.
type WorkflowRun struct {
	Status RunStatus
	ID     string // empty: there is none
	Length int64  // of its history, which grows with everything that happens
	Closed time.Time
}

// RunStatus is how far a run is.
type RunStatus string

const (
	RunOpen       RunStatus = "open"
	RunNotFound   RunStatus = "not found"
	RunCompleted  RunStatus = "completed"
	RunFailed     RunStatus = "failed"
	RunCancelled  RunStatus = "cancelled"
	RunTerminated RunStatus = "terminated"
	RunTimedOut   RunStatus = "timed out"
)

// ThreadRef names a conversation.
type ThreadRef struct{ Owner, ThreadID string }

// TurnName is what a client calls a turn.
type TurnName struct {
	Client string `json:"client,omitempty"` // ClientKey of its client_turn_id
	RunID  string `json:"run,omitempty"`
}

// ClientKey stands for a client_turn_id in a thread's memory; "" for "".
func ClientKey(clientTurnID string) string {
	if clientTurnID == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(clientTurnID))
	return hex.EncodeToString(sum[:8])
}

// Refused is a command the thread did not take, with its code of
// docs/errors.md.
type Refused struct {
	Code    string // CodeTurnRunning, CodeNoInterrupt, CodeBadResume, CodeTurnConflict, CodeDatabase
	Message string
	TurnID  string // the running turn, for CodeTurnRunning
}

func (r *Refused) Error() string { return r.Code + ": " + r.Message }

// ErrCannotReplay says that the worker which was asked about a thread cannot run
// it: its code does not fit what the thread has recorded, or is older than the
// rules that the thread follows. Asking again does not help until another
// release runs.
var ErrCannotReplay = errors.New("the thread's history cannot be replayed by this release")
