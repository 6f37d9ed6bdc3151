package activities

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// BeginTurn reads the turn's row, gives it its place in the tree and marks it
// running. A second call finds the place given by the first. A turn that was
// taken while the database was away is saved; while it still is, an agent that
// needs nothing of it may begin all the same.
func (a *Activities) BeginTurn(ctx context.Context, ref TurnRef) (Begun, error) {
	t, now, err := a.standing(ctx, &ref)
	if err == nil && ref.Unsaved == nil {
		var changed bool
		if changed, err = a.takeBack(ctx, ref, now.Open); changed && err == nil {
			t, now, err = a.standing(ctx, &ref)
		}
	}
	if err != nil {
		return Begun{}, a.fail(ctx, ref, "begin", err)
	}
	b := Begun{
		Parent: t.Parent, Agent: t.Content.Agent, Action: t.Content.Action, WebSearch: t.Content.WebSearch,
		Settled: t.Status.Settled(), RunID: t.StreamRunID, Unsaved: ref.Unsaved != nil,
		NoImages: a.blind(t.Content.Attachments),
	}
	if b.Unsaved {
		if needsStored(t.Content) {
			return Begun{}, a.fail(ctx, ref, "begin", db.ErrUnavailable)
		}
		return b, nil
	}
	if b.Parent == "" {
		if b.Parent, err = a.parentOf(ctx, t, ref.Parent, now.Head); err != nil {
			return Begun{}, a.fail(ctx, ref, "begin", err)
		}
	}
	if b.Settled {
		return b, nil
	}
	b.Cancelled = now.Cancelled
	if err := a.Store.MarkTurn(ctx, ref.Owner, ref.TurnID, chat.TurnRunning, b.Parent); err != nil {
		return Begun{}, a.fail(ctx, ref, "begin", err)
	}
	a.Bus.ThreadChanged(ref.ThreadID, ref.TurnID)
	if t.Content.ParentRequest != "" { // a turn that was rolled back gives way to its own parent
		if t, err = a.Store.Turn(ctx, ref.Owner, ref.TurnID); err != nil {
			return Begun{}, a.fail(ctx, ref, "begin", err)
		}
		b.Parent = t.Parent
	}
	if b.Parent == now.Head {
		b.Approved = now.Approvals
		return b, nil
	}
	b.Approved, err = a.Store.Approvals(ctx, ref.Owner, ref.ThreadID, b.Parent)
	if err != nil && !errors.Is(err, db.ErrNotFound) { // where there is no branch, everything asks
		return Begun{}, a.fail(ctx, ref, "begin", err)
	}
	return b, nil
}

// standing reads the turn with what it begins beside; of one that is unsaved there
// is the turn alone.
func (a *Activities) standing(ctx context.Context, ref *TurnRef) (chat.Turn, db.Standing, error) {
	if ref.Unsaved != nil {
		if t, err := a.load(ctx, ref); err != nil || ref.Unsaved != nil {
			return t, db.Standing{}, err
		}
	}
	now, err := a.Store.Standing(ctx, ref.Owner, ref.TurnID)
	if err == nil && !now.Turn.Status.Settled() {
		a.begun.remember(now.Turn)
	}
	return now.Turn, now, err
}

// takeBack undoes the beginning of turns that the thread does not have: the
// workflow task in which they began was lost before Temporal had recorded it,
// and with it that they were accepted. They begin again when they are; until
// then nothing may follow them. One that nobody submits any more was lost with
// an earlier run of the workflow; it ends, so that its message stays visible.
func (a *Activities) takeBack(ctx context.Context, ref TurnRef, open []chat.Turn) (changed bool, _ error) {
	if ref.Beside == nil {
		return false, nil
	}
	for _, t := range open {
		began := t.Status == chat.TurnRunning || t.Status == chat.TurnInterrupted
		if !began || t.ID == ref.TurnID || slices.Contains(ref.Beside.Open, t.ID) {
			continue
		}
		back := chat.TurnNew
		switch {
		case slices.Contains(ref.Beside.Waiting, t.ID):
			back = chat.TurnAccepted
		case time.Since(t.CreatedAt) > LostAfter:
			end, err := a.SettleLost(ctx, t, "")
			if err != nil {
				return changed, err
			}
			changed = true
			a.log().Warn("lost turn settled", "turn", t.ID, "run", t.StreamRunID, "end", end.Type)
			continue
		}
		a.log().Info("a turn that was begun too early is taken back", "turn", t.ID)
		if err := a.Store.TakeBack(ctx, ref.Owner, t.ID, back); err != nil {
			return changed, err
		}
		changed = true
	}
	return changed, nil
}

// needsStored reports whether nothing can be done about a message without what
// is stored.
func needsStored(c chat.Content) bool {
	return c.Agent != chat.AgentAssistant || len(c.Attachments)+len(c.TaggedDocs)+len(c.TaggedSets) > 0
}

// parent is the checkpoint a turn follows: the one asked for, if it is a turn
// of the same thread, else the parent of the turn that was undone for it, else
// the thread's head.
func (a *Activities) parent(ctx context.Context, t chat.Turn, undone string) (string, error) {
	return a.parentOf(ctx, t, undone, "")
}

// parentOf is parent where the head may be known.
func (a *Activities) parentOf(ctx context.Context, t chat.Turn, undone, head string) (_ string, err error) {
	switch asked := chat.TurnOf(t.Content.ParentRequest); asked {
	case chat.RootCheckpoint:
		return chat.RootCheckpoint, nil
	case "", t.ID:
	default:
		p, err := a.Store.Turn(ctx, t.Owner, asked)
		if err == nil && p.ThreadID == t.ThreadID && begun(p.Status) {
			return p.ID, nil
		}
		if err != nil && !errors.Is(err, db.ErrNotFound) {
			return "", err
		}
	}
	if undone != "" {
		u, err := a.Store.Turn(ctx, t.Owner, undone)
		if err == nil && u.Parent != "" {
			return u.Parent, nil
		}
		if err != nil && !errors.Is(err, db.ErrNotFound) {
			return "", err
		}
	}
	if head == "" {
		head, err = a.Store.Head(ctx, t.Owner, t.ThreadID)
	}
	if head == t.ID { // nothing is its own parent
		head = chat.RootCheckpoint
	}
	return head, err
}

// begun reports whether a turn of this status has its place in the tree.
func begun(s chat.TurnStatus) bool {
	return s == chat.TurnRunning || s == chat.TurnInterrupted || s.Settled()
}

// MarkRunning notes that an interrupted turn goes on.
func (a *Activities) MarkRunning(ctx context.Context, ref TurnRef) error {
	err := a.Store.MarkTurn(ctx, ref.Owner, ref.TurnID, chat.TurnRunning, ref.Parent)
	return a.fail(ctx, ref, "mark running", err)
}

// MarkInterrupted notes that a turn waits for a person.
func (a *Activities) MarkInterrupted(ctx context.Context, ref TurnRef) error {
	err := a.Store.MarkTurn(ctx, ref.Owner, ref.TurnID, chat.TurnInterrupted, ref.Parent)
	return a.fail(ctx, ref, "mark interrupted", err)
}

// AnnounceStop tells the process that works for the turn that it is cancelled.
func (a *Activities) AnnounceStop(_ context.Context, ref TurnRef) error {
	a.Bus.AnnounceStop(ref.TurnID)
	return nil
}
