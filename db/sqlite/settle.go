package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/sqlite/sqlcgen"
)

func (s *Store) Settle(ctx context.Context, e db.Settlement) (terminal chat.Event, err error) {
	defer s.wrap("settle turn", &err)
	if !e.Status.Settled() {
		return chat.Event{}, fmt.Errorf("status %q is not final: a turn cannot settle with it", e.Status)
	}
	e.At = record.OrNow(e.At)
	err = s.update(ctx, func(q *sqlcgen.Queries) error {
		row, err := q.Turn(ctx, sqlcgen.TurnParams{Owner: e.Owner, ID: e.TurnID})
		if err != nil {
			return err
		}
		if row.ThreadID != e.ThreadID {
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
		return settle(ctx, q, row, e)
	})
	return terminal, err
}

func settle(ctx context.Context, q *sqlcgen.Queries, row sqlcgen.Turn, e db.Settlement) error {
	if row.Place == 0 { // it never began, or its workflow could not save that it did
		if err := placeAnywhere(ctx, q, &row, e.Parent); err != nil {
			return err
		}
	}
	registry, approvals, err := inherited(ctx, q, row)
	if err != nil {
		return err
	}
	err = q.SettleTurn(ctx, sqlcgen.SettleTurnParams{
		Owner: e.Owner, ID: e.TurnID, Status: string(e.Status), Parent: row.Parent, Place: row.Place,
		Registry: record.Strings(record.Merge(registry, e.Registry)), Approvals: record.Strings(record.Merge(approvals, e.Approvals)),
		Hidden: number(e.Hidden), At: record.Micros(e.At)})
	if err != nil {
		return err
	}
	if err := insertMessages(ctx, q, e); err != nil {
		return err
	}
	for _, ev := range record.Log(e) {
		text, err := record.JSON(ev)
		if err != nil {
			return fmt.Errorf("event %d: %w", ev.N, err)
		}
		if err := q.InsertEvent(ctx, sqlcgen.InsertEventParams{TurnID: e.TurnID, N: int64(ev.N), Event: text}); err != nil {
			return err
		}
	}
	switch {
	case e.Hidden:
		if err := unname(ctx, q, row); err != nil {
			return err
		}
	case e.Title != "":
		err := q.TitleConversation(ctx, sqlcgen.TitleConversationParams{
			Owner: e.Owner, ID: e.ThreadID, Title: e.Title, TitleFolded: record.Fold(e.Title)})
		if err != nil {
			return err
		}
	}
	err = q.ListConversation(ctx, sqlcgen.ListConversationParams{Owner: e.Owner, ID: e.ThreadID, At: record.Micros(e.At)})
	if err != nil {
		return err
	}
	if err := q.DeleteTexts(ctx, e.TurnID); err != nil {
		return err
	}
	return q.DeleteDrafts(ctx, e.TurnID)
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
func placeAnywhere(ctx context.Context, q *sqlcgen.Queries, row *sqlcgen.Turn, parent string) error {
	for _, candidate := range []string{parent, row.Parent} {
		if candidate == "" {
			continue
		}
		err := place(ctx, q, row, candidate)
		if !errors.Is(err, db.ErrNotFound) && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	head, err := threadHead(ctx, q, row.Owner, row.ThreadID)
	if err != nil {
		return err
	}
	return place(ctx, q, row, head)
}

// inherited is the parent's registry of documents and its approved tools.
func inherited(ctx context.Context, q *sqlcgen.Queries, row sqlcgen.Turn) (registry, approvals []string, err error) {
	if row.Parent == chat.RootCheckpoint {
		return nil, nil, nil
	}
	parent, err := q.Turn(ctx, sqlcgen.TurnParams{Owner: row.Owner, ID: row.Parent})
	if err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal([]byte(parent.Registry), &registry); err != nil {
		return nil, nil, fmt.Errorf("registry of turn %s: %w", parent.ID, err)
	}
	if err := json.Unmarshal([]byte(parent.Approvals), &approvals); err != nil {
		return nil, nil, fmt.Errorf("approvals of turn %s: %w", parent.ID, err)
	}
	return registry, approvals, nil
}

// insertMessages writes the messages after the user's, which InsertTurn has written.
func insertMessages(ctx context.Context, q *sqlcgen.Queries, e db.Settlement) error {
	for i, m := range record.FurtherMessages(e) {
		if err := insertMessage(ctx, q, e.TurnID, i+1, m); err != nil {
			return err
		}
	}
	return nil
}

func insertMessage(ctx context.Context, q *sqlcgen.Queries, turnID string, n int, m chat.Message) error {
	metadata := ""
	if m.Metadata != nil {
		var err error
		if metadata, err = record.JSON(m.Metadata); err != nil {
			return fmt.Errorf("metadata: %w", err)
		}
	}
	return q.InsertMessage(ctx, sqlcgen.InsertMessageParams{
		TurnID: turnID, N: int64(n), Role: m.Role, CreatedAt: record.Micros(m.CreatedAt),
		Content: m.Content, Metadata: metadata})
}

func (s *Store) Events(ctx context.Context, owner, turnID string, after int) (_ []chat.Event, err error) {
	defer s.wrap("read events", &err)
	row, err := s.read.Turn(ctx, sqlcgen.TurnParams{Owner: owner, ID: turnID})
	if err != nil {
		return nil, err
	}
	if row.SettledAt == 0 {
		return nil, db.ErrNotFound
	}
	// A settled turn's log never changes, so this need not be the same transaction.
	rows, err := s.read.EventsAfter(ctx, sqlcgen.EventsAfterParams{Owner: owner, TurnID: turnID, AfterN: int64(after)})
	if err != nil {
		return nil, err
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
	defer s.wrap("read logs", &err)
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := s.read.TurnsByID(ctx, sqlcgen.TurnsByIDParams{Owner: owner, Ids: record.Strings(ids)})
	if err != nil {
		return nil, err
	}
	// Read after the turns, so that a turn that was read as settled has its events.
	logged, err := s.read.EventsOfTurns(ctx, sqlcgen.EventsOfTurnsParams{Owner: owner, Ids: record.Strings(ids)})
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
	return logs, nil
}

func event(text string) (e chat.Event, err error) {
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return chat.Event{}, fmt.Errorf("stored event: %w", err)
	}
	return e, nil
}
