package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/activities/repair"
	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// Cancel stops a turn. cancelTarget writes a tombstone first, so that a submit that
// arrives after its own cancel finds it.
func (s *server) Cancel(c *gin.Context, in dialect.Cancel) error {
	ctx, who := c.Request.Context(), identity.Of(c)
	in.ThreadID = threadOf(who.ID, in.ThreadID, in.ThreadAlias)
	if err := s.checkBoundCancel(ctx, who, in); err != nil {
		return err
	}
	turn, known, err := s.cancelTarget(ctx, who.ID, in)
	if err != nil {
		return err
	}
	status := dialect.CancelPending
	switch {
	case !known && in.TurnID+in.ClientTurnID+in.StreamRunID == "":
		status = dialect.NothingRuns
	case known && turn.Status.Settled():
		status = string(turn.Status)
	case known:
		status = dialect.Cancelling
		open, err := s.Threads.Cancel(ctx, turn.ThreadID, chat.Cancel{TurnID: turn.ID, Reason: in.Reason, Channel: who.Channel})
		if err != nil {
			return problem.Engine(err)
		}
		status = s.stopLost(ctx, turn, in.Reason, open)
	}
	answer := dialect.Cancelled{Status: status}
	if known {
		answer.TurnID = turn.ID
	}
	return respond(c, http.StatusAccepted, answer)
}

// checkBoundCancel refuses the cancel of a turn that is not in the space to which the caller's
// key is bound, before anything is stored.
func (s *server) checkBoundCancel(ctx context.Context, who identity.Caller, in dialect.Cancel) error {
	if who.Space == "" {
		return nil
	}
	if in.TurnID+in.ClientTurnID+in.StreamRunID != "" {
		t, err := s.Store.FindTurn(ctx, who.ID, db.CancelRef{TurnID: in.TurnID, ThreadID: in.ThreadID, ClientTurnID: in.ClientTurnID, StreamRunID: in.StreamRunID})
		if err == nil && t.Space != who.Space {
			return problem.NotFound
		}
		if err != nil && !notFound(err) {
			return err
		}
	}
	return s.checkBound(ctx, who, in.ThreadID)
}

// stopLost settles a cancelled turn that no workflow has, and returns the cancel's
// status. An open workflow very likely has the turn, so then the check runs in the
// background and the client does not wait for it.
func (s *server) stopLost(ctx context.Context, turn chat.Turn, reason chat.CancelReason, open bool) string {
	stop := func(ctx context.Context) bool {
		return s.runCheck(ctx, turn.ThreadID, func(ctx context.Context) ([]repair.Finding, error) { return s.repair.CheckCancelled(ctx, turn, reason) })
	}
	if open {
		go stop(context.WithoutCancel(ctx))
		return dialect.Cancelling
	}
	if stop(ctx) {
		if now, err := s.Store.Turn(ctx, turn.Owner, turn.ID); err == nil && now.Status.Settled() {
			return string(now.Status)
		}
	}
	return dialect.Cancelling
}

// liveTimeout limits the query for a turn that the database does not have. A turn that it
// misses finds the cancel when it is saved.
const liveTimeout = time.Second

// cancelTarget returns the turn that a cancel means, if it exists yet. It queries
// the thread if the database cannot answer, or does not have the turn: it may not be saved yet.
func (s *server) cancelTarget(ctx context.Context, owner string, in dialect.Cancel) (_ chat.Turn, known bool, _ error) {
	rows, done := storeDeadline(ctx)
	defer done()
	turn, known, err := s.storedTarget(rows, owner, in)
	if err == nil && !known {
		var done context.CancelFunc
		ctx, done = context.WithTimeout(ctx, liveTimeout)
		defer done()
	}
	if err == nil && !known || err != nil && (db.Unavailable(err) || notFound(err)) {
		if live, ok := s.liveTarget(ctx, owner, in); ok {
			return live, true, nil
		}
	}
	return turn, known, err
}

func (s *server) storedTarget(ctx context.Context, owner string, in dialect.Cancel) (_ chat.Turn, known bool, _ error) {
	ref := db.CancelRef{}
	switch {
	case in.TurnID != "": // our own id, so the turn exists or never did
		t, err := s.Store.Turn(ctx, owner, in.TurnID)
		if err == nil && in.ThreadID != "" && t.ThreadID != in.ThreadID {
			err = problem.NotFound
		}
		if err != nil {
			return t, false, err
		}
		ref.TurnID = t.ID
	case in.ClientTurnID != "":
		ref.ThreadID, ref.ClientTurnID = in.ThreadID, in.ClientTurnID
	case in.StreamRunID != "":
		ref.StreamRunID = in.StreamRunID
	default:
		return s.openTurn(ctx, owner, in.ThreadID)
	}
	if err := s.Store.Cancel(ctx, owner, ref, in.Reason); err != nil {
		return chat.Turn{}, false, err
	}
	t, err := s.Store.FindTurn(ctx, owner, ref)
	if errors.Is(err, db.ErrNotFound) {
		return t, false, nil
	}
	return t, err == nil, err
}

// openTurn returns the turn that a thread runs now. If several turns are open, the
// first may be lost, so lost turns are settled first.
func (s *server) openTurn(ctx context.Context, owner, threadID string) (_ chat.Turn, runs bool, _ error) {
	if _, err := s.Store.Conversation(ctx, owner, threadID); err != nil {
		return chat.Turn{}, false, err
	}
	open, err := s.Store.OpenTurns(ctx, owner, threadID)
	if err == nil && len(open) > 1 && s.settleLost(ctx, owner, threadID) {
		open, err = s.Store.OpenTurns(ctx, owner, threadID)
	}
	if err != nil || len(open) == 0 {
		return chat.Turn{}, false, err
	}
	return open[0], true, nil
}
