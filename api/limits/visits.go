package limits

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/palaver-chat/palaver/api/identity"
)

const (
	visitTimeout = 5 * time.Second
	// Visits that are recorded at the same time. Others are recorded with a later request.
	maxVisitWrites = 4
	// Callers that a process remembers. When there are more, it forgets them all and
	// records their visits again.
	maxVisitors = 100_000
)

// visits remembers who was recorded today, so that each caller is written to the store
// once a day.
type visits struct {
	mu      sync.Mutex
	day     time.Time
	known   map[visitor]bool
	writing int
}

type visitor struct {
	owner   string
	account bool
	knownAs string // the address or name in the token
}

// Visit records in the background that a caller was active today. Data that an anonymous
// caller no longer uses is removed (docs/limits.md).
func (l *Limiter) Visit(who identity.Caller) {
	v := visitor{who.ID, !who.Anonymous, cmp.Or(who.Email, who.Name)}
	now := time.Now()
	if who.New || !l.visits.begin(v, now) {
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), visitTimeout)
		defer cancel()
		err := l.Store.Seen(ctx, v.owner, v.account, now)
		if err == nil && v.account {
			err = l.Store.Met(ctx, v.owner, v.knownAs, now)
		}
		if err != nil {
			l.Log.Debug("recording a visit failed; the next request does it", "error", err)
		}
		l.visits.end(v, err == nil)
	}()
}

// begin reports whether the visit must be recorded now.
func (s *visits) begin(v visitor, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if today := now.UTC().Truncate(24 * time.Hour); !today.Equal(s.day) || len(s.known) >= maxVisitors {
		s.day, s.known = today, map[visitor]bool{}
	}
	if s.known[v] || s.writing >= maxVisitWrites {
		return false
	}
	s.known[v] = true
	s.writing++
	return true
}

func (s *visits) end(v visitor, recorded bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writing--
	if !recorded {
		delete(s.known, v)
	}
}
