package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// Pruning removes old data: that of callers without an account who do not come back, old
// conversations, records of deleted documents' imports, and old entries of the audit log.
// For each kind, an age of 0 removes nothing.
type Pruning struct {
	Users         UserDeletion
	Retention     time.Duration // of callers without an account, since their last request
	Conversations time.Duration // since their last message
	Imports       time.Duration // since the end of an import whose document is deleted
	Audit         time.Duration // since the time of the entry
	DryRun        bool          // Prune only logs what it would remove
	// Reseal encrypts stored tokens of other keys with the current one, so that those keys
	// can be dropped, and returns how many. nil: there are none.
	Reseal func(context.Context) (int, error)
	Log    *slog.Logger
	Now    func() time.Time // nil: time.Now
}

// spendingKept is how long the daily records of used tokens and costs are kept.
const spendingKept = 31 * 24 * time.Hour

func (p Pruning) now() time.Time {
	if p.Now == nil {
		return time.Now()
	}
	return p.Now()
}

// Run lists on out what is old and, when confirmed, removes it. After an error, calling
// it again continues.
func (p Pruning) Run(ctx context.Context, confirmed bool, out io.Writer) error {
	if !confirmed {
		found, err := p.look(ctx)
		if err != nil {
			return err
		}
		return say(out, "%sNothing was removed. Run it again with --yes to remove all of it permanently.\n", found.describe(p, "have"))
	}
	if err := p.Users.checkTemporal(ctx); err != nil {
		return err
	}
	removed, err := p.removeAll(ctx)
	return errors.Join(say(out, "Removed:\n%s", removed.describe(p, "had")), err)
}

// oldData counts what Pruning finds, or has removed.
type oldData struct {
	owners        int // without an account
	data          db.UserData
	conversations int
	imports       int64
	audit         int64
	left          int // threads of deleted boards, and throw-away threads
}

func (o oldData) describe(p Pruning, have string) string {
	line := func(age time.Duration, setting, format string, args ...any) string {
		if age <= 0 {
			return fmt.Sprintf("- %s is 0: nothing\n", setting)
		}
		return "- " + fmt.Sprintf(format, args...) + "\n"
	}
	return line(p.Retention, "ANONYMOUS_RETENTION", "%d anonymous callers who have made no request for %s; they %s %s", o.owners, p.Retention, have, describeData(o.data)) +
		line(p.Conversations, "CONVERSATION_RETENTION", "%d conversations whose last message is older than %s", o.conversations, p.Conversations) +
		fmt.Sprintf("- %d chats of deleted boards, and threads that were made for one request\n", o.left) +
		line(p.Imports, "IMPORT_RETENTION", "%d imports that ended %s ago and whose document is deleted", o.imports, p.Imports) +
		line(p.Audit, "AUDIT_RETENTION", "%d entries of the audit log that are older than %s", o.audit, p.Audit)
}

// Prune is the daily upkeep. It removes what is old, or with DryRun only counts it, and
// logs the result. Then it encrypts tokens with the current key and compacts the database.
func (p Pruning) Prune(ctx context.Context) error {
	if err := p.prune(ctx); err != nil {
		return err
	}
	if p.Reseal != nil {
		resealed, err := p.Reseal(ctx)
		if resealed > 0 {
			p.Log.Info("encrypted tokens of connected accounts with the current key", "tokens", resealed)
		}
		if err != nil {
			return fmt.Errorf("encrypt tokens with the current key: %w", err)
		}
	}
	freed, err := p.Users.Store.Compact(ctx)
	if freed > 0 {
		p.Log.Info("compacted the database", "bytes", freed)
	}
	return err
}

func (p Pruning) prune(ctx context.Context) error {
	if p.DryRun {
		found, err := p.look(ctx)
		if err == nil {
			p.say("PRUNE_DRY_RUN: this would be removed", found)
		}
		return err
	}
	if err := p.Users.Store.PruneSpending(ctx, p.now().Add(-spendingKept)); err != nil {
		return err
	}
	removed, err := p.removeAll(ctx)
	if removed.any() {
		p.say("removed what is old", removed)
	}
	return err
}

func (o oldData) any() bool {
	return o.owners > 0 || o.conversations > 0 || o.imports > 0 || o.audit > 0 || o.left > 0
}

func (p Pruning) say(message string, o oldData) {
	p.Log.Info(message, "anonymous_callers", o.owners, "their_conversations", len(o.data.Threads), "their_documents", len(o.data.Documents),
		"conversations", o.conversations, "imports", o.imports, "audit_entries", o.audit, "left_threads", o.left)
}

// look counts what removeAll would remove.
func (p Pruning) look(ctx context.Context) (o oldData, err error) {
	if p.Retention > 0 {
		if o.owners, o.data, err = p.unused(ctx); err != nil {
			return o, err
		}
	}
	count := func(n *int) func(chat.ThreadRef) error {
		return func(chat.ThreadRef) error { *n++; return nil }
	}
	if err := p.oldThreads(ctx, 100, count(&o.conversations)); err != nil {
		return o, err
	}
	if err := p.leftThreads(ctx, 100, count(&o.left)); err != nil {
		return o, err
	}
	if p.Imports > 0 {
		if o.imports, err = p.Users.Store.LeftImports(ctx, p.now().Add(-p.Imports)); err != nil {
			return o, err
		}
	}
	if p.Audit > 0 {
		o.audit, err = p.Users.Store.OldAudit(ctx, p.now().Add(-p.Audit))
	}
	return o, err
}

func (p Pruning) removeAll(ctx context.Context) (o oldData, err error) {
	if err := p.Users.Store.PruneSpaces(ctx, p.now()); err != nil {
		return o, err
	}
	if o.audit, err = p.pruneAudit(ctx); err != nil {
		return o, err
	}
	if p.Imports > 0 {
		if o.imports, err = p.Users.Store.PruneImports(ctx, p.now().Add(-p.Imports)); err != nil {
			return o, err
		}
	}
	remove := func(n *int, age time.Duration) func(chat.ThreadRef) error {
		return func(t chat.ThreadRef) error {
			err := p.removeThread(ctx, t, p.now().Add(-age))
			if errors.Is(err, db.ErrNotFound) { // used again since it was listed
				return nil
			}
			if err == nil {
				*n++
			}
			return err
		}
	}
	// One at a time, so that each is listed right before its workflow ends.
	if err := p.leftThreads(ctx, 1, remove(&o.left, db.OnceKept)); err != nil {
		return o, err
	}
	if err := p.oldThreads(ctx, 1, remove(&o.conversations, p.Conversations)); err != nil || p.Retention <= 0 {
		return o, err
	}
	o.owners, o.data, err = p.remove(ctx)
	return o, err
}

// oldThreads calls f with each conversation that is old. It lists a number of them at a time.
func (p Pruning) oldThreads(ctx context.Context, page int, f func(chat.ThreadRef) error) error {
	if p.Conversations <= 0 {
		return nil
	}
	return eachThread(f, func(after string) ([]chat.ThreadRef, error) {
		return p.Users.Store.OldThreads(ctx, p.now().Add(-p.Conversations), after, page)
	})
}

// leftThreads calls f with each chat of a deleted board, and each throw-away thread.
func (p Pruning) leftThreads(ctx context.Context, page int, f func(chat.ThreadRef) error) error {
	return eachThread(f, func(after string) ([]chat.ThreadRef, error) {
		return p.Users.Store.LeftThreads(ctx, p.now(), after, page)
	})
}

// eachThread calls f with each thread of the pages that list returns.
func eachThread(f func(chat.ThreadRef) error, list func(after string) ([]chat.ThreadRef, error)) error {
	for after := ""; ; {
		page, err := list(after)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, t := range page {
			after = t.ThreadID
			if err := f(t); err != nil {
				return err
			}
		}
	}
}

// removeThread removes a conversation with its workflow, as its owner would, if it was not used
// since before.
func (p Pruning) removeThread(ctx context.Context, t chat.ThreadRef, before time.Time) error {
	if err := p.Users.Threads.Delete(ctx, t.ThreadID); err != nil {
		return fmt.Errorf("end the workflow of thread %s: %w", t.ThreadID, err)
	}
	if err := p.Users.Threads.ForgetThread(ctx, t.ThreadID); err != nil {
		p.Log.Warn("deleting the histories of a thread failed; Temporal keeps them until its retention ends", "thread", t.ThreadID, "error", err)
	}
	return p.Users.Store.DeleteUnusedThread(ctx, t, before)
}

// pruneAudit removes old entries of the audit log, and returns how many.
func (p Pruning) pruneAudit(ctx context.Context) (int64, error) {
	if p.Audit <= 0 {
		return 0, nil
	}
	return p.Users.Store.PruneAudit(ctx, p.now().Add(-p.Audit))
}

// remove removes one caller after another, unless they have come back. If one cannot be
// removed, it goes on with the others.
func (p Pruning) remove(ctx context.Context) (owners int, sum db.UserData, failed error) {
	before := p.now().Add(-p.Retention)
	for after := ""; ; {
		next, err := p.Users.Store.UnusedOwners(ctx, before, after, 1)
		if err != nil || len(next) == 0 {
			return owners, sum, errors.Join(failed, err)
		}
		after = next[0]
		err = p.Users.Store.Retire(ctx, after, before)
		var data db.UserData
		if err == nil {
			data, _, err = p.Users.remove(ctx, after, func(ctx context.Context, owner string) (db.UserData, error) {
				return p.Users.Store.DeleteUnused(ctx, owner, before)
			})
		}
		if errors.Is(err, db.ErrNotFound) { // they have come back
			continue
		}
		if err != nil {
			if ctx.Err() != nil || db.Unavailable(err) {
				return owners, sum, errors.Join(failed, err)
			}
			failed = errors.Join(failed, fmt.Errorf("anonymous caller %s: %w", after, err))
			continue
		}
		owners, sum = owners+1, addData(sum, data)
	}
}

// unused counts what remove would remove.
func (p Pruning) unused(ctx context.Context) (owners int, sum db.UserData, _ error) {
	before := p.now().Add(-p.Retention)
	for after := ""; ; {
		page, err := p.Users.Store.UnusedOwners(ctx, before, after, 100)
		if err != nil || len(page) == 0 {
			return owners, sum, err
		}
		for _, owner := range page {
			data, err := p.Users.Store.UserData(ctx, owner)
			if err != nil {
				return owners, sum, err
			}
			owners, sum = owners+1, addData(sum, data)
		}
		after = page[len(page)-1]
	}
}

func addData(a, b db.UserData) db.UserData {
	a.Threads, a.Documents = append(a.Threads, b.Threads...), append(a.Documents, b.Documents...)
	a.Turns, a.Messages, a.Sets, a.Profiles = a.Turns+b.Turns, a.Messages+b.Messages, a.Sets+b.Sets, a.Profiles+b.Profiles
	a.Cancels, a.Attachments, a.Repos, a.Boards = a.Cancels+b.Cancels, a.Attachments+b.Attachments, a.Repos+b.Repos, a.Boards+b.Boards
	a.Connections, a.Keys = a.Connections+b.Connections, a.Keys+b.Keys
	return a
}
