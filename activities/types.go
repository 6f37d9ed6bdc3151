package activities

import (
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
	// RequestID is that of the HTTP request that submitted the turn, for the log. The
	// client knows it, too.
	RequestID string `json:"request,omitempty"`
	// Unsaved is the message of a turn that was submitted while the database was
	// unavailable; nil once the row is written. Activities of such a turn read it by
	// loadOrUnsaved.
	Unsaved *Unsaved `json:"unsaved,omitempty"`
	// Order rises with each regular activity of the turn. Writes have the order of
	// their attempt, so that an old attempt on a worker that was frozen overwrites
	// nothing (textOrder).
	Order int64 `json:"order,omitempty"`
	// Logged is the length of the turn's log when the activity was scheduled, and Fresh
	// are the entries that no earlier activity was given. Announce publishes them.
	Logged int          `json:"logged,omitempty"`
	Fresh  []chat.Entry `json:"fresh,omitempty"`
	// Others are the thread's other turns, for BeginTurn only.
	Others *OtherTurns `json:"beside,omitempty"`
}

// OtherTurns names a thread's other turns: those that are open, and those that wait.
type OtherTurns struct {
	Open    []string `json:"open,omitempty"`
	Waiting []string `json:"waiting,omitempty"`
}

// Unsaved is a message that was accepted while the database was unavailable. It and
// the value of a resume are the only texts of a person in Temporal's history.
type Unsaved struct {
	ClientTurnID string       `json:"client"`
	Content      chat.Content `json:"content"`
	ContentHash  string       `json:"hash"`
	CreatedAt    time.Time    `json:"at"`
	Generation   int          `json:"generation,omitempty"` // of the conversation that accepted it; 0: unknown
}

// Size is its approximate size in history, in bytes; 0 for nil.
func (u *Unsaved) Size() int {
	if u == nil {
		return 0
	}
	return len(u.Content.Message) + len(u.Content.TipTap) + len(u.ClientTurnID)
}

// Begun is what BeginTurn found in the turn's row.
type Begun struct {
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
	// AgentVersion is the version of the agent that the turn began with.
	AgentVersion int `json:"agent_version,omitempty"`
	// Imports: the message may ask for imports, or imports of the conversation are open or
	// their end is to be announced (PlanImports).
	Imports bool `json:"imports,omitempty"`
	// Unsaved: the database is unavailable, and the agent can begin without. The turn's
	// row, its parent and the earlier messages are still unknown.
	Unsaved bool `json:"unsaved,omitempty"`
}

// ResolveRequest asks Resolve for what the rules left open.
type ResolveRequest struct {
	TurnRef
	Intent bool        `json:"intent,omitempty"`
	Docs   bool        `json:"docs,omitempty"`
	Action chat.Action `json:"action,omitempty"` // for the documents; empty while it is not known
	// GoOn lets Resolve go on to the answer; nil: it only resolves.
	GoOn *GoOn `json:"go_on,omitempty"`
}

// GoOn lets Resolve write the answer, too, when nothing has to be asked before.
type GoOn struct {
	Known  Resolved `json:"known"`            // what rules have resolved
	Tokens int      `json:"tokens,omitempty"` // how many the turn has left; 0: no limit
	// Imports: as in RetrieveRequest.
	Imports bool `json:"imports,omitempty"`
}

// Resolved is the meaning of a message. A field is nil when it was not asked for, or
// is not known yet.
type Resolved struct {
	Intent *Intent `json:"intent,omitempty"`
	Docs   *Docs   `json:"docs,omitempty"`
	// Ahead and Written are set when Resolve went on to the answer.
	Ahead   *Ahead   `json:"ahead,omitempty"`
	Written *Written `json:"written,omitempty"`
}

// Ahead is what Resolve has recorded, as text "ahead" of the turn, before it went on to
// the answer. The first record of a turn counts. One without entries is a seal: nothing
// can be recorded any more.
type Ahead struct {
	Intent  Intent       `json:"intent"`
	Docs    Docs         `json:"docs"`
	Found   Retrieved    `json:"found"`
	Entries []chat.Entry `json:"entries,omitempty"` // of the log, after TurnRef.Logged
}

// Intent is the action that a message asks for.
type Intent struct {
	Action     chat.Action     `json:"action"`
	Confidence chat.Confidence `json:"confidence"`
	Multi      bool            `json:"multi,omitempty"`
	Likely     []chat.Action   `json:"likely,omitempty"` // the likeliest first, at least two when Multi or Low
	WebSearch  bool            `json:"web,omitempty"`    // OR of request, scan and model
	Usage      chat.Usage      `json:"usage"`
}

// DocsRequest asks ResolveDocs for a turn's documents. Action is empty when it
// runs before the action is known.
type DocsRequest struct {
	TurnRef
	Action chat.Action `json:"action,omitempty"`
}

// Docs are the documents that are meant. Every id exists and is visible to the owner.
type Docs struct {
	IDs        []string        `json:"ids,omitempty"` // resolved, sets expanded, in order of mention
	Confidence chat.Confidence `json:"confidence"`
	Suggested  []string        `json:"suggested,omitempty"`  // candidates to choose from when Medium
	Unresolved bool            `json:"unresolved,omitempty"` // names that match no document; they are text "unresolved"
	HasText    bool            `json:"has_text,omitempty"`   // the message has a text to audit
	Called     bool            `json:"called,omitempty"`     // a model was asked
	Source     string          `json:"source,omitempty"`     // explicit, inferred or fuzzy_match
	Processing bool            `json:"processing,omitempty"` // one of the documents is not ready yet
	Usage      chat.Usage      `json:"usage"`
}

// AnswerRequest asks ReadAnswer to resolve a person's answer to a question.
type AnswerRequest struct {
	TurnRef
	Value   chat.ResumeValue `json:"value"`
	AsText  bool             `json:"as_text,omitempty"` // the question asked for a text: store what is not a document as text "source_text"
	Unknown string           `json:"unknown,omitempty"` // key under which to store an answer that names no document, for the next question to quote
}

// Answered is the result of ReadAnswer.
type Answered struct {
	IDs  []string `json:"ids,omitempty"`  // documents named by id, name or mention
	Text bool     `json:"text,omitempty"` // a text was stored
	// Unknown: the answer names no document, and was stored under the given key.
	Unknown bool `json:"unknown,omitempty"`
}

// KeepRequest asks KeepAnswer to store a person's answer.
type KeepRequest struct {
	TurnRef
	InterruptID string           `json:"interrupt"`
	Value       chat.ResumeValue `json:"value"`
}

// RetrieveRequest asks for the passages that an answer may use. Without DocIDs it
// searches all documents that the owner can see.
type RetrieveRequest struct {
	TurnRef
	Action chat.Action `json:"action"`
	DocIDs []string    `json:"docs,omitempty"`
	// Subject is the document to audit when the message has no text to audit; it is
	// not among DocIDs.
	Subject string `json:"subject,omitempty"`
	// Web: the message wants a web search.
	Web bool `json:"web,omitempty"`
	// Imports: imports of the conversation may be open (Begun.Imports).
	Imports bool `json:"imports,omitempty"`
}

// Retrieved names the passages found. Confidence says whether they suffice: it is high
// only when nothing else needs to be searched, so never when a person asked for the web.
type Retrieved struct {
	ChunkIDs   []string        `json:"chunks,omitempty"`
	Closest    []string        `json:"closest,omitempty"` // with low confidence: the best passages that there are, for the question
	Confidence chat.Confidence `json:"confidence"`
	Score      float64         `json:"score"`
	Processing bool            `json:"processing,omitempty"` // documents still processing were left out
	Unreadable bool            `json:"unreadable,omitempty"` // failed documents were left out
	Partly     bool            `json:"partly,omitempty"`     // more documents than fit; some were left out
	NoWeb      bool            `json:"no_web,omitempty"`     // the web cannot be searched, so the question does not offer it
	Widened    bool            `json:"widened,omitempty"`    // the documents meant have no answer, so all were searched
	// Importing: too little was found, and a document that is still imported may have
	// it. The text of piece 1 says so.
	Importing bool       `json:"importing,omitempty"`
	Usage     chat.Usage `json:"usage,omitzero"` // of the query's embeddings
}

// WebResult is the outcome of a web search; its pages are text "web_results".
type WebResult struct {
	Results int  `json:"results"`
	Off     bool `json:"off,omitempty"`    // not configured
	Failed  bool `json:"failed,omitempty"` // tried and failed
	Empty   bool `json:"empty,omitempty"`  // searched, and nothing was found

	Usage chat.Usage `json:"usage,omitzero"`
}

// WriteRequest asks Write to stream an answer.
type WriteRequest struct {
	TurnRef
	Action   chat.Action `json:"action"`
	DocIDs   []string    `json:"docs,omitempty"`
	ChunkIDs []string    `json:"chunks,omitempty"`
	Subject  string      `json:"subject,omitempty"` // as in RetrieveRequest
	Web      bool        `json:"web,omitempty"`     // text "web_results" may be cited
	Stage
}

// ThinkRequest asks Think for the next model call of the assistant, or of an agent like
// it. Asked are the agent's own questions so far.
type ThinkRequest struct {
	TurnRef
	Stage
	Asked []Asked `json:"asked,omitempty"`
}

// Asked is an agent's own question with the person's answer.
type Asked struct {
	Question string           `json:"question"` // a constant of the agent's code
	Value    chat.ResumeValue `json:"value"`
	Label    string           `json:"label,omitempty"` // of the option chosen
}

// CheckRequest asks Check for the result of one of an agent's checks.
type CheckRequest struct {
	TurnRef
	Agent chat.Agent `json:"agent"`
	Name  string     `json:"name"`
	Asked []Asked    `json:"asked,omitempty"`
}

// Written is the result of a model call. The piece is stored as text "piece:n", the
// citations of all pieces so far as text "citations". Stopped: the turn was cancelled,
// and the partial text is in the draft. With Calls, the answer goes on after them;
// without text there is no piece (Chars is 0).
type Written struct {
	Chars     int        `json:"chars"`
	Citations int        `json:"citations"`
	Stopped   bool       `json:"stopped,omitempty"`
	Usage     chat.Usage `json:"usage"`
	Calls     []Wanted   `json:"calls,omitempty"`
	Attempt   int        `json:"attempt,omitempty"`   // the attempt that wrote it
	NoImages  bool       `json:"no_images,omitempty"` // the model takes no pictures; it answers from the text alone
	History   string     `json:"history,omitempty"`   // code of the notice about the conversation's older part
}

// CallRequest asks CallTool to make a tool call.
type CallRequest struct {
	TurnRef
	chat.CallRef
	Agent       chat.Agent `json:"agent"`
	SideEffects bool       `json:"side_effects,omitempty"`
}

// Called is the outcome of a call. Its result is stored as text "result:<id>".
type Called struct {
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
	Check    bool             `json:"check,omitempty"` // only check whether they fit
	// Channel is how the decisions came; empty in requests of older workflows.
	Channel chat.Channel `json:"channel,omitempty"`
}

// Decided is the result of Decide. Calls that are not in Run have a result that says
// why they were not made.
type Decided struct {
	Misfit bool     `json:"misfit,omitempty"` // edited arguments cannot be used
	Run    []string `json:"run,omitempty"`    // ids of calls to make
	// Hashes are the hashes of edited arguments, by call id.
	Hashes   map[string]string `json:"hashes,omitempty"`
	Remember []string          `json:"remember,omitempty"` // tools that need no approval from now on
}

// Ending is the end of a turn, for Settle.
type Ending struct {
	TurnRef
	Status    chat.TurnStatus   `json:"status"`
	Reason    chat.CancelReason `json:"reason,omitempty"`
	Channel   chat.Channel      `json:"channel,omitempty"` // of a person's cancel
	Code      string            `json:"code,omitempty"`    // failed
	Log       []chat.Entry      `json:"log"`               // after the Kept first entries, which are texts of the turn
	Kept      int               `json:"kept,omitempty"`
	Action    chat.Action       `json:"action,omitempty"`
	Inference chat.Confidence   `json:"inference,omitempty"`
	Retrieval chat.Confidence   `json:"retrieval,omitempty"`
	DocIDs    []string          `json:"docs,omitempty"`      // for the registry
	Approvals []string          `json:"approvals,omitempty"` // tools that need no approval from now on
	Usage     chat.Usage        `json:"usage"`
	Hidden    bool              `json:"hidden,omitempty"`
}

// LogRequest asks KeepLog to store entries of the log, numbered from From.
type LogRequest struct {
	TurnRef
	From    int          `json:"from"`
	Entries []chat.Entry `json:"entries"`
}

// Settled is the terminal event of a turn as Settle stored it.
type Settled struct {
	N    int            `json:"n"`
	Type chat.EventType `json:"type"`
}

// QueryRequest asks WordWebQuery for a search query, which becomes text "web_query".
type QueryRequest struct {
	TurnRef
	DocIDs []string `json:"docs,omitempty"`
}

// ImportPlan is what a turn does about imports before its agent answers.
type ImportPlan struct {
	Calls  []Wanted `json:"calls,omitempty"`  // of tools, one after another
	Ended  []string `json:"ended,omitempty"`  // ids of imports whose end is announced
	DocIDs []string `json:"docs,omitempty"`   // of Ended
	Report bool     `json:"report,omitempty"` // ReportImports is to be called
}

// ImportReportRequest asks ReportImports for what the person is told.
type ImportReportRequest struct {
	TurnRef
	Plan ImportPlan `json:"plan"`
}

// ImportReport says how the turn goes on. Done: piece 1 is the answer. Else Notices are
// the keys of sentences to show before the agent answers.
type ImportReport struct {
	Done    bool     `json:"done,omitempty"`
	Notices []string `json:"notices,omitempty"`
	DocIDs  []string `json:"docs,omitempty"` // that the conversation knows from now on
}

// IngestRequest names an uploaded document to ingest.
type IngestRequest struct {
	Owner string `json:"owner"`
	DocID string `json:"doc"`
}
