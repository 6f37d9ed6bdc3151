package bus

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
// "palaver.", one subject per turn or thread, so that a process receives only
// what it follows. Messages for one turn arrive in the order in which one process
// published them.
//
// Stops are the exception: they are rare, and every process receives all of them,
// so that a stop announced before its activity subscribed is not missed.
//
// Deltas have a reply subject, at which the server says that nobody subscribes to their turn. Then
// the turn's next deltas are not sent for a while. A follower that subscribes meanwhile gets their
// text from the draft, as that of any lost delta.
type NATS struct {
	nc         *nats.Conn
	closed     chan struct{}
	stops      stopAnnouncements
	inbox      string // prefix of the reply subjects
	unfollowed unfollowedTurns
}

var _ Bus = (*NATS)(nil)

const (
	// bufferSize holds half a second of the fastest stream. Messages that do not fit are
	// dropped; followers recover from the log and the draft.
	bufferSize = 256

	// unfollowedFor is how long a turn's deltas are not sent once nobody subscribes to it.
	unfollowedFor = time.Second

	// maxEnd is the most bytes of a settled log that are sent. Followers read a longer one.
	maxEnd = 64 << 10

	reconnectInterval = time.Second
	pingInterval      = 2 * time.Second
	// flushTimeout is how long Subscribe waits for the server to confirm the subscription.
	flushTimeout = time.Second
	// watchedTimeout is how long Watched waits for a yes. Processes without a viewer do not
	// reply.
	watchedTimeout = 500 * time.Millisecond
)

// Login has the credentials of a NATS client that are not in the URL. The zero value means
// anonymous.
type Login struct {
	Token string
	// Credentials is a user's JWT and key: the content of a .creds file, or the path of
	// one, which is read at each connect. They take precedence over the Token.
	Credentials string
}

func (l Login) option() nats.Option {
	switch {
	case l.Credentials == "":
		return nats.Token(l.Token)
	case IsCredentials(l.Credentials):
		return nats.UserCredentialBytes([]byte(l.Credentials))
	default:
		return nats.UserCredentials(l.Credentials)
	}
}

// IsCredentials reports whether text is the content of a .creds file.
func IsCredentials(text string) bool {
	return strings.Contains(text, "-----BEGIN NATS USER JWT-----") && strings.Contains(text, "-----BEGIN USER NKEY SEED-----")
}

// Connect connects to an external NATS server; url may be a comma-separated list.
// It does not fail when the server is unavailable: it retries forever, and messages
// published meanwhile are dropped. An error means that the url is malformed.
func Connect(url string, login Login) (*NATS, error) {
	nc, err := nats.Connect(url,
		login.option(),
		nats.Name("palaver"),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(reconnectInterval),
		nats.ReconnectBufSize(-1), // no buffer: old deltas are useless after a reconnect
		nats.Timeout(2*time.Second),
		nats.FlusherTimeout(time.Second),
		// The connection counts as lost after three intervals without a reply.
		nats.PingInterval(pingInterval),
		nats.MaxPingsOutstanding(2),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // slow consumers drop messages by contract
	)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	return FromConn(nc), nil
}

// FromConn makes a Bus from a connection, for example to a server in the same
// process. Close closes the connection.
func FromConn(nc *nats.Conn) *NATS {
	b := &NATS{nc: nc, closed: make(chan struct{}), inbox: nc.NewInbox()}
	// An error means that the connection is closed, so no message can arrive anyway.
	_, _ = nc.Subscribe(b.inbox+".*", func(m *nats.Msg) {
		if m.Header.Get("Status") == noResponders {
			b.unfollowed.record(idFromSubject(m.Subject))
		}
	})
	_, _ = nc.Subscribe(subject("stop", "*"), func(m *nats.Msg) { b.stops.record(idFromSubject(m.Subject)) })
	b.flushSubscriptions(context.Background())
	return b
}

// flushSubscriptions waits until a connected server has all subscriptions. A
// disconnected server gets them when it reconnects.
func (b *NATS) flushSubscriptions(ctx context.Context) {
	if b.nc.IsConnected() {
		wait, cancel := context.WithTimeout(ctx, flushTimeout)
		_ = b.nc.FlushWithContext(wait)
		cancel()
	}
}

type stopMessage struct{}

type threadMessage struct {
	TurnID string `json:"turn_id"`
}

func (b *NATS) PublishDelta(d Delta) {
	if !b.unfollowed.has(d.TurnID) {
		b.publishTo("turn", d.TurnID, b.inbox+"."+d.TurnID, encode(Signal{Delta: &d}))
	}
}

func (b *NATS) PublishProgress(p Progress) {
	b.publish("turn", p.TurnID, Signal{Progress: &p})
}

func (b *NATS) PublishLog(turnID string, entries []chat.Entry) {
	b.publish("turn", turnID, Signal{Log: entries})
}

func (b *NATS) Hint(turnID string, n int) {
	b.publish("turn", turnID, Signal{N: n})
}

func (b *NATS) Retrying(turnID string, n int) {
	b.publish("turn", turnID, Signal{Retry: n})
}

func (b *NATS) Settled(turnID string, end End) {
	body := encode(Signal{Settled: true, End: end})
	if body == nil || len(body) > maxEnd {
		body = encode(Signal{Settled: true})
	}
	b.publishTo("turn", turnID, "", body)
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
		if s.Progress != nil {
			return s, s.Progress.TurnID == turnID && s.Progress.N > 0
		}
		return s, s.N > 0 || s.Retry > 0 || s.Settled || len(s.Log) > 0
	})
}

func (b *NATS) SubscribeStops(ctx context.Context, turnID string) (<-chan struct{}, error) {
	if !validID(turnID) {
		return nil, errInvalidID
	}
	return b.stops.subscribe(ctx, b.closed, turnID), nil
}

func (b *NATS) Watched(ctx context.Context, turnID string) (bool, error) {
	if !validID(turnID) {
		return false, errInvalidID
	}
	if !b.nc.IsConnected() {
		return false, nats.ErrDisconnected
	}
	wait, cancel := context.WithTimeout(ctx, watchedTimeout)
	defer cancel()
	_, err := b.nc.RequestWithContext(wait, subject("watched", turnID), nil)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, nats.ErrNoResponders):
		return false, nil
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		// No reply came. A server that answers the flush has passed the question on, so
		// that is a no.
		wait, cancel := context.WithTimeout(ctx, flushTimeout)
		defer cancel()
		return false, b.nc.FlushWithContext(wait)
	}
	return false, err
}

func (b *NATS) AnswerWatched(ctx context.Context, watched func(turnID string) bool) error {
	sub, err := b.nc.Subscribe(subject("watched", "*"), func(m *nats.Msg) {
		if watched(idFromSubject(m.Subject)) {
			_ = m.Respond(nil)
		}
	})
	if err != nil {
		return fmt.Errorf("subscribe to questions about viewers: %w", err)
	}
	b.flushSubscriptions(ctx)
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
	b.publishTo(kind, id, "", encode(message))
}

func (b *NATS) publishTo(kind, id, reply string, body []byte) {
	if body != nil && validID(id) && b.nc.IsConnected() {
		_ = b.nc.PublishMsg(&nats.Msg{Subject: subject(kind, id), Reply: reply, Data: body})
	}
}

// encode returns nil for a message that has no JSON.
func encode(message any) []byte {
	body, err := json.Marshal(message)
	if err != nil {
		return nil
	}
	return body
}

// subscribe decodes the messages on a subject until ctx or the bus ends. read
// reports whether a message is valid; invalid ones are dropped.
func subscribe[M, V any](ctx context.Context, b *NATS, kind, id string, read func(M) (V, bool)) (<-chan V, error) {
	if !validID(id) {
		return nil, errInvalidID
	}
	in := make(chan *nats.Msg, bufferSize)
	sub, err := b.nc.ChanSubscribe(subject(kind, id), in)
	if err != nil {
		return nil, fmt.Errorf("subscribe to %s: %w", kind, err)
	}
	b.flushSubscriptions(ctx) // messages published after Subscribe returns must arrive

	out := make(chan V, bufferSize)
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

func idFromSubject(subject string) string { return subject[strings.LastIndexByte(subject, '.')+1:] }

var errInvalidID = errors.New("the id is not a UUID")

// validID keeps wildcards and dots out of subjects. It accepts UUIDs in the
// 36-character form only.
func validID(id string) bool { return len(id) == 36 && uuid.Validate(id) == nil }
