package langgraph

import "github.com/palaver-chat/palaver/api/dialect"

// What this dialect reads and writes, for the OpenAPI document.
var (
	StreamBody = dialect.Shape{Value: streamBody{},
		Holds: map[string]any{"message": messageBody{}, "messages": []messageBody{}}}
	FeedbackBody = dialect.Shape{Value: feedbackBody{}, Needs: []string{"thread_id", "approval_data"}}

	Nested = []dialect.Shape{
		{Value: messageBody{}, Needs: []string{"content"}, Holds: map[string]any{"content": dialect.AnyOf{"", []partBody{}}}},
		{Value: partBody{}, Needs: []string{"type"}},
	}

	// Asked is what an interrupt asks, as Payload returns it.
	Asked = dialect.AnyOf{approvalJSON{}, questionJSON{}}

	Events = []dialect.Shape{
		{Type: "meta", Value: startJSON{}},
		{Type: "meta", Value: metaJSON{}},
		{Type: "token", Value: tokenJSON{}},
		{Type: "tool_call", Value: toolCallJSON{}},
		{Type: "tool_result", Value: toolResultJSON{}},
		{Type: "interrupt", Value: interruptJSON{}, Holds: map[string]any{"payload": Asked}},
		{Type: "error", Value: errorJSON{}},
		{Type: "done", Value: doneJSON{}},
	}
)
