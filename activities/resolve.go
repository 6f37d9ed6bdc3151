package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"golang.org/x/sync/errgroup"

	"github.com/palaver-chat/palaver/agents/documents/intent"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/tiptap"
)

// Resolve asks a model what the rules left open: the intent of a message, its
// documents, or both in parallel. When one of the two fails with a retryable error,
// the other goes on to its end, and the next attempt asks only for the missing one.
// When one fails without a retry, the other is cancelled.
//
// With GoOn it goes on to the answer when nothing has to be asked before (goOn).
func (a *Activities) Resolve(parent context.Context, r ResolveRequest) (Resolved, error) {
	ctx, w := a.watch(parent, r.TurnID)
	defer w.end()
	ctx = withReads(ctx)
	if r.GoOn == nil {
		return a.resolve(ctx, w, r)
	}
	if activity.GetInfo(parent).Attempt > 1 {
		ahead, err := a.recordedAhead(ctx, r.TurnRef)
		if err != nil {
			return Resolved{}, a.endError(w, ctx, r.TurnRef, "resolve", err)
		}
		if len(ahead.Entries) > 0 {
			return a.answerAhead(parent, ctx, w, r, ahead, lostAttempt(parent))
		}
	}
	found, err := a.resolve(ctx, w, r)
	if err != nil {
		return Resolved{}, err
	}
	return a.goOn(parent, ctx, w, r, found)
}

func (a *Activities) resolve(ctx context.Context, w *watch, r ResolveRequest) (Resolved, error) {
	var found Resolved
	if before := readHandover(w.parent).Resolved; before != nil {
		found = *before
	}
	t, err := a.turn(ctx, r.TurnRef)
	if err != nil {
		return Resolved{}, a.endError(w, ctx, r.TurnRef, "resolve", err)
	}

	g, gctx := errgroup.WithContext(ctx)
	var intentErr, docsErr error
	if r.Intent && found.Intent == nil {
		g.Go(func() error {
			found.Intent, intentErr = resolveHalf(a, w, gctx, r.TurnRef, chat.NodeIntent, func() (Intent, error) {
				return a.inferIntent(gctx, r.TurnRef, t)
			})
			return finalOnly(intentErr)
		})
	}
	if r.Docs && found.Docs == nil {
		g.Go(func() error {
			found.Docs, docsErr = resolveHalf(a, w, gctx, r.TurnRef, chat.NodeDocs, func() (Docs, error) {
				return a.inferDocs(gctx, DocsRequest{TurnRef: r.TurnRef, Action: r.Action}, t)
			})
			return finalOnly(docsErr)
		})
	}
	if err := g.Wait(); err != nil {
		return Resolved{}, err
	}
	if err := longerRetry(intentErr, docsErr); err != nil {
		if found != (Resolved{}) {
			w.updateHandover(func(next *handover) { next.Resolved = &found })
		}
		return Resolved{}, err
	}
	if in := found.Intent; in != nil && in.Action == chat.Compare && !in.Multi && meansNoDocument(r, found.Docs, t) && intent.ComparesSubjects(t.Content.Message) {
		in.Action = chat.Inquire
	}
	if found.Intent != nil && found.Docs != nil && found.Intent.Action == chat.Talk { // needs no documents, and asks nothing about them
		found.Docs = &Docs{Confidence: chat.High, Called: found.Docs.Called, Usage: found.Docs.Usage}
	}
	return found, nil
}

// meansNoDocument reports whether neither rules nor the model found a document that a
// message means. docs is nil when the rules alone decided.
func meansNoDocument(r ResolveRequest, docs *Docs, t chat.Turn) bool {
	if docs != nil {
		return len(docs.IDs)+len(docs.Suggested) == 0 && !docs.Unresolved
	}
	content, _ := tiptap.Read(t.Content.TipTap) // malformed: nothing is mentioned
	return !r.Docs && len(t.Content.TaggedDocs)+len(t.Content.TaggedSets)+len(content.Labels()) == 0
}

// resolveHalf makes one of the two calls of Resolve. It recovers panics, because it
// runs in a goroutine that Recover does not cover.
func resolveHalf[T any](a *Activities, w *watch, ctx context.Context, ref TurnRef, node chat.Node, infer func() (T, error)) (found *T, err error) {
	defer func() {
		if p := recover(); p != nil {
			found, err = nil, a.panicked(w.parent, []any{ref}, p)
		}
	}()
	result, err := infer()
	if err != nil {
		return nil, a.endError(w, ctx, ref, string(node), err)
	}
	return &result, nil
}

func finalOnly(err error) error {
	if final(err) {
		return err
	}
	return nil
}

// longerRetry is the one of two errors, each nil or retryable, with the longer delay.
func longerRetry(x, y error) error {
	if y == nil || x != nil && retryDelay(x) > retryDelay(y) {
		return x
	}
	return y
}

func retryDelay(err error) time.Duration {
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return app.NextRetryDelay()
	}
	return 0
}
