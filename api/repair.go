package api

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/palaver-chat/palaver/activities/repair"
	"github.com/palaver-chat/palaver/api/follow"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
)

// A row can be open while no workflow has its turn: the workflow was terminated, or
// the database was restored from a backup. Requests check the open rows of the threads
// that they use; a sweep in the workers finds the others.

const (
	// How long a request waits for a check of its thread. After that it uses the rows
	// as they are.
	checkTimeout = 2 * time.Second
	// The same for all conversations of a list.
	checkListTimeout = time.Second
	// How many conversations of a list are checked, and how many concurrently.
	maxChecked          = 16
	maxConcurrentChecks = 4
)

// checkDeadline limits a check, so that most of a request's time is left.
func checkDeadline(ctx context.Context, longest time.Duration) (context.Context, context.CancelFunc) {
	part, done := request.FractionOfDeadline(ctx, 3)
	ctx, cancel := context.WithTimeout(part, longest)
	return ctx, func() {
		cancel()
		done()
	}
}

// settleLost checks a thread and reports whether it changed anything.
func (s *server) settleLost(ctx context.Context, owner, thread string) bool {
	return s.runCheck(ctx, thread, func(ctx context.Context) ([]repair.Finding, error) { return s.repair.CheckThread(ctx, owner, thread) })
}

func (s *server) runCheck(ctx context.Context, thread string, check func(context.Context) ([]repair.Finding, error)) bool {
	ctx, cancel := checkDeadline(ctx, checkTimeout)
	defer cancel()
	found, err := check(ctx)
	if err != nil && !errors.Is(err, context.Canceled) {
		s.Log.Info("checking a thread for lost turns failed", "thread", thread, "error", err)
	}
	return slices.ContainsFunc(found, func(f repair.Finding) bool { return !f.Later })
}

// OpenTurns returns a thread's open turns, oldest first, after lost ones were settled.
func (s *server) OpenTurns(ctx context.Context, owner, thread string) ([]chat.Turn, error) {
	open, err := s.Store.OpenTurns(ctx, owner, thread)
	if err != nil || len(open) == 0 || !s.settleLost(ctx, owner, thread) {
		return open, err
	}
	return s.Store.OpenTurns(ctx, owner, thread)
}

// checkTurn checks the thread of a turn that no workflow has and that is not settled.
// open means that its row is still open afterwards: its submit may be in flight. The error
// is follow.ErrTurnNotFound when the thread belongs to another user now.
func (s *server) checkTurn(ctx context.Context, ref follow.Ref) (open bool, _ error) {
	switch _, err := s.repair.CheckThread(ctx, ref.Owner, ref.ThreadID); {
	case errors.Is(err, repair.ErrForeign):
		return false, follow.ErrTurnNotFound
	case err != nil:
		return false, err
	}
	t, err := s.Store.Turn(ctx, ref.Owner, ref.TurnID)
	if notFound(err) {
		return false, nil
	}
	return err == nil && t.Status != chat.TurnNew && !t.Status.Settled(), err
}

// checkConversations corrects the status of one owner's conversations with open turns.
func (s *server) checkConversations(ctx context.Context, owner string, list []chat.Conversation) {
	ctx, cancel := checkDeadline(ctx, checkListTimeout)
	defer cancel()
	var all sync.WaitGroup
	slots := make(chan struct{}, maxConcurrentChecks)
	checked := 0
	for i := range list {
		c := &list[i]
		if c.Status == "" || c.Status == idleStatus {
			continue
		}
		if checked++; checked > maxChecked {
			break
		}
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if ctx.Err() != nil || !s.settleLost(ctx, owner, c.ID) {
				return
			}
			if now, err := s.Store.Conversation(ctx, owner, c.ID); err == nil {
				*c = now
			}
		})
	}
	all.Wait()
}

// settleBusy settles the caller's lost turns.
func (s *server) settleBusy(ctx context.Context, owner string) error {
	ctx, cancel := checkDeadline(ctx, checkTimeout)
	defer cancel()
	threads, err := s.Store.BusyThreads(ctx, owner, maxChecked)
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	for _, id := range threads {
		all.Go(func() { s.settleLost(ctx, owner, id) })
	}
	all.Wait()
	return nil
}
