package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/dialect/native"
	"github.com/palaver-chat/palaver/api/follow"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/repair"
)

// postChat accepts a message and streams its turn.
func (s *server) postChat(c *gin.Context) error {
	raw, err := body(c, dialect.MaxBody)
	if err != nil {
		return err
	}
	in, err := native.ParseChat(raw, s.Agents)
	if err != nil {
		return err
	}
	return s.streamSubmit(c, in, func(dialect.Stream) dialect.Wire { return &native.Wire{} })
}

// streamSubmit accepts a message in any dialect and streams its turn until it is
// over or waits for a person.
func (s *server) streamSubmit(c *gin.Context, in dialect.Submit, wire func(dialect.Stream) dialect.Wire) error {
	began := time.Now()
	turn, err := s.submit(c.Request.Context(), callerOf(c), in)
	if err != nil {
		return err
	}
	defer turn.early.Close()
	return s.streamTurn(c, turn.Turn, streamOptions{began: began, log: turn.log, early: turn.early, thread: in.ThreadName(turn.Turn), run: in.StreamRunID, view: in.View, cancel: in.CancelOnDisconnect}, wire)
}

// streamOptions says how to stream a turn to a client.
type streamOptions struct {
	began  time.Time    // when the message arrived, for the metrics; zero for an answer
	thread string       // the client's name for the thread
	run    string       // stream_run_id of this request; empty: the turn's
	after  string       // the interrupt that was answered; empty: stream from the beginning
	log    []chat.Entry // known first entries of the turn's log
	early  *follow.Early
	view   dialect.View
	cancel bool // on_disconnect
}

// streamTurn streams a turn until it is over or waits for a person.
func (s *server) streamTurn(c *gin.Context, turn chat.Turn, show streamOptions, wire func(dialect.Stream) dialect.Wire) error {
	v, err := s.viewer(c.Request.Context(), turn, follow.Position{}, show.early, show.log...)
	if err != nil {
		return err
	}
	defer v.Close()
	if show.run == "" {
		show.run = turn.StreamRunID
	}
	v.RunID = show.run
	turnHeaders(c, turn, show.run)
	show.view = s.view(show.view)
	out := s.open(c, wire(dialect.Stream{Thread: show.thread, Turn: turn, RunID: show.run, View: show.view, After: show.after}), show.view)
	defer s.close(out)
	if !show.began.IsZero() {
		out.timing = s.metrics.timing(out.wire.Name(), show.began)
	}
	err = out.follow(v, true, show.after)
	if out.failed != "" { // the worker's log has the reason, under the id of the request that submitted the turn
		s.Log.Warn("turn failed; its client was notified", "request_id", requestID(c), "turn", turn.ID, "run", show.run, "code", out.failed)
	}
	if errors.Is(err, errClientDisconnected) && show.cancel {
		v.Close()
		s.disconnects.add(turn)
	}
	if _, abrupt := out.wire.(dialect.Abrupt); abrupt && errors.Is(err, errStopping) {
		panic(http.ErrAbortHandler)
	}
	return nil
}

// view fills in the server's defaults.
func (s *server) view(v dialect.View) dialect.View {
	return v.Or(s.Config.StreamMode == StreamMessages)
}

func turnHeaders(c *gin.Context, t chat.Turn, run string) {
	c.Header("X-Thread-Id", t.ThreadID)
	c.Header("X-Turn-Id", t.ID)
	if run != "" {
		c.Header("X-Stream-Run-Id", run)
	}
}

// postResume answers the pending interrupt and streams the rest of the turn.
func (s *server) postResume(c *gin.Context) error {
	raw, err := body(c, dialect.MaxBody)
	if err != nil {
		return err
	}
	r, view, err := native.ParseResume(raw)
	if err != nil {
		return err
	}
	return s.streamResume(c, r, view, func(dialect.Stream) dialect.Wire { return &native.Wire{} })
}

// streamResume answers a thread's question in any dialect and streams the rest of
// its turn. The turn goes on if the client disconnects.
func (s *server) streamResume(c *gin.Context, r chat.Resume, view dialect.View, wire func(dialect.Stream) dialect.Wire) error {
	return s.streamAnswer(c, dialect.Answer{Resume: r, View: view}, wire)
}

// streamAnswer is streamResume with further options.
func (s *server) streamAnswer(c *gin.Context, in dialect.Answer, wire func(dialect.Stream) dialect.Wire) error {
	turn, asked, err := s.answer(c.Request.Context(), callerOf(c), in.Resume)
	if err != nil {
		return err
	}
	return s.streamTurn(c, turn, streamOptions{thread: in.ThreadName(turn), run: in.StreamRunID, after: asked, view: in.View, cancel: in.CancelOnDisconnect}, wire)
}

// answer sends an answer to the thread that asked. It returns the turn that
// continues and the id of the question.
func (s *server) answer(ctx context.Context, who caller, r chat.Resume) (_ chat.Turn, asked string, _ error) {
	if err := s.checkOwner(ctx, who.ID, r.ThreadID); err != nil {
		return chat.Turn{}, "", err
	}
	var p dialect.Problems
	if err := s.checkTags(ctx, &p, who.ID, "resume_value.", r.Value.TaggedDocs, r.Value.TaggedSets); err != nil {
		return chat.Turn{}, "", err
	}
	if err := p.Err(); err != nil {
		return chat.Turn{}, "", err
	}
	state, err := s.Threads.State(ctx, r.ThreadID)
	if err != nil {
		return chat.Turn{}, "", engineErr(err)
	}
	if state.Owner == "" { // the workflow and its question were lost
		s.settleLost(ctx, who.ID, r.ThreadID)
	}
	if state.Pending == nil || state.Owner != who.ID || r.InterruptID != "" && r.InterruptID != state.Pending.ID {
		return chat.Turn{}, "", &chat.Refused{Code: chat.CodeNoInterrupt}
	}
	r.Owner, r.InterruptID = who.ID, state.Pending.ID
	if r.Value.Type == "" { // the dialect answers any question
		r.Value.Type = state.Pending.Type
	}
	if err := s.checkDecisions(ctx, who.ID, state.TurnID, *state.Pending, &r.Value); err != nil {
		return chat.Turn{}, "", err
	}
	if r.Value, err = s.keepAnswer(ctx, who.ID, state.TurnID, *state.Pending, r.Value); err != nil {
		return chat.Turn{}, "", err
	}
	if err := s.Threads.Resume(ctx, r); err != nil {
		return chat.Turn{}, "", engineErr(err)
	}
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
	if problem := v.Fits(q); problem != "" {
		return v, &chat.Refused{Code: chat.CodeBadResume, Message: problem}
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
	case (databaseUnavailable(err) || notFound(err)) && ctx.Err() == nil && len(b) <= maxInlineAnswer: // not found: the turn's row does not exist yet
		return v, nil
	case errors.Is(err, db.ErrSettled):
		return v, &chat.Refused{Code: chat.CodeNoInterrupt}
	}
	return v, err
}

// Results of a cancel that are not a status of a turn.
const (
	cancelling    = "cancelling" // the turn is being cancelled
	cancelPending = "pending"    // no such turn yet; it will be cancelled when it is submitted
	nothingRuns   = "idle"
)

// cancelJSON is the result of a cancel: one of these, or the status of a turn that
// had ended.
type cancelJSON struct {
	TurnID string `json:"turn_id,omitempty"`
	Status string `json:"status"`
}

// postCancel stops a turn.
func (s *server) postCancel(c *gin.Context) error {
	raw, err := body(c, dialect.MaxBody)
	if err != nil {
		return err
	}
	in, err := native.ParseCancel(raw)
	if err != nil {
		return err
	}
	return s.cancel(c, in)
}

// cancel stops a turn. cancelTarget writes a tombstone first, so that a submit that
// arrives after its own cancel finds it.
func (s *server) cancel(c *gin.Context, in dialect.Cancel) error {
	ctx, who := c.Request.Context(), callerOf(c)
	turn, known, err := s.cancelTarget(ctx, who.ID, in)
	if err != nil {
		return err
	}
	status := cancelPending
	switch {
	case !known && in.TurnID+in.ClientTurnID+in.StreamRunID == "":
		status = nothingRuns
	case known && turn.Status.Settled():
		status = string(turn.Status)
	case known:
		status = cancelling
		open, err := s.Threads.Cancel(ctx, turn.ThreadID, chat.Cancel{TurnID: turn.ID, Reason: in.Reason})
		if err != nil {
			return engineErr(err)
		}
		status = s.stopLost(ctx, turn, in.Reason, open)
	}
	answer := cancelJSON{Status: status}
	if known {
		answer.TurnID = turn.ID
	}
	c.JSON(http.StatusAccepted, answer)
	return nil
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
		return cancelling
	}
	if stop(ctx) {
		if now, err := s.Store.Turn(ctx, turn.Owner, turn.ID); err == nil && now.Status.Settled() {
			return string(now.Status)
		}
	}
	return cancelling
}

// cancelTarget returns the turn that a cancel means, if it exists yet. It queries
// the thread if the database cannot answer.
func (s *server) cancelTarget(ctx context.Context, owner string, in dialect.Cancel) (_ chat.Turn, known bool, _ error) {
	rows, done := storeDeadline(ctx)
	defer done()
	turn, known, err := s.storedTarget(rows, owner, in)
	if err != nil && (databaseUnavailable(err) || notFound(err)) {
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
			err = errNotFound
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
