package chat

import "github.com/palaver-chat/palaver/chat/messages"

// EventType names a kind of turn event.
type EventType string

const (
	EventTurnStarted EventType = "turn_started"
	EventStatus      EventType = "status"
	EventText        EventType = "text" // a finished piece of the answer
	EventToolCall    EventType = "tool_call"
	EventToolResult  EventType = "tool_result"
	EventInterrupt   EventType = "interrupt"
	EventResumed     EventType = "resumed"
	EventNotice      EventType = "notice"
	EventResponse    EventType = "response"
	EventCancelled   EventType = "cancelled"
	EventFailed      EventType = "failed"
	EventReasoning   EventType = "reasoning" // what the model thought before a piece or a call
	// EventThought is in no log: it is a delta of the reasoning that a model writes now.
	EventThought EventType = "thought"
	// EventToken is in no log: it is a delta of the current piece.
	EventToken EventType = "token"
)

// Terminal reports whether an event of this type ends its turn.
func (t EventType) Terminal() bool {
	return t == EventResponse || t == EventCancelled || t == EventFailed
}

// DocRef is a document's id and label.
type DocRef struct {
	ID    string `json:"id"`
	Title string `json:"title"` // the document's label
}

// Event is one event of a turn, with its texts. Durable events are numbered from 1
// within their turn (N); a token has an offset in its piece instead. Only the fields
// of the event's type are set.
type Event struct {
	Type     EventType `json:"type"`
	N        int       `json:"n,omitempty"`
	TurnID   string    `json:"turn_id"`
	ThreadID string    `json:"thread_id"`
	// StreamRunID is the client's id for the run: of the turn's first send, or of the
	// retry whose stream shows the event.
	StreamRunID string `json:"stream_run_id,omitempty"`

	// status
	Node           Node     `json:"node,omitempty"`
	Message        string   `json:"message,omitempty"` // also of notice, interrupt and failed
	messages.Coded          // of Message; of a tool_result, of Text
	DocsFound      []DocRef `json:"docs_found,omitempty"`
	WebQuery       string   `json:"web_query,omitempty"`
	// Report is the key of the report that a status shows (ProgressKey), in the log and before
	// the log has it.
	Report string `json:"report,omitempty"`

	// reasoning and thought have Text, too
	Took int `json:"took_ms,omitempty"` // reasoning: milliseconds; status: of the turn so far

	// text and token; Piece counts an answer's pieces from 1
	Text    string `json:"text,omitempty"`
	Piece   int    `json:"piece,omitempty"`
	Attempt int    `json:"attempt,omitempty"` // token: increases when another attempt restarts the piece
	Offset  int    `json:"offset,omitempty"`  // token: characters of the piece before Text

	// tool_call and tool_result; a status that belongs to a call has the id
	ToolCallID string `json:"tool_call_id,omitempty"`
	ToolName   string `json:"tool_name,omitempty"`
	Arguments  string `json:"arguments,omitempty"` // a JSON object
	IsError    bool   `json:"is_error,omitempty"`

	Interrupt *Interrupt   `json:"interrupt,omitempty"`
	Resume    *ResumeValue `json:"resume,omitempty"`
	Channel   Channel      `json:"channel,omitempty"` // resumed and cancelled: how the decision came
	Code      string       `json:"code,omitempty"`    // notice and failed
	Retryable bool         `json:"retryable,omitempty"`
	Response  *Response    `json:"response,omitempty"`
	Reason    CancelReason `json:"reason,omitempty"`
	Partial   string       `json:"partial,omitempty"`   // cancelled and failed
	Citations []Citation   `json:"citations,omitempty"` // of Partial
	// Unverified are words of Partial, as in Response.
	Unverified []string `json:"unverified,omitempty"`
	Usage      *Usage   `json:"usage,omitempty"` // cancelled, failed, interrupt and status (so far); a response has its own
}

// Response is a finished answer with its metadata.
type Response struct {
	Text      string     `json:"response"`
	Citations []Citation `json:"citations"`
	// Unverified are words of Text that the model quoted and that are in no source, in order,
	// each verbatim.
	Unverified          []string   `json:"unverified,omitempty"`
	Action              Action     `json:"action"`
	InferenceConfidence Confidence `json:"inference_confidence"`
	RetrievalConfidence Confidence `json:"retrieval_confidence"`
	Model               string     `json:"model,omitempty"` // that the person has chosen
	Usage               Usage      `json:"usage"`
	Finish              Finish     `json:"finish,omitempty"`
}

// Finish says why an answer is not complete.
type Finish string

const (
	FinishLength Finish = "length"         // the model's limit ended it
	FinishFilter Finish = "content_filter" // the provider's content filter did
	FinishBroken Finish = "other"          // the provider gave up
)

var finishes = map[string]Finish{NoticeAnswerCut: FinishLength, NoticeAnswerFiltered: FinishFilter, NoticeAnswerBroken: FinishBroken}

// FinishOf returns why the answer of a log is not complete; empty: it is.
func FinishOf(log []Entry) (f Finish) {
	for _, e := range log {
		switch e.Type {
		case EventText:
			f = ""
		case EventNotice:
			if why := finishes[e.Code]; why != "" {
				f = why
			}
		}
	}
	return f
}

// Reason returns the finish in the words of clients, where a complete answer has a reason, too.
func (f Finish) Reason() string {
	if f == "" {
		return "stop"
	}
	return string(f)
}

// Node is a step of an agent, in statuses and traces.
type Node string

const (
	NodeIntent    Node = "intent_resolver"
	NodeDocs      Node = "doc_resolver"
	NodeValidate  Node = "validate_inputs"
	NodeSummarize Node = "summarize"
	NodeInquire   Node = "inquire"
	NodeCompare   Node = "compare"
	NodeAudit     Node = "audit"
	NodeWebSearch Node = "web_search"
	NodeFormat    Node = "format_response"
	NodeModel     Node = "model"
	NodeTool      Node = "tool"
	NodeImport    Node = "import" // of an import that runs; a Report has its words
	NodeAgent     Node = "agent"  // an agent's own status; the entry has its sentence
	// NodeRetry is the node of a status that is in no log: the model is busy, see RetryMessage.
	NodeRetry Node = "model_retry"
)

var statusMessages = map[Node]messages.Message{
	NodeIntent:    messages.StatusIntent,
	NodeDocs:      messages.StatusDocuments,
	NodeValidate:  messages.StatusValidate,
	NodeSummarize: messages.StatusSummarize,
	NodeInquire:   messages.StatusInquire,
	NodeCompare:   messages.StatusCompare,
	NodeAudit:     messages.StatusAudit,
	NodeFormat:    messages.StatusFormat,
	NodeModel:     messages.StatusModel,
}

// StatusMessage returns the text that is shown while node runs. detail is the query
// of a web_search or the name of a tool.
func StatusMessage(node Node, detail string) messages.Message {
	switch node {
	case NodeWebSearch:
		return messages.StatusWeb.With(messages.Params{"query": detail})
	case NodeTool:
		return messages.StatusTool.With(messages.Params{"tool": detail})
	}
	return statusMessages[node]
}

// StatusLabel says what node does, without words of people; empty: unknown.
func StatusLabel(node Node) string {
	switch node {
	case NodeWebSearch:
		return "Searching the web..."
	case NodeTool:
		return "Calling a tool..."
	case NodeImport:
		return "Importing a document..."
	}
	return statusMessages[node].Text
}

// RetryMessage is the status while a model call waits to be made again, for the n-th time.
func RetryMessage(n int) messages.Message { return messages.StatusRetry.With(messages.Params{"n": n}) }

// Codes of notices.
const (
	NoticeRestarted         = "restarted"
	NoticeWebDropped        = "web_search_dropped"
	NoticeWebNotConfigured  = "web_search_not_configured"
	NoticeWebFailed         = "web_search_failed"
	NoticeWebSkipped        = "web_search_skipped"
	NoticeWebEmpty          = "web_search_empty"
	NoticeDocsProcessing    = "documents_processing"
	NoticeResumeIgnored     = "resume_ignored"
	NoticeDocumentsExcluded = "documents_excluded"
	NoticeDocumentsPartly   = "documents_partly"
	NoticeElsewhere         = "documents_elsewhere" // the documents that a message names have too little
	NoticeUnreadPages       = "documents_unread_pages"
	NoticeDocumentsUnknown  = "documents_not_found" // names of the message that match no document
	NoticeNotSaved          = "not_saved_yet"
	NoticeNoImages          = "images_not_supported"
	NoticeImport            = "import" // how an import ended; the entry's Ref has its words
	NoticeSummarized        = "history_summarized"
	NoticeHistoryDropped    = "history_dropped"
	NoticeAnswerCut         = "answer_cut"        // the model's limit ended the answer
	NoticeAnswerFiltered    = "answer_filtered"   // the provider's content filter did
	NoticeAnswerBroken      = "answer_broken"     // the provider gave up
	NoticeFigures           = "figures_not_found" // in the passages that the answer cites
	NoticeWrongProposal     = "proposal_rejected" // the model has twice proposed what a discovery board cannot take
	NoticeAgent             = "agent"             // an agent's own; the entry has its sentence
	NoticePlan              = "plan"              // how the model is going to find the answer; the entry's Ref has its words
	NoticeSteered           = "steered"           // what the person wrote while the turn worked; the entry's Ref has their words
	NoticeStepsUsed         = "steps_used"        // the limit of steps ended the turn's work
	NoticeTokensUsed        = "tokens_used"       // that of tokens did
	NoticeCostUsed          = "cost_used"         // that of money did
)

var noticeMessages = map[string]messages.Message{
	NoticeRestarted:         messages.Restarted,
	NoticeWebDropped:        messages.WebDropped,
	NoticeWebNotConfigured:  messages.WebNotConfigured,
	NoticeWebFailed:         messages.WebFailed,
	NoticeWebSkipped:        messages.WebSkipped,
	NoticeWebEmpty:          messages.WebEmpty,
	NoticeDocsProcessing:    messages.DocsProcessing,
	NoticeResumeIgnored:     messages.ResumeIgnored,
	NoticeDocumentsExcluded: messages.DocumentsExcluded,
	NoticeDocumentsPartly:   messages.DocumentsPartly,
	NoticeElsewhere:         messages.Elsewhere,
	NoticeUnreadPages:       messages.UnreadPages,
	NoticeDocumentsUnknown:  messages.DocumentsUnknown,
	NoticeNotSaved:          messages.NotSaved,
	NoticeSummarized:        messages.Summarized,
	NoticeHistoryDropped:    messages.HistoryDropped,
	NoticeFigures:           messages.FiguresNotFound,
	NoticeWrongProposal:     messages.WrongProposal,
	NoticeAnswerCut:         messages.AnswerCut,
	NoticeAnswerFiltered:    messages.AnswerFiltered,
	NoticeAnswerBroken:      messages.AnswerBroken,
	NoticeNoImages:          messages.NoImages,
	NoticeStepsUsed:         messages.StepsUsed,
	NoticeTokensUsed:        messages.TokensUsed,
	NoticeCostUsed:          messages.CostUsed,
}

// NoticeMessage returns the text of a notice's code.
func NoticeMessage(code string) messages.Message { return noticeMessages[code] }

// Codes of failed turns and refused requests.
const (
	CodeValidation       = "validation_failed"
	CodeUnauthenticated  = "unauthenticated"
	CodeForbidden        = "forbidden"
	CodeNotFound         = "not_found"
	CodeHost             = "host_not_allowed"
	CodeMethod           = "method_not_allowed"
	CodeTurnRunning      = "turn_running"
	CodeTurnBegun        = "turn_begun"
	CodeTurnConflict     = "client_turn_id_conflict"
	CodeNoInterrupt      = "no_pending_interrupt"
	CodeBadResume        = "invalid_resume_value"
	CodeVersionConflict  = "version_conflict"
	CodeTooLarge         = "too_large"
	CodeUnsupported      = "unsupported_type"
	CodeRateLimited      = "rate_limited"
	CodeQuota            = "quota_reached"
	CodeBudget           = "budget_reached"
	CodeModelUnavailable = "model_unavailable"
	CodeModelRejected    = "model_rejected"
	CodeModelTimeout     = "model_timeout"
	CodeStepLimit        = "step_limit"
	CodeTokenLimit       = "token_limit"
	CodeDeadline         = "deadline_exceeded"
	CodeDatabase         = "database_unavailable"
	CodeTurnLost         = "turn_lost"
	CodeInternal         = "internal"
	CodeSimilarItems     = "similar_items"
	CodeItemChanged      = "item_changed"
	CodeDecided          = "already_decided"
	CodeBuiltOn          = "built_on"
)

// failure is the text of a failed turn, and whether a retry can help.
type failure struct {
	message   messages.Message
	retryable bool
}

var failures = map[string]failure{
	CodeModelUnavailable: {messages.ModelUnavailable, true},
	CodeModelTimeout:     {messages.ModelTimeout, true},
	CodeModelRejected:    {messages.ModelRejected, false},
	CodeStepLimit:        {messages.StepLimit, false},
	CodeTokenLimit:       {messages.TokenLimit, false},
	CodeDeadline:         {messages.DeadlineExceeded, true},
	CodeDatabase:         {messages.DocumentsDown, true},
	CodeTurnLost:         {messages.TurnLost, true},
	CodeInternal:         {messages.Internal, true},
}

// FailureMessage returns the text of a failed turn's code, and whether a retry can
// help.
func FailureMessage(code string) (message messages.Message, retryable bool) {
	f, ok := failures[code]
	if !ok {
		f = failures[CodeInternal]
	}
	return f.message, f.retryable
}

// Say sets the text of an event.
func (e *Event) Say(m messages.Message) { e.Message, e.Coded = m.Text, m.Coded }
