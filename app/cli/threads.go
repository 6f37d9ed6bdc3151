package cli

import (
	"context"
	"log/slog"
	"os"

	"github.com/palaver-chat/palaver/app/admin"
	"github.com/palaver-chat/palaver/app/config"
	"github.com/palaver-chat/palaver/app/service"
	"github.com/palaver-chat/palaver/workflows"
)

func (moveThreadsCmd) Run(ctx context.Context, cfg *config.Config, log *slog.Logger) error {
	rules, err := service.Rules(cfg)
	if err != nil {
		return err
	}
	temporal, _, err := service.DialTemporal(cfg, log)
	if err != nil {
		return err
	}
	defer temporal.Close()
	return admin.MoveThreads(ctx, &workflows.Client{Temporal: temporal, Rules: rules}, os.Stdout)
}
