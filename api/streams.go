package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/follow"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// Submit accepts a message in any dialect and streams its turn until it is
// over or waits for a person.
func (s *server) Submit(c *gin.Context, in dialect.Submit, wire dialect.NewWire) error {
	began, who := time.Now(), identity.Of(c)
	in.ThreadID = threadOf(who.ID, in.ThreadID, in.ThreadAlias)
	turn, err := s.submitEdition(c.Request.Context(), who, in)
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
func (s *server) streamTurn(c *gin.Context, turn chat.Turn, show streamOptions, wire dialect.NewWire) error {
	v, err := s.viewer(c.Request.Context(), turn, follow.Position{}, show.early, show.log...)
	if err != nil {
		return err
	}
	defer v.Close()
	show.run = cmp.Or(show.run, turn.StreamRunID)
	v.RunID = show.run
	turnHeaders(c, turn, show.run)
	show.view = s.view(show.view)
	out := s.open(c, wire(dialect.Stream{Thread: show.thread, Turn: turn, RunID: show.run, View: show.view, After: show.after}), show.view)
	defer s.close(out)
	if !show.began.IsZero() {
		out.timing = s.metrics.timing(out.wire.Name(), turn.Content.Agent, show.began)
	}
	err = out.follow(v, true, show.after)
	if out.failed != "" { // the worker's log has the reason, under the id of the request that submitted the turn
		s.Log.Warn("turn failed; its client was notified", "request_id", request.ID(c), "turn", turn.ID, "run", show.run, "code", out.failed)
	}
	if (errors.Is(err, request.ErrClientDisconnected) || errors.Is(err, errMayNotRead)) && show.cancel {
		v.Close()
		s.disconnects.add(turn)
	}
	if err == nil && turn.Content.ThreadKind() == chat.ThreadOnce {
		go s.deleteTemporary(turn)
	}
	if _, abrupt := out.wire.(dialect.Abrupt); abrupt && errors.Is(err, request.ErrStopping) {
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

// Answer answers a thread's question in any dialect and streams the rest of its
// turn.
func (s *server) Answer(c *gin.Context, in dialect.Answer, wire dialect.NewWire) error {
	who := identity.Of(c)
	in.ThreadID = threadOf(who.ID, in.ThreadID, in.ThreadAlias)
	turn, asked, err := s.answer(c.Request.Context(), who, in.Resume)
	if err != nil {
		return err
	}
	return s.streamTurn(c, turn, streamOptions{thread: in.ThreadName(turn), run: in.StreamRunID, after: asked, view: in.View, cancel: in.CancelOnDisconnect}, wire)
}

// FollowRunning streams the turn that a thread runs, from its beginning.
func (s *server) FollowRunning(c *gin.Context, in dialect.RunningTurn, wire dialect.NewWire) error {
	if db.SpaceOf(c.Request.Context()) != "" {
		if _, err := s.thisSpace(c.Request.Context(), identity.Of(c)); err != nil {
			return err
		}
	}
	turn, err := s.runningTurn(c.Request.Context(), identity.Of(c).ID, in.ThreadID)
	switch {
	case err != nil && !notFound(err):
		return err
	case turn.ID == "":
		return respondEmpty(c, nil)
	}
	return s.streamTurn(c, turn, streamOptions{thread: in.ThreadName, view: in.View}, wire)
}

// runningTurn returns the turn that a thread runs: from its rows or, while the database
// is unavailable, from its workflow. An idle thread gives a turn without an id.
func (s *server) runningTurn(ctx context.Context, owner, thread string) (chat.Turn, error) {
	rows, done := storeDeadline(ctx)
	defer done()
	open, err := s.Store.OpenTurns(rows, owner, thread)
	if err != nil && db.Unavailable(err) {
		if state, ok := s.liveThread(ctx, owner, thread); ok && state.TurnID != "" {
			return liveTurn(state, thread, state.TurnID), nil
		}
	}
	if err != nil || len(open) == 0 {
		return chat.Turn{}, err
	}
	return open[0], nil
}
