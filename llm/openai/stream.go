package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	api "github.com/sashabaranov/go-openai"

	"github.com/palaver-chat/palaver/llm"
)

// Stream implements llm.Model. Usage is the provider's count, or else an estimate;
// it includes what was consumed before an error.
func (c *Client) Stream(ctx context.Context, r llm.Request, emit func(delta string) error) (llm.Reply, error) {
	to := c.target(r.Task, false)
	to.tools, to.images = len(r.Tools) > 0, hasImages(r.Messages)
	to.prompt = llm.EstimatePrompt(r.Messages) + llm.EstimateTools(r.Tools)
	var reply llm.Reply
	err := c.try(ctx, to, func(k *call, t traits) error {
		reply = llm.Reply{NoTools: to.tools && t.noTools, NoImages: to.images && (t.noImages || t.badImages)}
		tools := r.Tools
		if t.noTools {
			tools = nil
		}
		req := c.request(to.model, t, r, r.Messages, tools)
		if !t.noStreamUsage {
			req.StreamOptions = &api.StreamOptions{IncludeUsage: true}
		}
		out := answer{emit: emit, calls: newCalls(tools)}
		k.gather = &out.gather
		out.gather.flush = out.flush
		stream, err := k.client().CreateChatCompletionStream(k.ctx, req)
		if err != nil {
			return err
		}
		defer stream.Close()
		err = out.read(stream)
		in, written := llm.EstimatePrompt(r.Messages)+llm.EstimateTools(tools), llm.EstimateTokens(out.text.String())+out.other
		if out.usage != nil {
			in, written = out.usage.PromptTokens, out.usage.CompletionTokens
		}
		reply.Usage = c.usage(to.model, in, written)
		if err == nil {
			reply.Calls = out.made
		}
		return err
	})
	return reply, err
}

func hasImages(messages []llm.Message) bool {
	for _, m := range messages {
		if len(m.Images) > 0 {
			return true
		}
	}
	return false
}

// chunk is the part of a stream event that we use.
type chunk struct {
	Choices []struct {
		Index int `json:"index"`
		Delta struct {
			Content   content    `json:"content"`
			Refusal   content    `json:"refusal"`
			ToolCalls []fragment `json:"tool_calls"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *api.Usage `json:"usage"`
}

// content is a text; some providers send it as a list of parts.
type content string

func (c *content) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*c = content(s)
		return nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	*c = ""
	for _, p := range parts {
		if p.Type == "text" { // skips the model's reasoning
			*c += content(p.Text)
		}
	}
	return nil
}

// answer collects the contents of a stream.
type answer struct {
	gather   textBatcher
	emit     func(string) error
	refused  error // of emit
	text     strings.Builder
	emitted  int // bytes of text
	calls    *calls
	made     []llm.ToolCall
	other    int // estimated tokens of the calls
	usage    *api.Usage
	finished string
}

// read reads the stream to its end. It emits all received text even on an error.
func (a *answer) read(stream *api.ChatCompletionStream) error {
	err := a.receive(stream)
	if refused := a.flush(); refused != nil {
		return refused
	}
	return err
}

func (a *answer) receive(stream *api.ChatCompletionStream) error {
	for {
		raw, err := stream.RecvRaw()
		if err != nil {
			return a.end(err)
		}
		var c chunk
		if err := json.Unmarshal(raw, &c); err != nil {
			return err
		}
		if c.Usage != nil && c.Usage.PromptTokens+c.Usage.CompletionTokens > 0 {
			a.usage = c.Usage
		}
		for _, choice := range c.Choices {
			if choice.Index != 0 {
				continue
			}
			for _, f := range choice.Delta.ToolCalls {
				a.other += (len(f.Function.Name) + len(a.calls.add(f)) + 3) / 4
			}
			if s := string(choice.Delta.Content + choice.Delta.Refusal); s != "" {
				a.gather.began()
				a.text.WriteString(s)
			}
			if choice.FinishReason != "" && choice.FinishReason != string(api.FinishReasonNull) {
				a.finished = choice.FinishReason
			}
		}
	}
}

// flush emits the text received since the last flush.
func (a *answer) flush() error {
	if a.refused == nil && a.emitted < a.text.Len() {
		fresh := a.text.String()[a.emitted:]
		a.emitted = a.text.Len()
		if err := a.emit(fresh); err != nil {
			a.refused = &emitError{err}
		}
	}
	return a.refused
}

// end returns the error of a finished stream. After a finish reason the answer is
// complete, even when the connection fails.
func (a *answer) end(err error) error {
	switch a.finished {
	case "":
		if errors.Is(err, io.EOF) {
			return errCut
		}
		return err
	case string(api.FinishReasonContentFilter):
		return errFiltered
	case "error": // of a provider behind a gateway
		return errCut
	}
	a.made = a.calls.reply(a.finished == string(api.FinishReasonLength))
	if a.text.Len() == 0 && len(a.made) == 0 {
		return errEmpty
	}
	return nil
}
