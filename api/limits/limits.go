// Package limits limits what callers may do: turns, conversations, streams and uploads.
package limits

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/ulule/limiter/v3"

	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// Config has the limits of callers (docs/contract.md). A zero value sets no limit.
type Config struct {
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

// Store is what a Limiter needs of the database.
type Store interface {
	db.Limits
	FindTurn(ctx context.Context, owner string, ref db.CancelRef) (chat.Turn, error)
	CountOpenTurns(ctx context.Context, owner, threadID string) (here, busy int, err error)
	Conversation(ctx context.Context, owner, id string) (chat.Conversation, error)
}

// Limiter counts what callers do. Counts by address are shared by all processes on one
// database; concurrent streams and uploads are counted per process.
type Limiter struct {
	Config
	Store Store
	// Recount settles the owner's lost turns and counts the open ones again.
	Recount func(ctx context.Context, owner, threadID string) (here, busy int, err error)
	Key     []byte // hides addresses from the store
	Log     *slog.Logger

	streams inFlight
	uploads inFlight
	exports inFlight
}

func (l *Limiter) shared() limiter.Store { return sharedCounts{l.Store} }

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

// Admission records what was counted for a new turn, so that Refund can undo it when
// no turn is created.
type Admission struct {
	l    *Limiter
	keys []counted
}

type counted struct {
	key  string
	rate limiter.Rate
}

// Admit counts a turn before it is created, or refuses it with 429. A repeated
// message is not counted. While the database is unavailable nothing is refused.
// mayBeKnown means that the client sent an id, so that the message may be a repeat.
// exists says whether its conversation exists; nil: unknown.
func (l *Limiter) Admit(ctx context.Context, who identity.Caller, turn chat.Turn, mayBeKnown bool, exists *bool) (*Admission, error) {
	a := &Admission{l: l}
	if mayBeKnown {
		sent := db.CancelRef{ThreadID: turn.ThreadID, ClientTurnID: turn.ClientTurnID}
		if _, err := l.Store.FindTurn(ctx, who.ID, sent); err == nil {
			return a, nil
		}
	}
	if limit := l.BusyTurns; limit > 0 {
		here, busy, err := l.Store.CountOpenTurns(ctx, who.ID, turn.ThreadID)
		if err == nil && (busy >= limit || here >= maxQueued) {
			here, busy, err = l.Recount(ctx, who.ID, turn.ThreadID)
		}
		switch {
		case err != nil:
			l.logUncheckedLimit(err)
		case busy >= limit:
			return nil, problem.TooMany("Too many of your conversations are at work at once. Please wait for one to finish.", busyRetryAfter)
		case here >= maxQueued:
			return nil, problem.TooMany("Too many messages wait in this conversation. Please wait for some to be answered.", busyRetryAfter)
		}
	}
	if !who.Anonymous {
		return a, nil
	}
	if l.Turns.Limit > 0 {
		if err := a.count(ctx, who, "turns", l.Turns, "You have sent many messages in a short time. Please wait a moment."); err != nil {
			return nil, err
		}
	}
	if exists == nil {
		_, err := l.Store.Conversation(ctx, who.ID, turn.ThreadID)
		found := !errors.Is(err, db.ErrNotFound)
		exists = &found
	}
	if !*exists {
		if err := a.newThread(ctx, who); err != nil {
			a.Refund(ctx)
			return nil, err
		}
	}
	return a, nil
}

// AdmitThread counts a conversation before it is created without a turn, or refuses it
// with 429.
func (l *Limiter) AdmitThread(ctx context.Context, who identity.Caller) error {
	return (&Admission{l: l}).newThread(ctx, who)
}

// newThread counts a conversation before it is created.
func (a *Admission) newThread(ctx context.Context, who identity.Caller) error {
	if a.l.NewThreads.Limit == 0 || !who.Anonymous {
		return nil
	}
	return a.count(ctx, who, "threads", a.l.NewThreads, "Many conversations have been started from your address. Please go on in one of them, or try again later.")
}

func (a *Admission) count(ctx context.Context, who identity.Caller, what string, rate limiter.Rate, message string) error {
	key := a.l.key(what, who)
	now, err := limiter.New(a.l.shared(), rate).Get(ctx, key)
	if err != nil {
		a.l.logUncheckedLimit(err)
		return nil
	}
	if !now.Reached {
		a.keys = append(a.keys, counted{key, rate})
		if what == "turns" {
			show(who.Header, now)
		}
		return nil
	}
	show(who.Header, now)
	return problem.TooMany(message, time.Until(time.Unix(now.Reset, 0)))
}

// Refund undoes the counts for a turn that was not created.
func (a *Admission) Refund(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refundTimeout)
	defer cancel()
	for _, c := range a.keys {
		if _, err := a.l.shared().Increment(ctx, c.key, -1, c.rate); err != nil {
			a.l.logUncheckedLimit(err)
		}
	}
	a.keys = nil
}

// key hides the address from the store: it is an HMAC with the secret that
// signs cookies.
func (l *Limiter) key(what string, who identity.Caller) string {
	mac := hmac.New(sha256.New, l.Key)
	mac.Write([]byte("palaver limit\n" + what + "\n" + rateLimitPrefix(who.Address)))
	return what + ":" + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// rateLimitPrefix returns the network that is limited as one client: the /64 of an
// IPv6 address, because one client has all of it; else the address.
func rateLimitPrefix(a netip.Addr) string {
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}

// logUncheckedLimit logs that a limit could not be checked. The request is allowed.
func (l *Limiter) logUncheckedLimit(err error) {
	if !errors.Is(err, context.Canceled) {
		l.Log.Warn("rate limit could not be checked; request allowed", "error", err)
	}
}

// show writes the RateLimit headers of an answer.
func show(h http.Header, now limiter.Context) {
	h.Set("RateLimit-Limit", strconv.FormatInt(now.Limit, 10))
	h.Set("RateLimit-Remaining", strconv.FormatInt(now.Remaining, 10))
	h.Set("RateLimit-Reset", strconv.Itoa(problem.Seconds(time.Until(time.Unix(now.Reset, 0)))))
}

// inFlight counts each caller's open requests of one kind in this process.
type inFlight struct {
	mu   sync.Mutex
	open map[string]int
}

// acquire counts one more; call release when it ends. ok is false when the caller
// has limit of them already. A limit of 0 is none.
func (u *inFlight) acquire(caller string, limit int) (release func(), ok bool) {
	if limit <= 0 {
		return func() {}, true
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.open[caller] >= limit {
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

// OneStream runs the handler of a stream, unless the caller has too many open.
func (l *Limiter) OneStream(h func(*gin.Context) error) func(*gin.Context) error {
	return limitConcurrent(&l.streams, l.Streams, "You have too many open streams. Please close a tab and try again.", h)
}

// OneUpload runs the handler of an upload, unless the caller has too many in flight.
func (l *Limiter) OneUpload(h func(*gin.Context) error) func(*gin.Context) error {
	return limitConcurrent(&l.uploads, maxUploads, "You have too many uploads under way. Please wait for one to finish.", h)
}

func limitConcurrent(u *inFlight, limit int, message string, h func(*gin.Context) error) func(*gin.Context) error {
	return func(c *gin.Context) error {
		release, ok := u.acquire(identity.Of(c).ID, limit)
		if !ok {
			return problem.TooMany(message, busyRetryAfter)
		}
		defer release()
		return h(c)
	}
}
