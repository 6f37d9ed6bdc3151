package follow

import (
	"context"
	"io"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
)

// Viewer is one client's position in a turn. Not safe for concurrent use.
type Viewer struct {
	// RunID replaces the stream_run_id of this viewer's events unless it is empty.
	RunID string

	f                  *follower
	at                 Position
	whole              bool            // the finished piece before the next event was delivered completely
	held               bool            // the text of the piece being written is withheld
	joinedAfterRebuild bool            // it joined after the log was rebuilt
	ended              bool            // it has received the terminal event
	retrySeen          int             // number of the last retry it was notified of
	reported           map[string]bool // keys of the reports that it has got before the log had them
	outageSeen         int64           // number of the last outage it was notified of
	closed             bool
	thought            thoughtAt
}

// Next returns the next event without waiting. If there is none, it returns more:
// call Next again when that is closed. After the terminal event the error is
// io.EOF; it is ErrTurnNotFound when the turn does not exist.
func (v *Viewer) Next() (_ Item, more <-chan struct{}, _ error) {
	v.f.mu.Lock()
	defer v.f.mu.Unlock()
	item, more, err := v.next()
	if v.RunID != "" && more == nil && err == nil {
		item.StreamRunID = v.RunID
	}
	return item, more, err
}

func (v *Viewer) next() (_ Item, more <-chan struct{}, _ error) {
	f := v.f
	if outage := f.outage(); outage != 0 && outage != v.outageSeen {
		v.outageSeen = outage
		return v.notice(chat.NoticeNotSaved), nil, nil
	}
	for v.at.N < len(f.log) {
		e := f.log[v.at.N]
		if !v.reported[e.Report] {
			return v.durable(e), nil, nil
		}
		v.at.N++
	}
	if v.pastEnd() {
		v.at, v.ended = Position{TurnID: v.at.TurnID, N: len(f.log)}, true
		return Item{Event: f.log[len(f.log)-1], At: v.at, Latest: true}, nil, nil
	}
	if f.over {
		return Item{}, nil, io.EOF
	}
	if !f.behind && !v.held && v.at.N == len(f.log) {
		if item, ok := v.progress(); ok {
			return item, nil, nil
		}
		if item, ok := v.think(); ok {
			return item, nil, nil
		}
		if item, ok := v.token(); ok {
			return item, nil, nil
		}
		if f.retry > 0 && v.retrySeen != f.retries {
			v.retrySeen = f.retries
			return v.status(chat.NodeRetry, chat.RetryMessage(f.retry)), nil, nil
		}
	}
	if f.notFound {
		return Item{}, nil, ErrTurnNotFound
	}
	return Item{}, f.changed, nil
}

// HoldText withholds the text of the piece being written, or delivers it again. A
// viewer that skips the events before an answer must withhold text: while the
// workflow cannot be queried, a new follower has the text but not the events before
// it.
func (v *Viewer) HoldText(hold bool) {
	v.f.mu.Lock()
	defer v.f.mu.Unlock()
	v.held = hold
}

// Wait returns the next event as soon as there is one.
func (v *Viewer) Wait(ctx context.Context) (Item, error) {
	for {
		item, more, err := v.Next()
		if err != nil || more == nil {
			return item, err
		}
		select {
		case <-more:
		case <-ctx.Done():
			return Item{}, ctx.Err()
		}
	}
}

// Close detaches the viewer. Closing twice is harmless.
func (v *Viewer) Close() {
	if !v.closed && v.f.hub != nil {
		v.f.hub.leave(v.f)
	}
	v.closed = true
}

// durable delivers the next event of the log. Before an event with a finished
// piece it delivers the rest of that piece's text.
func (v *Viewer) durable(e chat.Event) Item {
	if e.Type == chat.EventText && !v.whole {
		if item, ok := v.rest(e); ok {
			return item
		}
	}
	v.at.N++
	v.whole, v.ended = false, e.Type.Terminal()
	if e.Type == chat.EventText && v.at.Piece <= e.Piece {
		v.at.Piece, v.at.Attempt, v.at.Offset = 0, 0, 0
	}
	return Item{Event: e, At: v.at, Latest: v.at.N == len(v.f.log)}
}

// rest returns the part of a finished piece that the viewer lacks. A viewer that
// received different text gets a restart notice and then the whole piece.
func (v *Viewer) rest(e chat.Event) (Item, bool) {
	var seen closedPiece
	if e.Piece >= 1 && e.Piece <= len(v.f.closed) {
		seen = v.f.closed[e.Piece-1]
	}
	text := []rune(e.Text)
	if v.at.Piece != e.Piece {
		v.at.Piece, v.at.Attempt, v.at.Offset = e.Piece, max(seen.attempt, 1), 0
	}
	if v.at.Attempt < seen.attempt {
		if v.at.Offset > 0 {
			return v.restart(seen.attempt), true
		}
		v.at.Attempt = seen.attempt
	}
	fits := v.at.Offset <= len(text)
	if v.at.Attempt == seen.attempt && seen.differs {
		fits = v.at.Offset <= seen.same
	}
	if !fits {
		return v.restart(v.at.Attempt + 1), true
	}
	if v.at.Offset == len(text) {
		return Item{}, false
	}
	v.whole = true
	return v.deliver(text[v.at.Offset:]), true
}

// progress returns the first report of running activities that v does not have yet. It is not
// part of the log.
func (v *Viewer) progress() (Item, bool) {
	for _, r := range v.f.shown.running {
		key := r.Key()
		if v.reported[key] {
			continue
		}
		if v.reported == nil {
			v.reported = map[string]bool{}
		}
		v.reported[key] = true
		return Item{At: v.at, Event: r.Event(v.f.ref.ThreadID, v.f.ref.TurnID)}, true
	}
	return Item{}, false
}

// token returns the text of the piece being written that v does not have yet.
func (v *Viewer) token() (Item, bool) {
	p := &v.f.piece
	if p.attempt == 0 {
		return Item{}, false
	}
	if v.at.Piece != p.n {
		if len(p.text) == 0 {
			return Item{}, false
		}
		v.at.Piece, v.at.Attempt, v.at.Offset = p.n, p.attempt, 0
	}
	if v.at.Attempt < p.attempt {
		if v.at.Offset > 0 {
			return v.restart(p.attempt), true
		}
		v.at.Attempt = p.attempt
	}
	// A client that was connected to another process may be ahead of this one.
	if v.at.Attempt > p.attempt || v.at.Offset >= len(p.text) {
		return Item{}, false
	}
	return v.deliver(p.text[v.at.Offset:]), true
}

func (v *Viewer) restart(attempt int) Item {
	v.at.Attempt, v.at.Offset = attempt, 0
	return v.notice(chat.NoticeRestarted)
}

// notice returns a notice event that is not part of the log.
func (v *Viewer) notice(code string) Item {
	e := chat.Event{Type: chat.EventNotice, TurnID: v.f.ref.TurnID, ThreadID: v.f.ref.ThreadID, Code: code}
	e.Say(chat.NoticeMessage(code))
	return Item{At: v.at, Event: e}
}

// status returns a status that is not part of the log.
func (v *Viewer) status(node chat.Node, message messages.Message) Item {
	return Item{At: v.at, Event: chat.Event{Type: chat.EventStatus, TurnID: v.f.ref.TurnID, ThreadID: v.f.ref.ThreadID, Node: node, Message: message.Text, Coded: message.Coded}}
}

func (v *Viewer) deliver(text []rune) Item {
	e := chat.Event{
		Type: chat.EventToken, TurnID: v.f.ref.TurnID, ThreadID: v.f.ref.ThreadID,
		Piece: v.at.Piece, Attempt: v.at.Attempt, Offset: v.at.Offset, Text: string(text),
	}
	v.at.Offset += len(text)
	return Item{Event: e, At: v.at}
}

// Ref returns the turn that v watches.
func (v *Viewer) Ref() Ref { return v.f.ref }

// Done reports whether the turn is over and v has all of it.
func (v *Viewer) Done() bool {
	v.f.mu.Lock()
	defer v.f.mu.Unlock()
	return v.f.over && v.at.N >= len(v.f.log) && !v.pastEnd()
}

// pastEnd reports whether v has seen more of the turn than its log holds, but not
// the terminal event: the turn was lost, and its log was rebuilt.
func (v *Viewer) pastEnd() bool {
	f := v.f
	if !f.over || v.ended || len(f.log) == 0 {
		return false
	}
	return v.at.N > len(f.log) || v.at.N == len(f.log) && (v.at.Piece > 0 || f.rebuilt && !v.joinedAfterRebuild)
}
