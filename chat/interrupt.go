package chat

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/chat/messages"
)

// InterruptType is the kind of a question.
type InterruptType string

const (
	ActionChoice InterruptType = "action_choice"
	DocChoice    InterruptType = "doc_choice"
	TextInput    InterruptType = "text_input"
	RetrievalLow InterruptType = "retrieval_low"
	ToolApproval InterruptType = "tool_approval"
	Choice       InterruptType = "choice" // one of the options of an agent's own question
)

// InterruptTypes lists every kind of question.
var InterruptTypes = []InterruptType{ActionChoice, DocChoice, TextInput, RetrievalLow, ToolApproval, Choice}

// CancelResume is the resume type that ends the turn instead of answering.
const CancelResume InterruptType = "cancel"

// Outcome is what became of a question.
type Outcome string

const (
	OutcomeAnswered   Outcome = "answered"
	OutcomeCancelled  Outcome = "cancelled"  // the person cancelled it, and with it the turn
	OutcomeUnanswered Outcome = "unanswered" // its turn ended without an answer
)

// AllDocs is the option id of "All of these".
const AllDocs = "all"

// Option ids of RetrievalLow.
const (
	OptionTagDocs   = "tag_docs"
	OptionWebSearch = "web_search"
	OptionContinue  = "continue"
)

// MaxClosest limits the passages of a retrieval_low.
const MaxClosest = 3

// InterruptID returns the id of a turn's n-th question; it is also a checkpoint.
func InterruptID(turnID string, n int) string { return turnID + ".q" + strconv.Itoa(n) }

// TurnOf returns the turn of a checkpoint, which is a turn's or an interrupt's id.
// RootCheckpoint stays.
func TurnOf(checkpoint string) string {
	turn, _, _ := strings.Cut(checkpoint, ".q")
	return turn
}

// Option is one button of an interrupt.
type Option struct {
	ID    string        `json:"id"`
	Label string        `json:"label"`
	Code  messages.Code `json:"message_code,omitempty"` // of Label, when it is one of Palaver's words
}

// Interrupt is a question to a person that pauses its turn.
type Interrupt struct {
	ID      string        `json:"interrupt_id"`
	Type    InterruptType `json:"interrupt_type"`
	Message string        `json:"message"`
	messages.Coded
	Options []Option   `json:"options,omitempty"`
	Calls   []ToolCall `json:"tool_calls,omitempty"` // tool_approval
	// Closest are the passages that come closest to an answer, of retrieval_low. Their
	// quotes are beginnings of passages.
	Closest []Citation `json:"closest,omitempty"`
	// Tools are the tools of Calls, each once, while the question is open. A tool is
	// missing when a release without this field asked.
	Tools []ToolInfo `json:"tools,omitempty"`
}

// ResumeValue is a person's answer to an interrupt.
type ResumeValue struct {
	Type       InterruptType   `json:"type"`
	Value      *string         `json:"value"`
	TipTap     json.RawMessage `json:"tiptap_json,omitempty"`
	TaggedDocs []string        `json:"tagged_doc_ids,omitempty"`
	TaggedSets []string        `json:"tagged_set_ids,omitempty"`
	Decisions  []Decision      `json:"decisions,omitempty"` // tool_approval: one for each call asked about
	// Ref is the key of the turn's text with the whole answer. The other fields then
	// have only ids (ByReference). Empty: the answer is complete.
	Ref string `json:"ref,omitempty"`
}

// HasTexts reports whether an answer to q has more than ByReference keeps.
func (v ResumeValue) HasTexts(q Question) bool {
	return len(v.TipTap)+len(v.TaggedDocs)+len(v.TaggedSets) > 0 ||
		v.Text() != "" && !slices.Contains(q.OptionIDs, v.Text()) ||
		slices.ContainsFunc(v.Decisions, func(d Decision) bool { return len(d.Arguments) > 0 || d.Reason != "" })
}

// ByReference returns an answer to q with only the chosen option and the verdicts;
// the text with this key has the whole answer.
func (v ResumeValue) ByReference(q Question, key string) ResumeValue {
	out := ResumeValue{Type: v.Type, Ref: key}
	if slices.Contains(q.OptionIDs, v.Text()) {
		out.Value = v.Value
	}
	for _, d := range v.Decisions {
		out.Decisions = append(out.Decisions, Decision{ID: d.ID, Decision: d.Decision, Remember: d.Remember})
	}
	return out
}

// Whole returns the complete answer; texts are the texts of its turn.
func (v ResumeValue) Whole(texts map[string]string) ResumeValue {
	if v.Ref == "" {
		return v
	}
	var whole ResumeValue
	if json.Unmarshal([]byte(texts[v.Ref]), &whole) != nil { // the text was not written, or was deleted
		return v
	}
	return whole
}

// Text returns the value or "".
func (v ResumeValue) Text() string {
	if v.Value == nil {
		return ""
	}
	return *v.Value
}

// MaxMessage limits messages and free-text answers, in characters.
const MaxMessage = 32000

// Fits returns why v cannot answer q, as a text for people; "" when it can. A cancel
// always fits. Of an answer by reference it checks only the ids. For retrieval_low a
// tag_docs answer must have documents or text that names them; a tool_approval needs
// one decision for each call. The caller checks the schema of edited arguments.
func (v ResumeValue) Fits(q Question) string {
	if v.Type == CancelResume {
		return ""
	}
	if v.Type != q.Type {
		return "the open question is of type " + string(q.Type)
	}
	tags := len(v.TaggedDocs)+len(v.TaggedSets) > 0 || len(v.TipTap) > 0 || v.Ref != ""
	if utf8.RuneCountInString(v.Text()) > MaxMessage {
		return "the value is longer than 32000 characters"
	}
	switch q.Type {
	case ToolApproval:
		return v.decides(q.Calls)
	case TextInput:
		if v.Text() == "" && !tags {
			return "a text or a tagged document is needed"
		}
		return ""
	case RetrievalLow:
		if v.Text() == OptionTagDocs && !tags {
			return "tagged documents are needed"
		}
	}
	if !slices.Contains(q.OptionIDs, v.Text()) {
		return "the value is not one of the options"
	}
	return ""
}

// CancelReason is the reason with which a CancelResume ends the turn: Superseded when its
// value says so, because the person has gone on in another conversation.
func (v ResumeValue) CancelReason() CancelReason {
	if v.Text() == string(Superseded) {
		return Superseded
	}
	return UserCancelled
}

// decides returns why the decisions do not cover the calls.
func (v ResumeValue) decides(calls []CallRef) string {
	seen := map[string]bool{}
	for _, d := range v.Decisions {
		switch {
		case !slices.ContainsFunc(calls, func(c CallRef) bool { return c.ID == d.ID }):
			return "a decision names a call that was not asked about"
		case seen[d.ID]:
			return "the call " + d.ID + " is decided twice"
		case d.Decision != Approved && d.Decision != Rejected:
			return "a decision must be approved or rejected"
		case utf8.RuneCountInString(d.Reason) > MaxReason:
			return "a reason is longer than 1000 characters"
		case len(d.Arguments) > MaxArguments:
			return "edited arguments are larger than 64 kB"
		}
		seen[d.ID] = true
	}
	for _, c := range calls {
		if !seen[c.ID] {
			return "the call " + c.ID + " is not decided"
		}
	}
	return ""
}
