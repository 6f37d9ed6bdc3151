package tools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/internal/language"
)

// Approval says whether a person is asked before a tool runs.
type Approval string

const (
	Never Approval = "never" // runs without asking
	Ask   Approval = "ask"   // approve or reject
	Edit  Approval = "edit"  // approve, reject, or approve with edited arguments
)

// Tool declares one tool. To add one, add a file with a Tool and list it where the box is
// filled.
type Tool struct {
	Name        string // as models see it: letters, digits, _ and -, at most 64
	Description string
	Schema      json.RawMessage // JSON schema of the arguments, an object
	Approval    Approval        // other values count as Ask
	// Pin is the fingerprint of a definition that other people can change (Fingerprint). An
	// approval holds for this definition only. Empty for our own tools.
	Pin     string
	Timeout time.Duration // of one call; 0: DefaultTimeout
	// MaxTimeout is the time of a call that goes on because the tool reports progress, when that
	// is longer than Timeout. Run itself ends a call without progress after Timeout.
	MaxTimeout time.Duration
	// SideEffects means that running the tool twice has an effect twice. It gets one attempt;
	// if its outcome is unknown, a person is asked.
	SideEffects bool
	// Destructive means that the tool may delete or overwrite something. People read it
	// before they approve a call.
	Destructive bool
	// Server is the MCP server that has the tool; empty: our own.
	Server string
	// Web means that the tool searches or reads the web. It is not offered when a person
	// has forbidden that.
	Web bool
	// Only is the one agent that is offered the tool; empty: all that may call it.
	Only chat.Agent
	// Run runs the tool. Arguments satisfy Schema. An error is a failure of ours or of the
	// network. A failure that the model should read is a Result.
	Run func(ctx context.Context, c Call) (Result, error)
}

var validName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// Validate returns an error that says why agents cannot be offered the tool, or nil.
func (t Tool) Validate() error {
	if !validName.MatchString(t.Name) {
		return errors.New("the name needs 1 to 64 letters, digits, _ and -")
	}
	if t.Run == nil {
		return errors.New("no function runs it")
	}
	if err := CheckSchema(t.Schema); err != nil {
		return fmt.Errorf("the schema cannot be used: %w", err)
	}
	return nil
}

// Info returns what a person reads of the tool before a call is approved, without the schema.
func (t Tool) Info() chat.ToolInfo {
	effect := chat.EffectReads
	switch {
	case t.Destructive:
		effect = chat.EffectDestroys
	case t.SideEffects:
		effect = chat.EffectChanges
	}
	return chat.ToolInfo{Name: t.Name, Server: t.Server, Effect: effect,
		Description: language.Truncate(t.Description, chat.MaxToolDescription)}
}

// Fingerprint identifies what a model and a person read of a tool.
func Fingerprint(name, description string, schema json.RawMessage) string {
	definition, _ := json.Marshal([]string{name, description, string(schema)}) // texts cannot fail
	sum := sha256.Sum256(definition)
	return hex.EncodeToString(sum[:16])
}

// DefaultTimeout is the default timeout of a call.
const DefaultTimeout = 10 * time.Second

// Call is one call of a tool.
type Call struct {
	Owner, ThreadID, TurnID string
	ID                      string // idempotency key of side effects
	Arguments               json.RawMessage
	Failed                  bool // an earlier model call of the turn made a tool call that failed
	// Report shows the person what the tool is doing, as a status of node, at most 200 times.
	// The log has it before the result. An attempt that is repeated must report the same in
	// the same order. nil: reports are dropped.
	Report func(node chat.Node, message messages.Message)
}

// Result is what a tool returns, as untrusted as its source.
type Result struct {
	Content string // what the model reads; capped by the caller
	IsError bool
	// Coded is the code of Content when it is a text of Palaver that people read, too.
	Coded messages.Coded
	// ChunkIDs are passages in Content that an answer may cite, in the order in which Content
	// numbers them from 1. Prompts show the passages instead of Content, numbered across the
	// whole turn.
	ChunkIDs []string
	// Note is what prompts show before the passages of ChunkIDs, such as where they stand.
	Note string
	// Attachments are ids of pictures the tool made.
	Attachments []string
	Usage       chat.Usage // of model calls that the tool made
}

// Failed returns a result that tells the model what went wrong.
func Failed(why messages.Message) Result {
	return Result{Content: why.Text, Coded: why.Coded, IsError: true}
}

// With returns the Run of a tool whose arguments are an In. Errors get the tool's name.
func With[In any](name string, run func(context.Context, Call, In) (Result, error)) func(context.Context, Call) (Result, error) {
	return func(ctx context.Context, c Call) (Result, error) {
		var in In
		if err := json.Unmarshal(c.Arguments, &in); err != nil {
			return Failed(messages.ToolUnreadable), nil
		}
		r, err := run(ctx, c, in)
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return r, err
	}
}

// Source offers tools to a caller. Safe for concurrent use.
type Source interface {
	// Tools returns the tools that owner may use now. It never waits for the network: tools that
	// are not known yet are left out.
	Tools(ctx context.Context, owner string) []Tool
}

// List is a Source with a fixed list of tools.
type List []Tool

// Tools implements Source.
func (l List) Tools(context.Context, string) []Tool { return l }
