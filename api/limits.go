package api

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/ulule/limiter/v3"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// Limits of callers (contract, part 11). A zero value sets no limit.
type Limits struct {
	Turns      limiter.Rate // turns begun by anonymous callers at one address
	NewThreads limiter.Rate // conversations begun by anonymous callers at one address
	BusyTurns  int          // threads of one caller at work at once
	Streams    int          // open streams of one caller, in this process
}

const (
	// Turns of one caller that wait in one thread.
	maxQueued = 50
	// Uploads of one caller under way at once, in this process.
	maxUploads = 4
	// What is asked of a caller who has too much under way at once.
	busyPause = 5 * time.Second
	// A database that has no time for a count does not take it back. What is left of
	// a request's time when its deadline is over is longer.
	giveBackTimeout = 500 * time.Millisecond
)

// limits counts what callers do. What is counted by address is shared by all
// processes on one database; what is under way is counted where it is.
type limits struct {
	Limits
	shared  limiter.Store
	streams underWay
	uploads underWay
}

func newLimits(l Limits, store db.Limits) *limits {
	return &limits{Limits: l, shared: sharedCounts{store},
		streams: underWay{most: l.Streams}, uploads: underWay{most: maxUploads}}
}

// sharedCounts lets the library count in the store.
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

// admission is what a new turn was counted under, to be given back when it
// turns out to be none.
type admission struct {
	s    *server
	keys []counted
}

type counted struct {
	key  string
	rate limiter.Rate
}

// admit counts a turn that is about to be made, or refuses it with 429. A
// message sent again is not counted. With the database away nobody is refused.
// mayBeKnown: the client named it. there: whether its conversation is; nil: not known.
func (s *server) admit(ctx context.Context, who caller, turn chat.Turn, mayBeKnown bool, there *bool) (*admission, error) {
	a := &admission{s: s}
	if mayBeKnown {
		sent := db.CancelRef{ThreadID: turn.ThreadID, ClientTurnID: turn.ClientTurnID}
		if _, err := s.Store.FindTurn(ctx, who.ID, sent); err == nil {
			return a, nil
		}
	}
	if most := s.limits.BusyTurns; most > 0 {
		here, busy, err := s.Store.CountOpenTurns(ctx, who.ID, turn.ThreadID)
		if err == nil && (busy >= most || here >= maxQueued) {
			here, busy, err = s.stillBusy(ctx, who.ID, turn.ThreadID)
		}
		switch {
		case err != nil:
			s.uncounted(err)
		case busy >= most:
			return nil, tooMany("Too many of your conversations are at work at once. Please wait for one to finish.", busyPause)
		case here >= maxQueued:
			return nil, tooMany("Too many messages wait in this conversation. Please wait for some to be answered.", busyPause)
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
	if there == nil {
		_, err := s.Store.Conversation(ctx, who.ID, turn.ThreadID)
		found := !notFound(err)
		there = &found
	}
	if !*there {
		if err := a.newThread(ctx, who); err != nil {
			a.giveBack(ctx)
			return nil, err
		}
	}
	return a, nil
}

// newThread counts a conversation that is about to be begun.
func (a *admission) newThread(ctx context.Context, who caller) error {
	if a.s.limits.NewThreads.Limit == 0 || !who.Anonymous {
		return nil
	}
	return a.count(ctx, who, "threads", a.s.limits.NewThreads, "Many conversations have been started from your address. Please go on in one of them, or try again later.")
}

func (a *admission) count(ctx context.Context, who caller, what string, rate limiter.Rate, message string) error {
	key := a.s.addressKey(what, who)
	now, err := limiter.New(a.s.limits.shared, rate).Get(ctx, key)
	if err != nil {
		a.s.uncounted(err)
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
	return tooMany(message, time.Until(time.Unix(now.Reset, 0)))
}

// giveBack takes back what was counted for a turn that was not made.
func (a *admission) giveBack(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackTimeout)
	defer cancel()
	for _, c := range a.keys {
		if _, err := a.s.limits.shared.Increment(ctx, c.key, -1, c.rate); err != nil {
			a.s.uncounted(err)
		}
	}
	a.keys = nil
}

// addressKey names an address to the store without telling it: with the secret
// that signs cookies.
func (s *server) addressKey(what string, who caller) string {
	mac := hmac.New(sha256.New, s.Config.CookieSecret)
	mac.Write([]byte("palaver limit\n" + what + "\n" + household(who.Address)))
	return what + ":" + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// uncounted notes that a limit could not be checked: nobody is refused for that.
func (s *server) uncounted(err error) {
	if !errors.Is(err, context.Canceled) {
		s.Log.Warn("limit not checked", "error", err)
	}
}

func tooMany(message string, wait time.Duration) error {
	return &problem{status: http.StatusTooManyRequests, code: chat.CodeRateLimited, message: message,
		wait: max(time.Second, wait)}
}

// rateHeaders are where the answer to a counted request says how it stands.
type rateHeaders struct{ h http.Header }

func (r rateHeaders) show(now limiter.Context) {
	if r.h == nil {
		return
	}
	r.h.Set("RateLimit-Limit", strconv.FormatInt(now.Limit, 10))
	r.h.Set("RateLimit-Remaining", strconv.FormatInt(now.Remaining, 10))
	r.h.Set("RateLimit-Reset", strconv.Itoa(seconds(time.Until(time.Unix(now.Reset, 0)))))
}

// retryAfter says how long to wait; zero says nothing.
func (r rateHeaders) retryAfter(wait time.Duration) {
	if r.h != nil && wait > 0 {
		r.h.Set("Retry-After", strconv.Itoa(seconds(wait)))
	}
}

// seconds is a wait as clients are told it: whole, and never too short.
func seconds(d time.Duration) int {
	return max(1, int(math.Ceil(d.Seconds())))
}

// underWay counts what each caller has open in this process.
type underWay struct {
	most int // 0: no limit
	mu   sync.Mutex
	open map[string]int
}

// enter counts one more; call leave when it is over. ok is false when the caller
// has too many.
func (u *underWay) enter(caller string) (leave func(), ok bool) {
	if u.most <= 0 {
		return func() {}, true
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.open[caller] >= u.most {
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

// oneStream runs the handler of an open stream, unless the caller has too many.
func (s *server) oneStream(h func(*gin.Context) error) func(*gin.Context) error {
	return s.atOnce(&s.limits.streams, "You have too many open streams. Please close a tab and try again.", h)
}

// oneUpload runs the handler of an upload, unless the caller has too many.
func (s *server) oneUpload(h func(*gin.Context) error) func(*gin.Context) error {
	return s.atOnce(&s.limits.uploads, "You have too many uploads under way. Please wait for one to finish.", h)
}

func (s *server) atOnce(u *underWay, message string, h func(*gin.Context) error) func(*gin.Context) error {
	return func(c *gin.Context) error {
		leave, ok := u.enter(callerOf(c).ID)
		if !ok {
			return tooMany(message, busyPause)
		}
		defer leave()
		return h(c)
	}
}
