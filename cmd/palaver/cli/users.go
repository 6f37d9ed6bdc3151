package cli

import (
	"context"
	"log/slog"
	"os"

	"github.com/palaver-chat/palaver/admin"
	"github.com/palaver-chat/palaver/audit"
	"github.com/palaver-chat/palaver/config"
	"github.com/palaver-chat/palaver/service"
	"github.com/palaver-chat/palaver/workflows"
)

func (d deleteUserCmd) Run(ctx context.Context, cfg *config.Config, log *slog.Logger) error {
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
	users := admin.UserDeletion{Store: store, Threads: &workflows.Client{Temporal: temporal, Namespace: namespace}}
	err = users.Delete(ctx, d.ID, d.Yes, os.Stdout)
	if d.Yes {
		record(store, log, audit.Deleted, d.ID, map[string]any{"user": d.ID, "complete": err == nil})
	}
	return err
}
