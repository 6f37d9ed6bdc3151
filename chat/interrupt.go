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
}

// ResumeValue is a person's answer to an interrupt.
type ResumeValue struct {
	Type       InterruptType   `json:"type"`
	Value      *string         `json:"value"`
	TipTap     json.RawMessage `json:"tiptap_json,omitempty"`
	TaggedDocs []string        `json:"tagged_doc_ids,omitempty"`
	TaggedSets []string        `json:"tagged_set_ids,omitempty"`
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

// Fits reports, in a person's words, why v cannot answer an interrupt of type t
// with these options; "" when it can. A cancel always fits. For retrieval_low a
// tag_docs answer must bring documents or text that names them.
func (v ResumeValue) Fits(t InterruptType, optionIDs []string) string {
	if v.Type == CancelResume {
		return ""
	}
	if v.Type != t {
		return "the open question is of type " + string(t)
	}
	tags := len(v.TaggedDocs)+len(v.TaggedSets) > 0 || len(v.TipTap) > 0
	if utf8.RuneCountInString(v.Text()) > MaxMessage {
		return "the value is longer than 32000 characters"
	}
	switch t {
	case TextInput:
		if v.Text() == "" && !tags {
			return "a text or a tagged document is needed"
		}
	case RetrievalLow:
		if v.Text() == OptionTagDocs && !tags {
			return "tagged documents are needed"
		}
		fallthrough
	default:
		if !slices.Contains(optionIDs, v.Text()) {
			return "the value is not one of the options"
		}
	}
	return ""
}
