package agentv2

import "github.com/palaver-chat/palaver/api/openapi"

// What this dialect reads and writes, for the OpenAPI document.
var (
	StreamBody = openapi.Shape{Value: streamBody{}, Needs: []string{"message", "client_turn_id", "stream_run_id"}}
	ResumeBody = openapi.Shape{Value: resumeBody{}, Needs: []string{"resume_value"}}
	StopBody   = openapi.Shape{Value: stopBody{}}

	Events = []openapi.Shape{
		{Type: "session", Value: sessionJSON{}},
		{Type: "text", Value: textJSON{}},
		{Type: "tool_call", Value: toolCallJSON{}},
		{Type: "tool_result", Value: toolResultJSON{}},
		{Type: "notice", Value: noticeJSON{}},
		{Type: "interrupt", Value: interruptJSON{}},
		{Type: "done", Value: doneJSON{}},
	}
)
