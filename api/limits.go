package api

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/ulule/limiter/v3"

	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// Limits of callers (docs/contract.md). A zero value sets no limit.
type Limits struct {
	Turns      limiter.Rate // turns started by anonymous callers at one address
	NewThreads limiter.Rate // conversations started by anonymous callers at one address
	BusyTurns  int          // threads of one caller that may run turns at the same time
	Streams    int          // open streams of one caller, in this process
}

const (
	// How many turns of one caller may wait in one thread.
	maxQueued = 50
	// Concurrent uploads of one caller, in this process.
	maxUploads = 4
	// Retry-After for a caller who has too much in flight.
	busyRetryAfter = 5 * time.Second
	// Timeout for undoing a count. It is shorter than the time that remains to answer
	// after a request's deadline.
	refundTimeout = 500 * time.Millisecond
)

// limits counts what callers do. Counts by address are shared by all processes on
// one database; concurrent streams and uploads are counted per process.
type limits struct {
	Limits
	shared  limiter.Store
	streams inFlight
	uploads inFlight
}

func newLimits(l Limits, store db.Limits) *limits {
	return &limits{Limits: l, shared: sharedCounts{store},
		streams: inFlight{limit: l.Streams}, uploads: inFlight{limit: maxUploads}}
}

// sharedCounts makes the limiter library count in the store.
type sharedCounts struct{ db.Limits }

func (c sharedCounts) Increment(ctx context.Context, key string, n int64, rate limiter.Rate) (limiter.Context, error) {
	return verdict(rate)(c.Count(ctx, key, n, rate.Period, time.Now()))
}

func (c sharedCounts) Get(ctx context.Context, key string, rate limiter.Rate) (limiter.Context, error) {
	return c.Increment(ctx, key, 1, rate)
}

func (c sharedCounts) Peek(ctx context.Context, key string, rate limiter.Rate) (limiter.Context, error) {
	return verdict(rate)(c.Counted(ctx, key, rate.Period, time.Now()))
}

func (c sharedCounts) Reset(ctx context.Context, key string, rate limiter.Rate) (limiter.Context, error) {
	if err := c.ForgetCount(ctx, key); err != nil {
		return limiter.Context{}, err
	}
	return c.Peek(ctx, key, rate)
}

func verdict(rate limiter.Rate) func(db.Window, error) (limiter.Context, error) {
	return func(w db.Window, err error) (limiter.Context, error) {
		if err != nil {
			return limiter.Context{}, err
		}
		return limiter.Context{
			Limit: rate.Limit, Remaining: max(0, rate.Limit-w.Count), Reset: w.Reset.Unix(), Reached: w.Count > rate.Limit,
		}, nil
	}
}

// admission records what was counted for a new turn, so that refund can undo it when
// no turn is created.
type admission struct {
	s    *server
	keys []counted
}

type counted struct {
	key  string
	rate limiter.Rate
}

// admit counts a turn before it is created, or refuses it with 429. A repeated
// message is not counted. While the database is unavailable nothing is refused.
// mayBeKnown means that the client sent an id, so that the message may be a repeat.
// exists says whether its conversation exists; nil: unknown.
func (s *server) admit(ctx context.Context, who caller, turn chat.Turn, mayBeKnown bool, exists *bool) (*admission, error) {
	a := &admission{s: s}
	if mayBeKnown {
		sent := db.CancelRef{ThreadID: turn.ThreadID, ClientTurnID: turn.ClientTurnID}
		if _, err := s.Store.FindTurn(ctx, who.ID, sent); err == nil {
			return a, nil
		}
	}
	if limit := s.limits.BusyTurns; limit > 0 {
		here, busy, err := s.Store.CountOpenTurns(ctx, who.ID, turn.ThreadID)
		if err == nil && (busy >= limit || here >= maxQueued) {
			here, busy, err = s.recountBusy(ctx, who.ID, turn.ThreadID)
		}
		switch {
		case err != nil:
			s.logUncheckedLimit(err)
		case busy >= limit:
			return nil, problem.TooMany("Too many of your conversations are at work at once. Please wait for one to finish.", busyRetryAfter)
		case here >= maxQueued:
			return nil, problem.TooMany("Too many messages wait in this conversation. Please wait for some to be answered.", busyRetryAfter)
		}
	}
	if !who.Anonymous {
		return a, nil
	}
	if s.limits.Turns.Limit > 0 {
		if err := a.count(ctx, who, "turns", s.limits.Turns, "You have sent many messages in a short time. Please wait a moment."); err != nil {
			return nil, err
		}
	}
	if exists == nil {
		_, err := s.Store.Conversation(ctx, who.ID, turn.ThreadID)
		found := !notFound(err)
		exists = &found
	}
	if !*exists {
		if err := a.newThread(ctx, who); err != nil {
			a.refund(ctx)
			return nil, err
		}
	}
	return a, nil
}

// newThread counts a conversation before it is created.
func (a *admission) newThread(ctx context.Context, who caller) error {
	if a.s.limits.NewThreads.Limit == 0 || !who.Anonymous {
		return nil
	}
	return a.count(ctx, who, "threads", a.s.limits.NewThreads, "Many conversations have been started from your address. Please go on in one of them, or try again later.")
}

func (a *admission) count(ctx context.Context, who caller, what string, rate limiter.Rate, message string) error {
	key := a.s.rateLimitKey(what, who)
	now, err := limiter.New(a.s.limits.shared, rate).Get(ctx, key)
	if err != nil {
		a.s.logUncheckedLimit(err)
		return nil
	}
	if !now.Reached {
		a.keys = append(a.keys, counted{key, rate})
		if what == "turns" {
			who.rate.show(now)
		}
		return nil
	}
	who.rate.show(now)
	return problem.TooMany(message, time.Until(time.Unix(now.Reset, 0)))
}

// refund undoes the counts for a turn that was not created.
func (a *admission) refund(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refundTimeout)
	defer cancel()
	for _, c := range a.keys {
		if _, err := a.s.limits.shared.Increment(ctx, c.key, -1, c.rate); err != nil {
			a.s.logUncheckedLimit(err)
		}
	}
	a.keys = nil
}

// rateLimitKey hides the address from the store: it is an HMAC with the secret that
// signs cookies.
func (s *server) rateLimitKey(what string, who caller) string {
	mac := hmac.New(sha256.New, s.Config.CookieSecret)
	mac.Write([]byte("palaver limit\n" + what + "\n" + rateLimitPrefix(who.Address)))
	return what + ":" + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// logUncheckedLimit logs that a limit could not be checked. The request is allowed.
func (s *server) logUncheckedLimit(err error) {
	if !errors.Is(err, context.Canceled) {
		s.Log.Warn("rate limit could not be checked; request allowed", "error", err)
	}
}

// rateHeaders writes the RateLimit headers of an answer.
type rateHeaders struct{ h http.Header }

func (r rateHeaders) show(now limiter.Context) {
	if r.h == nil {
		return
	}
	r.h.Set("RateLimit-Limit", strconv.FormatInt(now.Limit, 10))
	r.h.Set("RateLimit-Remaining", strconv.FormatInt(now.Remaining, 10))
	r.h.Set("RateLimit-Reset", strconv.Itoa(problem.Seconds(time.Until(time.Unix(now.Reset, 0)))))
}

// inFlight counts each caller's open requests of one kind in this process.
type inFlight struct {
	limit int // 0: no limit
	mu    sync.Mutex
	open  map[string]int
}

// acquire counts one more; call release when it ends. ok is false when the caller
// has too many.
func (u *inFlight) acquire(caller string) (release func(), ok bool) {
	if u.limit <= 0 {
		return func() {}, true
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.open[caller] >= u.limit {
		return nil, false
	}
	if u.open == nil {
		u.open = map[string]int{}
	}
	u.open[caller]++
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.open[caller]--; u.open[caller] <= 0 {
			delete(u.open, caller)
		}
	}, true
}

// oneStream runs the handler of a stream, unless the caller has too many open.
func (s *server) oneStream(h func(*gin.Context) error) func(*gin.Context) error {
	return s.limitConcurrent(&s.limits.streams, "You have too many open streams. Please close a tab and try again.", h)
}

// oneUpload runs the handler of an upload, unless the caller has too many in flight.
func (s *server) oneUpload(h func(*gin.Context) error) func(*gin.Context) error {
	return s.limitConcurrent(&s.limits.uploads, "You have too many uploads under way. Please wait for one to finish.", h)
}

func (s *server) limitConcurrent(u *inFlight, message string, h func(*gin.Context) error) func(*gin.Context) error {
	return func(c *gin.Context) error {
		release, ok := u.acquire(callerOf(c).ID)
		if !ok {
			return problem.TooMany(message, busyRetryAfter)
		}
		defer release()
		return h(c)
	}
}
