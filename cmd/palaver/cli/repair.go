package cli

import (
	"context"
	"errors"
	"log/slog"
	"os"

	"github.com/palaver-chat/palaver/config"
	"github.com/palaver-chat/palaver/service"
)

// repairCmd compares the database with Temporal. Its exit code is 0 when nothing
// is left to repair, 1 when not everything could be checked, and exitFound when a
// dry run found something.
type repairCmd struct {
	DryRun bool `name:"dry-run" help:"Only print what would be done; exit code 3 if there is something."`
}

const exitFound = 3

func (r repairCmd) Run(ctx context.Context, cfg *config.Config, log *slog.Logger) (err error) {
	parts := service.Parts{Config: cfg, Log: log}
	if parts.Store, err = service.OpenStore(ctx, cfg); err != nil {
		return err
	}
	defer func() { _ = parts.Store.Close() }()
	if parts.Temporal, parts.Namespace, err = service.DialTemporal(cfg, log); err != nil {
		return err
	}
	defer parts.Temporal.Close()
	err = service.Repair(ctx, parts, r.DryRun, os.Stdout)
	if errors.Is(err, service.ErrNeedsRepair) {
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
