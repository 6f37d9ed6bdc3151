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
		t.listen(ctx) // before the first look, so that no turn falls between the two
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
		err := out.follow(v, false, "")
		v.Close()
		if err != nil || !wholeThread {
			return nil // the client has gone, or has all it asked for
		}
	}
	t.others(ctx, out)
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

// How often a thread is looked at for new turns when no message tells of them.
const threadPoll = 3 * time.Second

// tour is a client's way through the turns of a thread, oldest first: turn ids
// sort in the order in which turns were made.
type tour struct {
	s      *server
	owner  string
	thread string
	last   string        // the newest turn that was shown, or was there before
	news   <-chan string // ids of new turns; may be lost
}

// listen subscribes to new turns; without the bus, polling does.
func (t *tour) listen(ctx context.Context) {
	news, err := t.s.Bus.SubscribeThread(ctx, t.thread)
	if err != nil {
		t.s.Log.Warn("new turns are polled for", "thread", t.thread, "error", err)
		return
	}
	t.news = news
}

// first is where the stream begins: what is left of the turn that the client
// names, by turn id or last event id, else the turn that runs. nil when there
// is nothing to show yet.
func (t *tour) first(ctx context.Context, wanted string, after follow.Position, wholeThread bool) (*follow.Viewer, error) {
	named := wanted
	if named == "" {
		named = after.TurnID
	}
	if named != "" {
		turn, err := t.turn(ctx, named)
		switch {
		case err == nil:
			t.last = turn.ID
			if after.TurnID != turn.ID {
				after = follow.Position{}
			}
			v, err := t.s.viewer(ctx, turn, after)
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
		// The turn of the last event id is complete, or was rolled back.
	}
	open, err := t.s.Store.OpenTurns(ctx, t.owner, t.thread)
	if err != nil {
		return nil, err
	}
	if len(open) > 0 {
		t.last = open[0].ID
		return t.s.viewer(ctx, open[0], follow.Position{})
	}
	t.last, err = t.s.Store.Head(ctx, t.owner, t.thread)
	if t.last == chat.RootCheckpoint {
		t.last = ""
	}
	return nil, err
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
	t.last = id
	v, err := t.s.viewer(ctx, named(state, t.thread, id), after)
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

// others shows every later turn as it comes, until the client goes.
func (t *tour) others(ctx context.Context, out *eventStream) {
	for {
		v, err := t.next(ctx)
		switch {
		case err != nil && ctx.Err() == nil && !notFound(err):
			t.s.Log.Warn("new turns not read", "thread", t.thread, "error", err)
			fallthrough
		case err == nil && v == nil:
			if out.wait(t.wake(ctx)) != nil {
				return
			}
		case err != nil: // the conversation was deleted, or the client has gone
			return
		default:
			err := out.follow(v, false, "")
			v.Close()
			if err != nil {
				return
			}
		}
	}
}

// next is the turn after the last one, nil when there is none yet. A turn that
// was just submitted is open before it is the thread's head.
func (t *tour) next(ctx context.Context) (*follow.Viewer, error) {
	open, err := t.s.Store.OpenTurns(ctx, t.owner, t.thread)
	if err != nil {
		return nil, err
	}
	head, err := t.s.Store.Head(ctx, t.owner, t.thread)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, turn := range open {
		ids = append(ids, turn.ID)
	}
	if head != chat.RootCheckpoint && head > t.last {
		// Other turns may have come and gone before it.
		h, err := t.s.Store.History(ctx, t.owner, t.thread, head, "", 200)
		if err != nil {
			return nil, err
		}
		ids = append(ids, head)
		for _, m := range h.Messages {
			ids = append(ids, m.TurnID)
		}
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return id <= t.last })
	if len(ids) == 0 {
		return nil, nil
	}
	turn, err := t.turn(ctx, slices.Min(ids))
	if err != nil {
		return nil, err
	}
	t.last = turn.ID
	return t.s.viewer(ctx, turn, follow.Position{})
}

// wake is closed when it is worth looking for new turns.
func (t *tour) wake(ctx context.Context) <-chan struct{} {
	woken := make(chan struct{})
	news := t.news
	go func() {
		defer close(woken)
		timer := time.NewTimer(threadPoll)
		defer timer.Stop()
		select {
		case _, open := <-news:
			if !open {
				<-timer.C // the subscription has ended: polling does
			}
		case <-timer.C:
		case <-ctx.Done():
		}
	}()
	return woken
}
