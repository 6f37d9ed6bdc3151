package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/follow"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/api/sse"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
)

// eventStream writes server-sent events to one client.
type eventStream struct {
	w    http.ResponseWriter
	rc   *http.ResponseController
	ping *time.Ticker
	done <-chan struct{} // closed when the client disconnects
	stop <-chan struct{} // closed when the server shuts down
	wire dialect.Wire
	buf  []byte
	// Fires when the client's token expires; nil: the client has no token that expires.
	expired    <-chan time.Time
	stopExpiry func()
	// The ids of the turn that is shown, for an error of the stream itself.
	shown chat.Event
	// Measures how long the client waits; nil: it is not measured.
	timing *timing
	// The code of the turn_failed event that was sent to the client.
	failed string
	// The wire sends one document at the end; nil: it sends events.
	whole dialect.Whole
	// mayRead reports whether the client still reads the spaces of the turn; nil: it reads in none.
	mayRead func() bool
	// reads returns mayRead for a space or a scope.
	reads func(space string) func() bool
	// Which events of the turn the client gets.
	filter dialect.EventFilter
}

// open sends the headers of a stream; end it with close.
func (s *server) open(c *gin.Context, wire dialect.Wire, view dialect.View) *eventStream {
	h := c.Writer.Header()
	h.Set("Content-Type", sse.ContentType)
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	for name, value := range wire.Header() {
		h.Set(name, value)
	}
	o := &eventStream{
		w: c.Writer, rc: http.NewResponseController(c.Writer), ping: time.NewTicker(s.ping),
		done: request.ClientContext(c).Done(), stop: s.Stop, wire: wire, filter: dialect.EventFilter{View: view},
	}
	o.expired, o.stopExpiry = s.expiry(identity.Of(c))
	who := identity.Of(c).ID
	o.reads = func(space string) func() bool {
		if space == "" {
			return nil
		}
		ctx := db.InSpace(request.ClientContext(c), space)
		return func() bool {
			_, err := s.Store.ThisSpace(ctx, who)
			return !errors.Is(err, db.ErrNotFound)
		}
	}
	o.mayRead = o.reads(db.SpaceOf(c.Request.Context()))
	if o.whole, _ = wire.(dialect.Whole); o.whole != nil {
		h.Set("Content-Type", "application/json; charset=utf-8")
		h.Set("Cache-Control", "no-store")
	} else {
		c.Writer.WriteHeader(http.StatusOK)
		o.buf = wire.Begin(o.buf)
		_ = o.flush() // if the client has disconnected, the first event fails
	}
	s.metrics.streams.WithLabelValues(wire.Name()).Inc()
	return o
}

func (s *server) close(o *eventStream) {
	o.ping.Stop()
	o.stopExpiry()
	s.metrics.streams.WithLabelValues(o.wire.Name()).Dec()
}

// add puts an event into the buffer, if its dialect shows it.
func (o *eventStream) add(e chat.Event, id string) {
	o.timing.note(e)
	if e.Type == chat.EventFailed {
		o.failed = e.Code
	}
	o.buf = o.wire.Event(o.buf, e, id)
}

// end writes the end of the stream in its dialect.
func (o *eventStream) end() error {
	if o.whole != nil && o.left() {
		o.fail(chat.CodeForbidden, messages.SpaceLeft.Message())
	}
	o.buf = o.wire.End(o.buf)
	if o.whole != nil {
		for name, value := range o.wire.Header() {
			o.w.Header().Set(name, value)
		}
		o.w.WriteHeader(o.whole.Status())
		o.whole = nil
	}
	return o.flush()
}

// flush sends the buffer, within request.WriteTimeout.
func (o *eventStream) flush() error {
	if o.whole != nil { // nothing is sent before the end
		return nil
	}
	if o.left() {
		o.buf = o.buf[:0]
		return o.expire(chat.CodeForbidden, messages.SpaceLeft.Message())
	}
	if len(o.buf) > 0 {
		_, err := o.w.Write(o.buf)
		o.buf = o.buf[:0]
		if err != nil {
			return request.ErrClientDisconnected
		}
	}
	if err := o.rc.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return request.ErrClientDisconnected
	}
	return nil
}

// wait sends the buffer, then pings until more is closed.
func (o *eventStream) wait(more <-chan struct{}) error {
	if err := o.flush(); err != nil {
		return err
	}
	for {
		select {
		case <-more:
			return nil
		case <-o.done:
			return request.ErrClientDisconnected
		case <-o.stop:
			return request.ErrStopping
		case <-o.expired:
			return o.expire(chat.CodeUnauthenticated, problem.Expired.Message)
		case <-o.ping.C:
			if o.whole != nil {
				continue
			}
			o.buf = sse.Comment(o.buf, "ping")
			if err := o.flush(); err != nil {
				return err
			}
		}
	}
}

// errMayNotRead ends a stream, whose client has already received the error event.
var errMayNotRead = errors.New("the caller's token has expired, or the caller has left the space")

// expire ends a stream because its client's token has expired, or because the client has left
// the space. The turn goes on.
func (o *eventStream) expire(code string, why messages.Message) error {
	o.fail(code, why)
	return errors.Join(errMayNotRead, o.end())
}

func (o *eventStream) fail(code string, why messages.Message) {
	o.mayRead = nil // nothing of the turn follows
	e := o.shown
	e.Type, e.Code, e.Retryable = chat.EventFailed, code, code == chat.CodeUnauthenticated
	e.Say(why)
	o.buf = o.wire.Event(o.buf, e, "")
}

// left reports whether the client does not read the space of the turn any more.
func (o *eventStream) left() bool { return o.mayRead != nil && !o.mayRead() }

// follow sends a turn's events until it is over or, with untilAsked, until it waits
// for a person. after names the interrupt after which the stream begins; empty: it
// begins at the viewer's position.
func (o *eventStream) follow(v *follow.Viewer, untilAsked bool, after string) error {
	ref := v.Ref()
	if chat.Home(ref.Space) != ref.Space {
		o.mayRead = o.reads(ref.Space)
	}
	o.shown = chat.Event{TurnID: ref.TurnID, ThreadID: ref.ThreadID, StreamRunID: v.RunID}
	err := v.Each(after, o.wait, func(item follow.Item, past bool) (end bool, _ error) {
		o.filter.Note(item.Event)
		id := ""
		if item.At != (follow.Position{}) {
			id = item.At.String()
		}
		switch {
		case past:
			if h, is := o.wire.(dialect.Historian); is {
				h.Before(item.Event)
			}
		case item.Type == chat.EventInterrupt && untilAsked && item.Latest:
			o.add(item.Event, id)
			return true, nil
		case item.Type == chat.EventInterrupt && untilAsked: // it was answered, so the stream goes on with the outcome
			if r, is := o.wire.(dialect.Replayer); is {
				o.buf = r.Answered(o.buf, item.Event, id)
			}
		case o.filter.Shows(item.Event):
			o.add(item.Event, id)
		}
		if len(o.buf) > 1<<16 { // send a long replay in parts
			return false, o.flush()
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	return o.end()
}

// viewer returns a viewer of an open turn, or of the log of a settled one. early may be nil.
func (s *server) viewer(ctx context.Context, t chat.Turn, after follow.Position, early *follow.Early, known ...chat.Entry) (*follow.Viewer, error) {
	if chat.Home(t.Space) != db.SpaceOf(ctx) {
		return nil, db.ErrNotFound
	}
	ref := follow.Ref{Owner: t.Owner, ThreadID: t.ThreadID, TurnID: t.ID, Space: t.Space}
	if !t.Status.Settled() {
		v := early.Follow(s.hub, ref, after, known...)
		v.RunID = t.StreamRunID
		return v, nil
	}
	log, err := s.Store.Events(ctx, t.Owner, t.ID, 0)
	if err != nil {
		return nil, err
	}
	v := s.hub.Replay(ref, log, after)
	v.RunID = t.StreamRunID
	return v, nil
}
