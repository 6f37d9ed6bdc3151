package activities

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// LostAfter is how old a turn is before it counts as lost because the open
// workflow of its thread does not have it. A submit writes the row before the
// workflow has the turn, and tries for 20 s.
const LostAfter = time.Minute

// SettleLost ends a turn that no workflow has, as Settle would: cancelled when
// somebody asked to stop it, else failed. The log and the partial answer are made
// of what the turn's rows hold. It runs outside of Temporal, and is idempotent:
// what ended the turn first stands.
//
// stopped is the reason of a stop that is asked for now; empty: a tombstone
// decides.
func (a *Activities) SettleLost(ctx context.Context, t chat.Turn, stopped chat.CancelReason) (chat.Event, error) {
	if stopped == "" {
		cancelled, err := a.Store.Cancelled(ctx, t.Owner, t.ID)
		if err != nil {
			return chat.Event{}, err
		}
		if cancelled {
			stopped = chat.UserCancelled
		}
	}
	texts, err := a.Store.Texts(ctx, t.Owner, t.ID)
	if err != nil && !errors.Is(err, db.ErrSettled) { // settle finds the end of one that is over
		return chat.Event{}, err
	}
	e := Ending{
		TurnRef: TurnRef{Owner: t.Owner, ThreadID: t.ThreadID, TurnID: t.ID, Parent: t.Parent, RunID: t.StreamRunID},
		Status:  chat.TurnFailed, Code: chat.CodeTurnLost,
	}
	if stopped != "" {
		e.Status, e.Code, e.Reason = chat.TurnCancelled, "", stopped
	}
	e.Log, e.Usage = rebuiltLog(t, texts)
	end, err := a.settle(ctx, e, a.settlement)
	if err == nil || away(err) || errors.Is(err, db.ErrNotFound) {
		return end, err
	}
	a.logOf(e.TurnRef).Error("lost turn not settled; it is settled without its details", "error", err)
	return a.settle(ctx, e, a.plainSettlement)
}

// rebuiltLog is what the texts of a turn tell about its log: finished pieces of
// the answer, tool calls and their results. Statuses and questions stood in the
// workflow only.
func rebuiltLog(t chat.Turn, texts map[string]string) (log []chat.Entry, usage chat.Usage) {
	add := func(e chat.Entry) {
		e.N = len(log) + 1
		log = append(log, e)
	}
	add(chat.Entry{Type: chat.EventTurnStarted, At: t.CreatedAt})
	piece := 1
	for n := 1; ; n++ {
		var w Written
		recorded := json.Unmarshal([]byte(texts[saidKey(n)]), &w) == nil
		_, finished := texts[chat.PieceKey(piece)]
		if finished && (!recorded || w.Chars > 0) {
			add(chat.Entry{Type: chat.EventText, Piece: piece, Ref: chat.PieceKey(piece)})
			piece++
		}
		if !recorded { // no tools were called, so nothing follows
			return log, usage
		}
		usage = usage.Add(w.Usage)
		for _, c := range w.Calls {
			add(chat.Entry{Type: chat.EventToolCall, Call: &c.CallRef})
		}
		for _, c := range w.Calls {
			done, made := called(texts, c.ID)
			_, answered := texts[chat.ResultKey(c.ID)]
			if made || answered { // a call that was not made has a result that says why
				add(chat.Entry{Type: chat.EventToolResult, Call: &c.CallRef, IsError: !made || done.IsError})
				usage = usage.Add(done.Usage)
			}
		}
	}
}
