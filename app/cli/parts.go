package cli

import (
	"context"
	"log/slog"

	"github.com/palaver-chat/palaver/app/config"
	"github.com/palaver-chat/palaver/app/service"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/workflows"
)

// parts opens the parameters of the commands' Run methods that a command has, once, and
// closes them after it.
type parts struct{ closers []func() }

// providers returns functions whose results can be parameters of Run.
func (p *parts) providers() []any { return []any{p.store, p.threads} }

func (p *parts) store(ctx context.Context, cfg *config.Config) (db.Store, error) {
	store, err := service.OpenStore(ctx, cfg)
	if err == nil {
		p.closers = append(p.closers, func() { _ = store.Close() })
	}
	return store, err
}

func (p *parts) threads(cfg *config.Config, log *slog.Logger) (*workflows.Client, error) {
	temporal, namespace, err := service.DialTemporal(cfg, log)
	if err != nil {
		return nil, err
	}
	p.closers = append(p.closers, temporal.Close)
	return &workflows.Client{Temporal: temporal, Namespace: namespace}, nil
}

func (p *parts) close() {
	for _, c := range p.closers {
		c()
	}
}
