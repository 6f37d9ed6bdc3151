package cli

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/palaver-chat/palaver/app/admin"
	"github.com/palaver-chat/palaver/app/config"
	"github.com/palaver-chat/palaver/app/service"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/audit"
	"github.com/palaver-chat/palaver/workflows"
)

func (d deleteUserCmd) Run(ctx context.Context, cfg *config.Config, log *slog.Logger, store db.Store, threads *workflows.Client) error {
	users, err := userDeletion(cfg, log, store, threads)
	if err != nil {
		return err
	}
	err = users.Delete(ctx, d.ID, d.Yes, os.Stdout)
	if d.Yes {
		record(store, log, audit.Deleted, d.ID, map[string]any{"user": d.ID, "complete": err == nil})
	}
	return err
}

func (p pruneCmd) Run(ctx context.Context, cfg *config.Config, log *slog.Logger, store db.Store, threads *workflows.Client) error {
	users, err := userDeletion(cfg, log, store, threads)
	if err != nil {
		return err
	}
	return service.Pruning(cfg, users, log).Run(ctx, p.Yes, os.Stdout)
}

func userDeletion(cfg *config.Config, log *slog.Logger, store db.Store, threads *workflows.Client) (admin.UserDeletion, error) {
	accounts, err := service.OpenAccounts(cfg, store, log)
	return admin.UserDeletion{Store: store, Accounts: accounts, Threads: threads}, err
}

func (u usageCmd) Run(ctx context.Context, store db.Store) error {
	return admin.Usage(ctx, store, max(u.Owners, 0), os.Stdout)
}

func (f feedbackCmd) Run(ctx context.Context, store db.Store) error {
	filter := admin.FeedbackFilter{CSV: f.CSV, Texts: f.Texts}
	var err error
	if filter.Since, err = since(f.Since, time.Now()); err != nil {
		return err
	}
	return admin.Feedback(ctx, store, filter, os.Stdout)
}
