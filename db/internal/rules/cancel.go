package rules

import (
	"context"
	"errors"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

// runCancelReach is the most time between the sending of a turn and a cancel by
// stream_run_id that matches it, in either order. Clients may reuse such an id.
const runCancelReach = time.Minute

func (s *Store) FindTurn(ctx context.Context, owner string, ref db.CancelRef) (_ chat.Turn, err error) {
	ctx, end := s.short(ctx, "find turn")
	defer end(&err)
	kind, id, err := cancelKind(ref)
	if err != nil {
		return chat.Turn{}, err
	}
	var row sqlcgen.Turn
	switch {
	case kind == "turn":
		row, err = s.db.Read.Turn(ctx, sqlcgen.TurnParams{Owner: owner, ID: id})
	case kind == "run":
		row, err = s.db.Read.TurnByRunID(ctx, sqlcgen.TurnByRunIDParams{Owner: owner, RunID: id})
	case ref.ThreadID == "":
		row, err = s.db.Read.NewestTurnByClientID(ctx, sqlcgen.NewestTurnByClientIDParams{Owner: owner, ClientTurnID: id})
	default:
		row, err = s.db.Read.TurnByClientID(ctx, sqlcgen.TurnByClientIDParams{Owner: owner, ThreadID: ref.ThreadID, ClientTurnID: id})
	}
	if err != nil {
		return chat.Turn{}, err
	}
	return turn(row)
}

func (s *Store) Cancel(ctx context.Context, owner string, ref db.CancelRef, reason chat.CancelReason) (err error) {
	ctx, end := s.short(ctx, "cancel")
	defer end(&err)
	kind, id, err := cancelKind(ref)
	if err != nil {
		return err
	}
	put := sqlcgen.PutCancelParams{Owner: owner, Kind: kind, Ref: id, Reason: string(reason), At: record.Micros(time.Now())}
	if kind == "client" {
		put.ThreadID = ref.ThreadID
	}
	return s.db.Update(ctx, func(q Queries) error {
		if err := q.LockCancels(ctx, owner); err != nil {
			return err
		}
		if err := q.PruneCancels(ctx, record.Micros(time.Now().Add(-24*time.Hour))); err != nil {
			return err
		}
		return q.PutCancel(ctx, put)
	})
}

func (s *Store) Cancelled(ctx context.Context, t chat.Turn) (cancelled bool, err error) {
	ctx, end := s.short(ctx, "look for a cancel")
	defer end(&err)
	return s.db.Read.TurnCancelled(ctx, cancelsOf(t))
}

// cancelsOf names the cancels that match a turn.
func cancelsOf(t chat.Turn) sqlcgen.TurnCancelledParams {
	return sqlcgen.TurnCancelledParams{
		Owner: t.Owner, TurnID: t.ID, ClientTurnID: t.ClientTurnID, ThreadID: t.ThreadID, RunID: t.StreamRunID,
		Since: record.Micros(t.CreatedAt.Add(-runCancelReach)), Until: record.Micros(t.CreatedAt.Add(runCancelReach))}
}

// cancelKind is which of a CancelRef's ids is set: turn, client or run.
func cancelKind(ref db.CancelRef) (kind, id string, err error) {
	named := 0
	for _, k := range [...]struct{ kind, id string }{
		{"turn", ref.TurnID}, {"client", ref.ClientTurnID}, {"run", ref.StreamRunID},
	} {
		if k.id != "" {
			kind, id = k.kind, k.id
			named++
		}
	}
	if named != 1 {
		return "", "", errors.New("exactly one of turn_id, client_turn_id and stream_run_id names a turn")
	}
	return kind, id, nil
}
