package rules

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

func (s *Store) Settle(ctx context.Context, e db.Settlement) (terminal chat.Event, err error) {
	ctx, end := s.short(ctx, "settle turn")
	defer end(&err)
	if !e.Status.Settled() {
		return chat.Event{}, fmt.Errorf("status %q is not final: a turn cannot settle with it", e.Status)
	}
	e.At = record.OrNow(e.At)
	err = s.db.Update(ctx, func(q Queries) error {
		if err := q.LockThread(ctx, e.ThreadID); err != nil {
			return err
		}
		rows, err := q.TurnsForSettle(ctx, e.Owner, []string{e.TurnID, chat.TurnOf(e.Parent)})
		if err != nil {
			return err
		}
		known := byID(rows)
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

func settle(ctx context.Context, q Queries, known turnsByID, row sqlcgen.Turn, e db.Settlement) error {
	if row.Place == 0 { // it never began, or its workflow could not save that it did
		if err := placeAnywhere(ctx, q, known, &row, e.Parent); err != nil {
			return err
		}
	}
	registry, tools, err := inherited(ctx, q, known, row)
	if err != nil {
		return err
	}
	row.Registry = record.Strings(record.Merge(registry, e.Registry))
	row.Approvals = record.Strings(record.Merge(tools, e.Approvals))
	row.Status, row.Hidden, row.SettledAt = string(e.Status), e.Hidden, record.Micros(e.At)
	ending, err := endingOf(row, e)
	if err != nil {
		return err
	}
	if err := q.SettleTurn(ctx, ending); err != nil {
		return err
	}
	if e.Hidden {
		return clearTitle(ctx, q, row)
	}
	return nil
}

func endingOf(row sqlcgen.Turn, e db.Settlement) (_ Ending, err error) {
	ending := Ending{Turn: row, Show: sqlcgen.ShowConversationParams{Owner: row.Owner, ID: row.ThreadID, At: row.SettledAt}}
	if !e.Hidden {
		ending.Show.Title, ending.Show.TitleFolded = e.Title, record.Fold(e.Title)
	}
	messages := record.FurtherMessages(e)
	ending.Messages = make([]Message, len(messages))
	for i, m := range messages { // the user's has number 0
		if ending.Messages[i], err = storedMessage(row.ID, i+1, m); err != nil {
			return Ending{}, err
		}
	}
	for _, ev := range record.Log(e) {
		text, err := record.JSON(ev)
		if err != nil {
			return Ending{}, fmt.Errorf("event %d: %w", ev.N, err)
		}
		ending.Events = append(ending.Events, Event{TurnID: row.ID, N: int64(ev.N), Event: text})
	}
	return ending, nil
}

func storedMessage(turnID string, n int, m chat.Message) (Message, error) {
	stored := Message{TurnID: turnID, N: int64(n), Role: m.Role, CreatedAt: record.Micros(m.CreatedAt), Content: m.Content}
	if m.Metadata == nil {
		return stored, nil
	}
	var err error
	if stored.Metadata, err = record.JSON(m.Metadata); err != nil {
		return Message{}, fmt.Errorf("metadata: %w", err)
	}
	return stored, nil
}

// clearTitle removes a title that was made from a rolled back turn: a thread that
// shows no other turn has no title.
func clearTitle(ctx context.Context, q Queries, row sqlcgen.Turn) error {
	head, err := threadHead(ctx, q, row.Owner, row.ThreadID)
	if err != nil || head != chat.RootCheckpoint {
		return err
	}
	title, err := titleFrom(row)
	if err != nil {
		return err
	}
	return q.ClearTitle(ctx, sqlcgen.ClearTitleParams{Owner: row.Owner, ID: row.ThreadID, Title: title})
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

// inherited is the parent's registry of documents and its approved tools.
func inherited(ctx context.Context, q Queries, known turnsByID, row sqlcgen.Turn) (registry, tools []string, err error) {
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

func (s *Store) Events(ctx context.Context, owner, turnID string, after int) (_ []chat.Event, err error) {
	ctx, end := s.short(ctx, "read events")
	defer end(&err)
	read := sqlcgen.EventsAfterParams{Owner: owner, TurnID: turnID, AfterN: int64(after)}
	rows, err := s.db.Read.EventsAfter(ctx, read)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		row, err := s.db.Read.Turn(ctx, sqlcgen.TurnParams{Owner: owner, ID: turnID})
		if err == nil && row.SettledAt == 0 {
			err = db.ErrNotFound
		}
		if err != nil {
			return nil, err
		}
		if rows, err = s.db.Read.EventsAfter(ctx, read); err != nil { // the turn may have settled between the reads
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
	ctx, end := s.short(ctx, "read logs")
	defer end(&err)
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := s.db.Read.TurnsByID(ctx, owner, ids)
	if err != nil {
		return nil, err
	}
	// Read after the turns, so that a turn that was read as settled has its events.
	logged, err := s.db.Read.EventsOfTurns(ctx, owner, ids)
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
