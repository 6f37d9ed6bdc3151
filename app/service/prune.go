package service

import (
	"context"
	"log/slog"
	"time"

	"github.com/palaver-chat/palaver/app/admin"
	"github.com/palaver-chat/palaver/app/config"
	"github.com/palaver-chat/palaver/app/prune"
	"github.com/palaver-chat/palaver/workflows"
)

// scheduleTimeout limits how long a worker's start waits for the schedule.
const scheduleTimeout = 5 * time.Second

// Pruning removes what is older than the settings allow.
func Pruning(cfg *config.Config, users admin.UserDeletion, log *slog.Logger) admin.Pruning {
	return admin.Pruning{
		Users:         users,
		Retention:     cfg.AnonymousRetention,
		Conversations: cfg.ConversationRetention,
		Imports:       cfg.ImportRetention,
		Audit:         cfg.AuditRetention,
		DryRun:        cfg.PruneDryRun,
		Log:           log,
	}
}

func (p *Process) pruning() admin.Pruning {
	pruning := Pruning(p.parts.Config, p.userDeletion(), p.parts.Log)
	pruning.Reseal = p.accounts.Reseal
	return pruning
}

func (p *Process) userDeletion() admin.UserDeletion {
	return admin.UserDeletion{
		Store:    p.parts.Store,
		Threads:  &workflows.Client{Temporal: p.parts.Temporal, Namespace: p.parts.Namespace},
		Accounts: p.accounts,
	}
}

// schedulePrune creates or updates the daily schedule. If the server has none, an
// operator runs palaver prune.
func (p *Process) schedulePrune(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, scheduleTimeout)
	defer cancel()
	if err := prune.Daily(ctx, p.parts.Temporal); err != nil {
		p.parts.Log.Warn("scheduling the daily prune failed; run palaver prune --yes instead", "error", err)
	}
}
