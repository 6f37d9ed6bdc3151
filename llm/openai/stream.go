package openai

import (
	"context"
	"errors"
	"io"
	"strings"

	api "github.com/sashabaranov/go-openai"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
)

// Stream implements llm.Model. Usage is what the provider counted, else an
// estimate; it is also right for what was consumed before an error.
func (c *Client) Stream(ctx context.Context, r llm.Request, emit func(delta string) error) (llm.Reply, error) {
	to := c.target(r.Task, false)
	var usage chat.Usage
	err := c.try(ctx, to, func(k *call, t traits) error {
		req := c.request(to.model, t, r, r.Messages)
		if !t.noStreamUsage {
			req.StreamOptions = &api.StreamOptions{IncludeUsage: true}
		}
		stream, err := k.client().CreateChatCompletionStream(k.ctx, req)
		if err != nil {
			return err
		}
		defer stream.Close()
		out := answer{emit: emit}
		err = out.read(stream)
		in, written := llm.EstimatePrompt(r.Messages), llm.EstimateTokens(out.text.String())
		if out.usage != nil {
			in, written = out.usage.PromptTokens, out.usage.CompletionTokens
		}
		usage = c.usage(to.model, in, written)
		return err
	})
	return llm.Reply{Usage: usage}, err
}

// answer gathers what a stream brings.
type answer struct {
	emit     func(string) error
	text     strings.Builder
	usage    *api.Usage
	finished api.FinishReason
}

func (a *answer) read(stream *api.ChatCompletionStream) error {
	for {
		chunk, err := stream.Recv()
		if err != nil {
			return a.end(err)
		}
		if chunk.Usage != nil && chunk.Usage.PromptTokens+chunk.Usage.CompletionTokens > 0 {
			a.usage = chunk.Usage
		}
		for _, choice := range chunk.Choices {
			if choice.Index != 0 {
				continue
			}
			if s := choice.Delta.Content; s != "" {
				a.text.WriteString(s)
				if err := a.emit(s); err != nil {
					return &emitError{err}
				}
			}
			if choice.FinishReason != "" && choice.FinishReason != api.FinishReasonNull {
				a.finished = choice.FinishReason
			}
		}
	}
}

// end judges how the stream ended. After a finish reason the answer is whole,
// whatever happens to the line.
func (a *answer) end(err error) error {
	switch {
	case a.finished == api.FinishReasonContentFilter:
		return errFiltered
	case a.finished != "" && a.text.Len() == 0:
		return errEmpty
	case a.finished != "":
		return nil
	case errors.Is(err, io.EOF):
		return errCut
	}
	return err
}
