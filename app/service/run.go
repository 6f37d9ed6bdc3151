package service

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/palaver-chat/palaver/app/config"
	"github.com/palaver-chat/palaver/app/telemetry"
)

// Role names what Run does.
type Role int

// The roles of a process against an external Temporal and NATS.
const (
	Serve Role = iota // API and worker
	API
	Worker
)

// Run opens the dependencies, runs the role until ctx ends, and closes everything. The end
// of ctx is not an error, even during the start.
func Run(ctx context.Context, cfg *config.Config, log *slog.Logger, role Role, additions Additions) error {
	err := run(ctx, cfg, log, role, additions)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func run(ctx context.Context, cfg *config.Config, log *slog.Logger, role Role, additions Additions) error {
	parts, closeParts, err := open(ctx, cfg, log, additions)
	if err != nil {
		return err
	}
	defer closeParts()
	roles := Roles{Worker: role != API}
	if role != Worker {
		if roles.API, err = Listen(cfg); err != nil {
			return err
		}
	}
	process, err := Start(ctx, parts, roles)
	if err != nil {
		return err
	}
	defer process.Stop()
	if roles.API != nil {
		log.Info("ready", "address", "http://"+roles.API.Addr().String())
	} else {
		log.Info("ready")
	}
	select {
	case <-ctx.Done():
		log.Info("stopping")
		process.Drain()
		return nil
	case err := <-process.Failed():
		return err
	}
}

// open opens the dependencies of every role; closeAll closes them in reverse order.
func open(ctx context.Context, cfg *config.Config, log *slog.Logger, additions Additions) (_ Parts, closeAll func(), err error) {
	var closers []func()
	closeOpened := func() {
		for _, c := range slices.Backward(closers) {
			c()
		}
	}
	defer func() {
		if err != nil {
			closeOpened()
		}
	}()
	parts := Parts{Config: cfg, Log: log, Additions: additions, Metrics: prometheus.NewRegistry()}
	if parts.Model, err = additions.NewModel(cfg); err != nil {
		return Parts{}, nil, err
	}
	if parts.Store, err = OpenStore(ctx, cfg); err != nil {
		return Parts{}, nil, err
	}
	closers = append(closers, func() { _ = parts.Store.Close() })
	if parts.Bus, err = OpenBus(cfg, log); err != nil {
		return Parts{}, nil, err
	}
	closers = append(closers, parts.Bus.Close)
	if parts.Temporal, parts.Namespace, err = DialTemporal(cfg, log, telemetry.Temporal(parts.Metrics)); err != nil {
		return Parts{}, nil, err
	}
	closers = append(closers, parts.Temporal.Close)
	return parts, closeOpened, nil
}
