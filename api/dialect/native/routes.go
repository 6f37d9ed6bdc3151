package native

import (
	"cmp"
	"net/http"
	"reflect"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/openapi"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
)

// Dialect is this dialect.
var Dialect = dialect.Dialect{
	Package:    reflect.TypeFor[handlers]().PkgPath(),
	Prefix:     "Native",
	Operations: operations,
	Events: []openapi.Shape{
		{Type: "status", Value: statusJSON{}},
		{Type: "token", Value: tokenJSON{}},
		{Type: "thought", Value: thoughtJSON{}},
		{Type: "reasoning", Value: reasoningJSON{}},
		{Type: "tool_call", Value: toolCallJSON{}},
		{Type: "tool_result", Value: toolResultJSON{}},
		{Type: "notice", Value: noticeJSON{}},
		interruptEvent,
		{Type: "response", Value: responseJSON{}},
		{Type: "cancelled", Value: cancelledJSON{}},
		{Type: "error", Value: errorJSON{}},
	},
	Words: map[string]openapi.Word{
		"NativeCancelBody.reason":      {Enum: append(openapi.Values(chat.UserCancelled, chat.Disconnected), "")},
		"NativeChatBody.message":       {About: "The user's message.", Max: chat.MaxMessage},
		"NativeChatBody.thread_id":     {About: "The conversation's id, a UUID. Default: a new conversation."},
		"NativeResponse.finish_reason": {Enum: openapi.Values("stop", string(chat.FinishLength), string(chat.FinishFilter), string(chat.FinishBroken))},
		"NativeResumeBody.thread_id":   {Format: "uuid"},
		"Message.role":                 {Enum: openapi.Values("user", "assistant", "system")},
	},
	Renamed: map[string]string{"historyJSON": "History", "messageJSON": "Message", "activeTurnJSON": "ActiveTurn"},
}

const (
	group  = "Native dialect"
	events = "NativeEvent"
)

var interruptEvent = openapi.Shape{Type: "interrupt", Value: interruptJSON{}}

type handlers struct{ dialect.Server }

func operations(s dialect.Server) []openapi.Operation {
	h := handlers{s}
	return []openapi.Operation{
		{Route: "POST /api/chat", InSpace: chat.Reader, Sends: true, Handle: request.Submits(s, ParseChat, newWire), Stream: true, Group: group, About: "Sends a message and streams its turn until it ends or asks a question.",
			Body: openapi.Shape{Value: chatBody{}, Needs: []string{"message"}}, Answers: openapi.Streams(events), Errors: openapi.TakesTurn},
		{Route: "POST /api/chat/resume", InSpace: chat.Reader, Handle: request.Answers(s, ParseResume, newWire), Stream: true, Group: group, About: "Answers the pending question and streams the rest of the turn.",
			Body: openapi.Shape{Value: resumeBody{}, Needs: []string{"thread_id", "resume_value"}}, Answers: openapi.Streams(events), Errors: openapi.AnswersTurn},
		{Route: "POST /api/chat/cancel", InSpace: chat.Reader, Handle: request.Cancels(s, ParseCancel), Group: group, About: "Stops a turn, or one that has not been submitted yet. Idempotent.",
			Body: cancelBody{}, Answers: openapi.Accepted(dialect.Cancelled{}), Errors: []int{http.StatusNotFound}},
		{Route: "GET /api/chat/history/:thread_id", InSpace: chat.Reader, Handle: h.history, Group: group, About: "Returns the messages of a branch, the running turn and the pending question.",
			Query: []openapi.Param{openapi.ParamHead, openapi.ParamBefore, openapi.ParamLimit(500)},
			Answers: openapi.OK(openapi.Shape{Value: historyJSON{},
				Holds: map[string]any{"pending_interrupt": openapi.AnyOf{interruptEvent, nil}}})},
		{Route: "GET /api/chat/stream/:thread_id", InSpace: chat.Reader, Handle: h.follow, Stream: true, Group: group, About: "Streams a thread's events; resumes after Last-Event-ID.",
			Query: []openapi.Param{{Name: "turn_id", About: "The turn to start from. Default: the running turn."},
				{Name: "follow", About: "turn: ends with the turn. thread: continues with later turns.", Enum: openapi.Values("turn", "thread")},
				{Name: "last_event_id", About: "Same as the header Last-Event-ID."}, openapi.ParamMode, openapi.ParamTokens},
			Headers: []openapi.Param{{Name: "Last-Event-ID", About: "The last event that the client has received. The stream continues after it."}},
			Answers: openapi.StreamsIfAny(events), Errors: []int{http.StatusTooManyRequests}},
	}
}

func newWire(dialect.Stream) dialect.Wire { return &Wire{} }

// threadOf reads a thread's id, which must be a UUID in this dialect.
func threadOf(c *gin.Context) (string, error) {
	var p dialect.Problems
	id := p.UUID("thread_id", c.Param("thread_id"))
	return id, p.Err()
}

// follow streams a thread to a client that connects or reconnects.
func (h handlers) follow(c *gin.Context) error {
	thread, err := threadOf(c)
	if err != nil {
		return err
	}
	var p dialect.Problems
	f := dialect.Follow{ThreadID: thread, TurnID: c.Query("turn_id"), After: cmp.Or(c.GetHeader("Last-Event-ID"), c.Query("last_event_id"))}
	f.WholeThread = p.Choice("follow", c.Query("follow"), "turn", "thread")
	f.View = p.View(c.Query("stream_mode"), nil)
	f.View.NoTokens = p.Choice("stream_tokens", c.Query("stream_tokens"), "true", "false")
	p.ID("turn_id", f.TurnID)
	if f.After != "" && !h.IsEventID(f.After) {
		p.Add("last_event_id", "is not an event id")
	}
	if err := p.Err(); err != nil {
		return err
	}
	return h.FollowThread(c, f, &Wire{IDs: true})
}
