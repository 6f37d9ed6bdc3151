package api

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/mcpserver"
	"github.com/palaver-chat/palaver/api/openapi"
	"github.com/palaver-chat/palaver/chat"
)

// Groups of operations.
const (
	groupLangGraph = "LangGraph dialect"
	groupThreads   = "Conversations"
	groupDocuments = "Documents"
	groupBoards    = "Discovery boards"
	groupMCP       = "MCP"
	groupCaller    = "Caller"
	groupServer    = "Server"
)

// mcpMessages is the schema of what MCP streams hold.
const mcpMessages = "MCPMessage"

// operations returns every route.
func (s *server) operations() []openapi.Operation {
	all := []openapi.Operation{
		{Route: "GET /healthz", Handle: s.health, Probe: true, Group: groupServer, Open: true, About: "Whether the process answers.", Answers: openapi.OK(healthJSON{})},
		{Route: "GET /readyz", Handle: s.ready, Probe: true, Group: groupServer, Open: true, About: "Whether everything that every answer needs is there. Operators also read which part is down.",
			Answers: append(openapi.OK(readyJSON{}), openapi.Answer{Status: http.StatusServiceUnavailable, JSON: readyJSON{}})},
		{Route: "GET /metrics", Handle: s.serveMetrics, Group: groupServer, Open: true, About: "Metrics, for Prometheus, with METRICS_TOKEN as bearer token or from the same host.",
			Answers: []openapi.Answer{{Status: http.StatusOK, Media: "text/plain"}}, Errors: []int{http.StatusForbidden}},
		{Route: "GET /openapi.json", Handle: s.openAPI.Serve, Group: groupServer, Open: true, About: "This document.",
			Answers: append(openapi.OK(map[string]any{}, "ETag"), openapi.Answer{Status: http.StatusNotModified})},
		{Route: "GET /api/config", Handle: s.config, Group: groupServer, Open: true, About: "What a page needs to know before it draws itself.", Answers: openapi.OK(configJSON{})},

		{Route: "GET /api/me", Handle: s.me, Group: groupCaller, About: "Who the caller is.", Answers: openapi.OK(meJSON{})},
		{Route: "PUT /api/me", Handle: s.putMe, Group: groupCaller, About: "Replaces what the caller says about themselves.", Body: chat.Profile{}, Answers: openapi.OK(meJSON{}), Errors: []int{http.StatusTooManyRequests}},
		{Route: "DELETE /api/me/sessions", Handle: s.endSessions, Group: groupCaller, About: "Signs an anonymous caller out: takes the cookie back here, or refuses the cookies of other browsers.",
			Query:   []openapi.Param{{Name: "which", About: "this (the default): this browser; others: all but this one, which gets a new cookie; all: every one. A cookie that no browser has is lost with its conversations.", Enum: openapi.Values("this", "others", "all")}},
			Answers: openapi.NoContent()},

		{Route: "DELETE /api/me", Handle: s.deleteMe, Group: groupCaller, About: "Deletes all that is kept of the caller: conversations, documents and everything else. After a 503 the same request goes on with it.",
			Query:   []openapi.Param{{Name: "confirm", About: "The caller's own id, as in GET /api/me.", Required: true}},
			Answers: openapi.NoContent(), Errors: []int{http.StatusNotFound}},
		{Route: "POST /api/me/claim", Handle: s.claim, Group: groupCaller, About: "Gives the caller, who has an account, what the anonymous user of this browser's cookie has stored. While left is not 0 some of it is in use: repeat the request later.",
			Answers: openapi.OK(claimJSON{}), Errors: []int{http.StatusTooManyRequests}},

		{Route: "GET /api/me/export", Handle: s.exportMe, Group: groupCaller, About: "All that is kept of the caller, as a zip archive: conversations, documents, sets, pictures and what they say about themselves.",
			Answers: []openapi.Answer{{Status: http.StatusOK, Media: "application/zip"}}, Errors: []int{http.StatusTooManyRequests}},

		{Route: "GET /api/me/keys", Handle: s.listKeys, Group: groupCaller, About: "The caller's personal keys, without the keys themselves.", Answers: openapi.OK(keysJSON{})},
		{Route: "POST /api/me/keys", Handle: s.createKey, Group: groupCaller, About: "Makes a personal key, with which another program acts for the caller as with a token. Only this answer has it.",
			Body: openapi.Shape{Value: keyBody{}, Needs: []string{"name"}}, Answers: openapi.Created(newKeyJSON{}), Errors: []int{http.StatusTooManyRequests}},
		{Route: "DELETE /api/me/keys/:id", Handle: s.revokeKey, Group: groupCaller, About: "Revokes a personal key. Other processes accept it for up to 30 seconds more.", Answers: openapi.NoContent()},

		{Route: "GET /api/connections", Handle: s.listConnections, Group: groupCaller, About: "The accounts of other services that the caller has connected, and which can be.", Answers: openapi.OK(connectionsJSON{})},
		{Route: "GET /api/connections/google/start", Handle: s.startGoogle, Once: true, Group: groupCaller, About: "Begins to connect the caller's Google account: the browser goes to url next.",
			Query:   []openapi.Param{{Name: "return_to", About: "Path of the page that the browser comes back to; / without it."}},
			Answers: openapi.OK(startJSON{}), Errors: []int{http.StatusNotFound, http.StatusTooManyRequests}},
		{Route: "GET /api/connections/google/callback", Handle: s.finishGoogle, Once: true, Group: groupCaller, Open: true, About: "Where Google sends the browser. It goes on to return_to, with connect=google and, when the account was not connected, connect_error.",
			Query:   []openapi.Param{{Name: "state", About: "The state of the request that began it."}, {Name: "code", About: "Google's authorization code."}, {Name: "error", About: "Google's error code."}},
			Answers: []openapi.Answer{{Status: http.StatusSeeOther}}},
		{Route: "DELETE /api/connections/google", Handle: s.deleteGoogle, Group: groupCaller, About: "Disconnects the caller's Google account, and revokes the access at Google.", Answers: openapi.OK(disconnectedJSON{}), Errors: []int{http.StatusNotFound}},

		{Route: "GET /api/v1/threads/:thread_id/repo", Handle: s.getRepo, Group: groupLangGraph, About: "The message repository that a client keeps here.",
			Answers: openapi.OK(openapi.Shape{Value: repoJSON{}, Holds: map[string]any{"repo": openapi.AnyOf{map[string]any{}, nil}}}, "ETag")},
		{Route: "PUT /api/v1/threads/:thread_id/repo", Handle: s.putRepo, Upload: true, Group: groupLangGraph, About: "Keeps a client's message repository.",
			Body:    openapi.Shape{Value: repoBody{}, Needs: []string{"repo"}, Holds: map[string]any{"repo": map[string]any{}}},
			Headers: []openapi.Param{{Name: "If-Match", About: "The repo_version that must be there, 0: none; another is 412."}},
			Answers: openapi.OK(repoPutJSON{}, "ETag"), Errors: []int{http.StatusPreconditionFailed, http.StatusTooManyRequests}},

		{Route: "GET /api/conversations", Handle: s.listConversations, Group: groupThreads, About: "The caller's conversations: the pinned ones, then the others, the newest first.",
			Query: []openapi.Param{{Name: "q", About: "Words that stand in them; archived ones are found, too."},
				{Name: "archived", About: "true: the archived ones instead; not with q.", Enum: openapi.Values("false", "true")}, openapi.ParamCursor, openapi.ParamLimit(100)},
			Answers: openapi.OK(list[conversationJSON]{})},
		{Route: "POST /api/conversations", Handle: s.createConversation, Group: groupThreads, About: "Makes a conversation, or returns the one that the id names. A message begins its first turn.",
			Body: conversationBody{}, Answers: openapi.Created(conversationJSON{}), Errors: openapi.TakesTurn},
		{Route: "GET /api/conversations/:id", Handle: s.getConversation, Group: groupThreads, About: "A conversation.", Answers: openapi.OK(conversationJSON{})},
		{Route: "PATCH /api/conversations/:id", Handle: s.patchConversation, Group: groupThreads, About: "Changes the title of a conversation, or whether it is pinned or archived. Fields that are left out stay.",
			Body: conversationPatch{}, Answers: openapi.OK(conversationJSON{})},
		{Route: "DELETE /api/conversations/:id", Handle: s.deleteConversation, Group: groupThreads, About: "Ends a conversation and removes all of it. Its owner may use the id again.", Answers: openapi.NoContent()},
		{Route: "POST /api/batch/conversations", Handle: s.changeConversations, Group: groupThreads, About: "Archives, unarchives or deletes up to 50 conversations. One that fails does not keep it from the others; a conversation that does not exist counts as deleted.",
			Body: openapi.Shape{Value: batchBody{}, Needs: []string{"ids", "action"}}, Answers: openapi.OK(batchJSON{})},
		{Route: "GET /api/conversations/:id/shares", Handle: s.listShares, Group: groupThreads, About: "The links with which anybody can read the conversation, without the links themselves.", Answers: openapi.OK(sharesJSON{})},
		{Route: "POST /api/conversations/:id/shares", Handle: s.createShare, Group: groupThreads, About: "Makes a link with which anybody can read a copy of the conversation as it is now. Only this answer has it.",
			Body: shareBody{}, Answers: openapi.Created(newShareJSON{}), Errors: []int{http.StatusTooManyRequests}},
		{Route: "DELETE /api/conversations/:id/shares/:share_id", Handle: s.revokeShare, Group: groupThreads, About: "Revokes a link at once.", Answers: openapi.NoContent()},
		{Route: "GET /api/shared/:token", Handle: s.readShared, Group: groupThreads, Open: true, About: "What a link shows. It needs no sign-in and reads no cookie.",
			Answers: openapi.OK(openapi.Shape{Value: sharedJSON{}, Holds: map[string]any{"messages": []sharedMessage{}}}), Errors: []int{http.StatusNotFound, http.StatusTooManyRequests, http.StatusServiceUnavailable}},
		{Route: "GET /api/conversations/:id/feedback", Handle: s.listFeedback, Group: groupThreads, About: "What the caller thinks of the answers of a conversation.", Answers: openapi.OK(feedbackListJSON{})},
		{Route: "PUT /api/conversations/:id/feedback/:turn_id", Handle: s.putFeedback, Group: groupThreads, About: "Stores what the caller thinks of an answer. Whoever runs the server can read it.",
			Body: openapi.Shape{Value: feedbackBody{}, Needs: []string{"rating"}}, Answers: openapi.OK(feedbackJSON{}), Errors: []int{http.StatusTooManyRequests}},
		{Route: "DELETE /api/conversations/:id/feedback/:turn_id", Handle: s.deleteFeedback, Group: groupThreads, About: "Takes back what the caller thinks of an answer.", Answers: openapi.NoContent()},
		{Route: "GET /api/search", Handle: s.search, Group: groupThreads, About: "Passages, ranked as answers rank them.",
			Query: []openapi.Param{{Name: "q", About: "What to look for.", Required: true}, {Name: "doc_ids", About: "Only in these.", List: true},
				{Name: "k", About: "How many, at most.", Least: 1, Most: 50}},
			Answers: openapi.OK(searchJSON{}), Errors: []int{http.StatusTooManyRequests}},

		{Route: "GET /api/documents", Handle: s.listDocuments, Group: groupDocuments, About: "The documents that the caller can ask about.",
			Query: []openapi.Param{openapi.ParamCursor, openapi.ParamLimit(200)}, Answers: openapi.OK(documentsJSON{})},
		{Route: "POST /api/documents", Handle: s.createDocument, Group: groupDocuments, About: "Takes a file of one of the document_types of /api/config, or a text, which is then processed.",
			Body: openapi.Shape{Value: textBody{}, Needs: []string{"title", "text"}}, File: true,
			Answers: openapi.Accepted(documentJSON{}), Errors: []int{http.StatusTooManyRequests}},
		{Route: "GET /api/documents/:id", Handle: s.getDocument, Group: groupDocuments, About: "A document.", Answers: openapi.OK(documentJSON{})},
		{Route: "PATCH /api/documents/:id", Handle: s.renameDocument, Group: groupDocuments, About: "Renames a document.",
			Body: openapi.Shape{Value: renameBody{}, Needs: []string{"title"}}, Answers: openapi.OK(documentJSON{})},
		{Route: "DELETE /api/documents/:id", Handle: s.deleteDocument, Group: groupDocuments, About: "Removes a document.", Answers: openapi.NoContent()},
		{Route: "GET /api/documents/:id/text", Handle: s.documentText, Group: groupDocuments, About: "A document's text, in which citations count their characters; as JSON for who accepts that.",
			Answers: []openapi.Answer{{Status: http.StatusOK, JSON: documentTextJSON{}, Media: "text/plain"}}},
		{Route: "GET /api/documents/:id/original", Handle: s.documentOriginal, Group: groupDocuments, About: "The file that a document was made of; its text where the file was not kept.",
			Answers: []openapi.Answer{{Status: http.StatusOK, Media: "application/octet-stream"}}, Errors: []int{http.StatusTooManyRequests}},
		{Route: "GET /api/documents/:id/chunks/:chunk_id", Handle: s.documentChunk, Group: groupDocuments, About: "A passage of a document.",
			Query:   []openapi.Param{{Name: "at", About: "A character of the document in the passage, as citations count them: heading and page are those above it."}},
			Answers: openapi.OK(chunkJSON{})},
		{Route: "POST /api/documents/:id/reimport", Handle: s.reimport, Group: groupDocuments, About: "Imports a document from its source again. A new version replaces the old one.",
			Answers: openapi.Accepted(importJSON{}), Errors: []int{http.StatusTooManyRequests}},
		{Route: "POST /api/imports", Handle: s.createImport, Group: groupDocuments, About: "Imports a file from Google Drive, or a page or file at a public https address.",
			Body: openapi.Shape{Value: importBody{}, Needs: []string{"url"}}, Answers: openapi.Accepted(importJSON{}), Errors: []int{http.StatusTooManyRequests}},
		{Route: "GET /api/imports", Handle: s.listImports, Group: groupDocuments, About: "The caller's newest imports, up to 100, with their progress.",
			Query: []openapi.Param{{Name: "conversation_id", About: "Only those of one conversation."}}, Answers: openapi.OK(importsJSON{})},
		{Route: "GET /api/document-sets", Handle: s.listSets, Group: groupDocuments, About: "The caller's sets of documents.",
			Query: []openapi.Param{openapi.ParamCursor, openapi.ParamLimit(200)}, Answers: openapi.OK(list[setJSON]{})},
		{Route: "POST /api/document-sets", Handle: s.createSet, Group: groupDocuments, About: "Makes a set.",
			Body: openapi.Shape{Value: setBody{}, Needs: []string{"name"}}, Answers: openapi.Created(setJSON{}), Errors: []int{http.StatusTooManyRequests}},
		{Route: "PUT /api/document-sets/:id", Handle: s.updateSet, Group: groupDocuments, About: "Replaces a set.",
			Body: openapi.Shape{Value: setBody{}, Needs: []string{"name"}}, Answers: openapi.OK(setJSON{})},
		{Route: "DELETE /api/document-sets/:id", Handle: s.deleteSet, Group: groupDocuments, About: "Removes a set, not its documents.", Answers: openapi.NoContent()},
		{Route: "POST /api/attachments", Handle: s.createAttachment, Group: groupDocuments, About: "Takes a picture (JPEG, PNG or WebP) for a message that is still to be sent.",
			File: true, Answers: openapi.Created(attachmentJSON{}), Errors: []int{http.StatusTooManyRequests}},
		{Route: "GET /api/attachments/:id", Handle: s.getAttachment, Group: groupDocuments, About: "A picture.",
			Answers: []openapi.Answer{{Status: http.StatusOK, Media: "image/*"}}},

		{Route: "GET /api/discoveries", Handle: s.listBoards, Group: groupBoards, About: "The caller's boards, those first that were changed last.",
			Query: []openapi.Param{openapi.ParamCursor, openapi.ParamLimit(100)}, Answers: openapi.OK(list[boardJSON]{})},
		{Route: "POST /api/discoveries", Handle: s.createBoard, Group: groupBoards, About: "Makes a board, empty or from a file that was exported.",
			Body: boardFileBody{}, Answers: openapi.Created(anyBoard, "ETag"), Errors: []int{http.StatusTooManyRequests}},
		{Route: "GET /api/discoveries/:id", Handle: s.getBoard, Group: groupBoards, About: "A board with its chat: also the file to export.", Answers: openapi.OK(anyBoard, "ETag")},
		{Route: "PUT /api/discoveries/:id", Handle: s.putBoard, Group: groupBoards, About: "Replaces what is on a board by a file.",
			Body: boardFileBody{}, Headers: boardMatch, Answers: openapi.OK(anyBoard, "ETag"), Errors: changesBoard},
		{Route: "PATCH /api/discoveries/:id", Handle: s.patchBoard, Group: groupBoards, About: "Changes a board's title or goal.",
			Body: renameBoardBody{}, Headers: boardMatch, Answers: openapi.OK(anyBoard, "ETag"), Errors: changesBoard},
		{Route: "DELETE /api/discoveries/:id", Handle: s.deleteBoard, Group: groupBoards, About: "Deletes a board. It can be restored for a day.", Answers: openapi.NoContent(), Errors: []int{http.StatusTooManyRequests}},
		{Route: "POST /api/discoveries/:id/restore", Handle: s.restoreBoard, Group: groupBoards, About: "Brings a deleted board back.", Answers: openapi.NoContent(), Errors: []int{http.StatusTooManyRequests}},
		{Route: "POST /api/discoveries/:id/items", Handle: s.addBoardItem, Group: groupBoards, About: "Adds an item to its column. 409 similar_items when the column has it already, or nearly.",
			Body: openapi.Shape{Value: newItemBody{}, Needs: []string{"entity_type", "text"}}, Headers: boardMatch, Answers: openapi.Created(boardChange, "ETag"), Errors: changesBoard},
		{Route: "PATCH /api/discoveries/:id/items/:item_id", Handle: s.patchBoardItem, Group: groupBoards, About: "Changes an item: fields that are left out stay. Another text is a new version, and makes what is downstream stale.",
			Body: columnItemBody{}, Headers: boardMatch, Answers: openapi.OK(boardChange, "ETag"), Errors: changesBoard},
		{Route: "DELETE /api/discoveries/:id/items/:item_id", Handle: s.deleteBoardItem, Group: groupBoards, About: "Deletes an item. What was built on it becomes stale.",
			Headers: boardMatch, Answers: openapi.OK(boardChange, "ETag"), Errors: changesBoard},
		{Route: "POST /api/discoveries/:id/changes/:change/undo", Handle: s.undoBoardChange, Group: groupBoards, About: "Undoes a change, as long as nothing was built on it (409 built_on).",
			Headers: boardMatch, Answers: openapi.OK(boardChange, "ETag"), Errors: changesBoard},
		{Route: "POST /api/discoveries/:id/actions", Handle: s.propose, Group: groupBoards, About: "Proposes a change that a person confirms.",
			Body: openapi.Shape{Value: proposalBody{}, Needs: []string{"id", "tool", "params"}}, Answers: openapi.Created(boardChange, "ETag"), Errors: changesBoard},
		{Route: "POST /api/discoveries/:id/actions/:tool_call_id", Handle: s.decideProposal, Group: groupBoards, About: "Applies a proposed change, or drops it, once.",
			Body: openapi.Shape{Value: boardDecisionBody{}, Needs: []string{"decision"}}, Headers: boardMatch,
			Answers: openapi.OK(boardDecisionJSON{}, "ETag"), Errors: changesBoard},

		{Route: "POST /mcp", Handle: s.mcp.Stream, Stream: true, Group: groupMCP, About: "MCP's streamable HTTP, without sessions: a request or notification in, its response out.",
			Body:    mcpserver.RPCRequest{},
			Answers: append([]openapi.Answer{{Status: http.StatusOK, JSON: mcpserver.RPCResponse{}, Events: mcpMessages}}, openapi.Answer{Status: http.StatusAccepted}),
			Errors:  []int{http.StatusTooManyRequests}},
		{Route: "GET /mcp", Handle: s.mcp.Stream, Group: groupMCP, About: "Refused: there are no sessions to listen to.", Errors: []int{http.StatusMethodNotAllowed}},
		{Route: "DELETE /mcp", Handle: s.mcp.Stream, Group: groupMCP, About: "Refused: there are no sessions to end.", Errors: []int{http.StatusMethodNotAllowed}},
		{Route: "POST /mcp/rpc", Handle: s.mcp.RPC, Stream: true, Group: groupMCP, About: "One JSON-RPC 2.0 request of MCP in, one response out.",
			Body: mcpserver.RPCRequest{}, Answers: append(openapi.OK(mcpserver.RPCResponse{}), openapi.Answer{Status: http.StatusAccepted}), Errors: []int{http.StatusTooManyRequests}},
	}
	for _, d := range s.dialects() {
		for _, o := range d.Operations(dialectServer{s.Store, s}) {
			o.Error = d.FailureShape
			if d.Failure != nil {
				o.Failure = func(c *gin.Context) { c.Set(failureKey, d.Failure) }
			}
			all = append(all, o)
		}
	}
	return all
}
