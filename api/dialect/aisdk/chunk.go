// Package aisdk is the AI SDK dialect, /api/ui/chat (docs/contract.md):
// the bodies of DefaultChatTransport become commands and turn events become a
// UI message stream, version 1, of chunks that clients of ai 6 and ai 7 support.
package aisdk

import (
	"encoding/json"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/chat/messages"
)

// chunk is one chunk of the stream. Clients refuse unknown chunk types and null in optional
// fields, so empty fields are left out; input, output and data are interfaces or raw JSON, so
// that empty values are kept.
type chunk struct {
	Type             string          `json:"type"`
	MessageID        string          `json:"messageId,omitempty"`
	ID               string          `json:"id,omitempty"`
	Delta            string          `json:"delta,omitempty"`
	ToolCallID       string          `json:"toolCallId,omitempty"`
	ToolName         string          `json:"toolName,omitempty"`
	Input            json.RawMessage `json:"input,omitempty"`
	Output           any             `json:"output,omitempty"`
	ApprovalID       string          `json:"approvalId,omitempty"`
	SourceID         string          `json:"sourceId,omitempty"`
	URL              string          `json:"url,omitempty"`
	MediaType        string          `json:"mediaType,omitempty"`
	Title            string          `json:"title,omitempty"`
	ProviderMetadata *provider       `json:"providerMetadata,omitempty"`
	Data             any             `json:"data,omitempty"`
	Transient        bool            `json:"transient,omitempty"`
	MessageMetadata  map[string]any  `json:"messageMetadata,omitempty"`
	FinishReason     string          `json:"finishReason,omitempty"`
	ErrorText        string          `json:"errorText,omitempty"`

	verdict *verdict // a person's decision, for messages of the history; not sent
}

// provider carries our own fields where the format has none.
type provider struct {
	Palaver map[string]any `json:"palaver"`
}

// The chunk types in use; ai 6 and ai 7 support all of them.
const (
	typeStart           = "start"
	typeStartStep       = "start-step"
	typeTextStart       = "text-start"
	typeTextDelta       = "text-delta"
	typeTextEnd         = "text-end"
	typeThoughtStart    = "reasoning-start"
	typeThoughtDelta    = "reasoning-delta"
	typeThoughtEnd      = "reasoning-end"
	typeToolInput       = "tool-input-available"
	typeApprovalRequest = "tool-approval-request"
	typeToolOutput      = "tool-output-available"
	typeToolError       = "tool-output-error"
	typeToolDenied      = "tool-output-denied"
	typeSourceDocument  = "source-document"
	typeSourceURL       = "source-url"
	typeFile            = "file"
	typeMetadata        = "message-metadata"
	typeFinishStep      = "finish-step"
	typeFinish          = "finish"
	typeError           = "error"

	dataStatus    = "data-status"
	dataDocs      = "data-docs"
	dataInterrupt = "data-interrupt"
	dataNotice    = "data-notice"
	dataTool      = "data-tool-message"
)

// Values of finishReason. "interrupted" exists in ai 7 only.
const (
	finishStop      = "stop"
	finishToolCalls = "tool-calls"
	finishError     = "error"
	finishLength    = "length"
	finishFilter    = "content-filter"
	finishOther     = "other"
)

type statusData struct {
	Node       string `json:"node"`
	Message    string `json:"message"`
	ToolCallID string `json:"tool_call_id,omitempty"`
	WebQuery   string `json:"web_query,omitempty"`
	messages.Coded
	SoFar *dialect.SoFar `json:"so_far,omitempty"`
}

// failureData says in the metadata of a message why its turn failed.
type failureData struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	messages.Coded
	Retryable bool `json:"retryable"`
}

type docsData struct {
	Node string `json:"node"`
	Docs any    `json:"docs"`
}

type noticeData struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	messages.Coded
}

// toolMessage is the message of a tool call's output, which has no field for it.
type toolMessage struct {
	ToolCallID string `json:"tool_call_id"`
	messages.Coded
}
