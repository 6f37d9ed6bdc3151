package activities

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
)

const (
	beat = time.Second
	// How long the last writes of an activity that was ended may take.
	lastWrite = 2 * time.Second
	// How long a call that had better not be cut goes on when its worker stops,
	// which waits for 5 s.
	lastCall = 2500 * time.Millisecond
)

var (
	errStopAnnounced = errors.New("stop announced")
	errWorkerStops   = errors.New("worker stops")
)

// watch is what every activity that may take long runs under: it heartbeats
// until end, and its context ends when the turn is stopped or the worker goes
// away.
type watch struct {
	parent    context.Context // the activity's, with the watch in it
	announced atomic.Bool
	trouble   atomic.Pointer[trouble] // what the next try is told
	grace     time.Duration
	end       context.CancelFunc
}

type watchKey struct{}

// watch begins watching. Nothing in it delays the caller. end must be called.
func (a *Activities) watch(parent context.Context, turnID string) (context.Context, *watch) {
	return a.watchFor(parent, turnID, 0)
}

// watchPatiently is watch for what had better not be cut in mid-way: a worker
// that stops lets it go on for as long as it can.
func (a *Activities) watchPatiently(parent context.Context, turnID string) (context.Context, *watch) {
	return a.watchFor(parent, turnID, lastCall)
}

// watchFor is watch with a grace between the worker's stop and the context's end.
func (a *Activities) watchFor(parent context.Context, turnID string, grace time.Duration) (context.Context, *watch) {
	w := &watch{grace: grace}
	w.parent = context.WithValue(parent, watchKey{}, w)
	ctx, cancel := context.WithCancelCause(w.parent)
	// A stop announced before this turns up at once.
	stops, err := a.Bus.SubscribeStops(ctx, turnID)
	if err != nil { // heartbeats tell, later
		a.log().Warn("stops are not heard of", "turn", turnID, "error", err)
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		w.run(quit, cancel, stops)
	}()
	w.end = sync.OnceFunc(func() {
		cancel(context.Canceled)
		close(quit)
		<-done
	})
	return ctx, w
}

func (w *watch) run(quit <-chan struct{}, cancel context.CancelCauseFunc, stops <-chan struct{}) {
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	workerStops := activity.GetWorkerStopChannel(w.parent)
	var ends <-chan time.Time
	for {
		select {
		case <-quit:
			return
		case _, ok := <-stops:
			if ok { // else the bus is gone, not the turn
				w.announced.Store(true)
				cancel(errStopAnnounced)
			}
			stops = nil
		case <-workerStops:
			ends, workerStops = time.After(w.grace), nil
		case <-ends:
			cancel(errWorkerStops)
		case <-ticker.C:
			w.beat()
		}
	}
}

// beat tells the server that the activity lives, and hears in return whether it
// is cancelled.
func (w *watch) beat() {
	if t := w.trouble.Load(); t != nil {
		activity.RecordHeartbeat(w.parent, *t)
		return
	}
	activity.RecordHeartbeat(w.parent)
}

// last is a context for writes that must outlive the one that ended: it goes on
// for patience, but no longer than a worker that stops can wait.
func (w *watch) last(patience time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.parent), patience)
	go func() {
		select {
		case <-ctx.Done():
		case <-activity.GetWorkerStopChannel(w.parent):
			time.AfterFunc(lastWrite, cancel)
		}
	}()
	return ctx, cancel
}

// stopped reports whether the turn was really cancelled: other ends of the
// context (shutdown, pause, a lost heartbeat) mean that another try follows.
func (w *watch) stopped() bool {
	return w.announced.Load() || temporal.IsCanceledError(context.Cause(w.parent))
}

// outcome is fail for an activity that ran under w: ended from outside it says
// how, instead of what the abort looked like to the call it cut.
func (a *Activities) outcome(w *watch, ctx context.Context, ref TurnRef, step string, err error) error {
	switch {
	case err == nil:
		return nil
	case w.stopped():
		a.logOf(ref).Info("stopped", "step", step)
		return stoppedError(step)
	case ctx.Err() != nil:
		a.logOf(ref).Info("ended from outside", "step", step, "cause", context.Cause(ctx))
		return interrupted(step)
	}
	return a.fail(w.parent, ref, step, err)
}
