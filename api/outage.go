package api

import (
	"context"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// While the database is unavailable, a thread whose workflow is open still knows its
// owner and its turns. So clients can send messages to it, follow, answer and stop
// it. Every other request gets a 503.

// storeDeadline limits database calls that a workflow query can replace.
func storeDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return request.FractionOfDeadline(ctx, 2)
}

// liveThread queries the workflow of the caller's thread. ok is false when the
// workflow is not open, belongs to somebody else or cannot be reached.
func (s *server) liveThread(ctx context.Context, owner, thread string) (_ chat.ThreadState, ok bool) {
	if thread == "" {
		return chat.ThreadState{}, false
	}
	state, err := s.Threads.State(ctx, thread)
	return state, err == nil && state.Owner == owner
}

// checkOwner checks that a thread is the caller's: by its row or, while the database
// is unavailable, by its workflow.
func (s *server) checkOwner(ctx context.Context, owner, thread string) error {
	rows, done := storeDeadline(ctx)
	defer done()
	v, err := s.Store.Conversation(rows, owner, thread)
	if err == nil && v.Space != db.SpaceOf(ctx) {
		return db.ErrNotFound
	}
	if err == nil && v.Space != "" {
		_, err = s.Store.ThisSpace(ctx, owner)
	}
	if err != nil && db.Unavailable(err) {
		if _, ok := s.liveThread(ctx, owner, thread); ok {
			return nil
		}
	}
	if s.emptyBoardChat(rows, owner, thread, err) {
		return nil
	}
	return err
}

// unsavedTurn returns the turn of a message that can be accepted without the
// database: its thread is open, the caller's and of no space, and it refers to nothing stored.
// Else it returns cause.
func (s *server) unsavedTurn(ctx context.Context, turn chat.Turn, in dialect.Submit, cause error) (chat.Turn, error) {
	c := turn.Content
	if in.ThreadID == "" || db.SpaceOf(ctx) != "" || c.ParentRequest != "" || len(c.TaggedDocs)+len(c.TaggedSets)+len(c.Spaces)+len(c.Attachments) > 0 {
		return turn, cause
	}
	state, ok := s.liveThread(ctx, turn.Owner, turn.ThreadID)
	if !ok || state.Space != "" {
		return turn, cause
	}
	if in.AgentUnset && state.Agent != "" {
		turn.Content.Agent = state.Agent
	}
	return turn, nil
}

// liveTarget returns the turn that a cancel means, among the running and waiting
// turns of its thread.
func (s *server) liveTarget(ctx context.Context, owner string, in dialect.Cancel) (_ chat.Turn, ok bool) {
	state, ok := s.liveThread(ctx, owner, in.ThreadID)
	if !ok {
		return chat.Turn{}, false
	}
	if in.TurnID+in.ClientTurnID+in.StreamRunID == "" {
		return liveTurn(state, in.ThreadID, state.TurnID), state.TurnID != ""
	}
	for id, name := range state.Names {
		if id == in.TurnID || in.ClientTurnID != "" && name.Client == chat.ClientKey(in.ClientTurnID) ||
			in.StreamRunID != "" && name.RunID == in.StreamRunID {
			return liveTurn(state, in.ThreadID, id), true
		}
	}
	return chat.Turn{}, false
}

// liveTurn returns a turn of an open thread, with the fields that the workflow knows. Its space is
// that of the newest started turn.
func liveTurn(state chat.ThreadState, thread, turnID string) chat.Turn {
	return chat.Turn{ID: turnID, ThreadID: thread, Owner: state.Owner, Space: state.Space, StreamRunID: state.Names[turnID].RunID, Status: chat.TurnRunning}
}
