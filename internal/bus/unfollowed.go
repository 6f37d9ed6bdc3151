package bus

import (
	"sync"
	"time"
)

// noResponders is the status of a server's reply to a message without subscribers.
const noResponders = "503"

// maxUnfollowed bounds the turns that are remembered. When there are more, all are forgotten.
const maxUnfollowed = 4096

// unfollowed remembers the turns to which nobody subscribes at present. The zero value is ready for use.
type unfollowed struct {
	mu    sync.Mutex
	until map[string]time.Time
}

func (u *unfollowed) record(turnID string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.until == nil || len(u.until) >= maxUnfollowed {
		u.until = map[string]time.Time{}
	}
	u.until[turnID] = time.Now().Add(unfollowedFor)
}

func (u *unfollowed) has(turnID string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	until, recorded := u.until[turnID]
	if recorded && time.Now().After(until) {
		delete(u.until, turnID)
		return false
	}
	return recorded
}
