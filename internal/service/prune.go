package service

import (
	"context"
	"time"

	"github.com/palaver-chat/palaver/internal/admin"
	"github.com/palaver-chat/palaver/workflows"
)

// scheduleTimeout limits how long a worker's start waits for the schedule.
const scheduleTimeout = 5 * time.Second

// pruning removes what anonymous callers have left unused.
func (p *Process) pruning() admin.Pruning {
	return admin.Pruning{
		Users: admin.UserDeletion{
			Store:   p.parts.Store,
			Threads: &workflows.Client{Temporal: p.parts.Temporal, Namespace: p.parts.Namespace},
		},
		Retention: p.parts.Config.AnonymousRetention,
		Audit:     p.parts.Config.AuditRetention,
		Log:       p.parts.Log,
	}
}

// schedulePrune creates or updates the daily schedule. If the server has none, an
// operator runs palaver prune.
func (p *Process) schedulePrune(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, scheduleTimeout)
	defer cancel()
	if err := (&workflows.Client{Temporal: p.parts.Temporal}).SchedulePrune(ctx); err != nil {
		p.parts.Log.Warn("scheduling the daily prune failed; run palaver prune --yes instead", "error", err)
	}
}
