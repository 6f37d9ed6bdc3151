package native

import (
	"encoding/json"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
)

// The JSON of each event; field order is what a person sees on the wire.
type (
	// run is the client's name for the run that an event belongs to.
	run struct {
		StreamRunID string `json:"stream_run_id,omitempty"`
	}
	statusJSON struct {
		Type    string    `json:"type"`
		Node    chat.Node `json:"node"`
		Message string    `json:"message"`
		messages.Coded
		ToolCallID string         `json:"tool_call_id,omitempty"`
		DocsFound  []chat.DocRef  `json:"docs_found,omitempty"`
		WebQuery   string         `json:"web_query,omitempty"`
		SoFar      *dialect.SoFar `json:"so_far,omitempty"`
		run
		EventID string `json:"event_id"`
	}
	tokenJSON struct {
		Type    string `json:"type"`
		Content string `json:"content"`
		run
		EventID string `json:"event_id"`
	}
	// thoughtJSON is a delta of what the model thinks now, after offset characters of it.
	thoughtJSON struct {
		Type    string `json:"type"`
		Content string `json:"content"`
		Offset  int    `json:"offset"`
		run
		EventID string `json:"event_id"`
	}
	// reasoningJSON is all that the model has thought before it wrote or called a tool.
	reasoningJSON struct {
		Type    string `json:"type"`
		Content string `json:"content"`
		Took    int    `json:"took_ms"`
		run
		EventID string `json:"event_id"`
	}
	toolCallJSON struct {
		Type      string          `json:"type"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		run
		EventID string `json:"event_id"`
	}
	toolResultJSON struct {
		Type           string `json:"type"`
		ToolCallID     string `json:"tool_call_id"`
		Name           string `json:"name"`
		Content        string `json:"content"`
		IsError        bool   `json:"is_error"`
		messages.Coded        // of Content
		run
		EventID string `json:"event_id"`
	}
	noticeJSON struct {
		Type    string `json:"type"`
		Code    string `json:"code"`
		Message string `json:"message"`
		messages.Coded
		run
		EventID string `json:"event_id"`
	}
	responseJSON struct {
		Type                string          `json:"type"`
		Response            string          `json:"response"`
		Citations           []chat.Citation `json:"citations"`
		Unverified          []string        `json:"unverified,omitempty"`
		Action              chat.Action     `json:"action"`
		InferenceConfidence chat.Confidence `json:"inference_confidence"`
		RetrievalConfidence chat.Confidence `json:"retrieval_confidence"`
		Model               string          `json:"model,omitempty"` // that the person has chosen
		TokensUsed          int             `json:"tokens_used"`
		CostUSD             *float64        `json:"cost_usd"` // null: a model has no known price
		WebSearches         int             `json:"web_searches,omitempty"`
		FinishReason        string          `json:"finish_reason"`
		ThreadID            string          `json:"thread_id"`
		TurnID              string          `json:"turn_id"`
		CheckpointID        string          `json:"checkpoint_id"`
		run
		EventID string `json:"event_id"`
	}
	interruptJSON struct {
		Type string `json:"type"`
		chat.Interrupt
		ThreadID     string `json:"thread_id"`
		TurnID       string `json:"turn_id"`
		CheckpointID string `json:"checkpoint_id"`
		run
		EventID string `json:"event_id,omitempty"`
	}
	cancelledJSON struct {
		Type       string            `json:"type"`
		Reason     chat.CancelReason `json:"reason"`
		Partial    string            `json:"partial"`
		Citations  []chat.Citation   `json:"citations,omitempty"`
		Unverified []string          `json:"unverified,omitempty"`
		TurnID     string            `json:"turn_id"`
		run
		EventID string `json:"event_id"`
	}
	errorJSON struct {
		Type    string `json:"type"`
		Message string `json:"message"`
		messages.Coded
		Code       string          `json:"code"`
		Retryable  bool            `json:"retryable"`
		Partial    string          `json:"partial,omitempty"`
		Citations  []chat.Citation `json:"citations,omitempty"`
		Unverified []string        `json:"unverified,omitempty"`
		TurnID     string          `json:"turn_id"`
		run
		EventID string `json:"event_id,omitempty"`
	}
)

// Encode returns an event as one line of JSON, nil for events that this dialect does not send: the start of
// a turn, a finished piece of text (tokens and the response have it) and the answer to a question.
func Encode(e chat.Event, id string) []byte {
	switch e.Type {
	case chat.EventStatus:
		return line(statusJSON{"status", e.Node, e.Message, e.Coded, e.ToolCallID, e.DocsFound, e.WebQuery, dialect.SoFarOf(e), run{e.StreamRunID}, id})
	case chat.EventToken:
		return line(tokenJSON{"token", e.Text, run{e.StreamRunID}, id})
	case chat.EventThought:
		return line(thoughtJSON{"thought", e.Text, e.Offset, run{e.StreamRunID}, id})
	case chat.EventReasoning:
		return line(reasoningJSON{"reasoning", e.Text, e.Took, run{e.StreamRunID}, id})
	case chat.EventToolCall:
		return line(toolCallJSON{"tool_call", e.ToolCallID, e.ToolName, json.RawMessage(chat.Arguments(e.Arguments)), run{e.StreamRunID}, id})
	case chat.EventToolResult:
		return line(toolResultJSON{"tool_result", e.ToolCallID, e.ToolName, e.Text, e.IsError, e.Coded, run{e.StreamRunID}, id})
	case chat.EventNotice:
		return line(noticeJSON{"notice", e.Code, e.Message, e.Coded, run{e.StreamRunID}, id})
	case chat.EventInterrupt:
		if e.Interrupt != nil {
			return Interrupt(e, id)
		}
	case chat.EventResponse:
		r := e.Response
		if r == nil {
			r = &chat.Response{}
		}
		citations := r.Citations
		if citations == nil {
			citations = []chat.Citation{}
		}
		return line(responseJSON{"response", r.Text, citations, r.Unverified, r.Action, r.InferenceConfidence, r.RetrievalConfidence, r.Model,
			r.Usage.Tokens(), r.Usage.Cost(), r.Usage.Searches, r.Finish.Reason(), e.ThreadID, e.TurnID, e.TurnID, run{e.StreamRunID}, id})
	case chat.EventCancelled:
		return line(cancelledJSON{"cancelled", e.Reason, e.Partial, e.Citations, e.Unverified, e.TurnID, run{e.StreamRunID}, id})
	case chat.EventFailed:
		return line(errorJSON{"error", e.Message, e.Coded, e.Code, e.Retryable, e.Partial, e.Citations, e.Unverified, e.TurnID, run{e.StreamRunID}, id})
	}
	return nil
}

// Interrupt returns the JSON of a question for streams and the history; its id is also its checkpoint.
func Interrupt(e chat.Event, id string) []byte {
	return line(interruptJSON{"interrupt", *e.Interrupt, e.ThreadID, e.TurnID, e.Interrupt.ID, run{e.StreamRunID}, id})
}

func line(v any) []byte {
	b, err := json.Marshal(v) // compact, so no line break can be in it
	if err != nil {           // a NaN cost; nothing else here can fail
		return nil
	}
	return b
}
