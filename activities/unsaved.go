package activities

import (
	"context"
	"errors"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// How long an unsaved turn tries to write its row before it goes on without it.
const saveFirstTimeout = 500 * time.Millisecond

// A stop of a turn that has no row can be a cancel row only: the workflow was not asked,
// or did not have the turn yet. So everything that saves the turn looks for it.

// LoadOrUnsaved reads the turn. It writes the row of an unsaved turn; if the database
// is still unavailable, it returns the turn as submitted, and ref stays unsaved.
// ErrTypeStopped when an unsaved turn was cancelled.
func (k *Kit) LoadOrUnsaved(ctx context.Context, ref *TurnRef) (chat.Turn, error) {
	if ref.Unsaved == nil {
		return k.Turn(ctx, *ref)
	}
	t, cancelled, err := k.saveOrUnsaved(ctx, ref)
	if err == nil && cancelled {
		err = stoppedError("load")
	}
	return t, err
}

// saveOrUnsaved is LoadOrUnsaved for an unsaved turn, and tells whether the turn was
// cancelled, as far as the database answers.
func (k *Kit) saveOrUnsaved(ctx context.Context, ref *TurnRef) (_ chat.Turn, cancelled bool, _ error) {
	quick, cancel := context.WithTimeout(ctx, saveFirstTimeout)
	defer cancel()
	t, cancelled, err := k.save(quick, ref)
	if err != nil && (db.Unavailable(err) || quick.Err() != nil) && ctx.Err() == nil {
		t = ref.unsaved()
		cancelled, err = k.Store.Cancelled(quick, t) // a full disk can be read
		return t, err == nil && cancelled, nil
	}
	return t, cancelled, err
}

// save writes the row of an unsaved turn and gives the turn its place in the tree;
// ref is then no longer unsaved. It is idempotent. cancelled tells whether the turn was
// cancelled before.
func (k *Kit) save(ctx context.Context, ref *TurnRef) (_ chat.Turn, cancelled bool, _ error) {
	t := ref.unsaved()
	row, cancelled, err := k.Store.SaveTurn(ctx, t)
	if err == nil && row.ID != t.ID || errors.Is(err, db.ErrTurnConflict) {
		// The client_turn_id belongs to an older turn, which the thread no longer had
		// in memory. This turn was accepted, so it is saved under its own id.
		t.ClientTurnID = t.ID
		row, cancelled, err = k.Store.SaveTurn(ctx, t)
	}
	if err != nil {
		return t, false, err
	}
	if row.Parent == "" {
		parent, err := k.parent(ctx, row, ref.Parent)
		if err != nil {
			return t, false, err
		}
		if err := k.Store.MarkTurn(ctx, ref.Owner, ref.TurnID, chat.TurnRunning, parent); err != nil {
			return t, false, err
		}
		k.Bus.ThreadChanged(ref.ThreadID, ref.TurnID)
		if row, err = k.Store.Turn(ctx, ref.Owner, ref.TurnID); err != nil { // the store replaces a parent that was rolled back with its own parent
			return t, false, err
		}
	}
	ref.Parent, ref.Unsaved = row.Parent, nil
	return row, cancelled, nil
}

// unsaved is the turn as it was submitted.
func (r TurnRef) unsaved() chat.Turn {
	return chat.Turn{
		ID: r.TurnID, ThreadID: r.ThreadID, Owner: r.Owner, StreamRunID: r.RunID, Status: chat.TurnNew,
		ClientTurnID: r.Unsaved.ClientTurnID, Content: r.Unsaved.Content, ContentHash: r.Unsaved.ContentHash, CreatedAt: r.Unsaved.CreatedAt,
		Generation: r.Unsaved.Generation,
	}
}

// retryUntilStored calls write until it succeeds, while the database is unavailable,
// at most for timeout or until ctx ends.
func retryUntilStored(ctx context.Context, timeout time.Duration, write func(context.Context) error) error {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for {
		try, cancel := context.WithTimeout(ctx, FinalWriteTimeout)
		err := write(try)
		cancel()
		if err == nil || !db.Unavailable(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-timer.C:
			return err
		case <-time.After(saveRetryInterval):
		}
	}
}

// parent returns the checkpoint that a turn follows: the one asked for, if it is a turn of
// the same thread, else the parent of the turn that was rolled back for it, else the
// thread's head.
func (k *Kit) parent(ctx context.Context, t chat.Turn, undone string) (string, error) {
	return k.parentOf(ctx, t, undone, "")
}

// parentOf is parent for a caller that may know the head; "" when it does not.
func (k *Kit) parentOf(ctx context.Context, t chat.Turn, undone, head string) (_ string, err error) {
	switch asked := chat.TurnOf(t.Content.ParentRequest); asked {
	case chat.RootCheckpoint:
		return chat.RootCheckpoint, nil
	case "", t.ID:
	default:
		p, err := k.Store.Turn(ctx, t.Owner, asked)
		if err == nil && p.ThreadID == t.ThreadID && hasBegun(p.Status) {
			return p.ID, nil
		}
		if err != nil && !errors.Is(err, db.ErrNotFound) {
			return "", err
		}
	}
	if undone != "" {
		u, err := k.Store.Turn(ctx, t.Owner, undone)
		if err == nil && u.Parent != "" {
			return u.Parent, nil
		}
		if err != nil && !errors.Is(err, db.ErrNotFound) {
			return "", err
		}
	}
	if head == "" {
		head, err = k.Store.Head(ctx, t.Owner, t.ThreadID)
	}
	return follows(t, head), err
}

// follows returns the checkpoint that a turn follows when the thread's head is head.
func follows(t chat.Turn, head string) string {
	if head == t.ID { // a turn is not its own parent
		return chat.RootCheckpoint
	}
	return head
}

// hasBegun reports whether a turn with this status has its place in the tree.
func hasBegun(s chat.TurnStatus) bool {
	return s == chat.TurnRunning || s == chat.TurnInterrupted || s.Settled()
}
