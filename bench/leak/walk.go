package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

// ask is a way to ask, or to search, in a dialect. Its body names the space, or none.
type ask struct {
	name, path string
	turn       bool
	body       func(thread, question, space string) object
}

func named(body object, space string) object {
	if space != "" {
		body["space_id"] = space
	}
	return body
}

var asks = []ask{
	{"native", "/api/chat", true, func(thread, question, space string) object {
		return named(object{"thread_id": thread, "message": question, "agent": "documents"}, space)
	}},
	{"agent v2", "/api/agent/v2/stream", true, func(thread, question, space string) object {
		return named(object{"session_id": thread, "client_turn_id": uuid.NewString(), "stream_run_id": uuid.NewString(), "message": question, "agent": "documents"}, space)
	}},
	{"AI SDK", "/api/ui/chat", true, func(thread, question, space string) object {
		return named(object{"id": thread, "agent": "documents", "messages": []object{{"id": uuid.NewString(), "role": "user", "parts": []object{{"type": "text", "text": question}}}}}, space)
	}},
	{"LangGraph", "/api/v1/chat/stream", true, func(thread, question, space string) object {
		return named(object{"thread_id": thread, "message": object{"role": "human", "content": question}, "agent": "documents"}, space)
	}},
	{"AG-UI", "/api/agui", true, func(thread, question, space string) object {
		return object{"threadId": thread, "runId": uuid.NewString(), "messages": []object{{"id": uuid.NewString(), "role": "user", "content": question}}, "tools": []any{}, "context": []any{},
			"forwardedProps": object{"palaver": named(object{"agent": "documents"}, space)}}
	}},
	{"OpenAI", "/v1/chat/completions", true, func(thread, question, space string) object {
		return object{"model": "palaver-documents", "messages": []object{{"role": "user", "content": question}}, "metadata": named(object{"thread_id": thread}, space)}
	}},
	{"ask", "/mcp", true, func(thread, question, space string) object {
		return tool("ask", named(object{"thread_id": thread, "message": question}, space))
	}},
	{"ask", "/mcp/rpc", true, func(thread, question, space string) object {
		return tool("ask", named(object{"thread_id": thread, "message": question}, space))
	}},
	{"search_documents", "/mcp", false, func(_, _, space string) object {
		return tool("search_documents", named(object{"query": "liquidity ratio"}, space))
	}},
	{"list_documents", "/mcp/rpc", false, func(_, _, space string) object { return tool("list_documents", named(object{}, space)) }},
}

func tool(name string, arguments object) object {
	return object{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": object{"name": name, "arguments": arguments}}
}

// route is an operation of the OpenAPI document.
type route struct {
	method, path string
	query        []string // names of its parameters
	body         map[string]any
}

// left are routes that end the people of the walk, reach other hosts, or only add spaces.
var left = []string{"DELETE /api/me", "POST /api/me", "POST /api/spaces", "POST /api/imports", "POST /api/documents/{id}/reimport", "GET /api/connections", "DELETE /api/connections", "GET /metrics"}

// findRoutes reads the routes of the OpenAPI document.
func (w *world) findRoutes(ctx context.Context) error {
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name, In string }
			Body       struct {
				Content map[string]struct{ Schema map[string]any }
			} `json:"requestBody"`
		}
		Components struct{ Schemas map[string]any }
	}
	if err := w.must(ctx, 0, nowhere, "GET", "/openapi.json", nil, &doc); err != nil {
		return err
	}
	for path, methods := range doc.Paths {
		for method, o := range methods {
			r := route{method: strings.ToUpper(method), path: path, body: o.Body.Content["application/json"].Schema}
			for _, p := range o.Parameters {
				if p.In == "query" {
					r.query = append(r.query, p.Name)
				}
			}
			if ref, is := r.body["$ref"].(string); is {
				r.body, _ = doc.Components.Schemas[ref[strings.LastIndex(ref, "/")+1:]].(map[string]any)
			}
			if !skipped(r) {
				w.routes = append(w.routes, r)
			}
		}
	}
	return nil
}

func skipped(r route) bool {
	name := r.method + " " + r.path
	for _, l := range left {
		if name == l || strings.HasPrefix(name, l+"/") && l != "POST /api/spaces" {
			return true
		}
	}
	return false
}

// target is what a request is about.
type target struct {
	space int
	talk  talk
	doc   string // of the space, or attached to the talk
}

func (w *world) target(in int) target {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := target{in, talk{id: uuid.NewString(), turn: uuid.NewString(), owner: nowhere, space: in}, w.spaces[in].doc}
	var there []talk
	for _, k := range w.talks {
		if k.space == in {
			there = append(there, k)
		}
	}
	if len(there) > 0 {
		t.talk = there[w.random.IntN(len(there))]
	}
	if t.talk.doc != "" && w.random.IntN(2) == 0 {
		t.doc = t.talk.doc
	}
	return t
}

// value returns what a parameter or field with a name names of the target; nil: nothing.
func (w *world) value(name string, t target) any {
	sp := w.spaces[t.space]
	switch name {
	case "doc_id", "document_id":
		return t.doc
	case "chunk_id":
		return t.doc + ".0"
	case "thread_id", "threadId", "session_id", "conversation_id", "conversationId":
		return t.talk.id
	case "turn_id", "head", "checkpoint_id", "client_turn_id", "parent_checkpoint_id":
		return t.talk.turn
	case "space_id":
		return sp.id
	case "doc_ids", "tagged_doc_ids":
		return []string{t.doc}
	case "ids":
		return []string{t.talk.id}
	case "q", "query":
		return "liquidity ratio"
	case "kind":
		return "person"
	case "shared":
		return true
	case "title", "text", "name", "url", "reason":
		return "Liquidity"
	case "role":
		return "reader"
	case "rating":
		return "up"
	case "action":
		return "archive"
	}
	return nil
}

// idOf returns the id in a path.
func (w *world) idOf(path string, t target) string {
	switch {
	case strings.HasPrefix(path, "/api/documents/"):
		return t.doc
	case strings.HasPrefix(path, "/api/discoveries/"):
		return w.spaces[t.space].board
	case strings.HasPrefix(path, "/api/spaces/"):
		return w.spaces[t.space].id
	}
	return t.talk.id
}

// call makes a request of a route about a target.
func (w *world) call(r route, as, in int, t target) request {
	path := r.path
	for strings.Contains(path, "{") {
		from, to := strings.Index(path, "{"), strings.Index(path, "}")
		id, known := w.value(path[from+1:to], t).(string)
		if !known {
			id = w.idOf(r.path, t)
		}
		path = path[:from] + id + path[to+1:]
	}
	query := url.Values{}
	for _, name := range r.query {
		switch v := w.value(name, t).(type) {
		case string:
			if w.rand(2) == 0 || name == "q" {
				query.Set(name, v)
			}
		case []string:
			if w.rand(2) == 0 {
				query.Set(name, v[0])
			}
		}
		if name == "id" {
			query.Set(name, w.ids[w.spaces[t.space].manager])
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	out := request{as: as, in: in, where: in, method: r.method, path: path, name: r.method + " " + r.path}
	if r.body != nil {
		body, fields := object{}, r.body["properties"]
		properties, _ := fields.(map[string]any)
		for name := range properties {
			if v := w.value(name, t); v != nil {
				body[name] = v
			}
		}
		if body["id"] = w.ids[w.spaces[t.space].manager]; properties["id"] == nil {
			delete(body, "id")
		}
		if properties["space_id"] != nil && in == nowhere && !strings.HasPrefix(r.path, "/api/documents/") {
			out.where = t.space
		}
		if properties["message"] != nil {
			body["message"] = w.question(as, out.where, t.talk.id)
		}
		out.body = body
	}
	return out
}

// readAll reads a space as a person, by n random routes.
func (w *world) readAll(ctx context.Context, person, in, n int) {
	for range n {
		t := w.target(in)
		r := w.routes[w.rand(len(w.routes))]
		for r.method != http.MethodGet {
			r = w.routes[w.rand(len(w.routes))]
		}
		w.try(ctx, w.call(r, person, in, t))
	}
	w.try(ctx, request{as: person, in: in, where: in, method: "GET", path: "/api/search?q=liquidity", name: "GET /api/search"})
	w.try(ctx, request{as: person, in: in, where: in, method: "GET", path: "/api/documents", name: "GET /api/documents"})
}

// try sends a request whose failure is no leak. A stream that does not end by itself is left.
func (w *world) try(ctx context.Context, r request) (int, http.Header, string) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	status, header, body, _ := w.send(ctx, r)
	return status, header, body
}

// walk sends the requests.
func (w *world) walk(ctx context.Context) {
	done := make(chan struct{})
	defer close(done)
	go w.progress(done)
	var wait sync.WaitGroup
	for range w.workers {
		wait.Go(func() {
			for w.sent.Load() < int64(w.requests) && ctx.Err() == nil {
				w.step(ctx)
			}
		})
	}
	wait.Wait()
}

// progressEvery is the time between lines of progress.
const progressEvery = 30 * time.Second

// progress prints how far the walk is, until done.
func (w *world) progress(done <-chan struct{}) {
	began, before := time.Now(), w.sent.Load()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		w.mu.Lock()
		leaks := len(w.leaks)
		w.mu.Unlock()
		sent := w.sent.Load()
		rate := float64(sent-before) / time.Since(began).Seconds()
		left := time.Duration(float64(int64(w.requests)-sent) / max(rate, 0.1) * float64(time.Second))
		fmt.Fprintf(os.Stderr, "  %d of %d requests, %.0f/s, %d leaks, about %s left\n", sent, w.requests, rate, leaks, left.Round(time.Minute))
	}
}

// step does one random thing.
func (w *world) step(ctx context.Context) {
	if n := w.sent.Load(); n > int64(w.requests/3) && w.deleting.CompareAndSwap(0, 1) || n > int64(w.requests*2/3) && w.deleting.CompareAndSwap(1, 2) {
		w.complain("a deletion", w.deletePerson(ctx, w.people-int(w.deleting.Load())))
	}
	person, in := w.rand(w.people), w.rand(len(w.spaces))
	if w.rand(3) > 0 {
		person = w.reader(in)
	}
	header := in
	switch w.rand(8) {
	case 0:
		header = nowhere
	case 1:
		header = w.rand(len(w.spaces))
	}
	switch n := w.rand(100); {
	case n < 4:
		w.complain("a change of members", w.changeMember(ctx, in, person))
	case n < 10:
		if a := asks[w.rand(len(asks))]; a.turn && w.rand(3) == 0 {
			w.askBeside(ctx, a, person, in)
		} else {
			w.ask(ctx, a, person, in)
		}
	case n < 12:
		w.readBeside(ctx)
	case n < 14:
		w.copyTalk(ctx, person, in)
	case n < 16:
		w.link(ctx)
	case n < 18:
		w.readRows(ctx, person)
	case n < 22:
		w.useKey(ctx, in)
	case n < 23 && header == nowhere:
		w.try(ctx, request{as: person, in: nowhere, where: nowhere, method: "GET", path: "/api/me/export", name: "GET /api/me/export"})
	default:
		t := w.target(in)
		r := w.routes[w.rand(len(w.routes))]
		if r.method != http.MethodGet && (person == w.spaces[in].manager || person == t.talk.owner) {
			return // it would end what others read
		}
		if w.rand(20) == 0 {
			person = nowhere
		}
		w.try(ctx, w.call(r, person, header, t))
	}
}

// complain reports what has failed, so that nothing was checked.
func (w *world) complain(what string, err error) {
	if err == nil || errors.Is(err, context.Canceled) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leaks = append(w.leaks, what+" failed: "+err.Error())
}

// reader returns somebody who was added to a space; a quarter of the calls counts those who were removed.
func (w *world) reader(in int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []int
	removed := w.random.IntN(4) == 0
	for person := range w.people {
		if spans := w.members[seat{person, in}]; len(spans) > 0 && (removed || spans[len(spans)-1].to.IsZero()) {
			all = append(all, person)
		}
	}
	for person, space := range w.group {
		if space == in {
			all = append(all, person)
		}
	}
	if len(all) == 0 {
		return w.spaces[in].manager
	}
	return all[w.random.IntN(len(all))]
}

// ask asks in a space, and perhaps shares the conversation.
func (w *world) ask(ctx context.Context, a ask, person, in int) {
	thread := uuid.NewString()
	if a.turn {
		w.turns.Add(1)
	}
	r := request{as: person, in: nowhere, where: in, method: "POST", path: a.path, name: a.path + " " + a.name}
	doc := ""
	if a.name == "native" || a.turn && w.rand(3) == 0 {
		doc = w.attach(ctx, person, in, thread)
	}
	question, space := w.question(person, in, thread), w.spaces[in].id
	if w.rand(2) == 0 {
		r.in, space = in, ""
	}
	body := a.body(thread, question, space)
	if doc != "" && a.name == "native" {
		body["tagged_doc_ids"] = []string{doc}
	}
	r.body = body
	status, header, said := w.try(ctx, r)
	if !a.turn || status != http.StatusOK || strings.Contains(said, `"isError":true`) || strings.Contains(said, `"code":-32602`) {
		return
	}
	k := talk{id: thread, turn: header.Get("X-Turn-Id"), doc: doc, owner: person, space: in}
	w.mu.Lock()
	w.talks = append(w.talks, k)
	at := len(w.talks) - 1
	if share := w.random.IntN(2) == 0; !share {
		w.mu.Unlock()
		return
	}
	w.talks[at].shared = time.Now()
	w.mu.Unlock()
	w.try(ctx, request{as: person, in: in, where: in, method: "PATCH", path: "/api/conversations/" + thread, name: "PATCH /api/conversations/{id}", body: object{"shared": true}})
}

// askBeside asks in no space, with a space in the scope of the conversation.
func (w *world) askBeside(ctx context.Context, a ask, person, in int) {
	w.turns.Add(1)
	thread := uuid.NewString()
	body := a.body(thread, w.question(person, beside(in), thread), "")
	scope(body, w.spaces[in].id)
	status, _, _ := w.try(ctx, request{as: person, in: nowhere, where: beside(in), method: "POST", path: a.path, name: a.path + besideName, body: body})
	if status != http.StatusOK {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.beside = append(w.beside, talk{id: thread, owner: person, space: in})
}

const besideName = ", with a space in the scope"

// scope names a space in the scope of a body.
func scope(body object, space string) {
	list := []string{space}
	if fields, is := body["metadata"].(object); is {
		fields["space_ids"] = space
	} else if fields, is := body["forwardedProps"].(object); is {
		fields["palaver"].(object)["space_ids"] = list
	} else if fields, is := body["params"].(object); is {
		fields["arguments"].(object)["space_ids"] = list
	} else {
		body["space_ids"] = list
	}
}

// readBeside reads a conversation with a space in its scope as its owner, or as somebody else.
func (w *world) readBeside(ctx context.Context) {
	w.mu.Lock()
	if len(w.beside) == 0 {
		w.mu.Unlock()
		return
	}
	k := w.beside[w.random.IntN(len(w.beside))]
	w.mu.Unlock()
	person := k.owner
	if w.rand(4) == 0 {
		person = w.rand(w.people)
	}
	for _, path := range []string{"/api/chat/history/" + k.id, "/api/ui/chat/" + k.id, "/api/conversations/" + k.id, "/api/conversations?q=liquidity"} {
		w.try(ctx, request{as: person, in: nowhere, where: beside(k.space), method: "GET", path: path, name: "GET" + besideName})
	}
	w.turns.Add(1) // its next message uses the space, as long as its owner reads it
	w.try(ctx, request{as: k.owner, in: nowhere, where: beside(k.space), method: "POST", path: "/api/chat", name: "/api/chat" + besideName, body: asks[0].body(k.id, w.question(k.owner, beside(k.space), k.id), "")})
}

// attach attaches a document to a conversation that has no message yet. It returns its id; empty
// if the person may not.
func (w *world) attach(ctx context.Context, person, in int, talk string) string {
	text := "The liquidity ratio " + w.newCanary(canary{kind: "attached", space: in, owner: person, talk: talk}) + " is that of the branch."
	_, _, body := w.try(ctx, request{as: person, in: in, where: in, method: "POST", path: "/api/documents", name: "POST /api/documents", body: object{"title": "Branch", "text": text, "conversation_id": talk}})
	var made struct{ ID string }
	_ = json.Unmarshal([]byte(body), &made) // refused: it has no id
	return made.ID
}

// copyTalk continues a shared conversation in a copy, which reads what its messages name.
func (w *world) copyTalk(ctx context.Context, person, in int) {
	t := w.target(in)
	for range 5 {
		if t.talk.doc == "" {
			t = w.target(in)
		}
	}
	_, _, body := w.try(ctx, request{as: person, in: in, where: in, method: "POST", path: "/api/conversations/" + t.talk.id + "/branch", name: "POST /api/conversations/{id}/branch", body: object{}})
	var made struct{ ID string }
	if json.Unmarshal([]byte(body), &made) != nil || made.ID == "" {
		return
	}
	w.mu.Lock()
	w.talks = append(w.talks, talk{id: made.ID, turn: t.talk.turn, owner: person, space: in})
	w.mu.Unlock()
	w.turns.Add(1)
	w.try(ctx, request{as: person, in: in, where: in, method: "POST", path: "/api/chat", name: "/api/chat in a copy", body: asks[0].body(made.ID, w.question(person, in, made.ID), "")})
}

// link makes a public link of a conversation in a space, and reads it without an account.
func (w *world) link(ctx context.Context) {
	t := w.target(w.rand(len(w.spaces)))
	if t.talk.owner == nowhere {
		return
	}
	_, _, body := w.try(ctx, request{as: t.talk.owner, in: t.space, where: t.space, method: "POST", path: "/api/conversations/" + t.talk.id + "/shares", name: "POST /api/conversations/{id}/shares", body: object{}})
	var made struct{ Path string }
	w.mu.Lock()
	if json.Unmarshal([]byte(body), &made) == nil && made.Path != "" {
		w.links = append(w.links, link{"/api/shared/" + strings.TrimPrefix(made.Path, "/s/"), t.talk})
	}
	if len(w.links) == 0 {
		w.mu.Unlock()
		return
	}
	one := w.links[w.random.IntN(len(w.links))]
	w.mu.Unlock()
	w.try(ctx, request{as: nowhere, in: nowhere, where: one.of.space, link: &one.of, method: "GET", path: one.path, name: "GET /api/shared/{token}"})
}

// link is a public link to a conversation.
type link struct {
	path string
	of   talk
}
