package rules

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

func (s *Store) MarkTurn(ctx context.Context, owner, id string, status chat.TurnStatus, parent string) error {
	return s.mark(ctx, owner, id, status, "", parent)
}

func (s *Store) MarkAsking(ctx context.Context, owner, id string, asks chat.InterruptType, parent string) error {
	return s.mark(ctx, owner, id, chat.TurnInterrupted, asks, parent)
}

func (s *Store) mark(ctx context.Context, owner, id string, status chat.TurnStatus, asks chat.InterruptType, parent string) (err error) {
	ctx, end := s.short(ctx, "mark turn")
	defer end(&err)
	switch status {
	case chat.TurnAccepted, chat.TurnRunning, chat.TurnInterrupted:
	default:
		return fmt.Errorf("a turn cannot be marked %q", status)
	}
	if status == chat.TurnAccepted && parent == "" { // usually it has begun by now, and there is nothing to write
		row, err := s.db.Read.Turn(ctx, sqlcgen.TurnParams{Owner: owner, ID: id})
		if err != nil || row.Status != string(chat.TurnNew) && row.Place > 0 {
			return err
		}
	}
	return s.db.Update(ctx, func(q Queries) error {
		if err := q.LockThreadOfTurn(ctx, owner, id); err != nil {
			return err
		}
		known, err := knownTurns(ctx, q, owner, id, parent)
		if err != nil {
			return err
		}
		row, ok := known[id]
		if !ok || row.SettledAt != 0 {
			return found(ok)
		}
		row.Asks = string(asks)
		_, err = markTurn(ctx, q, known, row, status, parent)
		return err
	})
}

// markTurn returns the turn as it is stored then, but for its place.
func markTurn(ctx context.Context, q Queries, known turnsByID, row sqlcgen.Turn, status chat.TurnStatus, parent string) (_ sqlcgen.Turn, err error) {
	var show *sqlcgen.ShowConversationParams
	if row.Status == string(chat.TurnNew) {
		if show, err = showWith(row); err != nil {
			return row, err
		}
	}
	// The status accepted may be written after the turn has begun.
	if status != chat.TurnAccepted || row.Status == string(chat.TurnNew) {
		row.Status = string(status)
	}
	if parent == "" && row.Place == 0 {
		parent = row.Parent
	}
	if parent != "" {
		if row.Parent, err = placedUnder(ctx, q, known, row, parent); err != nil {
			return row, err
		}
		if row.Place == 0 {
			return row, q.PlaceTurn(ctx, row, show)
		}
	}
	if show != nil {
		if err := q.ShowConversation(ctx, *show); err != nil {
			return row, err
		}
	}
	return row, q.MarkTurn(ctx, sqlcgen.MarkTurnParams{Owner: row.Owner, ID: row.ID, Status: row.Status, Asks: row.Asks, Parent: row.Parent, Place: row.Place})
}

func (s *Store) UnmarkTurn(ctx context.Context, owner, id string, status chat.TurnStatus) (err error) {
	ctx, end := s.short(ctx, "unmark turn")
	defer end(&err)
	if status != chat.TurnNew && status != chat.TurnAccepted {
		return fmt.Errorf("a turn cannot be unmarked to %q", status)
	}
	return s.db.Update(ctx, func(q Queries) error {
		if err := q.LockThreadOfTurn(ctx, owner, id); err != nil {
			return err
		}
		row, err := q.Turn(ctx, sqlcgen.TurnParams{Owner: owner, ID: id})
		if err != nil || row.SettledAt != 0 {
			return err
		}
		// A turn that was saved during an outage may follow it already.
		if err := q.PassOnChildren(ctx, sqlcgen.PassOnChildrenParams{Owner: owner, ThreadID: row.ThreadID, ID: id, Parent: row.Parent}); err != nil {
			return err
		}
		return q.MarkTurn(ctx, sqlcgen.MarkTurnParams{Owner: owner, ID: id, Status: string(status)})
	})
}

// placeAnywhere places a turn that ends without a place: under the parent it
// names, else under the thread's head. So every turn can end.
func placeAnywhere(ctx context.Context, q Queries, known turnsByID, row *sqlcgen.Turn, parent string) error {
	for _, candidate := range []string{parent, row.Parent} {
		if candidate == "" {
			continue
		}
		err := place(ctx, q, known, row, candidate)
		if !errors.Is(err, db.ErrNotFound) && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	head, err := threadHead(ctx, q, row.Owner, row.ThreadID)
	if err != nil {
		return err
	}
	return place(ctx, q, known, row, head)
}

// place puts a turn under parent in its thread's tree; a turn without a place gets
// the last one. ErrNotFound as for placedUnder.
func place(ctx context.Context, q Queries, known turnsByID, row *sqlcgen.Turn, parent string) (err error) {
	if row.Parent, err = placedUnder(ctx, q, known, *row, parent); err != nil || row.Place > 0 {
		return err
	}
	row.Place, err = q.NextPlace(ctx, sqlcgen.NextPlaceParams{Owner: row.Owner, ThreadID: row.ThreadID})
	return err
}

// placedUnder is the parent that a turn gets. It must have an earlier place, so that
// there are no cycles; a rolled back turn is replaced by its own parent. ErrNotFound
// when there is no such parent.
func placedUnder(ctx context.Context, q Queries, known turnsByID, row sqlcgen.Turn, parent string) (string, error) {
	for parent = chat.TurnOf(parent); parent != chat.RootCheckpoint; {
		p, err := known.turn(ctx, q, row.Owner, parent)
		if err != nil {
			return "", err
		}
		if p.ThreadID != row.ThreadID || p.Place == 0 || (row.Place > 0 && p.Place >= row.Place) {
			return "", db.ErrNotFound
		}
		if !p.Hidden {
			break
		}
		parent = p.Parent
	}
	return parent, nil
}

// turnsByID are turns that the transaction has read already.
type turnsByID map[string]sqlcgen.Turn

// knownTurns reads turns by their ids or checkpoints, in one statement.
func knownTurns(ctx context.Context, q Queries, owner string, ids ...string) (turnsByID, error) {
	for i, id := range ids {
		ids[i] = chat.TurnOf(id)
	}
	rows, err := q.TurnsByID(ctx, owner, ids)
	return byID(rows), err
}

func byID(rows []sqlcgen.Turn) turnsByID {
	known := turnsByID{}
	for _, row := range rows {
		known[row.ID] = row
	}
	return known
}

// turn returns a known turn or reads it.
func (known turnsByID) turn(ctx context.Context, q Queries, owner, id string) (sqlcgen.Turn, error) {
	if row, ok := known[id]; ok {
		return row, nil
	}
	return q.Turn(ctx, sqlcgen.TurnParams{Owner: owner, ID: id})
}

func (s *Store) Head(ctx context.Context, owner, threadID string) (head string, err error) {
	ctx, end := s.short(ctx, "read head")
	defer end(&err)
	head, err = s.db.Read.HeadOfConversation(ctx, sqlcgen.HeadOfConversationParams{Owner: owner, ThreadID: threadID})
	if err == nil && head == "" {
		head = chat.RootCheckpoint
	}
	return head, err
}

// threadHead is the newest turn of the thread's tree. Turns that wait for their
// parent are not in the tree: they will follow the head.
func threadHead(ctx context.Context, q Queries, owner, threadID string) (string, error) {
	head, err := q.Head(ctx, sqlcgen.HeadParams{Owner: owner, ThreadID: threadID})
	if errors.Is(err, sql.ErrNoRows) {
		return chat.RootCheckpoint, nil
	}
	return head, err
}

func (s *Store) Newest(ctx context.Context, owner, threadID string) (newest db.Newest, err error) {
	ctx, end := s.short(ctx, "read the newest message")
	defer end(&err)
	row, err := s.db.Read.HeadTurn(ctx, sqlcgen.HeadTurnParams{Owner: owner, ThreadID: threadID})
	newest.Open = row.Open
	if err != nil || row.ID == "" {
		return newest, err
	}
	t, err := turn(sqlcgen.Turn{ID: row.ID, Content: row.Content})
	newest.Content, newest.Any = t.Content, err == nil
	return newest, err
}

func (s *Store) LastPlace(ctx context.Context, owner, threadID string) (place int, err error) {
	ctx, end := s.short(ctx, "read the last place")
	defer end(&err)
	last, err := s.db.Read.LastPlace(ctx, sqlcgen.LastPlaceParams{Owner: owner, ThreadID: threadID})
	if err == nil && last == 0 {
		err = s.known(ctx, owner, threadID)
	}
	return int(last), err
}

func (s *Store) TurnsAfter(ctx context.Context, owner, threadID string, place, limit int) (_ []chat.Turn, err error) {
	ctx, end := s.short(ctx, "read the next turns")
	defer end(&err)
	rows, err := s.db.Read.TurnsAfter(ctx, sqlcgen.TurnsAfterParams{
		Owner: owner, ThreadID: threadID, Place: int64(place), MaxRows: int64(record.Clamp(limit, record.MaxHistory))})
	if err == nil && len(rows) == 0 {
		err = s.known(ctx, owner, threadID)
	}
	if err != nil {
		return nil, err
	}
	return turns(rows)
}
