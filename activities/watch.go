package activities

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
)

const (
	beat = time.Second
	// How long the last writes of an activity that was ended may take.
	lastWrite = 2 * time.Second
)

var (
	errStopAnnounced = errors.New("stop announced")
	errWorkerStops   = errors.New("worker stops")
)

// watch is what every activity that may take long runs under: it heartbeats,
// and its context ends when the turn is stopped or the worker goes away.
type watch struct {
	parent    context.Context
	announced atomic.Bool
	end       context.CancelFunc
}

// watch begins watching. Nothing in it delays the caller. end must be called.
func (a *Activities) watch(parent context.Context, turnID string) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(parent)
	w := &watch{parent: parent}
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.run(ctx, cancel, a, turnID)
	}()
	w.end = func() {
		cancel(context.Canceled)
		<-done
	}
	return ctx, w
}

func (w *watch) run(ctx context.Context, cancel context.CancelCauseFunc, a *Activities, turnID string) {
	stops, err := a.Bus.SubscribeStops(ctx, turnID)
	if err != nil { // heartbeats tell, later
		a.log().Warn("stops are not heard of", "turn", turnID, "error", err)
	}
	// A stop announced before the subscription stood is in the first
	// heartbeat's answer, a beat later: most activities end before they cost one.
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	workerStops := activity.GetWorkerStopChannel(w.parent)
	for {
		select {
		case <-ctx.Done():
			return
		case _, ok := <-stops:
			if !ok { // the bus is gone, not the turn
				stops = nil
				continue
			}
			w.announced.Store(true)
			cancel(errStopAnnounced)
			return
		case <-workerStops:
			cancel(errWorkerStops)
			return
		case <-ticker.C:
			activity.RecordHeartbeat(w.parent)
		}
	}
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
		return stoppedError(step)
	case ctx.Err() != nil:
		a.log().Info("ended from outside", "turn", ref.TurnID, "step", step, "cause", context.Cause(ctx))
		return interrupted(step)
	}
	return a.fail(w.parent, ref, step, err)
}
