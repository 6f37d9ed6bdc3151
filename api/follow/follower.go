package follow

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/bus"
)

// follower assembles one turn for all viewers in this process.
type follower struct {
	hub     *Hub
	ref     Ref
	stop    context.CancelFunc
	viewers int // guarded by hub.mu
	known   knownDocs

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced when there is something new
	log      []chat.Event  // the n-th durable event at n-1
	closed   []closedPiece // finished pieces, the n-th at n-1
	piece    piece         // the one being written
	behind   bool          // the turn's log is longer than log; text waits for the missing entries
	over     bool          // the terminal event is in log
	rebuilt  bool          // log was replaced by the shorter one of a lost turn
	notFound bool
	shown    reports
	thinking thinking
	retry    int // how often the running model call has failed; 0 once it says something
	retries  int // how many failures were signalled so far

	pace pace // used by run only
}

// closedPiece compares a finished piece with what was received of it live.
type closedPiece struct {
	attempt int  // 0: nothing was received
	same    int  // how many leading characters received live equal the finished text
	differs bool // the text received live continues differently after those
}

// subscription returns the follower's context and, if a subscription was made
// before the submit, its signals.
func (f *follower) subscription(early *Early) (context.Context, <-chan bus.Signal) {
	if early == nil {
		ctx, stop := context.WithCancel(context.Background())
		f.stop = stop
		return ctx, nil
	}
	early.Subscribed()
	early.used, f.stop, f.known = true, early.stop, early.known
	return early.ctx, early.signals
}

// run receives signals, polls where that is needed, and assembles the turn until
// it is over or has no viewers. Without signals it subscribes.
func (f *follower) run(ctx context.Context, signals <-chan bus.Signal, known []chat.Entry) {
	defer f.stop()
	ctx = db.InSpace(ctx, f.ref.Space)
	if signals == nil {
		var err error
		if signals, err = f.hub.bus.Subscribe(ctx, f.ref.TurnID); err != nil {
			signals = nil // polling replaces it
		}
	}
	var (
		reports      = make(chan report, 1)
		busy         bool         // a poll or read is running
		entries      = known      // delivered entries that still need their texts
		last         = len(known) // number of the last entry that was delivered in order
		settled      bool         // the whole log is in the database
		end          []chat.Event // that log, if the bus delivered it
		pollNow      bool         // entries are missing: poll as soon as possible
		gotDelta     bool         // a delta arrived since the last poll
		unknownSince time.Time    // since when neither workflow nor database has the turn
		logged       bool         // the error about the unreplayable thread was logged
		timer        = time.NewTimer(0)
	)
	defer timer.Stop()
	start := func(how func() report) {
		busy = true
		go func() { reports <- how() }()
	}
	poll := func() {
		pollNow = false
		after, piece, gap := f.state()
		draft := gap || !gotDelta && !f.pace.waiting
		gotDelta = false
		start(func() report { return f.poll(ctx, after, piece, draft, gap) })
	}
	startNext := func() {
		switch {
		case busy:
		case settled:
			settled = false
			after, _, _ := f.state()
			delivered := end
			start(func() report {
				if len(delivered) > 0 {
					return whole(delivered, after)
				}
				return f.read(ctx, after)
			})
		case len(entries) > 0:
			delivered := entries
			entries = nil
			start(func() report { return f.complete(ctx, delivered) })
		case pollNow:
			poll()
		}
	}
	if len(known) > 0 {
		startNext()
	}
	for {
		live := signals != nil && f.hub.bus.Connected()
		if busy {
			timer.Stop()
		} else {
			timer.Reset(f.pace.remaining(live))
		}
		select {
		case <-ctx.Done():
			return
		case s, open := <-signals:
			if !open {
				signals = nil
				break
			}
			f.pace.received()
			if settled = settled || s.Settled; s.End.Owner == f.ref.Owner && f.ref.Space == "" {
				end = s.End.Events
			}
			fresh, missing := f.receive(s, last)
			if len(fresh) > 0 {
				entries = append(entries, fresh...)
				last = fresh[len(fresh)-1].N
			}
			pollNow = pollNow || missing
			gotDelta = gotDelta || s.Delta != nil && !s.Delta.Reasoning
			startNext()
		case <-timer.C:
			if f.pace.remaining(live) == 0 {
				poll()
			}
		case r := <-reports:
			busy = false
			unreplayable := errors.Is(r.err, chat.ErrCannotReplay)
			if unreplayable && !logged {
				logged = true
				f.hub.log.Error("thread cannot be replayed by the worker's release; see docs/upgrades.md",
					"thread", f.ref.ThreadID, "turn", f.ref.TurnID, "error", r.err)
			} else if r.err != nil {
				f.hub.log.Debug("reading a followed turn failed; it will be retried", "turn", f.ref.TurnID, "error", r.err)
			}
			fresh := f.take(r, !pollNow && !settled && len(entries) == 0)
			if r.err != nil && !r.queried { // the delivered entries have to be queried again
				entries, last = nil, 0
			}
			if f.finished() {
				return
			}
			if !r.unknown {
				unknownSince = time.Time{}
			} else if unknownSince.IsZero() {
				unknownSince = time.Now()
			} else if time.Since(unknownSince) >= f.unknownLimit() {
				f.giveUp()
				return
			}
			_, _, gap := f.state()
			f.pace.polled(r, fresh, unreplayable, live && !gap)
			if r.more && fresh {
				pollNow = true
			}
			startNext()
		}
	}
}

// receive takes what a signal carries. It returns the delivered entries that come after the entry
// number last; missing reports whether the follower has to poll for others, or for reports.
func (f *follower) receive(s bus.Signal, last int) (fresh []chat.Entry, missing bool) {
	if s.Retry > 0 {
		f.retrying(s.Retry)
	}
	fresh, gap := f.follows(s.Log, last)
	if gap {
		fresh = nil
	} else if len(fresh) > 0 {
		last = fresh[len(fresh)-1].N
	}
	missing = gap || s.N > 0 && f.hint(s.N)
	logged := func(n int) {
		if f.hint(n) && n > last {
			missing = true
		}
	}
	if s.Progress != nil {
		logged(s.Progress.Logged)
		if f.progress(s.Progress.Report) {
			missing = true // the texts have the reports before it
		}
	}
	if s.Delta != nil {
		logged(s.Delta.Logged)
		if s.Delta.Reasoning {
			f.thinks(*s.Delta)
		} else if f.delta(*s.Delta) {
			f.pace.pollSoon() // text is missing: read the draft soon
		}
	}
	return fresh, missing
}

func (f *follower) state() (after, piece int, gap bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.log), f.piece.n, f.piece.gap()
}

// unknownLimit returns how long the turn may be unknown before the follower gives up.
func (f *follower) unknownLimit() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.log) > 0 {
		return deletedTimeout
	}
	return unknownTimeout
}

// hint records that the turn's log has n events; news reports whether f has fewer.
func (f *follower) hint(n int) (news bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n <= len(f.log) {
		return false
	}
	f.behind = true
	return true
}

// follows returns the delivered entries that come after the known ones, and after
// the entry number last. gap reports whether entries between them are missing.
func (f *follower) follows(delivered []chat.Entry, last int) (fresh []chat.Entry, gap bool) {
	known, _, _ := f.state()
	last = max(last, known)
	i := slices.IndexFunc(delivered, func(e chat.Entry) bool { return e.N > last })
	if i < 0 {
		return nil, false
	}
	f.hint(delivered[len(delivered)-1].N)
	return delivered[i:], delivered[i].N > last+1
}

// delta adds to the piece being written; gap reports whether this delta reveals
// that an earlier one was lost.
func (f *follower) delta(d bus.Delta) (gap bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.piece.gap()
	if f.piece.add(d) {
		f.retry = 0
		if !f.behind {
			f.wake()
		}
	}
	return !before && f.piece.gap()
}

// thinks adds to what the model thinks now.
func (f *follower) thinks(d bus.Delta) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.thinking.add(d) {
		f.retry = 0
		if !f.behind {
			f.wake()
		}
	}
}

// progress adds a report of a running activity; gap reports whether an earlier one was lost.
func (f *follower) progress(r chat.Report) (gap bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fresh, gap := f.shown.add(r)
	if fresh && !f.behind {
		f.wake()
	}
	return gap
}

// retrying records that the model call has failed for the n-th time.
func (f *follower) retrying(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.retry = n
	f.retries++
	f.wake()
}

// take adds the result of a poll or read. current means that no hint arrived
// meanwhile.
func (f *follower) take(r report, current bool) (fresh bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.rebuilt {
		f.log, f.closed, f.piece, f.rebuilt = nil, nil, piece{n: 1}, true
	}
	if len(r.events) > 0 {
		fresh = f.append(r.events)
	}
	for _, report := range r.shown {
		if added, _ := f.shown.add(report); added {
			fresh = true
		}
	}
	if r.over {
		f.over, fresh = true, true
	}
	if r.draft != nil && f.piece.load(*r.draft) {
		fresh = true
	}
	if current && f.behind {
		f.behind = false
		fresh = true
	}
	if fresh {
		f.wake()
	}
	return fresh
}

// append adds the events that continue the log, in order.
func (f *follower) append(events []chat.Event) (fresh bool) {
	for _, e := range events {
		if e.N != len(f.log)+1 {
			continue // already known
		}
		f.log = append(f.log, e)
		fresh = true
		f.retry = 0
		f.shown.logged(e)
		switch e.Type {
		case chat.EventText:
			f.closePiece(e)
		case chat.EventReasoning:
			f.thinking.text = nil // the event has it
		}
	}
	return fresh
}

// closePiece closes the pieces up to the one whose finished text is in e.
func (f *follower) closePiece(e chat.Event) {
	for len(f.closed) < e.Piece {
		var c closedPiece
		if f.piece.n == len(f.closed)+1 {
			c.attempt = f.piece.attempt
			c.same = common(f.piece.text, []rune(e.Text))
			c.differs = c.same < len(f.piece.text)
		}
		f.closed = append(f.closed, c)
	}
	if f.piece.n <= e.Piece {
		f.piece.next(e.Piece + 1)
	}
}

// common returns the length of the common prefix.
func common(a, b []rune) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

func (f *follower) finished() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.over
}

// giveUp ends the viewers with ErrTurnNotFound.
func (f *follower) giveUp() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.notFound = true
	f.wake()
}

// wake notifies the viewers. The caller holds mu.
func (f *follower) wake() {
	close(f.changed)
	f.changed = make(chan struct{})
}
