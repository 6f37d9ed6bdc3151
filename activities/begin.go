package activities

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/tools"
)

// BeginTurn reads the turn's row, gives the turn its place in the tree and marks it
// running. It is idempotent. It saves a turn that was accepted while the database
// was unavailable. If that still fails, an agent that needs no stored data may begin
// without the row.
func (a *Activities) BeginTurn(ctx context.Context, ref TurnRef) (BeginResult, error) {
	t, now, begun, err := a.beginStanding(ctx, &ref)
	if err == nil && ref.Unsaved == nil {
		var changed bool
		if changed, err = a.undoUnrecordedTurns(ctx, ref, now.Open); changed && err == nil {
			t, now, begun, err = a.beginStanding(ctx, &ref)
		}
	}
	if err != nil {
		return BeginResult{}, a.Fail(ctx, ref, "begin", err)
	}
	b := BeginResult{
		Parent: t.Parent, Agent: t.Content.Agent, Action: t.Content.Action, WebSearch: t.Content.WebSearch, NoWebSearch: t.Content.NoWebSearch,
		Settled: t.Status.Settled(), RunID: t.StreamRunID, Unsaved: ref.Unsaved != nil,
		Model: t.Content.Model, Space: t.Space, NoImages: a.CannotSeeImages(t.Content.Model, t.Content.Attachments), Effort: t.Content.Effort, Rounds: !a.Model.Info().Offline,
	}
	agent, _ := a.Agents.Find(b.Agent)
	b.AgentVersion = agent.Version
	b.Cancelled = now.Cancelled
	if b.Unsaved {
		if b.Cancelled {
			return b, nil
		}
		if a.needsStored(t.Content) {
			return BeginResult{}, a.Fail(ctx, ref, "begin", db.ErrUnavailable)
		}
		return b, nil
	}
	if b.Parent == "" {
		if b.Parent, err = a.parentOf(ctx, t, ref.Parent, now.Head); err != nil {
			return BeginResult{}, a.Fail(ctx, ref, "begin", err)
		}
	}
	if b.Settled {
		return b, nil
	}
	b.Imports = chat.Home(t.Space) == "" && agent.MayCall(tools.ImportDocumentName) && (now.Imports || a.ConcernsImports != nil && a.ConcernsImports(t.Content.Message))
	if !begun {
		if err := a.Store.MarkTurn(ctx, ref.Owner, ref.TurnID, chat.TurnRunning, b.Parent); err != nil {
			return BeginResult{}, a.Fail(ctx, ref, "begin", err)
		}
	}
	a.Bus.ThreadChanged(ref.ThreadID, ref.TurnID)
	if t.Content.ParentRequest != "" { // the store replaces a parent that was rolled back with its own parent
		if t, err = a.Store.Turn(ctx, ref.Owner, ref.TurnID); err != nil {
			return BeginResult{}, a.Fail(ctx, ref, "begin", err)
		}
		b.Parent = t.Parent
	}
	if b.Parent == now.Head {
		b.Approved = a.withoutPinned(ctx, ref.Owner, b.Agent, now.Approvals)
		return b, nil
	}
	approved, err := a.Store.Approvals(ctx, ref.Owner, ref.ThreadID, b.Parent)
	if err != nil && !errors.Is(err, db.ErrNotFound) { // no branch: every tool needs approval
		return BeginResult{}, a.Fail(ctx, ref, "begin", err)
	}
	b.Approved = a.withoutPinned(ctx, ref.Owner, b.Agent, approved)
	return b, nil
}

// beginStanding reads the turn and what BeginTurn needs of its thread. If that says which turn
// this one follows, it marks the turn running, too (begun). For an unsaved turn it returns the
// turn and whether it was cancelled.
func (a *Activities) beginStanding(ctx context.Context, ref *TurnRef) (_ chat.Turn, now db.TurnContext, begun bool, err error) {
	if ref.Unsaved != nil {
		if t, cancelled, err := a.saveOrUnsaved(ctx, ref); err != nil || ref.Unsaved != nil {
			return t, db.TurnContext{Cancelled: cancelled}, false, err
		}
	}
	now, err = a.Store.BeginTurn(ctx, ref.Owner, ref.TurnID, func(now db.TurnContext) string {
		t := now.Turn
		simple := t.Content.ParentRequest == "" && ref.Parent == "" && !slices.ContainsFunc(now.Open, ref.unrecorded)
		switch {
		case !simple:
			return ""
		case t.Parent != "":
			begun = true
			return t.Parent
		}
		begun = true
		return follows(t, now.Head)
	})
	if err == nil && !now.Turn.Status.Settled() {
		a.begun.remember(now.Turn)
		a.reads.begin(*ref, now)
	}
	return now.Turn, now, begun, err
}

// unrecorded reports whether an open turn has begun that the thread does not have.
func (r TurnRef) unrecorded(t chat.Turn) bool {
	began := t.Status == chat.TurnRunning || t.Status == chat.TurnInterrupted
	return r.Others != nil && began && t.ID != r.TurnID && !slices.Contains(r.Others.Open, t.ID)
}

// undoUnrecordedTurns undoes the beginning of open turns that the thread does not
// have. Temporal lost the workflow task in which they were accepted and began before
// it was recorded. They begin again when the submit is retried; until then no turn
// may follow them. A turn that is never submitted again was lost with an earlier run of
// the workflow: the repair sweep settles it. One whose age is certain although clocks
// differ is settled here, so that it keeps its place.
func (a *Activities) undoUnrecordedTurns(ctx context.Context, ref TurnRef, open []chat.Turn) (changed bool, _ error) {
	for _, t := range open {
		if !ref.unrecorded(t) {
			continue
		}
		if !slices.Contains(ref.Others.Waiting, t.ID) && time.Since(t.CreatedAt) > LostAfter+MaxSkew {
			end, err := a.SettleLost(ctx, t, "")
			if err != nil {
				return changed, err
			}
			changed = true
			a.Logger().Warn("settled a turn that no workflow has", "turn", t.ID, "run", t.StreamRunID, "end", end.Type)
			continue
		}
		a.Logger().Info("undoing the beginning of a turn that the workflow has not recorded", "turn", t.ID)
		if err := a.Store.UnmarkTurn(ctx, ref.Owner, t.ID, chat.TurnAccepted); err != nil {
			return changed, err
		}
		changed = true
	}
	return changed, nil
}

// needsStored reports whether a message cannot be answered without the database.
func (a *Activities) needsStored(c chat.Content) bool {
	agent, _ := a.Agents.Find(c.Agent)
	return !agent.AnswersUnsaved || len(c.Attachments)+len(c.TaggedDocs)+len(c.TaggedSets) > 0
}

// MarkRunning stores that an interrupted turn goes on.
func (a *Activities) MarkRunning(ctx context.Context, ref TurnRef) error {
	err := a.Store.MarkTurn(ctx, ref.Owner, ref.TurnID, chat.TurnRunning, ref.Parent)
	return a.Fail(ctx, ref, "mark running", err)
}

// MarkInterrupted stores that a turn waits for a person.
func (a *Activities) MarkInterrupted(ctx context.Context, ref TurnRef) error {
	err := a.Store.MarkAsking(ctx, ref.Owner, ref.TurnID, ref.Asks, ref.Parent)
	return a.Fail(ctx, ref, "mark interrupted", err)
}

// AnnounceStop publishes on the bus that the turn is cancelled, for its activity.
func (a *Activities) AnnounceStop(_ context.Context, ref TurnRef) error {
	a.Bus.AnnounceStop(ref.TurnID)
	return nil
}
