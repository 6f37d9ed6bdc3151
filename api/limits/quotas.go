package limits

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
)

// Pictures of one caller that no message uses yet.
const (
	maxUnused      = 64
	maxUnusedBytes = 128 << 20
	// quotaRetryAfter is Retry-After for a quota: something may have been deleted by then.
	quotaRetryAfter = time.Hour
)

// Bounds returns the bounds that the store enforces when the caller inserts rows.
func (l *Limiter) Bounds(who identity.Caller) db.Bounds {
	b := db.Bounds{
		Owner: l.Owner, BusyThreads: l.BusyTurns, Daily: l.Daily,
		Unused: db.Quota{Pictures: maxUnused, Bytes: maxUnusedBytes},
	}
	if b.BusyThreads > 0 {
		b.QueuedTurns = maxQueued
	}
	if who.Anonymous {
		b.Anonymous, b.Address = true, l.addressKey(who)
		b.PerAddress, b.Everybody = l.PerAddress, l.Everybody
	}
	return b
}

// addressKey returns the key under which a caller's address is stored.
func (l *Limiter) addressKey(who identity.Caller) string { return l.key("stored", who) }

// Insert returns the store's inserting methods, with the caller's bounds.
func (l *Limiter) Insert(who identity.Caller) db.Inserter { return l.Store.Within(l.Bounds(who)) }

// InsertTurn inserts a turn. When too many of the caller's conversations are busy, some
// may be lost: it settles those and tries once more.
func (l *Limiter) InsertTurn(ctx context.Context, who identity.Caller, turn chat.Turn) (_ chat.Turn, created, cancelled bool, err error) {
	row, created, cancelled, err := l.Insert(who).InsertTurn(ctx, turn)
	var e *db.Exceeded
	if !errors.As(err, &e) || e.Bound != db.BoundBusy && e.Bound != db.BoundQueued {
		return row, created, cancelled, err
	}
	if unsettled := l.SettleLost(ctx, who.ID); unsettled != nil {
		l.logUncheckedLimit(unsettled)
		return row, created, cancelled, err
	}
	return l.Insert(who).InsertTurn(ctx, turn)
}

// AdmitPaid counts a search or an upload that calls a model, or refuses it with 429. what
// names its counter.
func (l *Limiter) AdmitPaid(ctx context.Context, who identity.Caller, what string) error {
	if err := l.checkBudget(ctx, who); err != nil {
		return err
	}
	rate := l.rate(who)
	if rate.Limit == 0 {
		return nil
	}
	return (&Admission{l: l}).count(ctx, who, what, rate, messages.ManySearches)
}

// Spend counts what a caller's search has used against the daily budget. Best effort.
func (l *Limiter) Spend(ctx context.Context, who identity.Caller, used chat.Usage) {
	if used == (chat.Usage{}) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refundTimeout)
	defer cancel()
	address := ""
	if who.Anonymous {
		address = l.addressKey(who)
	}
	err := l.Store.Spend(ctx, who.ID, address, db.Spending{Tokens: int64(used.Tokens()), CostUSD: used.CostUSD}, time.Now())
	if err != nil {
		l.Log.Warn("counting a search against the daily budget failed", "error", err)
	}
}

// checkBudget refuses a caller whose daily budget is spent.
func (l *Limiter) checkBudget(ctx context.Context, who identity.Caller) error {
	if l.Daily == (db.Spending{}) {
		return nil
	}
	now := time.Now()
	spent, err := l.Store.Spent(ctx, who.ID, "", now)
	if err == nil {
		if e := spent.Exceeds(l.Daily, db.OfOwner); e != nil {
			return e
		}
		if !who.Anonymous {
			return nil
		}
		spent, err = l.Store.Spent(ctx, "", l.addressKey(who), now)
	}
	if err != nil {
		l.logUncheckedLimit(err)
		return nil
	}
	if e := spent.Exceeds(l.Daily, db.OfAddress); e != nil {
		return e
	}
	return nil
}

// Refusal returns the response to a request that would exceed a bound.
func Refusal(e *db.Exceeded) *problem.Problem {
	switch e.Bound {
	case db.BoundBusy:
		return problem.Limited(messages.ManyTurns, busyRetryAfter)
	case db.BoundQueued:
		return problem.Limited(messages.ManyQueued, busyRetryAfter)
	case db.BoundOpenImports:
		return problem.Limited(messages.ManyImports, busyRetryAfter)
	case db.BoundUnused:
		return problem.Limited(messages.ManyPictures, quotaRetryAfter)
	case db.BoundTokens, db.BoundCost:
		return budgetReached(e)
	}
	return Quota(quotaMessage(e))
}

// Quota is the refusal of a caller who has reached a quota.
func Quota(message messages.Message) *problem.Problem {
	return &problem.Problem{Status: http.StatusTooManyRequests, Code: chat.CodeQuota, Message: message, Wait: quotaRetryAfter}
}

func budgetReached(e *db.Exceeded) *problem.Problem {
	message := messages.BudgetOwner
	if e.Scope == db.OfAddress {
		message = messages.BudgetAddress
	}
	end := nextDay(time.Now())
	return &problem.Problem{Status: http.StatusTooManyRequests, Code: chat.CodeBudget, Wait: time.Until(end), RetryAt: end, Message: message}
}

// nextDay is when daily budgets are reset.
func nextDay(now time.Time) time.Time { return now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour) }

func quotaMessage(e *db.Exceeded) messages.Message {
	owner, space, address, everybody := messages.QuotaOwner, messages.QuotaSpace, messages.QuotaAddress, messages.QuotaEverybody
	params := messages.Params{"limit": int64(e.Limit), "stored": string(e.Bound)}
	if e.Bound == db.BoundBytes {
		owner, space, address, everybody = messages.QuotaStorageOwner, messages.QuotaStorageSpace, messages.QuotaStorageAddress, messages.QuotaStorageEverybody
		params = messages.Params{"limit": int64(e.Limit) >> 20}
	}
	switch e.Scope {
	case db.OfSpace:
		return space.With(params)
	case db.OfAddress:
		return address.With(params)
	case db.OfEverybody:
		return everybody.With(params)
	}
	return owner.With(params)
}

// Use says how much of a bound is used.
type Use struct {
	Bound    db.Bound `json:"name"`
	Used     float64  `json:"used"`
	Limit    float64  `json:"limit"`
	ResetsAt string   `json:"resets_at,omitempty"` // of daily bounds
}

// Uses returns how much of each bound a caller has used. For an anonymous caller it
// compares the caller's bound with that of the address, and returns the fuller one.
func (l *Limiter) Uses(ctx context.Context, who identity.Caller) ([]Use, error) {
	uses, err := l.usesOf(ctx, who.ID, "", l.Owner)
	if err != nil || !who.Anonymous {
		return uses, err
	}
	shared, err := l.usesOf(ctx, "", l.addressKey(who), l.PerAddress)
	return mergeFuller(uses, shared), err
}

func (l *Limiter) usesOf(ctx context.Context, owner, address string, most db.Quota) (uses []Use, err error) {
	add := func(b db.Bound, used, limit float64) {
		if limit > 0 {
			uses = append(uses, Use{Bound: b, Used: used, Limit: limit})
		}
	}
	if most != (db.Quota{}) {
		now, err := l.Store.Stored(ctx, owner, address)
		if err != nil {
			return nil, err
		}
		add(db.BoundThreads, float64(now.Threads), float64(most.Threads))
		add(db.BoundDocuments, float64(now.Documents), float64(most.Documents))
		add(db.BoundSets, float64(now.Sets), float64(most.Sets))
		add(db.BoundPictures, float64(now.Pictures), float64(most.Pictures))
		add(db.BoundBoards, float64(now.Boards), float64(most.Boards))
		add(db.BoundBytes, float64(now.Bytes), float64(most.Bytes))
	}
	if l.Daily != (db.Spending{}) {
		now := time.Now()
		spent, err := l.Store.Spent(ctx, owner, address, now)
		if err != nil {
			return nil, err
		}
		stored := len(uses)
		add(db.BoundTokens, float64(spent.Tokens), float64(l.Daily.Tokens))
		add(db.BoundCost, spent.CostUSD, l.Daily.CostUSD)
		for i := range uses[stored:] {
			uses[stored+i].ResetsAt = dialect.Stamp(nextDay(now))
		}
	}
	return uses, nil
}

// mergeFuller merges two lists; of the same bound it keeps the fuller one.
func mergeFuller(a, b []Use) []Use {
	at := map[db.Bound]int{}
	for i, u := range a {
		at[u.Bound] = i
	}
	for _, u := range b {
		i, both := at[u.Bound]
		switch {
		case !both:
			a = append(a, u)
		case u.Used*a[i].Limit > a[i].Used*u.Limit:
			a[i] = u
		}
	}
	return a
}
