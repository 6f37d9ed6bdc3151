package api

import (
	"context"
	"sync"
	"time"

	"github.com/palaver-chat/palaver/chat"
)

// disconnects cancels turns whose client asked for it (on_disconnect=cancel), once
// no client in any process has followed the turn for the grace period. Turns that
// wait for a person are not cancelled. One goroutine handles all turns of the
// process, and runs only while there are any. If the process dies, the turns go on.
type disconnects struct {
	s *server

	mu      sync.Mutex
	turns   map[string]*disconnectedTurn // by turn id
	running bool
}

// disconnectedTurn is a turn whose client has disconnected.
type disconnectedTurn struct {
	turn         chat.Turn
	next         time.Time // when to check again whether somebody follows it
	unfollowed   bool      // no client followed it at the last check
	unknownSince time.Time // since when other processes could not be asked; zero: they could
}

const (
	// When other processes could not be asked for this long, the turn goes on.
	disconnectMaxUnknown = time.Minute
	// Timeout of one question to other processes.
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
	d.turns[t.ID] = &disconnectedTurn{turn: t, next: time.Now().Add(d.s.grace), unfollowed: true}
	if !d.running {
		d.running = true
		go d.run()
	}
}

// run checks every turn when it is due, until there are none left. An added turn has
// the latest time, so the timer never fires too late.
func (d *disconnects) run() {
	for {
		next, found := d.earliest()
		if !found {
			return // until add
		}
		timer := time.NewTimer(time.Until(next))
		select {
		case <-timer.C:
			d.checkDue()
		case <-d.s.Stop:
			timer.Stop()
			return
		}
	}
}

func (d *disconnects) earliest() (next time.Time, found bool) {
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

// checkDue checks who follows each turn that is due. After one question to other
// processes has failed, it asks no further ones in this round.
func (d *disconnects) checkDue() {
	var askErr error
	var abandoned []string
	for _, t := range d.due() {
		followed, err := d.s.hub.Viewers(t.turn.ID) > 0, askErr
		if !followed && err == nil {
			followed, err = d.ask(t.turn)
		}
		now := time.Now()
		t.next = now.Add(d.s.grace)
		switch {
		case followed:
			t.unfollowed, t.unknownSince = false, time.Time{}
		case err != nil: // a failed question is not a no
			askErr, t.unfollowed = err, false
			if t.unknownSince.IsZero() {
				t.unknownSince = now
			}
			if now.Sub(t.unknownSince) >= disconnectMaxUnknown {
				abandoned = append(abandoned, t.turn.ID)
				d.drop(t)
			}
		case !t.unfollowed: // its last follower has only just disconnected
			t.unfollowed, t.unknownSince = true, time.Time{}
		default:
			d.drop(t)
			go d.s.cancelUnfollowed(t.turn)
		}
	}
	if len(abandoned) > 0 {
		d.s.Log.Warn("viewer query failed; turns of disconnected clients are not cancelled",
			"turns", len(abandoned), "first", abandoned[0], "for", disconnectMaxUnknown, "error", askErr)
	}
}

// due returns the turns to check now. Turns whose last question failed are included
// half a grace period early, so that one round covers them.
func (d *disconnects) due() []*disconnectedTurn {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	var due []*disconnectedTurn
	for _, t := range d.turns {
		if !t.next.After(now) || !t.unknownSince.IsZero() && t.next.Before(now.Add(d.s.grace/2)) {
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
		d.s.Log.Debug("viewer query to other processes failed", "turn", t.ID, "run", t.StreamRunID, "error", err)
	}
	return followed, err
}

// cancelUnfollowed cancels a turn that no client follows, unless it has ended or waits
// for a person.
func (s *server) cancelUnfollowed(t chat.Turn) {
	ctx, cancel := context.WithTimeout(context.Background(), s.answerTimeout)
	defer cancel()
	state, err := s.Threads.State(ctx, t.ThreadID)
	_, open := state.Names[t.ID]
	if err == nil && (!open || state.TurnID == t.ID && state.Pending != nil) {
		return
	}
	if err == nil {
		_, err = s.Threads.Cancel(ctx, t.ThreadID, chat.Cancel{TurnID: t.ID, Reason: chat.Disconnected, Channel: chat.ByServer})
	}
	if err != nil {
		s.Log.Warn("cancelling the turn of a disconnected client failed", "turn", t.ID, "run", t.StreamRunID, "error", err)
	}
}
