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

func (d deleteUserCmd) Run(ctx context.Context, cfg *config.Config, log *slog.Logger) error {
	return withUsers(ctx, cfg, log, func(store db.Store, users admin.UserDeletion) error {
		err := users.Delete(ctx, d.ID, d.Yes, os.Stdout)
		if d.Yes {
			record(store, log, audit.Deleted, d.ID, map[string]any{"user": d.ID, "complete": err == nil})
		}
		return err
	})
}

func (p pruneCmd) Run(ctx context.Context, cfg *config.Config, log *slog.Logger) error {
	return withUsers(ctx, cfg, log, func(_ db.Store, users admin.UserDeletion) error {
		return service.Pruning(cfg, users, log).Run(ctx, p.Yes, os.Stdout)
	})
}

func (u usageCmd) Run(ctx context.Context, cfg *config.Config) error {
	store, err := service.OpenStore(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	return admin.Usage(ctx, store, max(u.Owners, 0), os.Stdout)
}

func (f feedbackCmd) Run(ctx context.Context, cfg *config.Config) error {
	filter := admin.FeedbackFilter{CSV: f.CSV, Texts: f.Texts}
	var err error
	if filter.Since, err = since(f.Since, time.Now()); err != nil {
		return err
	}
	store, err := service.OpenStore(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	return admin.Feedback(ctx, store, filter, os.Stdout)
}

// withUsers calls f with the database and what deletes users, and closes them afterwards.
func withUsers(ctx context.Context, cfg *config.Config, log *slog.Logger, f func(db.Store, admin.UserDeletion) error) error {
	store, err := service.OpenStore(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	temporal, namespace, err := service.DialTemporal(cfg, log)
	if err != nil {
		return err
	}
	defer temporal.Close()
	accounts, err := service.OpenAccounts(cfg, store, log)
	if err != nil {
		return err
	}
	return f(store, admin.UserDeletion{Store: store, Accounts: accounts, Threads: &workflows.Client{Temporal: temporal, Namespace: namespace}})
}
