package identity

import (
	"context"
	"sync"
	"time"

	"github.com/palaver-chat/palaver/db"
)

// Sessions stores which generation of a user's cookies is the first valid one.
type Sessions interface {
	// SessionGeneration is 0 for a user who never ended their sessions.
	SessionGeneration(ctx context.Context, owner string) (int64, error)
	// EndSessions raises the generation and returns it.
	EndSessions(ctx context.Context, owner string) (int64, error)
}

const (
	// How long other processes may accept a cookie that was revoked.
	revocationsReadEvery = 30 * time.Second
	// Timeout of one read. If the read fails, the cookie counts as valid, also while the
	// database is unavailable.
	revocationsTimeout = time.Second
	// The most users whose generation is kept in memory.
	maxRevocations = 10_000
)

// revocations keeps the generations of recent callers in memory, so that most requests do
// not read the database.
type revocations struct {
	sessions Sessions

	mu    sync.Mutex
	known map[string]generation
}

type generation struct {
	first int64 // first valid generation
	until time.Time
}

// valid reports whether a session was not ended: its generation is at least the first
// valid one of its user.
func (v *revocations) valid(ctx context.Context, s session) bool {
	if v.sessions == nil {
		return true
	}
	known, fresh := v.get(s.user)
	if !fresh {
		ctx, cancel := context.WithTimeout(ctx, revocationsTimeout)
		defer cancel()
		if first, err := v.sessions.SessionGeneration(ctx, s.user); err == nil {
			known = max(known, first)
		}
		v.put(s.user, known)
	}
	return s.generation >= known
}

// end ends a user's sessions.
func (v *revocations) end(ctx context.Context, user string) (int64, error) {
	first, err := v.sessions.EndSessions(ctx, user)
	if err == nil {
		v.put(user, first)
	}
	return first, err
}

// refuseCookies refuses all cookies of a user who has an account, from now on and in this
// process. The store records it with the user's visit (db.Visitors).
func (v *revocations) refuseCookies(user string) {
	if isCookieUser(user) {
		v.put(user, db.NoCookies)
	}
}

func (v *revocations) get(user string) (first int64, fresh bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	g, known := v.known[user]
	return g.first, known && time.Now().Before(g.until)
}

func (v *revocations) put(user string, first int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.known == nil || len(v.known) >= maxRevocations {
		v.known = map[string]generation{}
	}
	v.known[user] = generation{max(first, v.known[user].first), time.Now().Add(revocationsReadEvery)}
}
