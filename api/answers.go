package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// answer sends an answer to the thread that asked. It returns the turn that
// continues and the id of the question.
func (s *server) answer(ctx context.Context, who identity.Caller, r chat.Resume) (_ chat.Turn, asked string, _ error) {
	if err := s.checkOwner(ctx, who.ID, r.ThreadID); err != nil {
		return chat.Turn{}, "", err
	}
	state, err := s.Threads.State(ctx, r.ThreadID)
	if err != nil {
		return chat.Turn{}, "", problem.Engine(err)
	}
	sees := db.InThread(ctx, r.ThreadID)
	if chat.Home(state.Space) == "" {
		sees = db.InSpace(sees, state.Space)
	}
	var p dialect.Problems
	if _, err := s.checkTags(sees, &p, who.ID, "resume_value.", r.Value.TaggedDocs, r.Value.TaggedSets); err != nil {
		return chat.Turn{}, "", err
	}
	if err := p.Err(); err != nil {
		return chat.Turn{}, "", err
	}
	if state.Owner == "" { // the workflow and its question were lost
		s.settleLost(ctx, who.ID, r.ThreadID)
	}
	if state.Pending == nil || state.Owner != who.ID || r.InterruptID != "" && r.InterruptID != state.Pending.ID {
		return chat.Turn{}, "", &chat.RefusedError{Code: chat.CodeNoInterrupt}
	}
	r.Owner, r.InterruptID, r.Channel = who.ID, state.Pending.ID, who.Channel
	if r.Value.Type == "" { // the dialect answers any question
		r.Value.Type = state.Pending.Type
	}
	if err := s.checkDecisions(ctx, who.ID, state.TurnID, *state.Pending, &r.Value); err != nil {
		return chat.Turn{}, "", err
	}
	said := r.Value
	if r.Value, err = s.keepAnswer(ctx, who.ID, state.TurnID, *state.Pending, r.Value); err != nil {
		return chat.Turn{}, "", err
	}
	if err := s.Threads.Resume(ctx, r); err != nil {
		return chat.Turn{}, "", problem.Engine(err)
	}
	s.decided(who, r.ThreadID, *state.Pending, said)
	turn, err := s.Store.Turn(ctx, who.ID, state.TurnID)
	if err != nil { // the thread has the turn, so its row exists or will exist
		turn = liveTurn(state, r.ThreadID, state.TurnID)
	}
	return turn, state.Pending.ID, nil
}

// maxInlineAnswer limits, in bytes, an answer that is accepted while the database is
// unavailable: it then goes into the history of the workflow.
const maxInlineAnswer = 32 << 10

// keepAnswer stores an answer, so that the thread gets only a reference. An answer
// that does not fit the question is refused here, where its content is known.
func (s *server) keepAnswer(ctx context.Context, owner, turnID string, q chat.Question, v chat.ResumeValue) (chat.ResumeValue, error) {
	if misfit := v.Fits(q); misfit != "" {
		return v, &chat.RefusedError{Code: chat.CodeBadResume, Message: misfit}
	}
	if v.Type == chat.CancelResume || !v.HasTexts(q) {
		return v, nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		return v, fmt.Errorf("encode the answer: %w", err)
	}
	rows, done := storeDeadline(ctx)
	defer done()
	key := chat.AnswerKey(uuid.NewString())
	err = s.Store.PutText(rows, owner, turnID, key, string(b))
	switch {
	case err == nil:
		return v.ByReference(q, key), nil
	case (db.Unavailable(err) || notFound(err)) && ctx.Err() == nil && len(b) <= maxInlineAnswer: // not found: the turn's row does not exist yet
		return v, nil
	case errors.Is(err, db.ErrSettled):
		return v, &chat.RefusedError{Code: chat.CodeNoInterrupt}
	}
	return v, err
}
