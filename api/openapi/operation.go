// Package openapi makes the OpenAPI document from the operations and Go types of the API.
package openapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/credential"
	"github.com/palaver-chat/palaver/chat"
)

// Operation declares a route: its handler and its description. Errors lists only the
// statuses that do not follow from other fields: every route with a body may return 413,
// every route with an id 404.
type Operation struct {
	Route    string // in the form of the router: "GET /api/me"
	Handle   func(*gin.Context) error
	Stream   bool // counts against the caller's limit of open streams
	Once     bool // a GET that changes something, so that a probe with HEAD must not call it
	Upload   bool // counts against the caller's limit of uploads; File implies it
	Download bool // counts against the caller's limit of downloads
	Probe    bool // has the short timeout of probes
	// InSpace is the least role in a space with which the route works there; 0: it works in no space.
	InSpace chat.Role
	// Sends means that the handler checks the role, with its other reads.
	Sends bool

	// Takes are the kinds of credentials that the route accepts; 0: all. The route of another
	// kind answers 403.
	Takes credential.Kinds
	// Admin routes answer 403 to everybody but administrators, and each answer is in the audit log.
	Admin bool

	Group        string
	About        string
	Open         bool // needs no identity
	Body         any  // type of the JSON request body; nil: none
	File         bool // accepts a multipart file, instead of the body or as well
	BodyOptional bool
	Query        []Param
	Headers      []Param
	Answers      []Answer
	Errors       []int
	Error        any             // type of the error responses; nil: the API's
	Failure      gin.HandlerFunc // chooses the shape of error responses; nil: the API's
}

// Param is a parameter of the query, or a header.
type Param struct {
	Name, About string
	Required    bool
	Enum        []any
	Least, Most int // range of a number; Most 0: not a number
	List        bool
}

// Answer is a successful answer: JSON of a type, a stream of events, or another media type.
type Answer struct {
	Status  int
	JSON    any
	Events  string // schema of the events
	Media   string // of other bodies: media types, separated by spaces
	Headers []string
}

// OK is an answer with JSON of v's type.
func OK(v any, headers ...string) []Answer {
	return []Answer{{Status: http.StatusOK, JSON: v, Headers: headers}}
}

// Created is like OK, with status 201.
func Created(v any, headers ...string) []Answer {
	return []Answer{{Status: http.StatusCreated, JSON: v, Headers: headers}}
}

// Accepted is like OK, with status 202.
func Accepted(v any) []Answer { return []Answer{{Status: http.StatusAccepted, JSON: v}} }

// NoContent is an answer without a body.
func NoContent() []Answer { return []Answer{{Status: http.StatusNoContent}} }

// Streams is a stream of a turn's events.
func Streams(events string) []Answer {
	return []Answer{{Status: http.StatusOK, Events: events, Headers: []string{"X-Thread-Id", "X-Turn-Id", "X-Stream-Run-Id"}}}
}

// StreamsIfAny is Streams, or NoContent when there is nothing to stream.
func StreamsIfAny(events string) []Answer { return append(Streams(events), NoContent()...) }

// Parameters of several operations.
var (
	ParamCursor = Param{Name: "cursor", About: "next_cursor of the previous page."}
	ParamHead   = Param{Name: "head", About: "The checkpoint at which the branch ends. Default: the newest."}
	ParamBefore = Param{Name: "before", About: "Returns messages before the message with this id."}
	ParamMode   = Param{Name: "stream_mode", About: "Which events are sent. Default: the server's setting.", Enum: Values("events", "messages")}
	ParamTokens = Param{Name: "stream_tokens", Enum: Values("true", "false")}
)

// ParamLimit is the size of a page.
func ParamLimit(most int) Param {
	return Param{Name: "limit", About: "Maximum number of results.", Least: 1, Most: most}
}

// Further error statuses: of routes that take a message, and of routes that take an answer
// to a question.
var (
	TakesTurn   = []int{http.StatusNotFound, http.StatusConflict, http.StatusTooManyRequests}
	AnswersTurn = []int{http.StatusNotFound, http.StatusTooManyRequests}
)
