package cli

import (
	"context"
	"os"

	"github.com/palaver-chat/palaver/app/admin"
	"github.com/palaver-chat/palaver/app/config"
	"github.com/palaver-chat/palaver/app/service"
	"github.com/palaver-chat/palaver/workflows"
)

func (moveThreadsCmd) Run(ctx context.Context, cfg *config.Config, threads *workflows.Client) error {
	var err error
	if threads.Rules, err = service.Rules(cfg); err != nil {
		return err
	}
	return admin.MoveThreads(ctx, threads, os.Stdout)
}
