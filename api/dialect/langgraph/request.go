// Package langgraph is the LangGraph dialect, /api/v1/chat
// (docs/contract.md): request bodies become commands and turn events become its JSON.
package langgraph

import (
	"encoding/json"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/chat"
)

// MaxBody limits a message's request, in which clients send the whole conversation.
const MaxBody = 8 << 20

type streamBody struct {
	ThreadID     string            `json:"thread_id"`
	CheckpointID string            `json:"checkpoint_id"`
	Message      json.RawMessage   `json:"message"`
	Messages     []json.RawMessage `json:"messages"`
	dialect.Fields
}

// ParseStream reads the body of POST /api/v1/chat/stream. Its ThreadAlias is the client's name of the
// thread. The error is dialect.Problems.
func ParseStream(body []byte, agents chat.Agents) (dialect.Submit, error) {
	var b streamBody
	if err := dialect.Decode(body, &b); err != nil {
		return dialect.Submit{}, err
	}
	var p dialect.Problems
	s := b.Submit(&p, agents, chat.AgentAssistant, false)
	if b.ThreadID != "" {
		s.ThreadAlias = p.ThreadName("thread_id", b.ThreadID)
	}
	if b.CheckpointID != "" {
		p.ID("checkpoint_id", b.CheckpointID)
		s.Content.ParentRequest = b.CheckpointID
	}
	message, pictures, field := readMessage(&p, b)
	s.Content.Message = message
	s.Content.Attachments = p.Attachments(field, append(pictures, s.Content.Attachments...))
	return s, p.Err()
}

type feedbackBody struct {
	ThreadID     string               `json:"thread_id"`
	CheckpointID string               `json:"checkpoint_id"`
	Approval     *dialect.ResumeValue `json:"approval_data"`
	StreamMode   string               `json:"stream_mode"`
	StreamTokens *bool                `json:"stream_tokens"`
}

// answerType is the type of an answer to any question except an approval.
const answerType = "answer"

// ParseFeedback reads the body of POST /api/v1/chat/feedback. Its value has no type if it answers any open
// question. The error is dialect.Problems.
func ParseFeedback(body []byte) (dialect.Answer, error) {
	var b feedbackBody
	if err := dialect.Decode(body, &b); err != nil {
		return dialect.Answer{}, err
	}
	var p dialect.Problems
	a := dialect.Answer{
		ThreadAlias: p.ThreadName("thread_id", b.ThreadID),
		View:        p.View(b.StreamMode, b.StreamTokens),
	}
	p.ID("checkpoint_id", b.CheckpointID)
	a.InterruptID = b.CheckpointID
	if a.Value = p.ResumeValue("approval_data", b.Approval); a.Value.Type == "" {
		return a, p.Err()
	}
	switch a.Value.Type {
	case chat.ToolApproval:
		withoutEmpty(a.Value.Decisions)
	case answerType:
		a.Value.Type = ""
	default:
		p.Add("approval_data.type", "must be tool_approval or answer")
	}
	return a, p.Err()
}

// withoutEmpty treats empty arguments as not edited: LangGraph clients send them with every approval.
func withoutEmpty(decisions []chat.Decision) {
	for i, d := range decisions {
		var keys map[string]json.RawMessage
		if json.Unmarshal(d.Arguments, &keys) == nil && len(keys) == 0 {
			decisions[i].Arguments = nil
		}
	}
}

func absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
