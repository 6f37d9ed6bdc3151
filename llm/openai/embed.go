package openai

import (
	"context"
	"fmt"
	"strings"

	api "github.com/sashabaranov/go-openai"

	"github.com/palaver-chat/palaver/llm"
)

const (
	batchTexts = 96      // Gemini takes at most 100
	batchBytes = 200_000 // OpenAI takes at most 300,000 tokens
)

// Embed implements llm.Model. It splits the texts into batches.
func (c *Client) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if c.cfg.EmbeddingModel == "" {
		return nil, llm.ErrNoEmbeddings
	}
	out := make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		n := batch(texts)
		vectors, err := c.embed(ctx, texts[:n])
		if err != nil {
			return nil, err
		}
		out = append(out, vectors...)
		texts = texts[n:]
	}
	return out, nil
}

// batch returns how many of the texts fit into one request.
func batch(texts []string) int {
	size := 0
	for n, t := range texts {
		if size += len(t); n > 0 && (n == batchTexts || size > batchBytes) {
			return n
		}
	}
	return len(texts)
}

func (c *Client) embed(ctx context.Context, texts []string) (vectors [][]float32, err error) {
	input := make([]string, len(texts))
	for i, t := range texts {
		if input[i] = t; strings.TrimSpace(t) == "" {
			input[i] = "-" // providers reject an empty text
		}
	}
	model := c.cfg.EmbeddingModel
	err = c.try(ctx, target{model: model, variable: "EMBEDDING_MODEL_NAME"}, func(k *call, _ traits) error {
		k.limit = maxEmbeddings
		resp, err := k.client().CreateEmbeddings(k.ctx, api.EmbeddingRequestStrings{Input: input, Model: api.EmbeddingModel(model)})
		if err != nil {
			return err
		}
		tokens := resp.Usage.PromptTokens
		for _, t := range input {
			if resp.Usage.PromptTokens == 0 { // not every server counts
				tokens += llm.EstimateTokens(t)
			}
		}
		llm.Meter(ctx, c.cfg.Prices.Usage(model, tokens, 0))
		vectors = make([][]float32, len(texts))
		for i, e := range resp.Data {
			if e.Index < 0 || e.Index >= len(vectors) || len(e.Embedding) == 0 {
				return fmt.Errorf("embedding %d of %d has index %d and %d numbers", i, len(texts), e.Index, len(e.Embedding))
			}
			vectors[e.Index] = e.Embedding
		}
		for i, v := range vectors {
			if len(v) == 0 || len(v) != len(vectors[0]) {
				return fmt.Errorf("embedding %d of %d is missing or of another size", i, len(texts))
			}
		}
		return nil
	})
	return vectors, err
}
