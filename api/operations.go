package api

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/credential"
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
	groupSpaces    = "Spaces"
	groupMCP       = "MCP"
	groupCaller    = "Caller"
	groupServer    = "Server"
	groupAdmin     = "Administration"
)

// mcpMessages is the schema of what MCP streams hold.
const mcpMessages = "MCPMessage"

// notKey are the credentials of a person. A personal key can be in the settings of another
// program: it must not become a stronger or longer credential, or end one.
const notKey = credential.Any &^ credential.Key

// operations returns every route, with the kinds of credentials that it takes.
func (s *server) operations() []openapi.Operation {
	all := []openapi.Operation{
		{Route: "GET /healthz", Handle: s.health, Probe: true, Group: groupServer, Open: true, About: "Reports that the process runs.", Answers: openapi.OK(healthJSON{})},
		{Route: "GET /readyz", Handle: s.ready, Probe: true, Group: groupServer, Open: true, About: "Reports whether the server can answer messages. Operators also see which parts are down.",
			Answers: append(openapi.OK(readyJSON{}), openapi.Answer{Status: http.StatusServiceUnavailable, JSON: readyJSON{}})},
		{Route: "GET /metrics", Handle: s.serveMetrics, Group: groupServer, Open: true, About: "Returns metrics for Prometheus. Needs METRICS_TOKEN as a bearer token, or a request from the same host.",
			Answers: []openapi.Answer{{Status: http.StatusOK, Media: "text/plain"}}, Errors: []int{http.StatusForbidden}},
		{Route: "GET /openapi.json", Handle: s.openAPI.Serve, Group: groupServer, Open: true, About: "Returns this document.",
			Answers: append(openapi.OK(map[string]any{}, "ETag"), openapi.Answer{Status: http.StatusNotModified})},
		{Route: "GET /api/config", Handle: s.config, Group: groupServer, Open: true, About: "Returns the settings that a page needs to start.", Answers: openapi.OK(configJSON{})},

		{Route: "GET /api/me", Handle: s.me, Group: groupCaller, About: "Returns the caller's id and profile.", Answers: openapi.OK(meJSON{})},
		{Route: "PUT /api/me", Handle: s.putMe, Group: groupCaller, About: "Replaces the caller's profile.", Body: chat.Profile{}, Answers: openapi.OK(meJSON{}), Errors: []int{http.StatusTooManyRequests}},
		{Route: "DELETE /api/me/sessions", Takes: notKey, Handle: s.endSessions, Group: groupCaller, About: "Signs a caller out: deletes this browser's cookie, or revokes those of other browsers.",
			Query:   []openapi.Param{{Name: "which", About: "this (default): this browser. others (with a cookie): all other browsers; this one gets a new cookie. all: all browsers, and open streams. Conversations whose cookie no browser has are lost.", Enum: openapi.Values("this", "others", "all")}},
			Answers: openapi.NoContent()},

		{Route: "DELETE /api/me", Takes: notKey, Handle: s.deleteMe, Group: groupCaller, About: "Deletes all data of the caller. After a 503, repeat the request to continue.",
			Query:   []openapi.Param{{Name: "confirm", About: "The caller's id, from GET /api/me.", Required: true}},
			Answers: openapi.NoContent(), Errors: []int{http.StatusNotFound}},
		{Route: "POST /api/me/claim", Takes: credential.Token | credential.Proxy, Handle: s.claim, Group: groupCaller, About: "Moves the data of this browser's anonymous user to the caller's account. If left is greater than 0, some data is in use: repeat the request later.",
			Answers: openapi.OK(claimJSON{}), Errors: []int{http.StatusTooManyRequests}},

		{Route: "GET /api/me/export", Handle: s.exportMe, Group: groupCaller, About: "Returns all data of the caller as a zip archive: conversations, documents, sets, pictures and the profile.",
			Answers: []openapi.Answer{{Status: http.StatusOK, Media: "application/zip"}}, Errors: []int{http.StatusTooManyRequests}},

		{Route: "GET /api/me/keys", Takes: notKey, Handle: s.listKeys, Group: groupCaller, About: "Lists the caller's personal keys, without their secrets.", Answers: openapi.OK(keysJSON{})},
		{Route: "POST /api/me/keys", Takes: notKey, Handle: s.createKey, Group: groupCaller, About: "Creates a personal key, with which another program acts as the caller. Only this response contains the key.",
			Body: openapi.Shape{Value: keyBody{}, Needs: []string{"name"}}, Answers: openapi.Created(newKeyJSON{}), Errors: []int{http.StatusNotFound, http.StatusTooManyRequests}},
		{Route: "DELETE /api/me/keys/:id", Takes: notKey, Handle: byID(s.revokeKey), Group: groupCaller, About: "Revokes a personal key at once. Its open streams end within 30 seconds.", Answers: openapi.NoContent()},

		{Route: "GET /api/connections", Handle: s.listConnections, Group: groupCaller, About: "Lists connected accounts, the providers that can be connected, and the state of MCP servers.", Answers: openapi.OK(connectionsJSON{})},
		{Route: "GET /api/connections/google/start", Takes: notKey, Handle: s.startGoogle, Once: true, Group: groupCaller, About: "Starts connecting the caller's Google account. Send the browser to the returned url.",
			Query:   []openapi.Param{{Name: "return_to", About: "Path of the page to which the browser returns. Default: /."}},
			Answers: openapi.OK(startJSON{}), Errors: []int{http.StatusNotFound, http.StatusTooManyRequests}},
		{Route: "GET /api/connections/google/callback", Handle: s.finishGoogle, Once: true, Group: groupCaller, Open: true, About: "Google redirects the browser here. Redirects to return_to with connect=google, and with connect_error if the account was not connected.",
			Query:   []openapi.Param{{Name: "state", About: "The state from the start of the flow."}, {Name: "code", About: "Google's authorization code."}, {Name: "error", About: "Google's error code."}},
			Answers: []openapi.Answer{{Status: http.StatusSeeOther}}},
		{Route: "DELETE /api/connections/google", Takes: notKey, Handle: s.deleteGoogle, Group: groupCaller, About: "Disconnects the caller's Google account and revokes the access at Google.", Answers: openapi.OK(disconnectedJSON{}), Errors: []int{http.StatusNotFound}},
		{Route: "GET /api/connections/mcp/:server/start", Takes: notKey, Handle: byServer(s.startServer), Once: true, Group: groupCaller, About: "Starts connecting the caller's account at an MCP server that wants OAuth. Send the browser to the returned url.",
			Query:   []openapi.Param{{Name: "return_to", About: "Path of the page to which the browser returns. Default: /."}},
			Answers: openapi.OK(startJSON{}), Errors: []int{http.StatusNotFound, http.StatusTooManyRequests}},
		{Route: "GET /api/connections/mcp/:server/callback", Handle: byServer(s.finishServer), Once: true, Group: groupCaller, Open: true, About: "The authorization server redirects the browser here. Redirects to return_to with connect=mcp:<name>, and with connect_error if the account was not connected.",
			Query: []openapi.Param{{Name: "state", About: "The state from the start of the flow."}, {Name: "code", About: "The authorization code."}, {Name: "error", About: "The error code of OAuth."},
				{Name: "iss", About: "The authorization server (RFC 9207)."}},
			Answers: []openapi.Answer{{Status: http.StatusSeeOther}}},
		{Route: "DELETE /api/connections/mcp/:server", Takes: notKey, Handle: byServer(s.deleteServer), Group: groupCaller, About: "Disconnects the caller's account at an MCP server and revokes the access at its authorization server.", Answers: openapi.OK(disconnectedJSON{}), Errors: []int{http.StatusNotFound}},

		{Route: "GET /api/v1/threads/:thread_id/repo", Handle: s.getRepo, Group: groupLangGraph, About: "Returns the message repository that a client has stored.",
			Answers: openapi.OK(openapi.Shape{Value: repoJSON{}, Holds: map[string]any{"repo": openapi.AnyOf{map[string]any{}, nil}}}, "ETag")},
		{Route: "PUT /api/v1/threads/:thread_id/repo", Handle: s.putRepo, Upload: true, Group: groupLangGraph, About: "Stores a client's message repository.",
			Body:    openapi.Shape{Value: repoBody{}, Needs: []string{"repo"}, Holds: map[string]any{"repo": map[string]any{}}},
			Headers: []openapi.Param{{Name: "If-Match", About: "The expected repo_version, 0 for none. If the stored version differs, the response is 412."}},
			Answers: openapi.OK(repoPutJSON{}, "ETag"), Errors: []int{http.StatusPreconditionFailed, http.StatusTooManyRequests}},

		{Route: "GET /api/conversations", InSpace: chat.Reader, Handle: s.listConversations, Group: groupThreads, About: "Lists the caller's conversations: pinned ones first, then the others, newest first.",
			Query: []openapi.Param{{Name: "q", About: "Words to search for. Also finds archived conversations."},
				{Name: "archived", About: "true: lists only archived conversations. Cannot be combined with q.", Enum: openapi.Values("false", "true")}, openapi.ParamCursor, openapi.ParamLimit(100)},
			Answers: openapi.OK(list[conversationJSON]{})},
		{Route: "POST /api/conversations", InSpace: chat.Reader, Handle: s.createConversation, Group: groupThreads, About: "Creates a conversation, or returns the one with this id. A message starts its first turn.",
			Body: conversationBody{}, Answers: openapi.Created(conversationJSON{}), Errors: openapi.TakesTurn},
		{Route: "GET /api/conversations/:id", InSpace: chat.Reader, Handle: byID(s.getConversation), Group: groupThreads, About: "Returns a conversation.", Answers: openapi.OK(conversationJSON{})},
		{Route: "PATCH /api/conversations/:id", InSpace: chat.Reader, Handle: byID(s.patchConversation), Group: groupThreads, About: "Changes a conversation's title, or pins or archives it. Omitted fields do not change.",
			Body: conversationPatch{}, Answers: openapi.OK(conversationJSON{})},
		{Route: "DELETE /api/conversations/:id", InSpace: chat.Reader, Handle: byID(s.deleteConversation), Group: groupThreads, About: "Deletes a conversation and all its data. Its owner may reuse the id.", Answers: openapi.NoContent()},
		{Route: "POST /api/conversations/:id/branch", InSpace: chat.Reader, Handle: byID(s.branchConversation), Group: groupThreads, About: "Copies a branch of a conversation that is shared with a space, so that the caller can continue it.",
			Body: shareBody{}, Answers: openapi.Created(conversationJSON{}), Errors: []int{http.StatusTooManyRequests}},
		{Route: "POST /api/batch/conversations", InSpace: chat.Reader, Handle: s.changeConversations, Group: groupThreads, About: "Archives, unarchives or deletes up to 50 conversations. A failure does not affect the other conversations. A conversation that does not exist counts as deleted.",
			Body: openapi.Shape{Value: batchBody{}, Needs: []string{"ids", "action"}}, Answers: openapi.OK(batchJSON{})},
		{Route: "GET /api/conversations/:id/shares", InSpace: chat.Reader, Handle: byID(s.listShares), Group: groupThreads, About: "Lists the public links of a conversation, without their secrets.", Answers: openapi.OK(sharesJSON{})},
		{Route: "POST /api/conversations/:id/shares", InSpace: chat.Reader, Handle: byID(s.createShare), Group: groupThreads, About: "Creates a public link to a copy of the conversation as it is now. Only this response contains the link.",
			Body: shareBody{}, Answers: openapi.Created(newShareJSON{}), Errors: []int{http.StatusTooManyRequests}},
		{Route: "DELETE /api/conversations/:id/shares/:share_id", InSpace: chat.Reader, Handle: byID(s.revokeShare), Group: groupThreads, About: "Revokes a public link immediately.", Answers: openapi.NoContent()},
		{Route: "GET /api/shared/:token", Handle: s.readShared, Group: groupThreads, Open: true, About: "Returns the conversation behind a public link. Needs no sign-in and ignores cookies.",
			Answers: openapi.OK(openapi.Shape{Value: sharedJSON{}, Holds: map[string]any{"messages": []sharedMessage{}}}), Errors: []int{http.StatusNotFound, http.StatusTooManyRequests, http.StatusServiceUnavailable}},
		{Route: "GET /api/conversations/:id/feedback", InSpace: chat.Reader, Handle: byID(s.listFeedback), Group: groupThreads, About: "Lists the caller's feedback on a conversation's answers.", Answers: openapi.OK(feedbackListJSON{})},
		{Route: "PUT /api/conversations/:id/feedback/:turn_id", InSpace: chat.Reader, Handle: s.putFeedback, Group: groupThreads, About: "Stores feedback on an answer. Operators can read it.",
			Body: openapi.Shape{Value: feedbackBody{}, Needs: []string{"rating"}}, Answers: openapi.OK(feedbackJSON{}), Errors: []int{http.StatusTooManyRequests}},
		{Route: "DELETE /api/conversations/:id/feedback/:turn_id", InSpace: chat.Reader, Handle: s.deleteFeedback, Group: groupThreads, About: "Deletes the feedback on an answer.", Answers: openapi.NoContent()},
		{Route: "GET /api/search", InSpace: chat.Reader, Handle: s.search, Group: groupThreads, About: "Searches passages of documents, with the ranking that answers use.",
			Query: []openapi.Param{{Name: "q", About: "The text to search for.", Required: true}, {Name: "doc_ids", About: "Searches only these documents.", List: true},
				{Name: "k", About: "Maximum number of results.", Least: 1, Most: 50}, paramConversation},
			Answers: openapi.OK(searchJSON{}), Errors: []int{http.StatusTooManyRequests}},

		{Route: "GET /api/documents", InSpace: chat.Reader, Handle: s.listDocuments, Group: groupDocuments, About: "Lists the documents of the library, or those of a conversation.",
			Query: []openapi.Param{openapi.ParamCursor, openapi.ParamLimit(200), paramConversation}, Answers: openapi.OK(documentsJSON{})},
		{Route: "POST /api/documents", InSpace: chat.Reader, Handle: s.createDocument, Group: groupDocuments, About: "Uploads a file of one of the document_types in /api/config, or a text. It is then processed in the background.",
			Body: openapi.Shape{Value: textBody{}, Needs: []string{"title", "text"}}, File: true,
			Answers: openapi.Accepted(documentJSON{}), Errors: []int{http.StatusTooManyRequests}},
		{Route: "GET /api/documents/:id", InSpace: chat.Reader, Handle: byID(s.getDocument), Group: groupDocuments, About: "Returns a document.", Answers: openapi.OK(documentJSON{})},
		{Route: "PATCH /api/documents/:id", InSpace: chat.Reader, Handle: byID(s.changeDocument), Group: groupDocuments, About: "Renames a document, or puts it into the library or a conversation.",
			Body: openapi.Shape{Value: changeBody{}}, Answers: openapi.OK(documentJSON{}), Errors: []int{http.StatusTooManyRequests}},
		{Route: "DELETE /api/documents/:id", InSpace: chat.Reader, Handle: byID(s.deleteDocument), Group: groupDocuments, About: "Deletes a document.", Answers: openapi.NoContent()},
		{Route: "GET /api/documents/:id/text", InSpace: chat.Reader, Handle: byID(s.documentText), Download: true, Group: groupDocuments, About: "Returns a document's text; citation offsets are character positions in it. JSON if the client accepts it.",
			Answers: []openapi.Answer{{Status: http.StatusOK, JSON: documentTextJSON{}, Media: "text/plain"}}, Errors: []int{http.StatusTooManyRequests}},
		{Route: "GET /api/documents/:id/original", InSpace: chat.Reader, Handle: byID(s.documentOriginal), Download: true, Group: groupDocuments, About: "Returns the uploaded file of a document, or a page of a TIFF as PNG.",
			Query:   []openapi.Param{{Name: "page", About: "A page of a TIFF, from 1."}},
			Answers: []openapi.Answer{{Status: http.StatusOK, Media: "application/octet-stream image/png"}}, Errors: []int{http.StatusTooManyRequests}},
		{Route: "GET /api/documents/:id/scans", InSpace: chat.Reader, Handle: byID(s.documentScans), Download: true, Group: groupDocuments, About: "Returns the words that OCR has read on pages of a document, with their boxes: left, top, right and bottom in ten-thousandths of the page's width and height.",
			Answers: openapi.OK(scansJSON{}), Errors: []int{http.StatusTooManyRequests}},
		{Route: "GET /api/documents/:id/chunks/:chunk_id", InSpace: chat.Reader, Handle: byID(s.documentChunk), Group: groupDocuments, About: "Returns a passage of a document.",
			Query:   []openapi.Param{{Name: "at", About: "A character offset within the passage, as in citations. heading and page are those at this position."}},
			Answers: openapi.OK(chunkJSON{})},
		{Route: "POST /api/documents/:id/reimport", Handle: byID(s.reimport), Group: groupDocuments, About: "Imports a document from its source again. A new version replaces the old one.",
			Answers: openapi.Accepted(importJSON{}), Errors: []int{http.StatusTooManyRequests}},
		{Route: "POST /api/imports", Handle: s.createImport, Group: groupDocuments, About: "Imports a file from Google Drive, a page or file at a public https address, or a document of an added source.",
			Body: openapi.Shape{Value: importBody{}, Needs: []string{"url"}}, Answers: openapi.Accepted(importJSON{}), Errors: []int{http.StatusTooManyRequests}},
		{Route: "GET /api/imports", Handle: s.listImports, Group: groupDocuments, About: "Lists the caller's newest imports, up to 100, with their progress.",
			Query: []openapi.Param{{Name: "conversation_id", About: "Lists only the imports of this conversation."}}, Answers: openapi.OK(importsJSON{})},
		{Route: "GET /api/document-sets", InSpace: chat.Reader, Handle: s.listSets, Group: groupDocuments, About: "Lists the caller's document sets.",
			Query: []openapi.Param{openapi.ParamCursor, openapi.ParamLimit(200)}, Answers: openapi.OK(list[setJSON]{})},
		{Route: "POST /api/document-sets", InSpace: chat.Contributor, Handle: s.createSet, Group: groupDocuments, About: "Creates a document set.",
			Body: openapi.Shape{Value: setBody{}, Needs: []string{"name"}}, Answers: openapi.Created(setJSON{}), Errors: []int{http.StatusTooManyRequests}},
		{Route: "PUT /api/document-sets/:id", InSpace: chat.Contributor, Handle: byID(s.updateSet), Group: groupDocuments, About: "Replaces a document set.",
			Body: openapi.Shape{Value: setBody{}, Needs: []string{"name"}}, Answers: openapi.OK(setJSON{})},
		{Route: "DELETE /api/document-sets/:id", InSpace: chat.Contributor, Handle: byID(s.deleteSet), Group: groupDocuments, About: "Deletes a document set. Its documents are kept.", Answers: openapi.NoContent()},
		{Route: "POST /api/attachments", InSpace: chat.Reader, Handle: s.createAttachment, Group: groupDocuments, About: "Uploads a picture (JPEG, PNG or WebP) for a later message.",
			File: true, Answers: openapi.Created(attachmentJSON{}), Errors: []int{http.StatusTooManyRequests}},
		{Route: "GET /api/attachments/:id", InSpace: chat.Reader, Handle: s.getAttachment, Download: true, Group: groupDocuments, About: "Returns a picture.",
			Answers: []openapi.Answer{{Status: http.StatusOK, Media: "image/*"}}, Errors: []int{http.StatusTooManyRequests}},

		{Route: "GET /api/spaces", Handle: s.listSpaces, Group: groupSpaces, About: "Lists the spaces that the caller reads, and deleted ones that the caller can restore.", Answers: openapi.OK(list[spaceJSON]{})},
		{Route: "POST /api/spaces", Handle: s.createSpace, Group: groupSpaces, About: "Creates a space, which the caller manages.",
			Body: openapi.Shape{Value: spaceBody{}, Needs: []string{"name"}}, Answers: openapi.Created(spaceJSON{}), Errors: []int{http.StatusNotFound, http.StatusTooManyRequests}},
		{Route: "GET /api/spaces/:id", Handle: byID(s.getSpace), Group: groupSpaces, About: "Returns a space.", Answers: openapi.OK(spaceJSON{})},
		{Route: "PATCH /api/spaces/:id", Handle: byID(s.changeSpace), Group: groupSpaces, About: "Changes a space. Omitted fields do not change.", Body: spacePatch{}, Answers: openapi.OK(spaceJSON{})},
		{Route: "DELETE /api/spaces/:id", Handle: byID(s.deleteSpace), Group: groupSpaces, About: "Deletes a space. It can be restored for 30 days.",
			Query: []openapi.Param{{Name: "name", About: "The name of the space.", Required: true}}, Answers: openapi.NoContent()},
		{Route: "POST /api/spaces/:id/restore", Handle: byID(s.restoreSpace), Group: groupSpaces, About: "Restores a deleted space.", Answers: openapi.OK(spaceJSON{})},
		{Route: "GET /api/spaces/:id/export", Handle: byID(s.exportSpace), Group: groupSpaces, About: "Returns settings, members, documents, sets and shared conversations of a space as a zip archive, for managers.",
			Answers: []openapi.Answer{{Status: http.StatusOK, Media: "application/zip"}}, Errors: []int{http.StatusTooManyRequests}},
		{Route: "GET /api/spaces/:id/people", Handle: byID(s.listPeople), Group: groupSpaces, About: "Lists the names of members, and of people who share or have added something there, as far as their tokens give one.", Answers: openapi.OK(list[namedJSON]{})},
		{Route: "GET /api/spaces/:id/members", Handle: byID(s.listMembers), Group: groupSpaces, About: "Lists the members, for managers.", Answers: openapi.OK(list[memberJSON]{})},
		{Route: "PUT /api/spaces/:id/members", Handle: byID(s.putMember), Group: groupSpaces, About: "Adds a person or a group, or changes their role.",
			Body: openapi.Shape{Value: memberBody{}, Needs: []string{"kind", "id", "role"}}, Answers: openapi.NoContent()},
		{Route: "DELETE /api/spaces/:id/members", Handle: byID(s.removeMember), Group: groupSpaces, About: "Removes a member. It reads nothing of the space from the next request on.",
			Query:   []openapi.Param{{Name: "kind", About: "person or group.", Required: true, Enum: openapi.Values("person", "group")}, {Name: "id", About: "The person's id, or the group.", Required: true}},
			Answers: openapi.NoContent()},
		{Route: "GET /api/spaces/:id/deleted", Handle: byID(s.listDeleted), Group: groupSpaces, About: "Lists documents that were deleted in the space, for contributors.", Answers: openapi.OK(list[deletedJSON]{})},
		{Route: "POST /api/spaces/:id/deleted/:doc_id/restore", Handle: byID(s.restoreDeleted), Group: groupSpaces, About: "Restores a document that was deleted in the space.", Answers: openapi.NoContent(), Errors: []int{http.StatusTooManyRequests}},

		{Route: "GET /api/discoveries", InSpace: chat.Reader, Handle: s.listBoards, Group: groupBoards, About: "Lists the caller's boards, most recently changed first.",
			Query: []openapi.Param{openapi.ParamCursor, openapi.ParamLimit(100)}, Answers: openapi.OK(list[boardJSON]{})},
		{Route: "POST /api/discoveries", InSpace: chat.Contributor, Handle: s.createBoard, Group: groupBoards, About: "Creates an empty board, or one from an exported file.",
			Body: boardFileBody{}, Answers: openapi.Created(anyBoard, "ETag"), Errors: []int{http.StatusTooManyRequests}},
		{Route: "GET /api/discoveries/:id", InSpace: chat.Reader, Handle: byID(s.getBoard), Group: groupBoards, About: "Returns a board with its chat. The response is also the export file.", Answers: openapi.OK(anyBoard, "ETag")},
		{Route: "PUT /api/discoveries/:id", InSpace: chat.Contributor, Handle: s.putBoard, Group: groupBoards, About: "Replaces a board's content with that of a file.",
			Body: boardFileBody{}, Headers: boardMatch, Answers: openapi.OK(anyBoard, "ETag"), Errors: changesBoard},
		{Route: "PATCH /api/discoveries/:id", InSpace: chat.Contributor, Handle: s.patchBoard, Group: groupBoards, About: "Changes a board's title or goal.",
			Body: renameBoardBody{}, Headers: boardMatch, Answers: openapi.OK(anyBoard, "ETag"), Errors: changesBoard},
		{Route: "DELETE /api/discoveries/:id", InSpace: chat.Contributor, Handle: byID(s.deleteBoard), Group: groupBoards, About: "Deletes a board. It can be restored for a day.", Answers: openapi.NoContent(), Errors: []int{http.StatusTooManyRequests}},
		{Route: "POST /api/discoveries/:id/restore", InSpace: chat.Contributor, Handle: byID(s.restoreBoard), Group: groupBoards, About: "Restores a deleted board.", Answers: openapi.NoContent(), Errors: []int{http.StatusTooManyRequests}},
		{Route: "POST /api/discoveries/:id/items", InSpace: chat.Contributor, Handle: s.addBoardItem, Group: groupBoards, About: "Adds an item to its column. Returns 409 similar_items if the column already has the same or a similar item.",
			Body: openapi.Shape{Value: newItemBody{}, Needs: []string{"entity_type", "text"}}, Headers: boardMatch, Answers: openapi.Created(boardChange, "ETag"), Errors: changesBoard},
		{Route: "PATCH /api/discoveries/:id/items/:item_id", InSpace: chat.Contributor, Handle: s.patchBoardItem, Group: groupBoards, About: "Changes an item. Omitted fields do not change. A new text creates a new version and marks the items that depend on it as stale.",
			Body: columnItemBody{}, Headers: boardMatch, Answers: openapi.OK(boardChange, "ETag"), Errors: changesBoard},
		{Route: "DELETE /api/discoveries/:id/items/:item_id", InSpace: chat.Contributor, Handle: s.deleteBoardItem, Group: groupBoards, About: "Deletes an item. Items that depend on it become stale.",
			Headers: boardMatch, Answers: openapi.OK(boardChange, "ETag"), Errors: changesBoard},
		{Route: "POST /api/discoveries/:id/changes/:change/undo", InSpace: chat.Contributor, Handle: s.undoBoardChange, Group: groupBoards, About: "Undoes a change. Returns 409 built_on if later changes depend on it.",
			Headers: boardMatch, Answers: openapi.OK(boardChange, "ETag"), Errors: changesBoard},
		{Route: "POST /api/discoveries/:id/actions", InSpace: chat.Contributor, Handle: s.propose, Group: groupBoards, About: "Proposes a change, which a person must confirm.",
			Body: openapi.Shape{Value: proposalBody{}, Needs: []string{"id", "tool", "params"}}, Answers: openapi.Created(boardChange, "ETag"), Errors: changesBoard},
		{Route: "POST /api/discoveries/:id/actions/:tool_call_id", InSpace: chat.Contributor, Handle: s.decideProposal, Group: groupBoards, About: "Applies or rejects a proposed change. It can be decided once.",
			Body: openapi.Shape{Value: boardDecisionBody{}, Needs: []string{"decision"}}, Headers: boardMatch,
			Answers: openapi.OK(boardDecisionJSON{}, "ETag"), Errors: changesBoard},

		{Route: "GET " + mcpMetadataPath, Handle: s.mcpMetadata, Group: groupMCP, Open: true, About: "Says where MCP clients get tokens (RFC 9728). 404 without OIDC_ISSUER.",
			Answers: openapi.OK(mcpResource{}), Errors: []int{http.StatusNotFound}},
		{Route: "POST /mcp", InSpace: chat.Reader, Handle: s.mcp.Stream, Stream: true, Group: groupMCP, About: "MCP over streamable HTTP, without sessions. Accepts one request or notification.",
			Body:    mcpserver.RPCRequest{},
			Answers: append([]openapi.Answer{{Status: http.StatusOK, JSON: mcpserver.RPCResponse{}, Events: mcpMessages}}, openapi.Answer{Status: http.StatusAccepted}),
			Errors:  []int{http.StatusTooManyRequests}},
		{Route: "GET /mcp", Handle: s.mcp.Stream, Group: groupMCP, About: "Not supported: there are no sessions to listen to.", Errors: []int{http.StatusMethodNotAllowed}},
		{Route: "DELETE /mcp", Handle: s.mcp.Stream, Group: groupMCP, About: "Not supported: there are no sessions to end.", Errors: []int{http.StatusMethodNotAllowed}},
		{Route: "POST /mcp/rpc", InSpace: chat.Reader, Handle: s.mcp.RPC, Stream: true, Group: groupMCP, About: "Accepts one JSON-RPC 2.0 request of MCP and returns its response.",
			Body: mcpserver.RPCRequest{}, Answers: append(openapi.OK(mcpserver.RPCResponse{}), openapi.Answer{Status: http.StatusAccepted}), Errors: []int{http.StatusTooManyRequests}},
	}
	all = append(all, s.adminOperations()...)
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
