package langgraph

import "github.com/palaver-chat/palaver/api/openapi"

// What this dialect reads and writes, for the OpenAPI document.
var (
	StreamBody = openapi.Shape{Value: streamBody{},
		Holds: map[string]any{"message": messageBody{}, "messages": []messageBody{}}}
	FeedbackBody = openapi.Shape{Value: feedbackBody{}, Needs: []string{"thread_id", "approval_data"}}

	Nested = []openapi.Shape{
		{Value: messageBody{}, Needs: []string{"content"}, Holds: map[string]any{"content": openapi.AnyOf{"", []partBody{}}}},
		{Value: partBody{}, Needs: []string{"type"}},
	}

	// Asked is what an interrupt asks, as Payload returns it.
	Asked = openapi.AnyOf{approvalJSON{}, questionJSON{}}

	Events = []openapi.Shape{
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
