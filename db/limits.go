package db

import (
	"context"
	"time"
)

// Limits counts what callers do, in fixed windows that all processes on one
// database share. A caller's first act begins a window; what is done in it
// counts until it is over.
//
// Of a key the stores keep a digest only. It does not hide what can be guessed:
// for an address, hand in a digest made with a secret.
//
// It has what the Store of github.com/ulule/limiter/v3 needs: Get and Increment
// are Count, Peek is Counted, Reset is ForgetCount.
type Limits interface {
	// Count adds n to what key's window holds, at one stroke, and returns the
	// window. One that was over by now is replaced by a new one.
	Count(ctx context.Context, key string, n int64, window time.Duration, now time.Time) (Window, error)
	// Counted is Count without adding anything or beginning a window.
	Counted(ctx context.Context, key string, window time.Duration, now time.Time) (Window, error)
	// ForgetCount ends key's window.
	ForgetCount(ctx context.Context, key string) error
}

// Window is what was counted and when that is forgotten.
type Window struct {
	Count int64
	Reset time.Time
}

// Take counts one and says whether that was within limit, how many are left
// and when there will be limit again. What is refused counts too, but does not
// make the window longer.
func Take(ctx context.Context, l Limits, key string, limit int64, window time.Duration, now time.Time) (remaining int64, reset time.Time, ok bool, err error) {
	w, err := l.Count(ctx, key, 1, window, now)
	return max(limit-w.Count, 0), w.Reset, err == nil && w.Count <= limit, err
}
