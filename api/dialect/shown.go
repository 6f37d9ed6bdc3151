package dialect

import "github.com/palaver-chat/palaver/chat"

// EventFilter says which events of one turn a client gets: those of its view, the end, and the
// results of the calls that a question was about.
type EventFilter struct {
	View  View
	asked map[string]bool // calls
}

// Note records an event, whether it is shown or not.
func (s *EventFilter) Note(e chat.Event) {
	if e.Type != chat.EventInterrupt || e.Interrupt == nil {
		return
	}
	for _, call := range e.Interrupt.Calls {
		if s.asked == nil {
			s.asked = map[string]bool{}
		}
		s.asked[call.ID] = true
	}
}

// Shows reports whether the client gets an event.
func (s *EventFilter) Shows(e chat.Event) bool {
	return e.Type.Terminal() || s.View.Shows(e) || e.Type == chat.EventToolResult && s.asked[e.ToolCallID]
}
