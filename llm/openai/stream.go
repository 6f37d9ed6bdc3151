package openai

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	api "github.com/sashabaranov/go-openai"

	"github.com/palaver-chat/palaver/llm"
)

// Stream implements llm.Model. Usage is the provider's count, or else an estimate;
// it includes what was consumed before an error.
func (c *Client) Stream(ctx context.Context, r llm.Request, emit func(delta string) error) (llm.Reply, error) {
	to := c.target(r, false)
	to.tools, to.images = len(r.Tools) > 0, hasImages(r.Messages)
	to.prompt = llm.EstimatePrompt(r.Messages) + llm.EstimateTools(r.Tools)
	var reply llm.Reply
	err := c.try(ctx, to, func(k *call, t traits) error {
		used := reply.Usage
		reply = llm.Reply{NoTools: to.tools && t.noTools, NoImages: to.images && (t.noImages || t.badImages), Usage: used}
		tools := r.Tools
		if t.noTools {
			tools = nil
		}
		req := c.request(to.model, t, r, r.Messages, tools)
		req.Stream = true
		if !t.noStreamUsage {
			req.StreamOptions = &api.StreamOptions{IncludeUsage: true}
		}
		out := newAnswer(t, tools)
		out.emit, out.think, out.takeBack = emit, r.Reasoning, r.Retract
		k.gather = &out.gather
		out.gather.flush = out.flush
		err := c.send(k, t, req, r.Messages, out)
		k.asked = answerState{limit: limitOf(req), thought: out.thoughts.Len() > 0, emitted: out.said}
		if k.sent && (err == nil || out.began()) {
			in, written := llm.EstimatePrompt(r.Messages)+llm.EstimateTools(tools), out.estimate()
			if out.usage != nil {
				in, written = int(out.usage.Prompt), int(out.usage.Completion)
			}
			reply.Usage = used.Add(c.usage(to.model, in, written))
		}
		if err == nil {
			reply.Calls, reply.Dropped, reply.Finish, reply.Reasoning = out.made, out.calls.dropped, out.ended(), clip(out.thoughts.String(), llm.MaxReasoning)
		}
		if out.lone != t.thinksFirst && (out.lone || err == nil) {
			t.thinksFirst = out.lone
			c.remember(to.model, t)
		}
		return err
	})
	return reply, err
}

// send makes a request and reads the whole answer.
func (c *Client) send(k *call, t traits, req api.ChatCompletionRequest, messages []llm.Message, out *answer) error {
	if err := api.NewReasoningValidator().Validate(req); err != nil { // it saves a request that OpenAI's models reject
		return err
	}
	body, err := t.body(req, messages)
	if err != nil {
		return err
	}
	in, done, err := k.post(body)
	if err != nil {
		return err
	}
	defer done()
	return out.read(k, in)
}

func hasImages(messages []llm.Message) bool {
	return slices.ContainsFunc(messages, func(m llm.Message) bool { return len(m.Images) > 0 })
}

// answer collects the contents of an answer, streamed or whole.
type answer struct {
	gather   textBatcher
	emit     func(string) error // nil: the answer is whole
	think    func(string)       // may be nil
	takeBack func()             // may be nil
	refused  error              // of emit

	split    splitter
	text     strings.Builder
	thoughts strings.Builder
	emitted  int  // bytes of text
	shown    int  // bytes of thoughts
	said     bool // some text was emitted
	retract  bool // what was emitted is to be taken back
	lone     bool // the message began with reasoning, without a tag

	calls    *calls
	made     []llm.ToolCall
	written  []llm.ToolCall // calls that came as text
	other    int            // estimated tokens of the calls
	usage    *tokens
	finished string
	done     bool // [DONE]
}

func newAnswer(t traits, tools []llm.Tool) *answer {
	a := &answer{calls: newCalls(tools)}
	a.split = splitter{tools: len(tools) > 0, opened: t.thinksFirst, out: a.take, retract: func() {
		a.thoughts.WriteString(a.text.String())
		a.text.Reset()
		a.retract, a.emitted = a.emitted > 0, 0
	}}
	return a
}

// take takes a stretch of the model's text.
func (a *answer) take(k kind, text string) {
	switch k {
	case reasoning:
		a.thoughts.WriteString(text)
	case called:
		calls := a.calls.textCalls(text)
		if len(calls) == 0 {
			a.text.WriteString(text)
		}
		a.written = append(a.written, calls...)
	default:
		a.text.WriteString(text)
	}
}

func (a *answer) began() bool { return a.text.Len()+a.thoughts.Len()+a.other > 0 || a.usage != nil }

// estimate returns about how many tokens the model has written.
func (a *answer) estimate() int {
	return llm.EstimateTokens(a.text.String()) + llm.EstimateTokens(a.thoughts.String()) + a.other
}

// read reads the answer to its end. It emits all received text even on an error.
func (a *answer) read(k *call, in *bufio.Reader) error {
	err := a.receive(k, in)
	if a.emit != nil {
		if refused := a.flush(); refused != nil {
			return refused
		}
	}
	return err
}

func (a *answer) receive(k *call, in *bufio.Reader) error {
	first, err := firstByte(in)
	if err != nil {
		return a.end(err)
	}
	if first == '{' || first == '[' || first == '<' { // one document, whatever was asked for
		raw, err := io.ReadAll(in)
		if err == nil {
			err = a.document(k, raw)
		}
		if err != nil {
			return err
		}
		a.done = true
		return a.end(io.EOF)
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxAnswer)
	lines.Split(splitLines)
	var data []byte // of an event that is not complete
	for lines.Scan() {
		line := lines.Bytes()
		part, isData := bytes.CutPrefix(line, []byte("data:"))
		switch {
		case !isData && len(line) > 0 && line[0] == '{':
			part = line // an error between the events
		case !isData && len(line) > 0:
			continue // a comment, or another field
		case len(line) > 0 && string(bytes.TrimSpace(part)) == "[DONE]":
			a.done = true
			return a.end(io.EOF)
		}
		data = append(data, part...)
		if len(bytes.TrimSpace(data)) == 0 {
			continue
		}
		var c chunk
		if err := json.Unmarshal(data, &c); err != nil {
			if len(line) > 0 {
				continue // its next line may complete it
			}
			if a.finished != "" {
				return a.end(nil)
			}
			return err
		}
		if c.failed() && a.finished == "" {
			return k.failed(data)
		}
		a.add(c)
		data = data[:0]
	}
	if err = lines.Err(); err == nil {
		err = io.EOF
	}
	return a.end(err)
}

// document reads an answer that is not a stream.
func (a *answer) document(k *call, raw []byte) error {
	var c chunk
	err := json.Unmarshal(raw, &c)
	if err == nil && !c.failed() && len(c.Choices) > 0 {
		a.add(c)
		return nil
	}
	if err != nil || c.failed() {
		return k.failed(raw)
	}
	return errEmpty
}

// firstByte returns the first byte that is not white space, without reading it.
func firstByte(in *bufio.Reader) (byte, error) {
	for {
		b, err := in.ReadByte()
		if err != nil {
			return 0, err
		}
		if !bytes.ContainsRune([]byte(" \t\r\n"), rune(b)) {
			return b, in.UnreadByte()
		}
	}
}

// splitLines is a bufio.SplitFunc for lines that end with LF, CR or both.
func splitLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	i := bytes.IndexAny(data, "\r\n")
	switch {
	case i < 0 && atEOF && len(data) > 0:
		return len(data), data, nil
	case i < 0:
		return 0, nil, nil
	case data[i] == '\n':
		return i + 1, data[:i], nil
	case i+1 < len(data):
		if data[i+1] == '\n' {
			return i + 2, data[:i], nil
		}
		return i + 1, data[:i], nil
	case atEOF:
		return i + 1, data[:i], nil
	}
	return 0, nil, nil // the LF may follow
}

// add takes what a chunk has.
func (a *answer) add(c chunk) {
	if c.Usage != nil && c.Usage.Prompt+c.Usage.Completion > 0 {
		a.usage = c.Usage
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		for _, m := range []words{choice.Delta, choice.Message} {
			if m.Function != nil {
				m.ToolCalls = append(m.ToolCalls, fragment{Function: *m.Function})
			}
			for _, f := range m.ToolCalls {
				a.other += (len(f.Function.Name) + len(a.calls.add(f)) + 3) / 4
			}
			if s := m.thoughts(); s != "" {
				a.gather.began()
				a.split.opened = false // the server takes it out of the text
				a.thoughts.WriteString(s)
			}
			if s := m.said(); s != "" {
				a.gather.began()
				a.split.write(s)
			}
		}
		if reason := string(choice.FinishReason); reason != "" && reason != string(api.FinishReasonNull) {
			a.finished = reason
		}
	}
}

// flush emits what was received since the last flush.
func (a *answer) flush() error {
	if a.retract {
		a.retract = false
		if a.takeBack != nil {
			a.takeBack()
		}
	}
	if a.think != nil && a.shown < a.thoughts.Len() {
		fresh := a.thoughts.String()[a.shown:]
		a.shown = a.thoughts.Len()
		a.think(fresh)
	}
	if a.refused == nil && a.emitted < a.text.Len() {
		fresh := a.text.String()[a.emitted:]
		a.emitted, a.said = a.text.Len(), true
		if err := a.emit(fresh); err != nil {
			a.refused = &emitError{err}
		}
	}
	return a.refused
}

// ended returns how a finished answer has ended.
func (a *answer) ended() llm.Finish {
	switch strings.ToLower(a.finished) {
	case "length", "max_tokens", "model_length", "max_output_tokens", "model_context_window_exceeded", "incomplete":
		return llm.FinishLength
	case "content_filter", "safety", "recitation", "prohibited_content", "blocklist", "spii", "language", "sensitive", "refusal", "guardrail_intervened":
		return llm.FinishFilter
	case "abort", "aborted", "cancelled", "network_error", "insufficient_system_resource", "repetition_truncation", "malformed_function_call":
		return llm.FinishAbort
	}
	return llm.FinishStop
}

// end returns the error of a finished answer. After a finish reason, or [DONE] after a
// text or a call, the answer is complete, even when the connection fails.
func (a *answer) end(err error) error {
	a.split.close()
	a.lone = a.split.lone || a.split.assumed && a.split.opened || a.split.opened && a.split.thought
	cut := a.ended() == llm.FinishLength || a.ended() == llm.FinishAbort
	made := append(a.calls.reply(cut), a.written...)
	for i := range made {
		if made[i].ID == "" {
			made[i].ID = callID(i)
		}
	}
	dropped := a.calls.dropped + max(0, len(made)-llm.MaxCalls)
	made = made[:min(len(made), llm.MaxCalls)]
	empty := strings.TrimSpace(a.text.String()) == "" && len(made) == 0
	switch {
	case a.finished == "" && (!a.done || empty):
		if errors.Is(err, io.EOF) && !a.done {
			return errCut
		}
		if a.done {
			return errEmpty
		}
		return err
	case a.finished == "error": // of a provider behind a gateway
		return errCut
	case empty && a.ended() == llm.FinishFilter:
		return errFiltered
	case empty && a.ended() == llm.FinishAbort:
		return errCut
	case empty && a.ended() == llm.FinishLength:
		return errNoRoom
	case empty:
		return errEmpty
	}
	a.made, a.calls.dropped = made, dropped
	return nil
}
