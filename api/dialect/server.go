package dialect

import (
	"context"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/openapi"
	"github.com/palaver-chat/palaver/chat"
)

// Dialect is a wire format with its routes. The API lists all of them in one place.
type Dialect struct {
	Package    string                  // its Go package
	Prefix     string                  // of the names of its schemas
	Events     []openapi.Shape         // of the data lines of its streams
	Nested     []openapi.Shape         // inside its bodies
	Words      map[string]openapi.Word // about the fields of its schemas
	Renamed    map[string]string       // names of schemas that are not the prefix and the type's name
	Operations func(Server) []openapi.Operation
}

// NewWire makes the Wire of a stream.
type NewWire func(Stream) Wire

// Server is what the handlers of all dialects need of the API. Its streams and commands
// are those of the request's caller.
type Server interface {
	// ThreadNamed returns the id of an owner's thread that a client calls name.
	ThreadNamed(owner, name string) string
	// Submit takes a message and streams its turn until it is over or waits for a person.
	Submit(c *gin.Context, in Submit, wire NewWire) error
	// Answer answers a thread's question and streams the rest of its turn.
	Answer(c *gin.Context, in Answer, wire NewWire) error
	// Cancel stops a turn and answers with Cancelled.
	Cancel(c *gin.Context, in Cancel) error

	// OpenTurns returns a thread's open turns, oldest first.
	OpenTurns(ctx context.Context, owner, thread string) ([]chat.Turn, error)
	// Question returns the interrupt that a thread waits on, nil for none.
	Question(ctx context.Context, owner, thread string) (*chat.Event, error)
	// Head returns the newest checkpoint of a thread.
	Head(ctx context.Context, owner, thread string) (string, error)

	// NotFound reports whether err says that something is not there for the caller.
	NotFound(err error) bool
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

// Renamed is an error whose fields have other names in a dialect.
type Renamed struct {
	Err  error
	Name func(field string) string
}

func (r Renamed) Error() string { return r.Err.Error() }

func (r Renamed) Unwrap() error { return r.Err }

// Details returns problems under the dialect's names.
func (r Renamed) Details(all Problems) Problems {
	all = slices.Clone(all)
	for i := range all {
		all[i].Field = r.Name(all[i].Field)
	}
	return all
}
