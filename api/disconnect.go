package api

import (
	"context"
	"sync"
	"time"

	"github.com/palaver-chat/palaver/chat"
)

// disconnects ends turns that are to end with their clients (on_disconnect): once
// nobody has followed such a turn, in any process, for the grace. One that waits
// for a person is left to wait. One goroutine looks after all turns of the
// process, and runs only while there are some; if the process dies, they go on.
type disconnects struct {
	s *server

	mu      sync.Mutex
	turns   map[string]*disconnectedTurn // by turn id
	running bool
}

// disconnectedTurn is a turn whose client has disconnected.
type disconnectedTurn struct {
	turn    chat.Turn
	next    time.Time // when to look whether somebody follows it
	alone   bool      // nobody did when last looked
	unknown time.Time // since when other processes cannot be asked; zero: they can
}

const (
	// Other processes that cannot be asked for this long are not asked any more:
	// their turns go on.
	disconnectGiveUp = time.Minute
	// One question to other processes takes no longer.
	disconnectTimeout = 5 * time.Second
)

// add watches a turn whose client has just disconnected.
func (d *disconnects) add(t chat.Turn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.turns == nil {
		d.turns = map[string]*disconnectedTurn{}
	}
	if _, known := d.turns[t.ID]; known {
		return
	}
	d.turns[t.ID] = &disconnectedTurn{turn: t, next: time.Now().Add(d.s.grace), alone: true}
	if !d.running {
		d.running = true
		go d.run()
	}
}

// run looks at every turn when its time has come, until there is none left. A turn
// that is added has the latest time, so the earliest one stays the next.
func (d *disconnects) run() {
	for {
		next, some := d.earliest()
		if !some {
			return // until add
		}
		timer := time.NewTimer(time.Until(next))
		select {
		case <-timer.C:
			d.look()
		case <-d.s.Stop:
			timer.Stop()
			return
		}
	}
}

func (d *disconnects) earliest() (next time.Time, some bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, t := range d.turns {
		if next.IsZero() || t.next.Before(next) {
			next = t.next
		}
	}
	d.running = len(d.turns) > 0
	return next, d.running
}

// look asks who follows each turn whose time has come. When other processes
// cannot be asked about one, they are not asked about the others.
func (d *disconnects) look() {
	var unasked error
	var given []string
	for _, t := range d.due() {
		followed, err := d.s.hub.Viewers(t.turn.ID) > 0, unasked
		if !followed && err == nil {
			followed, err = d.ask(t.turn)
		}
		now := time.Now()
		t.next = now.Add(d.s.grace)
		switch {
		case followed:
			t.alone, t.unknown = false, time.Time{}
		case err != nil: // not known is not no
			unasked, t.alone = err, false
			if t.unknown.IsZero() {
				t.unknown = now
			}
			if now.Sub(t.unknown) >= disconnectGiveUp {
				given = append(given, t.turn.ID)
				d.drop(t)
			}
		case !t.alone: // somebody has only just left
			t.alone, t.unknown = true, time.Time{}
		default:
			d.drop(t)
			go d.s.cancelAlone(t.turn)
		}
	}
	if len(given) > 0 {
		d.s.Log.Warn("turns of disconnected clients go on: other processes could not be asked who follows them",
			"turns", len(given), "first", given[0], "for", disconnectGiveUp, "error", unasked)
	}
}

// due are the turns to look at now, also those whose time comes within half a
// grace: they are looked at together.
func (d *disconnects) due() []*disconnectedTurn {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	var due []*disconnectedTurn
	for _, t := range d.turns {
		if !t.next.After(now) || !t.unknown.IsZero() && t.next.Before(now.Add(d.s.grace/2)) {
			due = append(due, t)
		}
	}
	return due
}

func (d *disconnects) drop(t *disconnectedTurn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.turns, t.turn.ID)
}

func (d *disconnects) ask(t chat.Turn) (followed bool, _ error) {
	ctx, cancel := context.WithTimeout(context.Background(), disconnectTimeout)
	defer cancel()
	followed, err := d.s.Bus.Watched(ctx, t.ID)
	if err != nil {
		d.s.Log.Debug("other processes could not be asked who follows a turn", "turn", t.ID, "run", t.StreamRunID, "error", err)
	}
	return followed, err
}

// cancelAlone ends a turn that nobody follows, unless it is over or waits for a
// person.
func (s *server) cancelAlone(t chat.Turn) {
	ctx, cancel := context.WithTimeout(context.Background(), s.answerTimeout)
	defer cancel()
	state, err := s.Threads.State(ctx, t.ThreadID)
	_, open := state.Names[t.ID]
	if err == nil && (!open || state.TurnID == t.ID && state.Pending != nil) {
		return
	}
	if err == nil {
		_, err = s.Threads.Cancel(ctx, t.Owner, t.ThreadID, chat.Cancel{TurnID: t.ID, Reason: chat.Disconnected})
	}
	if err != nil {
		s.Log.Warn("turn of a disconnected client not cancelled", "turn", t.ID, "run", t.StreamRunID, "error", err)
	}
}
