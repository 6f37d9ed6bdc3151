package activities

import (
	"context"
	"errors"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// How long a turn that was taken without the database tries to reach it before
// it begins without.
const saveFirst = 500 * time.Millisecond

// load reads the turn. Of one that could not be saved before, the row is written
// now; when the database is still away, the turn is what its submit brought, ref
// keeps its Unsaved, and everything else that the store would tell is unknown.
func (a *Activities) load(ctx context.Context, ref *TurnRef) (chat.Turn, error) {
	if ref.Unsaved == nil {
		return a.turn(ctx, *ref)
	}
	quick, cancel := context.WithTimeout(ctx, saveFirst)
	defer cancel()
	t, err := a.save(quick, ref)
	if err != nil && (away(err) || quick.Err() != nil) && ctx.Err() == nil {
		return ref.unsaved(), nil
	}
	return t, err
}

// save writes the row of a turn that was taken while the database was away, and
// gives the turn its place in the tree; ref is then one like any other. Saving
// what is saved changes nothing.
func (a *Activities) save(ctx context.Context, ref *TurnRef) (chat.Turn, error) {
	t := ref.unsaved()
	row, err := a.Store.SaveTurn(ctx, t)
	if err == nil && row.ID != t.ID || errors.Is(err, db.ErrTurnConflict) {
		// The client_turn_id is that of a turn which the thread had forgotten. What
		// was accepted is not lost all the same: this one stands for itself.
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
		if row, err = a.Store.Turn(ctx, ref.Owner, ref.TurnID); err != nil { // a parent that was rolled back gives way to its own
			return t, err
		}
	}
	ref.Parent, ref.Unsaved = row.Parent, nil
	return row, nil
}

// unsaved is the turn as its submit brought it.
func (r TurnRef) unsaved() chat.Turn {
	return chat.Turn{
		ID: r.TurnID, ThreadID: r.ThreadID, Owner: r.Owner, StreamRunID: r.RunID, Status: chat.TurnNew,
		ClientTurnID: r.Unsaved.ClientTurnID, Content: r.Unsaved.Content, ContentHash: r.Unsaved.ContentHash, CreatedAt: r.Unsaved.CreatedAt,
		Generation: r.Unsaved.Generation,
	}
}

// away reports whether err means that the database cannot be reached, or does
// not answer in time.
func away(err error) bool {
	return errors.Is(err, db.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
}

// lasting calls write until the database takes it, for as long as patience. It
// ends early with ctx.
func lasting(ctx context.Context, patience time.Duration, write func(context.Context) error) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		try, cancel := context.WithTimeout(ctx, lastWrite)
		err := write(try)
		cancel()
		if err == nil || !away(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-timer.C:
			return err
		case <-time.After(saveAgain):
		}
	}
}
