package stream

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"
)

// NATS is a Bus over core NATS. Everything is JSON on subjects under
// "palaver.", one subject per turn or thread, so that a process hears of
// nothing that it does not follow. Messages for one turn arrive in the order in
// which one process published them.
type NATS struct {
	nc     *nats.Conn
	closed chan struct{}
}

var _ Bus = (*NATS)(nil)

const (
	// A follower reads at once; a buffer this long is half a second of the
	// fastest stream. What does not fit is made up from log and draft.
	buffered = 256

	reconnectEvery = time.Second
	// How long Subscribe waits to know that the server has the subscription.
	subscribeWait = time.Second
)

// Connect joins an external NATS server; url may be a comma separated list. It
// does not fail when the server is away: it goes on connecting for ever, and
// what is published meanwhile is dropped. The error is a malformed url.
func Connect(url string) (*NATS, error) {
	nc, err := nats.Connect(url,
		nats.Name("palaver"),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(reconnectEvery),
		nats.ReconnectBufSize(-1), // no buffer: a delta of a minute ago is of no use
		nats.Timeout(2*time.Second),
		nats.FlusherTimeout(time.Second),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // a slow consumer drops, as promised
	)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	return FromConn(nc), nil
}

// FromConn makes a Bus of a connection, for example to a server in the same
// process. Close closes the connection.
func FromConn(nc *nats.Conn) *NATS {
	return &NATS{nc: nc, closed: make(chan struct{})}
}

// turnMessage is what goes over a turn's subject: a delta or a hint.
type turnMessage struct {
	Delta *Delta `json:"delta,omitempty"`
	N     int    `json:"n,omitempty"`
}

type stopMessage struct{}

type threadMessage struct {
	TurnID string `json:"turn_id"`
}

func (b *NATS) PublishDelta(d Delta) {
	b.publish("turn", d.TurnID, turnMessage{Delta: &d})
}

func (b *NATS) Hint(turnID string, n int) {
	b.publish("turn", turnID, turnMessage{N: n})
}

func (b *NATS) AnnounceStop(turnID string) {
	b.publish("stop", turnID, stopMessage{})
}

func (b *NATS) ThreadChanged(threadID, turnID string) {
	b.publish("thread", threadID, threadMessage{TurnID: turnID})
}

func (b *NATS) Subscribe(ctx context.Context, turnID string) (<-chan Signal, error) {
	return subscribe(ctx, b, "turn", turnID, func(m turnMessage) (Signal, bool) {
		ok := m.N > 0
		if m.Delta != nil {
			ok = m.Delta.TurnID == turnID && m.Delta.Offset >= 0
		}
		return Signal(m), ok
	})
}

func (b *NATS) SubscribeStops(ctx context.Context, turnID string) (<-chan struct{}, error) {
	return subscribe(ctx, b, "stop", turnID, func(stopMessage) (struct{}, bool) {
		return struct{}{}, true
	})
}

func (b *NATS) SubscribeThread(ctx context.Context, threadID string) (<-chan string, error) {
	return subscribe(ctx, b, "thread", threadID, func(m threadMessage) (string, bool) {
		return m.TurnID, validID(m.TurnID)
	})
}

func (b *NATS) Ready() bool { return b.nc.IsConnected() }

// Close ends every subscription and the connection.
func (b *NATS) Close() {
	select {
	case <-b.closed:
		return
	default:
		close(b.closed)
	}
	b.nc.Close()
}

func (b *NATS) publish(kind, id string, message any) {
	if !validID(id) || !b.nc.IsConnected() {
		return
	}
	body, err := json.Marshal(message)
	if err != nil {
		return
	}
	_ = b.nc.Publish(subject(kind, id), body)
}

// subscribe decodes what arrives on a subject until ctx or the bus ends. read
// says whether a message makes sense; others are dropped.
func subscribe[M, V any](ctx context.Context, b *NATS, kind, id string, read func(M) (V, bool)) (<-chan V, error) {
	if !validID(id) {
		return nil, fmt.Errorf("subscribe to %s: the id is not a UUID", kind)
	}
	in := make(chan *nats.Msg, buffered)
	sub, err := b.nc.ChanSubscribe(subject(kind, id), in)
	if err != nil {
		return nil, fmt.Errorf("subscribe to %s: %w", kind, err)
	}
	// Nothing published after Subscribe has returned may be missed by a server
	// that is there; one that is away gets the subscription when it is back.
	if b.nc.IsConnected() {
		wait, cancel := context.WithTimeout(ctx, subscribeWait)
		_ = b.nc.FlushWithContext(wait)
		cancel()
	}

	out := make(chan V, buffered)
	go func() {
		defer close(out)
		defer func() { _ = sub.Unsubscribe() }()
		for {
			select {
			case <-ctx.Done():
				return
			case <-b.closed:
				return
			case msg := <-in:
				var m M
				if json.Unmarshal(msg.Data, &m) != nil {
					continue
				}
				v, ok := read(m)
				if !ok {
					continue
				}
				select {
				case out <- v:
				default:
				}
			}
		}
	}()
	return out, nil
}

func subject(kind, id string) string { return "palaver." + kind + "." + id }

// validID keeps wildcards and dots out of subjects: ids are UUIDs in their
// usual form.
func validID(id string) bool { return len(id) == 36 && uuid.Validate(id) == nil }
