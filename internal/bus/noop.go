package bus

import (
	"context"

	"github.com/palaver-chat/palaver/chat"
)

// Noop is the Bus of a process without NATS: it drops everything. Followers poll
// and read drafts instead.
type Noop struct{}

var _ Bus = Noop{}

func (Noop) PublishDelta(Delta)              {}
func (Noop) PublishProgress(Progress)        {}
func (Noop) PublishLog(string, []chat.Entry) {}
func (Noop) Hint(string, int)                {}
func (Noop) Retrying(string, int)            {}
func (Noop) Settled(string, End)             {}
func (Noop) AnnounceStop(string)             {}
func (Noop) ThreadChanged(string, string)    {}

func (Noop) Subscribe(ctx context.Context, _ string) (<-chan Signal, error) {
	return emptyUntilDone[Signal](ctx), nil
}

func (Noop) SubscribeStops(ctx context.Context, _ string) (<-chan struct{}, error) {
	return emptyUntilDone[struct{}](ctx), nil
}

func (Noop) SubscribeThread(ctx context.Context, _ string) (<-chan string, error) {
	return emptyUntilDone[string](ctx), nil
}

// Watched returns false: no other process can be asked.
func (Noop) Watched(context.Context, string) (bool, error)                 { return false, nil }
func (Noop) AnswerWatched(context.Context, func(turnID string) bool) error { return nil }

// Ready returns true: a bus that is not configured is not a failed bus.
func (Noop) Ready() bool     { return true }
func (Noop) Connected() bool { return false }
func (Noop) Close()          {}

// emptyUntilDone returns a channel that delivers nothing and closes with ctx.
func emptyUntilDone[V any](ctx context.Context) <-chan V {
	out := make(chan V)
	context.AfterFunc(ctx, func() { close(out) })
	return out
}
