package llm

import (
	"encoding/json"

	"github.com/palaver-chat/palaver/chat"
)

// Intent is the structured answer of the intent resolver.
type Intent struct {
	Action      chat.Action     `json:"action"`
	Confidence  chat.Confidence `json:"confidence"`
	WebSearch   bool            `json:"enable_web_search"`
	MultiAction bool            `json:"multi_action_detected"`
	Actions     []chat.Action   `json:"actions"` // the likeliest first
	Reasoning   string          `json:"reasoning"`
	SearchWords string          `json:"search_words,omitempty"` // what is asked, in other words
}

// IntentSchema is Intent's JSON schema.
var IntentSchema = Schema{
	Name:        "intent_classification",
	Description: "What the person wants done with their documents.",
	JSON: json.RawMessage(`{"type":"object","additionalProperties":false,
"required":["action","confidence","enable_web_search","multi_action_detected","actions","search_words","reasoning"],
"properties":{
"action":{"type":"string","enum":["summarize","inquire","compare","audit","talk"]},
"confidence":{"type":"string","enum":["high","medium","low"]},
"enable_web_search":{"type":"boolean","description":"true when the answer depends on what is current now"},
"multi_action_detected":{"type":"boolean","description":"true when two different actions are asked for at once"},
"actions":{"type":"array","items":{"type":"string","enum":["summarize","inquire","compare","audit","talk"]},"description":"every action that may be meant, the likeliest first"},
"search_words":{"type":"string","description":"what is asked, in up to twelve other words that rules, policies and contracts use for it; empty without a question"},
"reasoning":{"type":"string"}}}`),
	Optional: []string{"enable_web_search", "multi_action_detected", "actions", "search_words", "reasoning"},
}

// DocResolution is the structured answer of the document resolver.
type DocResolution struct {
	ResolvedIDs     []string        `json:"resolved_uuids"`
	UnresolvedNames []string        `json:"unresolved_names"`
	Confidence      chat.Confidence `json:"inference_confidence"`
	ImplicitRefs    bool            `json:"has_implicit_refs"`
	Reasoning       string          `json:"reasoning"`
	SearchWords     string          `json:"search_words,omitempty"` // as Intent.SearchWords
	Answerable      Answerable      `json:"answerable,omitempty"`
}

// Answerable is a model's opinion whether documents can have the answer to a message.
type Answerable string

const (
	Likely   Answerable = "likely"
	Unlikely Answerable = "unlikely"
)

// DocResolutionSchema is DocResolution's JSON schema.
var DocResolutionSchema = Schema{
	Name:        "document_resolution",
	Description: "Which of the known documents the person refers to.",
	JSON: json.RawMessage(`{"type":"object","additionalProperties":false,
"required":["resolved_uuids","unresolved_names","inference_confidence","has_implicit_refs","search_words","answerable","reasoning"],
"properties":{
"resolved_uuids":{"type":"array","items":{"type":"string"},"description":"ids from the registry, copied exactly"},
"unresolved_names":{"type":"array","items":{"type":"string"},"description":"names of documents in the message that are not in the registry"},
"inference_confidence":{"type":"string","enum":["high","medium","low"]},
"has_implicit_refs":{"type":"boolean","description":"true when the message refers to documents by pronoun or description"},
"search_words":{"type":"string","description":"what is asked, in up to twelve other words that rules, policies and contracts use for it; empty without a question"},
"answerable":{"type":"string","enum":["likely","unlikely"],"description":"whether documents with the titles of the list may have what the message asks for"},
"reasoning":{"type":"string"}}}`),
	Optional: []string{"unresolved_names", "has_implicit_refs", "search_words", "answerable", "reasoning"},
}

// WebQuery is the structured answer with the query of a web search.
type WebQuery struct {
	Query string `json:"query"`
}

// WebQuerySchema is WebQuery's JSON schema.
var WebQuerySchema = Schema{
	Name:        "web_query",
	Description: "One web search query.",
	JSON:        json.RawMessage(`{"type":"object","additionalProperties":false,"required":["query"],"properties":{"query":{"type":"string","maxLength":300}}}`),
}
