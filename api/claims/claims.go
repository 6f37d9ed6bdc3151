// Package claims moves what an anonymous user has stored to an account.
package claims

import (
	"context"
	"errors"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// Store is the part of db.Store that a Claimer uses.
type Store interface {
	UserData(ctx context.Context, owner string) (db.UserData, error)
	Unfinished(ctx context.Context, owner string) (int, error)
	BusyThreads(ctx context.Context, owner string, limit int) ([]string, error)
	BeginClaim(ctx context.Context, from, to string, at time.Time) (account string, _ error)
	ClaimThread(ctx context.Context, from, to, id string) error
	ClaimRest(ctx context.Context, from, to string) (documents int, done bool, _ error)
	EndSessions(ctx context.Context, owner string) (int64, error)
}

// Claimer moves the data of one user to another.
type Claimer struct {
	Store Store
	// ChangeOwner changes the owner of a thread's workflow, which refuses that while a turn
	// runs.
	ChangeOwner func(ctx context.Context, thread, to string) error
	SettleLost  func(ctx context.Context, owner string) error    // settles the owner's lost turns
	Accounts    func(ctx context.Context, from, to string) error // moves connected accounts
}

// MovedCounts counts what was moved.
type MovedCounts struct {
	Conversations, Documents int
	// Left is how many conversations were not moved, because a turn runs, a file is processed
	// or the time was up. It is at least 1 in these cases. A later claim moves the rest.
	Left int
}

// reserve is the time that a claim leaves for the response.
const reserve = 3 * time.Second

// Claim moves conversations first, then the rest, because a running turn needs its documents.
// It moves nothing while one of them is in use: a conversation without its documents would
// give other answers. What it has begun is recorded, and the repair sweep finishes it. Of two
// accounts that claim the same data, the first gets it.
func (c *Claimer) Claim(ctx context.Context, from, to string) (moved MovedCounts, _ error) {
	if from == to {
		return MovedCounts{}, nil
	}
	data, err := c.Store.UserData(ctx, from)
	if err != nil {
		return moved, err
	}
	if busy, err := c.isInUse(ctx, from); err != nil || busy {
		moved.Left = max(1, len(data.Threads))
		return moved, err
	}
	if account, err := c.Store.BeginClaim(ctx, from, to, time.Now()); err != nil || account != to {
		return moved, err
	}
	for i, id := range data.Threads {
		if due, ok := ctx.Deadline(); ok && time.Until(due) < reserve {
			moved.Left += len(data.Threads) - i
			break
		}
		done, err := c.moveThread(ctx, from, to, id)
		switch {
		case err != nil:
			return moved, err
		case done:
			moved.Conversations++
		default:
			moved.Left++
		}
	}
	if moved.Left > 0 {
		return moved, nil
	}
	documents, done, err := c.moveRest(ctx, from, to)
	moved.Documents = documents
	if err == nil && !done {
		moved.Left = 1
	}
	return moved, err
}

// Finish goes on with a claim that has begun: its request ended early, or requests that began
// before the cookie was revoked have stored more.
func (c *Claimer) Finish(ctx context.Context, claim db.Claim) (moved MovedCounts, _ error) {
	moved, err := c.Claim(ctx, claim.Owner, claim.Account)
	if err == nil && moved.Left == 0 {
		_, err = c.Store.EndSessions(ctx, claim.Owner)
	}
	return moved, err
}

// isInUse reports whether a message of owner is being sent, a turn runs or a file is processed. Lost turns are
// settled first: otherwise they would stay in use.
func (c *Claimer) isInUse(ctx context.Context, owner string) (bool, error) {
	if n, err := c.Store.Unfinished(ctx, owner); err != nil || n > 0 {
		return true, err
	}
	if err := c.SettleLost(ctx, owner); err != nil {
		return true, err
	}
	threads, err := c.Store.BusyThreads(ctx, owner, 1)
	return len(threads) > 0, err
}

// moveThread changes the owner of the workflow first, because the workflow refuses that
// while a turn runs. If moving the rows then fails, the repair sweep moves them.
func (c *Claimer) moveThread(ctx context.Context, from, to, id string) (done bool, _ error) {
	err := c.ChangeOwner(ctx, id, to)
	var refused *chat.RefusedError
	if errors.As(err, &refused) && refused.Code == chat.CodeTurnRunning {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	switch err := c.Store.ClaimThread(ctx, from, to, id); {
	case errors.Is(err, db.ErrTurnRuns): // its message was sent a moment ago
		return false, c.giveBack(ctx, id, from)
	case err != nil && !errors.Is(err, db.ErrNotFound):
		return false, errors.Join(err, c.giveBack(ctx, id, from))
	}
	return true, nil
}

// giveBack makes the workflow act for the owner of the rows again. If a turn has begun
// meanwhile, or Temporal does not answer, the next message or the sweep does it.
func (c *Claimer) giveBack(ctx context.Context, id, from string) error {
	err := c.ChangeOwner(ctx, id, from)
	var refused *chat.RefusedError
	if errors.As(err, &refused) && refused.Code == chat.CodeTurnRunning {
		return nil
	}
	return err
}

func (c *Claimer) moveRest(ctx context.Context, from, to string) (documents int, done bool, _ error) {
	documents, done, err := c.Store.ClaimRest(ctx, from, to)
	if err != nil || !done {
		return 0, false, err
	}
	return documents, true, c.Accounts(ctx, from, to)
}
