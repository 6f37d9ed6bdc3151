package activities

import (
	"context"
	"sync"

	"github.com/palaver-chat/palaver/chat"
)

// maxBegun bounds the cached turns. A message has at most some kilobytes.
const maxBegun = 256

// begunTurns caches turns that this process has read. A message never changes, and
// every activity of its turn needs it. The zero value is empty.
type begunTurns struct {
	mu    sync.Mutex
	turns map[string]chat.Turn
	order []string // the oldest first
}

func (b *begunTurns) remember(t chat.Turn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, known := b.turns[t.ID]; known {
		return
	}
	if b.turns == nil {
		b.turns = map[string]chat.Turn{}
	}
	b.turns[t.ID] = t
	b.order = append(b.order, t.ID)
	if len(b.order) > maxBegun {
		delete(b.turns, b.order[0])
		b.order = b.order[1:]
	}
}

func (b *begunTurns) forget(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.turns, id)
}

func (b *begunTurns) find(owner, id string) (t chat.Turn, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t, ok = b.turns[id]
	return t, ok && t.Owner == owner
}

// Turn returns a turn as its agent reads it: with the documents that were imported from
// links of its message in place of these. Its status and place may be out of date.
func (k *Kit) Turn(ctx context.Context, ref TurnRef) (chat.Turn, error) {
	t, err := k.SentTurn(ctx, ref)
	if err != nil {
		return t, err
	}
	if k.Imported == nil {
		return t, nil
	}
	return k.Imported(ctx, t)
}

// SentTurn returns a turn as it was sent, from the cache or the store.
func (k *Kit) SentTurn(ctx context.Context, ref TurnRef) (chat.Turn, error) {
	if t, ok := k.begun.find(ref.Owner, ref.TurnID); ok {
		return t, nil
	}
	t, err := k.Store.Turn(ctx, ref.Owner, ref.TurnID)
	if err == nil && !t.Status.Settled() {
		k.begun.remember(t)
	}
	return t, err
}
