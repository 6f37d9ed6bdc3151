package tools

import (
	"context"
	"encoding/json"
	"time"

	"github.com/palaver-chat/palaver/chat"
)

// Approval says whether a person is asked before a tool runs.
type Approval string

const (
	Never Approval = "never" // it runs
	Ask   Approval = "ask"   // approve or reject
	Edit  Approval = "edit"  // approve, reject, or approve with edited arguments
)

// Tool is everything there is to say about one tool, in one place. Adding one
// is adding one file with a Tool in it and naming it where the box is filled.
type Tool struct {
	Name        string // as models see it: letters, digits, _ and -, at most 64
	Description string
	Schema      json.RawMessage // JSON schema of the arguments, an object
	Approval    Approval        // one that is none of the three counts as Ask
	Timeout     time.Duration   // of one call; then the model reads that it took too long. 0: DefaultTimeout
	Agents      []chat.Agent    // that may call it; nil: all
	// SideEffects: the tool changes something that running it again would change
	// again. It gets one attempt; when nobody knows how that ended, a person is
	// asked.
	SideEffects bool
	// Run does it. Arguments satisfy Schema. An error is a failure of ours or of
	// the network; what the model should read, a failure included, is a Result.
	Run func(ctx context.Context, c Call) (Result, error)
}

// DefaultTimeout is a call's time limit.
const DefaultTimeout = 10 * time.Second

// Call is one call of a tool.
type Call struct {
	Owner, ThreadID, TurnID string
	ID                      string // idempotency key of side effects
	Arguments               json.RawMessage
}

// Result is what a tool returns, as untrusted as its source.
type Result struct {
	Content string // what the model reads; capped by the caller
	IsError bool
	// ChunkIDs are passages that Content shows and that an answer may cite, in the
	// order in which Content numbers them from 1. In a prompt they are shown anew,
	// numbered through all of the turn's passages, and stand for Content.
	ChunkIDs []string
	// Attachments are ids of pictures the tool made.
	Attachments []string
	Usage       chat.Usage // of model calls that the tool made
}

// Failed is a result that tells the model what went wrong.
func Failed(why string) Result { return Result{Content: why, IsError: true} }

// Source offers tools to a caller. Safe for concurrent use.
type Source interface {
	// Tools are those that owner may use now. It never waits for the network: what
	// is not known yet is left out.
	Tools(ctx context.Context, owner string) []Tool
}

// List is a Source of tools that are always there.
type List []Tool

// Tools implements Source.
func (l List) Tools(context.Context, string) []Tool { return l }
