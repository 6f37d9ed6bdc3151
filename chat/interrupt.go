package chat

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// InterruptType is the kind of question a turn waits on.
type InterruptType string

const (
	ActionChoice InterruptType = "action_choice"
	DocChoice    InterruptType = "doc_choice"
	TextInput    InterruptType = "text_input"
	RetrievalLow InterruptType = "retrieval_low"
	ToolApproval InterruptType = "tool_approval"
	Choice       InterruptType = "choice" // one of the options of an agent's own question
)

// CancelResume is the resume type that ends the turn instead of answering.
const CancelResume InterruptType = "cancel"

// AllDocs is the option id of "All of these".
const AllDocs = "all"

// Option ids of RetrievalLow.
const (
	OptionTagDocs   = "tag_docs"
	OptionWebSearch = "web_search"
	OptionContinue  = "continue"
)

// InterruptID names the n-th question of a turn; it is also a checkpoint.
func InterruptID(turnID string, n int) string { return turnID + ".q" + strconv.Itoa(n) }

// TurnOf is the turn that a checkpoint belongs to: a settled turn's checkpoint
// is its own id, an interrupt's means its turn. RootCheckpoint stays.
func TurnOf(checkpoint string) string {
	turn, _, _ := strings.Cut(checkpoint, ".q")
	return turn
}

// Option is one button of an interrupt.
type Option struct {
	ID    string `json:"id"`
	Label string `json:"label"`
}

// Interrupt is a question to a person that pauses its turn.
type Interrupt struct {
	ID      string        `json:"interrupt_id"`
	Type    InterruptType `json:"interrupt_type"`
	Message string        `json:"message"`
	Options []Option      `json:"options,omitempty"`
	Calls   []ToolCall    `json:"tool_calls,omitempty"` // tool_approval
}

// ResumeValue is a person's answer to an interrupt.
type ResumeValue struct {
	Type       InterruptType   `json:"type"`
	Value      *string         `json:"value"`
	TipTap     json.RawMessage `json:"tiptap_json,omitempty"`
	TaggedDocs []string        `json:"tagged_doc_ids,omitempty"`
	TaggedSets []string        `json:"tagged_set_ids,omitempty"`
	Decisions  []Decision      `json:"decisions,omitempty"` // tool_approval: one for each call asked about
	// Ref is the key of the turn's text that holds the whole answer. What else is
	// set then are ids, which the thread needs (ByReference). Empty: this is all.
	Ref string `json:"ref,omitempty"`
}

// HasTexts reports whether an answer to q holds more than ByReference keeps.
func (v ResumeValue) HasTexts(q Question) bool {
	return len(v.TipTap)+len(v.TaggedDocs)+len(v.TaggedSets) > 0 ||
		v.Text() != "" && !slices.Contains(q.OptionIDs, v.Text()) ||
		slices.ContainsFunc(v.Decisions, func(d Decision) bool { return len(d.Arguments) > 0 || d.Reason != "" })
}

// ByReference is an answer to q without what the person wrote, which the text of
// this key holds: the option chosen, and the verdicts.
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

// Whole is the answer with all that the person wrote; texts are those of its
// turn.
func (v ResumeValue) Whole(texts map[string]string) ResumeValue {
	if v.Ref == "" {
		return v
	}
	var whole ResumeValue
	if json.Unmarshal([]byte(texts[v.Ref]), &whole) != nil { // ours: it was not written, or is deleted
		return v
	}
	return whole
}

// Text is the value or "".
func (v ResumeValue) Text() string {
	if v.Value == nil {
		return ""
	}
	return *v.Value
}

// MaxMessage is the longest message and the longest free-text answer, in
// characters.
const MaxMessage = 32000

// Fits reports, in a person's words, why v cannot answer q; "" when it can. A
// cancel always fits. Of an answer by reference only its ids are looked at. For retrieval_low a tag_docs answer must bring documents
// or text that names them; a tool_approval needs one decision for each call.
// Whether edited arguments satisfy their schema is for the caller to find out.
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

// decides reports why the decisions do not answer for the calls.
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
