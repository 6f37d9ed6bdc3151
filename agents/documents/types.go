package documents

import "github.com/palaver-chat/palaver/chat"

// These types enter Temporal's history, so they have ids, enums and numbers only. Texts are
// rows of the turn.

// Intent is the action that a message asks for.
type Intent struct {
	Action     chat.Action     `json:"action"`
	Confidence chat.Confidence `json:"confidence"`
	Multi      bool            `json:"multi,omitempty"`
	Likely     []chat.Action   `json:"likely,omitempty"` // the likeliest first, at least two when Multi or Low
	WebSearch  bool            `json:"web,omitempty"`    // OR of request, scan and model
	// ComparesSubjects: the message compares or sums up subjects. Unless it means documents, it
	// is an inquiry about them.
	ComparesSubjects bool       `json:"compares_subjects,omitempty"`
	Usage            chat.Usage `json:"usage"`
}

// Spent is the usage of the model calls.
func (in Intent) Spent() chat.Usage { return in.Usage }

// Docs are the documents that are meant. Every id exists and is visible to the owner.
type Docs struct {
	IDs        []string        `json:"ids,omitempty"` // resolved, sets expanded, in order of mention
	Confidence chat.Confidence `json:"confidence"`
	Sure       bool            `json:"sure,omitempty"`       // the person or a confident model chose IDs: an inquiry searches only them
	Suggested  []string        `json:"suggested,omitempty"`  // candidates to choose from when Medium
	Offered    []string        `json:"offered,omitempty"`    // other documents for an action that lacks one, the likeliest first
	Unresolved bool            `json:"unresolved,omitempty"` // names that match no document; they are text "unresolved"
	HasText    bool            `json:"has_text,omitempty"`   // the message has a text to audit
	Called     bool            `json:"called,omitempty"`     // a model was asked
	Source     string          `json:"source,omitempty"`     // explicit, inferred or fuzzy_match
	Processing bool            `json:"processing,omitempty"` // one of the documents is not ready yet
	Usage      chat.Usage      `json:"usage"`
}

// Spent is the usage of the model call.
func (d Docs) Spent() chat.Usage { return d.Usage }

// AnswerRequest asks ReadAnswer to resolve a person's answer to a question.
type AnswerRequest struct {
	Value   chat.ResumeValue `json:"value"`
	AsText  bool             `json:"as_text,omitempty"` // the question asked for a text: store what is not a document as text "source_text"
	Unknown string           `json:"unknown,omitempty"` // key under which to store an answer that names no document, for the next question to quote
}

// ReadAnswerResult is the result of ReadAnswer.
type ReadAnswerResult struct {
	IDs  []string `json:"ids,omitempty"`  // documents named by id, name or mention
	Text bool     `json:"text,omitempty"` // a text was stored
	// Unknown: the answer names no document, and was stored under the given key.
	Unknown bool `json:"unknown,omitempty"`
}

// RetrieveRequest asks for the passages that an answer may use. Without DocIDs it
// searches all documents that the owner can see.
type RetrieveRequest struct {
	Action chat.Action `json:"action"`
	DocIDs []string    `json:"docs,omitempty"`
	// Hint: an inquiry searches all documents, and DocIDs, which the message names, come first.
	Hint bool `json:"hint,omitempty"`
	// Subject is the document to audit when the message has no text to audit; it is
	// not among DocIDs.
	Subject string `json:"subject,omitempty"`
	// Web: the message wants a web search.
	Web bool `json:"web,omitempty"`
	// Imports: imports of the conversation may be open (Turn.MayImport).
	Imports bool `json:"imports,omitempty"`
}

// RetrieveResult names the passages found. Confidence says whether they suffice: it is high
// only when nothing else needs to be searched, so never when a person asked for the web.
type RetrieveResult struct {
	ChunkIDs   []string        `json:"chunks,omitempty"`
	Closest    []string        `json:"closest,omitempty"` // with low confidence: the best passages that there are, for the question
	Confidence chat.Confidence `json:"confidence"`
	Score      float64         `json:"score"`
	Processing bool            `json:"processing,omitempty"` // documents still processing were left out
	Unreadable bool            `json:"unreadable,omitempty"` // failed documents were left out
	// UnreadPages: documents that were searched have pages that could not be read.
	UnreadPages bool `json:"unread_pages,omitempty"`
	Partly      bool `json:"partly,omitempty"`  // more documents than fit; some were left out
	NoWeb       bool `json:"no_web,omitempty"`  // the web cannot be searched, so the question does not offer it
	Widened     bool `json:"widened,omitempty"` // the documents meant have too little; others have more
	// Elsewhere: it was widened, and the message names the documents meant.
	Elsewhere bool `json:"elsewhere,omitempty"`
	// Quiet: nothing is asked when too little was found. Without a model, the answer shows what
	// was found.
	Quiet bool `json:"quiet,omitempty"`
	// Importing: too little was found, and a document that is still imported may have it.
	Importing bool       `json:"importing,omitempty"`
	Usage     chat.Usage `json:"usage,omitzero"` // of the query's embeddings
}

// Spent is the usage of the query's embeddings.
func (r RetrieveResult) Spent() chat.Usage { return r.Usage }

// WebQuery is the result of WordWebQuery; the query is text "web_query".
type WebQuery struct {
	Usage chat.Usage `json:"usage"`
}

// Spent is the usage of the model call.
func (q WebQuery) Spent() chat.Usage { return q.Usage }

// WebResult is the outcome of a web search; its pages are text "web_results".
type WebResult struct {
	Results int  `json:"results"`
	Off     bool `json:"off,omitempty"`    // not configured
	Failed  bool `json:"failed,omitempty"` // tried and failed
	Empty   bool `json:"empty,omitempty"`  // searched, and nothing was found

	Usage chat.Usage `json:"usage,omitzero"`
}

// Spent is the usage of the search.
func (r WebResult) Spent() chat.Usage { return r.Usage }

// WriteRequest asks Write to stream an answer.
type WriteRequest struct {
	Action   chat.Action `json:"action"`
	DocIDs   []string    `json:"docs,omitempty"`
	ChunkIDs []string    `json:"chunks,omitempty"`
	Subject  string      `json:"subject,omitempty"` // as in RetrieveRequest
	Web      bool        `json:"web,omitempty"`     // text "web_results" may be cited
	Weak     bool        `json:"weak,omitempty"`    // the passages have too little
}
