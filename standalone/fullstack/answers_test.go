package fullstack

import (
	"bytes"
	"image"
	"image/png"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api"
)

// need is a set of dependencies.
type need int

const (
	theDatabase need = 1 << iota
	theTemporal
	theWorkers
	theThread = theTemporal | theWorkers // queries the workflow
)

// reasons are the error texts by missing dependency.
var reasons = map[need]string{
	theDatabase: "The database cannot be reached right now.",
	theTemporal: "Conversations cannot be reached right now.",
	theWorkers:  "Conversations cannot be reached right now.",
}

// fixtures are a user's conversations and documents, used by the requests.
type fixtures struct {
	*talk
	doc, chunk, set, picture   string
	board                      string   // its path
	ann                        *talk    // with an account
	space                      string   // its path; ann manages it
	idle                       string   // a conversation with earlier turns
	empty                      string   // a conversation to delete
	asked                      []string // conversations with an open question, one per request
	cancelled, agent, ui, told string   // further conversations with an open question
}

// request is one request to a route.
type request struct {
	path    string
	as      *talk // who makes it; nil: the fixtures' user
	body    any   // JSON, or an upload
	needs   need  // dependencies of the request
	success int   // status when all dependencies work
	inBand  bool  // the protocol reports errors with status 200
	ends    need  // what the end of the response waits for, after it has begun
	plain   bool  // an error is its text alone
}

// upload is a multipart body.
type upload struct {
	name string
	data []byte
}

// requests returns at least one request for every route of the API. A comma after
// the route separates a description of the request.
func (p *fixtures) requests() map[string]request {
	answer := object{"type": "action_choice", "value": "inquire"}
	message := func(more object) object {
		return with(object{"message": "What must a bank hold?", "tagged_doc_ids": []string{p.doc}, "action": "inquire"}, more)
	}
	call := func(tool string, arguments object) object {
		return object{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": object{"name": tool, "arguments": arguments}}
	}
	said := object{"id": uuid.NewString(), "role": "user", "parts": []any{object{"type": "text", "text": "What must a bank hold?"}}}
	return map[string]request{
		"GET /healthz":      {path: "/healthz", success: 200},
		"GET /metrics":      {path: "/metrics", success: 200},
		"GET /openapi.json": {path: "/openapi.json", success: 200},
		"GET /api/config":   {path: "/api/config", success: 200},
		"GET the page":      {path: "/", success: 200},
		"GET no route":      {path: "/api/nothing", success: 404},

		// No OpenID Connect provider is set, so nobody is an administrator.
		"GET /.well-known/oauth-protected-resource/mcp": {path: "/.well-known/oauth-protected-resource/mcp", success: 404},
		"GET /api/admin/audit":                          {path: "/api/admin/audit", success: 403},
		"GET /api/admin/documents":                      {path: "/api/admin/documents", success: 403},
		"GET /api/admin/feedback":                       {path: "/api/admin/feedback", success: 403},
		"GET /api/admin/limits":                         {path: "/api/admin/limits", success: 403},
		"GET /api/admin/people":                         {path: "/api/admin/people", success: 403},
		"GET /api/admin/status":                         {path: "/api/admin/status", success: 403},
		"GET /api/admin/tools":                          {path: "/api/admin/tools", success: 403},
		"GET /api/admin/usage":                          {path: "/api/admin/usage", success: 403},

		"GET /api/me":             {path: "/api/me", needs: theDatabase, success: 200},
		"PUT /api/me":             {path: "/api/me", body: object{"industry": "banking"}, needs: theDatabase, success: 200},
		"GET /api/me/export":      {path: "/api/me/export", needs: theDatabase, success: 200},
		"DELETE /api/me":          {path: "/api/me?confirm=another", success: 400},       // the other requests need the caller's data
		"POST /api/me/claim":      {path: "/api/me/claim", success: 403},                 // the caller is anonymous
		"DELETE /api/me/sessions": {path: "/api/me/sessions?which=theirs", success: 400}, // the other requests need the caller's session

		"GET /api/connections":                      {path: "/api/connections", needs: theDatabase, success: 200},
		"GET /api/connections/google/start":         {path: "/api/connections/google/start", success: 404},    // no Google client is set
		"GET /api/connections/google/callback":      {path: "/api/connections/google/callback", success: 200}, // after the redirect
		"DELETE /api/connections/google":            {path: "/api/connections/google", needs: theDatabase, success: 404},
		"GET /api/connections/mcp/:server/start":    {path: "/api/connections/mcp/unknown/start", success: 404}, // no such server
		"GET /api/connections/mcp/:server/callback": {path: "/api/connections/mcp/unknown/callback", success: 200},
		"DELETE /api/connections/mcp/:server":       {path: "/api/connections/mcp/unknown", needs: theDatabase, success: 404},

		"POST /api/chat": {path: "/api/chat", body: message(object{"thread_id": uuid.NewString()}), needs: theDatabase | theThread, success: 200},
		"POST /api/chat, in an open conversation":                    {path: "/api/chat", body: object{"thread_id": p.idle, "message": "And now?", "agent": "assistant"}, needs: theThread, success: 200},
		"POST /api/chat/resume":                                      {path: "/api/chat/resume", body: object{"thread_id": p.asked[0], "resume_value": answer}, needs: theThread, success: 200},
		"POST /api/chat/cancel":                                      {path: "/api/chat/cancel", body: object{"thread_id": p.cancelled}, needs: theTemporal, success: 202},
		"GET /api/chat/history/:thread_id":                           {path: "/api/chat/history/" + p.idle, needs: theDatabase, success: 200},
		"GET /api/chat/history/:thread_id, that waits":               {path: "/api/chat/history/" + p.told, needs: theDatabase, success: 200},
		"GET /api/chat/stream/:thread_id":                            {path: "/api/chat/stream/" + p.told, success: 200},
		"GET /api/chat/stream/:thread_id, the whole thread":          {path: "/api/chat/stream/" + p.told + "?follow=thread", success: 200},
		"GET /api/chat/stream/:thread_id, the whole thread, at rest": {path: "/api/chat/stream/" + p.empty + "?follow=thread", needs: theDatabase, success: 200},

		"GET /api/me/keys":        {path: "/api/me/keys", needs: theDatabase, success: 200},
		"POST /api/me/keys":       {path: "/api/me/keys", body: object{"name": "a key"}, needs: theDatabase, success: 201},
		"DELETE /api/me/keys/:id": {path: "/api/me/keys/" + uuid.NewString(), needs: theDatabase, success: 404},

		"GET /v1/models":        {path: "/v1/models", success: 200},
		"GET /v1/models/:model": {path: "/v1/models/palaver-documents", success: 200},
		"POST /v1/chat/completions": {path: "/v1/chat/completions", needs: theDatabase | theThread, success: 200,
			body: object{"model": "palaver-documents", "messages": []any{object{"role": "user", "content": "Hello"}}}},
		"POST /api/agui": {path: "/api/agui", needs: theDatabase | theThread, success: 200,
			body: object{"threadId": uuid.NewString(), "runId": "r", "messages": []any{object{"id": "m", "role": "user", "content": "Hello"}}}},
		// In a conversation without a turn: a stop that the thread accepts needs no database, and
		// another of these requests begins a turn in the idle one.
		"POST /api/agui/stop": {path: "/api/agui/stop", body: object{"threadId": p.empty}, needs: theDatabase, success: 202},

		"POST /api/agent/v2/stream": {path: "/api/agent/v2/stream", needs: theDatabase | theThread, success: 200,
			body: object{"session_id": "new", "message": "Hello", "client_turn_id": uuid.NewString(), "stream_run_id": uuid.NewString()}},
		"POST /api/agent/v2/resume": {path: "/api/agent/v2/resume", body: object{"session_id": p.asked[1], "resume_value": answer}, needs: theThread, success: 200},
		"POST /api/agent/v2/stop":   {path: "/api/agent/v2/stop", body: object{"session_id": p.agent, "stream_run_id": p.agent}, needs: theTemporal, success: 202},

		"POST /api/ui/chat":            {path: "/api/ui/chat", body: object{"id": "new", "trigger": "submit-message", "messages": []any{said}}, needs: theDatabase | theThread, success: 200},
		"POST /api/ui/chat, an answer": {path: "/api/ui/chat", body: object{"id": p.asked[2], "trigger": "submit-message", "messages": []any{}, "resume": object{"resume_value": answer}}, needs: theThread, success: 200},
		"GET /api/ui/chat/:id":         {path: "/api/ui/chat/" + p.told, needs: theDatabase, success: 200},
		"GET /api/ui/chat/:id/stream":  {path: "/api/ui/chat/" + p.told + "/stream", success: 200},
		"POST /api/ui/chat/:id/stop":   {path: "/api/ui/chat/" + p.ui + "/stop", body: object{}, needs: theTemporal, success: 202},

		"GET /api/conversations":                          {path: "/api/conversations", needs: theDatabase, success: 200},
		"POST /api/conversations":                         {path: "/api/conversations", body: object{"title": "Notes"}, needs: theDatabase, success: 201},
		"POST /api/conversations, with a message":         {path: "/api/conversations", body: object{"message": "Hello"}, needs: theDatabase | theThread, success: 201},
		"GET /api/conversations/:id":                      {path: "/api/conversations/" + p.idle, needs: theDatabase, success: 200},
		"PATCH /api/conversations/:id":                    {path: "/api/conversations/" + p.idle, body: object{"title": "Better"}, needs: theDatabase, success: 200},
		"POST /api/batch/conversations":                   {path: "/api/batch/conversations", body: object{"action": "unarchive", "ids": []string{uuid.NewString()}}, success: 200}, // the response has a result for each id
		"GET /api/conversations/:id/shares":               {path: "/api/conversations/" + p.idle + "/shares", needs: theDatabase, success: 200},
		"POST /api/conversations/:id/shares":              {path: "/api/conversations/" + p.idle + "/shares", body: object{}, needs: theDatabase, success: 201},
		"DELETE /api/conversations/:id/shares/:share_id":  {path: "/api/conversations/" + p.idle + "/shares/" + uuid.NewString(), needs: theDatabase, success: 404},
		"GET /api/shared/:token":                          {path: "/api/shared/unknown", needs: theDatabase, success: 404},
		"GET /api/conversations/:id/feedback":             {path: "/api/conversations/" + p.idle + "/feedback", needs: theDatabase, success: 200},
		"PUT /api/conversations/:id/feedback/:turn_id":    {path: "/api/conversations/" + p.idle + "/feedback/" + uuid.NewString(), body: object{"rating": "up"}, needs: theDatabase, success: 404},
		"DELETE /api/conversations/:id/feedback/:turn_id": {path: "/api/conversations/" + p.idle + "/feedback/" + uuid.NewString(), needs: theDatabase, success: 404},
		"DELETE /api/conversations/:id":                   {path: "/api/conversations/" + p.asked[3], needs: theDatabase | theTemporal, success: 204},
		"GET /api/documents":                              {path: "/api/documents", needs: theDatabase, success: 200},
		"POST /api/documents":                             {path: "/api/documents", body: object{"title": "New", "text": circular}, needs: theDatabase | theTemporal, success: 202},
		"POST /api/documents, a file":                     {path: "/api/documents", body: upload{"new.txt", []byte(circular)}, needs: theDatabase | theTemporal, success: 202},
		"GET /api/documents/:id":                          {path: "/api/documents/" + p.doc, needs: theDatabase, success: 200},
		"POST /api/documents/:id/reimport":                {path: "/api/documents/" + uuid.NewString() + "/reimport", needs: theDatabase, success: 404},
		"POST /api/imports":                               {path: "/api/imports", body: object{"url": "https://drive.google.com/file/d/1AbC-dEf_GhIjKlMnOpQrStUvWxYz/view"}, needs: theDatabase | theTemporal, success: 202},
		"GET /api/imports":                                {path: "/api/imports", needs: theDatabase, success: 200},
		"GET /api/documents/:id/original":                 {path: "/api/documents/" + p.doc + "/original", needs: theDatabase, success: 200},
		"GET /api/documents/:id/text":                     {path: "/api/documents/" + p.doc + "/text", needs: theDatabase, success: 200},
		"GET /api/documents/:id/chunks/:chunk_id":         {path: "/api/documents/" + p.doc + "/chunks/" + p.chunk, needs: theDatabase, success: 200},
		"PATCH /api/documents/:id":                        {path: "/api/documents/" + p.doc, body: object{"title": "Liquidity circular"}, needs: theDatabase, success: 200},
		"DELETE /api/documents/:id":                       {path: "/api/documents/" + uuid.NewString(), needs: theDatabase, success: 404},
		"GET /api/document-sets":                          {path: "/api/document-sets", needs: theDatabase, success: 200},
		"POST /api/document-sets":                         {path: "/api/document-sets", body: object{"name": "Two", "doc_ids": []string{p.doc}}, needs: theDatabase, success: 201},
		"PUT /api/document-sets/:id":                      {path: "/api/document-sets/" + p.set, body: object{"name": "One", "doc_ids": []string{p.doc}}, needs: theDatabase, success: 200},
		"DELETE /api/document-sets/:id":                   {path: "/api/document-sets/" + uuid.NewString(), needs: theDatabase, success: 404},
		"POST /chat/message":                              {path: "/chat/message", body: object{"message": "summarize", "discovery_context": object{"title": "Churn"}}, needs: theDatabase | theThread, success: 200, plain: true},
		"GET /api/discoveries":                            {path: "/api/discoveries", needs: theDatabase, success: 200},
		"POST /api/discoveries":                           {path: "/api/discoveries", body: object{"title": "Churn"}, needs: theDatabase, success: 201},
		"GET /api/discoveries/:id":                        {path: p.board, needs: theDatabase, success: 200},
		"PUT /api/discoveries/:id":                        {path: p.board, body: object{"inputs": []object{{"text": "Ten calls."}, {"text": "A survey."}}}, needs: theDatabase, success: 200},
		"PATCH /api/discoveries/:id":                      {path: p.board, body: object{"goal": "Why?"}, needs: theDatabase, success: 200},
		"DELETE /api/discoveries/:id":                     {path: "/api/discoveries/" + uuid.NewString(), needs: theDatabase, success: 404},
		"POST /api/discoveries/:id/restore":               {path: p.board + "/restore", needs: theDatabase, success: 404},
		"POST /api/discoveries/:id/items":                 {path: p.board + "/items", body: object{"entity_type": "fact", "text": uuid.NewString(), "allow_similar": true}, needs: theDatabase, success: 201},
		"PATCH /api/discoveries/:id/items/:item_id":       {path: p.board + "/items/I-1", body: object{"status": "draft"}, needs: theDatabase, success: 200},
		"DELETE /api/discoveries/:id/items/:item_id":      {path: p.board + "/items/F-999", needs: theDatabase, success: 404},
		"POST /api/discoveries/:id/changes/:change/undo":  {path: p.board + "/changes/999/undo", needs: theDatabase, success: 404},
		"POST /api/discoveries/:id/actions":               {path: p.board + "/actions", body: object{"id": "call", "tool": "delete_item", "params": object{"item_id": "I-1"}}, needs: theDatabase, success: 201},
		"POST /api/discoveries/:id/actions/:tool_call_id": {path: p.board + "/actions/none", body: object{"decision": "cancel"}, needs: theDatabase, success: 404},

		"GET /api/documents/:id/scans":                 {path: "/api/documents/" + p.doc + "/scans", needs: theDatabase, success: 200},
		"POST /api/conversations/:id/branch":           {path: "/api/conversations/" + uuid.NewString() + "/branch", as: p.ann, body: object{}, needs: theDatabase, success: 404},
		"GET /api/spaces":                              {path: "/api/spaces", as: p.ann, needs: theDatabase, success: 200},
		"POST /api/spaces":                             {path: "/api/spaces", as: p.ann, body: object{"name": "Sales"}, needs: theDatabase, success: 201},
		"GET /api/spaces/:id":                          {path: p.space, as: p.ann, needs: theDatabase, success: 200},
		"PATCH /api/spaces/:id":                        {path: p.space, as: p.ann, body: object{"name": "Team"}, needs: theDatabase, success: 200},
		"DELETE /api/spaces/:id":                       {path: "/api/spaces/" + uuid.NewString() + "?name=Team", as: p.ann, needs: theDatabase, success: 404},
		"POST /api/spaces/:id/restore":                 {path: "/api/spaces/" + uuid.NewString() + "/restore", as: p.ann, needs: theDatabase, success: 404},
		"GET /api/spaces/:id/export":                   {path: p.space + "/export", as: p.ann, needs: theDatabase, success: 200},
		"GET /api/spaces/:id/people":                   {path: p.space + "/people", as: p.ann, needs: theDatabase, success: 200},
		"GET /api/spaces/:id/members":                  {path: p.space + "/members", as: p.ann, needs: theDatabase, success: 200},
		"PUT /api/spaces/:id/members":                  {path: p.space + "/members", as: p.ann, body: object{"kind": "person", "id": "bob", "role": "reader"}, needs: theDatabase, success: 204},
		"DELETE /api/spaces/:id/members":               {path: p.space + "/members?kind=person&id=carol", as: p.ann, needs: theDatabase, success: 404},
		"GET /api/spaces/:id/deleted":                  {path: p.space + "/deleted", as: p.ann, needs: theDatabase, success: 200},
		"POST /api/spaces/:id/deleted/:doc_id/restore": {path: p.space + "/deleted/" + uuid.NewString() + "/restore", as: p.ann, needs: theDatabase, success: 404},
		"GET /api/search":                              {path: "/api/search?q=liquidity", needs: theDatabase, success: 200},
		"POST /api/attachments":                        {path: "/api/attachments", body: dot(), needs: theDatabase, success: 201},
		"GET /api/attachments/:id":                     {path: "/api/attachments/" + p.picture, needs: theDatabase, success: 200},

		"POST /api/v1/chat/stream": {path: "/api/v1/chat/stream", body: object{"thread_id": "other", "message": object{"role": "human", "content": "Hello"}}, needs: theDatabase | theThread, success: 200},
		"POST /api/v1/chat/feedback": {path: "/api/v1/chat/feedback", needs: theThread, success: 200,
			body: object{"thread_id": p.asked[4], "checkpoint_id": nil, "approval_data": object{"type": "answer", "value": "inquire"}}},
		"GET /api/v1/chat/interrupt":          {path: "/api/v1/chat/interrupt?thread_id=" + p.told, needs: theDatabase | theThread, success: 200},
		"GET /api/v1/threads/:thread_id/repo": {path: "/api/v1/threads/" + p.idle + "/repo", needs: theDatabase, success: 200},
		"PUT /api/v1/threads/:thread_id/repo": {path: "/api/v1/threads/" + p.idle + "/repo", body: object{"repo": object{}}, needs: theDatabase, success: 200},

		"POST /mcp":                {path: "/mcp", body: object{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, success: 200},
		"POST /mcp, list":          {path: "/mcp", body: call("list_documents", object{}), needs: theDatabase, inBand: true, success: 200},
		"POST /mcp, ask":           {path: "/mcp", body: call("ask", message(nil)), needs: theDatabase | theThread, inBand: true, success: 200},
		"GET /mcp":                 {path: "/mcp", success: 405},
		"DELETE /mcp":              {path: "/mcp", success: 405},
		"POST /mcp/rpc":            {path: "/mcp/rpc", body: object{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, success: 200},
		"POST /mcp/rpc, search":    {path: "/mcp/rpc", body: call("search_documents", object{"query": "liquidity"}), needs: theDatabase, inBand: true, success: 200},
		"POST /mcp/rpc, ask":       {path: "/mcp/rpc", body: call("ask", message(nil)), needs: theDatabase | theThread, inBand: true, success: 200},
		"POST /mcp/rpc, an answer": {path: "/mcp/rpc", body: call("ask", object{"thread_id": p.asked[5], "answer": "inquire"}), needs: theThread, ends: theDatabase, inBand: true, success: 200},
	}
}

// dot returns a small picture.
func dot() upload {
	var b bytes.Buffer
	_ = png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))) // into memory
	return upload{"dot.png", b.Bytes()}
}

// TestLongEveryRouteAnswersDuringAnOutage makes these requests.
func TestEveryRouteHasARequestForAnOutage(t *testing.T) {
	t.Parallel()
	unnamed := maps.Clone(api.Routes())
	delete(unnamed, "GET /readyz") // checked by itself
	for name := range (&fixtures{talk: &talk{}, asked: make([]string, 6)}).requests() {
		route, _, _ := strings.Cut(name, ",")
		delete(unnamed, route)
	}
	require.Empty(t, slices.Sorted(maps.Keys(unnamed)))
}
