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

	"github.com/palaver-chat/palaver/internal/clock"
)

const (
	// The interval of heartbeats, and the delay before a failed one is retried. A third
	// of the heartbeat timeout (4 s), so that an outage of Temporal of 2 s leaves time
	// for a retry.
	heartbeatInterval      = 4 * time.Second / 3
	heartbeatRetryInterval = 200 * time.Millisecond
	// A heartbeat call times out after half of this: the SDK reserves the other half
	// for a retry, which we do ourselves.
	heartbeatCallTimeout = 4 * time.Second
	// The timeout of the writes after an activity was ended from outside.
	FinalWriteTimeout = 2 * time.Second
	// How long watchWithGrace lets the work go on when the worker stops. The worker
	// waits for 5 s.
	WorkerStopGrace = 2500 * time.Millisecond
)

// Causes for which the work's context ends, beside those that the SDK has errors
// for: cancelled, paused, reset.
var (
	errStopAnnounced  = errors.New("stop announced")
	errWorkerStopping = errors.New("worker is stopping")
	// errAttemptUnknown: the server no longer knows the attempt. It has timed out, or
	// its workflow is closed.
	errAttemptUnknown = errors.New("the server no longer knows the attempt")
	// errHeartbeatTimeout: no heartbeat succeeded within the heartbeat timeout, so the
	// server gives the attempt up.
	errHeartbeatTimeout = errors.New("heartbeats failed for longer than the heartbeat timeout")
)

// watch runs beside every activity that may take long. It sends heartbeats until
// end is called, and ends the context of the work for one of the causes above. Each
// successful heartbeat renews a lease: without one for the heartbeat timeout, the
// server may have started the next attempt, so this one must not write any more.
//
// It does not use the SDK's heartbeats: those end the activity's context as soon as
// one call fails, so that an outage of two seconds would abort every answer
// (TestFailedHeartbeatDoesNotEndTheWork).
type Watch struct {
	Parent        context.Context // the activity's context, with the watch as a value
	cancel        context.CancelCauseFunc
	send          func(ctx context.Context, details ...any) error
	timeout       time.Duration // the heartbeat timeout; 0: none
	read          func() clock.Reading
	began         clock.Reading
	lastHeartbeat atomic.Pointer[clock.Reading] // send time of the last successful heartbeat
	sending       sync.Mutex                    // one heartbeat at a time, so that they arrive in order
	handover      handover                      // for the next attempt; guarded by sending
	turnStopped   atomic.Bool                   // the turn was cancelled
	leaseLost     atomic.Pointer[error]         // why the lease was lost
	grace         time.Duration
	// End ends the watch and the work's context. It may be called more than once.
	End context.CancelFunc
}

type watchKey struct{}

// watch starts the watch and returns the context for the work. It blocks only when
// the attempt was handed out a while ago. The caller must call end.
func (k *Kit) Watch(parent context.Context, turnID string) (context.Context, *Watch) {
	return k.WatchFor(parent, turnID, 0)
}

// watchWithGrace is watch for work that should not be cancelled midway. A stopping
// worker lets it go on for WorkerStopGrace.
func (k *Kit) WatchWithGrace(parent context.Context, turnID string) (context.Context, *Watch) {
	return k.WatchFor(parent, turnID, WorkerStopGrace)
}

// watchFor is watch with a grace period after the worker begins to stop. Without a
// turn id, stops come from Temporal only.
func (k *Kit) WatchFor(parent context.Context, turnID string, grace time.Duration) (context.Context, *Watch) {
	info := activity.GetInfo(parent)
	w := &Watch{grace: grace, timeout: info.HeartbeatTimeout, read: k.Clock}
	if w.read == nil {
		w.read = clock.Read
	}
	w.began = w.read()
	w.send = func(ctx context.Context, details ...any) error { return k.heartbeat(ctx, info.TaskToken, details...) }
	w.renewLease(w.began)
	w.Parent = context.WithValue(parent, watchKey{}, w)
	var ctx context.Context
	ctx, w.cancel = context.WithCancelCause(w.Parent)
	var stops <-chan struct{}
	if turnID != "" {
		var err error
		// A stop that was announced before comes at once.
		if stops, err = k.Bus.SubscribeStops(ctx, turnID); err != nil {
			k.Logger().Warn("stop subscription failed; stops take effect at the next heartbeat", "turn", turnID, "error", err)
		}
	}
	quit, quitting := context.WithCancel(context.WithoutCancel(w.Parent))
	var running sync.WaitGroup
	running.Go(func() { w.waitForStops(quit.Done(), stops) })
	running.Go(func() { w.sendHeartbeats(quit) })
	w.End = sync.OnceFunc(func() {
		w.cancel(context.Canceled)
		quitting()
		running.Wait()
	})
	if time.Since(info.StartedTime) > w.timeout/2 {
		w.confirmLease(quit)
	}
	return ctx, w
}

// confirmLease sends heartbeats until the server answers one or the lease expires. A
// process that was frozen while it polled starts attempts that other workers have
// been given meanwhile (TestAttemptHandedToAFrozenWorkerDoesNotRun).
func (w *Watch) confirmLease(ctx context.Context) {
	for w.timeout > 0 && ctx.Err() == nil && w.sendHeartbeat(ctx) != nil && w.checkLease() == nil {
		time.Sleep(heartbeatRetryInterval)
	}
}

// waitForStops ends the work when a stop of the turn is announced or the worker
// stops.
func (w *Watch) waitForStops(quit <-chan struct{}, stops <-chan struct{}) {
	workerStops := activity.GetWorkerStopChannel(w.Parent)
	var ends <-chan time.Time
	for {
		select {
		case <-quit:
			return
		case _, ok := <-stops:
			if ok { // a closed channel means that the subscription ended
				w.stopTurn()
			}
			stops = nil
		case <-workerStops:
			ends, workerStops = time.After(w.grace), nil
		case <-ends:
			w.cancel(errWorkerStopping)
		}
	}
}

// stopTurn ends the work because its turn was cancelled.
func (w *Watch) stopTurn() {
	w.turnStopped.Store(true)
	w.cancel(errStopAnnounced)
}

// sendHeartbeats sends heartbeats until ctx ends. They go on after the work's
// context has ended, while its partial result is saved.
func (w *Watch) sendHeartbeats(ctx context.Context) {
	timer := time.NewTimer(heartbeatInterval)
	defer timer.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		err := w.sendHeartbeat(ctx)
		if ctx.Err() != nil {
			return
		}
		next := heartbeatInterval
		if err != nil {
			next = heartbeatRetryInterval
			if !failing {
				activity.GetLogger(w.Parent).Warn("heartbeat failed; retrying until the heartbeat timeout", "error", err)
			}
		}
		failing = err != nil
		if w.leaseLost.Load() != nil {
			return
		}
		timer.Reset(next)
	}
}

// sendHeartbeat sends one heartbeat and acts on the answer. A failed heartbeat has
// no effect before the heartbeat timeout.
func (w *Watch) sendHeartbeat(ctx context.Context) error {
	w.sending.Lock()
	defer w.sending.Unlock()
	sent := w.read()
	_, left, err := w.lease(sent)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, min(heartbeatCallTimeout, left))
	defer cancel()
	var details []any
	if w.handover != (handover{}) {
		details = append(details, w.handover)
	}
	err = w.send(ctx, details...)
	reason := endReason(err)
	switch {
	case err == nil:
		w.renewLease(sent)
	case reason == nil:
		_, _, lost := w.lease(w.read())
		return errors.Join(err, lost)
	case temporal.IsCanceledError(reason):
		w.renewLease(sent)
		w.turnStopped.Store(true)
		w.cancel(reason)
	case errors.Is(reason, errAttemptUnknown):
		w.loseLease(reason)
	default: // paused or reset: the attempt keeps its lease while it ends
		w.renewLease(sent)
		w.cancel(reason)
	}
	return nil
}

// handOver sends a handover to the next attempt. Best effort.
func (w *Watch) handOver(h handover) {
	w.sending.Lock()
	w.handover = h
	w.sending.Unlock()
	_ = w.sendHeartbeat(context.WithoutCancel(w.Parent))
}

// endReason is the cause for which the work must end after a heartbeat returned err;
// nil when it goes on.
func endReason(err error) error {
	var (
		notFound  *serviceerror.NotFound
		noSpace   *serviceerror.NamespaceNotFound
		notActive *serviceerror.NamespaceNotActive
	)
	switch {
	case temporal.IsCanceledError(err), errors.Is(err, activity.ErrActivityPaused), errors.Is(err, activity.ErrActivityReset):
		return err
	case errors.As(err, &notFound), errors.As(err, &noSpace), errors.As(err, &notActive):
		return errAttemptUnknown
	}
	return nil
}

func (w *Watch) renewLease(at clock.Reading) { w.lastHeartbeat.Store(&at) }

// lease returns what is left of the lease by the wall clock and by the monotonic clock. It
// loses the lease when nothing is left by the latter.
func (w *Watch) lease(now clock.Reading) (wall, mono time.Duration, _ error) {
	wall, mono = heartbeatCallTimeout, heartbeatCallTimeout
	if w.timeout > 0 {
		wallSpan, monoSpan := now.Since(*w.lastHeartbeat.Load())
		wall, mono = w.timeout-wallSpan, w.timeout-monoSpan
	}
	if mono < 0 {
		w.loseLease(errHeartbeatTimeout)
	}
	if why := w.leaseLost.Load(); why != nil {
		return wall, mono, *why
	}
	return wall, mono, nil
}

// checkLease ends the work and returns an error when the lease is lost. It looks at
// the clocks, because a frozen process notices nothing else: call it before anything
// that the next attempt may be doing, too. When only the wall clock says that the lease has
// expired, the machine was paused or its clock was set: then the server is asked.
func (w *Watch) checkLease() error {
	wall, _, err := w.lease(w.read())
	if err != nil || wall >= 0 {
		return err
	}
	if w.sendHeartbeat(context.WithoutCancel(w.Parent)) != nil {
		w.loseLease(errHeartbeatTimeout)
	}
	if why := w.leaseLost.Load(); why != nil {
		return *why
	}
	return nil
}

func (w *Watch) loseLease(why error) {
	w.leaseLost.CompareAndSwap(nil, &why)
	w.cancel(why)
}

// finalContext is for writes after the work's context has ended. It lasts for
// timeout, or for FinalWriteTimeout after the worker begins to stop.
func (w *Watch) FinalContext(timeout time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.Parent), timeout)
	go func() {
		select {
		case <-ctx.Done():
		case <-activity.GetWorkerStopChannel(w.Parent):
			time.AfterFunc(FinalWriteTimeout, cancel)
		}
	}()
	return ctx, cancel
}

// stopped reports whether the turn was cancelled. After any other end of the context
// Temporal starts another attempt.
func (w *Watch) Stopped() bool {
	return w.turnStopped.Load() || temporal.IsCanceledError(context.Cause(w.Parent))
}

// endError is fail for an activity with a watch. When the context was ended from
// outside, it returns that cause instead of the error of the call that was aborted.
func (k *Kit) EndError(w *Watch, ctx context.Context, ref TurnRef, step string, err error) error {
	switch {
	case err == nil:
		return nil
	case w.Stopped():
		k.LogOf(ref).Info("activity stopped: the turn was cancelled", "step", step)
		return stoppedError(step)
	case ctx.Err() != nil:
		k.LogOf(ref).Info("activity interrupted; another attempt follows", "step", step, "cause", context.Cause(ctx))
		return interrupted(step)
	}
	return k.Fail(w.Parent, ref, step, err)
}

// heartbeat sends one heartbeat of an attempt to the server.
func (k *Kit) heartbeat(ctx context.Context, taskToken []byte, details ...any) error {
	if k.Heartbeat != nil {
		return k.Heartbeat(ctx, taskToken, details...)
	}
	return activity.GetClient(ctx).RecordActivityHeartbeat(ctx, taskToken, details...)
}
