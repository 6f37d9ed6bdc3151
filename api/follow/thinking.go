package follow

import (
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/bus"
)

// thinking is what a model thinks now, in one call. A lost delta ends it: the log gets the
// whole text when the call ends.
type thinking struct {
	n              int // rises with each call
	piece, attempt int
	text           []rune
}

// add adds a delta; grown reports whether the text has changed.
func (t *thinking) add(d bus.Delta) (grown bool) {
	later := d.Piece > t.piece || d.Piece == t.piece && d.Attempt > t.attempt
	again := d.Piece == t.piece && d.Attempt == t.attempt && d.Offset == 0 && len(t.text) == 0
	if later || again {
		*t = thinking{n: t.n + 1, piece: d.Piece, attempt: d.Attempt}
	} else if d.Piece != t.piece || d.Attempt != t.attempt {
		return false
	}
	if d.Offset != len(t.text) {
		return false
	}
	t.text = append(t.text, []rune(d.Text)...)
	return d.Text != ""
}

// thoughtAt is a viewer's position in what a model thinks.
type thoughtAt struct{ n, offset int }

// think returns what v lacks of what the model thinks now. It is not part of the log, and
// does not change v's position.
func (v *Viewer) think() (Item, bool) {
	t := &v.f.thinking
	if len(t.text) == 0 {
		return Item{}, false
	}
	if v.thought.n != t.n {
		v.thought = thoughtAt{n: t.n}
	}
	fresh := t.text[v.thought.offset:]
	if len(fresh) == 0 {
		return Item{}, false
	}
	e := chat.Event{Type: chat.EventThought, TurnID: v.f.ref.TurnID, ThreadID: v.f.ref.ThreadID, Offset: v.thought.offset, Text: string(fresh)}
	v.thought.offset = len(t.text)
	return Item{Event: e, At: v.at}, true
}
