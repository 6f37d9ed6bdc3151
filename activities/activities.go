// Package activities has the Temporal activities: they call models and tools, read
// and write the store, search, and settle turns. Their arguments and results enter
// Temporal's history, so they are ids, enums, numbers and hashes, never text
// (types.go).
package activities

import (
	"context"
	"log/slog"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/documents/extract"
	"github.com/palaver-chat/palaver/documents/retrieval"
	"github.com/palaver-chat/palaver/imports"
	"github.com/palaver-chat/palaver/internal/audit"
	"github.com/palaver-chat/palaver/internal/bus"
	"github.com/palaver-chat/palaver/internal/memlimit"
	"github.com/palaver-chat/palaver/internal/tools"
	"github.com/palaver-chat/palaver/llm"
)

// Searcher picks the passages an answer may use.
type Searcher interface {
	// Select searches the documents of docIDs; none means every document that owner
	// may see. known are documents of docIDs that the caller has read already.
	Select(ctx context.Context, owner string, action chat.Action, query string, docIDs []string, known ...chat.Document) (retrieval.Selection, error)
	// Respell corrects words of a query that occur in no document.
	Respell(ctx context.Context, owner, query string, docIDs []string) (string, error)
}

// Activities holds what the activities depend on. Its methods are registered as
// Temporal activities under their own names. All are safe for concurrent use.
type Activities struct {
	Store  db.Store
	Model  llm.Model
	Bus    bus.Bus
	Search Searcher
	Web    tools.WebSearch // nil: no web search
	Prices *llm.PriceTable // of web searches and embeddings; nil: no price is known
	// HistoryTokens bounds the earlier messages in an answer's prompt (CHAT_HISTORY_TOKENS);
	// 0: defaultHistoryTokens.
	HistoryTokens int
	BoardChat     BoardChat
	Tools         *tools.Box // nil: no tools
	Agents        chat.Agents
	// DocumentTypes are those that Ingest can read.
	DocumentTypes extract.Types
	// IngestMemory bounds the memory of all ingests of the process; nil: no bound.
	IngestMemory *memlimit.Limit
	Pruner       Pruner // nil: nothing is pruned
	// Titles lets models write titles; nil: titles are made by rule.
	Titles *Titles
	// Audit records decisions that did not come through the API; nil: none is recorded.
	Audit *audit.Log
	// Importer fetches documents from links. ImportBounds returns the limits of what may be
	// stored for owners without an account, by their address; other owners have no address.
	Importer     *imports.Importer
	ImportBounds func(address string) db.Bounds // nil: no bounds
	// RetryBudget bounds the retries of a model call: none starts later than this
	// after the first failure (LLM_RETRY_BUDGET).
	RetryBudget time.Duration
	Log         *slog.Logger     // nil: slog.Default
	Now         func() time.Time // nil: time.Now
	// OnSettled is called once for each turn that these activities settle, with the stored
	// status, code and reason; may be nil.
	OnSettled func(ctx context.Context, e Ending)
	// OnRestart is called when a piece of an answer begins again because the attempt before
	// it was lost (lostAttempt); may be nil.
	OnRestart func()
	// Heartbeat sends a heartbeat; nil: by the worker's own client.
	Heartbeat func(ctx context.Context, taskToken []byte, details ...any) error

	begun begunTurns
	codes codePassages
}

func (a *Activities) log() *slog.Logger {
	if a.Log == nil {
		return slog.Default()
	}
	return a.Log
}

// logOf returns a logger that adds the turn, run and request ids to every line.
func (a *Activities) logOf(ref TurnRef) *slog.Logger {
	return a.log().With("turn", ref.TurnID, "run", ref.RunID, "request_id", ref.RequestID)
}

func (a *Activities) now() time.Time {
	if a.Now == nil {
		return time.Now()
	}
	return a.Now()
}
