// Package memlimit bounds the memory that one kind of work takes in a process.
package memlimit

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// Limit bounds how many bytes of memory may be in use at once. A nil Limit has no bound.
type Limit struct {
	free *semaphore.Weighted
	all  int64
}

// New returns a limit of the given number of bytes, or nil if it is 0 or less.
func New(bytes int64) *Limit {
	if bytes <= 0 {
		return nil
	}
	return &Limit{semaphore.NewWeighted(bytes), bytes}
}

// Acquire waits, in the order of the calls, until the given bytes are free or ctx ends.
// Work that needs more than the whole limit takes the whole limit. Call release when the
// work is done.
func (l *Limit) Acquire(ctx context.Context, bytes int64) (release func(), _ error) {
	if l == nil {
		return func() {}, nil
	}
	n := min(max(bytes, 0), l.all)
	if err := l.free.Acquire(ctx, n); err != nil {
		return nil, err
	}
	return func() { l.free.Release(n) }, nil
}
