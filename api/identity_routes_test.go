package api

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/chat"
)

// owned holds one resource of each kind of one owner.
type owned struct{ thread, turn, clientTurn, run, doc, chunk, set, picture, board string }

// secretWord is part of every resource of the owner.
const secretWord = "Marzipan"

// own creates one resource of each kind, all containing the word, and a pending
// question in the thread.
func own(b *bundle, c *client, word string) owned {
	b.t.Helper()
	b.engine.set(func() { b.engine.script = asking })
	o := unknown()
	o.turn = c.ask(map[string]any{"message": word, "thread_id": o.thread, "client_turn_id": o.clientTurn, "stream_run_id": o.run}).until("interrupt")["turn_id"].(string)
	o.doc = c.call(202, "POST", "/api/documents", map[string]any{"title": word, "text": word + " is private."})["id"].(string)
	o.chunk = o.doc + ".0"
	chunk := chat.Chunk{ID: o.chunk, DocID: o.doc, Text: word + " is private.", End: len(word + " is private.")}
	if err := b.store.StoreText(b.t.Context(), c.id(), o.doc, chunk.Text, []chat.Chunk{chunk}, nil); err != nil {
		b.t.Fatal(err)
	}
	o.set = c.call(201, "POST", "/api/document-sets", map[string]any{"name": word, "doc_ids": []any{o.doc}})["id"].(string)
	o.picture = c.upload(201, "file", "x", tinyPNG)["id"].(string)
	c.call(200, "PUT", "/api/v1/threads/"+o.thread+"/repo", map[string]any{"repo": map[string]any{"messages": []any{word}}})
	c.call(200, "PUT", "/api/me", map[string]any{"industry": word})
	o.board = c.call(201, "POST", "/api/discoveries", map[string]any{"title": word, "inputs": []any{map[string]any{"text": word}}})["id"].(string)
	c.call(201, "POST", "/api/discoveries/"+o.board+"/actions", map[string]any{"id": "call", "tool": "delete_item", "params": map[string]any{"item_id": "I-1"}})
	return o
}

// unknown holds ids that do not exist.
func unknown() owned {
	doc := uuid.NewString()
	return owned{uuid.NewString(), uuid.NewString(), uuid.NewString(), uuid.NewString(), doc, doc + ".0", uuid.NewString(), uuid.NewString(), uuid.NewString()}
}

// way is a request that would access a resource.
type way struct {
	path, body string
	status     int  // of the answer to another user; 0: 404
	makes      bool // creates a resource when the ids do not exist
	echoes     bool // the answer repeats the request's ids
}

// route lists the requests by which a route could access a resource; mine are the
// caller's own. Answers to requests that name no resource must not contain another
// user's data either.
type route struct {
	open bool // needs no token, even with AUTH_MODE=required
	ways func(thing, mine owned) []way
}

func at(p string) func(owned, owned) []way {
	return func(o, _ owned) []way { return []way{{path: fill(p, o)}} }
}

// harmless is a request that concerns only the caller.
func harmless(status int, p, body string) func(owned, owned) []way {
	return func(owned, owned) []way { return []way{{path: p, body: body, status: status}} }
}

// onBoard is a request about a board.
func onBoard(p, body string) func(owned, owned) []way {
	return func(o, _ owned) []way { return []way{{path: fill("/api/discoveries/BOARD"+p, o), body: body}} }
}

func fill(p string, o owned) string { return strings.NewReplacer(o.names()...).Replace(p) }

// blank replaces ids with their names.
func blank(text string, o owned) string {
	names := o.names()
	slices.Reverse(names) // name, id becomes id, name
	return strings.NewReplacer(names...).Replace(text)
}

func (o owned) names() []string {
	return []string{"THREAD", o.thread, "CLIENT", o.clientTurn, "TURN", o.turn, "RUN", o.run, "CHUNK", o.chunk, "DOC", o.doc, "SET", o.set, "PICTURE", o.picture, "BOARD", o.board}
}

// walk has an entry for every route of the router, by method and path.
var walk = map[string]route{
	"GET /healthz":      {open: true, ways: at("/healthz")},
	"GET /readyz":       {open: true, ways: at("/readyz")},
	"GET /metrics":      {open: true, ways: at("/metrics")},
	"GET /openapi.json": {open: true, ways: at("/openapi.json")},
	"GET /api/config":   {open: true, ways: at("/api/config")}, // a page must know how to sign in

	"GET /api/me": {ways: harmless(200, "/api/me", "")},
	// TestExportHoldsAllOfTheCallerAndNothingOfOthers reads what it holds.
	"GET /api/me/export": {ways: harmless(200, "/api/me/export", "")},
	// TestDeleteMeDeletesAllOfTheCallerAndNothingOfOthers sends the caller's own id.
	"DELETE /api/me": {ways: func(o, _ owned) []way {
		return []way{{path: fill("/api/me?confirm=THREAD", o), status: 400}, {path: "/api/me", status: 400}}
	}},
	// Only the cookie says whose data is claimed: claim_test.go.
	"POST /api/me/claim": {ways: harmless(403, "/api/me/claim", "")},
	"PUT /api/me":        {ways: harmless(200, "/api/me", `{}`)},
	// It names no user. TestEndedSessionsAreRefusedEverywhere shows what it does to its caller.
	"DELETE /api/me/sessions": {ways: harmless(400, "/api/me/sessions?which=theirs", "")},

	// Only administrators read them: admin_test.go.
	"GET /api/admin/people":    {ways: harmless(403, "/api/admin/people", "")},
	"GET /api/admin/usage":     {ways: harmless(403, "/api/admin/usage", "")},
	"GET /api/admin/limits":    {ways: harmless(403, "/api/admin/limits", "")},
	"GET /api/admin/audit":     {ways: harmless(403, "/api/admin/audit", "")},
	"GET /api/admin/feedback":  {ways: harmless(403, "/api/admin/feedback", "")},
	"GET /api/admin/documents": {ways: harmless(403, "/api/admin/documents", "")},
	"GET /api/admin/tools":     {ways: harmless(403, "/api/admin/tools", "")},
	"GET /api/admin/status":    {ways: harmless(403, "/api/admin/status", "")},

	"GET /api/connections":              {ways: harmless(200, "/api/connections", "")},
	"GET /api/connections/google/start": {ways: harmless(404, "/api/connections/google/start", "")},
	"DELETE /api/connections/google":    {ways: harmless(404, "/api/connections/google", "")},
	// Only the cookie that start has set says whose account it is: connections_test.go.
	"GET /api/connections/google/callback":      {open: true, ways: at("/api/connections/google/callback")},
	"GET /api/connections/mcp/:server/start":    {ways: harmless(404, "/api/connections/mcp/files/start", "")},
	"DELETE /api/connections/mcp/:server":       {ways: harmless(404, "/api/connections/mcp/files", "")},
	"GET /api/connections/mcp/:server/callback": {open: true, ways: at("/api/connections/mcp/files/callback")},

	"POST /api/chat": {ways: func(o, mine owned) []way {
		return []way{
			{path: "/api/chat", body: fill(`{"message":"x","thread_id":"THREAD"}`, o), makes: true},
			{path: "/api/chat", body: fill(`{"message":"x","thread_id":"THREAD","client_turn_id":"CLIENT"}`, o), makes: true},
			{path: "/api/chat", body: fill(`{"message":"x","tagged_doc_ids":["DOC"]}`, o), status: 400},
			{path: "/api/chat", body: fill(`{"message":"x","tagged_set_ids":["SET"]}`, o), status: 400},
			{path: "/api/chat", body: fill(`{"message":"x","attachments":["PICTURE"]}`, o), status: 400},
			{path: "/api/chat", body: fill(`{"message":"x","parent_checkpoint_id":"TURN"}`, o), status: 400},
			{path: "/api/chat", body: fill(`{"message":"x","parent_checkpoint_id":"TURN","thread_id":"`, o) + mine.thread + `"}`, status: 400},
		}
	}},
	"POST /api/chat/resume": {ways: func(o, mine owned) []way {
		return []way{
			{path: "/api/chat/resume", body: fill(`{"thread_id":"THREAD","resume_value":{"type":"action_choice","value":"audit"}}`, o)},
			{path: "/api/chat/resume", body: fill(`{"thread_id":"THREAD","resume_value":{"type":"cancel","value":null}}`, o)},
			{path: "/api/chat/resume", status: 400,
				body: fill(`{"thread_id":"`+mine.thread+`","resume_value":{"type":"doc_choice","value":"x","tagged_doc_ids":["DOC"]}}`, o)},
		}
	}},
	"POST /api/chat/cancel": {ways: func(o, mine owned) []way {
		return []way{
			{path: "/api/chat/cancel", body: fill(`{"thread_id":"THREAD"}`, o)},
			{path: "/api/chat/cancel", body: fill(`{"turn_id":"TURN"}`, o)},
			{path: "/api/chat/cancel", body: fill(`{"turn_id":"TURN","thread_id":"`, o) + mine.thread + `"}`},
			// It may arrive before its own submit, so it is accepted; it stops no other user's turn.
			{path: "/api/chat/cancel", body: fill(`{"client_turn_id":"CLIENT"}`, o), status: 202},
			{path: "/api/chat/cancel", body: fill(`{"client_turn_id":"CLIENT","thread_id":"THREAD"}`, o), status: 202},
			{path: "/api/chat/cancel", body: fill(`{"stream_run_id":"RUN"}`, o), status: 202},
		}
	}},
	"GET /api/chat/history/:thread_id": {ways: func(o, mine owned) []way {
		return []way{
			{path: fill("/api/chat/history/THREAD", o), status: 200, echoes: true},
			{path: fill("/api/chat/history/THREAD?head=TURN", o)},
			{path: "/api/chat/history/" + mine.thread + fill("?head=TURN", o)},
		}
	}},
	"GET /api/chat/stream/:thread_id": {ways: func(o, mine owned) []way {
		return []way{
			{path: fill("/api/chat/stream/THREAD", o)},
			{path: fill("/api/chat/stream/THREAD?follow=thread", o)},
			{path: fill("/api/chat/stream/THREAD?turn_id=TURN", o)},
			{path: "/api/chat/stream/" + mine.thread + fill("?turn_id=TURN", o)},
		}
	}},

	"GET /api/me/keys":        {ways: harmless(200, "/api/me/keys", "")},
	"POST /api/me/keys":       {ways: harmless(400, "/api/me/keys", `{"name":""}`)},
	"DELETE /api/me/keys/:id": {ways: at("/api/me/keys/DOC")}, // another's key: TestKeysAreTheirOwnersAlone

	"GET /v1/models":        {ways: harmless(200, "/v1/models", "")},
	"GET /v1/models/:model": {ways: harmless(200, "/v1/models/palaver-documents", "")},
	"POST /v1/chat/completions": {ways: func(o, mine owned) []way {
		return []way{
			{path: "/v1/chat/completions", body: fill(`{"model":"palaver-documents","messages":[{"role":"user","content":"x"}],"metadata":{"thread_id":"THREAD"}}`, o), makes: true},
			{path: "/v1/chat/completions", body: fill(`{"model":"palaver-documents","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"/api/attachments/PICTURE"}}]}]}`, o), status: 400},
		}
	}},
	"POST /api/agui": {ways: func(o, mine owned) []way {
		return []way{
			{path: "/api/agui", body: fill(`{"threadId":"THREAD","runId":"r","messages":[],"resume":[{"interruptId":"TURN.q1","status":"resolved","payload":{"value":"audit"}}]}`, o)},
			{path: "/api/agui", body: fill(`{"threadId":"THREAD","runId":"RUN","messages":[{"id":"CLIENT","role":"user","content":"x"}]}`, o), makes: true},
			{path: "/api/agui", body: fill(`{"threadId":"new","runId":"r","messages":[{"id":"m","role":"user","content":"x"}],"forwardedProps":{"palaver":{"tagged_doc_ids":["DOC"]}}}`, o), status: 400},
		}
	}},
	"POST /api/agui/stop": {ways: func(o, mine owned) []way {
		return []way{
			{path: "/api/agui/stop", body: fill(`{"threadId":"THREAD"}`, o)},
			{path: "/api/agui/stop", body: fill(`{"threadId":"t","runId":"RUN"}`, o), status: 202},
		}
	}},

	"POST /api/agent/v2/stream": {ways: func(o, mine owned) []way {
		return []way{
			{path: "/api/agent/v2/stream", body: fill(`{"message":"x","session_id":"THREAD","client_turn_id":"c","stream_run_id":"r"}`, o), makes: true},
			{path: "/api/agent/v2/stream", body: fill(`{"message":"x","session_id":"THREAD","client_turn_id":"CLIENT","stream_run_id":"RUN"}`, o), makes: true},
			{path: "/api/agent/v2/stream", body: fill(`{"message":"x","client_turn_id":"c2","stream_run_id":"r","tagged_doc_ids":["DOC"]}`, o), status: 400},
		}
	}},
	"POST /api/agent/v2/resume": {ways: func(o, mine owned) []way {
		return []way{
			{path: "/api/agent/v2/resume", body: fill(`{"session_id":"THREAD","resume_value":{"type":"action_choice","value":"audit"}}`, o)},
			{path: "/api/agent/v2/resume", body: fill(`{"thread_id":"THREAD","resume_value":{"type":"cancel","value":null}}`, o)},
		}
	}},
	"POST /api/agent/v2/stop": {ways: func(o, mine owned) []way {
		return []way{
			// It may arrive before its own submit, so it is accepted; it stops no other user's turn.
			{path: "/api/agent/v2/stop", body: fill(`{"session_id":"THREAD","client_turn_id":"CLIENT"}`, o), status: 202},
			{path: "/api/agent/v2/stop", body: fill(`{"stream_run_id":"RUN"}`, o), status: 202},
		}
	}},

	"POST /api/v1/chat/stream": {ways: func(o, mine owned) []way {
		return []way{
			{path: "/api/v1/chat/stream", body: fill(`{"thread_id":"THREAD","message":{"role":"human","content":"x"}}`, o), makes: true},
			{path: "/api/v1/chat/stream", body: fill(`{"thread_id":"THREAD","checkpoint_id":"TURN","message":{"content":"x"}}`, o), status: 400},
			{path: "/api/v1/chat/stream", status: 400,
				body: fill(`{"checkpoint_id":"TURN","message":{"content":"x"},"thread_id":"`, o) + mine.thread + `"}`},
			{path: "/api/v1/chat/stream", status: 400,
				body: fill(`{"message":{"role":"human","content":[{"type":"text","text":"x"},{"type":"image","image":"chatbot://PICTURE"}]}}`, o)},
		}
	}},
	"POST /api/v1/chat/feedback": {ways: func(o, mine owned) []way {
		return []way{
			{path: "/api/v1/chat/feedback", body: fill(`{"thread_id":"THREAD","approval_data":{"type":"answer","value":"audit"}}`, o)},
			{path: "/api/v1/chat/feedback", status: 400,
				body: fill(`{"checkpoint_id":"TURN.q1","approval_data":{"type":"answer","value":"audit"},"thread_id":"`, o) + mine.thread + `"}`},
		}
	}},
	"GET /api/v1/chat/interrupt": {ways: func(o, mine owned) []way {
		return []way{
			{path: fill("/api/v1/chat/interrupt?thread_id=THREAD", o), status: 200, echoes: true},
			{path: fill("/api/v1/chat/interrupt?thread_id=THREAD&checkpoint_id=TURN.q1", o), status: 200, echoes: true},
			{path: fill("/api/v1/chat/interrupt?checkpoint_id=TURN.q1&thread_id=", o) + mine.thread, status: 200, echoes: true},
		}
	}},
	"GET /api/v1/threads/:thread_id/repo": {ways: func(o, _ owned) []way {
		return []way{{path: fill("/api/v1/threads/THREAD/repo", o), status: 200, echoes: true}}
	}},
	"PUT /api/v1/threads/:thread_id/repo": {ways: func(o, _ owned) []way {
		return []way{{path: fill("/api/v1/threads/THREAD/repo", o), body: `{"repo":{}}`, makes: true}}
	}},

	"POST /api/attachments":    {ways: harmless(415, "/api/attachments", `{}`)},
	"GET /api/attachments/:id": {ways: at("/api/attachments/PICTURE")},

	"POST /api/ui/chat": {ways: func(o, mine owned) []way {
		message := `"messages":[{"id":"u","role":"user","parts":[{"type":"text","text":"x"}]}]`
		return []way{
			{path: "/api/ui/chat", body: fill(`{"id":"THREAD",`, o) + message + `}`, makes: true},
			{path: "/api/ui/chat", body: fill(`{"id":"THREAD","trigger":"regenerate-message","messageId":"TURN",`, o) + message + `}`, makes: true},
			{path: "/api/ui/chat", body: `{"id":"` + mine.thread + fill(`","parent_checkpoint_id":"TURN",`, o) + message + `}`, status: 400},
			{path: "/api/ui/chat", body: fill(`{"tagged_doc_ids":["DOC"],`, o) + message + `}`, status: 400},
			{path: "/api/ui/chat", body: fill(`{"id":"THREAD","resume":{"resume_value":{"type":"action_choice","value":"audit"}}}`, o)},
			{path: "/api/ui/chat", body: fill(`{"id":"THREAD","messages":[{"id":"TURN","role":"assistant","parts":[{"toolCallId":"c","state":"approval-responded","approval":{"id":"TURN.q1/c","approved":true}}]}]}`, o)},
		}
	}},
	"GET /api/ui/chat/:id": {ways: func(o, mine owned) []way {
		return []way{
			{path: fill("/api/ui/chat/THREAD", o)},
			{path: fill("/api/ui/chat/THREAD?head=TURN", o)},
			{path: "/api/ui/chat/" + mine.thread + fill("?head=TURN", o)},
		}
	}},
	"GET /api/ui/chat/:id/stream": {ways: func(o, _ owned) []way {
		return []way{{path: fill("/api/ui/chat/THREAD/stream", o), status: 204}} // clients ask it of every new conversation
	}},
	"POST /api/ui/chat/:id/stop": {ways: func(o, mine owned) []way {
		return []way{
			{path: fill("/api/ui/chat/THREAD/stop", o)},
			{path: "/api/ui/chat/" + mine.thread + "/stop", body: fill(`{"turn_id":"TURN"}`, o)},
			// It may arrive before its own submit, so it is accepted; it stops no other user's turn.
			{path: fill("/api/ui/chat/THREAD/stop", o), body: `{"messageId":"u"}`, status: 202},
			{path: fill("/api/ui/chat/THREAD/stop", o), body: fill(`{"stream_run_id":"RUN"}`, o), status: 202},
		}
	}},

	"GET /api/conversations": {ways: func(owned, owned) []way {
		return []way{{path: "/api/conversations", status: 200}, {path: "/api/conversations?q=" + secretWord, status: 200}}
	}},
	"POST /api/conversations": {ways: func(o, _ owned) []way {
		return []way{
			{path: "/api/conversations", body: fill(`{"id":"THREAD"}`, o), makes: true},
			{path: "/api/conversations", body: fill(`{"id":"THREAD","title":"x","message":"x"}`, o), makes: true},
		}
	}},
	"GET /api/conversations/:id": {ways: at("/api/conversations/THREAD")},
	"PATCH /api/conversations/:id": {ways: func(o, _ owned) []way {
		return []way{{path: fill("/api/conversations/THREAD", o), body: `{"title":"x"}`}}
	}},
	"DELETE /api/conversations/:id": {ways: at("/api/conversations/THREAD")},
	"POST /api/batch/conversations": {ways: func(o, _ owned) []way {
		return []way{
			{path: "/api/batch/conversations", body: fill(`{"action":"delete","ids":["THREAD"]}`, o), status: 200, echoes: true},
			{path: "/api/batch/conversations", body: fill(`{"action":"archive","ids":["THREAD"]}`, o), status: 200, echoes: true},
		}
	}},
	"GET /api/conversations/:id/shares":              {ways: at("/api/conversations/THREAD/shares")},
	"POST /api/conversations/:id/branch":             {ways: func(o, _ owned) []way { return []way{{path: fill("/api/conversations/THREAD/branch", o), body: `{}`}} }},
	"POST /api/conversations/:id/shares":             {ways: func(o, _ owned) []way { return []way{{path: fill("/api/conversations/THREAD/shares", o), body: `{}`}} }},
	"DELETE /api/conversations/:id/shares/:share_id": {ways: at("/api/conversations/THREAD/shares/DOC")}, // another's link: TestLinksAreTheirOwnersToRevoke
	// Whoever has the token reads it: TestALinkShowsACopyOfTheConversation.
	"GET /api/shared/:token":              {open: true, ways: harmless(404, "/api/shared/unknown", "")},
	"GET /api/conversations/:id/feedback": {ways: at("/api/conversations/THREAD/feedback")},
	"PUT /api/conversations/:id/feedback/:turn_id": {ways: func(o, mine owned) []way {
		return []way{
			{path: fill("/api/conversations/THREAD/feedback/TURN", o), body: `{"rating":"up"}`},
			{path: "/api/conversations/" + mine.thread + fill("/feedback/TURN", o), body: `{"rating":"up"}`},
		}
	}},
	"DELETE /api/conversations/:id/feedback/:turn_id": {ways: at("/api/conversations/THREAD/feedback/TURN")},

	"GET /api/documents":     {ways: harmless(200, "/api/documents", "")},
	"POST /api/documents":    {ways: harmless(202, "/api/documents", `{"title":"x","text":"x"}`)},
	"GET /api/documents/:id": {ways: at("/api/documents/DOC")},
	"PATCH /api/documents/:id": {ways: func(o, _ owned) []way {
		return []way{{path: fill("/api/documents/DOC", o), body: `{"title":"x"}`}}
	}},
	"DELETE /api/documents/:id":       {ways: at("/api/documents/DOC")},
	"GET /api/documents/:id/original": {ways: at("/api/documents/DOC/original")},
	"GET /api/documents/:id/text":     {ways: at("/api/documents/DOC/text")},
	"GET /api/documents/:id/scans":    {ways: at("/api/documents/DOC/scans")},
	"GET /api/documents/:id/chunks/:chunk_id": {ways: func(o, mine owned) []way {
		return []way{
			{path: fill("/api/documents/DOC/chunks/CHUNK", o)},
			{path: "/api/documents/" + mine.doc + fill("/chunks/CHUNK", o)},
			{path: fill("/api/documents/DOC/chunks/", o) + mine.chunk},
		}
	}},

	"POST /api/documents/:id/reimport": {ways: at("/api/documents/DOC/reimport")},
	"GET /api/imports": {ways: func(o, _ owned) []way {
		return []way{{path: "/api/imports", status: 200}, {path: fill("/api/imports?conversation_id=THREAD", o), status: 200}}
	}},
	"POST /api/imports": {ways: func(o, _ owned) []way {
		return []way{
			{path: "/api/imports", body: `{"url":"https://example.com/x"}`, status: 202},
			{path: "/api/imports", body: fill(`{"url":"https://example.com/x","conversation_id":"THREAD"}`, o), status: 400},
		}
	}},

	// TestRolesInASpace and TestNoCanaryReachesAnybodyWithoutTheRight have members.
	"GET /api/spaces":              {ways: harmless(200, "/api/spaces", "")},
	"POST /api/spaces":             {ways: harmless(404, "/api/spaces", `{"name":"x"}`)}, // by somebody without an account
	"GET /api/spaces/:id":          {ways: at("/api/spaces/DOC")},
	"PATCH /api/spaces/:id":        {ways: func(o, _ owned) []way { return []way{{path: fill("/api/spaces/DOC", o), body: `{"name":"x"}`}} }},
	"DELETE /api/spaces/:id":       {ways: at("/api/spaces/DOC?name=x")},
	"POST /api/spaces/:id/restore": {ways: at("/api/spaces/DOC/restore")},
	"GET /api/spaces/:id/export":   {ways: at("/api/spaces/DOC/export")},
	"GET /api/spaces/:id/people":   {ways: at("/api/spaces/DOC/people")},
	"GET /api/spaces/:id/members":  {ways: at("/api/spaces/DOC/members")},
	"PUT /api/spaces/:id/members": {ways: func(o, _ owned) []way {
		return []way{{path: fill("/api/spaces/DOC/members", o), body: `{"kind":"person","id":"x","role":"reader"}`}}
	}},
	"DELETE /api/spaces/:id/members":               {ways: at("/api/spaces/DOC/members?kind=person&id=x")},
	"GET /api/spaces/:id/deleted":                  {ways: at("/api/spaces/DOC/deleted")},
	"POST /api/spaces/:id/deleted/:doc_id/restore": {ways: at("/api/spaces/DOC/deleted/DOC/restore")},
	"GET /api/document-sets":                       {ways: harmless(200, "/api/document-sets", "")},
	"POST /api/document-sets": {ways: func(o, _ owned) []way {
		return []way{{path: "/api/document-sets", body: fill(`{"name":"x","doc_ids":["DOC"]}`, o), status: 400}}
	}},
	"PUT /api/document-sets/:id": {ways: func(o, mine owned) []way {
		return []way{
			{path: fill("/api/document-sets/SET", o), body: `{"name":"x","doc_ids":[]}`},
			{path: "/api/document-sets/" + mine.set, body: fill(`{"name":"x","doc_ids":["DOC"]}`, o), status: 400},
		}
	}},
	"DELETE /api/document-sets/:id": {ways: at("/api/document-sets/SET")},

	"POST /chat/message": {ways: func(o, _ owned) []way {
		return []way{{path: "/chat/message", body: fill(`{"message":"x","discovery_id":"BOARD"}`, o)}}
	}},
	"GET /api/discoveries":                            {ways: harmless(200, "/api/discoveries", "")},
	"POST /api/discoveries":                           {ways: harmless(201, "/api/discoveries", "{}")},
	"GET /api/discoveries/:id":                        {ways: at("/api/discoveries/BOARD")},
	"PUT /api/discoveries/:id":                        {ways: onBoard("", "{}")},
	"PATCH /api/discoveries/:id":                      {ways: onBoard("", `{"title":"x"}`)},
	"DELETE /api/discoveries/:id":                     {ways: at("/api/discoveries/BOARD")},
	"POST /api/discoveries/:id/restore":               {ways: at("/api/discoveries/BOARD/restore")},
	"POST /api/discoveries/:id/items":                 {ways: onBoard("/items", `{"entity_type":"input","text":"x"}`)},
	"PATCH /api/discoveries/:id/items/:item_id":       {ways: onBoard("/items/I-1", `{"text":"x"}`)},
	"DELETE /api/discoveries/:id/items/:item_id":      {ways: onBoard("/items/I-1", "")},
	"POST /api/discoveries/:id/changes/:change/undo":  {ways: onBoard("/changes/1/undo", "")},
	"POST /api/discoveries/:id/actions":               {ways: onBoard("/actions", `{"id":"x","tool":"delete_item","params":{"item_id":"I-1"}}`)},
	"POST /api/discoveries/:id/actions/:tool_call_id": {ways: onBoard("/actions/call", `{"decision":"confirm"}`)},

	"GET " + mcpMetadataPath: {open: true, ways: harmless(404, mcpMetadataPath, "")}, // without an issuer

	"GET /mcp":      {ways: harmless(405, "/mcp", "")},
	"DELETE /mcp":   {ways: harmless(405, "/mcp", "")},
	"POST /mcp":     {ways: func(o, mine owned) []way { return offered("/mcp", o, mine) }},
	"POST /mcp/rpc": {ways: func(o, mine owned) []way { return offered("/mcp/rpc", o, mine) }},

	"GET /api/search": {ways: func(o, _ owned) []way {
		return []way{{path: "/api/search?q=" + secretWord, status: 200}, {path: fill("/api/search?q="+secretWord+"&doc_ids=DOC", o), status: 400}}
	}},
}

// offered returns calls of the MCP tools. Their responses always have status 200.
func offered(path string, o, mine owned) (all []way) {
	for _, call := range []string{
		`{"name":"ask","arguments":{"message":"x","thread_id":"THREAD"}}`,
		`{"name":"ask","arguments":{"message":"x","thread_id":"THREAD","client_turn_id":"CLIENT"}}`,
		`{"name":"ask","arguments":{"answer":"audit","thread_id":"THREAD"}}`,
		`{"name":"ask","arguments":{"answer":"cancel","thread_id":"THREAD"}}`,
		`{"name":"ask","arguments":{"message":"x","doc_ids":["DOC"]}}`,
		`{"name":"ask","arguments":{"message":"x","doc_ids":["DOC"],"thread_id":"` + mine.thread + `"}}`,
		`{"name":"search_documents","arguments":{"query":"` + secretWord + `"}}`,
		`{"name":"search_documents","arguments":{"query":"` + secretWord + `","doc_ids":["DOC"]}}`,
		`{"name":"list_documents","arguments":{}}`,
		`{"name":"list_imports","arguments":{}}`,
	} {
		all = append(all, way{path: path, body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + fill(call, o) + `}`, status: 200})
	}
	return all
}

// declaredRoutes returns the router's routes without HEAD, which every GET that is no stream answers.
func declaredRoutes(b *bundle) []gin.RouteInfo {
	return slices.DeleteFunc(b.server.routes().(*gin.Engine).Routes(), func(r gin.RouteInfo) bool { return r.Method == http.MethodHead })
}

// walked returns the router's routes with their entries; a missing entry fails the test.
func walked(t *testing.T, b *bundle) map[string]route {
	t.Helper()
	routes := map[string]route{}
	for _, r := range declaredRoutes(b) {
		name := r.Method + " " + r.Path
		entry, there := walk[name]
		require.True(t, there, "%s has no entry in walk: say who may call it, and which resources of others it could reach", name)
		routes[name] = entry
	}
	for name := range walk {
		if _, there := routes[name]; !there {
			t.Errorf("%s is not a route", name)
		}
	}
	return routes
}

func method(name string) string { return name[:strings.IndexByte(name, ' ')] }

// fetch sends a way as a client and returns status and body. Every response must have
// the security headers.
func (c *client) fetch(method string, w way, headers ...string) (int, string) {
	c.t.Helper()
	res := c.send(method, w.path, orNil(w.body), headers...)
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	secured(c.t, method+" "+w.path, res)
	return res.StatusCode, string(raw)
}

// secured checks the security headers of a response.
func secured(t testing.TB, what string, res *http.Response) {
	t.Helper()
	for name, want := range map[string]string{
		"Content-Security-Policy":      contentSecurityPolicy,
		"X-Content-Type-Options":       "nosniff",
		"X-Frame-Options":              "DENY",
		"Referrer-Policy":              "same-origin",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
	} {
		assert.EqualValues(t, want, res.Header.Get(name), "%v %v", what, name)
	}
}

func orNil(body string) any {
	if body == "" {
		return nil
	}
	return body
}

// picture returns everything that an owner sees of their resources.
func picture(c *client, o owned) string {
	c.t.Helper()
	var all []string
	for _, p := range []string{"/api/me", "/api/conversations", "/api/conversations/THREAD", "/api/chat/history/THREAD", "/api/documents",
		"/api/v1/chat/interrupt?thread_id=THREAD", "/api/v1/threads/THREAD/repo", "/api/documents/DOC", "/api/documents/DOC/chunks/CHUNK", "/api/document-sets", "/api/search?q=" + secretWord, "/api/discoveries", "/api/discoveries/BOARD"} {
		raw, err := json.Marshal(c.call(200, "GET", fill(p, o), nil))
		if err != nil {
			c.t.Fatal(err)
		}
		all = append(all, string(raw))
	}
	return strings.Join(all, "\n")
}

// Rule I7.
func TestEveryRouteHidesOtherUsersResources(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner, other := b.client(), b.client()
	theirs, mine := own(b, owner, secretWord), own(b, other, "Nougat")
	before := picture(owner, theirs)
	if n := strings.Count(before, secretWord); n < 6 {
		t.Fatalf("the owner sees %d things: %s", n, before)
	}
	submits := b.engine.submitCount()
	for name, r := range walked(t, b) {
		nobodys := unknown()
		anew := r.ways(nobodys, mine)
		for i, w := range r.ways(theirs, mine) {
			what := method(name) + " " + w.path + " " + w.body
			status, body := other.fetch(method(name), w, "X-Request-Id", "r")
			if w.echoes {
				body = blank(body, theirs)
			}
			assert.True(t, !strings.Contains(body, secretWord) && !strings.Contains(body, theirs.thread) && !strings.Contains(body, theirs.doc), "%s: shows another user's data: %s", what, body)
			want := w.status
			switch {
			case r.open && want == 0:
				want = http.StatusOK
			case want == 0:
				want = http.StatusNotFound
			}
			assert.EqualValues(t, want, status, "%v %v", what, body)
			if w.makes || r.open || status < 400 && !w.echoes {
				continue
			}
			s, again := other.fetch(method(name), anew[i], "X-Request-Id", "r")
			if w.echoes {
				again = blank(again, nobodys)
			}
			assert.True(t, s == status && again == body, "%s: reveals that the resource exists: %s; with unknown ids: %d %s", what, body, s, again)
		}
	}
	assert.EqualValues(t, before, picture(owner, theirs), "the owner's resources have changed:\n")
	b.engine.mu.Lock()
	defer b.engine.mu.Unlock()
	for _, s := range b.engine.submits[submits:] {
		assert.True(t, s.ThreadID != theirs.thread, "submitted to somebody else's thread: %+v", s)
	}
	assert.True(t, len(b.engine.deleted) <= 0 && len(b.engine.cancels) <= 0, "deleted %v, cancelled %v", b.engine.deleted, b.engine.cancels)
}

// Rule I2.
func TestEveryRouteNeedsAnIdentityWhenAuthIsRequired(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *Deps) {
		d.Config.Identity.Mode, d.Config.Identity.CookieSecret, d.Config.Identity.ProxySecret = identity.Required, nil, proxySecret
	})
	unidentified := map[string][]string{
		"no credentials":  nil,
		"a bad token":     {"Authorization", "Bearer x.y.z"},
		"an empty token":  {"Authorization", "Bearer"},
		"a userid header": {"userid", "user-1"},
		"a userid header and a wrong proxy secret": {"userid", "user-1", identity.ProxySecretHeader, "a guess of the proxy's secret"},
		"a proxy without a userid header":          {identity.ProxySecretHeader, proxySecret},
		"a bad token through a proxy":              {"Authorization", "Bearer x.y.z", "userid", "user-1", identity.ProxySecretHeader, proxySecret},
	}
	for name, r := range walked(t, b) {
		for who, headers := range unidentified {
			for _, w := range r.ways(unknown(), unknown()) {
				status, body := b.client().fetch(method(name), w, headers...)
				if r.open && w.status != 0 && status == w.status {
					continue
				}
				assert.False(t, r.open != (status == http.StatusOK) || !r.open && (status != http.StatusUnauthorized || !strings.Contains(body, chat.CodeUnauthenticated) && name != "POST /chat/message"), "%s as %s: %d %s", name, who, status, body)
			}
		}
	}
	if got := b.client().send("GET", "/", nil); got.StatusCode != 200 || len(got.Cookies()) != 0 {
		t.Errorf("the page: %d, %v", got.StatusCode, got.Cookies())
	}
}

// Monitors and programs that download files send HEAD first.
// Rule E6.
func TestHEADIsAnsweredLikeGET(t *testing.T) {
	t.Parallel()
	b := setup(t)
	required := setup(t, func(d *Deps) { d.Config.Identity.Mode, d.Config.Identity.CookieSecret = identity.Required, nil })
	owner, other := b.client(), b.client()
	mine := own(b, owner, secretWord)
	heads := 0
	for name, r := range walk {
		path, isGet := strings.CutPrefix(name, "GET ")
		if !isGet {
			continue
		}
		for _, w := range r.ways(mine, mine) {
			if head := owner.send("HEAD", w.path, nil); head.StatusCode == http.StatusMethodNotAllowed {
				if allow := head.Header.Get("Allow"); strings.Contains(allow, "HEAD") || !strings.Contains(allow, "GET") && path != "/mcp" {
					t.Errorf("%s: Allow is %s", path, allow)
				}
				continue
			}
			heads++
			for who, c := range map[string]*client{"the owner": owner, "another": other, "nobody": required.client()} {
				get := c.send("GET", w.path, nil)
				_, err := io.Copy(io.Discard, get.Body) // an export is over at its end
				require.NoError(t, err)
				head := c.send("HEAD", w.path, nil)
				body, err := io.ReadAll(head.Body)
				assert.True(t, err == nil && len(body) <= 0 && head.StatusCode == get.StatusCode && head.Header.Get("Content-Type") == get.Header.Get("Content-Type"), "%s for %s: %d %s, GET %d %s: %s, %v", w.path, who, head.StatusCode, head.Header.Get("Content-Type"), get.StatusCode, get.Header.Get("Content-Type"), body, err)
				secured(t, "HEAD "+w.path, head)
			}
		}
	}
	assert.True(t, heads >= 25, "only %d paths answer HEAD", heads)
	for _, path := range []string{"/healthz", "/openapi.json", "/api/attachments/" + mine.picture} {
		assert.EqualValues(t, http.StatusOK, owner.send("HEAD", path, nil).StatusCode, path)
	}
}

func TestWritingRoutesRefuseCrossSiteBrowserRequests(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *Deps) { d.Config.Identity.ProxySecret = proxySecret })
	owner := b.client()
	mine := own(b, owner, secretWord)
	before := picture(owner, mine)
	submits := b.engine.submitCount()
	foreign := [][]string{
		{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"},
		{"Sec-Fetch-Site", "cross-site", "Origin", b.url}, {"Sec-Fetch-Site", "cross-site", "Content-Type", "text/plain"},
	}
	changing := 0
	for name, r := range walked(t, b) {
		if method(name) == "GET" {
			continue
		}
		changing++
		for _, w := range r.ways(mine, mine) {
			for _, headers := range foreign {
				// The proxy may authenticate by a cookie too, so its header makes no difference.
				for _, proxy := range [][]string{nil, {"userid", owner.id(), identity.ProxySecretHeader, proxySecret}} {
					status, body := owner.fetch(method(name), w, slices.Concat(headers, proxy)...)
					if status != http.StatusForbidden || !strings.Contains(body, chat.CodeForbidden) && name != "POST /chat/message" { // whose errors are only a sentence
						t.Errorf("%s %s with %v: %d %s", name, w.body, headers, status, body)
					}
				}
			}
		}
	}
	assert.True(t, changing >= 10, "only %d routes change something", changing)
	after := picture(owner, mine)
	if done := b.engine.submitCount() - submits; after != before || done > 0 {
		t.Errorf("something has changed:\n%s\n%s", before, after)
	}
	b.engine.mu.Lock()
	defer b.engine.mu.Unlock()
	assert.True(t, len(b.engine.deleted) <= 0 && len(b.engine.cancels) <= 0, "deleted %v, cancelled %v", b.engine.deleted, b.engine.cancels)
}

func (e *engine) submitCount() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.submits)
}

func TestErrorsHaveTheSecurityHeaders(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *Deps) {
		d.Optional = func() map[string]string { panic("within a handler") }
	})
	for want, do := range map[int]func(*client) *http.Response{
		400: func(c *client) *http.Response { return c.send("GET", "/api/search", nil) },
		401: func(c *client) *http.Response { return c.send("GET", "/api/me", nil, "Authorization", "Bearer x") },
		403: func(c *client) *http.Response {
			return c.send("PUT", "/api/me", "{}", "Origin", "https://evil.example")
		},
		404: func(c *client) *http.Response { return c.send("GET", "/api/nothing", nil) },
		413: func(c *client) *http.Response { return c.send("PUT", "/api/me", strings.Repeat(" ", 2<<20)) },
		415: func(c *client) *http.Response { return c.send("PUT", "/api/me", "{}", "Content-Type", "text/plain") },
		500: func(c *client) *http.Response { return c.send("GET", "/readyz", nil) },
		200: func(c *client) *http.Response { return c.send("GET", "/chat/x", nil) },
	} {
		res := do(b.client())
		assert.EqualValues(t, want, res.StatusCode, "status %d, want %d", res.StatusCode, want)
		secured(t, fmt.Sprint("answer ", want), res)
	}
	stream := b.client().ask(map[string]any{})
	secured(t, "a stream", stream.res)
	stream.rest()
}
