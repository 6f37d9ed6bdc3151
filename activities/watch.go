package activities

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
)

const (
	// A heartbeat is sent this often, and after one that failed this soon again.
	beat      = time.Second
	beatRetry = 200 * time.Millisecond
	// One heartbeat may take half of this: the SDK keeps the other half for a
	// retry that it leaves to us.
	beatTimeout = 4 * time.Second
	// How long the last writes of an activity that was ended may take.
	lastWrite = 2 * time.Second
	// How long a call that had better not be cut goes on when its worker stops,
	// which waits for 5 s.
	lastCall = 2500 * time.Millisecond
)

// Why work ends before its time, beside the causes that the SDK has errors for:
// cancelled, paused, reset.
var (
	errStopAnnounced = errors.New("stop announced")
	errWorkerStops   = errors.New("worker stops")
	// errGivenUp: the server does not know the attempt any more. It timed out, or
	// its workflow is over.
	errGivenUp = errors.New("attempt given up by the server")
	// errUnheard: no heartbeat got through for the heartbeat timeout, so the
	// server has given the attempt up, or will.
	errUnheard = errors.New("heartbeats failed for longer than the heartbeat timeout")
)

// watch is what every activity that may take long runs under: it heartbeats
// until end, and its context ends for one of the reasons above.
//
// The heartbeats are its own: the SDK's ends the activity's context as soon as
// one call fails, so that an outage of two seconds would abort every answer
// (TestAShortOutageOfTemporalCutsNoAnswer).
type watch struct {
	parent  context.Context // the activity's, with the watch in it
	cancel  context.CancelCauseFunc
	send    func(ctx context.Context, details ...any) error
	timeout time.Duration             // of heartbeats; 0: none
	heard   atomic.Pointer[time.Time] // when the last heartbeat that got through was sent
	sending sync.Mutex                // one heartbeat at a time, so that none overtakes another
	stop    atomic.Bool               // the turn was cancelled
	lost    atomic.Pointer[error]     // why the attempt is no longer ours
	trouble atomic.Pointer[trouble]   // what the next try is told
	grace   time.Duration
	end     context.CancelFunc
}

type watchKey struct{}

// watch begins watching. It delays the caller only when the attempt was handed
// out a while ago. end must be called.
func (a *Activities) watch(parent context.Context, turnID string) (context.Context, *watch) {
	return a.watchFor(parent, turnID, 0)
}

// watchPatiently is watch for what had better not be cut in mid-way: a worker
// that stops lets it go on for as long as it can.
func (a *Activities) watchPatiently(parent context.Context, turnID string) (context.Context, *watch) {
	return a.watchFor(parent, turnID, lastCall)
}

// watchFor is watch with a grace between the worker's stop and the context's
// end. Work that belongs to no turn ("") is stopped by Temporal alone.
func (a *Activities) watchFor(parent context.Context, turnID string, grace time.Duration) (context.Context, *watch) {
	info := activity.GetInfo(parent)
	w := &watch{grace: grace, timeout: info.HeartbeatTimeout}
	w.send = func(ctx context.Context, details ...any) error { return a.heartbeat(ctx, info.TaskToken, details...) }
	w.gotThrough(time.Now())
	w.parent = context.WithValue(parent, watchKey{}, w)
	var ctx context.Context
	ctx, w.cancel = context.WithCancelCause(w.parent)
	var stops <-chan struct{}
	if turnID != "" {
		var err error
		// A stop announced before this turns up at once.
		if stops, err = a.Bus.SubscribeStops(ctx, turnID); err != nil {
			a.log().Warn("stop subscription failed; stops take effect at the next heartbeat", "turn", turnID, "error", err)
		}
	}
	quit, quitting := context.WithCancel(context.WithoutCancel(w.parent))
	var running sync.WaitGroup
	running.Go(func() { w.listen(quit.Done(), stops) })
	running.Go(func() { w.beats(quit) })
	w.end = sync.OnceFunc(func() {
		w.cancel(context.Canceled)
		quitting()
		running.Wait()
	})
	if time.Since(info.StartedTime) > w.timeout/2 {
		w.confirm(quit)
	}
	return ctx, w
}

// confirm asks the server whether the attempt is still ours, until it answers or
// the heartbeat timeout is over. A process that was frozen while it polled begins
// attempts that were given to others meanwhile.
func (w *watch) confirm(ctx context.Context) {
	for w.timeout > 0 && w.beat(ctx) != nil && w.held() == nil {
		time.Sleep(beatRetry)
	}
}

// listen ends the work when a stop is announced or the worker stops.
func (w *watch) listen(quit <-chan struct{}, stops <-chan struct{}) {
	workerStops := activity.GetWorkerStopChannel(w.parent)
	var ends <-chan time.Time
	for {
		select {
		case <-quit:
			return
		case _, ok := <-stops:
			if ok { // else the bus is gone, not the turn
				w.stop.Store(true)
				w.cancel(errStopAnnounced)
			}
			stops = nil
		case <-workerStops:
			ends, workerStops = time.After(w.grace), nil
		case <-ends:
			w.cancel(errWorkerStops)
		}
	}
}

// beats sends heartbeats, and ends the work when they say so. They go on while
// work that was ended hands in what it has.
func (w *watch) beats(ctx context.Context) {
	timer := time.NewTimer(beat)
	defer timer.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		err := w.beat(ctx)
		if ctx.Err() != nil {
			return
		}
		next := beat
		if err != nil {
			next = beatRetry
			if !failing {
				activity.GetLogger(w.parent).Warn("heartbeat failed", "error", err)
			}
		}
		failing = err != nil
		if w.lost.Load() != nil {
			return
		}
		timer.Reset(next)
	}
}

// beat sends one heartbeat and does what its answer asks for. A heartbeat that
// failed changes nothing before the heartbeat timeout.
func (w *watch) beat(ctx context.Context) error {
	w.sending.Lock()
	defer w.sending.Unlock()
	if err := w.held(); err != nil {
		return err
	}
	sent := time.Now()
	until := sent.Add(beatTimeout)
	if lapses, ok := w.lapses(); ok && lapses.Before(until) {
		until = lapses
	}
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	var details []any
	if t := w.trouble.Load(); t != nil {
		details = append(details, *t)
	}
	err := w.send(ctx, details...)
	reason := verdict(err)
	switch {
	case err == nil:
		w.gotThrough(sent)
	case reason == nil:
		return errors.Join(err, w.held())
	case temporal.IsCanceledError(reason):
		w.gotThrough(sent)
		w.stop.Store(true)
		w.cancel(reason)
	case errors.Is(reason, errGivenUp):
		w.lose(reason)
	default: // paused or reset: the attempt goes on until it ends
		w.gotThrough(sent)
		w.cancel(reason)
	}
	return nil
}

// verdict is why the work must end after a heartbeat that was answered with err;
// nil when it goes on.
func verdict(err error) error {
	var (
		notFound  *serviceerror.NotFound
		noSpace   *serviceerror.NamespaceNotFound
		notActive *serviceerror.NamespaceNotActive
	)
	switch {
	case temporal.IsCanceledError(err), errors.Is(err, activity.ErrActivityPaused), errors.Is(err, activity.ErrActivityReset):
		return err
	case errors.As(err, &notFound), errors.As(err, &noSpace), errors.As(err, &notActive):
		return errGivenUp
	}
	return nil
}

func (w *watch) gotThrough(at time.Time) { w.heard.Store(&at) }

// lapses is when the attempt is no longer ours unless a heartbeat gets through
// before; false without a heartbeat timeout.
func (w *watch) lapses() (time.Time, bool) {
	return w.heard.Load().Add(w.timeout), w.timeout > 0
}

// held returns an error when the attempt is no longer ours, and ends the work.
// It looks at the clock: a process that was frozen asks it before it does
// anything that the next attempt may be doing too.
func (w *watch) held() error {
	if at, ok := w.lapses(); ok && time.Now().After(at) {
		w.lose(errUnheard)
	}
	if why := w.lost.Load(); why != nil {
		return *why
	}
	return nil
}

func (w *watch) lose(why error) {
	w.lost.CompareAndSwap(nil, &why)
	w.cancel(why)
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
// context mean that another try follows.
func (w *watch) stopped() bool {
	return w.stop.Load() || temporal.IsCanceledError(context.Cause(w.parent))
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

// heartbeat tells the server that an attempt is alive.
func (a *Activities) heartbeat(ctx context.Context, taskToken []byte, details ...any) error {
	if a.Heartbeat != nil {
		return a.Heartbeat(ctx, taskToken, details...)
	}
	return activity.GetClient(ctx).RecordActivityHeartbeat(ctx, taskToken, details...)
}
