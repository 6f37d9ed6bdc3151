package aisdk

import (
	"github.com/palaver-chat/palaver/api/openapi"
	"github.com/palaver-chat/palaver/chat"
)

// What this dialect reads and writes, for the OpenAPI document.
var (
	ChatBody = openapi.Shape{Value: body{}, Holds: map[string]any{
		"messages": []message{}, "message": openapi.AnyOf{"", message{}}}}
	StopBody = openapi.Shape{Value: stopBody{}}

	Nested = []openapi.Shape{
		{Value: message{}, Needs: []string{"role"}, Holds: map[string]any{"content": "", "parts": []part{}}},
		{Value: part{}, Needs: []string{"type"}},
		{Value: resume{}, Needs: []string{"resume_value"}},
	}

	Events = []openapi.Shape{
		chunkOf(typeStart, "messageId", "messageMetadata"),
		chunkOf(typeStartStep),
		chunkOf(typeTextStart, "id"),
		chunkOf(typeTextDelta, "id", "delta"),
		chunkOf(typeTextEnd, "id", "providerMetadata?"),
		chunkOf(typeToolInput, "toolCallId", "toolName", "input"),
		chunkOf(typeApprovalRequest, "approvalId", "toolCallId"),
		chunkOf(typeToolOutput, "toolCallId", "output"),
		chunkOf(typeToolError, "toolCallId", "errorText"),
		chunkOf(typeToolDenied, "toolCallId"),
		chunkOf(typeSourceDocument, "sourceId", "mediaType", "title", "providerMetadata"),
		chunkOf(typeSourceURL, "sourceId", "url", "title?", "providerMetadata"),
		chunkOf(typeFile, "url", "mediaType"),
		dataOf(dataStatus, statusData{}, "data", "transient"),
		dataOf(dataDocs, docsShape, "id?", "data"),
		dataOf(dataInterrupt, question{}, "id", "data"),
		dataOf(dataNotice, noticeData{}, "id?", "data"),
		chunkOf(typeMetadata, "messageMetadata"),
		chunkOf(typeFinishStep),
		chunkOf(typeFinish, "finishReason"),
		chunkOf(typeError, "errorText"),
	}
)

var docsShape = openapi.Shape{Value: docsData{}, Holds: map[string]any{"docs": []chat.DocRef{}}}

func chunkOf(kind string, fields ...string) openapi.Shape {
	return openapi.Shape{Name: kind, Type: kind, Value: chunk{}, Only: append([]string{"type"}, fields...)}
}

func dataOf(kind string, data any, fields ...string) openapi.Shape {
	s := chunkOf(kind, fields...)
	s.Holds = map[string]any{"data": data}
	return s
}
