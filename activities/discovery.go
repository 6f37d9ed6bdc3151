package activities

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/palaver-chat/palaver/agents/documents/prompt"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/cite"
	"github.com/palaver-chat/palaver/internal/board"
	"github.com/palaver-chat/palaver/internal/boards"
	"github.com/palaver-chat/palaver/internal/tools"
	"github.com/palaver-chat/palaver/llm"
)

// BoardChat are the settings of the agent of discovery boards.
type BoardChat struct {
	Threshold   int     // the model gets a summary of a board with more items (CHAT_CONTEXT_THRESHOLD)
	Temperature float32 // LLM_TEMP_CHAT
	MaxTokens   int     // of an answer (LLM_CHAT_MAX_TOKENS)
}

// boardSaid is what a prompt about a board contains besides the board.
type boardSaid struct {
	before earlier
	said   []llm.Message // before the turn
	asks   llm.Message
	tools  prompt.Exchange
	// documents are those that the message mentions.
	documents []llm.Document
}

// boardRequest builds the model call of the agent of discovery boards.
func (a *Activities) boardRequest(ctx context.Context, r ThinkRequest, turn chat.Turn, s boardSaid, offered []tools.Tool) (pieceRequest, error) {
	b, err := a.boardOf(ctx, turn)
	if err != nil {
		return pieceRequest{}, err
	}
	full := slices.Concat(turn.Content.References, b.Named(turn.Content.Message))
	system := prompt.Discovery(b, full, a.BoardChat.Threshold, s.before.summary, a.now())
	messages := slices.Concat([]llm.Message{system}, prompt.Imported(b.History), s.said, []llm.Message{s.asks}, s.tools.Messages)
	return pieceRequest{
		TurnRef: r.TurnRef, Stage: r.Stage, step: "discovery",
		request: llm.Request{
			Task:     llm.TaskDiscovery,
			Messages: llm.Fit(messages, thinkPrompt),
			Facts: llm.Facts{Message: turn.Content.Message, Recent: prompt.Recent(s.before.messages),
				Documents: s.documents, Passages: s.tools.Passages, Used: s.tools.Used,
				Board: prompt.BoardFacts(b), References: turn.Content.References},
			Temperature: a.BoardChat.Temperature,
			MaxTokens:   a.BoardChat.MaxTokens,
		},
		filter:  cite.New(s.tools.Sources, boardTexts(b, turn.Content.Message)...).AllowUncited().Continue(s.tools.Citations),
		offered: offered, before: s.before,
	}, nil
}

// boardTexts are the texts that an answer about a board may quote, besides passages.
func boardTexts(b *board.Board, message string) []string {
	texts := []string{message, b.Title, b.Goal}
	for _, i := range b.Items {
		texts = append(texts, i.Version.Text, i.Title)
	}
	return texts
}

// boardOf returns the board that a turn is about: the one of its message, or the one of its
// thread.
func (a *Activities) boardOf(ctx context.Context, turn chat.Turn) (*board.Board, error) {
	if raw := turn.Content.Board; len(raw) > 0 {
		b := new(board.Board)
		return b, json.Unmarshal(raw, b)
	}
	_, b, err := boards.Load(ctx, a.Store, turn.Owner, turn.ThreadID)
	return b, err
}
