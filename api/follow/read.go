package follow

import (
	"context"
	"errors"
	"slices"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

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
