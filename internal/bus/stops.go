package bus

import (
	"context"
	"sync"
)

// generationSize is how many stopAnnouncements are kept at least. Turns that were
// stopped earlier have ended.
const generationSize = 4096

// stopAnnouncements holds the stops received and the subscribers that wait for one.
type stopAnnouncements struct {
	mu           sync.Mutex
	newer, older map[string]struct{} // two generations; the older one is dropped as a whole
	waiting      map[string]*turnStop
}

// turnStop is one turn's stop, shared by its waiters.
type turnStop struct {
	done    chan struct{}
	once    sync.Once
	waiters int
}

func (w *turnStop) notify() { w.once.Do(func() { close(w.done) }) }

func (a *stopAnnouncements) record(turnID string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.has(turnID) {
		return
	}
	if a.newer == nil || len(a.newer) >= generationSize {
		a.older, a.newer = a.newer, map[string]struct{}{}
	}
	a.newer[turnID] = struct{}{}
	if w := a.waiting[turnID]; w != nil {
		w.notify()
	}
}

func (a *stopAnnouncements) has(turnID string) bool {
	_, newer := a.newer[turnID]
	_, older := a.older[turnID]
	return newer || older
}

// wait returns a channel that is closed when the turn's stop is announced, or
// already closed if it was. Call release when done.
func (a *stopAnnouncements) wait(turnID string) (done <-chan struct{}, release func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w := a.waiting[turnID]
	if w == nil {
		w = &turnStop{done: make(chan struct{})}
		if a.has(turnID) {
			w.notify()
		}
		if a.waiting == nil {
			a.waiting = map[string]*turnStop{}
		}
		a.waiting[turnID] = w
	}
	w.waiters++
	return w.done, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if w.waiters--; w.waiters == 0 {
			delete(a.waiting, turnID)
		}
	}
}

// subscribe delivers the turn's stop, including one received earlier, until ctx or
// the bus ends, then closes the channel.
func (a *stopAnnouncements) subscribe(ctx context.Context, bus <-chan struct{}, turnID string) <-chan struct{} {
	announced, release := a.wait(turnID)
	out := make(chan struct{}, 1)
	go func() {
		defer close(out)
		defer release()
		select {
		case <-announced:
			out <- struct{}{}
		case <-ctx.Done():
			return
		case <-bus:
			return
		}
		select {
		case <-ctx.Done():
		case <-bus:
		}
	}()
	return out
}
