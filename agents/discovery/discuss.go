package discovery

import (
	"context"
	"encoding/json"
	"slices"

	"go.temporal.io/sdk/worker"

	"github.com/palaver-chat/palaver/activities"
	own "github.com/palaver-chat/palaver/agents/discovery/prompt"
	"github.com/palaver-chat/palaver/agents/prompt"
	"github.com/palaver-chat/palaver/boards"
	"github.com/palaver-chat/palaver/boards/board"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/cite"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/tools"
)

// Activities has the activity of the agent of discovery boards. It is safe for concurrent use.
type Activities struct {
	*activities.Kit
	Threshold   int     // the model gets a summary of a board with more items (CHAT_CONTEXT_THRESHOLD)
	Temperature float32 // LLM_TEMP_CHAT
	MaxTokens   int     // of an answer (LLM_CHAT_MAX_TOKENS)
}

// acts names activities; it is never called.
var acts *Activities

// Register registers the activity under the name of its method.
func (a *Activities) Register(r worker.ActivityRegistry) { r.RegisterActivity(a.Discuss) }

// Discuss makes one model call about a board.
func (a *Activities) Discuss(ctx context.Context, ref activities.TurnRef, stage activities.Stage, _ []activities.AskedQuestion) (activities.ModelResult, error) {
	return a.Converse(ctx, ref, stage, "discovery", func(ctx context.Context, c *activities.Conversation) (llm.Request, *cite.Filter, error) {
		content := c.Turn.Content
		b, err := a.boardOf(ctx, c.Turn)
		if err != nil {
			return llm.Request{}, nil, err
		}
		clients := len(content.Board) > 0
		if clients {
			c.Offered = tools.ClientBoardTools(c.Offered)
		}
		imported, dropped := own.Imported(b.History, a.HistoryRoom()-activities.TokensOf(c.Earlier.Messages))
		if dropped && c.Earlier.Notice == "" && clients {
			c.Earlier.Notice = chat.NoticeHistoryDropped
		}
		system, cut := own.Discovery(own.Request{Board: b, References: content.References, Named: b.Named(content.Message), Documents: !clients,
			Threshold: a.Threshold, Room: a.boardRoom(content.Message), Summary: c.Earlier.Summary, Today: a.Time()})
		if cut > 0 {
			a.LogOf(ref).Info("texts of the board were cut to fit the model's window", "characters", cut, "items", len(b.Items))
		}
		messages := slices.Concat([]llm.Message{system}, imported, own.Outcomes(c.Before, b), []llm.Message{c.Asks}, c.Exchange.Messages)
		request := llm.Request{
			Task:     llm.TaskDiscovery,
			Messages: llm.Fit(messages, activities.PromptTokens+llm.EstimateTokens(system.Text)),
			Facts: llm.Facts{Message: content.Message, Recent: prompt.Recent(c.Earlier.Messages),
				Documents: prompt.Known(c.Tagged.Docs), Passages: c.Exchange.Passages, Used: c.Exchange.Used,
				Board: own.BoardFacts(b), References: content.References},
			Temperature: a.Temperature,
			MaxTokens:   a.MaxTokens,
		}
		return request, cite.New(c.Exchange.Sources, boardTexts(b, content.Message)...).AllowUncited().CheckDocuments(a.DocumentTexts(ctx, ref, c.Exchange.Sources)).Continue(c.Exchange.Citations), nil
	})
}

const (
	instructionTokens = 1200    // of the prompt without the board, at most
	largestBoard      = 150_000 // tokens, for a model whose window is not known, or large
)

// boardRoom returns the room for a board in the prompt, in tokens.
func (a *Activities) boardRoom(message string) int {
	window := a.Model.Info().ContextTokens
	if window == 0 {
		return largestBoard
	}
	room := (window-window/4)*17/20 - activities.ToolTokens(window) - instructionTokens - llm.EstimateTokens(message) - a.HistoryRoom()
	return max(room, window/8)
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
