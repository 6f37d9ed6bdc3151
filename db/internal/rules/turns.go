package rules

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

func (s *Store) Turn(ctx context.Context, owner, id string) (_ chat.Turn, err error) {
	ctx, end := s.short(ctx, "read turn")
	defer end(&err)
	row, err := s.db.Read.Turn(ctx, sqlcgen.TurnParams{Owner: owner, ID: id})
	if err != nil {
		return chat.Turn{}, err
	}
	return turn(row)
}

func (s *Store) BeginTurn(ctx context.Context, owner, turnID string, parent func(db.TurnContext) string) (c db.TurnContext, err error) {
	ctx, end := s.short(ctx, "begin turn")
	defer end(&err)
	var head sqlcgen.Turn
	err = s.db.Update(ctx, func(q Queries) error {
		if err := q.LockThreadOfTurn(ctx, owner, turnID); err != nil {
			return err
		}
		rows, err := q.TurnContext(ctx, sqlcgen.TurnContextParams{Owner: owner, ID: turnID, Reach: runCancelReach.Microseconds()})
		if err != nil {
			return err
		}
		var known turnsByID
		if c, head, known, err = turnContext(rows, turnID); err != nil {
			return err
		}
		if c.Turn.Status.Settled() {
			return nil
		}
		under := parent(c)
		if under == "" {
			return nil
		}
		row := known[turnID]
		row.Asks = ""
		row, err = markTurn(ctx, q, known, row, chat.TurnRunning, under)
		c.Turn.Parent = row.Parent
		return err
	})
	if err != nil {
		return db.TurnContext{}, err
	}
	if head.SettledAt == 0 {
		c.Approvals, err = s.Approvals(ctx, owner, head.ThreadID, head.ID)
	}
	return c, err
}

// turnContext returns a turn's context without the approvals of a head that is not settled, the
// head, and the turns that were read.
func turnContext(rows []sqlcgen.TurnContextRow, turnID string) (c db.TurnContext, head sqlcgen.Turn, known turnsByID, err error) {
	found := false
	head, known = sqlcgen.Turn{ID: chat.RootCheckpoint, Approvals: "[]", Registry: "[]", SettledAt: 1}, turnsByID{}
	for _, row := range rows {
		known[row.Turn.ID] = row.Turn
		t, err := turn(row.Turn)
		if err != nil {
			return c, head, nil, err
		}
		if t.ID == turnID {
			found, c.Turn, c.Cancelled, c.Imports = true, t, row.Cancelled, row.Imports
			c.Profile = chat.Profile{Industry: row.Industry, Location: row.Location, HideSamples: row.HideSamples, Instructions: row.Instructions}
		}
		if row.Turn.SettledAt == 0 && t.Status != chat.TurnNew {
			c.Open = append(c.Open, t)
		}
		if row.OfTree && row.Turn.Place > head.Place {
			head = row.Turn
		}
	}
	if !found {
		return c, head, nil, db.ErrNotFound
	}
	if c.Head = head.ID; head.SettledAt == 0 {
		return c, head, known, nil
	}
	if c.Registry, err = registryOf(head.ID, head.Registry); err == nil {
		c.Approvals, err = approvals(head.ID, head.Approvals)
	}
	return c, head, known, err
}

func (s *Store) OpenTurns(ctx context.Context, owner, threadID string) (_ []chat.Turn, err error) {
	ctx, end := s.short(ctx, "list open turns")
	defer end(&err)
	rows, err := s.db.Read.OpenTurns(ctx, sqlcgen.OpenTurnsParams{Owner: owner, ThreadID: threadID})
	if err == nil && len(rows) == 0 {
		err = s.known(ctx, owner, threadID)
	}
	if err != nil {
		return nil, err
	}
	return turns(rows)
}

func (s *Store) TurnsOfRun(ctx context.Context, owner, runID string) (_ []chat.Turn, err error) {
	ctx, end := s.short(ctx, "list turns of a run")
	defer end(&err)
	rows, err := s.db.Read.TurnsByRunID(ctx, sqlcgen.TurnsByRunIDParams{Owner: owner, RunID: runID})
	if err != nil {
		return nil, err
	}
	return turns(rows)
}

// justSent is how long a turn that no workflow has accepted counts as open.
const justSent = time.Minute

func (s *Store) CountOpenTurns(ctx context.Context, owner, threadID string) (here, busy int, err error) {
	ctx, end := s.short(ctx, "count open turns")
	defer end(&err)
	n, err := s.db.Read.CountOpenTurns(ctx, sqlcgen.CountOpenTurnsParams{
		Owner: owner, ThreadID: threadID, SentAfter: record.Micros(time.Now().Add(-justSent))})
	return int(n.Here), int(n.Busy), err
}

func found(ok bool) error {
	if !ok {
		return db.ErrNotFound
	}
	return nil
}

func turns(rows []sqlcgen.Turn) (_ []chat.Turn, err error) {
	list := make([]chat.Turn, len(rows))
	for i, row := range rows {
		if list[i], err = turn(row); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func turn(row sqlcgen.Turn) (chat.Turn, error) {
	t := chat.Turn{
		ID: row.ID, ThreadID: row.ThreadID, Owner: row.Owner, Parent: row.Parent,
		ClientTurnID: row.ClientTurnID, StreamRunID: row.StreamRunID, ContentHash: row.ContentHash,
		Status: chat.TurnStatus(row.Status), CreatedAt: record.Time(row.CreatedAt), SettledAt: record.Time(row.SettledAt),
		Place: int(row.Place), Generation: int(row.Generation), Space: row.SpaceID, Author: row.Author,
	}
	if err := json.Unmarshal([]byte(row.Content), &t.Content); err != nil {
		return chat.Turn{}, fmt.Errorf("content of turn %s: %w", row.ID, err)
	}
	return t, nil
}
