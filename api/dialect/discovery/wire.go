package discovery

import (
	"cmp"
	"encoding/json"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/sse"
	"github.com/palaver-chat/palaver/boards/board"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
)

// The data of each event.
type (
	tokenJSON struct {
		Text string `json:"text"`
	}
	toolCallJSON struct {
		ID     string          `json:"id"` // names the proposal
		Tool   string          `json:"tool"`
		Params json.RawMessage `json:"params"`
	}
	doneJSON struct {
		MessageID string `json:"message_id"`
	}
	errorJSON struct {
		Error string `json:"error"`
	}
)

const paragraph = "\n\n"

// Wire writes a stream of this dialect (dialect.Wire).
type Wire struct {
	sent  dialect.SentText
	piece int // the piece whose text was sent last; 0: none
}

// NewWire makes the wire of a stream.
func NewWire(dialect.Stream) *Wire { return &Wire{} }

func (*Wire) Name() string              { return "discovery" }
func (*Wire) Header() map[string]string { return nil }
func (*Wire) Begin(b []byte) []byte     { return b }
func (*Wire) End(b []byte) []byte       { return b }

// Event leaves out events that this dialect lacks. A tool call is sent once it has become
// a proposal: calls that do not fit the board go back to the model.
func (w *Wire) Event(b []byte, e chat.Event, _ string) []byte {
	switch e.Type {
	case chat.EventToken:
		w.sent.Token(e.Text)
		return w.text(b, e.Piece, e.Text)
	case chat.EventText:
		return w.text(b, e.Piece, w.sent.Piece(e))
	case chat.EventNotice:
		switch e.Code {
		case chat.NoticeRestarted:
			w.sent.Restart()
			w.piece = -1 // the next text begins a paragraph
		case chat.NoticeWrongProposal:
			return w.text(b, -1, e.Message)
		}
	case chat.EventToolResult:
		if !e.IsError {
			return w.proposal(b, e)
		}
	case chat.EventResponse:
		return sse.Named(b, "done", doneJSON{e.TurnID})
	case chat.EventCancelled:
		return sse.Named(w.text(b, w.piece, w.sent.Rest(e.Partial)), "error", errorJSON{messages.AnswerStopped.Text})
	case chat.EventFailed:
		return sse.Named(w.text(b, w.piece, w.sent.Rest(e.Partial)), "error", errorJSON{e.Message})
	}
	return b
}

// text writes text of a piece; a later piece begins with a paragraph break.
func (w *Wire) text(b []byte, piece int, text string) []byte {
	if text == "" {
		return b
	}
	if w.piece != 0 && w.piece != piece {
		text = paragraph + text
	}
	w.piece = piece
	return sse.Named(b, "token", tokenJSON{text})
}

// proposal writes a call as the board understood it.
func (w *Wire) proposal(b []byte, e chat.Event) []byte {
	var made struct {
		Tool   string       `json:"tool"`
		Params board.Params `json:"params"`
	}
	if json.Unmarshal([]byte(e.Text), &made) != nil {
		return b
	}
	params, err := made.Params.OnWire()
	if err != nil {
		return b
	}
	return sse.Named(b, "tool_call", toolCallJSON{e.ToolCallID, cmp.Or(made.Tool, e.ToolName), params})
}
