package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/api/sse"
	"github.com/palaver-chat/palaver/llm"
)

// completion is the part of a chat request that scripts can match.
type completion struct {
	Model          string        `json:"model"`
	Stream         bool          `json:"stream"`
	Messages       []chatMessage `json:"messages"`
	Tools          []chatTool    `json:"tools"`
	ResponseFormat *struct {
		JSONSchema *struct {
			Name string `json:"name"`
		} `json:"json_schema"`
	} `json:"response_format"`
	StreamOptions *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// text is a message's content, whether a string or an array of parts.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &parts) // neither: no text
	for _, p := range parts {
		s += p.Text
	}
	return s
}

func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	var c completion
	body, ok := readBody(w, r, &c)
	if !ok {
		return
	}
	cut, refused := s.window().apply(&c)
	req := Request{Truncated: cut, Kind: Structured, Path: r.URL.Path, Model: c.Model, Body: body, Authorization: r.Header.Get("Authorization")}
	var prompt strings.Builder
	for _, m := range c.Messages {
		t := text(m.Content)
		fmt.Fprintf(&prompt, "%s\n", t)
		switch m.Role {
		case "system":
			req.System += t + "\n"
		case "user":
			req.LastUser = t
		}
	}
	if last := len(c.Messages) - 1; last >= 0 && c.Messages[last].Role == "tool" {
		req.LastResult = text(c.Messages[last].Content)
	}
	for _, tool := range c.Tools {
		req.Tools = append(req.Tools, tool.Function.Name)
	}
	switch {
	case c.Stream:
		req.Kind = Stream
	case c.ResponseFormat != nil && c.ResponseFormat.JSONSchema != nil:
		req.Mode, req.Schema = "json_schema", c.ResponseFormat.JSONSchema.Name
	case len(c.Tools) > 0:
		req.Mode, req.Schema = "tool", c.Tools[0].Function.Name
	default:
		req.Mode, req.Schema = "prompt", schemaIn(req.System)
	}
	s.record(req)
	if problem := malformed(c); problem != "" {
		fail(w, http.StatusBadRequest, problem)
		return
	}

	if refused != "" {
		fail(w, http.StatusBadRequest, refused)
		return
	}
	a := s.answer(req, prompt.String())
	p := &player{w: w, r: r, req: req, a: a, model: c.Model, promptTokens: len(prompt.String())/4 + 1}
	p.usage = c.StreamOptions != nil && c.StreamOptions.IncludeUsage && !a.NoUsage
	if !p.play() {
		s.recordDisconnect(req)
	}
}

// schemaIn returns the schema that a prompt names.
func schemaIn(system string) string {
	for _, name := range []string{"intent_classification", "document_resolution", "web_query"} {
		if strings.Contains(system, name) {
			return name
		}
	}
	return ""
}

// player sends one scripted answer to one client.
type player struct {
	w            http.ResponseWriter
	r            *http.Request
	req          Request
	a            Answer
	model        string
	usage        bool
	promptTokens int
	tokens       int
}

// play reports whether the client stayed connected to the end.
func (p *player) play() bool {
	a := p.a
	if !p.pause(a.Delay) {
		return false
	}
	if a.Status != 0 {
		if a.RetryAfter != "" {
			p.w.Header().Set("Retry-After", a.RetryAfter)
		}
		if a.Body == "" {
			fail(p.w, a.Status, http.StatusText(a.Status))
			return true
		}
		p.w.Header().Set("Content-Type", "application/json")
		p.w.WriteHeader(a.Status)
		fmt.Fprint(p.w, a.Body)
		return true
	}
	if a.Body != "" {
		p.w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(p.w, a.Body)
		return true
	}
	if p.req.Kind == Stream {
		return p.stream()
	}
	return p.whole()
}

// pause waits and reports whether the client is still connected.
func (p *player) pause(d time.Duration) bool {
	if d <= 0 {
		return p.r.Context().Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-p.r.Context().Done():
		return false
	}
}

// gate waits at gate k, if there is one.
func (p *player) gate(k int) bool {
	g := p.a.Gates[k]
	if g == nil {
		return true
	}
	g.reach.Do(func() { close(g.reached) })
	select {
	case <-g.released:
		return true
	case <-p.r.Context().Done():
		return false
	}
}

func (p *player) stream() bool {
	p.w.Header().Set("Content-Type", sse.ContentType)
	p.w.WriteHeader(http.StatusOK)
	if !p.send(p.chunk(map[string]any{"role": "assistant", "content": ""}, nil)) {
		return false
	}
	for _, thought := range p.a.Reasoning {
		p.tokens++
		if !p.send(p.chunk(map[string]any{"reasoning_content": thought}, nil)) {
			return false
		}
	}
	for k, delta := range p.a.Chunks {
		if !p.gate(k) || k > 0 && !p.pause(p.a.Each) {
			return false
		}
		p.tokens++
		if p.a.Stamped {
			delta = Stamp(time.Now())
		}
		if !p.send(p.chunk(map[string]any{"content": delta}, nil)) {
			return false
		}
	}
	for _, delta := range append(fragments(p.a.Calls, p.a.Pieces), p.a.Deltas...) {
		p.tokens++
		if !p.send(p.chunk(delta, nil)) {
			return false
		}
	}
	if !p.gate(len(p.a.Chunks)) {
		return false
	}
	switch {
	case p.a.Silence:
		<-p.r.Context().Done()
		return false
	case p.a.Cut:
		panic(http.ErrAbortHandler) // closes the connection in mid-answer
	}
	p.send(p.chunk(map[string]any{}, p.finish()))
	if p.usage {
		p.send(map[string]any{"object": "chat.completion.chunk", "model": p.model, "choices": []any{}, "usage": p.counts()})
	}
	_, err := io.WriteString(p.w, sse.Done)
	return err == nil
}

// fragments returns the deltas of tool calls: the first delta of each call names
// it, the others carry its arguments in pieces of the given number of bytes. The
// pieces of the calls alternate.
func fragments(calls []llm.ToolCall, pieces int) []any {
	var out []any
	add := func(call map[string]any) { out = append(out, map[string]any{"tool_calls": []any{call}}) }
	rest := make([]string, len(calls))
	for i, c := range calls {
		id, args := c.ID, c.Arguments
		if id == "" {
			id = fmt.Sprintf("call_%d", i+1)
		}
		if pieces > 0 {
			rest[i], args = args, ""
		}
		add(map[string]any{"index": i, "id": id, "type": "function", "function": map[string]any{"name": c.Name, "arguments": args}})
	}
	for more := pieces > 0; more; {
		more = false
		for i, r := range rest {
			if r == "" {
				continue
			}
			n := min(pieces, len(r))
			for n < len(r) && !utf8.RuneStart(r[n]) { // a delta is whole characters
				n++
			}
			add(map[string]any{"index": i, "function": map[string]any{"arguments": r[:n]}})
			rest[i], more = r[n:], true
		}
	}
	return out
}

func (p *player) finish() string {
	switch {
	case p.a.Finish != "":
		return p.a.Finish
	case len(p.a.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func (p *player) counts() map[string]any {
	return map[string]any{"prompt_tokens": p.promptTokens, "completion_tokens": p.tokens, "total_tokens": p.promptTokens + p.tokens}
}

func (p *player) chunk(delta, finish any) map[string]any {
	return map[string]any{"id": "scripted", "object": "chat.completion.chunk", "model": p.model,
		"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}}
}

func (p *player) send(v any) bool {
	if _, err := p.w.Write(sse.JSON(nil, v)); err != nil {
		return false
	}
	return http.NewResponseController(p.w).Flush() == nil && p.r.Context().Err() == nil
}

func (p *player) whole() bool {
	for k := 0; k <= len(p.a.Chunks); k++ {
		if !p.gate(k) {
			return false
		}
	}
	switch {
	case p.a.Silence:
		<-p.r.Context().Done()
		return false
	case p.a.Cut:
		panic(http.ErrAbortHandler)
	}
	content := strings.Join(p.a.Chunks, "")
	p.tokens = len(content)/4 + 1
	message := map[string]any{"role": "assistant", "content": content}
	if thoughts := strings.Join(p.a.Reasoning, ""); thoughts != "" {
		message["reasoning_content"] = thoughts
	}
	if p.req.Mode == "tool" {
		message = map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{
			"id": "call_1", "type": "function", "function": map[string]any{"name": p.req.Schema, "arguments": content},
		}}}
	}
	reply := map[string]any{"id": "scripted", "object": "chat.completion", "model": p.model,
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": p.finish()}}}
	if !p.a.NoUsage {
		reply["usage"] = p.counts()
	}
	p.w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(p.w).Encode(reply) == nil && p.r.Context().Err() == nil
}
