package follow

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	// How often the database is pinged while turns are followed.
	pingInterval = time.Second
	pingTimeout  = time.Second
	// After this many failed pings in a row the database counts as unavailable.
	pingFailures = 2
	// How long a known outage is assumed to last while nothing pings the database.
	healthTTL = 5 * time.Second
)

// health is a hub's view of the database. During an outage viewers get a notice
// that the answer continues but is not saved yet.
type health struct {
	current atomic.Int64 // number of the current outage; 0: none

	// Guarded by hub.mu.
	outages     int64
	lastFailure time.Time          // when it last counted as unavailable
	stop        context.CancelFunc // stops pingDatabase; nil: it is not running
}

func (h *health) unavailable() bool { return h.current.Load() != 0 }

// DatabaseUnavailable starts an outage now. While turns are followed, the hub's
// pings also detect outages, a little later, and when they end.
func (h *Hub) DatabaseUnavailable() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.setUnavailable(true)
}

// startPinging pings the database until stopPinging. The caller holds mu.
func (h *Hub) startPinging() {
	if h.health.stop != nil {
		return
	}
	if h.health.unavailable() && time.Since(h.health.lastFailure) > healthTTL {
		h.setUnavailable(false)
	}
	ctx, stop := context.WithCancel(context.Background())
	h.health.stop = stop
	go h.pingDatabase(ctx)
}

// stopPinging is called with mu held.
func (h *Hub) stopPinging() {
	if h.health.stop != nil {
		h.health.stop()
		h.health.stop = nil
	}
}

func (h *Hub) pingDatabase(ctx context.Context) {
	ticker := time.NewTicker(pingInterval)
	defer ticker.Stop()
	for failures := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		ping, cancel := context.WithTimeout(ctx, pingTimeout)
		err := h.store.Ping(ping)
		cancel()
		if failures++; err == nil {
			failures = 0
		}
		if failures == 0 || failures >= pingFailures {
			h.mu.Lock()
			if ctx.Err() == nil {
				h.setUnavailable(err != nil)
			}
			h.mu.Unlock()
		}
	}
}

// setUnavailable starts, continues or ends an outage. A start wakes every viewer.
// The caller holds mu.
func (h *Hub) setUnavailable(unavailable bool) {
	if unavailable {
		h.health.lastFailure = time.Now()
	}
	switch {
	case unavailable == h.health.unavailable():
		return
	case !unavailable:
		h.health.current.Store(0)
		h.log.Info("database is available again")
		return
	}
	h.health.outages++
	h.health.current.Store(h.health.outages)
	h.log.Warn("database is unavailable; answers continue and are saved later")
	for _, owners := range h.followers {
		for _, f := range owners {
			f.mu.Lock()
			f.wake()
			f.mu.Unlock()
		}
	}
}

// outage returns the number of the current outage, 0 for none.
func (f *follower) outage() int64 {
	if f.hub == nil { // a replay
		return 0
	}
	return f.hub.health.current.Load()
}
