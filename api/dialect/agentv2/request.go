// Package agentv2 is the agent v2 dialect, /api/agent/v2
// (docs/contract.md): request bodies become commands and turn events become its JSON.
package agentv2

import (
	"strings"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/chat"
)

type streamBody struct {
	Message   string  `json:"message"`
	SessionID *string `json:"session_id"`
	dialect.Fields
}

// ParseStream reads the body of POST /api/agent/v2/stream. Its ThreadAlias is the client's session id.
// If that is empty, client_turn_id names the session, so that a retried first message never forks it.
// The error is dialect.Problems.
func ParseStream(body []byte, agents chat.Agents) (dialect.Submit, error) {
	var b streamBody
	if err := dialect.Decode(body, &b); err != nil {
		return dialect.Submit{}, err
	}
	var p dialect.Problems
	message := strings.TrimSpace(b.Message)
	p.Text("message", message, 1, chat.MaxMessage)
	s := b.Submit(&p, agents, chat.AgentAssistant, true)
	s.Content.Message = message
	if b.SessionID != nil && *b.SessionID != "" {
		s.ThreadAlias = p.ThreadName("session_id", *b.SessionID)
	}
	if s.ClientTurnID == "" {
		p.Add("client_turn_id", "is missing")
	}
	if s.StreamRunID == "" {
		p.Add("stream_run_id", "is missing")
	}
	return s, p.Err()
}

type resumeBody struct {
	SessionID    string               `json:"session_id"`
	ThreadID     string               `json:"thread_id"`
	InterruptID  string               `json:"interrupt_id"`
	ResumeValue  *dialect.ResumeValue `json:"resume_value"`
	StreamRunID  string               `json:"stream_run_id"`
	OnDisconnect string               `json:"on_disconnect"`
	StreamMode   string               `json:"stream_mode"`
	StreamTokens *bool                `json:"stream_tokens"`
}

// ParseResume reads the body of POST /api/agent/v2/resume. Its ThreadAlias is
// the session. The error is dialect.Problems.
func ParseResume(body []byte) (dialect.Answer, error) {
	var b resumeBody
	if err := dialect.Decode(body, &b); err != nil {
		return dialect.Answer{}, err
	}
	var p dialect.Problems
	a := dialect.Answer{
		Resume:             chat.Resume{InterruptID: b.InterruptID, Value: p.ResumeValue("resume_value", b.ResumeValue)},
		StreamRunID:        b.StreamRunID,
		CancelOnDisconnect: true,
		View:               p.View(b.StreamMode, b.StreamTokens),
	}
	field, session := "session_id", b.SessionID
	if session == "" && b.ThreadID != "" {
		field, session = "thread_id", b.ThreadID
	}
	a.ThreadAlias = p.ThreadName(field, session)
	p.ID("interrupt_id", b.InterruptID)
	p.ID("stream_run_id", b.StreamRunID)
	if b.OnDisconnect != "" {
		a.CancelOnDisconnect = p.Choice("on_disconnect", b.OnDisconnect, "continue", "cancel")
	}
	return a, p.Err()
}

type stopBody struct {
	SessionID    string `json:"session_id"`
	StreamRunID  string `json:"stream_run_id"`
	ClientTurnID string `json:"client_turn_id"`
	Reason       string `json:"reason"`
}

// ParseStop reads the body of POST /api/agent/v2/stop. Its ThreadAlias is the client's session id. The
// error is dialect.Problems.
func ParseStop(body []byte) (dialect.Cancel, error) {
	var b stopBody
	if err := dialect.Decode(body, &b); err != nil {
		return dialect.Cancel{}, err
	}
	var p dialect.Problems
	c := dialect.Cancel{ClientTurnID: b.ClientTurnID, StreamRunID: b.StreamRunID, Reason: chat.UserCancelled}
	if b.SessionID != "" {
		c.ThreadAlias = p.ThreadName("session_id", b.SessionID)
	}
	p.ID("client_turn_id", b.ClientTurnID)
	p.ID("stream_run_id", b.StreamRunID)
	if b.StreamRunID+b.ClientTurnID == "" {
		p.Add("stream_run_id", "or client_turn_id is needed")
	}
	switch r := chat.CancelReason(b.Reason); r {
	case "", chat.UserCancelled:
	case chat.Superseded, chat.Disconnected:
		c.Reason = r
	default:
		p.Add("reason", "must be user_cancelled, superseded or disconnect")
	}
	return c, p.Err()
}
