package dialect

import "github.com/palaver-chat/palaver/chat"

// Wire writes the events of one stream in a wire format. It is made for one
// stream, remembers what the format needs between events (an open text part),
// and is used by one goroutine.
type Wire interface {
	// Name is the dialect's, for metrics.
	Name() string
	// Header is what the format asks for beyond the headers of every stream.
	Header() map[string]string
	// Begin appends what the stream opens with.
	Begin(b []byte) []byte
	// Event appends an event that the stream's View shows, nothing for one that
	// the format does not know. id is the event's place, opaque to clients.
	Event(b []byte, e chat.Event, id string) []byte
	// End appends what closes the stream, after a terminal event or after the
	// interrupt that it ends with. It is not called when the line just breaks.
	End(b []byte) []byte
}

// Historian is a Wire that wants to know of the events of the turn before the
// part that its stream shows: those up to and with the interrupt that was
// answered.
type Historian interface {
	Before(e chat.Event)
}

// Replayer is a Wire whose clients put one message together from the whole turn,
// so that a stream from its beginning shows them the questions that have been
// answered since, too. Others never see those.
type Replayer interface {
	Answered(b []byte, e chat.Event, id string) []byte
}

// Abrupt is a Wire whose clients take a stream that just ends for a success, so
// that one which the server cannot go on with must break.
type Abrupt interface {
	Abrupt()
}

// Stream is what a Wire is told about the stream it writes.
type Stream struct {
	Thread string // the thread's id as the client calls it
	Turn   chat.Turn
	RunID  string // of this request; a retry may bring another than the turn's
	View   View
	After  string // the question whose answer the stream begins with; empty: it begins with the turn
}
