package chat

import "strconv"

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
	// EventToken is in no log: it is a delta of the current piece.
	EventToken EventType = "token"
)

// Terminal reports whether an event of this type ends its turn.
func (t EventType) Terminal() bool {
	return t == EventResponse || t == EventCancelled || t == EventFailed
}

// DocRef is a document's id and title.
type DocRef struct {
	ID    string `json:"id"`
	Title string `json:"title"`
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
	Node      Node     `json:"node,omitempty"`
	Message   string   `json:"message,omitempty"` // also of notice, interrupt and failed
	DocsFound []DocRef `json:"docs_found,omitempty"`
	WebQuery  string   `json:"web_query,omitempty"`
	// Report is the key of the report that a status shows (ProgressKey), in the log and before
	// the log has it.
	Report string `json:"report,omitempty"`

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
	Hint      string       `json:"hint,omitempty"`    // failed: what operators can do; not for others
	Retryable bool         `json:"retryable,omitempty"`
	Response  *Response    `json:"response,omitempty"`
	Reason    CancelReason `json:"reason,omitempty"`
	Partial   string       `json:"partial,omitempty"`   // cancelled and failed
	Citations []Citation   `json:"citations,omitempty"` // of Partial
	Usage     *Usage       `json:"usage,omitempty"`     // cancelled, failed and interrupt (so far); a response has its own
}

// Response is a finished answer with its metadata.
type Response struct {
	Text                string     `json:"response"`
	Citations           []Citation `json:"citations"`
	Action              Action     `json:"action"`
	InferenceConfidence Confidence `json:"inference_confidence"`
	RetrievalConfidence Confidence `json:"retrieval_confidence"`
	Usage               Usage      `json:"usage"`
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

var statusMessages = map[Node]string{
	NodeIntent:    "Clarifying intent...",
	NodeDocs:      "Finding documents...",
	NodeValidate:  "Validating request...",
	NodeSummarize: "Summarizing documents...",
	NodeInquire:   "Researching your question...",
	NodeCompare:   "Comparing documents...",
	NodeAudit:     "Auditing against regulations...",
	NodeFormat:    "Formatting response...",
	NodeModel:     "Thinking...",
}

// StatusMessage returns the text that is shown while node runs. detail is the query
// of a web_search or the name of a tool.
func StatusMessage(node Node, detail string) string {
	switch node {
	case NodeWebSearch:
		return `Searching online "` + detail + `"`
	case NodeTool:
		return "Calling " + detail + "..."
	}
	return statusMessages[node]
}

// RetryMessage is the status while a model call waits to be made again, for the n-th time.
func RetryMessage(n int) string { return "Model busy, retrying (" + strconv.Itoa(n) + ")..." }

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
	NoticeNotSaved          = "not_saved_yet"
	NoticeNoImages          = "images_not_supported"
	NoticeImport            = "import" // how an import ended; the entry's Ref has its words
	NoticeSummarized        = "history_summarized"
	NoticeHistoryDropped    = "history_dropped"
	NoticeWrongProposal     = "proposal_rejected" // the model has twice proposed what a discovery board cannot take
	NoticeAgent             = "agent"             // an agent's own; the entry has its sentence
)

var noticeMessages = map[string]string{
	NoticeRestarted:         "The answer was interrupted on our side and was begun again.",
	NoticeWebDropped:        "Web search is not supported for Compare and was left out.",
	NoticeWebNotConfigured:  "Web search is not configured on this server (TAVILY_API_KEY), so the answer uses your documents only.",
	NoticeWebFailed:         "The web search failed, so the answer uses your documents only.",
	NoticeWebSkipped:        "Your documents have what was asked for, so the web was not searched.",
	NoticeWebEmpty:          "The web search found nothing, so the answer uses your documents only.",
	NoticeDocsProcessing:    "Some of your documents are still being processed and could not be used for this answer.",
	NoticeResumeIgnored:     "An answer that did not fit the open question was ignored.",
	NoticeDocumentsExcluded: "Some documents could not be read and were left out.",
	NoticeDocumentsPartly:   "These are more documents than can be read at once. Some were left out; ask about fewer at a time.",
	NoticeNotSaved:          "The database cannot be reached. This conversation goes on and will be saved when it is back.",
	NoticeSummarized:        "This conversation has become long, so its beginning was summarized. Answers use the summary from now on.",
	NoticeHistoryDropped:    "This conversation has become long, so its beginning was left out.",
	NoticeWrongProposal:     "A change was proposed that does not fit the board. Please say it in other words, with the ids of the items you mean.",
	NoticeNoImages:          "This model cannot see pictures, so it answers from the text alone.",
}

// NoticeMessage returns the text of a notice's code.
func NoticeMessage(code string) string { return noticeMessages[code] }

// Codes of failed turns and refused requests.
const (
	CodeValidation       = "validation_failed"
	CodeUnauthenticated  = "unauthenticated"
	CodeForbidden        = "forbidden"
	CodeNotFound         = "not_found"
	CodeHost             = "host_not_allowed"
	CodeMethod           = "method_not_allowed"
	CodeTurnRunning      = "turn_running"
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
	message   string
	retryable bool
}

var failures = map[string]failure{
	CodeModelUnavailable: {"The model did not answer. Please try again in a moment.", true},
	CodeModelTimeout:     {"The model took too long to answer. Please try again.", true},
	CodeModelRejected:    {"The AI service rejected the request.", false},
	CodeStepLimit:        {"This turn took more steps than allowed and was ended.", false},
	CodeTokenLimit:       {"This turn used more tokens than allowed and was ended.", false},
	CodeDeadline:         {"This turn took longer than allowed and was ended.", true},
	CodeDatabase:         {"Your documents cannot be reached right now. Please try again in a moment.", true},
	CodeTurnLost:         {"The server lost this message before its answer was complete. What was written is kept. Please send the message again.", true},
	CodeInternal:         {"Something went wrong on our side. Please try again.", true},
}

// ModelNotAvailable is what a person reads when a model refuses for a reason that only an
// operator can remove.
const ModelNotAvailable = "The model is not available. The server's log says why."

// FailureMessage returns the text of a failed turn's code, and whether a retry can
// help.
func FailureMessage(code string) (message string, retryable bool) {
	f, ok := failures[code]
	if !ok {
		f = failures[CodeInternal]
	}
	return f.message, f.retryable
}

// ForOperator returns e with what an operator can do about a failure in its message.
func (e Event) ForOperator() Event {
	if e.Hint != "" {
		e.Message += " " + e.Hint
	}
	return e
}
