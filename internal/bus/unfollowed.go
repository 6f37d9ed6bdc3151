package bus

import (
	"sync"
	"time"
)

// noResponders is the status of a server's reply to a message without subscribers.
const noResponders = "503"

// maxUnfollowed bounds the turns that are remembered. When there are more, all are forgotten.
const maxUnfollowed = 4096

// unfollowedTurns remembers the turns to which nobody subscribes at present. The zero value is ready for use.
type unfollowedTurns struct {
	mu    sync.Mutex
	until map[string]time.Time
}

func (u *unfollowedTurns) record(turnID string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.until == nil || len(u.until) >= maxUnfollowed {
		u.until = map[string]time.Time{}
	}
	u.until[turnID] = time.Now().Add(unfollowedFor)
}

func (u *unfollowedTurns) has(turnID string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	until, recorded := u.until[turnID]
	if recorded && time.Now().After(until) {
		delete(u.until, turnID)
		return false
	}
	return recorded
}
