package chat

import (
	"encoding/json"
	"strconv"
	"strings"
)

// ToolCall is a model's request to run a tool, with its arguments, as in events.
type ToolCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // an object
	Editable  bool            `json:"editable"`  // approve with edited arguments is allowed
}

// ToolEffect says whether a tool reads or changes the data that it reaches. The effect of an
// MCP tool is a claim of its server.
type ToolEffect string

const (
	EffectReads    ToolEffect = "reads"
	EffectChanges  ToolEffect = "changes"
	EffectDestroys ToolEffect = "destroys" // may delete or overwrite
)

// ToolInfo is what a person reads about a tool before approving a call.
type ToolInfo struct {
	Name        string          `json:"name"`
	Server      string          `json:"server,omitempty"` // the MCP server that has it
	Description string          `json:"description"`
	Effect      ToolEffect      `json:"effect"`
	Schema      json.RawMessage `json:"schema,omitempty"` // of the arguments; missing when it is too large to be sent
}

// Limits of the ToolInfos of one question: characters of a description, bytes of all
// schemas.
const (
	MaxToolDescription = 4000
	MaxToolSchemas     = 128 << 10
)

// CallRef is a tool call in the workflow; its arguments are a text of the turn
// (CallKey).
type CallRef struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Editable bool   `json:"editable,omitempty"`
	// Hash is the hash of the arguments that are shown, with which the call may run;
	// empty for a call that cannot be made.
	Hash string `json:"hash,omitempty"`
	// Pin is the fingerprint of the tool's definition that the model read; empty for our
	// own tools.
	Pin string `json:"pin,omitempty"`
}

// ApprovalName is the name under which a remembered approval of the call is stored. For a
// pinned tool it cannot be equal to the name of any tool.
func (c CallRef) ApprovalName() string {
	if c.Pin == "" {
		return c.Name
	}
	return c.Name + "@" + c.Pin
}

// CallID returns the id of a turn's n-th tool call, from 1. It is also the idempotency
// key of the call's side effects, and at most 40 characters, the limit of providers.
func CallID(turnID string, n int) string {
	return strings.ReplaceAll(turnID, "-", "") + "c" + strconv.Itoa(n)
}

// Verdict is a person's decision about a tool call.
type Verdict string

const (
	Approved Verdict = "approved"
	Rejected Verdict = "rejected"
)

// Decision answers one call of a tool_approval.
type Decision struct {
	ID        string          `json:"id"`
	Decision  Verdict         `json:"decision"`
	Arguments json.RawMessage `json:"arguments,omitempty"` // approved: instead of the model's; an object that satisfies the tool's schema
	Reason    string          `json:"reason,omitempty"`    // rejected: shown to the model
	Remember  bool            `json:"remember,omitempty"`  // approved: do not ask again for this tool on this branch of the thread
}

// Limits of a decision, in characters and bytes.
const (
	MaxReason    = 1000
	MaxArguments = 64 << 10
)

// ToolResult is a tool call with its result, in the metadata of an assistant message
// (MetaToolResults), in the order of the calls. The result of an unfinished call is
// the error messages.ToolStopped, because in later prompts every call needs a result.
type ToolResult struct {
	ToolCallID string          `json:"tool_call_id"`
	Name       string          `json:"name"`
	Arguments  json.RawMessage `json:"arguments"` // an object: those it ran with
	Content    string          `json:"content"`
	IsError    bool            `json:"is_error"`
}

const MetaToolResults = "tool_results"

// ToolResults returns the tool results in a message's metadata, before or after it
// was stored.
func ToolResults(metadata map[string]any) []ToolResult {
	b, err := json.Marshal(metadata[MetaToolResults])
	if err != nil {
		return nil
	}
	var out []ToolResult
	if json.Unmarshal(b, &out) != nil {
		return nil
	}
	return out
}

// Attachment is a picture of a message or a tool, without its bytes.
type Attachment struct {
	ID    string `json:"id"`
	Owner string `json:"-"`
	// ThreadID is the conversation that it belongs to and is deleted with; empty until
	// a message uses it.
	ThreadID string `json:"-"`
	Space    string `json:"-"`    // in which it was uploaded; empty: in none
	MIME     string `json:"mime"` // image/jpeg, image/png or image/webp
	Bytes    int    `json:"bytes"`
}

// AttachmentURL returns the path of an attachment.
func AttachmentURL(id string) string { return "/api/attachments/" + id }
