package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/palaver-chat/palaver/db"
)

// Pruning removes what callers without an account have left unused, and old entries of
// the audit log.
type Pruning struct {
	Users     UserDeletion
	Retention time.Duration // since their last request; 0: nothing is removed
	Audit     time.Duration // since the entry; 0: nothing is removed
	Log       *slog.Logger
	Now       func() time.Time // nil: time.Now
}

// spendingKept is for how many days it is kept what turns have used.
const spendingKept = 31 * 24 * time.Hour

func (p Pruning) now() time.Time {
	if p.Now == nil {
		return time.Now()
	}
	return p.Now()
}

// Run lists on out what is unused and, when confirmed, removes it. After an error,
// calling it again continues.
func (p Pruning) Run(ctx context.Context, confirmed bool, out io.Writer) error {
	if confirmed {
		removed, err := p.pruneAudit(ctx)
		if err := errors.Join(err, say(out, "%d entries of the audit log were removed.\n", removed)); err != nil {
			return err
		}
	}
	if p.Retention <= 0 {
		return say(out, "No caller's data is removed: ANONYMOUS_RETENTION is 0.\n")
	}
	if !confirmed {
		owners, data, err := p.unused(ctx)
		if err != nil {
			return err
		}
		return say(out, "%d anonymous callers have made no request for %s. They have %s.\nNothing was removed. Run it again with --yes to remove all of it permanently.\n",
			owners, p.Retention, describeData(data))
	}
	if err := p.Users.checkTemporal(ctx); err != nil {
		return err
	}
	owners, data, err := p.remove(ctx)
	return errors.Join(say(out, "Of %d anonymous callers who have made no request for %s were removed: %s.\n", owners, p.Retention, describeData(data)), err)
}

// Prune removes what is unused, and says so in the log.
func (p Pruning) Prune(ctx context.Context) error {
	if err := p.Users.Store.PruneSpending(ctx, p.now().Add(-spendingKept)); err != nil {
		return err
	}
	if removed, err := p.pruneAudit(ctx); err != nil {
		return err
	} else if removed > 0 {
		p.Log.Info("removed old entries of the audit log", "entries", removed, "older_than", p.Audit)
	}
	left, err := p.removeLeftThreads(ctx)
	if left > 0 {
		p.Log.Info("removed chats of deleted discovery boards, and throw-away threads", "threads", left)
	}
	if err != nil || p.Retention <= 0 {
		return err
	}
	owners, data, err := p.remove(ctx)
	if owners > 0 {
		p.Log.Info("removed what anonymous callers had left unused", "callers", owners, "conversations", len(data.Threads), "documents", len(data.Documents))
	}
	return err
}

// removeLeftThreads removes chats of boards that are gone, and throw-away threads.
func (p Pruning) removeLeftThreads(ctx context.Context) (removed int, _ error) {
	for after := ""; ; {
		page, err := p.Users.Store.LeftThreads(ctx, p.now(), after, 100)
		if err != nil || len(page) == 0 {
			return removed, err
		}
		for _, t := range page {
			after = t.ThreadID
			if err := p.Users.Threads.Delete(ctx, t.ThreadID); err != nil {
				return removed, fmt.Errorf("end the workflow of thread %s: %w", t.ThreadID, err)
			}
			if err := p.Users.Threads.ForgetThread(ctx, t.ThreadID); err != nil {
				p.Log.Warn("deleting the histories of a thread failed; Temporal keeps them until its retention ends", "thread", t.ThreadID, "error", err)
			}
			if err := p.Users.Store.DeleteConversation(ctx, t.Owner, t.ThreadID); err != nil && !errors.Is(err, db.ErrNotFound) {
				return removed, err
			}
			removed++
		}
	}
}

// pruneAudit removes old entries of the audit log, and says how many.
func (p Pruning) pruneAudit(ctx context.Context) (int64, error) {
	if p.Audit <= 0 {
		return 0, nil
	}
	return p.Users.Store.PruneAudit(ctx, p.now().Add(-p.Audit))
}

// remove removes one caller after another. Each is looked up right before, so that one
// who has come back is spared. A caller who cannot be removed does not keep the others.
func (p Pruning) remove(ctx context.Context) (owners int, sum db.UserData, failed error) {
	before := p.now().Add(-p.Retention)
	for after := ""; ; {
		next, err := p.Users.Store.UnusedOwners(ctx, before, after, 1)
		if err != nil || len(next) == 0 {
			return owners, sum, errors.Join(failed, err)
		}
		after = next[0]
		data, _, err := p.Users.remove(ctx, after)
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
