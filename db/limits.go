package db

import (
	"context"
	"time"
)

// Limits counts requests per rate-limit key, in fixed windows that all processes on
// one database share. The first request of a key begins its window.
//
// The stores keep only a digest of a key. That does not protect keys that can be
// guessed, such as addresses: pass a digest made with a secret instead.
//
// It can implement the Store of github.com/ulule/limiter/v3: Get and Increment are
// Count, Peek is Counted, Reset is ForgetCount.
type Limits interface {
	// Count atomically adds n to key's window and returns it. A window that has
	// ended is replaced by a new one. The store keeps a digest of key only.
	Count(ctx context.Context, key string, n int64, window time.Duration, now time.Time) (Window, error)
	// Counted reads key's window; it neither adds nor begins one.
	Counted(ctx context.Context, key string, window time.Duration, now time.Time) (Window, error)
	// ForgetCount ends key's window.
	ForgetCount(ctx context.Context, key string) error
}

// Window is a count and when it is reset.
type Window struct {
	Count int64
	Reset time.Time
}

// Take counts one request and returns whether it is within limit, how many remain
// and when the window ends. A refused request counts too, but does not extend the
// window.
func Take(ctx context.Context, l Limits, key string, limit int64, window time.Duration, now time.Time) (remaining int64, reset time.Time, ok bool, err error) {
	w, err := l.Count(ctx, key, 1, window, now)
	return max(limit-w.Count, 0), w.Reset, err == nil && w.Count <= limit, err
}
