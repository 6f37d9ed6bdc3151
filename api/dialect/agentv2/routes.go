package agentv2

import (
	"net/http"
	"reflect"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/openapi"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
)

// Dialect is this dialect.
var Dialect = dialect.Dialect{
	Package:    reflect.TypeFor[Wire]().PkgPath(),
	Prefix:     "AgentV2",
	Operations: operations,
	Events: []openapi.Shape{
		{Type: "session", Value: sessionJSON{}},
		{Type: "text", Value: textJSON{}},
		{Type: "reasoning", Value: reasoningJSON{}},
		{Type: "tool_call", Value: toolCallJSON{}},
		{Type: "tool_result", Value: toolResultJSON{}},
		{Type: "notice", Value: noticeJSON{}},
		{Type: "interrupt", Value: interruptJSON{}},
		{Type: "done", Value: doneJSON{}},
	},
	Words: map[string]openapi.Word{
		"AgentV2Done.finished_reason":  {Enum: openapi.Values(stop, cancelled, interrupted, failed)},
		"AgentV2StopBody.reason":       {Enum: append(openapi.Values(chat.UserCancelled, chat.Superseded, chat.Disconnected), "")},
		"AgentV2StreamBody.message":    {About: "The user's message.", Max: chat.MaxMessage},
		"AgentV2StreamBody.session_id": {About: "The client's name of the conversation. Default: client_turn_id.", Max: dialect.MaxID},
	},
}

const (
	group  = "Agent v2 dialect"
	events = "AgentV2Event"
)

func operations(s dialect.Server) []openapi.Operation {
	return []openapi.Operation{
		{Route: "POST /api/agent/v2/stream", InSpace: chat.Reader, Sends: true, Handle: request.Submits(s, ParseStream, newWire), Stream: true, Group: group, About: "Sends a message and streams its turn.",
			Body: openapi.Shape{Value: streamBody{}, Needs: []string{"message", "client_turn_id", "stream_run_id"}}, Answers: openapi.Streams(events), Errors: openapi.TakesTurn},
		{Route: "POST /api/agent/v2/resume", InSpace: chat.Reader, Handle: request.Answers(s, ParseResume, newWire), Stream: true, Group: group, About: "Answers the pending question and streams the rest of the turn.",
			Body: openapi.Shape{Value: resumeBody{}, Needs: []string{"resume_value"}}, Answers: openapi.Streams(events), Errors: openapi.AnswersTurn},
		{Route: "POST /api/agent/v2/stop", InSpace: chat.Reader, Handle: request.Cancels(s, ParseStop), Group: group, About: "Stops a turn, or one that has not been submitted yet. Idempotent.",
			Body: stopBody{}, Answers: openapi.Accepted(dialect.Cancelled{}), Errors: []int{http.StatusNotFound}},
	}
}

func newWire(s dialect.Stream) dialect.Wire { return NewWire(s) }
