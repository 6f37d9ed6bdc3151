package service

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/activities/repair"
	"github.com/palaver-chat/palaver/api/claims"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/audit"
	"github.com/palaver-chat/palaver/imports/connections"
	"github.com/palaver-chat/palaver/workflows"
)

const (
	// A worker's sweep checks at most this many threads per second.
	sweepRate = 50
	// A sweep does not check turns that are younger than this.
	sweepMinAge = 30 * time.Second
)

// startSweep checks for lost turns at once and then periodically. It is a goroutine, not
// a workflow, because it repairs lost workflows. Of several workers one does it.
func (p *Process) startSweep() {
	if p.parts.Config.RepairInterval <= 0 {
		return
	}
	s := repair.NewSweeper(p.parts.Store, &workflows.Client{Temporal: p.parts.Temporal}, p.parts.Log)
	s.Stop, s.Settled, s.Pause, s.MinAge = p.parts.Bus.AnnounceStop, p.settled, time.Second/sweepRate, sweepMinAge
	s.Holder = uuid.NewString()
	s.Claim = FinishClaims(p.parts.Store, &workflows.Client{Temporal: p.parts.Temporal}, p.accounts, p.audit)
	p.inBackground(func(ctx context.Context) { s.Run(ctx, p.parts.Config.RepairInterval) })
}

// FinishClaims returns what a sweep does with claims.
func FinishClaims(store db.Store, threads *workflows.Client, accounts *connections.Accounts, log *audit.Log) func(context.Context, db.Claim) (moved int, left bool, _ error) {
	c := &claims.Claimer{
		Store:       store,
		ChangeOwner: threads.ChangeOwner,
		SettleLost:  func(context.Context, string) error { return nil }, // the sweep itself does
		Accounts:    accounts.Claim,
	}
	return func(ctx context.Context, claim db.Claim) (int, bool, error) {
		moved, err := c.Finish(ctx, claim)
		if moved.Conversations+moved.Documents > 0 {
			log.Record(db.AuditEntry{Kind: audit.Claimed, Owner: claim.Account, Channel: string(chat.ByServer),
				Detail: map[string]any{"from": claim.Owner, "conversations": moved.Conversations, "documents": moved.Documents, "left": moved.Left}})
		}
		return moved.Conversations + moved.Documents, moved.Left > 0, err
	}
}

// inBackground runs f with a context that ends when the process stops. Stop waits for f.
func (p *Process) inBackground(f func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	p.background.Go(func() {
		defer cancel()
		f(ctx)
	})
	go func() {
		<-p.stopping
		cancel()
	}()
}
