package cli

import (
	"context"
	"errors"
	"log/slog"
	"os"

	"github.com/palaver-chat/palaver/activities/repair"
	"github.com/palaver-chat/palaver/app/admin"
	"github.com/palaver-chat/palaver/app/config"
	"github.com/palaver-chat/palaver/app/service"
	"github.com/palaver-chat/palaver/app/telemetry"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/audit"
	"github.com/palaver-chat/palaver/workflows"
)

// repairCmd compares the database with Temporal. Its exit code is 0 when nothing
// is left to repair, 1 when not everything could be checked, and exitFound when a
// dry run found something.
type repairCmd struct {
	DryRun bool `name:"dry-run" help:"Only print what would be repaired. Exit code 3 if there is something to repair."`
}

const exitFound = 3

func (r repairCmd) Run(ctx context.Context, cfg *config.Config, log *slog.Logger, store db.Store, threads *workflows.Client) error {
	accounts, err := service.OpenAccounts(cfg, store, log)
	if err != nil {
		return err
	}
	sweeper := repair.NewSweeper(store, threads, log)
	entries := audit.Open(store, log)
	defer entries.Close()
	sweeper.Claim = service.FinishClaims(store, threads, accounts, entries)
	sweeper.Settled = telemetry.Settled(nil, nil, store, log) // it has no metrics
	err = admin.Repair(ctx, sweeper, r.DryRun, os.Stdout)
	if errors.Is(err, admin.ErrNeedsRepair) {
		return exitError{err, exitFound}
	}
	return err
}

// exitError is an error with its own exit code.
type exitError struct {
	error
	code int
}

func (e exitError) Unwrap() error { return e.error }
