// Package follow lets any number of viewers in this process watch turns. One
// follower per open turn assembles its durable log and the text being written from
// what the bus delivers: entries, deltas and hints. Any of them may be late or
// lost; the follower gets what is missing from progress queries, drafts and the
// settled log.
//
// Viewers share what their follower knows, and each viewer is a position in it. So
// a slow viewer costs no memory: it gets the text that it missed as one larger
// token, and can read durable events at any time.
package follow

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/bus"
)

// Ref names a turn.
type Ref struct{ Owner, ThreadID, TurnID, Space string }

// Engine queries a turn's workflow for its log.
type Engine interface {
	Progress(ctx context.Context, threadID, turnID string, after int) (chat.Progress, error)
}

// Store reads settled logs, drafts and texts from the database.
type Store interface {
	Events(ctx context.Context, owner, turnID string, after int) ([]chat.Event, error)
	Draft(ctx context.Context, owner, turnID string, piece int) (db.Draft, error)
	Texts(ctx context.Context, owner, turnID string) (map[string]string, error)
	Ping(ctx context.Context) error
}

// Bus delivers a turn's signals.
type Bus interface {
	Subscribe(ctx context.Context, turnID string) (<-chan bus.Signal, error)
	// Connected reports whether messages are delivered now.
	Connected() bool
}

// Render completes log entries with their texts. known are documents that were read a moment ago.
type Render func(ctx context.Context, ref Ref, entries []chat.Entry, known []chat.Document) ([]chat.Event, error)

// ErrTurnNotFound ends a viewer when neither the workflow nor the database has the
// turn: its conversation was deleted, or its message never arrived.
var ErrTurnNotFound = errors.New("the turn does not exist")

const (
	// Poll intervals without a bus: pollMin after news, then doubling up to pollMax.
	pollMin = 50 * time.Millisecond
	pollMax = time.Second
	// Poll intervals with a bus that delivers nothing: doubling from min to max.
	idlePollMin = 3 * time.Second
	idlePollMax = 10 * time.Second
	// Poll interval while the turn waits for a person.
	waitingPoll = 30 * time.Second
	// Poll interval for a thread whose history cannot be replayed. Each poll costs
	// its worker a whole replay.
	unreplayablePoll = 30 * time.Second
	pollTimeout      = 2 * time.Second
	readTimeout      = 3 * time.Second
	// Replaces readTimeout while the database is known to be unavailable.
	outageReadTimeout = time.Second
	// How long a turn may be unknown to both its workflow and the database before its
	// viewers get ErrTurnNotFound. Its submit may still be in flight.
	unknownTimeout = 30 * time.Second
	// Replaces unknownTimeout for a turn that was known before: it was deleted.
	deletedTimeout = 3 * time.Second
)

// Hub holds the followers of this process. Safe for concurrent use.
type Hub struct {
	engine Engine
	store  Store
	bus    Bus
	render Render
	log    *slog.Logger
	// Check is called for a turn that has no workflow and is not settled. It settles
	// the turn if it is lost. open means that the turn's row is still open, so that the
	// follower polls again. ErrTurnNotFound means that the turn is not ref.Owner's any
	// more. Set it before the first Follow; nil skips the check.
	Check func(ctx context.Context, ref Ref) (open bool, _ error)

	mu        sync.Mutex
	followers map[string]map[string]*follower // by turn id and owner: a claim changes the owner
	health    health
}

// NewHub makes an empty hub.
func NewHub(e Engine, s Store, b Bus, r Render, log *slog.Logger) *Hub {
	return &Hub{engine: e, store: s, bus: b, render: r, log: log, followers: map[string]map[string]*follower{}}
}

// Follow attaches a viewer to a turn that ref.Owner may see, after a position
// (zero: from the beginning). known are the first recorded entries of its log, if
// the caller has them. Close the viewer when done.
func (h *Hub) Follow(ref Ref, after Position, known ...chat.Entry) *Viewer {
	return h.follow(nil, ref, after, known)
}

func (h *Hub) follow(early *Early, ref Ref, after Position, known []chat.Entry) *Viewer {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.followers[ref.TurnID][ref.Owner]
	if f == nil {
		f = &follower{hub: h, ref: ref, changed: make(chan struct{}), piece: piece{n: 1}, behind: true}
		ctx, signals := f.subscription(early)
		f.pace.known, f.pace.complete = len(known) > 0, signals != nil
		if h.followers[ref.TurnID] == nil {
			h.followers[ref.TurnID] = map[string]*follower{}
		}
		h.followers[ref.TurnID][ref.Owner] = f
		go f.run(ctx, signals, known)
		h.startPinging()
	}
	f.viewers++
	after.TurnID = ref.TurnID
	f.mu.Lock()
	defer f.mu.Unlock()
	return &Viewer{f: f, at: after, joinedAfterRebuild: f.rebuilt}
}

// Replay attaches a viewer to a settled turn's whole log.
func (h *Hub) Replay(ref Ref, log []chat.Event, after Position) *Viewer {
	after.TurnID = ref.TurnID
	f := &follower{ref: ref, piece: piece{n: 1}}
	f.append(log)
	f.over = true
	return &Viewer{f: f, at: after}
}

// Viewers returns how many viewers of this process watch a turn now.
func (h *Hub) Viewers(turnID string) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range h.followers[turnID] {
		n += f.viewers
	}
	return n
}

// leave detaches a viewer; the last one ends its follower.
func (h *Hub) leave(f *follower) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f.viewers--; f.viewers == 0 {
		f.stop()
		delete(h.followers[f.ref.TurnID], f.ref.Owner)
		if len(h.followers[f.ref.TurnID]) == 0 {
			delete(h.followers, f.ref.TurnID)
		}
		if len(h.followers) == 0 {
			h.stopPinging()
		}
	}
}
