package discovery

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/chat"
)

func written(events ...chat.Event) string {
	w := NewWire(dialect.Stream{})
	out := w.Begin(nil)
	for _, e := range events {
		out = w.Event(out, e, "id")
	}
	return string(w.End(out))
}

// Rule K11.
func TestTurnBecomesNamedEvents(t *testing.T) {
	t.Parallel()
	got := written(
		chat.Event{Type: chat.EventStatus, Message: "Thinking..."},
		chat.Event{Type: chat.EventToken, Piece: 1, Text: "I "},
		chat.Event{Type: chat.EventText, Piece: 1, Text: "I propose."},
		chat.Event{Type: chat.EventToolCall, ToolCallID: "c1", ToolName: "add_item", Arguments: `{"related_ids":["i-1"]}`},
		chat.Event{Type: chat.EventToolResult, ToolCallID: "c1", ToolName: "add_document", Text: `{"proposal":"c1","tool":"add_item","params":{"entity_type":"fact","text":"x","related_ids":["I-1"]}}`},
		chat.Event{Type: chat.EventToolResult, ToolCallID: "c2", ToolName: "add_item", IsError: true, Text: `{"note":"no"}`},
		chat.Event{Type: chat.EventText, Piece: 2, Text: "Done."},
		chat.Event{Type: chat.EventResponse, TurnID: "t"},
	)
	require.Equal(t, `event: token
data: {"text":"I "}

event: tool_call
data: {"id":"c1","tool":"add_item","params":{"entity_type":"fact","related_ids":["I-1"],"related_inputs":["I-1"],"text":"x"}}

event: token
data: {"text":"\n\nDone."}

event: done
data: {"message_id":"t"}

`, got)
}

func TestFSChatErrorDisplayAndStreamingInterruption(t *testing.T) {
	t.Parallel()
	partial := chat.Event{Type: chat.EventToken, Piece: 1, Text: "Because"}
	require.Equal(t, "event: token\ndata: {\"text\":\"Because\"}\n\nevent: token\ndata: {\"text\":\" of\"}\n\nevent: error\ndata: {\"error\":\"The model did not answer.\"}\n\n",
		written(partial, chat.Event{Type: chat.EventFailed, Message: "The model did not answer.", Partial: "Because of"}))
	require.Equal(t, "event: token\ndata: {\"text\":\"Because\"}\n\nevent: error\ndata: {\"error\":\"The answer was stopped.\"}\n\n",
		written(partial, chat.Event{Type: chat.EventCancelled, Partial: "Because"}))
	require.Equal(t, "event: token\ndata: {\"text\":\"Because\"}\n\nevent: token\ndata: {\"text\":\"\\n\\nFor\"}\n\n",
		written(partial, chat.Event{Type: chat.EventNotice, Code: chat.NoticeRestarted}, chat.Event{Type: chat.EventToken, Piece: 1, Text: "For"}))
}
