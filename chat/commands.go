package chat

import (
	"crypto/sha256"
	"encoding/hex"
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
	StreamRunID  string
	RequestID    string // of the request that brought it, for the log
	// Unsaved is the turn itself when the database was away: there is no row of
	// it yet. Nil otherwise.
	Unsaved *Turn
	// Cancelled: a cancel overtook this submit (its tombstone was found); the
	// turn is ended at once and runs nothing.
	Cancelled bool
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

// Progress is the open turn's log after some n, as the workflow knows it.
type Progress struct {
	Known   bool    `json:"known"` // false: not an open turn of this thread; read the settled log
	Entries []Entry `json:"entries,omitempty"`
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
}

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

// Refused is a command the thread did not take, with its code of part 8 of the
// contract.
type Refused struct {
	Code    string // CodeTurnRunning, CodeNoInterrupt, CodeBadResume, CodeTurnConflict, CodeDatabase
	Message string
	TurnID  string // the running turn, for CodeTurnRunning
}

func (r *Refused) Error() string { return r.Code + ": " + r.Message }
