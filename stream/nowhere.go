package stream

import (
	"context"

	"github.com/palaver-chat/palaver/chat"
)

// Nowhere is the Bus of a process without NATS: it drops everything, and
// followers live by polling and drafts.
type Nowhere struct{}

var _ Bus = Nowhere{}

func (Nowhere) PublishDelta(Delta)              {}
func (Nowhere) PublishLog(string, []chat.Entry) {}
func (Nowhere) Hint(string, int)                {}
func (Nowhere) Settled(string)                  {}
func (Nowhere) AnnounceStop(string)             {}
func (Nowhere) ThreadChanged(string, string)    {}

func (Nowhere) Subscribe(ctx context.Context, _ string) (<-chan Signal, error) {
	return silence[Signal](ctx), nil
}

func (Nowhere) SubscribeStops(ctx context.Context, _ string) (<-chan struct{}, error) {
	return silence[struct{}](ctx), nil
}

func (Nowhere) SubscribeThread(ctx context.Context, _ string) (<-chan string, error) {
	return silence[string](ctx), nil
}

// Watched is no: whoever else there is does not hear of it.
func (Nowhere) Watched(context.Context, string) (bool, error)                 { return false, nil }
func (Nowhere) AnswerWatched(context.Context, func(turnID string) bool) error { return nil }

// Ready is true: a bus that was left out on purpose is not one that is down.
func (Nowhere) Ready() bool     { return true }
func (Nowhere) Connected() bool { return false }
func (Nowhere) Close()          {}

func silence[V any](ctx context.Context) <-chan V {
	out := make(chan V)
	context.AfterFunc(ctx, func() { close(out) })
	return out
}
