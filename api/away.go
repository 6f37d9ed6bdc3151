package api

import (
	"context"
	"errors"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// What can be done while the database is away: a thread whose workflow is open
// knows whose it is and what it runs, so it can be spoken to, followed, answered
// and stopped. Everything else is 503.

// storeShare is the time that a request gives to the database where its thread can
// make up for it.
func storeShare(ctx context.Context) (context.Context, context.CancelFunc) { return share(ctx, 2) }

// away reports whether err means that the database cannot be reached, or does
// not answer in time.
func away(err error) bool {
	return errors.Is(err, db.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
}

// live is the caller's thread as its workflow knows it; ok is false when it is
// not open, not theirs or not to be reached.
func (s *server) live(ctx context.Context, owner, thread string) (_ chat.ThreadState, ok bool) {
	if thread == "" {
		return chat.ThreadState{}, false
	}
	state, err := s.Threads.State(ctx, thread)
	return state, err == nil && state.Owner == owner
}

// checkOwner finds out whether a thread is the caller's: from its row or, with
// the database away, from its workflow.
func (s *server) checkOwner(ctx context.Context, owner, thread string) error {
	rows, done := storeShare(ctx)
	defer done()
	_, err := s.Store.Conversation(rows, owner, thread)
	if err != nil && away(err) {
		if _, ok := s.live(ctx, owner, thread); ok {
			return nil
		}
	}
	return err
}

// withoutRow is the turn of a message that is taken without the database: by a
// thread that is open and the caller's, and if it names nothing stored. Else the
// error is why the database was needed.
func (s *server) withoutRow(ctx context.Context, turn chat.Turn, in dialect.Submit, cause error) (chat.Turn, error) {
	c := turn.Content
	if in.ThreadID == "" || c.ParentRequest != "" || len(c.TaggedDocs)+len(c.TaggedSets)+len(c.Attachments) > 0 {
		return turn, cause
	}
	state, ok := s.live(ctx, turn.Owner, turn.ThreadID)
	if !ok {
		return turn, cause
	}
	if in.AgentFree && state.Agent != "" {
		turn.Content.Agent = state.Agent
	}
	return turn, nil
}

// liveTarget is the turn that a cancel means, among those that its thread runs
// or has waiting.
func (s *server) liveTarget(ctx context.Context, owner string, in dialect.Cancel) (_ chat.Turn, ok bool) {
	state, ok := s.live(ctx, owner, in.ThreadID)
	if !ok {
		return chat.Turn{}, false
	}
	if in.TurnID+in.ClientTurnID+in.StreamRunID == "" {
		return named(state, in.ThreadID, state.TurnID), state.TurnID != ""
	}
	for id, name := range state.Names {
		if id == in.TurnID || in.ClientTurnID != "" && name.Client == chat.ClientKey(in.ClientTurnID) ||
			in.StreamRunID != "" && name.RunID == in.StreamRunID {
			return named(state, in.ThreadID, id), true
		}
	}
	return chat.Turn{}, false
}

// named is a turn of a live thread as far as the thread knows it.
func named(state chat.ThreadState, thread, turnID string) chat.Turn {
	return chat.Turn{ID: turnID, ThreadID: thread, Owner: state.Owner, StreamRunID: state.Names[turnID].RunID, Status: chat.TurnRunning}
}
