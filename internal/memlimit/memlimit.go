// Package memlimit bounds the memory that one kind of work takes in a process.
package memlimit

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// Limit is how many bytes of memory may be in use at once. A nil Limit is none.
type Limit struct {
	free *semaphore.Weighted
	all  int64
}

// New makes a limit of that many bytes; 0: nil.
func New(bytes int64) *Limit {
	if bytes <= 0 {
		return nil
	}
	return &Limit{semaphore.NewWeighted(bytes), bytes}
}

// Acquire waits until so many bytes are free, in the order of the calls, or ctx ends.
// Work that needs more than there is gets all of it. Call release when it is done.
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
