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
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
)

// Config has the limits of callers (docs/limits.md). A zero value sets no limit.
type Config struct {
	Turns          limiter.Rate // turns started by anonymous callers at one address
	UserTurns      limiter.Rate // turns started by one caller with an account
	Changes        limiter.Rate // of boards, and imports, each: by one caller, or anonymous callers at one address
	LargeBodies    limiter.Rate // JSON over 1 MB: of one caller with an account, or anonymous callers at one address
	NewThreads     limiter.Rate // conversations started by anonymous callers at one address
	BusyTurns      int          // threads of one caller that may run turns at the same time
	Streams        int          // open streams of one caller, in this process
	AddressStreams int          // open streams of anonymous callers at one address, in this process

	Owner      db.Quota    // what one caller may store
	PerAddress db.Quota    // what anonymous callers at one address may store
	Everybody  db.Quota    // what all anonymous callers may store
	Daily      db.Spending // what the turns of one caller, or of one address, may use in a day
}

const (
	// How many turns of one caller may wait in one thread.
	maxQueued = 50
	// Concurrent uploads in this process: of one caller, of anonymous callers at one
	// address, and in all.
	maxUploads        = 4
	maxAddressUploads = 8
	maxAllUploads     = 64
	// Downloads of files at once, and large bodies that are received and parsed at once.
	maxDownloads        = 16
	maxAddressDownloads = 24
	maxAllDownloads     = 256
	maxLarge            = 4
	maxAddressLarge     = 8
	// Retry-After for a caller who has too much in flight.
	busyRetryAfter = 5 * time.Second
	// Timeout for undoing a count. It is shorter than the time that remains to answer
	// after a request's deadline.
	refundTimeout = 500 * time.Millisecond
)

// Store is what a Limiter needs of the database.
type Store interface {
	db.Limits
	db.Quotas
	FindTurn(ctx context.Context, owner string, ref db.CancelRef) (chat.Turn, error)
	Conversation(ctx context.Context, owner, id string) (chat.Conversation, error)
	Seen(ctx context.Context, owner string, account bool, at time.Time) error
	Met(ctx context.Context, owner, knownAs string, at time.Time) error
}

// Limiter counts what callers do. Counts by address are shared by all processes on one
// database; concurrent streams and uploads are counted per process.
type Limiter struct {
	Config
	Store Store
	// SettleLost settles the owner's lost turns, which count as busy.
	SettleLost func(ctx context.Context, owner string) error
	Key        []byte // secret of the HMAC that hides addresses from the store
	Log        *slog.Logger

	streams inFlight
	uploads inFlight
	visits  visits
	exports inFlight

	downloads, large inFlight
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
	keys []countedKey
}

type countedKey struct {
	key  string
	rate limiter.Rate
}

// Admit counts a turn before it is created, or refuses it with 429. A repeated
// message is not counted. While the database is unavailable nothing is refused.
// mayBeKnown means that the client sent an id, so that the message may be a repeat.
// exists says whether its conversation exists; nil: unknown.
func (l *Limiter) Admit(ctx context.Context, who identity.Caller, turn chat.Turn, mayBeKnown bool, exists *bool) (*Admission, error) {
	a := &Admission{l: l}
	rate := l.rate(who)
	if rate.Limit == 0 && !l.limitsNewThreads(who) {
		return a, nil
	}
	if mayBeKnown {
		sent := db.CancelRef{ThreadID: turn.ThreadID, ClientTurnID: turn.ClientTurnID}
		if _, err := l.Store.FindTurn(ctx, who.ID, sent); err == nil {
			return a, nil
		}
	}
	if rate.Limit > 0 {
		if err := a.count(ctx, who, "turns", rate, messages.ManyMessages); err != nil {
			return nil, err
		}
	}
	if !l.limitsNewThreads(who) {
		return a, nil
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
func (l *Limiter) AdmitThread(ctx context.Context, who identity.Caller) (*Admission, error) {
	a := &Admission{l: l}
	return a, a.newThread(ctx, who)
}

// AdmitProfile counts a change of an anonymous caller's profile, keys or accounts, or
// refuses it with 429: each new caller adds a row.
func (l *Limiter) AdmitProfile(ctx context.Context, who identity.Caller) error {
	if !l.limitsNewThreads(who) {
		return nil
	}
	return (&Admission{l: l}).count(ctx, who, "profiles", l.NewThreads, messages.ManyFromAddress)
}

// AdmitChange counts a change of a caller's data, or refuses it with 429. what names its
// counter.
func (l *Limiter) AdmitChange(ctx context.Context, who identity.Caller, what string) error {
	if l.Changes.Limit == 0 {
		return nil
	}
	return (&Admission{l: l}).count(ctx, who, what, l.Changes, messages.ManyChanges)
}

// LargeBodiesPerMinute is how many JSON bodies over 1 MB one address, or account, may send.
const LargeBodiesPerMinute = 60

// VisitsPerMinute is how often one address may open shared links.
const VisitsPerMinute = 120

// AdmitVisit counts that somebody opens a shared link, or refuses it with 429. shown is
// the response header, for the RateLimit headers.
func (l *Limiter) AdmitVisit(ctx context.Context, address netip.Addr, shown http.Header) error {
	visitor := identity.Caller{Anonymous: true, Address: address, Header: shown}
	return (&Admission{l: l}).count(ctx, visitor, "visits", limiter.Rate{Period: time.Minute, Limit: VisitsPerMinute}, messages.ManyVisits)
}

// rate is how many turns a caller may start.
func (l *Limiter) rate(who identity.Caller) limiter.Rate {
	if who.Anonymous {
		return l.Turns
	}
	return l.UserTurns
}

func (l *Limiter) limitsNewThreads(who identity.Caller) bool {
	return l.NewThreads.Limit > 0 && who.Anonymous
}

// newThread counts a conversation before it is created.
func (a *Admission) newThread(ctx context.Context, who identity.Caller) error {
	if !a.l.limitsNewThreads(who) {
		return nil
	}
	return a.count(ctx, who, "threads", a.l.NewThreads, messages.ManyConversations)
}

func (a *Admission) count(ctx context.Context, who identity.Caller, what string, rate limiter.Rate, message messages.Message) error {
	key := a.l.key(what, who)
	now, err := limiter.New(a.l.shared(), rate).Get(ctx, key)
	if err != nil {
		a.l.logUncheckedLimit(err)
		return nil
	}
	if !now.Reached {
		a.keys = append(a.keys, countedKey{key, rate})
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

// key returns the rate-limit key: anonymous callers at one address (and in one origin's frame) share a key, any other
// caller has their own. The key hides the address and the user id from the store: it is an
// HMAC with the secret that signs cookies.
func (l *Limiter) key(what string, who identity.Caller) string {
	of := "user " + who.ID
	if who.Anonymous {
		of = anonymousAt(who, 64) // one client has all of a /64
	}
	mac := hmac.New(sha256.New, l.Key)
	mac.Write([]byte("palaver limit\n" + what + "\n" + of))
	return what + ":" + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// anonymousAt returns what anonymous callers are counted by: their address and, of our page
// in a frame, the origin of the page around it. IPv6 addresses count by their first bits.
func anonymousAt(who identity.Caller, bits int) string {
	at := networkOf(who.Address, bits)
	if who.Frame != "" {
		at += " in " + who.Frame
	}
	return at
}

// networkOf returns an IPv6 address's network of the given bits; else the address.
func networkOf(a netip.Addr, bits int) string {
	if a.Is6() {
		if p, err := a.Prefix(bits); err == nil {
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

// inFlight counts open requests of one kind in this process.
type inFlight struct {
	mu   sync.Mutex
	open map[string]int
}

// place is a counter of open requests and its limit; 0: no limit.
type place struct {
	key   string
	limit int
	// How many places all anonymous callers have. One address may take a third of those
	// that are free, and always one: few addresses never take them all.
	share int
}

// anonymousPlace is the key of the place of all anonymous callers.
const anonymousPlace = "anonymous"

// acquire counts one more in all places; call release when it ends. ok is false when one
// of them is full.
func (u *inFlight) acquire(places []place) (release func(), ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, p := range places {
		if p.limit > 0 && u.open[p.key] >= p.limit {
			return nil, false
		}
		if p.share > 0 && u.open[p.key] >= max(1, (p.share-u.open[anonymousPlace])/3) {
			return nil, false
		}
	}
	if u.open == nil {
		u.open = map[string]int{}
	}
	for _, p := range places {
		u.open[p.key]++
	}
	return func() { u.release(places) }, true
}

func (u *inFlight) release(places []place) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, p := range places {
		if u.open[p.key]--; u.open[p.key] <= 0 {
			delete(u.open, p.key)
		}
	}
}

// OneStream wraps the handler of a stream. It answers 429 if the caller has too many open
// streams.
func (l *Limiter) OneStream(h func(*gin.Context) error) func(*gin.Context) error {
	return l.limitConcurrent(&l.streams, concurrency{l.Streams, l.AddressStreams, 0}, messages.ManyStreams, h)
}

// OneDownload wraps the handler that sends a file. It answers 429 if too many downloads are
// under way.
func (l *Limiter) OneDownload(h func(*gin.Context) error) func(*gin.Context) error {
	return l.limitConcurrent(&l.downloads, concurrency{maxDownloads, maxAddressDownloads, maxAllDownloads}, messages.ManyFiles, h)
}

// AdmitLarge counts a large body before it is received, or refuses it with 429. Call release
// when it was parsed.
func (l *Limiter) AdmitLarge(ctx context.Context, who identity.Caller) (release func(), _ error) {
	release, ok := l.large.acquire(concurrency{caller: maxLarge, address: maxAddressLarge}.places(who))
	if !ok {
		return nil, problem.TooMany(messages.ManyFiles, busyRetryAfter)
	}
	if l.LargeBodies.Limit == 0 {
		return release, nil
	}
	if err := (&Admission{l: l}).count(ctx, who, "large", l.LargeBodies, messages.ManyMessages); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// OneUpload wraps the handler of an upload. It answers 429 if too many uploads are in
// flight.
func (l *Limiter) OneUpload(h func(*gin.Context) error) func(*gin.Context) error {
	return l.limitConcurrent(&l.uploads, concurrency{maxUploads, maxAddressUploads, maxAllUploads}, messages.ManyUploads, h)
}

// concurrency is how many requests of one kind may be open: of one caller, of anonymous
// callers at one address, and in all. 0: no limit. Half of all is kept for callers with an
// account, and IPv6 addresses count by /56, which many providers give to one client.
type concurrency struct{ caller, address, all int }

func (most concurrency) places(who identity.Caller) []place {
	places := []place{{key: "caller " + who.ID, limit: most.caller}, {key: "all", limit: most.all}}
	if who.Anonymous {
		places = append(places, place{key: anonymousPlace, limit: most.all / 2},
			place{key: "address " + anonymousAt(who, 56), limit: most.address, share: most.all / 2})
	}
	return places
}

func (l *Limiter) limitConcurrent(u *inFlight, most concurrency, message messages.Message, h func(*gin.Context) error) func(*gin.Context) error {
	return func(c *gin.Context) error {
		release, ok := u.acquire(most.places(identity.Of(c)))
		if !ok {
			return problem.TooMany(message, busyRetryAfter)
		}
		defer release()
		return h(c)
	}
}
