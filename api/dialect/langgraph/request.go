// Package langgraph is the LangGraph dialect, /api/v1/chat (part 5 of the
// contract): S3's bodies become commands and turn events become its JSON.
package langgraph

import (
	"encoding/json"
	"strconv"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/chat"
)

// MaxBody is the size of a message's request: its client sends the whole
// conversation along.
const MaxBody = 8 << 20

type streamBody struct {
	ThreadID     string            `json:"thread_id"`
	CheckpointID string            `json:"checkpoint_id"`
	Message      json.RawMessage   `json:"message"`
	Messages     []json.RawMessage `json:"messages"`

	// Not S3's, under their native names.
	Agent        string `json:"agent"`
	ClientTurnID string `json:"client_turn_id"`
	StreamRunID  string `json:"stream_run_id"`
	OnBusy       string `json:"on_busy"`
	StreamMode   string `json:"stream_mode"`
	StreamTokens *bool  `json:"stream_tokens"`
}

// ParseStream reads the body of POST /api/v1/chat/stream. Its ThreadAlias is the
// thread as the client calls it, empty when it names none; which thread of which
// owner that is remains to be found out. The error is dialect.Problems.
func ParseStream(body []byte) (dialect.Submit, error) {
	var b streamBody
	if err := dialect.Decode(body, &b); err != nil {
		return dialect.Submit{}, err
	}
	var p dialect.Problems
	s := dialect.Submit{
		Content:      chat.Content{Agent: chat.AgentAssistant, ParentRequest: b.CheckpointID},
		AgentFree:    b.Agent == "",
		ClientTurnID: b.ClientTurnID,
		StreamRunID:  b.StreamRunID,
		OnBusy:       chat.Supersede,
		View:         dialect.View{NoTokens: b.StreamTokens != nil && !*b.StreamTokens},
	}
	if b.ThreadID != "" {
		s.ThreadAlias = p.ThreadName("thread_id", b.ThreadID)
	}
	p.ID("checkpoint_id", b.CheckpointID)
	s.Content.Message, s.Content.Attachments = readMessage(&p, b)
	if b.Agent != "" {
		if s.Content.Agent = chat.Agent(b.Agent); !s.Content.Agent.Valid() {
			p.Add("agent", "must be documents or assistant")
		}
	}
	p.ID("client_turn_id", b.ClientTurnID)
	p.ID("stream_run_id", b.StreamRunID)
	if b.OnBusy != "" {
		if s.OnBusy = chat.OnBusy(b.OnBusy); !s.OnBusy.Valid() {
			p.Add("on_busy", "must be supersede, enqueue, reject or rollback")
		}
	}
	s.View.Messages = p.Choice("stream_mode", b.StreamMode, "events", "messages")
	return s, p.Err()
}

type feedbackBody struct {
	ThreadID     string        `json:"thread_id"`
	CheckpointID string        `json:"checkpoint_id"`
	Approval     *approvalBody `json:"approval_data"`
	StreamMode   string        `json:"stream_mode"`
	StreamTokens *bool         `json:"stream_tokens"`
}

type approvalBody struct {
	Type       string         `json:"type"`
	Decisions  []decisionBody `json:"decisions"`
	Value      *string        `json:"value"`
	TaggedDocs []string       `json:"tagged_doc_ids"`
	TaggedSets []string       `json:"tagged_set_ids"`
}

type decisionBody struct {
	ID        string          `json:"id"`
	Decision  string          `json:"decision"`
	Arguments json.RawMessage `json:"arguments"`
	Reason    string          `json:"reason"`
	Remember  bool            `json:"remember"`
}

// Kinds of approval_data.
const (
	approvalDecisions = "tool_approval"
	approvalAnswer    = "answer" // to a question of any other kind
)

// Feedback is a person's answer. Its Value has no type when it answers whatever
// question is open.
type Feedback struct {
	Thread       string // as the client calls it
	CheckpointID string // the interrupt's; empty: whichever is open
	Value        chat.ResumeValue
	View         dialect.View
}

// ParseFeedback reads the body of POST /api/v1/chat/feedback. The error is
// dialect.Problems.
func ParseFeedback(body []byte) (Feedback, error) {
	var b feedbackBody
	if err := dialect.Decode(body, &b); err != nil {
		return Feedback{}, err
	}
	var p dialect.Problems
	f := Feedback{
		Thread:       p.ThreadName("thread_id", b.ThreadID),
		CheckpointID: b.CheckpointID,
		View:         dialect.View{NoTokens: b.StreamTokens != nil && !*b.StreamTokens},
	}
	p.ID("checkpoint_id", b.CheckpointID)
	f.View.Messages = p.Choice("stream_mode", b.StreamMode, "events", "messages")
	if b.Approval == nil {
		p.Add("approval_data", "is missing")
		return f, p.Err()
	}
	switch b.Approval.Type {
	case approvalDecisions:
		f.Value = chat.ResumeValue{Type: chat.ToolApproval, Decisions: readDecisions(&p, b.Approval.Decisions)}
	case approvalAnswer:
		f.Value = readAnswer(&p, *b.Approval)
	default:
		p.Add("approval_data.type", "must be tool_approval or answer")
	}
	return f, p.Err()
}

func readAnswer(p *dialect.Problems, b approvalBody) chat.ResumeValue {
	v := chat.ResumeValue{
		Value:      b.Value,
		TaggedDocs: p.UUIDs("approval_data.tagged_doc_ids", b.TaggedDocs),
		TaggedSets: p.UUIDs("approval_data.tagged_set_ids", b.TaggedSets),
	}
	p.Text("approval_data.value", v.Text(), 0, chat.MaxMessage)
	return v
}

const maxDecisions = 128

// readDecisions takes empty arguments for none, as S3's client sends them along
// with every approval.
func readDecisions(p *dialect.Problems, list []decisionBody) []chat.Decision {
	if len(list) > maxDecisions {
		p.Add("approval_data.decisions", "must have at most "+strconv.Itoa(maxDecisions)+" entries")
		return nil
	}
	out := make([]chat.Decision, 0, len(list))
	for i, d := range list {
		field := "approval_data.decisions[" + strconv.Itoa(i) + "]"
		if d.ID == "" {
			p.Add(field+".id", "is missing")
		}
		p.ID(field+".id", d.ID)
		verdict := chat.Verdict(d.Decision)
		if verdict != chat.Approved && verdict != chat.Rejected {
			p.Add(field+".decision", "must be approved or rejected")
		}
		p.Text(field+".reason", d.Reason, 0, chat.MaxReason)
		edited := chat.Decision{ID: d.ID, Decision: verdict, Reason: d.Reason, Remember: d.Remember}
		if verdict == chat.Approved {
			edited.Arguments = readArguments(p, field+".arguments", d.Arguments)
		}
		out = append(out, edited)
	}
	return out
}

func readArguments(p *dialect.Problems, field string, raw json.RawMessage) json.RawMessage {
	if absent(raw) {
		return nil
	}
	if len(raw) > chat.MaxArguments {
		p.Add(field, "must have at most 64 kB")
		return nil
	}
	var keys map[string]json.RawMessage
	if json.Unmarshal(raw, &keys) != nil {
		p.Add(field, "must be an object")
		return nil
	}
	if len(keys) == 0 {
		return nil
	}
	return raw
}

func absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
