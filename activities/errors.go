package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/llm"
)

// Types of application errors that are no code of part 8 of the contract.
const (
	// ErrTypeSettled: the turn is over; nothing more can be written to it.
	ErrTypeSettled = "settled"
	// ErrTypeOutdated: a later attempt, or activity, has written what this one was
	// to write.
	ErrTypeOutdated = "outdated"
	// ErrTypeStopped: the turn was cancelled while the activity ran.
	ErrTypeStopped = "stopped"
	// ErrTypeInterrupted: the worker went away; another one takes over.
	ErrTypeInterrupted = "interrupted"
)

// TextFailureHint is the turn's text with what a person may do about a model
// that refused for good, such as which variable to check.
const TextFailureHint = "failure_hint"

const (
	// How long a model activity waits for a database that is away.
	databasePatience = time.Minute
	// Tries of an activity that fails for a reason nobody foresaw.
	unforeseenTries = 5
	// Back-off of model calls when the provider names no time.
	firstBackoff = 500 * time.Millisecond
	maxBackoff   = 8 * time.Second
	// Another worker takes over at once.
	takeOver = 50 * time.Millisecond
)

// fail turns an error into what enters Temporal's history: a type, and a
// message made of code and step only. The whole error goes to the log, once.
func (a *Activities) fail(ctx context.Context, ref TurnRef, step string, err error) error {
	var app *temporal.ApplicationError
	if err == nil || errors.As(err, &app) { // nothing, or said already
		return err
	}
	log := a.logOf(ref).With("step", step, "attempt", activity.GetInfo(ctx).Attempt, "error", err)
	var model *llm.Error
	switch {
	case errors.Is(err, db.ErrSettled):
		log.Info("the turn is settled")
		return expected("settled", step, ErrTypeSettled, temporal.ApplicationErrorOptions{NonRetryable: true})
	case errors.Is(err, db.ErrOutdated): // this one is over, whatever it thinks
		log.Info("a later attempt has taken over")
		return expected("outdated", step, ErrTypeOutdated, temporal.ApplicationErrorOptions{NonRetryable: true})
	case errors.Is(err, db.ErrUnavailable):
		log.Warn("the database is away")
		return retryWithin(ctx, databasePatience, 0, chat.CodeDatabase, step)
	case errors.Is(err, db.ErrNotFound):
		log.Warn("a row is gone")
		return temporal.NewNonRetryableApplicationError("not_found: "+step, chat.CodeNotFound, nil)
	case errors.As(err, &model):
		out := a.modelError(ctx, step, model)
		if final(out) {
			log.Error("the model call failed", "code", model.Code, "status", model.Status)
			a.keepHint(ctx, ref, model.Hint)
		} else {
			log.Warn("the model call failed and is tried again", "code", model.Code, "status", model.Status)
		}
		return out
	case ctx.Err() != nil:
		log.Info("ended from outside")
		return interrupted(step)
	}
	log.Error("failed")
	return internal(ctx, step, unforeseenTries)
}

// internal asks for another try of an activity that failed for a reason of ours,
// unless it has had its tries.
func internal(ctx context.Context, step string, tries int) error {
	made := handOn(ctx).Tries
	return temporal.NewApplicationErrorWithOptions("internal: "+step, chat.CodeInternal, temporal.ApplicationErrorOptions{
		NonRetryable: made >= tries, NextRetryDelay: backoff(made),
	})
}

func (a *Activities) modelError(ctx context.Context, step string, e *llm.Error) error {
	code := e.Code
	if code == "" {
		code = chat.CodeModelUnavailable
	}
	if !e.Retryable {
		return temporal.NewNonRetryableApplicationError(code+": "+step, code, nil)
	}
	return retryWithin(ctx, a.RetryBudget, e.RetryAfter, code, step)
}

// trouble is what a try that failed tells the next one, by heartbeat: since when
// and how often tries have failed one after another. A try that came to nothing
// because its worker died leaves none, so the count begins anew after it.
type trouble struct {
	Since   time.Time `json:"since"`
	Tries   int       `json:"tries"`
	Attempt int32     `json:"attempt"`
}

// failedBefore is what the try before this one left; zero when it left none.
func failedBefore(ctx context.Context) trouble {
	var before trouble
	if activity.HasHeartbeatDetails(ctx) && activity.GetHeartbeatDetails(ctx, &before) == nil && before.Attempt == activity.GetInfo(ctx).Attempt-1 {
		return before
	}
	return trouble{}
}

// handOn adds this try to the trouble.
func handOn(ctx context.Context) trouble {
	info, before := activity.GetInfo(ctx), failedBefore(ctx)
	t := trouble{Since: info.StartedTime, Tries: before.Tries + 1, Attempt: info.Attempt}
	if before.Tries > 0 {
		t.Since = before.Since
	}
	if w, watched := ctx.Value(watchKey{}).(*watch); watched {
		w.trouble.Store(&t)                    // later heartbeats must not forget it
		_ = w.beat(context.WithoutCancel(ctx)) // sent before the error is; best effort
	} else {
		activity.RecordHeartbeat(ctx, t)
	}
	return t
}

// retryWithin asks for another try after wait (0: the usual back-off), unless
// it would start later than budget after the first of those that failed.
func retryWithin(ctx context.Context, budget, wait time.Duration, code, step string) error {
	t := handOn(ctx)
	if wait <= 0 {
		wait = backoff(t.Tries)
	}
	return temporal.NewApplicationErrorWithOptions(code+": "+step, code, temporal.ApplicationErrorOptions{
		NonRetryable:   time.Since(t.Since)+wait > budget,
		NextRetryDelay: wait,
	})
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

func final(err error) bool {
	var app *temporal.ApplicationError
	return errors.As(err, &app) && app.NonRetryable()
}

// expected is the error of an activity that ended as it should: the SDK logs it
// as no failure.
func expected(what, step, kind string, o temporal.ApplicationErrorOptions) error {
	o.Category = temporal.ApplicationErrorCategoryBenign
	return temporal.NewApplicationErrorWithOptions(what+": "+step, kind, o)
}

func stoppedError(step string) error {
	return expected("stopped", step, ErrTypeStopped, temporal.ApplicationErrorOptions{NonRetryable: true})
}

func interrupted(step string) error {
	return expected("interrupted", step, ErrTypeInterrupted, temporal.ApplicationErrorOptions{NextRetryDelay: takeOver})
}

// keepHint leaves what a person may do for Settle to say. Best effort.
func (a *Activities) keepHint(ctx context.Context, ref TurnRef, hint string) {
	if hint == "" || ref.TurnID == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWrite)
	defer cancel()
	if err := a.putTexts(ctx, ref, db.Text{Key: TextFailureHint, Text: hint}); err != nil {
		a.logOf(ref).Warn("hint not kept", "error", err)
	}
}
