package bus

import (
	"sync"
	"time"
)

// noResponders is the status of a server's reply to a message without subscribers.
const noResponders = "503"

// maxUnheard bounds the turns that are remembered. When there are more, all are forgotten.
const maxUnheard = 4096

// unheard remembers the turns to which nobody subscribed a moment ago. The zero value is ready for use.
type unheard struct {
	mu    sync.Mutex
	until map[string]time.Time
}

func (u *unheard) record(turnID string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.until == nil || len(u.until) >= maxUnheard {
		u.until = map[string]time.Time{}
	}
	u.until[turnID] = time.Now().Add(unheardFor)
}

func (u *unheard) has(turnID string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	until, recorded := u.until[turnID]
	if recorded && time.Now().After(until) {
		delete(u.until, turnID)
		return false
	}
	return recorded
}
