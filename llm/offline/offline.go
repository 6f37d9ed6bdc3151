// Package offline is the engine that answers without a language model: an llm.Model that
// hands each request to the rules of an agent (agents/*/offline). It is deterministic, reads
// only a request's facts and needs no network. Every answer says what the engine is.
package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/llm"
)

// What the end of every answer says, in English.
var (
	QuotesNotice = messages.AnswerOffline.Text
	PlainNotice  = messages.AnswerOfflinePlain.Text
)

// Rules are what the engine does for one agent.
type Rules struct {
	Answers    map[llm.Task]func(llm.Facts) Answer
	Structured map[string]func(llm.Facts) any // by the name of the schema
}

// Answer is the answer to a request, or the tool calls before it.
type Answer struct {
	Text     string
	Language string         // of the text (ISO 639-1); "" is English
	Quotes   bool           // from documents
	Calls    []llm.ToolCall // instead of the text
}

// Engine is an llm.Model and an llm.Painter.
type Engine struct{ rules Rules }

// New returns the engine with the rules of agents.
func New(agents ...Rules) *Engine {
	e := &Engine{Rules{map[llm.Task]func(llm.Facts) Answer{}, map[string]func(llm.Facts) any{}}}
	for _, a := range agents {
		maps.Copy(e.rules.Answers, a.Answers)
		maps.Copy(e.rules.Structured, a.Structured)
	}
	return e
}

// Info implements llm.Model.
func (*Engine) Info() llm.Info {
	return llm.Info{Provider: "offline", Name: "offline", NameStrong: "offline", Image: "offline", Offline: true}
}

// Embed implements llm.Model: the engine has no vectors.
func (*Engine) Embed(context.Context, []string) ([][]float32, error) {
	return nil, llm.ErrNoEmbeddings
}

// Structured implements llm.Model. A schema that no agent has rules for is ErrUnparseable.
func (e *Engine) Structured(ctx context.Context, r llm.Request, schema llm.Schema, out any) (chat.Usage, error) {
	if err := ctx.Err(); err != nil {
		return chat.Usage{}, fmt.Errorf("model call: %w", err)
	}
	decide, ok := e.rules.Structured[schema.Name]
	if !ok {
		return chat.Usage{}, fmt.Errorf("offline: schema %s: %w", schema.Name, llm.ErrUnparseable)
	}
	text, err := json.Marshal(decide(r.Facts))
	if err != nil {
		return chat.Usage{}, fmt.Errorf("offline: %w", err)
	}
	if err := json.Unmarshal(text, out); err != nil {
		return usage(r, string(text)), fmt.Errorf("offline: schema %s: %w", schema.Name, llm.ErrUnparseable)
	}
	return usage(r, string(text)), nil
}

// Stream implements llm.Model.
func (e *Engine) Stream(ctx context.Context, r llm.Request, emit func(delta string) error) (llm.Reply, error) {
	answer, ok := e.rules.Answers[r.Task]
	if !ok {
		return llm.Reply{}, fmt.Errorf("offline: no rules for the task %q", r.Task)
	}
	a := answer(r.Facts)
	if len(a.Calls) > 0 {
		if err := ctx.Err(); err != nil {
			return llm.Reply{}, fmt.Errorf("model call: %w", err)
		}
		spent := usage(r, "")
		spent.TokensOut = llm.EstimateCalls(a.Calls)
		return llm.Reply{Calls: a.Calls, Usage: spent}, nil
	}
	notice := messages.AnswerOfflinePlain
	if a.Quotes {
		notice = messages.AnswerOffline
	}
	text := strings.TrimSpace(a.Text) + "\n\n_" + notice.In(a.Language, nil) + "_"
	written := 0
	for _, delta := range deltas(text) {
		if err := ctx.Err(); err != nil {
			return llm.Reply{Usage: usage(r, text[:written])}, fmt.Errorf("model call: %w", err)
		}
		if err := emit(delta); err != nil {
			return llm.Reply{Usage: usage(r, text[:written])}, err
		}
		written += len(delta)
	}
	return llm.Reply{Usage: usage(r, text)}, nil
}

// deltas cuts text into groups of a few words.
func deltas(text string) []string {
	const size = 24
	var out []string
	for len(text) > size {
		cut := strings.IndexAny(text[size:], " \n")
		if cut < 0 {
			break
		}
		cut += size + 1
		out = append(out, text[:cut])
		text = text[cut:]
	}
	return append(out, text)
}

// usage estimates tokens; it costs nothing.
func usage(r llm.Request, answer string) chat.Usage {
	in := llm.EstimateTokens(r.Facts.Message) + llm.EstimateTools(r.Facts.Tools)
	for _, u := range r.Facts.Used {
		in += llm.EstimateTokens(u.Content)
	}
	for _, p := range r.Facts.Passages {
		in += llm.EstimateTokens(p.Text)
	}
	return chat.Usage{TokensIn: in, TokensOut: llm.EstimateTokens(answer), Calls: 1}
}
