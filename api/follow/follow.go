// Package follow lets any number of viewers in this process watch turns. One
// follower per open turn assembles its durable log and the text being written from
// what the bus delivers: entries, deltas and hints. Any of them may be late or
// lost; the follower gets what is missing from progress queries, drafts and the
// settled log.
//
// Viewers share what their follower knows, and each viewer is a position in it. So
// a slow viewer costs no memory: it gets the text that it missed as one larger
// token, and can read durable events at any time.
package follow

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/bus"
)

// Ref names a turn.
type Ref struct{ Owner, ThreadID, TurnID, Space string }

// Engine queries a turn's workflow for its log.
type Engine interface {
	Progress(ctx context.Context, threadID, turnID string, after int) (chat.Progress, error)
}

// Store reads settled logs, drafts and texts from the database.
type Store interface {
	Events(ctx context.Context, owner, turnID string, after int) ([]chat.Event, error)
	Draft(ctx context.Context, owner, turnID string, piece int) (db.Draft, error)
	Texts(ctx context.Context, owner, turnID string) (map[string]string, error)
	Ping(ctx context.Context) error
}

// Bus delivers a turn's signals.
type Bus interface {
	Subscribe(ctx context.Context, turnID string) (<-chan bus.Signal, error)
	// Connected reports whether messages are delivered now.
	Connected() bool
}

// Render completes log entries with their texts. known are documents that were read a moment ago.
type Render func(ctx context.Context, ref Ref, entries []chat.Entry, known []chat.Document) ([]chat.Event, error)

// ErrTurnNotFound ends a viewer when neither the workflow nor the database has the
// turn: its conversation was deleted, or its message never arrived.
var ErrTurnNotFound = errors.New("the turn does not exist")

const (
	// Poll intervals without a bus: pollMin after news, then doubling up to pollMax.
	pollMin = 50 * time.Millisecond
	pollMax = time.Second
	// Poll intervals with a bus that delivers nothing: doubling from min to max.
	idlePollMin = 3 * time.Second
	idlePollMax = 10 * time.Second
	// Poll interval while the turn waits for a person.
	waitingPoll = 30 * time.Second
	// Poll interval for a thread whose history cannot be replayed. Each poll costs
	// its worker a whole replay.
	unreplayablePoll = 30 * time.Second
	pollTimeout      = 2 * time.Second
	readTimeout      = 3 * time.Second
	// Replaces readTimeout while the database is known to be unavailable.
	outageReadTimeout = time.Second
	// How long a turn may be unknown to both its workflow and the database before its
	// viewers get ErrTurnNotFound. Its submit may still be in flight.
	unknownTimeout = 30 * time.Second
	// Replaces unknownTimeout for a turn that was known before: it was deleted.
	deletedTimeout = 3 * time.Second
)

// Hub holds the followers of this process. Safe for concurrent use.
type Hub struct {
	engine Engine
	store  Store
	bus    Bus
	render Render
	log    *slog.Logger
	// Check is called for a turn that has no workflow and is not settled. It settles
	// the turn if it is lost. open means that the turn's row is still open, so that the
	// follower polls again. ErrTurnNotFound means that the turn is not ref.Owner's any
	// more. Set it before the first Follow; nil skips the check.
	Check func(ctx context.Context, ref Ref) (open bool, _ error)

	mu        sync.Mutex
	followers map[string]map[string]*follower // by turn id and owner: a claim changes the owner
	health    health
}

// NewHub makes an empty hub.
func NewHub(e Engine, s Store, b Bus, r Render, log *slog.Logger) *Hub {
	return &Hub{engine: e, store: s, bus: b, render: r, log: log, followers: map[string]map[string]*follower{}}
}

// Follow attaches a viewer to a turn that ref.Owner may see, after a position
// (zero: from the beginning). known are the first recorded entries of its log, if
// the caller has them. Close the viewer when done.
func (h *Hub) Follow(ref Ref, after Position, known ...chat.Entry) *Viewer {
	return h.follow(nil, ref, after, known)
}

func (h *Hub) follow(early *Early, ref Ref, after Position, known []chat.Entry) *Viewer {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.followers[ref.TurnID][ref.Owner]
	if f == nil {
		f = &follower{hub: h, ref: ref, changed: make(chan struct{}), piece: piece{n: 1}, behind: true}
		ctx, signals := f.subscription(early)
		f.pace.known, f.pace.complete = len(known) > 0, signals != nil
		if h.followers[ref.TurnID] == nil {
			h.followers[ref.TurnID] = map[string]*follower{}
		}
		h.followers[ref.TurnID][ref.Owner] = f
		go f.run(ctx, signals, known)
		h.startPinging()
	}
	f.viewers++
	after.TurnID = ref.TurnID
	f.mu.Lock()
	defer f.mu.Unlock()
	return &Viewer{f: f, at: after, joinedAfterRebuild: f.rebuilt}
}

// Replay attaches a viewer to a settled turn's whole log.
func (h *Hub) Replay(ref Ref, log []chat.Event, after Position) *Viewer {
	after.TurnID = ref.TurnID
	f := &follower{ref: ref, piece: piece{n: 1}}
	f.append(log)
	f.over = true
	return &Viewer{f: f, at: after}
}

// Viewers returns how many viewers of this process watch a turn now.
func (h *Hub) Viewers(turnID string) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range h.followers[turnID] {
		n += f.viewers
	}
	return n
}

// leave detaches a viewer; the last one ends its follower.
func (h *Hub) leave(f *follower) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f.viewers--; f.viewers == 0 {
		f.stop()
		delete(h.followers[f.ref.TurnID], f.ref.Owner)
		if len(h.followers[f.ref.TurnID]) == 0 {
			delete(h.followers, f.ref.TurnID)
		}
		if len(h.followers) == 0 {
			h.stopPinging()
		}
	}
}

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

// report is the result of one poll or read.
type report struct {
	queried bool // the workflow was queried
	events  []chat.Event
	over    bool // the settled log was read to its end
	rebuilt bool // events are the whole log, and fewer than were known
	unknown bool // neither the workflow nor the settled log has the turn
	waiting bool // the turn waits for a person
	more    bool // the log has further entries
	draft   *db.Draft
	shown   []chat.Report // of running activities, not in the log yet
	err     error
}

// subscription returns the follower's context and, if a subscription was made
// before the submit, its signals.
func (f *follower) subscription(early *Early) (context.Context, <-chan bus.Signal) {
	if early == nil {
		ctx, stop := context.WithCancel(context.Background())
		f.stop = stop
		return ctx, nil
	}
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
			if s.Retry > 0 {
				f.retrying(s.Retry)
			}
			if s.N > 0 && f.hint(s.N) {
				pollNow = true
			}
			if fresh, gap := f.follows(s.Log, last); gap {
				pollNow = true
			} else if len(fresh) > 0 {
				entries = append(entries, fresh...)
				last = fresh[len(fresh)-1].N
			}
			if p := s.Progress; p != nil {
				if f.hint(p.Logged) && p.Logged > last {
					pollNow = true
				}
				if f.progress(p.Report) {
					pollNow = true // the texts have the reports before it
				}
			}
			if s.Delta != nil && s.Delta.Reasoning {
				if f.hint(s.Delta.Logged) && s.Delta.Logged > last {
					pollNow = true
				}
				f.thinks(*s.Delta)
			} else if s.Delta != nil {
				gotDelta = true
				if f.hint(s.Delta.Logged) && s.Delta.Logged > last {
					pollNow = true
				}
				if f.delta(*s.Delta) {
					f.pace.pollSoon() // text is missing: read the draft soon
				}
			}
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

// poll queries the workflow, and reads the database if the workflow does not
// answer. It skips drafts while the database is unavailable.
func (f *follower) poll(ctx context.Context, after, piece int, draft, gap bool) (r report) {
	r.queried = true
	query, cancel := context.WithTimeout(ctx, pollTimeout)
	progress, err := f.hub.engine.Progress(query, f.ref.ThreadID, f.ref.TurnID, after)
	cancel()
	draft = draft && !f.hub.health.unavailable()
	ctx, cancel = f.reading(ctx)
	defer cancel()
	if err != nil {
		r.err = err
	} else if !progress.Known {
		r = f.settled(ctx, after)
		r.queried = true
		return r
	} else {
		r.waiting = progress.Waiting
		entries := progress.Entries
		r.more = progress.More
		if progress.Kept > after {
			kept, err := f.kept(ctx, after)
			if errors.Is(err, db.ErrSettled) {
				return f.settled(ctx, after)
			}
			if err != nil {
				r.err = err
				return r
			}
			entries = append(kept, entries...)
		}
		end := slices.IndexFunc(entries, func(e chat.Entry) bool { return e.Type.Terminal() })
		if end >= 0 || progress.Over {
			// The settled log has everything, including the terminal event with its texts.
			r = f.settled(ctx, after)
			r.queried = true
			return r
		}
		if len(entries) > 0 {
			r.events, r.err = f.render(ctx, entries)
			if errors.Is(r.err, db.ErrSettled) { // settled after the query: the settled log has the texts now
				return f.settled(ctx, after)
			}
			if r.err != nil {
				return r
			}
		}
	}
	if len(progress.Reporting) > 0 && !progress.More {
		texts, err := f.hub.store.Texts(ctx, f.ref.Owner, f.ref.TurnID)
		switch {
		case errors.Is(err, db.ErrSettled):
			return f.settled(ctx, after)
		case err != nil:
			r.err = err
		}
		for _, of := range progress.Reporting {
			r.shown = append(r.shown, chat.Reports(texts, of)...)
		}
	}
	// Drafts are read even if the query fails: the turn's worker may have died.
	if draft && (gap || len(r.events) == 0) {
		d, err := f.hub.store.Draft(ctx, f.ref.Owner, f.ref.TurnID, piece)
		switch {
		case err == nil:
			r.draft = &d
		case !errors.Is(err, db.ErrNotFound):
			r.err = err
		}
	}
	return r
}

// reading returns a context with the timeout for database reads. It is shorter
// while the database is known to be unavailable.
func (f *follower) reading(ctx context.Context) (context.Context, context.CancelFunc) {
	if f.hub.health.unavailable() {
		return context.WithTimeout(ctx, outageReadTimeout)
	}
	return context.WithTimeout(ctx, readTimeout)
}

// whole is the report of a settled log that the bus delivered.
func whole(log []chat.Event, after int) report {
	if after >= len(log) { // see shortened
		return report{events: log, over: true, rebuilt: true}
	}
	return report{events: log[after:], over: true}
}

// read reads only the settled log.
func (f *follower) read(ctx context.Context, after int) report {
	ctx, cancel := f.reading(ctx)
	defer cancel()
	events, err := f.hub.store.Events(ctx, f.ref.Owner, f.ref.TurnID, after)
	switch {
	case err != nil:
		return report{err: err}
	case len(events) == 0:
		return f.shortened(ctx)
	}
	return report{events: events, over: true}
}

// complete adds the texts to entries that the bus delivered.
func (f *follower) complete(ctx context.Context, entries []chat.Entry) (r report) {
	ctx, cancel := f.reading(ctx)
	defer cancel()
	r.events, r.err = f.render(ctx, entries)
	return r
}

// kept returns entries of a long log that the workflow has moved to the database.
func (f *follower) kept(ctx context.Context, after int) ([]chat.Entry, error) {
	texts, err := f.hub.store.Texts(ctx, f.ref.Owner, f.ref.TurnID)
	if err != nil {
		return nil, err
	}
	return chat.KeptLog(texts, after)
}

// render completes entries with their texts. If a text cannot be read, it returns
// the events before that entry, and the error.
func (f *follower) render(ctx context.Context, entries []chat.Entry) ([]chat.Event, error) {
	events, err := f.hub.render(ctx, f.ref, entries, f.known.fresh())
	if err == nil || errors.Is(err, db.ErrSettled) {
		return events, err
	}
	for i := range entries {
		one, failed := f.hub.render(ctx, f.ref, entries[i:i+1], f.known.fresh())
		if failed != nil {
			break
		}
		events = append(events, one...)
	}
	return events, err
}

func (f *follower) settled(ctx context.Context, after int) report {
	events, err := f.hub.store.Events(ctx, f.ref.Owner, f.ref.TurnID, after)
	if errors.Is(err, db.ErrNotFound) && f.hub.Check != nil {
		open, failed := f.hub.Check(ctx, f.ref)
		if errors.Is(failed, ErrTurnNotFound) {
			return report{unknown: true}
		}
		if open || failed != nil {
			return report{err: failed}
		}
		events, err = f.hub.store.Events(ctx, f.ref.Owner, f.ref.TurnID, after)
	}
	switch {
	case errors.Is(err, db.ErrNotFound):
		return report{unknown: true}
	case err != nil:
		return report{err: err}
	case len(events) == 0:
		return f.shortened(ctx)
	}
	return report{events: events, over: true}
}

// shortened reads the whole settled log of a turn that has fewer events than were
// seen live: the turn was lost, and its log was rebuilt from the database.
func (f *follower) shortened(ctx context.Context) report {
	events, err := f.hub.store.Events(ctx, f.ref.Owner, f.ref.TurnID, 0)
	if err != nil || len(events) == 0 {
		return report{err: err}
	}
	return report{events: events, over: true, rebuilt: true}
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
