package bus

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/palaver-chat/palaver/chat"
)

var errClosed = errors.New("the bus is closed")

// Local is the Bus of a single process: it delivers in memory. Messages for one
// turn arrive in the order in which they were published.
type Local struct {
	closed  context.Context
	close   context.CancelFunc
	turns   topics[Signal]
	threads topics[string]
	stops   stopAnnouncements

	mu       sync.Mutex
	watchers []func(turnID string) bool
}

var _ Bus = (*Local)(nil)

// NewLocal makes a bus without subscribers.
func NewLocal() *Local {
	b := &Local{}
	b.closed, b.close = context.WithCancel(context.Background())
	return b
}

func (b *Local) PublishDelta(d Delta) { b.signal(d.TurnID, Signal{Delta: &d}) }

func (b *Local) PublishProgress(p Progress) { b.signal(p.TurnID, Signal{Progress: &p}) }

func (b *Local) PublishLog(turnID string, entries []chat.Entry) {
	b.signal(turnID, Signal{Log: slices.Clone(entries)})
}

func (b *Local) Hint(turnID string, n int) { b.signal(turnID, Signal{N: n}) }

func (b *Local) Retrying(turnID string, n int) { b.signal(turnID, Signal{Retry: n}) }

func (b *Local) Settled(turnID string, end End) {
	b.signal(turnID, Signal{Settled: true, End: end})
}

func (b *Local) signal(turnID string, s Signal) {
	if b.Connected() {
		b.turns.publish(turnID, s)
	}
}

func (b *Local) AnnounceStop(turnID string) {
	if b.Connected() {
		b.stops.record(turnID)
	}
}

func (b *Local) ThreadChanged(threadID, turnID string) {
	if b.Connected() {
		b.threads.publish(threadID, turnID)
	}
}

func (b *Local) Subscribe(ctx context.Context, turnID string) (<-chan Signal, error) {
	return b.turns.subscribe(ctx, b.closed, turnID)
}

func (b *Local) SubscribeThread(ctx context.Context, threadID string) (<-chan string, error) {
	return b.threads.subscribe(ctx, b.closed, threadID)
}

func (b *Local) SubscribeStops(ctx context.Context, turnID string) (<-chan struct{}, error) {
	if !validID(turnID) {
		return nil, errInvalidID
	}
	return b.stops.subscribe(ctx, b.closed.Done(), turnID), nil
}

// Watched asks this process only.
func (b *Local) Watched(_ context.Context, turnID string) (bool, error) {
	if !b.Connected() {
		return false, errClosed
	}
	b.mu.Lock()
	watchers := slices.Clone(b.watchers)
	b.mu.Unlock()
	return slices.ContainsFunc(watchers, func(watched func(string) bool) bool { return watched(turnID) }), nil
}

func (b *Local) AnswerWatched(ctx context.Context, watched func(turnID string) bool) error {
	if !b.Connected() {
		return errClosed
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.watchers = append(b.watchers, func(turnID string) bool { return ctx.Err() == nil && watched(turnID) })
	return nil
}

func (b *Local) Ready() bool     { return b.Connected() }
func (b *Local) Connected() bool { return b.closed.Err() == nil }

// Close ends every subscription.
func (b *Local) Close() { b.close() }

// topics delivers values by id. The zero value is ready for use.
type topics[V any] struct {
	mu   sync.Mutex
	subs map[string][]chan V
}

// publish never blocks: it drops the value for a subscriber whose buffer is full.
func (t *topics[V]) publish(id string, v V) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, sub := range t.subs[id] {
		select {
		case sub <- v:
		default:
		}
	}
}

// subscribe delivers until ctx or the bus ends, then closes the channel.
func (t *topics[V]) subscribe(ctx, bus context.Context, id string) (<-chan V, error) {
	if !validID(id) {
		return nil, errInvalidID
	}
	out := make(chan V, bufferSize)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.subs == nil {
		t.subs = map[string][]chan V{}
	}
	t.subs[id] = append(t.subs[id], out)
	unsubscribe := sync.OnceFunc(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.subs[id] = slices.DeleteFunc(t.subs[id], func(c chan V) bool { return c == out }); len(t.subs[id]) == 0 {
			delete(t.subs, id)
		}
		close(out)
	})
	stopWaiting := context.AfterFunc(bus, unsubscribe)
	context.AfterFunc(ctx, func() { stopWaiting(); unsubscribe() })
	return out, nil
}
