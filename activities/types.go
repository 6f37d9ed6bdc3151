package activities

import (
	"time"

	"github.com/palaver-chat/palaver/chat"
)

// What follows enters Temporal's history: ids, enums, numbers and hashes only.
// Texts are rows of the turn.

// TurnRef names a turn to an activity.
type TurnRef struct {
	Owner    string `json:"owner"`
	ThreadID string `json:"thread"`
	TurnID   string `json:"turn"`
	// Parent is set once BeginTurn has fixed it. To BeginTurn it names a turn that
	// was rolled back, whose place this one takes.
	Parent string `json:"parent,omitempty"`
	// RunID is the client's name for the run (stream_run_id), for the log.
	RunID string `json:"run,omitempty"`
	// RequestID is that of the HTTP request which brought the turn, for the log: a
	// client that is told of a failure knows it.
	RequestID string `json:"request,omitempty"`
	// Unsaved is what the turn was submitted with while the database was away; nil
	// once BeginTurn has written its row. Activities read the turn by load, which
	// knows of it.
	Unsaved *Unsaved `json:"unsaved,omitempty"`
	// Order rises with each regular activity of the turn. What an activity writes
	// has the order of its attempt, so that one which a worker takes up again after
	// a freeze overwrites nothing (textOrder).
	Order int64 `json:"order,omitempty"`
	// Logged is how many entries the turn's log had when the activity was scheduled,
	// and Fresh those of them that no activity before was given. Regular activities
	// of the story publish them (Announce).
	Logged int          `json:"logged,omitempty"`
	Fresh  []chat.Entry `json:"fresh,omitempty"`
	// Beside is what the thread has beside the turn, for BeginTurn only.
	Beside *Beside `json:"beside,omitempty"`
}

// Beside names the other turns of a thread that are under way, and those that
// wait.
type Beside struct {
	Open    []string `json:"open,omitempty"`
	Waiting []string `json:"waiting,omitempty"`
}

// Unsaved is a message that was taken while the database was away: with the
// value of a resume the only text of a person's in Temporal's history.
type Unsaved struct {
	ClientTurnID string       `json:"client"`
	Content      chat.Content `json:"content"`
	ContentHash  string       `json:"hash"`
	CreatedAt    time.Time    `json:"at"`
	Generation   int          `json:"generation,omitempty"` // of the conversation that took it; 0: not known
}

// Size is about how many bytes it takes in history; 0 for nil.
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
	WebSearch bool        `json:"web,omitempty"`    // asked for by the person
	Settled   bool        `json:"settled,omitempty"`
	Cancelled bool        `json:"cancelled,omitempty"` // by a cancel that overtook the submit
	Approved  []string    `json:"approved,omitempty"`  // tools that need not ask on this branch
	NoImages  bool        `json:"no_images,omitempty"` // pictures came that the model cannot see
	RunID     string      `json:"run,omitempty"`
	// Unsaved: the database is away, and the agent can begin without it. The
	// turn's row, its parent and what was said before are still unknown.
	Unsaved bool `json:"unsaved,omitempty"`
}

// Intent is what ResolveIntent decided.
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

// Docs is what ResolveDocs found. Every id exists and is visible to the owner.
type Docs struct {
	IDs        []string        `json:"ids,omitempty"` // resolved, sets expanded, in order of mention
	Confidence chat.Confidence `json:"confidence"`
	Suggested  []string        `json:"suggested,omitempty"`  // candidates to choose from when Medium
	Unresolved bool            `json:"unresolved,omitempty"` // names stayed unknown; they are text "unresolved"
	HasText    bool            `json:"has_text,omitempty"`   // the message holds a text of its own that an audit can check
	Called     bool            `json:"called,omitempty"`     // a model was asked
	Source     string          `json:"source,omitempty"`     // explicit, inferred or fuzzy_match
	Processing bool            `json:"processing,omitempty"` // a document meant is not ready yet
	Usage      chat.Usage      `json:"usage"`
}

// Ruled is what ResolveByRules decided; nil where a model is to be asked.
type Ruled struct {
	Intent *Intent `json:"intent,omitempty"`
	Docs   *Docs   `json:"docs,omitempty"`
}

// AnswerRequest asks ReadAnswer what a person's answer to a question means.
type AnswerRequest struct {
	TurnRef
	Value   chat.ResumeValue `json:"value"`
	AsText  bool             `json:"as_text,omitempty"` // the question asked for a text: keep what is not a document as text "source_text"
	Unknown string           `json:"unknown,omitempty"` // key of the text that keeps an answer which names nothing, for the next question to quote
}

// Answered is what ReadAnswer made of it.
type Answered struct {
	IDs  []string `json:"ids,omitempty"`  // documents named by id, name or mention
	Text bool     `json:"text,omitempty"` // a text was kept
	// Unknown: the answer names nothing, and its text is kept under that key.
	Unknown bool `json:"unknown,omitempty"`
}

// KeepRequest asks KeepAnswer to store what a person answered.
type KeepRequest struct {
	TurnRef
	InterruptID string           `json:"interrupt"`
	Value       chat.ResumeValue `json:"value"`
}

// RetrieveRequest asks for the passages an answer may use. No DocIDs: all that
// the owner can see.
type RetrieveRequest struct {
	TurnRef
	Action chat.Action `json:"action"`
	DocIDs []string    `json:"docs,omitempty"`
	// Subject is the document under audit when the message brings no text of its
	// own; it is not among DocIDs. Empty otherwise.
	Subject string `json:"subject,omitempty"`
}

// Retrieved names the passages found.
type Retrieved struct {
	ChunkIDs   []string        `json:"chunks,omitempty"`
	Confidence chat.Confidence `json:"confidence"`
	Score      float64         `json:"score"`
	Processing bool            `json:"processing,omitempty"` // documents still processing were left out
	Unreadable bool            `json:"unreadable,omitempty"` // failed documents were left out
}

// WebResult says how a web search went; its results are text "web_results".
type WebResult struct {
	Results int  `json:"results"`
	Off     bool `json:"off,omitempty"`    // not configured
	Failed  bool `json:"failed,omitempty"` // tried and failed
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

// ThinkRequest asks Think for what the assistant says or does next.
type ThinkRequest struct {
	TurnRef
	Stage
}

// Written says that a piece stands in text "piece:n", the citations of all
// pieces so far in text "citations". Stopped: the turn was cancelled; what there
// is stands in the draft. With Calls the answer goes on once they have been
// made; there may be no text yet, and then there is no piece (Chars is 0).
type Written struct {
	Chars     int        `json:"chars"`
	Citations int        `json:"citations"`
	Stopped   bool       `json:"stopped,omitempty"`
	Usage     chat.Usage `json:"usage"`
	Calls     []Wanted   `json:"calls,omitempty"`
	Attempt   int        `json:"attempt,omitempty"`   // that wrote it
	NoImages  bool       `json:"no_images,omitempty"` // the model takes no pictures; it answers from the text alone
}

// CallRequest asks CallTool to make a tool call.
type CallRequest struct {
	TurnRef
	chat.CallRef
	Agent       chat.Agent `json:"agent"`
	SideEffects bool       `json:"side_effects,omitempty"`
}

// Called says that a call's result stands in text "result:<id>".
type Called struct {
	IsError bool       `json:"error,omitempty"`
	Usage   chat.Usage `json:"usage"`
}

// DecideRequest asks Decide to take a person's decisions about tool calls.
type DecideRequest struct {
	TurnRef
	Question chat.Question    `json:"question"`
	Value    chat.ResumeValue `json:"value"`
	Check    bool             `json:"check,omitempty"` // only say whether it fits
}

// Decided is what Decide made of them. Calls not in Run have their result: that
// they were not made, and why.
type Decided struct {
	Misfit bool     `json:"misfit,omitempty"` // edited arguments cannot be used
	Run    []string `json:"run,omitempty"`    // ids of calls to make
	// Hashes are those of arguments that the person put in the place of the
	// model's, by call id.
	Hashes   map[string]string `json:"hashes,omitempty"`
	Remember []string          `json:"remember,omitempty"` // tools that need not ask any more
}

// Ending is what Settle writes about a turn's end.
type Ending struct {
	TurnRef
	Status    chat.TurnStatus   `json:"status"`
	Reason    chat.CancelReason `json:"reason,omitempty"`
	Code      string            `json:"code,omitempty"` // failed
	Log       []chat.Entry      `json:"log"`            // after the Kept first entries, which are texts of the turn
	Kept      int               `json:"kept,omitempty"`
	Action    chat.Action       `json:"action,omitempty"`
	Inference chat.Confidence   `json:"inference,omitempty"`
	Retrieval chat.Confidence   `json:"retrieval,omitempty"`
	DocIDs    []string          `json:"docs,omitempty"`      // for the registry
	Approvals []string          `json:"approvals,omitempty"` // tools that need not ask from now on
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

// QueryRequest asks WordWebQuery to word a search; the query is text "web_query".
type QueryRequest struct {
	TurnRef
	DocIDs []string `json:"docs,omitempty"`
}

// IngestRequest names a document whose upload is to be read, cut and indexed.
type IngestRequest struct {
	Owner string `json:"owner"`
	DocID string `json:"doc"`
}
