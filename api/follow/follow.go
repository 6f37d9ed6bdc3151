// Package follow lets any number of viewers in this process watch turns: one
// follower per open turn puts its durable log and the text being written
// together from what the bus delivers (entries, deltas, hints), any of which may
// be late or lost, and where something is missing from progress queries, drafts
// and the settled log.
//
// What a follower knows is shared, and a viewer is a place in it. So a slow
// viewer costs no memory: it gets the text it has missed as one larger token,
// and durable events are there for it whenever it comes.
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
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/stream"
)

// Ref names a turn.
type Ref struct{ Owner, ThreadID, TurnID string }

// Engine is the open turn's log as its workflow knows it.
type Engine interface {
	Progress(ctx context.Context, threadID, turnID string, after int) (chat.Progress, error)
}

// Store is the settled log and the drafts, and whether they can be reached.
type Store interface {
	Events(ctx context.Context, owner, turnID string, after int) ([]chat.Event, error)
	Draft(ctx context.Context, owner, turnID string, piece int) (db.Draft, error)
	Texts(ctx context.Context, owner, turnID string) (map[string]string, error)
	Ping(ctx context.Context) error
}

// Bus carries what is new in a turn.
type Bus interface {
	Subscribe(ctx context.Context, turnID string) (<-chan stream.Signal, error)
	// Connected reports whether messages flow now.
	Connected() bool
}

// Render completes log entries with their texts.
type Render func(ctx context.Context, ref Ref, entries []chat.Entry) ([]chat.Event, error)

// ErrGone ends a viewer whose turn exists nowhere any more: its conversation
// was deleted.
var ErrGone = errors.New("the turn is gone")

const (
	// Without a bus a turn is asked for this often: first and last when there is
	// news, then more and more rarely.
	pollFirst = 50 * time.Millisecond
	pollLast  = time.Second
	// With one it is asked for after so long a silence, which grows.
	quietFirst = 3 * time.Second
	quietLast  = 10 * time.Second
	// And while a person is asked.
	quietWaiting = 30 * time.Second
	// Each poll of a thread whose history cannot be replayed costs its worker a
	// whole replay.
	pollUnplayable = 30 * time.Second
	pollDeadline   = 2 * time.Second
	readDeadline   = 3 * time.Second
	// Of a database that is known to be away.
	awayDeadline = time.Second
	// A turn that neither its workflow nor the database knows is asked for this
	// long (a submit may be on its way) before it counts as gone.
	patience = 30 * time.Second
	// And this long when it was known before: its conversation was deleted.
	patienceAfterwards = 3 * time.Second
)

// Hub holds the followers of this process. Safe for concurrent use.
type Hub struct {
	engine Engine
	store  Store
	bus    Bus
	render Render
	log    *slog.Logger
	// Check is asked about a turn that no workflow has and that is not settled. It
	// settles one that is lost; open says that its row is open all the same, so that
	// it is worth asking again. Set before the first Follow; nil: there is none.
	Check func(ctx context.Context, ref Ref) (open bool, _ error)

	mu        sync.Mutex
	followers map[string]*follower // by turn id
	health    health
}

// NewHub makes an empty hub.
func NewHub(e Engine, s Store, b Bus, r Render, log *slog.Logger) *Hub {
	return &Hub{engine: e, store: s, bus: b, render: r, log: log, followers: map[string]*follower{}}
}

// Follow attaches a viewer to a turn that ref.Owner may see, after a position
// (zero: from the beginning). known are entries of its log that are recorded, from
// the first on, if there are some at hand. Close the viewer when done.
func (h *Hub) Follow(ref Ref, after Position, known ...chat.Entry) *Viewer {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.followers[ref.TurnID]
	if f == nil {
		ctx, stop := context.WithCancel(context.Background())
		f = &follower{hub: h, ref: ref, stop: stop, changed: make(chan struct{}), piece: piece{n: 1}, behind: true}
		f.pace.known = len(known) > 0
		h.followers[ref.TurnID] = f
		go f.run(ctx, known)
		h.tend()
	}
	f.viewers++
	after.TurnID = ref.TurnID
	f.mu.Lock()
	defer f.mu.Unlock()
	return &Viewer{f: f, at: after, late: f.rebuilt}
}

// Replay attaches a viewer to a settled turn's whole log.
func (h *Hub) Replay(ref Ref, log []chat.Event, after Position) *Viewer {
	after.TurnID = ref.TurnID
	f := &follower{ref: ref, piece: piece{n: 1}}
	f.append(log)
	f.over = true
	return &Viewer{f: f, at: after}
}

// Viewers is how many viewers of this process watch a turn now.
func (h *Hub) Viewers(turnID string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f := h.followers[turnID]; f != nil {
		return f.viewers
	}
	return 0
}

// leave detaches a viewer; the last one ends its follower.
func (h *Hub) leave(f *follower) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f.viewers--; f.viewers == 0 {
		f.stop()
		delete(h.followers, f.ref.TurnID)
		if len(h.followers) == 0 {
			h.neglect()
		}
	}
}

// follower is what this process knows of a turn.
type follower struct {
	hub     *Hub
	ref     Ref
	stop    context.CancelFunc
	viewers int // guarded by hub.mu

	mu      sync.Mutex
	changed chan struct{} // closed and replaced whenever there is something new
	log     []chat.Event  // the n-th durable event at n-1
	closed  []closedPiece // finished pieces, the n-th at n-1
	piece   piece         // the one being written
	behind  bool          // the log is known to be longer than log: text waits for it
	over    bool          // the terminal event is in log
	rebuilt bool          // log was replaced by a shorter one, of a turn that was lost
	gone    bool

	pace pace // of run
}

// closedPiece is how a finished piece came about, as far as it was seen here.
type closedPiece struct {
	attempt int  // 0: not seen
	same    int  // the finished text begins with this many characters of what was seen
	differs bool // and more was seen than those
}

// report is what one look found.
type report struct {
	asked   bool // the workflow was
	events  []chat.Event
	over    bool // the settled log was read to its end
	rebuilt bool // events are the whole of it, and fewer than were known
	unknown bool // neither the workflow nor the settled log has the turn
	waiting bool // a person is asked
	more    bool // the log goes on
	draft   *db.Draft
	err     error
}

// run listens, asks where that is needed, and puts together until the turn is
// over or nobody watches.
func (f *follower) run(ctx context.Context, known []chat.Entry) {
	defer f.stop()
	signals, err := f.hub.bus.Subscribe(ctx, f.ref.TurnID)
	if err != nil {
		signals = nil // asking does, more slowly
	}
	var (
		reports = make(chan report, 1)
		looking bool         // one look is under way
		entries = known      // delivered, and yet to be completed with their texts
		last    = len(known) // number of the last entry that was delivered in order
		settled bool         // the whole log is in the database
		again   bool         // the log is known to be longer: ask as soon as possible
		heard   bool         // a delta came since the last poll
		missing time.Time    // since when nobody knows the turn
		told    bool         // the log says that the thread cannot be replayed
		timer   = time.NewTimer(0)
	)
	defer timer.Stop()
	look := func(how func() report) {
		looking = true
		go func() { reports <- how() }()
	}
	poll := func() {
		again = false
		after, piece, gap := f.state()
		draft := gap || !heard && !f.pace.waiting
		heard = false
		look(func() report { return f.poll(ctx, after, piece, draft, gap) })
	}
	next := func() {
		switch {
		case looking:
		case settled:
			settled = false
			after, _, _ := f.state()
			look(func() report { return f.read(ctx, after) })
		case len(entries) > 0:
			delivered := entries
			entries = nil
			look(func() report { return f.complete(ctx, delivered) })
		case again:
			poll()
		}
	}
	if len(known) > 0 {
		next()
	}
	for {
		live := signals != nil && f.hub.bus.Connected()
		if looking {
			timer.Stop()
		} else {
			timer.Reset(f.pace.left(live))
		}
		select {
		case <-ctx.Done():
			return
		case s, open := <-signals:
			if !open {
				signals = nil
				break
			}
			f.pace.heard()
			settled = settled || s.Settled
			if s.N > 0 && f.hint(s.N) {
				again = true
			}
			if fresh, gap := f.follows(s.Log, last); gap {
				again = true
			} else if len(fresh) > 0 {
				entries = append(entries, fresh...)
				last = fresh[len(fresh)-1].N
			}
			if s.Delta != nil {
				heard = true
				if f.hint(s.Delta.Logged) && s.Delta.Logged > last {
					again = true
				}
				if f.delta(*s.Delta) {
					f.pace.hurry() // a gap: read the draft soon
				}
			}
			next()
		case <-timer.C:
			if f.pace.left(live) == 0 {
				poll()
			}
		case r := <-reports:
			looking = false
			unplayable := errors.Is(r.err, chat.ErrCannotReplay)
			if unplayable && !told {
				told = true
				f.hub.log.Error("thread cannot be replayed by the worker's release; see docs/upgrades.md",
					"thread", f.ref.ThreadID, "turn", f.ref.TurnID, "error", r.err)
			} else if r.err != nil {
				f.hub.log.Debug("follow: look failed", "turn", f.ref.TurnID, "error", r.err)
			}
			fresh := f.take(r, !again && !settled && len(entries) == 0)
			if r.err != nil && !r.asked { // what was delivered has to be asked for
				entries, last = nil, 0
			}
			if f.finished() {
				return
			}
			if !r.unknown {
				missing = time.Time{}
			} else if missing.IsZero() {
				missing = time.Now()
			} else if time.Since(missing) >= f.patience() {
				f.giveUp()
				return
			}
			_, _, gap := f.state()
			f.pace.looked(r, fresh, unplayable, live && !gap)
			if r.more && fresh {
				again = true
			}
			next()
		}
	}
}

// poll asks the workflow, and the database where that does not answer. While the
// database is away, what needs it is left for later.
func (f *follower) poll(ctx context.Context, after, piece int, draft, gap bool) (r report) {
	r.asked = true
	query, cancel := context.WithTimeout(ctx, pollDeadline)
	progress, err := f.hub.engine.Progress(query, f.ref.ThreadID, f.ref.TurnID, after)
	cancel()
	draft = draft && !f.hub.health.away()
	ctx, cancel = f.reading(ctx)
	defer cancel()
	if err != nil {
		r.err = err
	} else if !progress.Known {
		r = f.settled(ctx, after)
		r.asked = true
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
			// The settled log has everything, the terminal event with its texts too.
			r = f.settled(ctx, after)
			r.asked = true
			return r
		}
		if len(entries) > 0 {
			r.events, r.err = f.render(ctx, entries)
			if errors.Is(r.err, db.ErrSettled) { // since the workflow was asked: the texts are in its log now
				return f.settled(ctx, after)
			}
			if r.err != nil {
				return r
			}
		}
	}
	// Drafts are read without the workflow too: its worker may be the one that died.
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

// reading bounds what is read from the database; one that is known to be away
// gets less time.
func (f *follower) reading(ctx context.Context) (context.Context, context.CancelFunc) {
	if f.hub.health.away() {
		return context.WithTimeout(ctx, awayDeadline)
	}
	return context.WithTimeout(ctx, readDeadline)
}

// read looks only into the settled log.
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

// complete makes events of entries that the bus delivered.
func (f *follower) complete(ctx context.Context, entries []chat.Entry) (r report) {
	ctx, cancel := f.reading(ctx)
	defer cancel()
	r.events, r.err = f.render(ctx, entries)
	return r
}

// kept are entries of a long log that the workflow has handed to the database.
func (f *follower) kept(ctx context.Context, after int) ([]chat.Entry, error) {
	texts, err := f.hub.store.Texts(ctx, f.ref.Owner, f.ref.TurnID)
	if err != nil {
		return nil, err
	}
	return chat.KeptLog(texts, after)
}

// render completes entries with their texts. Where these cannot be read, the
// events before them come alone.
func (f *follower) render(ctx context.Context, entries []chat.Entry) ([]chat.Event, error) {
	events, err := f.hub.render(ctx, f.ref, entries)
	if err == nil || errors.Is(err, db.ErrSettled) {
		return events, err
	}
	for i := range entries {
		one, failed := f.hub.render(ctx, f.ref, entries[i:i+1])
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

// shortened is the end of a turn whose settled log is shorter than what was seen
// live: it was lost, and its log was rebuilt from what the database had.
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

// patience is how long the turn may be unknown before it counts as gone.
func (f *follower) patience() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.log) > 0 {
		return patienceAfterwards
	}
	return patience
}

// hint notes that the log has n events; news reports whether it is shorter here.
func (f *follower) hint(n int) (news bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n <= len(f.log) {
		return false
	}
	f.behind = true
	return true
}

// follows picks what of delivered entries comes after the known ones, up to last
// at least. gap reports whether some are missing before them.
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

// delta adds to the piece being written; gap reports whether this one shows
// that something before it was lost.
func (f *follower) delta(d stream.Delta) (gap bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.piece.gap()
	if f.piece.add(d) && !f.behind {
		f.wake()
	}
	return !before && f.piece.gap()
}

// take adds what a poll found. current: no hint came while it was under way.
func (f *follower) take(r report, current bool) (fresh bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.rebuilt {
		f.log, f.closed, f.piece, f.rebuilt = nil, nil, piece{n: 1}, true
	}
	if len(r.events) > 0 {
		fresh = f.append(r.events)
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

// append takes the events that follow on the log, in order.
func (f *follower) append(events []chat.Event) (fresh bool) {
	for _, e := range events {
		if e.N != len(f.log)+1 {
			continue // known already
		}
		f.log = append(f.log, e)
		fresh = true
		if e.Type == chat.EventText {
			f.closePiece(e)
		}
	}
	return fresh
}

// closePiece ends pieces up to the one whose finished text has come.
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

// giveUp ends the viewers of a turn that exists nowhere.
func (f *follower) giveUp() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gone = true
	f.wake()
}

// wake tells the viewers; with mu held.
func (f *follower) wake() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// Viewer is one client's place in a turn. Not safe for concurrent use.
type Viewer struct {
	// RunID is the stream_run_id that this viewer's events carry; empty: their own.
	RunID string

	f      *follower
	at     Position
	whole  bool  // all of the finished piece before the next event has been delivered
	held   bool  // text of a piece being written is not delivered
	late   bool  // it came after the log was rebuilt
	ended  bool  // it has the terminal event
	told   int64 // of which outage of the database it knows
	closed bool
}

// Next returns the next event without waiting. With none there, more is closed
// when it is worth asking again. After the terminal event the error is io.EOF;
// ErrGone when the turn has vanished.
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
	if outage := f.outage(); outage != 0 && outage != v.told {
		v.told = outage
		return v.notice(chat.NoticeNotSaved), nil, nil
	}
	if v.at.N < len(f.log) {
		return v.durable(f.log[v.at.N]), nil, nil
	}
	if v.beyond() {
		v.at, v.ended = Position{TurnID: v.at.TurnID, N: len(f.log)}, true
		return Item{Event: f.log[len(f.log)-1], At: v.at, Latest: true}, nil, nil
	}
	if f.over {
		return Item{}, nil, io.EOF
	}
	if !f.behind && !v.held && v.at.N == len(f.log) {
		if item, ok := v.token(); ok {
			return item, nil, nil
		}
	}
	if f.gone {
		return Item{}, nil, ErrGone
	}
	return Item{}, f.changed, nil
}

// HoldText has the text of a piece that is being written wait, or come. A viewer
// that passes over what came before an answer must hold it: while the workflow
// cannot be asked, a follower that is new here has the text, and not the events
// before it.
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

// durable delivers the next event of the log; the rest of a finished piece of
// text goes before it.
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

// rest is what a viewer still lacks of a finished piece. A viewer that was shown
// other text than the finished one is told so and gets all of it.
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

// token is what there is of the piece being written beyond what v has.
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
	// A client that comes from another process may be ahead of this one.
	if v.at.Attempt > p.attempt || v.at.Offset >= len(p.text) {
		return Item{}, false
	}
	return v.deliver(p.text[v.at.Offset:]), true
}

func (v *Viewer) restart(attempt int) Item {
	v.at.Attempt, v.at.Offset = attempt, 0
	return v.notice(chat.NoticeRestarted)
}

// notice is one that stands in no log.
func (v *Viewer) notice(code string) Item {
	return Item{At: v.at, Event: chat.Event{
		Type: chat.EventNotice, TurnID: v.f.ref.TurnID, ThreadID: v.f.ref.ThreadID,
		Code: code, Message: chat.NoticeMessage(code),
	}}
}

func (v *Viewer) deliver(text []rune) Item {
	e := chat.Event{
		Type: chat.EventToken, TurnID: v.f.ref.TurnID, ThreadID: v.f.ref.ThreadID,
		Piece: v.at.Piece, Attempt: v.at.Attempt, Offset: v.at.Offset, Text: string(text),
	}
	v.at.Offset += len(text)
	return Item{Event: e, At: v.at}
}

// Ref is the turn that v watches.
func (v *Viewer) Ref() Ref { return v.f.ref }

// Done reports whether the turn is over and v has all of it.
func (v *Viewer) Done() bool {
	v.f.mu.Lock()
	defer v.f.mu.Unlock()
	return v.f.over && v.at.N >= len(v.f.log) && !v.beyond()
}

// beyond reports whether v has seen more of the turn than its log holds and lacks
// the terminal event: the turn was lost, and its log was rebuilt.
func (v *Viewer) beyond() bool {
	f := v.f
	if !f.over || v.ended || len(f.log) == 0 {
		return false
	}
	return v.at.N > len(f.log) || v.at.N == len(f.log) && (v.at.Piece > 0 || f.rebuilt && !v.late)
}
