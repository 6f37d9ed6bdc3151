package follow

import (
	"slices"

	"github.com/palaver-chat/palaver/chat"
)

// reports are the reports of running activities. They come from the bus and from the texts
// of the turn, before the log has them, and may be lost, duplicated or late.
type reports struct {
	running []chat.Report   // not in the log, in the order in which they came
	known   map[string]int  // how many reports of an activity came, or are in the log
	ended   map[string]bool // tool calls that have their result in the log
}

// add adds a report. fresh is false for one that is known, or belongs to a call that has
// ended. gap reports whether one before it is missing: then it is not added.
func (s *reports) add(r chat.Report) (fresh, gap bool) {
	switch {
	case r.N <= s.known[r.Of] || s.ended[r.Of]:
		return false, false
	case r.N > s.known[r.Of]+1:
		return false, true
	}
	s.running = append(s.running, r)
	s.count(r.Of, r.N)
	return true, false
}

// logged removes the reports that an event of the log has, or that its call has ended
// without.
func (s *reports) logged(e chat.Event) {
	of, n, is := chat.ReadProgressKey(e.Report)
	switch {
	case is:
		s.count(of, n)
		s.running = slices.DeleteFunc(s.running, func(r chat.Report) bool { return r.Of == of && r.N <= n })
	case e.Type == chat.EventToolResult:
		if s.ended == nil {
			s.ended = map[string]bool{}
		}
		s.ended[e.ToolCallID] = true
		s.running = slices.DeleteFunc(s.running, func(r chat.Report) bool { return r.Of == e.ToolCallID })
	}
}

func (s *reports) count(of string, n int) {
	if s.known == nil {
		s.known = map[string]int{}
	}
	s.known[of] = max(s.known[of], n)
}
