package activities

import (
	"cmp"
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/llm"
)

// Types of application errors beside the codes of docs/errors.md.
const (
	// ErrTypeSettled: the turn is settled; nothing more can be written to it.
	ErrTypeSettled = "settled"
	// ErrTypeOutdated: a later attempt or activity has already written this.
	ErrTypeOutdated = "outdated"
	// ErrTypeStopped: the turn was cancelled while the activity ran.
	ErrTypeStopped = "stopped"
	// ErrTypeInterrupted: the worker stopped or lost the attempt; another attempt
	// follows.
	ErrTypeInterrupted = "interrupted"
	// ErrTypeWaiting: something that the activity needs is not ready yet; another
	// attempt follows.
	ErrTypeWaiting = "waiting"
)

const (
	// How long a model activity is retried while the database is unavailable.
	databaseRetryBudget = time.Minute
	// Attempts of an activity that fails for an unexpected reason.
	unexpectedErrorTries = 5
	// Back-off of model calls when the provider gives no retry time.
	firstBackoff = 500 * time.Millisecond
	// A turn goes on within 10 s after its worker stopped answering, also when that was in a
	// back-off: another worker takes over after up to 5 s.
	maxBackoff = 4 * time.Second
	// The delay before another worker's attempt.
	workerStopRetryDelay = 50 * time.Millisecond
)

// fail turns an error into one for Temporal's history, with a type and a message of
// code and step only. It logs the whole error, once.
func (k *Kit) Fail(ctx context.Context, ref TurnRef, step string, err error) error {
	var app *temporal.ApplicationError
	if err == nil || errors.As(err, &app) { // fail has logged it before
		return err
	}
	log := k.LogOf(ref).With("step", step, "attempt", activity.GetInfo(ctx).Attempt, "error", err)
	var model *llm.Error
	switch {
	case errors.Is(err, db.ErrSettled):
		log.Info("activity ended: the turn is settled")
		return expected("settled", step, ErrTypeSettled, temporal.ApplicationErrorOptions{NonRetryable: true})
	case errors.Is(err, db.ErrOutdated): // the server has given this attempt up
		log.Info("activity ended: a later attempt has written")
		return expected("outdated", step, ErrTypeOutdated, temporal.ApplicationErrorOptions{NonRetryable: true})
	case errors.Is(err, db.ErrUnavailable):
		log.Warn("activity failed: the database is unavailable")
		return RetryWithin(ctx, databaseRetryBudget, 0, chat.CodeDatabase, step)
	case errors.Is(err, db.ErrNotFound):
		log.Warn("activity failed: a row was not found, it may have been deleted")
		return temporal.NewNonRetryableApplicationError("not_found: "+step, chat.CodeNotFound, nil)
	case errors.As(err, &model):
		out := k.modelError(ctx, step, model)
		if IsFinal(out) {
			log.Error("model call failed", "code", model.Code, "status", model.Status, "hint", model.Hint.Text)
			k.storeHint(ctx, ref, model)
		} else {
			log.Warn("model call failed; retrying", "code", model.Code, "status", model.Status)
			k.announceRetry(ctx, ref)
		}
		return out
	case ctx.Err() != nil:
		log.Info("activity interrupted; another attempt follows")
		return interrupted(step)
	}
	log.Error("activity failed unexpectedly")
	return internal(ctx, step, unexpectedErrorTries)
}

// internal returns the error of an activity that failed unexpectedly. It is retryable
// until the given number of failures.
func internal(ctx context.Context, step string, tries int) error {
	made := recordRetry(ctx).Tries
	return temporal.NewApplicationErrorWithOptions("internal: "+step, chat.CodeInternal, temporal.ApplicationErrorOptions{
		NonRetryable: made >= tries, NextRetryDelay: backoff(made),
	})
}

func (k *Kit) modelError(ctx context.Context, step string, e *llm.Error) error {
	code := cmp.Or(e.Code, chat.CodeModelUnavailable)
	if !e.Retryable {
		return temporal.NewNonRetryableApplicationError(code+": "+step, code, nil)
	}
	return RetryWithin(ctx, k.RetryBudget, e.RetryAfter, code, step)
}

// announceRetry tells the turn's followers that the model call will be retried.
func (k *Kit) announceRetry(ctx context.Context, ref TurnRef) {
	if ref.TurnID != "" { // else the model embeds a document
		k.Bus.Retrying(ref.TurnID, previousFailure(ctx).Tries+1)
	}
}

// handover is what an attempt passes to the next one by heartbeat details: since
// when and how often attempts in a row have failed. An attempt
// whose worker died counts as no failure, and the count starts again after it.
type handover struct {
	Since   time.Time `json:"since"`
	Tries   int       `json:"tries"`
	Attempt int32     `json:"attempt"` // the last one that failed
}

// readHandover returns the handover of earlier attempts; zero when there is none.
func readHandover(ctx context.Context) handover {
	var left handover
	if activity.HasHeartbeatDetails(ctx) && activity.GetHeartbeatDetails(ctx, &left) == nil {
		return left
	}
	return handover{}
}

// previousFailure is the handover of the previous attempt if that failed; else zero.
func previousFailure(ctx context.Context) handover {
	if left := readHandover(ctx); left.Attempt == activity.GetInfo(ctx).Attempt-1 {
		return left
	}
	return handover{}
}

// LostAttempt reports whether an attempt came before this one and recorded no failure:
// its worker died or stopped, or the server gave the attempt up. After a person's stop
// there is no further attempt.
func LostAttempt(ctx context.Context) bool {
	return activity.GetInfo(ctx).Attempt > 1 && previousFailure(ctx).Tries == 0
}

// recordRetry counts this attempt as failed, in the handover to the next one.
func recordRetry(ctx context.Context) handover {
	info, before := activity.GetInfo(ctx), previousFailure(ctx)
	h := handover{Since: info.StartedTime, Tries: before.Tries + 1, Attempt: info.Attempt}
	if before.Tries > 0 {
		h.Since = before.Since
	}
	if w, watched := ctx.Value(watchKey{}).(*Watch); watched {
		w.handOver(h)
	} else {
		activity.RecordHeartbeat(ctx, h)
	}
	return h
}

// sinceFailure returns the time since the first of consecutive failed attempts began. Both
// starts are of the server's clock, and the time within this attempt is of this process: the
// clocks are not compared.
func sinceFailure(ctx context.Context, t handover) time.Duration {
	span := activity.GetInfo(ctx).StartedTime.Sub(t.Since)
	if w, watched := ctx.Value(watchKey{}).(*Watch); watched {
		_, within := w.read().Since(w.began)
		span += within
	}
	return max(0, span)
}

// RetryWithin is an error with a retry after wait (0: the usual back-off). It is
// final when the retry would start later than budget after the first failure.
func RetryWithin(ctx context.Context, budget, wait time.Duration, code, step string) error {
	t := recordRetry(ctx)
	if wait <= 0 {
		wait = backoff(t.Tries)
	}
	return temporal.NewApplicationErrorWithOptions(code+": "+step, code, temporal.ApplicationErrorOptions{
		NonRetryable:   sinceFailure(ctx, t)+wait > budget,
		NextRetryDelay: wait,
	})
}

// WaitWithin is an error with a retry after poll, for what is not ready yet. It is nil
// when the retry would start later than limit after the first attempt.
func WaitWithin(ctx context.Context, limit, poll time.Duration, step string) error {
	if sinceFailure(ctx, recordRetry(ctx))+poll > limit {
		return nil
	}
	return expected("waiting", step, ErrTypeWaiting, temporal.ApplicationErrorOptions{NextRetryDelay: poll})
}

func backoff(tries int) time.Duration {
	wait := firstBackoff
	for range tries - 1 {
		if wait *= 2; wait >= maxBackoff {
			return maxBackoff
		}
	}
	return wait
}

func IsFinal(err error) bool {
	var app *temporal.ApplicationError
	return errors.As(err, &app) && app.NonRetryable()
}

// expected is an error that is part of normal operation: the SDK does not log it as
// a failure.
func expected(what, step, kind string, o temporal.ApplicationErrorOptions) error {
	o.Category = temporal.ApplicationErrorCategoryBenign
	return temporal.NewApplicationErrorWithOptions(what+": "+step, kind, o)
}

func stoppedError(step string) error {
	return expected("stopped", step, ErrTypeStopped, temporal.ApplicationErrorOptions{NonRetryable: true})
}

func interrupted(step string) error {
	return expected("interrupted", step, ErrTypeInterrupted, temporal.ApplicationErrorOptions{NextRetryDelay: workerStopRetryDelay})
}

// storeHint stores the failure hint, which Settle puts into the turn's end. Best effort.
func (k *Kit) storeHint(ctx context.Context, ref TurnRef, e *llm.Error) {
	if e.Hint.Text == "" || ref.TurnID == "" {
		return
	}
	key := chat.TextFailureHint
	if e.ForOperators {
		key = chat.TextOperatorHint
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), FinalWriteTimeout)
	defer cancel()
	if err := k.PutTexts(ctx, ref, db.Text{Key: key, Text: e.Hint.Stored()}); err != nil {
		k.LogOf(ref).Warn("storing the failure hint failed", "error", err)
	}
}
