// Package activities has the activities of a thread's turns, and Kit, with which those of
// agents are built: reading a turn, watching its stops, streaming a piece of the answer,
// errors. Arguments and results of activities enter Temporal's history, so they are ids,
// enums, numbers and hashes, never text (types.go).
package activities

import (
	"context"
	"log/slog"
	"time"

	"go.temporal.io/sdk/worker"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/audit"
	"github.com/palaver-chat/palaver/internal/bus"
	"github.com/palaver-chat/palaver/internal/clock"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/tools"
)

// Kit is what the activities of the engine and of agents share. All of its methods are safe
// for concurrent use.
type Kit struct {
	Store  db.Store
	Model  llm.Model
	Bus    bus.Bus
	Prices *llm.PriceTable // of web searches and embeddings; nil: no price is known
	Tools  *tools.Box      // nil: no tools
	Agents chat.Agents
	// HistoryTokens bounds the earlier messages in an answer's prompt (CHAT_HISTORY_TOKENS);
	// 0: defaultHistoryTokens.
	HistoryTokens int
	// Imported replaces the links of a message by the documents that were imported from them;
	// nil: messages are read as they were sent.
	Imported func(ctx context.Context, t chat.Turn) (chat.Turn, error)
	// RetryBudget bounds the retries of a model call: none starts later than this
	// after the first failure (LLM_RETRY_BUDGET).
	RetryBudget time.Duration
	// HideReasoning: people do not see what models think. It is still kept for the turn's
	// later model calls.
	HideReasoning bool
	Log           *slog.Logger     // nil: slog.Default
	Now           func() time.Time // nil: time.Now
	// Clock measures leases and retries; nil: clock.Read.
	Clock func() clock.Reading
	// OnRestart is called when a piece of an answer begins again because the attempt before
	// it was lost (LostAttempt); may be nil.
	OnRestart func()
	// Heartbeat sends a heartbeat; nil: by the worker's own client.
	Heartbeat func(ctx context.Context, taskToken []byte, details ...any) error

	begun begunTurns
	reads turnReads
}

// Activities are the engine's own: they begin and settle turns, call tools, and apply what
// people answer. They are safe for concurrent use.
type Activities struct {
	*Kit
	// Titles lets models write titles; nil: titles are made by rule.
	Titles *Titles
	// Audit records decisions that did not come through the API; nil: none is recorded.
	Audit *audit.Log
	// ConcernsImports reports whether a message may ask for imports; nil: none does.
	ConcernsImports func(message string) bool
	// OnSettled is called once for each turn that these activities settle, with the stored
	// status, code and reason; may be nil.
	OnSettled func(ctx context.Context, e Ending)
}

// Register registers the activities under the names of their methods.
func (a *Activities) Register(r worker.ActivityRegistry) {
	for _, activity := range []any{
		a.BeginTurn, a.MarkRunning, a.MarkInterrupted, a.AnnounceStop, a.KeepAnswer, a.KeepLog, a.TakeGiven, a.DropGiven,
		a.CallTool, a.FindResult, a.Decide, a.Check, a.Settle,
	} {
		r.RegisterActivity(activity)
	}
}

// Logger returns the log.
func (k *Kit) Logger() *slog.Logger {
	if k.Log == nil {
		return slog.Default()
	}
	return k.Log
}

// LogOf returns a logger that adds the turn, run and request ids to every line.
func (k *Kit) LogOf(ref TurnRef) *slog.Logger {
	return k.Logger().With("turn", ref.TurnID, "run", ref.RunID, "request_id", ref.RequestID)
}

// Time returns the current time.
func (k *Kit) Time() time.Time {
	if k.Now == nil {
		return time.Now()
	}
	return k.Now()
}
