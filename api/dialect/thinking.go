package dialect

import (
	"time"

	"github.com/palaver-chat/palaver/chat"
)

// Thinking follows what models think before they write, in one stream: live, or whole from
// the log. A stretch ends when the model writes or calls a tool.
type Thinking struct {
	open  bool
	sent  bool // the log's next stretch was sent live
	since time.Time
}

// ThinkingStep is one thing to send.
type ThinkingStep struct {
	Begins bool
	Text   string
	Ends   bool
	Took   time.Duration // of a stretch that ends
}

// Steps returns what to send for an event, before the event itself. late says that the
// answer has begun: what the model thought before is not sent then.
func (t *Thinking) Steps(e chat.Event, late bool) []ThinkingStep {
	switch e.Type {
	case chat.EventThought:
		var out []ThinkingStep
		if t.open && e.Offset == 0 {
			out = append(out, t.end())
		}
		if late {
			return out
		}
		if !t.open {
			t.open, t.sent, t.since = true, true, time.Now()
			out = append(out, ThinkingStep{Begins: true})
		}
		return append(out, ThinkingStep{Text: e.Text})
	case chat.EventReasoning:
		if t.sent || late || e.Text == "" {
			t.sent = false
			return t.ending()
		}
		return []ThinkingStep{{Begins: true}, {Text: e.Text}, {Ends: true, Took: time.Duration(e.Took) * time.Millisecond}}
	case chat.EventStatus, chat.EventNotice, chat.EventTurnStarted:
		return nil
	}
	if e.Type != chat.EventToken {
		t.sent = false
	}
	return t.ending()
}

// ending returns the end of a stretch that is open.
func (t *Thinking) ending() []ThinkingStep {
	if !t.open {
		return nil
	}
	return []ThinkingStep{t.end()}
}

func (t *Thinking) end() ThinkingStep {
	t.open = false
	return ThinkingStep{Ends: true, Took: time.Since(t.since)}
}
