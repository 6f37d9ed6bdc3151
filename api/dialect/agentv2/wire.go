package agentv2

import (
	"encoding/json"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/sse"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
)

// The JSON of each event; stream_run_id is on every one.
type (
	sessionJSON struct {
		Type        string `json:"type"`
		SessionID   string `json:"session_id"`
		StreamRunID string `json:"stream_run_id"`
	}
	textJSON struct {
		Type        string `json:"type"`
		Content     string `json:"content"`
		StreamRunID string `json:"stream_run_id"`
	}
	toolCallJSON struct {
		Type        string          `json:"type"`
		ID          string          `json:"id"`
		Name        string          `json:"name"`
		Arguments   json.RawMessage `json:"arguments"`
		StreamRunID string          `json:"stream_run_id"`
	}
	toolResultJSON struct {
		Type           string `json:"type"`
		ToolCallID     string `json:"tool_call_id"`
		Name           string `json:"name"`
		Content        string `json:"content"`
		IsError        bool   `json:"is_error"`
		messages.Coded        // of Content
		StreamRunID    string `json:"stream_run_id"`
	}
	noticeJSON struct {
		Type    string `json:"type"`
		Code    string `json:"code"`
		Message string `json:"message"`
		messages.Coded
		StreamRunID string `json:"stream_run_id"`
	}
	interruptJSON struct {
		Type string `json:"type"`
		chat.Interrupt
		SessionID    string `json:"session_id"`
		TurnID       string `json:"turn_id"`
		CheckpointID string `json:"checkpoint_id"`
		StreamRunID  string `json:"stream_run_id"`
	}
	doneJSON struct {
		Type              string            `json:"type"`
		FinishedReason    string            `json:"finished_reason"`
		InterruptedReason chat.CancelReason `json:"interrupted_reason,omitempty"`
		Error             *errorJSON        `json:"error,omitempty"`
		ClientTurnID      string            `json:"client_turn_id"`
		StreamRunID       string            `json:"stream_run_id"`
		Usage             usageJSON         `json:"usage"`
		Citations         []chat.Citation   `json:"citations,omitempty"`  // of the answer, or of its partial
		Unverified        []string          `json:"unverified,omitempty"` // the same
	}
	usageJSON struct {
		TokensIn  int      `json:"tokens_in"`
		TokensOut int      `json:"tokens_out"`
		CostUSD   *float64 `json:"cost_usd"` // null: a model has no known price
		Calls     int      `json:"calls"`
		Searches  int      `json:"searches,omitempty"`
	}
	errorJSON struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		messages.Coded
		Retryable bool `json:"retryable"`
	}
)

// Values of finished_reason. A stream that ends with a question is interrupted.
const (
	stop        = "stop"
	cancelled   = "cancelled"
	interrupted = "interrupted"
	failed      = "error"
)

// Wire writes a stream of this dialect (dialect.Wire).
type Wire struct {
	session, run string
	sent         dialect.SentText
	thinking     dialect.Thinking
	done         doneJSON
}

// reasoningJSON is a delta of what the model thinks.
type reasoningJSON struct {
	Type        string `json:"type"`
	Content     string `json:"content"`
	StreamRunID string `json:"stream_run_id"`
}

// NewWire makes the wire of a stream.
func NewWire(s dialect.Stream) *Wire {
	return &Wire{session: s.Thread, run: s.RunID,
		done: doneJSON{Type: "done", FinishedReason: interrupted, ClientTurnID: s.Turn.ClientTurnID, StreamRunID: s.RunID, Usage: usage(chat.Usage{})}}
}

func (*Wire) Name() string              { return "agent_v2" }
func (*Wire) Header() map[string]string { return nil }

func (w *Wire) Begin(b []byte) []byte { return sse.JSON(b, sessionJSON{"session", w.session, w.run}) }

// Before records the text that earlier streams of the turn have sent (dialect.Historian).
func (w *Wire) Before(e chat.Event) {
	if e.Type == chat.EventText {
		w.sent.Piece(e)
	}
}

// Event leaves out statuses, for which this dialect has no shape.
func (w *Wire) Event(b []byte, e chat.Event, _ string) []byte {
	switch e.Type {
	case chat.EventToken:
		w.sent.Token(e.Text)
		return w.text(b, e.Text)
	case chat.EventText:
		return w.text(b, w.sent.Piece(e))
	case chat.EventThought, chat.EventReasoning:
		for _, step := range w.thinking.Steps(e, false) {
			if step.Text != "" {
				b = sse.JSON(b, reasoningJSON{"reasoning", step.Text, w.run})
			}
		}
		return b
	case chat.EventToolCall:
		return sse.JSON(b, toolCallJSON{"tool_call", e.ToolCallID, e.ToolName, json.RawMessage(chat.Arguments(e.Arguments)), w.run})
	case chat.EventToolResult:
		return sse.JSON(b, toolResultJSON{"tool_result", e.ToolCallID, e.ToolName, e.Text, e.IsError, e.Coded, w.run})
	case chat.EventNotice:
		if e.Code == chat.NoticeRestarted {
			w.sent.Restart()
		}
		return sse.JSON(b, noticeJSON{"notice", e.Code, e.Message, e.Coded, w.run})
	case chat.EventInterrupt:
		if e.Interrupt != nil {
			w.used(e.Usage)
			return sse.JSON(b, interruptJSON{"interrupt", *e.Interrupt, w.session, e.TurnID, e.Interrupt.ID, w.run})
		}
	case chat.EventResponse:
		w.done.FinishedReason = stop
		if e.Response != nil {
			w.done.FinishedReason = e.Response.Finish.Reason()
			w.done.Usage, w.done.Citations = usage(e.Response.Usage), e.Response.Citations
			w.done.Unverified = e.Response.Unverified
		}
	case chat.EventCancelled:
		w.done.FinishedReason, w.done.InterruptedReason = cancelled, e.Reason
		return w.early(b, e)
	case chat.EventFailed:
		w.done.FinishedReason, w.done.Error = failed, &errorJSON{e.Code, e.Message, e.Coded, e.Retryable}
		return w.early(b, e)
	}
	return b
}

// early ends a turn that was cut short: the client gets the text that it lacks.
func (w *Wire) early(b []byte, e chat.Event) []byte {
	w.used(e.Usage)
	w.done.Citations, w.done.Unverified = e.Citations, e.Unverified
	return w.text(b, w.sent.Rest(e.Partial))
}

func (w *Wire) used(u *chat.Usage) {
	if u != nil {
		w.done.Usage = usage(*u)
	}
}

func usage(u chat.Usage) usageJSON {
	return usageJSON{u.TokensIn, u.TokensOut, u.Cost(), u.Calls, u.Searches}
}

func (w *Wire) End(b []byte) []byte { return sse.JSON(b, w.done) }

func (w *Wire) text(b []byte, text string) []byte {
	if text == "" {
		return b
	}
	return sse.JSON(b, textJSON{"text", text, w.run})
}
