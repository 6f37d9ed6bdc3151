package boards

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/boards/board"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// Chats is the part of a store that has the chats of boards.
type Chats interface {
	History(ctx context.Context, owner, threadID, head, before string, limit int) (db.History, error)
}

// Chat returns the chat of a board: the messages that were imported with it, and then its
// thread's messages. A board and its thread have the same id. A message that was exported
// and imported again is not repeated.
func Chat(ctx context.Context, store Chats, owner, id string, b *board.Board) ([]board.Message, error) {
	h, err := store.History(ctx, owner, id, "", "", board.MaxMessages)
	if err != nil && !errors.Is(err, db.ErrNotFound) { // not found: the thread has no messages yet
		return nil, err
	}
	var said []board.Message
	for _, m := range h.Messages {
		if m.Role == "user" || m.Role == "assistant" && (m.Content != "" || len(chat.ToolResults(m.Metadata)) > 0) {
			said = append(said, message(m, b))
		}
	}
	imported := slices.DeleteFunc(slices.Clone(b.History), func(m board.Message) bool {
		return m.ID != "" && slices.ContainsFunc(said, func(s board.Message) bool { return s.ID == m.ID })
	})
	all := append(imported, said...)
	return all[max(0, len(all)-board.MaxMessages):], nil
}

// message converts a thread's message to one of a board's chat.
func message(m chat.Message, b *board.Board) board.Message {
	out := board.Message{ID: messageID(m), Role: m.Role, Content: m.Content, CreatedAt: m.CreatedAt.UTC().Format(time.RFC3339Nano),
		References: references(m.Metadata["references"])}
	for _, r := range chat.ToolResults(m.Metadata) {
		if call, ok := b.ToolCall(r.ToolCallID); ok {
			out.ToolCalls = append(out.ToolCalls, call)
		}
	}
	return out
}

// messageID returns the id of a message in a board's chat, a UUID. An answer has that of its
// turn.
func messageID(m chat.Message) string {
	if m.Role == "assistant" {
		return m.TurnID
	}
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(m.ID)).String()
}

// references reads a list that the store has decoded from JSON.
func references(v any) (ids []string) {
	list, _ := v.([]any)
	for _, id := range list {
		if s, ok := id.(string); ok {
			ids = append(ids, s)
		}
	}
	return ids
}
