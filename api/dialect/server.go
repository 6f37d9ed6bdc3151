package dialect

import (
	"context"
	"log/slog"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/openapi"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
)

// Dialect is a wire format with its routes.
type Dialect struct {
	// Prefix names the dialect. The names of its schemas in the OpenAPI document begin with
	// it: the schema of the type messageJSON is PrefixMessage.
	Prefix string
	// Package is the import path of the Go package of its types:
	// reflect.TypeFor[someType]().PkgPath().
	Package string
	// Operations returns the routes with their handlers. It is also called before the server
	// runs, so only the handlers may use the Server.
	Operations func(Server) []openapi.Operation
	Events     []openapi.Shape         // data lines of its streams
	Data       openapi.AnyOf           // data lines of its streams, if the events' names tell them apart; instead of Events
	Nested     []openapi.Shape         // types inside its bodies
	Words      map[string]openapi.Word // describe fields of its schemas, by "Schema.field"
	Renamed    map[string]string       // names of schemas by type, if they are not Prefix and the type's name
	// Failure makes the body of an error response in the dialect's own shape; nil: the
	// API's shape. FailureShape has the type of the body.
	Failure      func(Failure) any
	FailureShape any
	// Below is one path, or with a slash at the end all paths with this prefix, that only the
	// dialect's clients use. Errors there have the dialect's shape even where no route
	// exists. Empty: the dialect's paths begin with /api/.
	Below string
}

// Failure is an error response.
type Failure struct {
	Status    int
	Code      string
	Message   messages.Message
	RequestID string
	Details   Problems
}

// NewWire makes the Wire of a stream.
type NewWire func(Stream) Wire

// Server is what the handlers of all dialects need of the API.
type Server interface {
	Streams
	Reads
	Rows

	// KeepPicture stores a picture inside a message and returns its id.
	KeepPicture(c *gin.Context, thread string, data []byte) (id string, _ error)
	// KeepDocument stores a document inside a message of a thread like an upload and returns
	// its id. The same file of a thread is one document.
	KeepDocument(c *gin.Context, thread string, f File) (id string, _ error)
	// ThreadNamed returns the id of an owner's thread that a client calls name.
	ThreadNamed(owner, name string) string
	// IsEventID reports whether id can be one of our event ids.
	IsEventID(id string) bool
	// NotFound reports whether err says that something does not exist for the caller.
	NotFound(err error) bool
	// Unavailable reports whether err says that the database cannot be reached.
	Unavailable(err error) bool
	Agents() chat.Agents
	// Models returns the names of the models that people can choose, the default first; empty:
	// there is no choice.
	Models() []string
	// HasModel reports whether a model, or the offline engine, is configured.
	HasModel() bool
	// Origin returns the scheme and host with which the client addresses the server.
	Origin(c *gin.Context) string
	Log() *slog.Logger
}

// Streams are the commands to threads and the streams of turns, for a request's caller.
type Streams interface {
	// EnterSpace lets the request work in the space that its body names; empty: that of the
	// header, or none.
	EnterSpace(c *gin.Context, id string) error
	// Submit takes a message and streams its turn until it is over or waits for a person.
	Submit(c *gin.Context, in Submit, wire NewWire) error
	// Answer answers a thread's question and streams the rest of its turn.
	Answer(c *gin.Context, in Answer, wire NewWire) error
	// Cancel stops a turn and answers with Cancelled.
	Cancel(c *gin.Context, in Cancel) error
	// FollowThread streams a thread to a client that connects or reconnects.
	FollowThread(c *gin.Context, in Follow, wire Wire) error
	// FollowRunning streams the turn that a thread runs, from its beginning.
	FollowRunning(c *gin.Context, in RunningTurn, wire NewWire) error
	// ViewOf returns a view with the server's stream_mode, if the client named none.
	ViewOf(View) View
}

// Reads reads the messages, turns and questions of an owner's threads.
type Reads interface {
	// History returns the newest limit messages of a branch before a message, oldest
	// first, and where it branches.
	History(ctx context.Context, owner, thread, head, before string, limit int) (messages []chat.Message, branches map[string][]string, _ error)
	// NeverUsed reports whether err says that a thread is not found and the owner has never had
	// it, so that its history is empty.
	NeverUsed(ctx context.Context, owner, thread string, err error) bool
	// Logs returns turns and their events by turn id. Running turns have no events.
	Logs(ctx context.Context, owner string, turnIDs []string) (map[string]TurnLog, error)
	// Author returns the owner of a thread that somebody else shares with the request's space,
	// and a context to read it; owner for their own.
	Author(ctx context.Context, owner, thread string) (_ context.Context, author string, _ error)
	// OpenTurns returns a thread's open turns, oldest first.
	OpenTurns(ctx context.Context, owner, thread string) ([]chat.Turn, error)
	// Question returns the interrupt that a thread waits on, nil for none.
	Question(ctx context.Context, owner, thread string) (*chat.Event, error)
	// TurnOfClient returns the turn that a client calls clientTurnID.
	TurnOfClient(ctx context.Context, owner, thread, clientTurnID string) (chat.Turn, error)
}

// Rows reads database rows of an owner's threads.
type Rows interface {
	Conversation(ctx context.Context, owner, id string) (chat.Conversation, error)
	// Head returns the newest checkpoint of a thread.
	Head(ctx context.Context, owner, thread string) (string, error)
	Turn(ctx context.Context, owner, id string) (chat.Turn, error)
	// TurnOfMessage returns the turn of a message in History.
	TurnOfMessage(ctx context.Context, owner, thread, messageID string) (chat.Turn, error)
	// TurnsOfRun returns the newest turns with a stream_run_id, in any thread.
	TurnsOfRun(ctx context.Context, owner, runID string) ([]chat.Turn, error)
	AttachmentsByID(ctx context.Context, owner string, ids []string) ([]chat.Attachment, error)
}

// Follow says which part of a thread a stream shows.
type Follow struct {
	ThreadID    string
	TurnID      string // the first turn; empty: that of After, or the one that runs
	After       string // the event id after which it begins; empty: a turn's beginning
	WholeThread bool   // turn after turn
	View        View
}

// RunningTurn says how to stream the turn that a thread runs.
type RunningTurn struct {
	ThreadID   string
	ThreadName string // as the client calls it
	View       View
}

// TurnLog is a turn with its events.
type TurnLog struct {
	Turn   chat.Turn
	Events []chat.Event
}

// Cancelled is the JSON of a cancel's result: one of these states, or the status of a
// turn that had ended.
type Cancelled struct {
	TurnID string `json:"turn_id,omitempty"`
	Status string `json:"status"`
}

// Results of a cancel that are not a status of a turn.
const (
	Cancelling    = "cancelling" // the turn is being cancelled
	CancelPending = "pending"    // no such turn yet; it will be cancelled when it is submitted
	NothingRuns   = "idle"
)

// RenamedFields is an error whose fields have other names in a dialect.
type RenamedFields struct {
	Err  error
	Name func(field string) string
}

func (r RenamedFields) Error() string { return r.Err.Error() }

func (r RenamedFields) Unwrap() error { return r.Err }

// Details returns problems under the dialect's names.
func (r RenamedFields) Details(all Problems) Problems {
	all = slices.Clone(all)
	for i := range all {
		all[i].Field = r.Name(all[i].Field)
	}
	return all
}
