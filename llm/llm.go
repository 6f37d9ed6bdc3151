// Package llm is the interface to language models: streaming, structured
// output, tools and usage, over any OpenAI-compatible endpoint or the offline
// engine. It never retries: Temporal does.
package llm

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
)

// Task routes a call to a model: ordinary work or the strong one.
type Task string

const (
	TaskIntent    Task = "intent"
	TaskDocs      Task = "doc_resolution"
	TaskSummarize Task = "summarize"
	TaskInquire   Task = "inquire"
	TaskCompare   Task = "compare"
	TaskAudit     Task = "audit"
	TaskWebQuery  Task = "web_query"
	TaskAssistant Task = "assistant"
	TaskTalk      Task = "talk"
	TaskDiscovery Task = "discovery"
	TaskHistory   Task = "history" // summarizes the older part of a conversation
	TaskTitle     Task = "title"   // writes the title of a conversation
)

// Strong reports whether the task goes to the strong model: compare and audit do.
func (t Task) Strong() bool { return t == TaskCompare || t == TaskAudit }

// Small reports whether the task needs little thought: models are asked for low
// reasoning effort.
func (t Task) Small() bool {
	switch t {
	case TaskIntent, TaskDocs, TaskWebQuery, TaskHistory, TaskTitle, TaskTalk:
		return true
	}
	return false
}

// Role of a prompt message.
type Role string

const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Message is one message of a prompt.
type Message struct {
	Role   Role
	Text   string
	Images []Image    // user messages; for a model without vision the text says how many there are
	Calls  []ToolCall // assistant messages; each is answered by a tool message that follows
	CallID string     // tool messages: the call whose result Text is
	// Reasoning is what the model thought before an assistant message with calls. It is
	// sent only to models that want it back.
	Reasoning string
}

// Image is a picture in a prompt.
type Image struct {
	MIME string
	Data []byte
}

// Tool describes a tool that a model may call.
type Tool struct {
	Name        string // letters, digits, _ and -, at most 64
	Description string
	Schema      json.RawMessage // JSON schema of the arguments, an object
}

// ToolCall is a model's request to run a tool. In a Reply the id is the
// provider's, and the name is a valid tool name that may not have been offered.
// Arguments is what the model wrote; it may be invalid JSON, and always is when
// the call was cut off or the arguments were too long.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string
}

// Limits of a reply. Calls beyond the first MaxCalls are dropped, and the model is told: it
// can ask again when it has read the results.
const (
	MaxCalls         = 16
	MaxCallArguments = chat.MaxArguments // bytes
)

// Reply is the result of a streamed call without its text.
type Reply struct {
	Calls   []ToolCall // in the model's order; none: the answer is complete
	Dropped int        // calls beyond the first MaxCalls
	Usage   chat.Usage
	// NoTools: the model does not support tools, so the request went without them.
	// NoImages: the same for pictures; the text says how many there were.
	NoTools, NoImages bool
	Finish            Finish
	// Reasoning is what the model has thought, which is no part of the answer; at most
	// about MaxReasoning bytes.
	Reasoning string
}

// MaxReasoning limits Reply.Reasoning, in bytes.
const MaxReasoning = 64 << 10

// Finish is how an answer has ended.
type Finish string

const (
	FinishStop   Finish = ""       // it is complete
	FinishLength Finish = "length" // the limit of tokens cut it off
	FinishFilter Finish = "filter" // the provider's content filter cut it off
	FinishAbort  Finish = "abort"  // the provider gave up in the middle
)

// ToolUse is a tool call with its result, in Facts.
type ToolUse struct {
	Call    ToolCall
	Content string
	IsError bool
}

// Passage is a numbered source, shown to the model as
// <passage id="N" title="…">…</passage>.
type Passage struct {
	N       int // 1-based; what the model cites as [N]
	DocID   string
	Title   string
	Heading string
	Text    string
	URL     string // set for a web result
	Score   float64
}

// Document is a candidate of document resolution.
type Document struct {
	ID     string
	Title  string
	Label  string   // the title and what tells the document apart from others; shown to people
	Names  []string // what else it is called: the name of its file first, then others
	Format string   // the type of its file
	Status string   // as chat.DocStatus
	Added  time.Time
	Public bool // a sample that everyone sees, not the person's own
	// Imported: it came by a link and not as a file.
	Imported bool
}

// Facts is a request as structured data. The offline engine reads only Facts;
// remote models read only the prompt (Messages).
type Facts struct {
	Message   string      // the person's latest message, mentions left out
	Language  string      // in which the person asks, as ISO 639-1; empty: what Message tells
	Recent    []Message   // up to five earlier messages, oldest first
	Action    chat.Action // chosen action; empty while unknown
	Documents []Document  // registry, or the documents an answer is about
	Library   []Document  // all that there are, for the engine without a model
	Explicit  []string    // document ids tagged by the person
	Passages  []Passage   // what may be cited
	// Opened are whole documents with tables of which Passages have rows, for the engine without
	// a model. They may be cited, too.
	Opened     []Passage
	Industry   string
	Location   string
	WebAllowed bool
	Weak       bool // the passages have too little for an answer
	Now        time.Time
	Tools      []Tool    // what may be called
	Used       []ToolUse // tool calls of this turn, in order
	Images     int       // pictures that came with the message
	Board      *Board    // the discovery board that the message is about; nil: none
	References []string  // ids of its items that the person named beside the message
}

// Board is a discovery board.
type Board struct {
	Title, Goal string
	Items       []BoardItem // column after column
}

// BoardItem is an item of a discovery board.
type BoardItem struct {
	ID      string // "F-1"
	Column  string // input, fact, insight, recommendation or output
	Title   string // of an input
	Type    string // of an input or an output
	Text    string
	RestsOn []string // ids of items of the column before
	Status  string
	Stale   bool // something that it rests on has changed
	// Document is the id of the document that an input is, or that an item cites.
	Document string
}

// Request is one model call.
type Request struct {
	Task Task
	// Model is one of Info.Choices; empty: the model of the task.
	Model       string
	Messages    []Message
	Facts       Facts
	Tools       []Tool // what the model may call; Stream only
	Temperature float32
	MaxTokens   int // of the answer; reasoning models get more when they need it
	// Reasoning gets what the model thinks, as it arrives; Stream only. nil: nobody reads it.
	Reasoning func(delta string)
	// Retract says that all that was emitted so far was reasoning: some servers leave out
	// the tag that opens it. The answer begins again. Stream only; may be nil.
	Retract func()
}

// By returns the request to a model of Info.Choices; empty: to the model of the task.
func (r Request) By(model string) Request {
	r.Model = model
	return r
}

// Schema names a JSON schema for structured output.
type Schema struct {
	Name        string // identifier, [a-z_]
	Description string
	JSON        json.RawMessage
	// Optional are properties that an answer may lack, or have as null, although JSON
	// requires them: strict modes of providers want every property required.
	Optional []string
}

// Model is a language model. Safe for concurrent use.
type Model interface {
	// Structured asks for JSON that satisfies schema and decodes it into out. It
	// uses what the provider supports (schema, forced tool call or prompt) and
	// makes one repair attempt. It returns ErrUnparseable when the answer still
	// does not fit. Usage is correct even then.
	Structured(ctx context.Context, r Request, schema Schema, out any) (chat.Usage, error)
	// Stream emits the answer as it arrives and collects the model's tool calls. An
	// error from emit aborts the call. A stream that ends without a finish reason
	// is a Retryable error, never an answer. After an error, Usage covers what was
	// consumed until then.
	Stream(ctx context.Context, r Request, emit func(delta string) error) (Reply, error)
	// Embed returns one vector per text, or ErrNoEmbeddings when no embedding model is configured.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// Info describes the model, for /api/config, /readyz and the page.
	Info() Info
}

// Painter generates pictures. Every model of llm/provider implements it;
// Info.Image says whether it can. Safe for concurrent use.
type Painter interface {
	// Paint generates one picture. Size is "1024x1024", "1536x1024", "1024x1536" or
	// empty for the model's choice. The idempotency key is sent along: providers
	// that support it neither generate nor charge twice. Paint never retries. It
	// returns ErrNoImages when no image model is configured.
	Paint(ctx context.Context, prompt, size, idempotencyKey string) (Image, chat.Usage, error)
}

// Info describes the configured model.
type Info struct {
	Provider   string // gemini, openai, anthropic, ollama, openai-compatible, offline
	Name       string
	NameStrong string
	Embedding  string // model name; empty without embeddings
	Image      string // image model; empty: no image model
	Offline    bool
	Vision     bool // takes Message.Images, as far as is known
	// ContextTokens is the window for a prompt and its answer; 0: not known, or large.
	ContextTokens int
	// Choices are the models that a person can choose, Name among them; empty: there is no
	// choice. Blind are those of them that take no pictures, as far as is known.
	Choices, Blind []string
}

// Of returns the name of the model that a request goes to: the one chosen, or that of the task.
func (i Info) Of(r Request) string {
	switch {
	case r.Model != "":
		return r.Model
	case r.Task.Strong() && i.NameStrong != "":
		return i.NameStrong
	}
	return i.Name
}

// Sees reports whether a chosen model takes pictures, as far as is known; empty: Name.
func (i Info) Sees(chosen string) bool {
	if chosen == "" {
		return i.Vision
	}
	return !slices.Contains(i.Blind, chosen)
}

// Error is a failed model call, typed by what can be done about it. Its text is
// for the log: it names provider, model and status, never a key. Activities
// translate it, so that no provider text gets into Temporal's history.
type Error struct {
	Code       string           // one of chat.CodeModel…
	Retryable  bool             // 408, 409, 429, 5xx, network error, incomplete stream, timeout
	RetryAfter time.Duration    // from the provider; 0 when it sent none
	Status     int              // HTTP status; 0 without a response
	Hint       messages.Message // safe to show, e.g. which variable to check
	// ForOperators: the hint helps only the people who run the server.
	ForOperators bool
	Err          error
}

func (e *Error) Error() string { return "model call: " + e.Code + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

type constError string

func (e constError) Error() string { return string(e) }

const (
	// ErrUnparseable: the model's answer does not satisfy the schema, repair included.
	ErrUnparseable = constError("model answer does not fit the schema")
	// ErrNoEmbeddings: no embedding model is configured.
	ErrNoEmbeddings = constError("no embedding model configured")
	// ErrNoImages: no image model is configured.
	ErrNoImages = constError("no image model configured")
)
