package native

import "github.com/palaver-chat/palaver/api/dialect"

// What this dialect reads and writes, for the OpenAPI document.
var (
	ChatBody   = dialect.Shape{Value: chatBody{}, Needs: []string{"message"}}
	ResumeBody = dialect.Shape{Value: resumeBody{}, Needs: []string{"thread_id", "resume_value"}}
	CancelBody = dialect.Shape{Value: cancelBody{}}

	InterruptEvent = dialect.Shape{Type: "interrupt", Value: interruptJSON{}}
	Events         = []dialect.Shape{
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
