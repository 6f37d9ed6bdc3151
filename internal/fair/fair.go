// Package fair shares a few slots between callers who may ask for many.
package fair

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// Slots are given to the waiting caller with the fewest, then to callers in turn: a caller
// with many requests delays another one only by those that already run.
type Slots struct {
	mu      sync.Mutex
	free    int
	given   int            // how many slots were given so far
	taken   map[string]int // by caller
	last    map[string]int // when the caller got a slot last: given at that time
	waiting []*waiter
}

type waiter struct {
	caller string
	ready  chan struct{} // closed when the slot is given
}

// New returns n slots.
func New(n int) *Slots { return &Slots{free: n, taken: map[string]int{}, last: map[string]int{}} }

// Acquire waits for a slot, or until ctx ends. Call release when the work is done.
func (s *Slots) Acquire(ctx context.Context, caller string) (release func(), _ error) {
	w := &waiter{caller, make(chan struct{})}
	s.mu.Lock()
	s.waiting = append(s.waiting, w)
	s.give()
	s.mu.Unlock()
	release = sync.OnceFunc(func() { s.release(caller) })
	select {
	case <-w.ready:
		return release, nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.waiting, w); i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
	} else { // it was given meanwhile
		s.back(caller)
	}
	return nil, ctx.Err()
}

func (s *Slots) release(caller string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.back(caller)
}

func (s *Slots) back(caller string) {
	s.free++
	if s.taken[caller]--; s.taken[caller] == 0 {
		delete(s.taken, caller)
		if !slices.ContainsFunc(s.waiting, func(w *waiter) bool { return w.caller == caller }) {
			delete(s.last, caller)
		}
	}
	s.give()
}

func (s *Slots) give() {
	for s.free > 0 && len(s.waiting) > 0 {
		next := 0
		for i, w := range s.waiting {
			first := s.waiting[next].caller
			if cmp.Or(cmp.Compare(s.taken[w.caller], s.taken[first]), cmp.Compare(s.last[w.caller], s.last[first])) < 0 {
				next = i
			}
		}
		w := s.waiting[next]
		s.waiting = slices.Delete(s.waiting, next, next+1)
		s.free--
		s.given++
		s.taken[w.caller]++
		s.last[w.caller] = s.given
		close(w.ready)
	}
}
