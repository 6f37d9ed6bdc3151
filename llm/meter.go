package llm

import (
	"context"
	"sync/atomic"

	"github.com/palaver-chat/palaver/chat"
)

// Meter adds up what embeddings below a context use. Safe for concurrent use.
type Meter struct{ tokens atomic.Int64 }

type meterKey struct{}

// Metered returns a context whose embeddings the Meter counts.
func Metered(ctx context.Context) (context.Context, *Meter) {
	m := &Meter{}
	return context.WithValue(ctx, meterKey{}, m), m
}

// CountEmbedded adds texts that a model has embedded to the context's Meter, if it has
// one. Providers do not say how many tokens embedding takes, so they are estimated.
func CountEmbedded(ctx context.Context, texts []string) {
	m, ok := ctx.Value(meterKey{}).(*Meter)
	if !ok {
		return
	}
	for _, text := range texts {
		m.tokens.Add(int64(EstimateTokens(text)))
	}
}

// Usage is what was counted, at the list price of the model that embeds.
func (m *Meter) Usage(model string) chat.Usage {
	n := int(m.tokens.Load())
	return chat.Usage{TokensIn: n, CostUSD: DefaultPrices().Cost(model, n, 0)}
}
