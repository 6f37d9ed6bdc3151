package cli

import (
	"context"
	"log/slog"
	"os"

	"github.com/palaver-chat/palaver/internal/admin"
	"github.com/palaver-chat/palaver/internal/config"
	"github.com/palaver-chat/palaver/internal/service"
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
