package llm

import (
	"context"
	"sync"

	"github.com/palaver-chat/palaver/chat"
)

// UsageMeter collects the usage of calls whose results have none: Embed. Safe for
// concurrent use.
type UsageMeter struct {
	mu    sync.Mutex
	usage chat.Usage
}

type meteredKey struct{}

// WithMeter returns a context whose embeddings are counted.
func WithMeter(ctx context.Context) (context.Context, *UsageMeter) {
	m := &UsageMeter{}
	return context.WithValue(ctx, meteredKey{}, m), m
}

// Meter adds usage to the context's count, if it has one. Models call it in Embed.
func Meter(ctx context.Context, u chat.Usage) {
	m, _ := ctx.Value(meteredKey{}).(*UsageMeter)
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.usage = m.usage.Add(u)
}

// Usage returns what was counted so far.
func (m *UsageMeter) Usage() chat.Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.usage
}
