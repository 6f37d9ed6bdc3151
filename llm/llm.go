// Package llm is the one interface to language models: streaming, structured
// output, tools and usage, over any OpenAI-compatible endpoint or the offline
// engine. It never retries on its own: retries belong to Temporal.
package llm

import (
	"context"
	"encoding/json"
	"time"

	"github.com/palaver-chat/palaver/chat"
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
)

// TaskFor is the task that answers for an action.
func TaskFor(a chat.Action) Task { return Task(a) }

// Strong reports whether the task goes to the strong model: compare and audit do.
func (t Task) Strong() bool { return t == TaskCompare || t == TaskAudit }

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
	Images []Image    // user messages; a model that takes none is told that they were there
	Calls  []ToolCall // assistant messages; each is answered by a tool message that follows
	CallID string     // tool messages: the call whose result Text is
}

// Image is a picture put before the model.
type Image struct {
	MIME string
	Data []byte
}

// Tool is what a model is told about a tool it may call.
type Tool struct {
	Name        string // letters, digits, _ and -, at most 64
	Description string
	Schema      json.RawMessage // JSON schema of the arguments, an object
}

// ToolCall is a model's wish to run a tool. In a Reply the id is the provider's
// and means nothing to us, and the name may be one that was not offered, though
// always of a tool name's form. Arguments is what the model wrote, JSON or not:
// those of a call that was cut off, or that were too long, never are.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string
}

// Limits of a reply. Calls beyond the first MaxCalls are left out: a model that
// reads the results asks again.
const (
	MaxCalls         = 16
	MaxCallArguments = chat.MaxArguments // bytes
)

// Reply is what a streamed call came to, its text apart.
type Reply struct {
	Calls []ToolCall // in the model's order; none: the answer is complete
	Usage chat.Usage
	// NoTools: the model takes no tools, so it was asked without those offered.
	// NoImages: the same of pictures; it was told that they were there.
	NoTools, NoImages bool
}

// Used is a tool call that has its result, in Facts.
type Used struct {
	Call    ToolCall
	Content string
	IsError bool
}

// Passage is a numbered source put before the model as
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
	Public bool // a sample that everyone sees, not the person's own
}

// Facts is what a request is about, in the words of the domain. Remote models
// read the prompt (Messages) and ignore it; the offline engine works from it
// alone.
type Facts struct {
	Message    string      // the person's latest message, mentions left out
	Recent     []Message   // up to five earlier messages, oldest first
	Action     chat.Action // chosen action; empty while unknown
	Documents  []Document  // registry, or the documents an answer is about
	Explicit   []string    // document ids tagged by the person
	Passages   []Passage   // what may be cited
	Industry   string
	Location   string
	WebAllowed bool
	Tools      []Tool // what may be called
	Used       []Used // what was called in this turn, in order
	Images     int    // pictures that came with the message
}

// Request is one model call.
type Request struct {
	Task        Task
	Messages    []Message
	Facts       Facts
	Tools       []Tool // what the model may call; Stream only
	Temperature float32
	MaxTokens   int
}

// Schema names a JSON schema for structured output.
type Schema struct {
	Name        string // identifier, [a-z_]
	Description string
	JSON        json.RawMessage
}

// Model is what activities talk to. Safe for concurrent use.
type Model interface {
	// Structured asks for JSON that satisfies schema and decodes it into out,
	// by what the provider can do (schema, forced tool call, prompt), with one
	// repair attempt. ErrUnparseable when the answer still does not fit; Usage
	// is right even then.
	Structured(ctx context.Context, r Request, schema Schema, out any) (chat.Usage, error)
	// Stream writes the answer as it comes, and collects the tool calls that the
	// model wants made. emit's error aborts the call. A stream that ends without a
	// finish reason is an error (Retryable), never an answer. Usage is right as
	// far as it is known even when there is an error.
	Stream(ctx context.Context, r Request, emit func(delta string) error) (Reply, error)
	// Embed returns a vector per text; ErrNoEmbeddings when none is configured.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// Info says what answers, for /api/config, /readyz and the page.
	Info() Info
}

// Painter makes pictures. Every model of llm/provider is one; Info.Image says
// whether it can. Safe for concurrent use.
type Painter interface {
	// Paint draws one picture. Size is "1024x1024", "1536x1024", "1024x1536" or
	// empty for the model's choice. The key names this one order: it is sent
	// along, so that a provider that honours it does not draw, or charge, twice.
	// Like every call it is made once; ErrNoImages when no model is configured.
	Paint(ctx context.Context, prompt, size, idempotencyKey string) (Image, chat.Usage, error)
}

// Info describes the configured model.
type Info struct {
	Provider   string // gemini, openai, anthropic, ollama, openai-compatible, offline
	Name       string
	NameStrong string
	Embedding  string // model name; empty without embeddings
	Image      string // model that paints; empty: none does
	Offline    bool
	Vision     bool // takes Message.Images
}

// Error is a failed model call, typed by what can be done about it. Its text is
// for the log: it names provider, model and status, and never a key. Upstream
// text stays out of Temporal's history: activities translate it.
type Error struct {
	Code       string        // one of chat.CodeModel…
	Retryable  bool          // 408, 409, 429, 5xx, network, cut stream, silence
	RetryAfter time.Duration // as the provider asked; 0 when it did not
	Status     int           // HTTP status; 0 when none came
	Hint       string        // safe for people: e.g. which variable to check
	Err        error
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
