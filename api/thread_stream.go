package api

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/follow"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// FollowThread streams a thread to a client that connects or reconnects.
func (s *server) FollowThread(c *gin.Context, in dialect.Follow, wire dialect.Wire) error {
	after := follow.Position{}
	if in.After != "" {
		after, _ = follow.ParsePosition(in.After) // the dialect has checked it
	}
	thread, wanted, wholeThread := in.ThreadID, in.TurnID, in.WholeThread
	ctx, who := c.Request.Context(), identity.Of(c)
	if err := s.checkOwner(ctx, who.ID, thread); err != nil {
		return err
	}
	t := &threadStream{s: s, owner: who.ID, thread: thread}
	if wholeThread {
		watch, leave := s.watches.join(who.ID, thread) // before the first read, so that no turn is missed
		defer leave()
		t.watch = watch
	}
	v, err := t.first(ctx, wanted, after, wholeThread)
	if err != nil && (db.Unavailable(err) || notFound(err)) {
		if live := t.firstWithoutRows(ctx, wanted, after); live != nil {
			v, err = live, nil
		}
	}
	if err != nil {
		return err
	}
	if v == nil && !wholeThread {
		return respondEmpty(c, nil)
	}
	c.Header("X-Thread-Id", thread)
	if v != nil {
		c.Header("X-Turn-Id", v.Ref().TurnID)
	}
	out := s.open(c, wire, s.view(in.View))
	defer s.close(out)
	if v != nil {
		if err := t.follow(out, v); err != nil || !wholeThread {
			return nil // the client has disconnected, or has everything it asked for
		}
	}
	t.followLaterTurns(request.ClientContext(c), out)
	return nil
}

// threadStream shows one client the turns of a thread in the order in which the
// thread ran them. Places give that order. Ids do not, because the clocks of several
// machines make them.
type threadStream struct {
	s      *server
	owner  string
	thread string
	place  int // of the turn shown last; turns with later places follow
	// The turn shown last, while its place is unknown: it was waiting, or was accepted
	// while the database was unavailable.
	unplaced string
	open     []string // turns that had not ended when they were shown, the newest last
	watch    *threadWatch
}

// A turn that began too early can be withdrawn; it gets another place when it begins
// again. That happens soon, so a short list is enough.
const maxShownOpen = 20

// show moves the stream to a turn.
func (t *threadStream) show(ctx context.Context, turn chat.Turn, after follow.Position) (*follow.Viewer, error) {
	v, err := t.s.viewer(ctx, turn, after, nil)
	if err != nil {
		return nil, err
	}
	if !turn.Status.Settled() {
		t.open = append(t.open, turn.ID)
		t.open = t.open[max(0, len(t.open)-maxShownOpen):]
	}
	t.place, t.unplaced = turn.Place, ""
	if turn.Place == 0 {
		t.unplaced = turn.ID
	}
	return v, nil
}

// first returns a viewer for the start of the stream: the rest of the turn that the
// client names by turn id or last event id, else the running turn. It returns nil
// when there is nothing to show yet.
func (t *threadStream) first(ctx context.Context, wanted string, after follow.Position, wholeThread bool) (*follow.Viewer, error) {
	ctx, done := storeDeadline(ctx) // afterwards the workflow is queried
	defer done()
	requested := cmp.Or(wanted, after.TurnID)
	if requested != "" {
		turn, err := t.turn(ctx, requested)
		switch {
		case err == nil:
			if after.TurnID != turn.ID {
				after = follow.Position{}
			}
			v, err := t.show(ctx, turn, after)
			if err != nil || !v.Done() {
				return v, err
			}
			v.Close()
			if wanted != "" || wholeThread {
				return nil, nil
			}
		case wanted != "" || !notFound(err):
			return nil, err
		}
		// The turn of the last event id is complete, or of a deleted conversation.
	}
	// Read the last place first: turns that get their place afterwards are shown later.
	last, err := t.s.Store.LastPlace(ctx, t.owner, t.thread)
	if err != nil {
		return nil, err
	}
	t.place, t.unplaced = last, ""
	open, err := t.s.Store.OpenTurns(ctx, t.owner, t.thread)
	if err != nil || len(open) == 0 {
		return nil, err
	}
	if wholeThread && (open[0].Place == 0 || open[0].Place > last) {
		return nil, nil // it is waiting or has just begun, and is shown in its order
	}
	return t.show(ctx, open[0], follow.Position{})
}

// firstWithoutRows replaces first when the database cannot be read: it returns the
// turn that the thread runs, or the one that the client names, if the thread has it.
func (t *threadStream) firstWithoutRows(ctx context.Context, wanted string, after follow.Position) *follow.Viewer {
	state, ok := t.s.liveThread(ctx, t.owner, t.thread)
	if !ok {
		return nil
	}
	id := cmp.Or(wanted, state.TurnID)
	if _, has := state.Names[id]; !has {
		return nil
	}
	if after.TurnID != id {
		after = follow.Position{}
	}
	v, err := t.show(ctx, liveTurn(state, t.thread, id), after)
	if err != nil {
		return nil
	}
	return v
}

func (t *threadStream) turn(ctx context.Context, id string) (chat.Turn, error) {
	turn, err := t.s.Store.Turn(ctx, t.owner, id)
	if err == nil && turn.ThreadID != t.thread {
		err = problem.NotFound
	}
	return turn, err
}

// followLaterTurns shows later turns as they begin, until the client disconnects.
func (t *threadStream) followLaterTurns(ctx context.Context, out *eventStream) {
	for {
		newest, changed := t.watch.newest()
		v, err := t.next(ctx, newest)
		switch {
		case err != nil && (ctx.Err() != nil || notFound(err)): // the client has disconnected, or the conversation was deleted
			return
		case err != nil:
			t.s.logThreadNotRead(ctx, t.thread, err)
			if waitFor(ctx, out, threadPollInterval) != nil {
				return
			}
		case v == nil:
			if out.wait(changed) != nil {
				return
			}
		default:
			if t.follow(out, v) != nil {
				return
			}
		}
	}
}

func waitFor(ctx context.Context, out *eventStream, d time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return out.wait(ctx.Done())
}

// follow sends a turn's events until it is over. A turn that was withdrawn before
// its end may begin again, and is shown then.
func (t *threadStream) follow(out *eventStream, v *follow.Viewer) error {
	defer v.Close()
	err := out.follow(v, false, "")
	if !v.Done() {
		t.open = slices.DeleteFunc(t.open, func(id string) bool { return id == v.Ref().TurnID })
	}
	return err
}

// next returns a viewer for the next turn by place, nil when there is none up to newest.
func (t *threadStream) next(ctx context.Context, newest int) (*follow.Viewer, error) {
	ctx, cancel := context.WithTimeout(ctx, threadTimeout)
	defer cancel()
	if err := t.locate(ctx); err != nil {
		return nil, err
	}
	for newest > t.place {
		turns, err := t.s.Store.TurnsAfter(ctx, t.owner, t.thread, t.place, 1)
		if err != nil || len(turns) == 0 {
			return nil, err
		}
		if !slices.Contains(t.open, turns[0].ID) {
			return t.show(ctx, turns[0], follow.Position{})
		}
		t.place = turns[0].Place // it was shown already, at an earlier place
	}
	return nil, nil
}

// locate finds the place of a turn that had none when it was shown.
func (t *threadStream) locate(ctx context.Context) error {
	if t.unplaced == "" {
		return nil
	}
	turn, err := t.turn(ctx, t.unplaced)
	if notFound(err) || err == nil && turn.Place == 0 { // it never began, so every turn that begins now is new
		turn.Place, err = t.s.Store.LastPlace(ctx, t.owner, t.thread)
	}
	if err == nil {
		t.place, t.unplaced = turn.Place, ""
	}
	return err
}
