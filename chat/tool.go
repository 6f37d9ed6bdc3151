package chat

import (
	"encoding/json"
	"strconv"
	"strings"
)

// ToolCall is a model's wish to run a tool, complete with its arguments, as
// events show it.
type ToolCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // an object
	Editable  bool            `json:"editable"`  // approve with edited arguments is allowed
}

// CallRef is a tool call as the workflow keeps it; its arguments are a text of
// the turn (CallKey).
type CallRef struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Editable bool   `json:"editable,omitempty"`
	// Hash is that of the arguments which are shown, and which the call may run
	// with; empty in turns of before there were hashes.
	Hash string `json:"hash,omitempty"`
}

// CallID names the n-th tool call of a turn, counted from 1. It is also the
// idempotency key of its side effects, and no longer than the 40 characters
// that providers take.
func CallID(turnID string, n int) string {
	return strings.ReplaceAll(turnID, "-", "") + "c" + strconv.Itoa(n)
}

// Verdict is what a person says to a tool call.
type Verdict string

const (
	Approved Verdict = "approved"
	Rejected Verdict = "rejected"
)

// Decision answers for one of the calls that a tool_approval asks about.
type Decision struct {
	ID        string          `json:"id"`
	Decision  Verdict         `json:"decision"`
	Arguments json.RawMessage `json:"arguments,omitempty"` // approved: instead of the model's; an object that satisfies the tool's schema
	Reason    string          `json:"reason,omitempty"`    // rejected: what the model is told
	Remember  bool            `json:"remember,omitempty"`  // approved: this tool need not ask again on this branch of the thread
}

// Limits of a decision, in characters and bytes.
const (
	MaxReason    = 1000
	MaxArguments = 64 << 10
)

// ToolResult is a tool call with what came of it, as an assistant message keeps
// it in its metadata (MetaToolResults), in the order of the calls. A call that
// was left without an answer is an error whose content is NoToolResult, so that
// every call a later prompt repeats has its result.
type ToolResult struct {
	ToolCallID string          `json:"tool_call_id"`
	Name       string          `json:"name"`
	Arguments  json.RawMessage `json:"arguments"` // an object: those it ran with
	Content    string          `json:"content"`
	IsError    bool            `json:"is_error"`
}

const (
	MetaToolResults = "tool_results"
	NoToolResult    = "No result: the turn was stopped before the tool answered."
)

// ToolResults are those of a message's metadata, as it was written or as a
// store reads it back; none when there are none.
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

// Attachment is a picture that came with a message or was made by a tool,
// without its bytes.
type Attachment struct {
	ID    string `json:"id"`
	Owner string `json:"-"`
	// ThreadID is the conversation it belongs to, whose deletion removes it; empty
	// until a message uses it.
	ThreadID string `json:"-"`
	MIME     string `json:"mime"` // image/jpeg, image/png or image/webp
	Bytes    int    `json:"bytes"`
}

// AttachmentURL is where an attachment is served.
func AttachmentURL(id string) string { return "/api/attachments/" + id }
