// Package activities is what a turn does outside of its workflow: it asks
// models, looks into the store, searches, writes, and settles. What goes in and
// out of an activity enters Temporal's history and follows the text rule of
// design.md; types.go is that contract.
package activities

import (
	"context"
	"log/slog"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/retrieval"
	"github.com/palaver-chat/palaver/stream"
	"github.com/palaver-chat/palaver/tools"
)

// Searcher picks the passages an answer may use.
type Searcher interface {
	// Select takes no docIDs to mean every document that owner may see. known are the
	// documents of docIDs where they were read already.
	Select(ctx context.Context, owner string, action chat.Action, query string, docIDs []string, known ...chat.Document) (retrieval.Selection, error)
}

// Activities holds what the activities depend on. Its methods are registered as
// Temporal activities under their own names. All are safe for concurrent use.
type Activities struct {
	Store  db.Store
	Model  llm.Model
	Bus    stream.Bus
	Search Searcher
	Web    tools.WebSearch // nil when there is none
	Tools  *tools.Box      // nil when there are none
	// RetryBudget bounds tries of a model call: none starts later than this
	// after the first (LLM_RETRY_BUDGET).
	RetryBudget time.Duration
	Log         *slog.Logger     // nil: slog.Default
	Now         func() time.Time // nil: time.Now; the year that "this year" is
	// Heartbeat tells the server that an attempt is alive; nil: by the worker's
	// own client.
	Heartbeat func(ctx context.Context, taskToken []byte, details ...any) error

	begun begunTurns
}

func (a *Activities) log() *slog.Logger {
	if a.Log == nil {
		return slog.Default()
	}
	return a.Log
}

// logOf names turn, run and request in every line.
func (a *Activities) logOf(ref TurnRef) *slog.Logger {
	return a.log().With("turn", ref.TurnID, "run", ref.RunID, "request_id", ref.RequestID)
}

func (a *Activities) now() time.Time {
	if a.Now == nil {
		return time.Now()
	}
	return a.Now()
}
