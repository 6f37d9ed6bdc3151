package follow

import (
	"context"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/bus"
)

// Early is a subscription made before the turn is submitted. It misses no message
// of the turn, so the follower need not poll. Use it for one Follow, and always
// Close it. A nil *Early is valid and holds no subscription.
type Early struct {
	turnID  string
	signals <-chan bus.Signal // nil if subscribing failed; set when subscribed is closed
	ctx     context.Context
	stop    context.CancelFunc
	used    bool // a follower owns the subscription and ends it
	known   knownDocs

	subscribed chan struct{}
}

// knownDocs are documents that the turn's sender may see.
type knownDocs struct {
	docs []chat.Document
	at   time.Time
}

// knownFor is how long they need not be read again.
const knownFor = 10 * time.Second

func (k knownDocs) fresh() []chat.Document {
	if time.Since(k.at) > knownFor {
		return nil
	}
	return k.docs
}

// Know adds documents that were just read for the turn's sender. Call it before Follow.
func (e *Early) Know(docs []chat.Document) {
	if len(docs) > 0 {
		e.known = knownDocs{docs, time.Now()}
	}
}

// Expect begins to subscribe to a turn that is going to be submitted. It does not wait for the
// network; call Subscribed before the submit.
func (h *Hub) Expect(turnID string) *Early {
	e := &Early{turnID: turnID, subscribed: make(chan struct{})}
	e.ctx, e.stop = context.WithCancel(context.Background())
	go func() {
		defer close(e.subscribed)
		e.signals, _ = h.bus.Subscribe(e.ctx, turnID) // after an error the follower polls instead
	}()
	return e
}

// Subscribed waits until messages that are published from now on are delivered.
func (e *Early) Subscribed() { <-e.subscribed }

// Follow is Hub.Follow for the expected turn. If ref has another turn id, because
// the message was a repeat, the turn is followed without the subscription.
func (e *Early) Follow(h *Hub, ref Ref, after Position, known ...chat.Entry) *Viewer {
	if e == nil || e.turnID != ref.TurnID {
		e = nil
	}
	return h.follow(e, ref, after, known)
}

// Close ends the subscription unless a follower owns it.
func (e *Early) Close() {
	if e != nil && !e.used {
		e.stop()
	}
}
