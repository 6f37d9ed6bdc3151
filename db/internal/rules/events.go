package rules

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

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
	space, author := "", ""
	for i, row := range rows {
		if events[i], err = event(row.Event); err != nil {
			return nil, err
		}
		space, author = row.SpaceID, row.Author
	}
	return s.withheldEvents(ctx, owner, author, space, events)
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
		if err := s.withheldLog(ctx, owner, &logs[i]); err != nil {
			return nil, err
		}
	}
	return inOrder(ids, logs, func(l db.TurnLog) string { return l.Turn.ID }, func(l db.TurnLog) db.TurnLog { return l }), nil
}

func event(text string) (e chat.Event, err error) {
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return chat.Event{}, fmt.Errorf("stored event: %w", err)
	}
	return e, nil
}
