package chat

import (
	"slices"
	"time"

	"github.com/palaver-chat/palaver/chat/messages"
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
	Took     int          `json:"took_ms,omitempty"`  // reasoning: milliseconds; status: of the turn so far
	Code     string       `json:"code,omitempty"`     // notice and failed
	Question *Question    `json:"question,omitempty"` // interrupt
	Resume   *ResumeValue `json:"resume,omitempty"`   // resumed
	Answers  string       `json:"answers,omitempty"`  // resumed: the interrupt's id
	Channel  Channel      `json:"channel,omitempty"`  // resumed and cancelled: how the decision came
	Usage    *Usage       `json:"usage,omitempty"`    // interrupt and status: of the turn so far
	Reason   CancelReason `json:"reason,omitempty"`   // cancelled
	Call     *CallRef     `json:"call,omitempty"`     // tool_call and tool_result; status: the tool that runs
	IsError  bool         `json:"is_error,omitempty"` // tool_result
	Text     string       `json:"text,omitempty"`     // status and notice of an agent's own: the sentence, a constant of its code
}

// StatusMessage returns the line that a person sees while a status's step runs. webQuery is
// the text that Ref names.
func (e Entry) StatusMessage(webQuery string) messages.Message {
	switch {
	case e.Text != "":
		return messages.Plain(e.Text)
	case e.Call != nil:
		return StatusMessage(e.Node, e.Call.Name)
	}
	return StatusMessage(e.Node, webQuery)
}

// NoticeMessage returns the sentence of a notice.
func (e Entry) NoticeMessage() messages.Message {
	if e.Text != "" {
		return messages.Plain(e.Text)
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
	About     string        `json:"about,omitempty"`   // compare_two: the document that is chosen already
	Ref       string        `json:"ref,omitempty"`     // key of a text that the question quotes
	Calls     []CallRef     `json:"calls,omitempty"`   // tool_approval
	ChunkIDs  []string      `json:"chunks,omitempty"`  // retrieval_low: the closest passages, the best first
	// Text and Labels are the words of an agent's own question: constants of its code.
	Text   string   `json:"text,omitempty"`
	Labels []string `json:"labels,omitempty"` // of OptionIDs, choice only
}

// Message returns the text above the options. detail is the text of Question.Ref:
// names that were not found, or "". about is the title of Question.About.
func (q Question) Message(detail, about string) messages.Message {
	if detail != "" {
		return messages.AskAfterNotFound.With(messages.Params{"names": detail, "question": q.plain(about).Coded})
	}
	return q.plain(about)
}

func (q Question) plain(about string) messages.Message {
	switch q.Prompt {
	case PromptMultiAction:
		return messages.AskOneAction
	case PromptWhichAction:
		return messages.AskAction
	case PromptWhichDoc:
		switch q.Action {
		case Audit:
			return messages.AskAudit
		case Compare:
			return messages.AskCompare
		case Summarize:
			return messages.AskSummarize
		default:
			return messages.AskDocument
		}
	case PromptUnknownDoc:
		return messages.AskToTag
	case PromptCompareTwo:
		if about != "" {
			return messages.AskSecondBeside.With(messages.Params{"title": about})
		}
		return messages.AskSecond
	case PromptCompareNone:
		return messages.AskTwo
	case PromptSummarizeDoc:
		return messages.AskToSummarize
	case PromptAuditTarget:
		return messages.AskToAudit
	case PromptAuditText:
		return messages.AskText
	case PromptRetrievalLow:
		return messages.AskLittleFound
	case PromptApproveTools:
		return q.ofCalls(messages.AskRun, messages.AskRunSeveral)
	case PromptOwn:
		return messages.Plain(q.Text)
	case PromptUnknownOutcome:
		return q.ofCalls(messages.AskAgain, messages.AskAgainSeveral)
	}
	return messages.AskAnything
}

func (q Question) ofCalls(one, several messages.Message) messages.Message {
	if len(q.Calls) == 1 {
		return one.With(messages.Params{"tool": q.Calls[0].Name})
	}
	return several
}

var retrievalLabels = map[string]messages.Message{
	OptionTagDocs:   messages.OptionTagDocs,
	OptionWebSearch: messages.OptionWebSearch,
	OptionContinue:  messages.OptionContinue,
}

// OptionLabel returns the button text of an option id. title is the title if the
// option is a document.
func (q Question) OptionLabel(id, title string) messages.Message {
	switch q.Type {
	case ActionChoice:
		return Action(id).Label()
	case RetrievalLow:
		return retrievalLabels[id]
	case Choice:
		if i := slices.Index(q.OptionIDs, id); i >= 0 && i < len(q.Labels) {
			return messages.Plain(q.Labels[i])
		}
		return messages.Plain(id)
	}
	if id == AllDocs {
		return messages.OptionAll
	}
	return messages.Plain(title)
}
