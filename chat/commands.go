package chat

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"
)

// Submit asks a thread to run a turn. The turn has a row or is Unsaved.
type Submit struct {
	Owner    string
	ThreadID string
	TurnID   string
	OnBusy   OnBusy
	Space    string // of its row
	// Replaces is a turn that waits: this one takes its place in the queue, and it disappears
	// from the history. Empty: none.
	Replaces string
	// ClientTurnID and ContentHash identify a retry while the rows cannot be read.
	ClientTurnID string
	ContentHash  string
	// Generation of the turn's conversation: a submit of a deleted conversation is
	// rejected (CodeNotFound) by the next one with the same id. 0: not known.
	Generation int
	// NoRepeat runs the turn although the thread remembers the message, because the
	// database has lost the earlier turn.
	NoRepeat    bool
	StreamRunID string
	RequestID   string // of the HTTP request, for the log
	// Unsaved is the turn itself when it has no row yet, because the database was
	// unavailable. Nil otherwise.
	Unsaved *Turn
	// Cancelled: a cancel arrived before this submit (it left a tombstone). The turn
	// ends at once and runs nothing.
	Cancelled bool
}

// SubmitResult is a thread's reply when it has accepted a turn.
type SubmitResult struct {
	// TurnID is the message's turn, from this or an earlier send.
	TurnID string
	// Given: the turn TurnID runs, and will read the message.
	Given bool
	// Log is the turn's log so far; empty when the turn waits or the message was sent
	// before.
	Log []Entry
}

// Channel is the way by which a decision came: an answer to a question, a decision about
// tools, or a cancel. It is a hint for an investigation, not a proof.
type Channel string

const (
	ByPage   Channel = "page"   // our page, in a browser
	ByAPI    Channel = "api"    // a program that speaks to the API
	ByMCP    Channel = "mcp"    // a tool call at our MCP server
	BySignal Channel = "signal" // a signal of Temporal, from a shell or the Web UI
	ByServer Channel = "server" // no caller: a time limit, a client that disconnected, a repair
)

// Cancel asks a thread to end a turn. Without a TurnID (from a shell) it ends the
// turn that runs when it arrives.
type Cancel struct {
	TurnID string       `json:"turn_id,omitempty"`
	Reason CancelReason `json:"reason,omitempty"` // default user_cancelled
	// Channel is empty in a signal from a shell.
	Channel Channel `json:"channel,omitempty"`
}

// Resume answers a thread's pending interrupt.
type Resume struct {
	Owner       string      `json:"-"`
	ThreadID    string      `json:"-"`
	InterruptID string      `json:"interrupt_id,omitempty"` // empty: the pending one
	Value       ResumeValue `json:"value"`
	Channel     Channel     `json:"-"`
}

// Progress is a page of the open turn's log from the workflow: Entries begin after
// the requested n or after Kept, whichever is later.
type Progress struct {
	Known   bool    `json:"known"`          // false: not an open turn of this thread; read the settled log
	Kept    int     `json:"kept,omitempty"` // this many first entries are texts of the turn (KeptLog)
	Entries []Entry `json:"entries,omitempty"`
	More    bool    `json:"more,omitempty"`    // more entries follow
	Over    bool    `json:"over,omitempty"`    // a terminal entry is in the log
	Waiting bool    `json:"waiting,omitempty"` // an interrupt is pending
	// Reporting names the running activities that may have stored reports which are not among
	// the entries yet (Report.Of).
	Reporting []string `json:"reporting,omitempty"`
}

// ThreadState is the current state of a thread.
type ThreadState struct {
	Owner   string     `json:"owner"`
	TurnID  string     `json:"turn_id,omitempty"` // the open turn
	Status  TurnStatus `json:"status,omitempty"`
	Pending *Question  `json:"pending,omitempty"`
	Queue   []string   `json:"queue,omitempty"` // ids of waiting turns, and of messages that the open turn will read
	Agent   Agent      `json:"agent,omitempty"` // of the newest started turn
	Space   string     `json:"space,omitempty"` // of the same turn
	// Names are the clients' ids of the open and the waiting turns, by turn id.
	Names map[string]TurnName `json:"names,omitempty"`
	// Version is the workflow version that the thread's run follows.
	Version int `json:"version,omitempty"`
}

// WorkflowRun is the newest run of a workflow, read from Temporal directly, not
// from its eventually consistent visibility.
type WorkflowRun struct {
	Status RunStatus
	ID     string // empty: no run
	Length int64  // of its history; changes with every event
	Closed time.Time
	Waits  bool // its workflow task waits for a worker
	Tries  int  // how often Temporal gave out that task
}

// RunStatus is the status of a run.
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

// TurnName has a client's ids of a turn.
type TurnName struct {
	Client string `json:"client,omitempty"` // ClientKey of its client_turn_id
	RunID  string `json:"run,omitempty"`
}

// ClientKey returns the key of a client_turn_id in a thread's memory; "" for "".
func ClientKey(clientTurnID string) string {
	if clientTurnID == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(clientTurnID))
	return hex.EncodeToString(sum[:8])
}

// RefusedError is the error of a rejected command, with a code of docs/errors.md.
type RefusedError struct {
	Code    string // CodeTurnRunning, CodeTurnBegun, CodeNoInterrupt, CodeBadResume, CodeTurnConflict, CodeDatabase, CodeNotFound
	Message string
	TurnID  string // the running turn, for CodeTurnRunning
}

func (r *RefusedError) Error() string { return r.Code + ": " + r.Message }

// ErrCannotReplay means that the worker cannot run a thread: its code does not fit
// the recorded history, or is older than the thread's version. A retry does not help
// until another release runs.
var ErrCannotReplay = errors.New("the thread's history cannot be replayed by this release")
