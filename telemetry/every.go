package telemetry

import (
	"sync"
	"time"
)

// every says whether something that may happen often is due again.
type every struct {
	mu    sync.Mutex
	pause time.Duration
	last  time.Time
}

func newEvery(pause time.Duration) *every { return &every{pause: pause} }

func (e *every) due(now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.last.IsZero() && now.Sub(e.last) < e.pause {
		return false
	}
	e.last = now
	return true
}
