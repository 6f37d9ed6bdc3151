package chat

import (
	"slices"
	"time"
)

// Entry is a durable event in the workflow: ids, enums and numbers only. Its texts
// are rows of the turn, named by Ref, or follow from its codes. Package transcript
// renders an Entry into an Event.
type Entry struct {
	N        int          `json:"n"`
	Type     EventType    `json:"type"`
	At       time.Time    `json:"at"`
	Node     Node         `json:"node,omitempty"`
	DocIDs   []string     `json:"docs,omitempty"`     // status: documents found
	Ref      string       `json:"ref,omitempty"`      // key of the turn's text: the piece, the web query, the report
	Piece    int          `json:"piece,omitempty"`    // text
	Code     string       `json:"code,omitempty"`     // notice and failed
	Question *Question    `json:"question,omitempty"` // interrupt
	Resume   *ResumeValue `json:"resume,omitempty"`   // resumed
	Answers  string       `json:"answers,omitempty"`  // resumed: the interrupt's id
	Channel  Channel      `json:"channel,omitempty"`  // resumed and cancelled: how the decision came
	Usage    *Usage       `json:"usage,omitempty"`    // interrupt: of the turn so far
	Reason   CancelReason `json:"reason,omitempty"`   // cancelled
	Call     *CallRef     `json:"call,omitempty"`     // tool_call and tool_result; status: the tool that runs
	IsError  bool         `json:"is_error,omitempty"` // tool_result
	Text     string       `json:"text,omitempty"`     // status and notice of an agent's own: the sentence, a constant of its code
}

// StatusMessage returns the line that a person sees while a status's step runs. webQuery is
// the text that Ref names.
func (e Entry) StatusMessage(webQuery string) string {
	switch {
	case e.Text != "":
		return e.Text
	case e.Call != nil:
		return StatusMessage(e.Node, e.Call.Name)
	}
	return StatusMessage(e.Node, webQuery)
}

// NoticeMessage returns the sentence of a notice.
func (e Entry) NoticeMessage() string {
	if e.Text != "" {
		return e.Text
	}
	return NoticeMessage(e.Code)
}

// PromptCode selects the text of an interrupt.
type PromptCode string

const (
	PromptMultiAction  PromptCode = "multi_action"
	PromptWhichAction  PromptCode = "which_action"
	PromptWhichDoc     PromptCode = "which_doc"
	PromptUnknownDoc   PromptCode = "unknown_doc"  // Ref: the names not found
	PromptCompareTwo   PromptCode = "compare_two"  // one document is resolved
	PromptCompareNone  PromptCode = "compare_none" // none is resolved
	PromptSummarizeDoc PromptCode = "summarize_doc"
	PromptAuditTarget  PromptCode = "audit_target"
	PromptAuditText    PromptCode = "audit_text"
	PromptRetrievalLow PromptCode = "retrieval_low"
	PromptApproveTools PromptCode = "approve_tools"
	// PromptUnknownOutcome: the process died while the tools ran, so their outcome is
	// unknown.
	PromptUnknownOutcome PromptCode = "unknown_outcome"
	PromptOwn            PromptCode = "own" // Question.Text: an agent's own sentence
)

// Question is an interrupt in the workflow.
type Question struct {
	ID        string        `json:"id"` // also the interrupt's checkpoint
	Type      InterruptType `json:"type"`
	Prompt    PromptCode    `json:"prompt"`
	Action    Action        `json:"action,omitempty"`
	OptionIDs []string      `json:"options,omitempty"` // actions, document ids (and AllDocs), or the retrieval_low options
	Ref       string        `json:"ref,omitempty"`     // key of a text that the question quotes
	Calls     []CallRef     `json:"calls,omitempty"`   // tool_approval
	ChunkIDs  []string      `json:"chunks,omitempty"`  // retrieval_low: the closest passages, the best first
	// Text and Labels are the words of an agent's own question: constants of its code.
	Text   string   `json:"text,omitempty"`
	Labels []string `json:"labels,omitempty"` // of OptionIDs, choice only
}

// Sentence returns the text above the options. detail is the text of Question.Ref:
// names that were not found, or "".
func (q Question) Sentence(detail string) string {
	if detail != "" {
		return "I could not find " + detail + ". " + q.plain()
	}
	return q.plain()
}

func (q Question) plain() string {
	switch q.Prompt {
	case PromptMultiAction:
		return "I can only perform one action at a time. Which would you like to do first?"
	case PromptWhichAction:
		return "I'm not sure what action you'd like. Please choose:"
	case PromptWhichDoc:
		switch q.Action {
		case Audit:
			return "Which document would you like to audit against?"
		case Compare:
			return "Which document would you like to compare?"
		case Summarize:
			return "Which document would you like to summarize?"
		default:
			return "Which document do you mean?"
		}
	case PromptUnknownDoc:
		return "Please tag the document you'd like to reference, or type its name."
	case PromptCompareTwo:
		return "Compare requires at least 2 documents. Please tag the additional document."
	case PromptCompareNone:
		return "Compare requires at least 2 documents. Please tag the documents you'd like to compare."
	case PromptSummarizeDoc:
		return "Please tag the document you'd like to summarize."
	case PromptAuditTarget:
		return "Please tag the document you'd like to audit against."
	case PromptAuditText:
		return "Please enter the text you'd like to audit (e.g., an email or policy excerpt)."
	case PromptRetrievalLow:
		return "I found little in your documents about this. What would you like to do?"
	case PromptApproveTools:
		if len(q.Calls) == 1 {
			return "May I run " + q.Calls[0].Name + "?"
		}
		return "May I run these tools?"
	case PromptOwn:
		return q.Text
	case PromptUnknownOutcome:
		if len(q.Calls) == 1 {
			return "I was interrupted while " + q.Calls[0].Name + " ran and do not know whether it finished. Run it again?"
		}
		return "I was interrupted while these tools ran and do not know whether they finished. Run them again?"
	}
	return "Please answer to go on."
}

var retrievalLabels = map[string]string{
	OptionTagDocs:   "Tag specific documents",
	OptionWebSearch: "Search the web",
	OptionContinue:  "Continue anyway",
}

// OptionLabel returns the button text of an option id. title is the title if the
// option is a document.
func (q Question) OptionLabel(id, title string) string {
	switch q.Type {
	case ActionChoice:
		return Action(id).Label()
	case RetrievalLow:
		return retrievalLabels[id]
	case Choice:
		if i := slices.Index(q.OptionIDs, id); i >= 0 && i < len(q.Labels) {
			return q.Labels[i]
		}
		return id
	}
	if id == AllDocs {
		return "All of these"
	}
	return title
}
