// Package offline answers without a language model. Rules find the action and the
// documents, answers are sentences quoted from the passages, and tools are called when
// a message plainly asks for them. It is deterministic, reads only a request's facts and
// needs no network. Every answer says what the engine is.
package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/llm"
)

// Notice ends every answer that quotes documents.
var Notice = messages.AnswerOffline.Text

// Engine is an llm.Model and an llm.Painter.
type Engine struct{}

// New returns the engine. It holds no state.
func New() *Engine { return &Engine{} }

// Info implements llm.Model.
func (*Engine) Info() llm.Info {
	return llm.Info{Provider: "offline", Name: "offline", NameStrong: "offline", Image: "offline", Offline: true}
}

// Embed implements llm.Model: the engine has no vectors.
func (*Engine) Embed(context.Context, []string) ([][]float32, error) {
	return nil, llm.ErrNoEmbeddings
}

// Structured implements llm.Model for the three schemas of package llm; any
// other is ErrUnparseable.
func (*Engine) Structured(ctx context.Context, r llm.Request, schema llm.Schema, out any) (chat.Usage, error) {
	if err := ctx.Err(); err != nil {
		return chat.Usage{}, fmt.Errorf("model call: %w", err)
	}
	var answer any
	switch schema.Name {
	case llm.IntentSchema.Name:
		answer = intent(r.Facts)
	case llm.DocResolutionSchema.Name:
		answer = resolve(r.Facts)
	case llm.WebQuerySchema.Name:
		answer = webQuery(r.Facts)
	default:
		return chat.Usage{}, fmt.Errorf("offline: schema %s: %w", schema.Name, llm.ErrUnparseable)
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return chat.Usage{}, fmt.Errorf("offline: %w", err)
	}
	if err := json.Unmarshal(text, out); err != nil {
		return usage(r, string(text)), fmt.Errorf("offline: schema %s: %w", schema.Name, llm.ErrUnparseable)
	}
	return usage(r, string(text)), nil
}

// Stream implements llm.Model.
func (*Engine) Stream(ctx context.Context, r llm.Request, emit func(delta string) error) (llm.Reply, error) {
	text, calls := respond(r.Task, r.Facts)
	if len(calls) > 0 {
		if err := ctx.Err(); err != nil {
			return llm.Reply{}, fmt.Errorf("model call: %w", err)
		}
		spent := usage(r, "")
		spent.TokensOut = llm.EstimateCalls(calls)
		return llm.Reply{Calls: calls, Usage: spent}, nil
	}
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

// respond returns the text of an answer, or the tool calls before it.
func respond(task llm.Task, f llm.Facts) (text string, calls []llm.ToolCall) {
	notice := Notice
	switch task {
	case llm.TaskAssistant:
		quotes := false
		if text, calls, quotes = assistant(f); !quotes {
			notice = plainNotice
		}
	case llm.TaskDiscovery:
		text, calls = discovery(f)
		notice = plainNotice
	case llm.TaskTalk:
		text, notice = talk(f), plainNotice
	default:
		if calls = callable(requestedCalls(f, true)); len(calls) == 0 {
			text = strings.TrimSpace(answerAction(task, f)) + outcomes(f)
		}
	}
	return strings.TrimSpace(text) + "\n\n_" + notice + "_", calls
}

// answerAction returns the answer for an action of the documents agent.
func answerAction(task llm.Task, f llm.Facts) string {
	switch task {
	case llm.TaskSummarize:
		return summarize(f)
	case llm.TaskCompare:
		return compare(f)
	case llm.TaskAudit:
		return audit(f)
	}
	return inquire(f)
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
