package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"

	"github.com/palaver-chat/palaver/chat"
)

// NATS is a Bus over core NATS. Everything is JSON on subjects under
// "palaver.", one subject per turn or thread, so that a process hears of
// nothing that it does not follow. Messages for one turn arrive in the order in
// which one process published them.
//
// Stops are the exception: they are rare, and every process hears of all of
// them, so that one which came before its activity began is not missed.
type NATS struct {
	nc     *nats.Conn
	closed chan struct{}
	stops  announcements
}

var _ Bus = (*NATS)(nil)

const (
	// A follower reads at once; a buffer this long is half a second of the
	// fastest stream. What does not fit is made up from log and draft.
	buffered = 256

	reconnectEvery = time.Second
	pingEvery      = 2 * time.Second
	// How long Subscribe waits to know that the server has the subscription.
	subscribeWait = time.Second
	// How long Watched waits for a yes; nobody says no.
	watchedWait = 500 * time.Millisecond
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
		// A server that is silent counts as disconnected after three of them.
		nats.PingInterval(pingEvery),
		nats.MaxPingsOutstanding(2),
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
	b := &NATS{nc: nc, closed: make(chan struct{})}
	// An error means that the connection is closed; nothing will be heard anyway.
	_, _ = nc.Subscribe(subject("stop", "*"), func(m *nats.Msg) { b.stops.heard(idOf(m.Subject)) })
	b.settle(context.Background())
	return b
}

// settle waits until a server that is there has all subscriptions; one that is
// away gets them when it is back.
func (b *NATS) settle(ctx context.Context) {
	if b.nc.IsConnected() {
		wait, cancel := context.WithTimeout(ctx, subscribeWait)
		_ = b.nc.FlushWithContext(wait)
		cancel()
	}
}

type stopMessage struct{}

type threadMessage struct {
	TurnID string `json:"turn_id"`
}

func (b *NATS) PublishDelta(d Delta) {
	b.publish("turn", d.TurnID, Signal{Delta: &d})
}

func (b *NATS) PublishLog(turnID string, entries []chat.Entry) {
	b.publish("turn", turnID, Signal{Log: entries})
}

func (b *NATS) Hint(turnID string, n int) {
	b.publish("turn", turnID, Signal{N: n})
}

func (b *NATS) Settled(turnID string) {
	b.publish("turn", turnID, Signal{Settled: true})
}

func (b *NATS) AnnounceStop(turnID string) {
	b.publish("stop", turnID, stopMessage{})
}

func (b *NATS) ThreadChanged(threadID, turnID string) {
	b.publish("thread", threadID, threadMessage{TurnID: turnID})
}

func (b *NATS) Subscribe(ctx context.Context, turnID string) (<-chan Signal, error) {
	return subscribe(ctx, b, "turn", turnID, func(s Signal) (Signal, bool) {
		if s.Delta != nil {
			return s, s.Delta.TurnID == turnID && s.Delta.Offset >= 0
		}
		return s, s.N > 0 || s.Settled || len(s.Log) > 0
	})
}

func (b *NATS) SubscribeStops(ctx context.Context, turnID string) (<-chan struct{}, error) {
	if !validID(turnID) {
		return nil, errors.New("subscribe to stop: the id is not a UUID")
	}
	announced, leave := b.stops.of(turnID)
	out := make(chan struct{}, 1)
	go func() {
		defer close(out)
		defer leave()
		select {
		case <-announced:
			out <- struct{}{}
		case <-ctx.Done():
			return
		case <-b.closed:
			return
		}
		select {
		case <-ctx.Done():
		case <-b.closed:
		}
	}()
	return out, nil
}

func (b *NATS) Watched(ctx context.Context, turnID string) (bool, error) {
	if !validID(turnID) {
		return false, errors.New("ask who watches: the id is not a UUID")
	}
	if !b.nc.IsConnected() {
		return false, nats.ErrDisconnected
	}
	wait, cancel := context.WithTimeout(ctx, watchedWait)
	defer cancel()
	_, err := b.nc.RequestWithContext(wait, subject("watched", turnID), nil)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, nats.ErrNoResponders):
		return false, nil
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		// Nobody said yes, or the server is silent: one that still answers has passed
		// the question on.
		wait, cancel := context.WithTimeout(ctx, subscribeWait)
		defer cancel()
		return false, b.nc.FlushWithContext(wait)
	}
	return false, err
}

func (b *NATS) AnswerWatched(ctx context.Context, watched func(turnID string) bool) error {
	sub, err := b.nc.Subscribe(subject("watched", "*"), func(m *nats.Msg) {
		if watched(idOf(m.Subject)) {
			_ = m.Respond(nil)
		}
	})
	if err != nil {
		return fmt.Errorf("answer who watches: %w", err)
	}
	b.settle(ctx)
	context.AfterFunc(ctx, func() { _ = sub.Unsubscribe() })
	return nil
}

func (b *NATS) SubscribeThread(ctx context.Context, threadID string) (<-chan string, error) {
	return subscribe(ctx, b, "thread", threadID, func(m threadMessage) (string, bool) {
		return m.TurnID, validID(m.TurnID)
	})
}

func (b *NATS) Ready() bool { return b.nc.IsConnected() }

func (b *NATS) Connected() bool { return b.nc.IsConnected() }

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
	b.settle(ctx) // nothing published after Subscribe has returned may be missed

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

func idOf(subject string) string { return subject[strings.LastIndexByte(subject, '.')+1:] }

// validID keeps wildcards and dots out of subjects: ids are UUIDs in their
// usual form.
func validID(id string) bool { return len(id) == 36 && uuid.Validate(id) == nil }
