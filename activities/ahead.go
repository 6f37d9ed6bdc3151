package activities

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/palaver-chat/palaver/chat"
)

// goOn writes the answer in the same activity when no question has to be asked before it:
// that saves a workflow task and an activity. People see the log entries from here to the
// answer before the workflow has them, so they are recorded first, as a text of the turn
// that is written once. The next attempt, or the workflow when the activity fails
// (SealAhead), reads them from that text.
func (a *Activities) goOn(parent, ctx context.Context, w *watch, r ResolveRequest, found Resolved) (Resolved, error) {
	whole := Resolved{Intent: cmp.Or(r.GoOn.Known.Intent, found.Intent), Docs: cmp.Or(r.GoOn.Known.Docs, found.Docs)}
	ahead, goesOn := a.planAhead(ctx, r, whole)
	if !goesOn && activity.GetInfo(parent).Attempt == 1 {
		return found, nil
	}
	// A record without entries is a seal: an earlier attempt, on a worker that was frozen,
	// cannot record anything later.
	ahead, err := a.recordAhead(ctx, r.TurnRef, ahead)
	if err != nil {
		w.updateHandover(func(next *handover) { next.Resolved = &found })
		return Resolved{}, a.endError(w, ctx, r.TurnRef, "resolve", err)
	}
	if len(ahead.Entries) > 0 {
		return a.answerAhead(parent, ctx, w, r, ahead, false)
	}
	return found, nil
}

// planAhead returns what goOn records. goesOn is false when Resolve must not go on to the
// answer: then the workflow does the next step.
func (a *Activities) planAhead(ctx context.Context, r ResolveRequest, whole Resolved) (_ Ahead, goesOn bool) {
	if !whole.GoesOn() {
		return Ahead{}, false
	}
	in, docs := *whole.Intent, *whole.Docs
	if left := r.GoOn.Tokens; left > 0 && in.Usage.Add(docs.Usage).Tokens() >= left {
		return Ahead{}, false
	}
	subject, targets := Subject(in.Action, docs)
	found, err := a.retrieveMetered(ctx, RetrieveRequest{TurnRef: r.TurnRef, Action: in.Action, DocIDs: targets, Subject: subject, Imports: r.GoOn.Imports})
	if err != nil || found.Confidence == chat.Low { // the workflow retries, and asks
		return Ahead{}, false
	}
	ahead := Ahead{Intent: in, Docs: docs, Found: found}
	if r.Action == "" {
		ahead.Entries = InferredEntries()
	}
	ahead.Entries = slices.Concat(ahead.Entries, DocsEntries(docs), ValidateEntries(in), ActionEntries(in.Action), RetrievedEntries(found))
	for i := range ahead.Entries {
		ahead.Entries[i].N = r.Logged + 1 + i
		ahead.Entries[i].At = a.now().UTC().Truncate(time.Millisecond)
	}
	return ahead, true
}

// answerAhead publishes the recorded entries and writes the answer; see write for again.
func (a *Activities) answerAhead(parent, ctx context.Context, w *watch, r ResolveRequest, ahead Ahead, again bool) (Resolved, error) {
	a.Bus.PublishLog(r.TurnID, ahead.Entries)
	ref := r.TurnRef
	ref.Logged += len(ahead.Entries)
	subject, targets := Subject(ahead.Intent.Action, ahead.Docs)
	written, err := a.write(parent, ctx, w, WriteRequest{
		TurnRef: ref, Action: ahead.Intent.Action, DocIDs: targets, Subject: subject, ChunkIDs: ahead.Found.ChunkIDs, Stage: Stage{Piece: 1},
	}, again)
	if err != nil {
		return Resolved{}, err
	}
	return Resolved{Ahead: &ahead, Written: &written}, nil
}

// SealAhead returns what Resolve has recorded, and keeps it from recording anything
// later. The workflow calls it when Resolve has ended without a result.
func (a *Activities) SealAhead(ctx context.Context, ref TurnRef) (Ahead, error) {
	ahead, err := a.recordAhead(ctx, ref, Ahead{})
	return ahead, a.fail(ctx, ref, "seal", err)
}

// recordAhead stores ahead unless the turn has a record already, and returns the one
// that it has.
func (a *Activities) recordAhead(ctx context.Context, ref TurnRef, ahead Ahead) (kept Ahead, err error) {
	b, err := json.Marshal(ahead)
	if err != nil {
		return kept, err
	}
	text, err := a.Store.KeepText(ctx, ref.Owner, ref.TurnID, chat.TextAhead, string(b))
	if err == nil {
		err = json.Unmarshal([]byte(text), &kept)
	}
	return kept, err
}

// recordedAhead returns what an earlier attempt has recorded; zero when it recorded nothing.
func (a *Activities) recordedAhead(ctx context.Context, ref TurnRef) (ahead Ahead, err error) {
	texts, err := a.Store.Texts(ctx, ref.Owner, ref.TurnID)
	if raw := texts[chat.TextAhead]; err == nil && raw != "" {
		if err = json.Unmarshal([]byte(raw), &ahead); err != nil {
			err = fmt.Errorf("decode the entries that an earlier attempt recorded: %w", err)
		}
	}
	return ahead, err
}
