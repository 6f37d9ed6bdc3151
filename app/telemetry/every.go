package telemetry

import (
	"sync"
	"time"
)

// throttle limits how often something, such as a log line, happens.
type throttle struct {
	mu    sync.Mutex
	pause time.Duration
	last  time.Time
}

func newThrottle(pause time.Duration) *throttle { return &throttle{pause: pause} }

func (e *throttle) due(now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.last.IsZero() && now.Sub(e.last) < e.pause {
		return false
	}
	e.last = now
	return true
}
