package api

import (
	"context"
	"sync"
	"time"

	"github.com/palaver-chat/palaver/db"
)

const (
	// How often new turns of a followed thread are looked up while the bus does not deliver.
	threadPollInterval = 3 * time.Second
	// The same while the bus delivers, in case that a message was lost.
	threadBusPollInterval = 30 * time.Second
	// Timeout of one poll.
	threadTimeout = 5 * time.Second
)

// threadWatches lets all streams of one thread in this process share a subscription
// and a poll.
type threadWatches struct {
	s       *server
	mu      sync.Mutex
	watches map[threadKey]*threadWatch
}

type threadKey struct{ owner, thread string }

// threadWatch says when a thread has a new turn.
type threadWatch struct {
	threadKey
	s          *server
	streams    int // that share it; guarded by threadWatches.mu
	stop       context.CancelFunc
	subscribed chan struct{} // closed once messages are kept for this watch

	// Only run uses these.
	newTurns  <-chan string // ids of turns that were given their place; messages may be lost
	announced bool          // a message has arrived since the last poll
	busMissed bool          // polling found a new turn; no message had announced it
	failed    bool          // the last poll failed

	mu      sync.Mutex
	last    int           // place of the newest turn; -1 before the first poll
	changed chan struct{} // closed when last changes
}

// join returns the watch of a thread and a function that leaves it. Turns that begin
// after join returns are not missed.
func (ws *threadWatches) join(owner, thread string) (*threadWatch, func()) {
	key := threadKey{owner, thread}
	ws.mu.Lock()
	w := ws.watches[key]
	if w == nil {
		ctx, stop := context.WithCancel(context.Background())
		w = &threadWatch{threadKey: key, s: ws.s, stop: stop, subscribed: make(chan struct{}), last: -1, changed: make(chan struct{})}
		ws.watches[key] = w
		go w.run(ctx)
	}
	w.streams++
	ws.mu.Unlock()
	<-w.subscribed
	return w, sync.OnceFunc(func() { ws.leave(w) })
}

func (ws *threadWatches) leave(w *threadWatch) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w.streams--; w.streams == 0 {
		w.stop()
		delete(ws.watches, w.threadKey)
	}
}

// newest returns the place of the thread's newest turn, as far as it is known, and a
// channel that is closed when that changes.
func (w *threadWatch) newest() (int, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last, w.changed
}

func (w *threadWatch) run(ctx context.Context) {
	if err := w.subscribe(ctx); err != nil {
		w.s.Log.Warn("thread subscription failed; polling for new turns", "thread", w.thread, "error", err)
	}
	close(w.subscribed)
	for ctx.Err() == nil {
		w.poll(ctx)
		w.wait(ctx)
	}
}

func (w *threadWatch) subscribe(ctx context.Context) (err error) {
	w.newTurns, err = w.s.Bus.SubscribeThread(ctx, w.thread)
	return err
}

// poll reads the place of the newest turn. A thread that rests costs this one statement.
func (w *threadWatch) poll(ctx context.Context) {
	read, cancel := context.WithTimeout(ctx, threadTimeout)
	defer cancel()
	last, err := w.s.Store.LastPlace(read, w.owner, w.thread)
	w.failed = err != nil
	if err != nil {
		w.s.logThreadNotRead(ctx, w.thread, err)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if last == w.last {
		return
	}
	w.busMissed = w.last >= 0 && !w.announced
	w.last = last
	close(w.changed)
	w.changed = make(chan struct{})
}

// wait returns when the thread should be polled.
func (w *threadWatch) wait(ctx context.Context) {
	w.announced = false
	ticker := time.NewTicker(threadPollInterval) // the bus may disconnect meanwhile
	defer ticker.Stop()
	for waited := threadPollInterval; ; waited += threadPollInterval {
		select {
		case _, open := <-w.newTurns:
			for open { // one poll finds all announced turns
				w.announced, w.busMissed = true, false
				select {
				case _, open = <-w.newTurns:
				default:
					return
				}
			}
			w.newTurns = nil // the subscription has ended; polling replaces it
		case <-ticker.C:
			if waited >= threadBusPollInterval || w.busMissed || w.failed || w.newTurns == nil || !w.s.Bus.Connected() {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// logThreadNotRead logs that new turns of a followed thread could not be read.
func (s *server) logThreadNotRead(ctx context.Context, thread string, err error) {
	if ctx.Err() != nil || db.Unavailable(err) { // the process logs an outage once
		return
	}
	s.Log.Warn("reading new turns of a followed thread failed; retrying", "thread", thread, "error", err)
}
