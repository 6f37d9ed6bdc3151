//go:build long

package fullstack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api"
	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
	"github.com/palaver-chat/palaver/testkit/must"
	"github.com/palaver-chat/palaver/testkit/relay"
)

// shortTimeout replaces api.AnswerTimeout in this test.
const shortTimeout = 3 * time.Second

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
		"POST /mcp/rpc, an answer": {path: "/mcp/rpc", body: call("ask", object{"thread_id": p.asked[5], "answer": "inquire"}), needs: theDatabase | theThread, inBand: true, success: 200},
	}
}

// routeAnswer is the response to a request; the body only if it is not a stream.
type routeAnswer struct {
	status int
	body   []byte
}

func (p *fixtures) make(route string, r request) (routeAnswer, error) {
	method, _, _ := strings.Cut(route, " ")
	in, kind := io.Reader(nil), "application/json"
	switch body := r.body.(type) {
	case nil:
	case upload:
		var form bytes.Buffer
		w := multipart.NewWriter(&form)
		part, err := w.CreateFormFile("file", body.name)
		if err == nil {
			_, err = part.Write(body.data)
		}
		if err := errors.Join(err, w.Close()); err != nil {
			return routeAnswer{}, err
		}
		in, kind = &form, w.FormDataContentType()
	default:
		raw, err := json.Marshal(body)
		if err != nil {
			return routeAnswer{}, err
		}
		in = bytes.NewReader(raw)
	}
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, p.url()+r.path, in)
	if err != nil {
		return routeAnswer{}, err
	}
	req.Header.Set("Content-Type", kind)
	by := p.talk
	if r.as != nil {
		by = r.as
	}
	resp, err := by.client.Do(req)
	if err != nil {
		return routeAnswer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	a := routeAnswer{status: resp.StatusCode}
	if r.inBand || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") { // an event stream may stay open
		a.body, err = io.ReadAll(resp.Body)
	}
	return a, err
}

// fits returns what is wrong with an answer while the dependencies in lacks are
// unavailable; "" when nothing is.
func (r request) fits(a routeAnswer, lacks need) string {
	if r.needs&lacks == 0 {
		if a.status != r.success {
			return fmt.Sprintf("status %d, want %d: %s", a.status, r.success, a.body)
		}
		return ""
	}
	reason := reasons[lacks]
	if r.inBand {
		if a.status != http.StatusOK || !strings.Contains(string(a.body), reason) {
			return fmt.Sprintf("status %d, want an error of its protocol: %s", a.status, a.body)
		}
		return ""
	}
	if r.plain {
		var said struct{ Error string }
		if err := json.Unmarshal(a.body, &said); err != nil || a.status != http.StatusServiceUnavailable || !strings.HasPrefix(said.Error, reason) {
			return fmt.Sprintf("status %d, want 503 and only %q: %s", a.status, reason, a.body)
		}
		return ""
	}
	var said struct {
		Error struct{ Code, Message, RequestID string }
	}
	if err := json.Unmarshal(a.body, &said); err != nil || a.status != http.StatusServiceUnavailable ||
		said.Error.Code == "" || !strings.HasPrefix(said.Error.Message, reason) {
		return fmt.Sprintf("status %d, want 503 and %q: %s", a.status, reason, a.body)
	}
	return ""
}

// Rule E7.
func TestLongEveryRouteAnswersDuringAnOutage(t *testing.T) {
	direct := pgtest.Database(t)
	linkedDatabase, databaseOfAPI := linked(t, direct)
	s, model := apart(t, []stacktest.Option{stacktest.Flag("database-url", direct)})
	temporalOfAPI, temporalOfWorker := newLink(t, s.Servers.Temporal), newLink(t, s.Servers.Temporal)
	natsOfAPI := newLink(t, strings.TrimPrefix(s.Servers.NATS, "nats://"))
	s.Worker(stacktest.Flag("temporal-address", temporalOfWorker.Address()))
	signed := stacktest.Flag("supabase-jwt-secret", supabaseSecret)
	role := s.API(signed, stacktest.Flag("answer-timeout", shortTimeout.String()), linkedDatabase,
		stacktest.Flag("temporal-address", temporalOfAPI.Address()), stacktest.Flag("nats-url", "nats://"+natsOfAPI.Address()))

	// own creates a new user with all fixtures.
	own := func(t *testing.T) *fixtures {
		p := &fixtures{talk: newTalk(t, func() string { return role.URL }, s.NewUser())}
		p.me()
		p.doc = p.upload("Liquidity circular", circular)
		var hits struct {
			Hits []struct {
				ChunkID string `json:"chunk_id"`
			}
		}
		p.do(http.StatusOK, http.MethodGet, "/api/search?q=liquidity", nil, &hits)
		p.chunk = hits.Hits[0].ChunkID
		var made struct{ ID string }
		p.do(http.StatusCreated, http.MethodPost, "/api/document-sets", object{"name": "One", "doc_ids": []string{p.doc}}, &made)
		p.set = made.ID
		p.do(http.StatusCreated, http.MethodPost, "/api/discoveries", object{"inputs": []object{{"text": "Ten calls."}}}, &made)
		p.board = "/api/discoveries/" + made.ID
		p.do(http.StatusCreated, http.MethodPost, "/api/conversations", object{"title": "Empty"}, &made)
		p.empty = made.ID
		stored := must.Have(p.make("POST /api/attachments", request{path: "/api/attachments", body: dot()}))(t)
		require.NoError(t, json.Unmarshal(stored.body, &made), "%s", stored.body)
		p.picture = made.ID
		p.ann = p.signedIn("ann")
		p.ann.do(http.StatusCreated, http.MethodPost, "/api/spaces", object{"name": "Team"}, &made)
		p.space = "/api/spaces/" + made.ID
		p.idle = p.thread
		require.Equal(t, "response", last(p.ask("Hello", assistant)).Type)
		waiting := make([]string, 10)
		for i := range waiting {
			model.On(intentCall, unsure)
			p.thread = uuid.NewString()
			waiting[i] = p.thread
			require.Equal(t, "interrupt", last(p.ask("The circular", object{"tagged_doc_ids": []string{p.doc}, "stream_run_id": p.thread})).Type)
		}
		p.asked, p.cancelled, p.agent, p.ui, p.told = waiting[:6], waiting[6], waiting[7], waiting[8], waiting[9]
		return p
	}
	ready := func(t *testing.T) {
		require.Eventually(t, func() bool {
			resp, err := http.Get(role.URL + "/readyz")
			if err != nil {
				return false
			}
			_ = resp.Body.Close()
			return resp.StatusCode == http.StatusOK
		}, waitTimeout, 50*time.Millisecond)
	}

	for _, lack := range []struct {
		name  string
		link  *relay.Link
		needs need
		part  string // name in /readyz
	}{
		{"NATS", natsOfAPI, 0, "stream"},
		{"database", databaseOfAPI, theDatabase, "database"},
		{"Temporal", temporalOfAPI, theTemporal, "temporal"},
		{"workers", temporalOfWorker, theWorkers, ""},
	} {
		for way, outage := range map[string]func(*relay.Link){"unavailable": (*relay.Link).Cut, "silent": (*relay.Link).Silence} {
			t.Run(lack.name+" "+way, func(t *testing.T) {
				p := own(t)
				requests := p.requests()
				unnamed := maps.Clone(api.Routes())
				delete(unnamed, "GET /readyz") // checked below
				for name := range requests {
					route, _, _ := strings.Cut(name, ",")
					delete(unnamed, route)
				}
				require.Empty(t, slices.Sorted(maps.Keys(unnamed)), "routes without a request in this test")

				outage(lack.link)
				t.Cleanup(lack.link.Restore)
				var wg sync.WaitGroup
				for name, r := range requests {
					wg.Go(func() {
						a, err := p.make(name, r)
						if assert.NoError(t, err, name) {
							assert.Empty(t, r.fits(a, lack.needs), name)
						}
					})
				}
				wg.Wait()
				checkReady(t, role.URL, lack.part, way)
				lack.link.Restore()
				ready(t)
				require.Eventually(t, func() bool { // workers must recover too
					a, err := p.make("POST /api/chat", request{path: "/api/chat", body: object{"message": "Hello"}})
					return err == nil && a.status == http.StatusOK
				}, waitTimeout, 50*time.Millisecond)
			})
		}
	}
}

// checkReady checks /readyz while a part is unavailable. part is "" for a dependency that
// /readyz does not show. A silent NATS server appears there a little later.
func checkReady(t *testing.T, url, part, way string) {
	t.Helper()
	require.Eventually(t, func() bool {
		resp := must.Have(http.Get(url + "/readyz"))(t)
		defer func() { _ = resp.Body.Close() }()
		var said struct{ Down []string }
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&said))
		if part == "" {
			return resp.StatusCode == http.StatusOK && len(said.Down) == 0
		}
		status := http.StatusServiceUnavailable
		if part == "stream" { // answers still arrive, in larger steps
			status = http.StatusOK
		}
		return resp.StatusCode == status && slices.Equal([]string{part}, said.Down)
	}, waitTimeout, 100*time.Millisecond, "%s %s", part, way)
}

// dot returns a small picture.
func dot() upload {
	var b bytes.Buffer
	_ = png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))) // into memory
	return upload{"dot.png", b.Bytes()}
}

func newLink(t *testing.T, target string) *relay.Link {
	t.Helper()
	l := must.Have(relay.New(target))(t)
	t.Cleanup(l.Close)
	return l
}
