package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/dialect/native"
	"github.com/palaver-chat/palaver/api/follow"
	"github.com/palaver-chat/palaver/chat"
)

// attach streams a thread to a client that comes or comes back.
func (s *server) attach(c *gin.Context) error {
	thread, err := threadID(c)
	if err != nil {
		return err
	}
	var p dialect.Problems
	wholeThread := p.Choice("follow", c.Query("follow"), "turn", "thread")
	view := s.view(p.View(c.Query("stream_mode"), nil))
	view.NoTokens = p.Choice("stream_tokens", c.Query("stream_tokens"), "true", "false")
	wanted := c.Query("turn_id")
	p.ID("turn_id", wanted)
	after, err := lastEvent(c)
	if err != nil {
		p.Add("last_event_id", "is not an event id")
	}
	if err := p.Err(); err != nil {
		return err
	}
	ctx, who := c.Request.Context(), callerOf(c)
	if err := s.checkOwner(ctx, who.ID, thread); err != nil {
		return err
	}
	t := &tour{s: s, owner: who.ID, thread: thread}
	if wholeThread {
		t.subscribe(life(c)) // before the first look, so that no turn falls between the two
	}
	v, err := t.first(ctx, wanted, after, wholeThread)
	if err != nil && (away(err) || notFound(err)) {
		if live := t.live(ctx, wanted, after); live != nil {
			v, err = live, nil
		}
	}
	if err != nil {
		return err
	}
	if v == nil && !wholeThread {
		c.Status(http.StatusNoContent)
		return nil
	}
	c.Header("X-Thread-Id", thread)
	if v != nil {
		c.Header("X-Turn-Id", v.Ref().TurnID)
	}
	out := s.open(c, &native.Wire{IDs: true}, view)
	defer s.close(out)
	if v != nil {
		if err := t.follow(out, v); err != nil || !wholeThread {
			return nil // the client has disconnected, or has all it asked for
		}
	}
	t.others(life(c), out)
	return nil
}

// lastEvent is where a client that comes back had got to.
func lastEvent(c *gin.Context) (follow.Position, error) {
	id := c.GetHeader("Last-Event-ID")
	if id == "" {
		id = c.Query("last_event_id")
	}
	if id == "" {
		return follow.Position{}, nil
	}
	return follow.ParsePosition(id)
}

const (
	// How often a thread is looked at for new turns when no message can tell of them.
	threadPoll = 3 * time.Second
	// And with a bus that delivers, in case that one was lost.
	threadRest = 30 * time.Second
	// One look takes no longer.
	threadTimeout = 5 * time.Second
)

// tour is a client's way through the turns of a thread, in the order in which the
// thread ran them: by their places, which are given once and in that order. Ids
// tell nothing of it, since they are made by the clocks of several machines.
type tour struct {
	s      *server
	owner  string
	thread string
	place  int // where the tour is: turns after it are to come
	// The turn whose place is that, while it is not known: it waited, or was taken
	// while the database was unavailable.
	unplaced string
	open     []string      // turns shown from before their end, the newest last
	news     <-chan string // ids of turns that have taken their place; may be lost
	quiet    bool          // nothing was told since the last look
	deaf     bool          // the last turn was found without being told of it
	failed   bool          // the last look
}

// A turn that was begun too early can be taken back, and gets another place when it
// begins again. That happens soon, so few are remembered.
const maxShownOpen = 20

// subscribe has the tour told of turns that begin; without the bus, polling does.
func (t *tour) subscribe(ctx context.Context) {
	news, err := t.s.Bus.SubscribeThread(ctx, t.thread)
	if err != nil {
		t.s.Log.Warn("thread subscription failed; polling for new turns", "thread", t.thread, "error", err)
		return
	}
	t.news = news
}

// show goes to a turn.
func (t *tour) show(ctx context.Context, turn chat.Turn, after follow.Position) (*follow.Viewer, error) {
	v, err := t.s.viewer(ctx, turn, after)
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

// first is where the stream begins: what is left of the turn that the client
// names, by turn id or last event id, else the turn that runs. nil when there
// is nothing to show yet.
func (t *tour) first(ctx context.Context, wanted string, after follow.Position, wholeThread bool) (*follow.Viewer, error) {
	ctx, done := storeShare(ctx) // else the thread itself may know
	defer done()
	named := wanted
	if named == "" {
		named = after.TurnID
	}
	if named != "" {
		turn, err := t.turn(ctx, named)
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
	// The last place is read first: what takes its place after that is shown later.
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
		return nil, nil // it waits, or has just begun: it comes in its turn
	}
	return t.show(ctx, open[0], follow.Position{})
}

// live is first when the rows cannot tell: the turn that the thread runs, or the
// one that the client names, if the thread has it.
func (t *tour) live(ctx context.Context, wanted string, after follow.Position) *follow.Viewer {
	state, ok := t.s.live(ctx, t.owner, t.thread)
	if !ok {
		return nil
	}
	id := wanted
	if id == "" {
		id = state.TurnID
	}
	if _, has := state.Names[id]; !has {
		return nil
	}
	if after.TurnID != id {
		after = follow.Position{}
	}
	v, err := t.show(ctx, named(state, t.thread, id), after)
	if err != nil {
		return nil
	}
	return v
}

func (t *tour) turn(ctx context.Context, id string) (chat.Turn, error) {
	turn, err := t.s.Store.Turn(ctx, t.owner, id)
	if err == nil && turn.ThreadID != t.thread {
		err = errNotFound
	}
	return turn, err
}

// others shows every later turn as it comes, until the client disconnects.
func (t *tour) others(ctx context.Context, out *eventStream) {
	for {
		v, err := t.next(ctx)
		switch {
		case err != nil && ctx.Err() == nil && !notFound(err):
			t.failed = true
			if !away(err) { // of an outage the process tells once
				t.s.Log.Warn("new turns not read", "thread", t.thread, "error", err)
			}
			fallthrough
		case err == nil && v == nil:
			if out.wait(t.wake(ctx)) != nil {
				return
			}
		case err != nil: // the conversation was deleted, or the client has disconnected
			return
		default:
			t.deaf, t.quiet = t.quiet, false
			if t.follow(out, v) != nil {
				return
			}
		}
	}
}

// follow sends a turn's events until it is over. A turn that vanished before its
// end may begin again, and is shown then.
func (t *tour) follow(out *eventStream, v *follow.Viewer) error {
	defer v.Close()
	err := out.follow(v, false, "")
	if !v.Done() {
		t.open = slices.DeleteFunc(t.open, func(id string) bool { return id == v.Ref().TurnID })
	}
	return err
}

// next is the turn that took its place after the last one, nil when there is none
// yet.
func (t *tour) next(ctx context.Context) (*follow.Viewer, error) {
	ctx, cancel := context.WithTimeout(ctx, threadTimeout)
	defer cancel()
	if err := t.locate(ctx); err != nil {
		return nil, err
	}
	for {
		turns, err := t.s.Store.TurnsAfter(ctx, t.owner, t.thread, t.place, 1)
		if err != nil || len(turns) == 0 {
			return nil, err
		}
		if !slices.Contains(t.open, turns[0].ID) {
			return t.show(ctx, turns[0], follow.Position{})
		}
		t.place = turns[0].Place // it was shown at a place that it lost
	}
}

// locate finds the place of a turn that had none when it was shown.
func (t *tour) locate(ctx context.Context) error {
	if t.unplaced == "" {
		return nil
	}
	turn, err := t.turn(ctx, t.unplaced)
	if notFound(err) || err == nil && turn.Place == 0 { // it never began; whatever does now is new
		turn.Place, err = t.s.Store.LastPlace(ctx, t.owner, t.thread)
	}
	if err == nil {
		t.place, t.unplaced = turn.Place, ""
	}
	return err
}

// wake is closed when it is worth looking for new turns.
func (t *tour) wake(ctx context.Context) <-chan struct{} {
	woken := make(chan struct{})
	t.quiet = true
	go func() {
		defer close(woken)
		defer func() { t.failed = false }()
		ticker := time.NewTicker(threadPoll) // the bus may be lost meanwhile
		defer ticker.Stop()
		for rested := threadPoll; ; rested += threadPoll {
			select {
			case _, open := <-t.news:
				for open { // one look finds all that they tell of
					t.quiet, t.deaf = false, false
					select {
					case _, open = <-t.news:
					default:
						return
					}
				}
				t.news = nil // the subscription has ended: polling does
			case <-ticker.C:
				if rested >= threadRest || t.deaf || t.failed || t.news == nil || !t.s.Bus.Connected() {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return woken
}
