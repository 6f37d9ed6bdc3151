// Package native is the native dialect, /api/chat (docs/contract.md): its
// bodies become commands and turn events become its JSON.
package native

import (
	"strings"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/chat"
)

type chatBody struct {
	Message  string  `json:"message"`
	ThreadID *string `json:"thread_id"`
	dialect.Fields
}

// ParseChat reads the body of POST /api/chat. The error is dialect.Problems.
func ParseChat(body []byte, agents chat.Agents) (dialect.Submit, error) {
	var b chatBody
	if err := dialect.Decode(body, &b); err != nil {
		return dialect.Submit{}, err
	}
	var p dialect.Problems
	message := strings.TrimSpace(b.Message)
	p.Text("message", message, 1, chat.MaxMessage)
	s := b.Submit(&p, agents, chat.AgentDocuments, false)
	s.Content.Message = message
	if id := value(b.ThreadID); id != "" {
		s.ThreadID = p.UUID("thread_id", id)
	}
	return s, p.Err()
}

type resumeBody struct {
	ThreadID     string               `json:"thread_id"`
	InterruptID  string               `json:"interrupt_id"`
	ResumeValue  *dialect.ResumeValue `json:"resume_value"`
	StreamMode   *string              `json:"stream_mode"`
	StreamTokens *bool                `json:"stream_tokens"`
}

// ParseResume reads the body of POST /api/chat/resume. The error is
// dialect.Problems.
func ParseResume(body []byte) (dialect.Answer, error) {
	var b resumeBody
	if err := dialect.Decode(body, &b); err != nil {
		return dialect.Answer{}, err
	}
	var p dialect.Problems
	a := dialect.Answer{Resume: chat.Resume{ThreadID: p.UUID("thread_id", b.ThreadID), InterruptID: b.InterruptID}}
	p.ID("interrupt_id", b.InterruptID)
	a.Value = p.ResumeValue("resume_value", b.ResumeValue)
	a.View = p.View(value(b.StreamMode), b.StreamTokens)
	return a, p.Err()
}

type cancelBody struct {
	ThreadID     string `json:"thread_id"`
	TurnID       string `json:"turn_id"`
	ClientTurnID string `json:"client_turn_id"`
	StreamRunID  string `json:"stream_run_id"`
	Reason       string `json:"reason"`
}

// ParseCancel reads the body of POST /api/chat/cancel. The error is
// dialect.Problems.
func ParseCancel(body []byte) (dialect.Cancel, error) {
	var b cancelBody
	if err := dialect.Decode(body, &b); err != nil {
		return dialect.Cancel{}, err
	}
	var p dialect.Problems
	c := dialect.Cancel{
		TurnID: b.TurnID, ClientTurnID: b.ClientTurnID, StreamRunID: b.StreamRunID,
		Reason: chat.UserCancelled,
	}
	if b.ThreadID != "" {
		c.ThreadID = p.UUID("thread_id", b.ThreadID)
	}
	p.ID("turn_id", b.TurnID)
	p.ID("client_turn_id", b.ClientTurnID)
	p.ID("stream_run_id", b.StreamRunID)
	if b.ThreadID+b.TurnID+b.ClientTurnID+b.StreamRunID == "" {
		p.Add("turn_id", "or client_turn_id, stream_run_id or thread_id is needed")
	}
	switch r := chat.CancelReason(b.Reason); r {
	case "", chat.UserCancelled:
	case chat.Disconnected:
		c.Reason = r
	default:
		p.Add("reason", "must be user_cancelled or disconnect")
	}
	return c, p.Err()
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
