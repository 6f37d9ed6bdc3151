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

// loadOrUnsaved reads the turn. It writes the row of an unsaved turn; if the database
// is still unavailable, it returns the turn as submitted, and ref stays unsaved.
func (a *Activities) loadOrUnsaved(ctx context.Context, ref *TurnRef) (chat.Turn, error) {
	if ref.Unsaved == nil {
		return a.turn(ctx, *ref)
	}
	quick, cancel := context.WithTimeout(ctx, saveFirstTimeout)
	defer cancel()
	t, err := a.save(quick, ref)
	if err != nil && (db.Unavailable(err) || quick.Err() != nil) && ctx.Err() == nil {
		return ref.unsaved(), nil
	}
	return t, err
}

// save writes the row of an unsaved turn and gives the turn its place in the tree;
// ref is then no longer unsaved. It is idempotent.
func (a *Activities) save(ctx context.Context, ref *TurnRef) (chat.Turn, error) {
	t := ref.unsaved()
	row, err := a.Store.SaveTurn(ctx, t)
	if err == nil && row.ID != t.ID || errors.Is(err, db.ErrTurnConflict) {
		// The client_turn_id belongs to an older turn, which the thread no longer had
		// in memory. This turn was accepted, so it is saved under its own id.
		t.ClientTurnID = t.ID
		row, err = a.Store.SaveTurn(ctx, t)
	}
	if err != nil {
		return t, err
	}
	if row.Parent == "" {
		parent, err := a.parent(ctx, row, ref.Parent)
		if err != nil {
			return t, err
		}
		if err := a.Store.MarkTurn(ctx, ref.Owner, ref.TurnID, chat.TurnRunning, parent); err != nil {
			return t, err
		}
		a.Bus.ThreadChanged(ref.ThreadID, ref.TurnID)
		if row, err = a.Store.Turn(ctx, ref.Owner, ref.TurnID); err != nil { // the store replaces a parent that was rolled back with its own parent
			return t, err
		}
	}
	ref.Parent, ref.Unsaved = row.Parent, nil
	return row, nil
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
		try, cancel := context.WithTimeout(ctx, finalWriteTimeout)
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
