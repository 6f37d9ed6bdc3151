package langgraph

import (
	"encoding/json"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/sse"
	"github.com/palaver-chat/palaver/chat"
)

// The JSON of each event, with the dialect's keys and no others.
type (
	startJSON struct {
		Type         string  `json:"type"`
		Phase        string  `json:"phase"`
		ThreadID     string  `json:"thread_id"`
		CheckpointID *string `json:"checkpoint_id"`
	}
	metaJSON struct {
		Type         string `json:"type"`
		Phase        string `json:"phase"`
		CheckpointID string `json:"checkpoint_id"`
	}
	tokenJSON struct {
		Type    string `json:"type"`
		Content string `json:"content"`
	}
	toolCallJSON struct {
		Type      string          `json:"type"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	toolResultJSON struct {
		Type       string `json:"type"`
		ToolCallID string `json:"tool_call_id"`
		Name       string `json:"name"`
		Content    string `json:"content"`
	}
	interruptJSON struct {
		Type    string `json:"type"`
		Payload any    `json:"payload"`
	}
	errorJSON struct {
		Type  string `json:"type"`
		Error string `json:"error"`
	}
	doneJSON struct {
		Type string `json:"type"`
	}
)

// What an interrupt asks.
type (
	approvalJSON struct {
		Type      string         `json:"type"`
		ToolCalls []proposalJSON `json:"tool_calls"`
	}
	proposalJSON struct {
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	optionJSON struct {
		ID    string `json:"id"`
		Label string `json:"label"`
	}
	questionJSON struct {
		Type          string             `json:"type"`
		InterruptType chat.InterruptType `json:"interrupt_type"`
		Message       string             `json:"message"`
		Options       []optionJSON       `json:"options"`
	}
)

// Payload is what an interrupt asks, as streams and GET /interrupt show it.
func Payload(q chat.Interrupt) any {
	if q.Type != chat.ToolApproval {
		return questionJSON{"question", q.Type, q.Message, options(q.Options)}
	}
	out := approvalJSON{Type: "tool_approval_required", ToolCalls: []proposalJSON{}}
	for _, c := range q.Calls {
		out.ToolCalls = append(out.ToolCalls, proposalJSON{c.ID, c.Name, json.RawMessage(chat.Arguments(string(c.Arguments)))})
	}
	return out
}

// options returns options without further fields, which this dialect does not have.
func options(list []chat.Option) []optionJSON {
	out := make([]optionJSON, len(list))
	for i, o := range list {
		out[i] = optionJSON{o.ID, o.Label}
	}
	return out
}

// paragraph separates the pieces of an answer; the dialect's tokens do not name their piece.
const paragraph = "\n\n"

// Wire writes a stream of this dialect (dialect.Wire).
type Wire struct {
	thread string
	parent *string
	whole  bool            // no tokens: each piece is sent when it is finished
	piece  int             // the piece whose text was sent last; 0: none
	calls  map[string]bool // tool calls that were shown
	failed bool
}

// NewWire makes the wire of a stream. checkpoint is the request's parent checkpoint, "" for the newest.
func NewWire(s dialect.Stream, checkpoint string) *Wire {
	w := &Wire{thread: s.Thread, whole: s.View.Messages || s.View.NoTokens, calls: map[string]bool{}}
	if checkpoint != "" {
		w.parent = &checkpoint
	}
	return w
}

func (*Wire) Name() string              { return "langgraph" }
func (*Wire) Header() map[string]string { return nil }

func (w *Wire) Begin(b []byte) []byte {
	return sse.JSON(b, startJSON{"meta", "start", w.thread, w.parent})
}

// Event leaves out statuses and notices, for which the dialect has no shape.
func (w *Wire) Event(b []byte, e chat.Event, _ string) []byte {
	switch e.Type {
	case chat.EventToken:
		return w.text(b, e)
	case chat.EventText:
		if w.whole {
			return w.text(b, e)
		}
	case chat.EventNotice:
		if e.Code == chat.NoticeRestarted && w.piece > 0 {
			return sse.JSON(b, tokenJSON{"token", paragraph})
		}
	case chat.EventToolCall:
		return w.call(b, e.ToolCallID, e.ToolName, json.RawMessage(e.Arguments))
	case chat.EventToolResult:
		return sse.JSON(b, toolResultJSON{"tool_result", e.ToolCallID, e.ToolName, e.Text})
	case chat.EventInterrupt:
		if e.Interrupt != nil {
			return w.interrupt(b, *e.Interrupt)
		}
	case chat.EventResponse, chat.EventCancelled:
		return sse.JSON(b, metaJSON{"meta", "complete", e.TurnID})
	case chat.EventFailed:
		w.failed = true
		return sse.JSON(b, errorJSON{"error", e.Message})
	}
	return b
}

// Before records what earlier streams of the turn have sent (dialect.Historian).
func (w *Wire) Before(e chat.Event) {
	switch {
	case e.Type == chat.EventText && e.Text != "":
		w.piece = e.Piece
	case e.Type == chat.EventToolCall:
		w.calls[e.ToolCallID] = true
	}
}

// text writes text of a piece; a later piece begins with a paragraph break.
func (w *Wire) text(b []byte, e chat.Event) []byte {
	if e.Text == "" {
		return b
	}
	text := e.Text
	if w.piece > 0 && w.piece != e.Piece {
		text = paragraph + text
	}
	w.piece = e.Piece
	return sse.JSON(b, tokenJSON{"token", text})
}

func (w *Wire) call(b []byte, id, name string, arguments json.RawMessage) []byte {
	w.calls[id] = true
	return sse.JSON(b, toolCallJSON{"tool_call", id, name, json.RawMessage(chat.Arguments(string(arguments)))})
}

// interrupt first sends the calls that it asks about, unless the stream has sent them: a person must see
// what they approve.
func (w *Wire) interrupt(b []byte, q chat.Interrupt) []byte {
	for _, c := range q.Calls {
		if !w.calls[c.ID] {
			b = w.call(b, c.ID, c.Name, c.Arguments)
		}
	}
	b = sse.JSON(b, interruptJSON{"interrupt", Payload(q)})
	return sse.JSON(b, metaJSON{"meta", "interrupt", q.ID})
}

func (w *Wire) End(b []byte) []byte {
	if !w.failed {
		b = sse.JSON(b, doneJSON{"done"})
	}
	return append(b, sse.Done...)
}
