package stream

import "sync"

// remembered is how many announcements are kept at least; a turn that was
// stopped before those has long ended.
const remembered = 4096

// announcements are the stops heard of, and those who wait for one.
type announcements struct {
	mu           sync.Mutex
	newer, older map[string]struct{} // two generations: the older is dropped whole
	waiting      map[string]*announced
}

// announced is one turn's stop, shared by those who wait for it.
type announced struct {
	done    chan struct{}
	once    sync.Once
	waiters int
}

func (w *announced) tell() { w.once.Do(func() { close(w.done) }) }

func (a *announcements) heard(turnID string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.has(turnID) {
		return
	}
	if a.newer == nil || len(a.newer) >= remembered {
		a.older, a.newer = a.newer, map[string]struct{}{}
	}
	a.newer[turnID] = struct{}{}
	if w := a.waiting[turnID]; w != nil {
		w.tell()
	}
}

func (a *announcements) has(turnID string) bool {
	_, newer := a.newer[turnID]
	_, older := a.older[turnID]
	return newer || older
}

// of is closed when the turn's stop is announced, at once when it was. leave
// must be called.
func (a *announcements) of(turnID string) (done <-chan struct{}, leave func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w := a.waiting[turnID]
	if w == nil {
		w = &announced{done: make(chan struct{})}
		if a.has(turnID) {
			w.tell()
		}
		if a.waiting == nil {
			a.waiting = map[string]*announced{}
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
