package dialect

import (
	"time"

	"github.com/palaver-chat/palaver/chat"
)

// Wire writes the events of one stream in a wire format. It is made for one
// stream, remembers what the format needs between events (an open text part),
// and is used by one goroutine.
type Wire interface {
	// Name returns the dialect's name for metrics.
	Name() string
	// Header returns the format's additional headers.
	Header() map[string]string
	// Begin appends the start of the stream.
	Begin(b []byte) []byte
	// Event appends an event that the stream's View includes, or nothing if the format has no such
	// event. id is the event's position, opaque to clients.
	Event(b []byte, e chat.Event, id string) []byte
	// End appends the end of the stream, after a terminal event or a final interrupt. It is not
	// called when the connection breaks.
	End(b []byte) []byte
}

// Historian is a Wire that also needs the turn's events before its stream: those up to and including
// the interrupt that was answered.
type Historian interface {
	Before(e chat.Event)
}

// Replayer is a Wire whose clients need answered questions, too, in a stream from the turn's
// beginning: those that assemble one message from the whole turn, and those that know calls from a
// question about them. Other clients do not get them.
type Replayer interface {
	Answered(b []byte, e chat.Event, id string) []byte
}

// Abrupt is a Wire whose clients treat a stream that just ends as a success. So the server must abort
// the connection of a stream that it cannot continue.
type Abrupt interface {
	Abrupt()
}

// Whole is a Wire whose client gets one JSON document when the stream is over, instead of
// events. Begin and Event append nothing.
type Whole interface {
	// Status is the status of the answer; it is known when End has been called.
	Status() int
}

// Stream describes a stream to its Wire.
type Stream struct {
	Thread string // the client's name of the thread
	Turn   chat.Turn
	RunID  string // stream_run_id of this request; a retry may have another than the turn's
	View   View
	After  string // the question whose answer the stream begins with; empty: it begins with the turn
}

// Stamp formats a time for JSON.
func Stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
