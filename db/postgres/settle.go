package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/postgres/sqlcgen"
)

func (s *Store) Settle(ctx context.Context, e db.Settlement) (terminal chat.Event, err error) {
	ctx, end := s.shortCall(ctx, "settle turn")
	defer end(&err)
	if !e.Status.Settled() {
		return chat.Event{}, fmt.Errorf("status %q is not final: a turn cannot settle with it", e.Status)
	}
	e.At = record.OrNow(e.At)
	err = s.update(ctx, func(q *sqlcgen.Queries) error {
		if err := q.LockThread(ctx, e.ThreadID); err != nil {
			return err
		}
		known, err := turnsForSettle(ctx, q, e)
		if err != nil {
			return err
		}
		row, ok := known[e.TurnID]
		if !ok || row.ThreadID != e.ThreadID {
			return db.ErrNotFound
		}
		if row.SettledAt != 0 {
			stored, err := q.LastEvent(ctx, e.TurnID)
			if err != nil {
				return err
			}
			terminal, err = event(stored)
			return err
		}
		terminal = e.Terminal
		return settle(ctx, q, known, row, e)
	})
	return terminal, err
}

func settle(ctx context.Context, q *sqlcgen.Queries, known turnsByID, row sqlcgen.Turn, e db.Settlement) error {
	if row.Place == 0 { // it never began, or its workflow could not save that it did
		if err := placeAnywhere(ctx, q, known, &row, e.Parent); err != nil {
			return err
		}
	}
	registry, tools, err := inherited(ctx, q, known, row)
	if err != nil {
		return err
	}
	if e.Hidden {
		e.Title = ""
	}
	end := sqlcgen.SettleTurnParams{
		Owner: e.Owner, ThreadID: e.ThreadID, ID: e.TurnID, Status: string(e.Status), Parent: row.Parent, Place: row.Place,
		Registry: record.Strings(record.Merge(registry, e.Registry)), Approvals: record.Strings(record.Merge(tools, e.Approvals)),
		Hidden: e.Hidden, At: record.Micros(e.At), Title: e.Title, TitleFolded: record.Fold(e.Title)}
	if err := addMessages(&end, e); err != nil {
		return err
	}
	if err := addEvents(&end, e); err != nil {
		return err
	}
	if err := q.SettleTurn(ctx, end); err != nil {
		return err
	}
	if e.Hidden {
		return unname(ctx, q, row)
	}
	return nil
}

// turnsForSettle reads the turn that ends and its parent.
func turnsForSettle(ctx context.Context, q *sqlcgen.Queries, e db.Settlement) (turnsByID, error) {
	rows, err := q.TurnsForSettle(ctx, sqlcgen.TurnsForSettleParams{Owner: e.Owner, Ids: []string{e.TurnID, chat.TurnOf(e.Parent)}})
	return byID(rows), err
}

// unname removes a title that was made from a rolled back turn: a thread that
// shows no other turn has no title.
func unname(ctx context.Context, q *sqlcgen.Queries, row sqlcgen.Turn) error {
	head, err := threadHead(ctx, q, row.Owner, row.ThreadID)
	if err != nil || head != chat.RootCheckpoint {
		return err
	}
	t, err := turn(row)
	if err != nil {
		return err
	}
	return q.UnnameConversation(ctx, sqlcgen.UnnameConversationParams{
		Owner: t.Owner, ID: t.ThreadID, Title: chat.TitleFrom(t.Content.Message)})
}

// placeAnywhere places a turn that ends without a place: under the parent it
// names, else under the thread's head. So every turn can end.
func placeAnywhere(ctx context.Context, q *sqlcgen.Queries, known turnsByID, row *sqlcgen.Turn, parent string) error {
	for _, candidate := range []string{parent, row.Parent} {
		if candidate == "" {
			continue
		}
		err := place(ctx, q, known, row, candidate)
		if !errors.Is(err, db.ErrNotFound) && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
	}
	head, err := threadHead(ctx, q, row.Owner, row.ThreadID)
	if err != nil {
		return err
	}
	return place(ctx, q, known, row, head)
}

// inherited is the parent's registry of documents and its approved tools.
func inherited(ctx context.Context, q *sqlcgen.Queries, known turnsByID, row sqlcgen.Turn) (registry, tools []string, err error) {
	if row.Parent == chat.RootCheckpoint {
		return nil, nil, nil
	}
	parent, err := known.turn(ctx, q, row.Owner, row.Parent)
	if err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal([]byte(parent.Registry), &registry); err != nil {
		return nil, nil, fmt.Errorf("registry of turn %s: %w", parent.ID, err)
	}
	tools, err = approvals(parent.ID, parent.Approvals)
	return registry, tools, err
}

// addMessages adds the messages after the user's, which InsertTurn has written.
func addMessages(end *sqlcgen.SettleTurnParams, e db.Settlement) error {
	for i, m := range record.FurtherMessages(e) {
		metadata, err := storedMetadata(m)
		if err != nil {
			return err
		}
		end.MessageNumbers = append(end.MessageNumbers, int64(i+1))
		end.Roles = append(end.Roles, m.Role)
		end.SaidAt = append(end.SaidAt, record.Micros(m.CreatedAt))
		end.Contents = append(end.Contents, m.Content)
		end.Metadata = append(end.Metadata, metadata)
	}
	return nil
}

func addEvents(end *sqlcgen.SettleTurnParams, e db.Settlement) error {
	for _, ev := range record.Log(e) {
		text, err := record.JSON(ev)
		if err != nil {
			return fmt.Errorf("event %d: %w", ev.N, err)
		}
		end.EventNumbers, end.Events = append(end.EventNumbers, int64(ev.N)), append(end.Events, text)
	}
	return nil
}

func storedMetadata(m chat.Message) (string, error) {
	if m.Metadata == nil {
		return "", nil
	}
	text, err := record.JSON(m.Metadata)
	if err != nil {
		return "", fmt.Errorf("metadata: %w", err)
	}
	return text, nil
}

func (s *Store) Events(ctx context.Context, owner, turnID string, after int) (_ []chat.Event, err error) {
	ctx, end := s.shortCall(ctx, "read events")
	defer end(&err)
	read := sqlcgen.EventsAfterParams{Owner: owner, TurnID: turnID, AfterN: int64(after)}
	rows, err := s.q.EventsAfter(ctx, read)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		row, err := s.q.Turn(ctx, sqlcgen.TurnParams{Owner: owner, ID: turnID})
		if err == nil && row.SettledAt == 0 {
			err = db.ErrNotFound
		}
		if err != nil {
			return nil, err
		}
		if rows, err = s.q.EventsAfter(ctx, read); err != nil { // the turn may have settled between the reads
			return nil, err
		}
	}
	events := make([]chat.Event, len(rows))
	for i, text := range rows {
		if events[i], err = event(text); err != nil {
			return nil, err
		}
	}
	return events, nil
}

func (s *Store) Logs(ctx context.Context, owner string, ids []string) (_ []db.TurnLog, err error) {
	ctx, end := s.shortCall(ctx, "read logs")
	defer end(&err)
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := s.q.TurnsByID(ctx, sqlcgen.TurnsByIDParams{Owner: owner, Ids: ids})
	if err != nil {
		return nil, err
	}
	// Read after the turns, so that a turn that was read as settled has its events.
	logged, err := s.q.EventsOfTurns(ctx, sqlcgen.EventsOfTurnsParams{Owner: owner, Ids: ids})
	if err != nil {
		return nil, err
	}
	events := map[string][]chat.Event{}
	for _, row := range logged {
		e, err := event(row.Event)
		if err != nil {
			return nil, err
		}
		events[row.TurnID] = append(events[row.TurnID], e)
	}
	logs := make([]db.TurnLog, len(rows))
	for i, row := range rows {
		if logs[i].Turn, err = turn(row); err != nil {
			return nil, err
		}
		logs[i].Events = events[row.ID]
	}
	return inOrder(ids, logs, func(l db.TurnLog) string { return l.Turn.ID }, func(l db.TurnLog) db.TurnLog { return l }), nil
}

func event(text string) (e chat.Event, err error) {
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return chat.Event{}, fmt.Errorf("stored event: %w", err)
	}
	return e, nil
}
