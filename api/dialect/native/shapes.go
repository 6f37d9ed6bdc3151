package native

import "github.com/palaver-chat/palaver/api/openapi"

// What this dialect reads and writes, for the OpenAPI document.
var (
	ChatBody   = openapi.Shape{Value: chatBody{}, Needs: []string{"message"}}
	ResumeBody = openapi.Shape{Value: resumeBody{}, Needs: []string{"thread_id", "resume_value"}}
	CancelBody = openapi.Shape{Value: cancelBody{}}

	InterruptEvent = openapi.Shape{Type: "interrupt", Value: interruptJSON{}}
	Events         = []openapi.Shape{
		{Type: "status", Value: statusJSON{}},
		{Type: "token", Value: tokenJSON{}},
		{Type: "tool_call", Value: toolCallJSON{}},
		{Type: "tool_result", Value: toolResultJSON{}},
		{Type: "notice", Value: noticeJSON{}},
		InterruptEvent,
		{Type: "response", Value: responseJSON{}},
		{Type: "cancelled", Value: cancelledJSON{}},
		{Type: "error", Value: errorJSON{}},
	}
)
