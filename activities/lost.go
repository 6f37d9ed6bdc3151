package activities

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// LostAfter is the age from which a turn counts as lost when the open workflow of
// its thread does not have it. A submit writes the row first, and then retries for
// 20 s to reach the workflow.
const LostAfter = time.Minute

// MaxSkew is how much the clocks of two processes may differ.
const MaxSkew = 5 * time.Minute

// SettleLost settles a turn that no workflow has: cancelled when a person asked to
// stop it, else failed. It rebuilds the log and the partial answer from the turn's
// rows. It runs outside of Temporal and is idempotent: the first end of a turn
// counts.
//
// stopped is the reason when the stop is asked for now; when empty, the stored cancel
// request decides.
func (a *Activities) SettleLost(ctx context.Context, t chat.Turn, stopped chat.CancelReason) (chat.Event, error) {
	if stopped == "" {
		cancelled, err := a.Store.Cancelled(ctx, t)
		if err != nil {
			return chat.Event{}, err
		}
		if cancelled {
			stopped = chat.UserCancelled
		}
	}
	texts, err := a.Store.Texts(ctx, t.Owner, t.ID)
	if err != nil && !errors.Is(err, db.ErrSettled) { // settle returns the end of a settled turn
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
	for n := 1; texts[chat.GivenTurnKey(n)] != ""; n++ {
		e.Taken = append(e.Taken, texts[chat.GivenTurnKey(n)])
	}
	end, err := a.settle(ctx, e, a.settlement)
	if err != nil && !db.Unavailable(err) && !errors.Is(err, db.ErrNotFound) {
		a.LogOf(e.TurnRef).Error("settling a lost turn failed; retrying without its details", "error", err)
		end, err = a.settle(ctx, e, a.plainSettlement)
	}
	if err == nil {
		a.reportSettled(ctx, e, end)
	}
	return end.Event, err
}

// rebuiltLog rebuilds a turn's log from its texts: finished pieces of the answer, tool calls
// with their reports and results, and at the end the further messages that the turn has read.
// Other statuses, and questions, were in the workflow only.
func rebuiltLog(t chat.Turn, texts map[string]string) (log []chat.Entry, usage chat.Usage) {
	add := func(e chat.Entry) {
		e.N = len(log) + 1
		log = append(log, e)
	}
	add(chat.Entry{Type: chat.EventTurnStarted, At: t.CreatedAt})
	piece := 1
	for n := 1; ; n++ {
		var w ModelResult
		recorded := json.Unmarshal([]byte(texts[chat.SaidKey(n)]), &w) == nil
		_, finished := texts[chat.PieceKey(piece)]
		if finished && (!recorded || w.Chars > 0) {
			add(chat.Entry{Type: chat.EventText, Piece: piece, Ref: chat.PieceKey(piece)})
			piece++
		}
		if !recorded { // no tools were called, so nothing follows
			for n := 1; texts[chat.GivenKey(n)] != ""; n++ {
				add(chat.Entry{Type: chat.EventNotice, Code: chat.NoticeSteered, Ref: chat.GivenKey(n)})
			}
			return log, usage
		}
		usage = usage.Add(w.Usage)
		for _, c := range w.Calls {
			add(chat.Entry{Type: chat.EventToolCall, Call: &c.CallRef})
		}
		for _, c := range w.Calls {
			done, made := storedCall(texts, c.ID)
			_, answered := texts[chat.ResultKey(c.ID)]
			for _, r := range chat.Reports(texts, c.ID) {
				add(chat.Entry{Type: chat.EventStatus, Node: r.Node, Ref: r.Key(), Call: &c.CallRef})
			}
			if made || answered { // a call that was not made has a result that says why
				add(chat.Entry{Type: chat.EventToolResult, Call: &c.CallRef, IsError: !made || done.IsError})
				usage = usage.Add(done.Usage)
			}
		}
	}
}
