package follow

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	// How often the database is asked for a sign of life while turns are followed.
	pingEvery    = time.Second
	pingDeadline = time.Second
	// It counts as away when it has not answered this often.
	pingFailures = 2
	// How long what was found out holds when nobody asks any more.
	pingHolds = 5 * time.Second
)

// health is what a hub knows of the database. People are told when it is away:
// what they see goes on, and is not saved yet.
type health struct {
	current atomic.Int64 // the number of the outage that lasts; 0: none

	// Guarded by hub.mu.
	outages int64
	seen    time.Time          // when it was last found to be away
	stop    context.CancelFunc // of who asks; nil: nobody does
}

func (h *health) away() bool { return h.current.Load() != 0 }

// DatabaseAway notes that the database cannot be reached. The hub finds out by
// itself while turns are followed, a little later, and also when it is back.
func (h *Hub) DatabaseAway() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.setAway(true)
}

// tend asks the database for signs of life until neglect; with mu held.
func (h *Hub) tend() {
	if h.health.stop != nil {
		return
	}
	if h.health.away() && time.Since(h.health.seen) > pingHolds {
		h.setAway(false)
	}
	ctx, stop := context.WithCancel(context.Background())
	h.health.stop = stop
	go h.ask(ctx)
}

// neglect ends it; with mu held.
func (h *Hub) neglect() {
	if h.health.stop != nil {
		h.health.stop()
		h.health.stop = nil
	}
}

func (h *Hub) ask(ctx context.Context) {
	ticker := time.NewTicker(pingEvery)
	defer ticker.Stop()
	for failures := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		ping, cancel := context.WithTimeout(ctx, pingDeadline)
		err := h.store.Ping(ping)
		cancel()
		if failures++; err == nil {
			failures = 0
		}
		if failures == 0 || failures >= pingFailures {
			h.mu.Lock()
			if ctx.Err() == nil {
				h.setAway(err != nil)
			}
			h.mu.Unlock()
		}
	}
}

// setAway begins or ends an outage, or notes that it lasts; its beginning wakes
// every viewer. With mu held.
func (h *Hub) setAway(away bool) {
	if away {
		h.health.seen = time.Now()
	}
	switch {
	case away == h.health.away():
		return
	case !away:
		h.health.current.Store(0)
		h.log.Info("the database is back")
		return
	}
	h.health.outages++
	h.health.current.Store(h.health.outages)
	h.log.Warn("the database is away")
	for _, f := range h.followers {
		f.mu.Lock()
		f.wake()
		f.mu.Unlock()
	}
}

// outage is the number of the outage that a viewer of f should know of.
func (f *follower) outage() int64 {
	if f.hub == nil { // a replay
		return 0
	}
	return f.hub.health.current.Load()
}
