package repair

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// Engine is Threads with the further queries of a sweep.
type Engine interface {
	Threads
	// InterruptedThreads lists threads whose workflow waits for a person, by page; next is
	// empty on the last page.
	InterruptedThreads(ctx context.Context, page []byte) (threads []chat.ThreadRef, next []byte, _ error)
	// IngestRun returns the newest run of a document's ingest.
	IngestRun(ctx context.Context, docID string) (chat.WorkflowRun, error)
	// Ingest starts a document's ingest, or joins the running one.
	Ingest(ctx context.Context, owner, docID string) error
	// ImportRun returns the newest run of the workflow of imports with this key.
	ImportRun(ctx context.Context, key string) (chat.WorkflowRun, error)
	// Import starts that workflow, or makes the running one look again.
	Import(ctx context.Context, owner, key string) error
}

// Sweeper checks every thread and document of an installation.
type Sweeper struct {
	*Checker
	Engine Engine // also the Checker's Threads
	// Pause is the time between two threads. It keeps the load on the database and
	// Temporal low.
	Pause time.Duration
	// MinAge is the minimum age of the turns that a sweep checks.
	MinAge time.Duration
	Found  func(Finding) // called for each finding; may be nil
	// Claim goes on with a claim that has begun, and reports how much it moved and whether
	// something is left; nil: claims are left alone.
	Claim func(ctx context.Context, c db.Claim) (moved int, left bool, _ error)
	// Holder names this process in the lease of Run; empty: Run sweeps without a lease.
	Holder string

	// Where the next sweep begins: after the last thread and turn that the one before has
	// checked, if it ended early.
	nextThread chat.ThreadRef
	nextTurn   string
}

// NewSweeper makes a sweeper that checks turns of any age, without pauses.
func NewSweeper(store db.Store, e Engine, log *slog.Logger) *Sweeper {
	return &Sweeper{Checker: &Checker{Store: store, Threads: e, Log: log}, Engine: e}
}

const (
	page = 200
	// Timeout for one thread or document.
	checkTimeout = 5 * time.Second
	// Timeout for one claim, which may move many threads.
	claimTimeout = 30 * time.Second
	// A claim has no end before this age: an upload that began before it may take so long.
	claimLasts = 15 * time.Minute
	// A sweep ends early after this many failed calls to Temporal in a row, or after this
	// many threads whose queries no worker answers.
	maxUnreachable = 3
	maxUnanswered  = 20
)

// Summary counts what a sweep did.
type Summary struct {
	Threads, Documents, Imports int // checked
	Repaired                    int
	Later                       int // too recent to be certain
	Unchecked                   int // could not be checked
}

// Sweep checks everything once. It reads bounded pages and describes one workflow per
// thread with open turns. After an error the rest is left for the next sweep; while the
// database or Temporal is unavailable nothing is changed.
func (s *Sweeper) Sweep(ctx context.Context) (Summary, error) {
	w := sweep{Sweeper: s, seen: map[string]bool{}}
	// Documents and imports first: their checks need no worker. Claims before the threads,
	// which would be given back. Visibility last: some servers do not support queries by our
	// search attributes.
	for _, part := range []func(context.Context) error{w.documents, w.imports, w.claims, w.openRows, w.dropUnaccepted, w.interrupted} {
		if err := part(ctx); err != nil {
			return w.Summary, err
		}
	}
	return w.Summary, w.lastError
}

type sweep struct {
	*Sweeper
	Summary
	seen        map[string]bool // threads
	unreachable int             // in a row
	unanswered  int
	lastError   error
}

// openRows checks the threads that have open rows, from the one after which the sweep before
// ended early, and at last those before it.
func (w *sweep) openRows(ctx context.Context) error {
	begin := w.nextThread
	for after, wrapped := begin, begin == (chat.ThreadRef{}); ; {
		threads, err := w.Store.OpenThreads(ctx, time.Now().Add(-w.MinAge), after, page)
		if err != nil {
			return err
		}
		if len(threads) == 0 {
			if wrapped {
				w.nextThread = chat.ThreadRef{}
				return nil
			}
			after, wrapped = chat.ThreadRef{}, true
			continue
		}
		for _, t := range threads {
			if wrapped && w.seen[t.ThreadID] { // again at the beginning
				w.nextThread = chat.ThreadRef{}
				return nil
			}
			err := w.thread(ctx, t)
			after, w.nextThread = t, t
			if err != nil {
				return err
			}
		}
	}
}

// interrupted checks the threads whose workflow waits for a person although no row says so.
// Running turns without a row end by themselves.
func (w *sweep) interrupted(ctx context.Context) error {
	for token := []byte(nil); ; {
		list, cancel := context.WithTimeout(ctx, checkTimeout)
		threads, next, err := w.Engine.InterruptedThreads(list, token)
		cancel()
		if err != nil {
			return err
		}
		for _, t := range threads {
			if w.seen[t.ThreadID] {
				continue
			}
			if err := w.thread(ctx, t); err != nil {
				return err
			}
		}
		if token = next; len(token) == 0 {
			return nil
		}
	}
}

func (w *sweep) thread(ctx context.Context, t chat.ThreadRef) error {
	w.seen[t.ThreadID] = true
	w.Threads++
	one, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	found, err := w.CheckThread(one, t.Owner, t.ThreadID)
	w.report(found)
	if err != nil {
		err = fmt.Errorf("check thread %s: %w", t.ThreadID, err)
	}
	return w.next(ctx, err)
}

// documents restarts lost ingests. Terminated or failed ingests are not restarted: they
// might fail forever.
func (w *sweep) documents(ctx context.Context) error {
	for after := ""; ; {
		documents, err := w.Store.ProcessingDocuments(ctx, time.Now().Add(-activities.LostAfter), after, page)
		if err != nil || len(documents) == 0 {
			return err
		}
		for _, d := range documents {
			err := w.document(ctx, d)
			if err != nil {
				err = fmt.Errorf("check document %s: %w", d.ID, err)
			}
			if err := w.next(ctx, err); err != nil {
				return err
			}
			after = d.ID
		}
	}
}

// imports restarts the workflows of imports that are lost: otherwise the imports stay open,
// count as open, and keep a claim from taking the owner's data.
func (w *sweep) imports(ctx context.Context) error {
	for after := ""; ; {
		list, err := w.Store.UnfinishedImports(ctx, time.Now().Add(-activities.LostAfter), after, page)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, i := range list {
			err := w.importOf(ctx, i)
			if err != nil {
				err = fmt.Errorf("check import %s: %w", i.Key, err)
			}
			if err := w.next(ctx, err); err != nil {
				return err
			}
			after = i.Key
		}
	}
}

// importOf restarts a closed workflow however it ended: it fails only if it cannot store why.
func (w *sweep) importOf(ctx context.Context, i db.ImportRef) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	w.Imports++
	run, err := w.Engine.ImportRun(ctx, i.Key)
	if err != nil || run.Status == chat.RunOpen {
		return err
	}
	f := Finding{Owner: i.Owner, ImportKey: i.Key, Problem: fmt.Sprintf("not ended, but its workflow is %s", run.Status), Repair: "restart the import"}
	if !w.DryRun {
		if err := w.Engine.Import(ctx, i.Owner, i.Key); err != nil {
			return err
		}
		f.Repair = "import restarted"
		w.Log.Warn("repaired an import", "import", i.Key, "problem", f.Problem, "repair", f.Repair)
	}
	w.report([]Finding{f})
	return nil
}

// claims finishes the claims whose request did not, for the account that it has recorded.
func (w *sweep) claims(ctx context.Context) error {
	for after := ""; w.Claim != nil && !w.DryRun; {
		list, err := w.Store.Claims(ctx, time.Now().Add(-activities.LostAfter), after, page)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, c := range list {
			err := w.claim(ctx, c)
			if err != nil {
				err = fmt.Errorf("finish the claim of user %s: %w", c.Owner, err)
			}
			if err := w.next(ctx, err); err != nil {
				return err
			}
			after = c.Owner
		}
	}
	return nil
}

func (w *sweep) claim(ctx context.Context, c db.Claim) error {
	ctx, cancel := context.WithTimeout(ctx, claimTimeout)
	defer cancel()
	moved, left, err := w.Claim(ctx, c)
	if moved > 0 {
		f := Finding{Owner: c.Owner, Problem: "stored data that its account " + c.Account + " has claimed", Repair: "moved to the account"}
		w.Log.Warn("finished a claim", "owner", c.Owner, "account", c.Account, "moved", moved, "left", left)
		w.report([]Finding{f})
	}
	if err != nil || left || time.Since(c.Began) < claimLasts {
		return err
	}
	return w.Store.EndClaim(ctx, c)
}

// unacceptedRetention is how long a turn that no thread has accepted is kept: as long as the
// pictures of its message, which may be sent again.
const unacceptedRetention = db.UnusedFor

// dropUnaccepted deletes the turns that no thread has accepted. Their clients got an error, or
// their API process died. Turns that a workflow has are kept.
func (w *sweep) dropUnaccepted(ctx context.Context) error {
	before := time.Now().Add(-unacceptedRetention)
	for !w.DryRun {
		turns, err := w.Store.UnacceptedTurns(ctx, before, w.nextTurn, page)
		if err != nil {
			return err
		}
		if len(turns) == 0 {
			w.nextTurn = ""
			return nil
		}
		for _, t := range turns {
			err := w.next(ctx, w.drop(ctx, t, before))
			w.nextTurn = t.TurnID
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *sweep) drop(ctx context.Context, t db.TurnRef, before time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	p, err := w.Engine.Progress(ctx, t.ThreadID, t.TurnID, math.MaxInt32)
	switch {
	case err != nil:
		return fmt.Errorf("check turn %s: %w", t.TurnID, unanswered(err))
	case p.Known:
		return nil
	}
	return db.IgnoreNotFound(w.Store.DropTurn(ctx, t.Owner, t.TurnID, before))
}

func (w *sweep) document(ctx context.Context, d db.DocumentRef) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	w.Documents++
	run, err := w.Engine.IngestRun(ctx, d.ID)
	if err != nil || run.Status == chat.RunOpen {
		return err
	}
	f := Finding{Owner: d.Owner, DocumentID: d.ID, Problem: fmt.Sprintf("processing, but its ingest is %s", run.Status)}
	again := run.Status == chat.RunNotFound || run.Status == chat.RunCompleted
	switch {
	case w.DryRun && again:
		f.Repair = "restart the ingest"
	case w.DryRun:
		f.Repair = "mark it as failed"
	case again:
		f.Repair, err = "ingest restarted", w.Engine.Ingest(ctx, d.Owner, d.ID)
	default:
		f.Repair, err = "marked as failed", db.IgnoreNotFound(w.Store.FailDocument(ctx, d.Owner, d.ID, chat.ReasonIngestFailed))
	}
	if err != nil {
		return err
	}
	if !w.DryRun {
		w.Log.Warn("repaired a document", "document", d.ID, "problem", f.Problem, "repair", f.Repair)
	}
	w.report([]Finding{f})
	return nil
}

func (w *sweep) report(found []Finding) {
	for _, f := range found {
		if f.Later {
			w.Later++
		} else {
			w.Repaired++
		}
		if w.Found != nil {
			w.Found(f)
		}
	}
}

// next is called after each thread or document with its error. It pauses, and returns an
// error to end the sweep.
func (w *sweep) next(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, db.ErrUnavailable):
		return err
	case err == nil:
		w.unreachable = 0
	case errors.Is(err, chat.ErrCannotReplay), errors.Is(err, ErrForeign): // answers: they do not count as an outage
		w.unreachable, w.lastError = 0, err
		w.Unchecked++
	case errors.Is(err, errUnanswered):
		w.unreachable, w.lastError = 0, err
		w.Unchecked++
		if w.unanswered++; w.unanswered >= maxUnanswered {
			return err
		}
	default:
		w.lastError = err
		w.Unchecked++
		if w.unreachable++; w.unreachable >= maxUnreachable {
			return err
		}
	}
	if w.Pause <= 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(w.Pause):
		return nil
	}
}

// firstSweep is the maximum random delay of the first sweep, for processes that start together.
const firstSweep = time.Second

// Run sweeps at once and then every interval, plus or minus a quarter, until ctx ends. A
// failed sweep is retried after the next interval.
//
// With a Holder, of all processes on one database only that with the lease sweeps.
func (s *Sweeper) Run(ctx context.Context, interval time.Duration) {
	sweeps := func() bool { return true }
	if s.Holder != "" {
		l := lease{store: s.Store, holder: s.Holder}
		l.renew(ctx)
		var renewing sync.WaitGroup
		defer renewing.Wait()
		renewing.Go(func() { l.keep(ctx) })
		sweeps = l.held.Load
	}
	failing := false
	for wait := jitter(min(firstSweep, interval)); ; wait = interval*3/4 + jitter(interval/2) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		if !sweeps() {
			continue
		}
		did, err := s.Sweep(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !failing:
			s.Log.Warn("sweep for lost turns failed; it is retried after the interval", "unchecked", did.Unchecked, "interval", interval, "error", err)
		case err == nil && failing:
			s.Log.Info("sweep for lost turns works again")
		}
		failing = err != nil
		if did.Repaired > 0 {
			s.Log.Info("sweep for lost turns completed with repairs", "threads", did.Threads, "documents", did.Documents, "repaired", did.Repaired)
		}
	}
}

func jitter(limit time.Duration) time.Duration {
	return time.Duration(rand.Int64N(int64(limit) + 1))
}
