package chat

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"github.com/palaver-chat/palaver/chat/messages"
)

// PublicOwner owns the documents that everyone can read and that cannot be deleted
// through the API.
const PublicOwner = "*"

// RootCheckpoint is the parent of a thread's first turns.
const RootCheckpoint = "root"

// Action is what the documents agent does with a message.
type Action string

const (
	Summarize Action = "summarize"
	Inquire   Action = "inquire"
	Compare   Action = "compare"
	Audit     Action = "audit"

	// Talk answers a message that asks for none of the others: a greeting, thanks, "what can
	// you do?". It cannot be chosen, and responses do not name it.
	Talk Action = "talk"
)

// Actions lists every action, in the order in which options show them.
var Actions = []Action{Summarize, Inquire, Compare, Audit}

// Valid reports whether a is one of Actions.
func (a Action) Valid() bool {
	switch a {
	case Summarize, Inquire, Compare, Audit:
		return true
	}
	return false
}

// Label returns the text of the action's button.
func (a Action) Label() messages.Message {
	switch a {
	case Summarize:
		return messages.OptionSummarize
	case Compare:
		return messages.OptionCompare
	case Audit:
		return messages.OptionAudit
	default:
		return messages.OptionInquire
	}
}

// Confidence is the confidence of a step in its result.
type Confidence string

const (
	High   Confidence = "high"
	Medium Confidence = "medium"
	Low    Confidence = "low"
)

// OnBusy is the policy of a submit while the thread runs a turn.
type OnBusy string

const (
	Supersede OnBusy = "supersede" // the running turn is cancelled and settled first
	Enqueue   OnBusy = "enqueue"   // the new turn waits for its end
	Reject    OnBusy = "reject"    // the submit is rejected
	Rollback  OnBusy = "rollback"  // supersede, and remove the running turn from the history
	Steer     OnBusy = "steer"     // the running turn reads the message before its next model call; enqueue when it cannot
)

// Valid reports whether b is a known policy.
func (b OnBusy) Valid() bool {
	switch b {
	case Supersede, Enqueue, Reject, Rollback, Steer:
		return true
	}
	return false
}

// Effort is how much work an answer may take.
type Effort string

const (
	Quick    Effort = "quick"    // one retrieval
	Normal   Effort = "normal"   // a few steps when what was found does not suffice
	Thorough Effort = "thorough" // a plan first, then as many steps as the limits allow
)

// Valid reports whether e is a known effort.
func (e Effort) Valid() bool {
	switch e {
	case Quick, Normal, Thorough:
		return true
	}
	return false
}

// TurnStatus is the status of a turn:
// accepted → running ⇄ interrupted → completed | cancelled | failed.
type TurnStatus string

const (
	TurnNew         TurnStatus = "new" // the row exists, but the workflow has not accepted the turn: not in the history
	TurnAccepted    TurnStatus = "accepted"
	TurnRunning     TurnStatus = "running"
	TurnInterrupted TurnStatus = "interrupted"
	TurnCompleted   TurnStatus = "completed"
	TurnCancelled   TurnStatus = "cancelled"
	TurnFailed      TurnStatus = "failed"
)

// Settled reports whether the turn has ended.
func (s TurnStatus) Settled() bool {
	return s == TurnCompleted || s == TurnCancelled || s == TurnFailed
}

// CancelReason says why a turn ended early.
type CancelReason string

const (
	UserCancelled CancelReason = "user_cancelled"
	Superseded    CancelReason = "superseded"
	Disconnected  CancelReason = "disconnect"
	RolledBack    CancelReason = "rolled_back"
)

// Content is what a person sent. Two sends are the same if their contents are equal.
type Content struct {
	Message       string          `json:"message"`
	TipTap        json.RawMessage `json:"tiptap_json,omitempty"` // the composer's document, at most 256 kB, already validated
	TaggedDocs    []string        `json:"tagged_doc_ids,omitempty"`
	TaggedSets    []string        `json:"tagged_set_ids,omitempty"`
	Spaces        []string        `json:"space_ids,omitempty"` // that a conversation in no space reads from now on, at most MaxScope
	Action        Action          `json:"action,omitempty"`    // empty: to be inferred
	WebSearch     bool            `json:"enable_web_search,omitempty"`
	NoWebSearch   bool            `json:"no_web_search,omitempty"` // the web must not be searched, whatever the message asks for
	Agent         Agent           `json:"agent"`
	Model         string          `json:"model,omitempty"`                // that the person has chosen (CHAT_MODELS); empty: that of the task
	Attachments   []string        `json:"attachments,omitempty"`          // ids of pictures, at most MaxAttachments
	TimeZone      string          `json:"time_zone,omitempty"`            // of the person, an IANA name; empty: not known
	ParentRequest string          `json:"parent_checkpoint_id,omitempty"` // as requested; empty: the current head
	// References are items of a discovery board that the message is about. Board is the
	// board itself, with the chat so far, when it is the client's and not stored here.
	References []string `json:"references,omitempty"`
	// Temporary: the conversation that a first message begins is in no list, and is deleted when
	// its client leaves it, or when it is idle for a day.
	Temporary bool            `json:"temporary,omitempty"`
	Effort    Effort          `json:"effort,omitempty"` // empty: that of the settings
	Board     json.RawMessage `json:"board,omitempty"`
}

// ThreadKind returns the kind of the thread that a first message with this content creates.
func (c Content) ThreadKind() ThreadKind {
	switch {
	case c.Agent != AgentDiscovery && c.Temporary:
		return ThreadTemporary
	case c.Agent != AgentDiscovery:
		return ThreadConversation
	case len(c.Board) > 0:
		return ThreadOnce
	}
	return ThreadBoard
}

// MaxAttachments limits the pictures of a message.
const MaxAttachments = 8

// Location returns the person's time zone, or that of the server.
func (c Content) Location() *time.Location {
	if l, err := time.LoadLocation(c.TimeZone); err == nil && c.TimeZone != "" {
		return l
	}
	return time.Local
}

// Hash identifies the content: with the same client_turn_id, the same hash is a retry
// and another is a conflict.
func (c Content) Hash() string {
	c.TimeZone = "" // a retry may come from elsewhere
	b, err := json.Marshal(c)
	if err != nil { // only an invalid RawMessage can do this, and the edge has validated it
		b = []byte(c.Message)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Turn is a person's message and everything until its end.
type Turn struct {
	ID           string
	ThreadID     string
	Owner        string
	Parent       string // turn id of the parent; RootCheckpoint for a first turn; empty until the turn starts
	ClientTurnID string // unique per (owner, thread); never empty (the server makes one)
	StreamRunID  string
	Content      Content
	ContentHash  string
	Space        string // of its conversation, or the Scope with which it reads; empty: neither
	Author       string // of a copy of somebody else's turn; empty: the owner
	Status       TurnStatus
	CreatedAt    time.Time
	SettledAt    time.Time // zero while open
	// Place is the turn's position in the order in which the thread ran its turns; 0
	// until the turn begins or is stopped before that.
	Place int
	// Generation counts the conversations with the thread's id, from 1: an id can be
	// reused after its conversation was deleted. 0: not known.
	Generation int
}

// Citation links a numbered marker [n] in an answer to its source. Start and
// End are offsets in characters (runes) of the document's stored text, and
// Quote is verbatim at these offsets.
type Citation struct {
	N       int    `json:"n"`
	Source  string `json:"source"` // "document" or "web"
	DocID   string `json:"doc_id,omitempty"`
	Title   string `json:"title"`
	ChunkID string `json:"chunk_id,omitempty"`
	URL     string `json:"url,omitempty"`
	Quote   string `json:"quote"`
	Start   *int   `json:"start,omitempty"`
	End     *int   `json:"end,omitempty"`
	Page    int    `json:"page,omitempty"` // on which the quote begins, from 1; 0: not known
}

// Usage counts tokens, cost, model calls and web searches.
type Usage struct {
	TokensIn  int     `json:"tokens_in"`
	TokensOut int     `json:"tokens_out"`
	CostUSD   float64 `json:"cost_usd"` // of what has a known price
	Calls     int     `json:"calls"`    // model calls that were answered
	// Unpriced: a part has no known price, so CostUSD is not the whole cost.
	Unpriced bool `json:"unpriced,omitempty"`
	Searches int  `json:"searches,omitempty"` // web searches
}

// Add returns the sum of both.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		TokensIn: u.TokensIn + v.TokensIn, TokensOut: u.TokensOut + v.TokensOut, CostUSD: u.CostUSD + v.CostUSD,
		Calls: u.Calls + v.Calls, Unpriced: u.Unpriced || v.Unpriced, Searches: u.Searches + v.Searches,
	}
}

// Cost returns the cost in US dollars; nil when a part has no known price.
func (u Usage) Cost() *float64 {
	if u.Unpriced {
		return nil
	}
	return &u.CostUSD
}

// Tokens returns the total of both directions.
func (u Usage) Tokens() int { return u.TokensIn + u.TokensOut }

// Message is one message in a conversation's history.
type Message struct {
	ID        string
	Role      string // "user", "assistant" or "system" (a PalAssist prompt)
	Content   string
	CreatedAt time.Time
	TurnID    string
	Space     string // of its turn
	Author    string // of its turn, if that is a copy of somebody else's; empty: the owner
	Parent    string // parent checkpoint: a turn id or RootCheckpoint
	// Metadata of an assistant message: action, citations, confidences,
	// tokens_used, cost_usd, client_turn_id, stream_run_id, finished_reason and,
	// for a kept partial, interrupted, interrupted_reason, token_estimate. Of a
	// user message: client_turn_id, stream_run_id, tagged_doc_ids, tiptap_json,
	// attachments (ids), and author of one that was copied from somebody else's conversation.
	Metadata map[string]any
}

// OpensTurn reports whether a user's message began its turn. The others are answers to
// the turn's questions. Ids are "<turn>.m<n>", and the first message of a turn is 0.
func (m Message) OpensTurn() bool {
	_, n, found := strings.Cut(m.ID, ".m")
	return m.Role == "user" && (!found || n == "0")
}

// Conversation is a thread in a list.
type Conversation struct {
	ID            string
	Owner         string
	Title         string
	CreatedAt     time.Time
	LastMessageAt time.Time
	Status        string // idle, running, interrupted
	Approval      bool   // interrupted by a question about tool calls
	Kind          ThreadKind
	Space         string   // in which it was begun; empty: in none
	Scope         []string // of one in none: the spaces that its turns read, besides its owner's documents
	Shared        bool     // with those who read the space
	Pinned        bool     // listed before the others
	Archived      bool     // not in the list, but in that of the archived ones
	// Match is set by a search: the part around the search words of the newest message that
	// has them; empty when only the title has them.
	Match string
}

// ThreadKind says what a thread is for. Only conversations are listed.
type ThreadKind string

// Kinds of threads.
const (
	ThreadConversation ThreadKind = ""
	ThreadBoard        ThreadKind = "board"     // the chat of the discovery board with the thread's id
	ThreadOnce         ThreadKind = "once"      // for one turn; deleted afterwards
	ThreadTemporary    ThreadKind = "temporary" // deleted when it is left
)

// MaxInstructions limits Profile.Instructions, in characters.
const MaxInstructions = 1500

// Profile is what a user entered about themselves; web queries use industry and location.
type Profile struct {
	Industry string `json:"industry,omitempty"`
	Location string `json:"location,omitempty"`
	// HideSamples: lists, searches and suggestions leave out public documents.
	HideSamples bool `json:"hide_samples,omitempty"`
	// Instructions say how the user wants answers. Models read them as the user's data.
	Instructions string `json:"instructions,omitempty"`
}
