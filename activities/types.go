package activities

import (
	"encoding/json"
	"time"

	"github.com/palaver-chat/palaver/chat"
)

// These types enter Temporal's history, so they have ids, enums, numbers and hashes
// only. Texts are rows of the turn.

// TurnRef names a turn to an activity.
type TurnRef struct {
	Owner    string `json:"owner"`
	ThreadID string `json:"thread"`
	TurnID   string `json:"turn"`
	// Parent is set by BeginTurn. As an argument of BeginTurn it is a turn that was
	// rolled back, whose place this one takes.
	Parent string `json:"parent,omitempty"`
	// RunID is the client's name for the run (stream_run_id), for the log.
	RunID string `json:"run,omitempty"`
	// Model is the one that the person has chosen (chat.Content). BeginTurn finds it.
	Model string `json:"model,omitempty"`
	// Space is the one that the conversation belongs to, or its scope. BeginTurn finds it.
	Space string `json:"space,omitempty"`
	// RequestID is that of the HTTP request that submitted the turn, for the log. The
	// client knows it, too.
	RequestID string `json:"request,omitempty"`
	// Unsaved is the message of a turn that was submitted while the database was
	// unavailable; nil once the row is written. Activities of such a turn read it by
	// loadOrUnsaved.
	Unsaved *UnsavedTurn `json:"unsaved,omitempty"`
	// Order rises with each regular activity of the turn. Writes have the order of
	// their attempt, so that an old attempt on a worker that was frozen overwrites
	// nothing (textOrder).
	Order int64 `json:"order,omitempty"`
	// Logged is the length of the turn's log when the activity was scheduled, and Fresh
	// are the entries that no earlier activity was given. Announce publishes them.
	Logged int          `json:"logged,omitempty"`
	Fresh  []chat.Entry `json:"fresh,omitempty"`
	// Step names the step of an agent that runs the activity, for what it reports
	// (Kit.RecordProgress).
	Step string `json:"step,omitempty"`
	// Asks is the type of the question that the turn waits with, for MarkInterrupted only.
	Asks chat.InterruptType `json:"asks,omitempty"`
	// Others are the thread's other turns, for BeginTurn only.
	Others *OtherTurns `json:"others,omitempty"`
}

// OtherTurns names a thread's other turns: those that are open, and those that wait.
type OtherTurns struct {
	Open    []string `json:"open,omitempty"`
	Waiting []string `json:"waiting,omitempty"`
}

// UnsavedTurn is a message that was accepted while the database was unavailable. It and
// the value of a resume are the only texts of a person in Temporal's history.
type UnsavedTurn struct {
	ClientTurnID string       `json:"client"`
	Content      chat.Content `json:"content"`
	ContentHash  string       `json:"hash"`
	CreatedAt    time.Time    `json:"at"`
	Generation   int          `json:"generation,omitempty"` // of the conversation that accepted it; 0: unknown
}

// Size is its approximate size in history, in bytes; 0 for nil.
func (u *UnsavedTurn) Size() int {
	if u == nil {
		return 0
	}
	raw, _ := json.Marshal(u) // as it is stored: JSON escapes some characters with six
	return len(raw)
}

// BeginResult is what BeginTurn found in the turn's row.
type BeginResult struct {
	Parent    string      `json:"parent"`
	Agent     chat.Agent  `json:"agent"`
	Action    chat.Action `json:"action,omitempty"` // explicit action
	WebSearch bool        `json:"web,omitempty"`    // requested by the person
	// NoWebSearch: the person forbade it.
	NoWebSearch bool     `json:"no_web,omitempty"`
	Settled     bool     `json:"settled,omitempty"`
	Cancelled   bool     `json:"cancelled,omitempty"` // by a cancel that came before the submit
	Approved    []string `json:"approved,omitempty"`  // tools that need no approval on this branch
	NoImages    bool     `json:"no_images,omitempty"` // the message has pictures that the model cannot see
	RunID       string   `json:"run,omitempty"`
	Model       string   `json:"model,omitempty"` // that the person has chosen
	Space       string   `json:"space,omitempty"`
	// AgentVersion is the version of the agent that the turn began with.
	AgentVersion int `json:"agent_version,omitempty"`
	// Imports: the message may ask for imports, or imports of the conversation are open or
	// their end is to be announced (PlanImports).
	Imports bool `json:"imports,omitempty"`
	// Effort is the one that the message asks for; empty: that of the settings.
	Effort chat.Effort `json:"effort,omitempty"`
	// Rounds: a model answers, so the turn can read further messages between its rounds.
	Rounds bool `json:"rounds,omitempty"`
	// Unsaved: the database is unavailable, and the agent can begin without. The turn's
	// row, its parent and the earlier messages are still unknown.
	Unsaved bool `json:"unsaved,omitempty"`
}

// KeepRequest asks KeepAnswer to store a person's answer.
type KeepRequest struct {
	TurnRef
	InterruptID string           `json:"interrupt"`
	Value       chat.ResumeValue `json:"value"`
}

// AskedQuestion is an agent's own question with the person's answer.
type AskedQuestion struct {
	Question string           `json:"question"` // a constant of the agent's code
	Value    chat.ResumeValue `json:"value"`
	Label    string           `json:"label,omitempty"` // of the option chosen
}

// CheckRequest asks Check for the result of one of an agent's checks.
type CheckRequest struct {
	TurnRef
	Agent chat.Agent      `json:"agent"`
	Name  string          `json:"name"`
	Asked []AskedQuestion `json:"asked,omitempty"`
}

// ModelResult is the result of a model call. The piece is stored as text "piece:n", the
// citations of all pieces so far as text "citations". Stopped: the turn was cancelled,
// and the partial text is in the draft. With Calls, the answer goes on after them;
// without text there is no piece (Chars is 0).
type ModelResult struct {
	Chars     int             `json:"chars"`
	Citations int             `json:"citations"`
	Stopped   bool            `json:"stopped,omitempty"`
	Usage     chat.Usage      `json:"usage"`
	Calls     []RequestedCall `json:"calls,omitempty"`
	Dropped   int             `json:"dropped,omitempty"`   // calls beyond llm.MaxCalls, which do not run
	Attempt   int             `json:"attempt,omitempty"`   // the attempt that wrote it
	NoImages  bool            `json:"no_images,omitempty"` // the model takes no pictures; it answers from the text alone
	// Thought is how long the model has thought, in milliseconds; 0: not, or nobody is to see
	// it. The text is stored (chat.ReasoningKey).
	Thought int    `json:"thought_ms,omitempty"`
	Cut     string `json:"cut,omitempty"` // code of the notice that the answer is not complete
	// WrongFigures is how many figures of an answer no cited passage has.
	WrongFigures int    `json:"wrong_figures,omitempty"`
	History      string `json:"history,omitempty"` // code of the notice about the conversation's older part
}

// GivenRequest is about messages that the person wrote while the turn worked. First is
// the number of the first one in the turn.
type GivenRequest struct {
	TurnRef
	TurnIDs []string `json:"turns"`
	First   int      `json:"first"`
}

// CallRequest asks CallTool to make a tool call.
type CallRequest struct {
	TurnRef
	chat.CallRef
	Agent       chat.Agent `json:"agent"`
	SideEffects bool       `json:"side_effects,omitempty"`
	// Left is the time until the turn's deadline, of a call with side effects.
	Left time.Duration `json:"left,omitempty"`
	// Repeat counts how often the person had the call run again although its outcome was unknown.
	Repeat int `json:"repeat,omitempty"`
}

// CallResult is the outcome of a call. Its result is stored as text "result:<id>".
type CallResult struct {
	IsError bool       `json:"error,omitempty"`
	Usage   chat.Usage `json:"usage"`
	// Unknown: the call may have run or not; it has no result.
	Unknown bool `json:"unknown,omitempty"`
	// Progress are the nodes of what the call has reported (chat.Report), in order.
	Progress []chat.Node `json:"progress,omitempty"`
}

// DecideRequest asks Decide to apply a person's decisions about tool calls.
type DecideRequest struct {
	TurnRef
	Question chat.Question    `json:"question"`
	Value    chat.ResumeValue `json:"value"`
	Check    bool             `json:"check,omitempty"`   // only check whether they fit
	Channel  chat.Channel     `json:"channel,omitempty"` // how the decisions came
}

// DecideResult is the result of Decide. Calls that are not in Run have a result that says
// why they were not made.
type DecideResult struct {
	Misfit bool     `json:"misfit,omitempty"` // edited arguments cannot be used
	Run    []string `json:"run,omitempty"`    // ids of calls to make
	// Hashes are the hashes of edited arguments, by call id.
	Hashes   map[string]string `json:"hashes,omitempty"`
	Remember []string          `json:"remember,omitempty"` // tools that need no approval from now on
}

// Outcome is what an agent says about its answer.
type Outcome struct {
	Action    chat.Action     `json:"action,omitempty"`
	Inference chat.Confidence `json:"inference,omitempty"` // of the documents that were meant
	Retrieval chat.Confidence `json:"retrieval,omitempty"`
	DocIDs    []string        `json:"docs,omitempty"` // that the conversation knows from now on
}

// Spender is a result of an activity that has used models or searches.
type Spender interface{ Spent() chat.Usage }

// Ending is the end of a turn, for Settle.
type Ending struct {
	TurnRef
	Status  chat.TurnStatus   `json:"status"`
	Reason  chat.CancelReason `json:"reason,omitempty"`
	Channel chat.Channel      `json:"channel,omitempty"` // of a person's cancel
	Code    string            `json:"code,omitempty"`    // failed
	Log     []chat.Entry      `json:"log"`               // after the Kept first entries, which are texts of the turn
	Kept    int               `json:"kept,omitempty"`
	Outcome
	Approvals []string   `json:"approvals,omitempty"` // tools that need no approval from now on
	Taken     []string   `json:"taken,omitempty"`     // turns of given messages that may still have to be dropped
	Usage     chat.Usage `json:"usage"`
	Hidden    bool       `json:"hidden,omitempty"`
}

// LogRequest asks KeepLog to store entries of the log, numbered from From.
type LogRequest struct {
	TurnRef
	From    int          `json:"from"`
	Entries []chat.Entry `json:"entries"`
}

// SettleResult is the terminal event of a turn as Settle stored it.
type SettleResult struct {
	N    int            `json:"n"`
	Type chat.EventType `json:"type"`
}
