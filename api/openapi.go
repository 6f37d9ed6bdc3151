package api

import (
	"net/http"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/dialect/agentv2"
	"github.com/palaver-chat/palaver/api/dialect/aisdk"
	"github.com/palaver-chat/palaver/api/dialect/langgraph"
	"github.com/palaver-chat/palaver/api/dialect/native"
	"github.com/palaver-chat/palaver/chat"
)

// operation describes a route for the OpenAPI document. Errors that follow from the
// other fields are left out: every route with a body may return 413, every route with
// an id 404.
type operation struct {
	route        string // as the router has it: "GET /api/me"
	group        string
	about        string
	open         bool // needs no identity
	body         any  // type of the JSON request body; nil: none
	file         bool // accepts a multipart file, instead of the body or as well
	bodyOptional bool // the body is optional
	query        []param
	headers      []param
	answers      []success
	errors       []int
}

// param is a parameter of the query, or a header.
type param struct {
	name, about string
	required    bool
	enum        []any
	least, most int // range of a number; most 0: not a number
	list        bool
}

// success is an answer: JSON of a type, a stream of events, or another media type.
type success struct {
	status  int
	json    any
	events  string // schema of the events
	media   string
	headers []string
}

// Groups of operations.
const (
	groupNative    = "Native dialect"
	groupUI        = "AI SDK dialect"
	groupLangGraph = "LangGraph dialect"
	groupAgentV2   = "Agent v2 dialect"
	groupThreads   = "Conversations"
	groupDocuments = "Documents"
	groupMCP       = "MCP"
	groupCaller    = "Caller"
	groupServer    = "Server"
)

// Schemas of the events of each dialect.
const (
	nativeEvents    = "NativeEvent"
	uiEvents        = "UIEvent"
	langGraphEvents = "LangGraphEvent"
	agentV2Events   = "AgentV2Event"
	mcpMessages     = "MCPMessage"
)

func returnsOK(v any, headers ...string) []success {
	return []success{{status: http.StatusOK, json: v, headers: headers}}
}
func returnsCreated(v any) []success  { return []success{{status: http.StatusCreated, json: v}} }
func returnsAccepted(v any) []success { return []success{{status: http.StatusAccepted, json: v}} }
func returnsNoContent() []success     { return []success{{status: http.StatusNoContent}} }

func streams(events string) []success {
	return []success{{status: http.StatusOK, events: events, headers: []string{"X-Thread-Id", "X-Turn-Id", "X-Stream-Run-Id"}}}
}

func streamsIfAny(events string) []success { return append(streams(events), returnsNoContent()...) }

var (
	paramLimit  = func(most int) param { return param{name: "limit", about: "How many, at most.", least: 1, most: most} }
	paramCursor = param{name: "cursor", about: "next_cursor of the page before."}
	paramHead   = param{name: "head", about: "A checkpoint: the branch that ends there. Left out: the newest."}
	paramMode   = param{name: "stream_mode", about: "Left out: as the server is set up.", enum: values(StreamEvents, StreamMessages)}
	paramTokens = param{name: "stream_tokens", enum: values("true", "false")}
)

// operations has an entry for every route of the router.
var operations = []operation{
	{route: "GET /healthz", group: groupServer, open: true, about: "Whether the process answers.", answers: returnsOK(healthJSON{})},
	{route: "GET /readyz", group: groupServer, open: true, about: "Whether everything that every answer needs is there.",
		answers: append(returnsOK(readyJSON{}), success{status: http.StatusServiceUnavailable, json: readyJSON{}})},
	{route: "GET /metrics", group: groupServer, open: true, about: "Metrics, for Prometheus.",
		answers: []success{{status: http.StatusOK, media: "text/plain"}}},
	{route: "GET /openapi.json", group: groupServer, open: true, about: "This document.",
		answers: append(returnsOK(map[string]any{}, "ETag"), success{status: http.StatusNotModified})},
	{route: "GET /api/config", group: groupServer, open: true, about: "What a page needs to know before it draws itself.", answers: returnsOK(configJSON{})},

	{route: "GET /api/me", group: groupCaller, about: "Who the caller is.", answers: returnsOK(meJSON{})},
	{route: "PUT /api/me", group: groupCaller, about: "Replaces what the caller says about themselves.", body: chat.Profile{}, answers: returnsOK(meJSON{})},

	{route: "POST /api/chat", group: groupNative, about: "Takes a message and streams its turn, until it is over or a person is asked.",
		body: native.ChatBody, answers: streams(nativeEvents), errors: takesTurn},
	{route: "POST /api/chat/resume", group: groupNative, about: "Answers the pending question and streams what remains of its turn.",
		body: native.ResumeBody, answers: streams(nativeEvents), errors: answersTurn},
	{route: "POST /api/chat/cancel", group: groupNative, about: "Stops a turn, also one that is still to come. Idempotent.",
		body: native.CancelBody, answers: returnsAccepted(cancelJSON{}), errors: []int{http.StatusNotFound}},
	{route: "GET /api/chat/history/:thread_id", group: groupNative, about: "The messages of a branch, what runs and what is asked.",
		query: []param{paramHead, {name: "before", about: "A message's id: those before it."}, paramLimit(500)},
		answers: returnsOK(dialect.Shape{Value: historyJSON{},
			Holds: map[string]any{"pending_interrupt": dialect.AnyOf{native.InterruptEvent, nil}}})},
	{route: "GET /api/chat/stream/:thread_id", group: groupNative, about: "Streams a thread to a client that comes, or comes back.",
		query: []param{{name: "turn_id", about: "Left out: the turn that runs."},
			{name: "follow", about: "turn: to the end of the turn; thread: on and on, turn after turn.", enum: values("turn", "thread")},
			{name: "last_event_id", about: "As the header Last-Event-ID."}, paramMode, paramTokens},
		headers: []param{{name: "Last-Event-ID", about: "The last event that the client has; the stream goes on after it."}},
		answers: streamsIfAny(nativeEvents), errors: []int{http.StatusTooManyRequests}},

	{route: "POST /api/agent/v2/stream", group: groupAgentV2, about: "Takes a message and streams its turn.",
		body: agentv2.StreamBody, answers: streams(agentV2Events), errors: takesTurn},
	{route: "POST /api/agent/v2/resume", group: groupAgentV2, about: "Answers the pending question and streams what remains of its turn.",
		body: agentv2.ResumeBody, answers: streams(agentV2Events), errors: answersTurn},
	{route: "POST /api/agent/v2/stop", group: groupAgentV2, about: "Stops a turn, also one that is still to come. Idempotent.",
		body: agentv2.StopBody, answers: returnsAccepted(cancelJSON{}), errors: []int{http.StatusNotFound}},

	{route: "POST /api/ui/chat", group: groupUI, about: "Takes what DefaultChatTransport posts: a message, a wish for another answer, decisions on tools, or an answer to a question.",
		body: aisdk.ChatBody, answers: streams(uiEvents), errors: takesTurn},
	{route: "GET /api/ui/chat/:id", group: groupUI, about: "A conversation as UI messages, along one branch.",
		query: []param{paramHead, paramLimit(500)}, answers: returnsOK(uiThreadJSON{})},
	{route: "GET /api/ui/chat/:id/stream", group: groupUI, about: "Replays the assistant message that is being written, then goes on live.",
		query: []param{paramMode, paramTokens}, answers: streamsIfAny(uiEvents), errors: []int{http.StatusTooManyRequests}},
	{route: "POST /api/ui/chat/:id/stop", group: groupUI, about: "Stops what runs, or what the body names.",
		body: aisdk.StopBody, bodyOptional: true, answers: returnsAccepted(cancelJSON{})},

	{route: "POST /api/v1/chat/stream", group: groupLangGraph, about: "Takes a message and streams its turn.",
		body: langgraph.StreamBody, answers: streams(langGraphEvents), errors: takesTurn},
	{route: "POST /api/v1/chat/feedback", group: groupLangGraph, about: "Answers the pending interrupt and streams what remains of its turn.",
		body: langgraph.FeedbackBody, answers: streams(langGraphEvents), errors: answersTurn},
	{route: "GET /api/v1/chat/interrupt", group: groupLangGraph, about: "Whether a thread waits for a person, or waits at this checkpoint.",
		query:   []param{{name: "thread_id", required: true}, {name: "checkpoint_id"}},
		answers: returnsOK(dialect.Shape{Value: interruptJSON{}, Holds: map[string]any{"payload": langgraph.Asked}})},
	{route: "GET /api/v1/threads/:thread_id/repo", group: groupLangGraph, about: "The message repository that a client keeps here.",
		answers: returnsOK(dialect.Shape{Value: repoJSON{}, Holds: map[string]any{"repo": dialect.AnyOf{map[string]any{}, nil}}}, "ETag")},
	{route: "PUT /api/v1/threads/:thread_id/repo", group: groupLangGraph, about: "Keeps a client's message repository.",
		body:    dialect.Shape{Value: repoBody{}, Needs: []string{"repo"}, Holds: map[string]any{"repo": map[string]any{}}},
		headers: []param{{name: "If-Match", about: "The repo_version that must be there, 0: none; another is 412."}},
		answers: returnsOK(repoPutJSON{}, "ETag"), errors: []int{http.StatusPreconditionFailed}},

	{route: "GET /api/conversations", group: groupThreads, about: "The caller's conversations, the newest first.",
		query:   []param{{name: "q", about: "Words that stand in them."}, paramCursor, paramLimit(100)},
		answers: returnsOK(list[conversationJSON]{})},
	{route: "POST /api/conversations", group: groupThreads, about: "Makes a conversation, or returns the one that the id names. A message begins its first turn.",
		body: conversationBody{}, answers: returnsCreated(conversationJSON{}), errors: takesTurn},
	{route: "GET /api/conversations/:id", group: groupThreads, about: "A conversation.", answers: returnsOK(conversationJSON{})},
	{route: "PATCH /api/conversations/:id", group: groupThreads, about: "Renames a conversation.",
		body: dialect.Shape{Value: renameBody{}, Needs: []string{"title"}}, answers: returnsOK(conversationJSON{})},
	{route: "DELETE /api/conversations/:id", group: groupThreads, about: "Ends a conversation and removes all of it. Its owner may use the id again.", answers: returnsNoContent()},
	{route: "GET /api/search", group: groupThreads, about: "Passages, ranked as answers rank them.",
		query: []param{{name: "q", about: "What to look for.", required: true}, {name: "doc_ids", about: "Only in these.", list: true},
			{name: "k", about: "How many, at most.", least: 1, most: 50}},
		answers: returnsOK(searchJSON{})},

	{route: "GET /api/documents", group: groupDocuments, about: "The documents that the caller can ask about.",
		query: []param{paramCursor, paramLimit(200)}, answers: returnsOK(list[documentJSON]{})},
	{route: "POST /api/documents", group: groupDocuments, about: "Takes a file of one of the document_types of /api/config, or a text, which is then processed.",
		body: dialect.Shape{Value: textBody{}, Needs: []string{"title", "text"}}, file: true,
		answers: returnsAccepted(documentJSON{}), errors: []int{http.StatusTooManyRequests}},
	{route: "GET /api/documents/:id", group: groupDocuments, about: "A document.", answers: returnsOK(documentJSON{})},
	{route: "DELETE /api/documents/:id", group: groupDocuments, about: "Removes a document.", answers: returnsNoContent()},
	{route: "GET /api/documents/:id/text", group: groupDocuments, about: "A document's text, in which citations count their characters; as JSON for who accepts that.",
		answers: []success{{status: http.StatusOK, json: documentTextJSON{}, media: "text/plain"}}},
	{route: "GET /api/documents/:id/chunks/:chunk_id", group: groupDocuments, about: "A passage of a document.", answers: returnsOK(chunkJSON{})},
	{route: "GET /api/document-sets", group: groupDocuments, about: "The caller's sets of documents.",
		query: []param{paramCursor, paramLimit(200)}, answers: returnsOK(list[setJSON]{})},
	{route: "POST /api/document-sets", group: groupDocuments, about: "Makes a set.",
		body: dialect.Shape{Value: setBody{}, Needs: []string{"name"}}, answers: returnsCreated(setJSON{})},
	{route: "PUT /api/document-sets/:id", group: groupDocuments, about: "Replaces a set.",
		body: dialect.Shape{Value: setBody{}, Needs: []string{"name"}}, answers: returnsOK(setJSON{})},
	{route: "DELETE /api/document-sets/:id", group: groupDocuments, about: "Removes a set, not its documents.", answers: returnsNoContent()},
	{route: "POST /api/attachments", group: groupDocuments, about: "Takes a picture (JPEG, PNG or WebP) for a message that is still to be sent.",
		file: true, answers: returnsCreated(attachmentJSON{}), errors: []int{http.StatusTooManyRequests}},
	{route: "GET /api/attachments/:id", group: groupDocuments, about: "A picture.",
		answers: []success{{status: http.StatusOK, media: "image/*"}}},

	{route: "POST /mcp", group: groupMCP, about: "MCP's streamable HTTP, without sessions: a request or notification in, its response out.",
		body:    rpcRequest{},
		answers: append([]success{{status: http.StatusOK, json: rpcResponse{}, events: mcpMessages}}, success{status: http.StatusAccepted}),
		errors:  []int{http.StatusTooManyRequests}},
	{route: "GET /mcp", group: groupMCP, about: "Refused: there are no sessions to listen to.", errors: []int{http.StatusMethodNotAllowed}},
	{route: "DELETE /mcp", group: groupMCP, about: "Refused: there are no sessions to end.", errors: []int{http.StatusMethodNotAllowed}},
	{route: "POST /mcp/rpc", group: groupMCP, about: "One JSON-RPC 2.0 request of MCP in, one response out.",
		body: rpcRequest{}, answers: append(returnsOK(rpcResponse{}), success{status: http.StatusAccepted}), errors: []int{http.StatusTooManyRequests}},
}

// Refusals beyond the usual: of a message, and of an answer to a question.
var (
	takesTurn   = []int{http.StatusNotFound, http.StatusConflict, http.StatusTooManyRequests}
	answersTurn = []int{http.StatusNotFound, http.StatusTooManyRequests}
)
