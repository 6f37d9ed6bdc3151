package service

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/palaver-chat/palaver/app/config"
	"github.com/palaver-chat/palaver/app/telemetry"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/documents/retrieval"
	"github.com/palaver-chat/palaver/imports"
	"github.com/palaver-chat/palaver/internal/build"
	"github.com/palaver-chat/palaver/internal/guard"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/tools"
	"github.com/palaver-chat/palaver/tools/lookup"
	"github.com/palaver-chat/palaver/tools/mcp"
	"github.com/palaver-chat/palaver/workflows"
)

// toolServers returns the configured MCP servers, and the guard with the operator's networks.
func toolServers(cfg *config.Config) ([]mcp.Server, *guard.Guard, error) {
	servers, err := mcp.Parse(cfg.MCPServers)
	if err != nil {
		return nil, nil, fmt.Errorf("MCP_SERVERS: %w", err)
	}
	allowed, err := guard.ParsePrefixes(cfg.AllowPrivate)
	if err != nil {
		return nil, nil, fmt.Errorf("ALLOW_PRIVATE_ADDRESSES: %w", err)
	}
	return servers, guard.New(allowed), nil
}

// OpenMCP connects to the configured MCP servers in the background. tokens, and store, which
// keeps their pictures and their state, may be nil.
func OpenMCP(cfg *config.Config, store db.Store, tokens mcp.Tokens, log *slog.Logger) (*mcp.Servers, error) {
	servers, allowed, err := toolServers(cfg)
	if err != nil {
		return nil, err
	}
	o := mcp.Options{Servers: servers, Secret: cfg.MCPJWTSecret, Guard: allowed, Tokens: tokens, Version: build.Read().Version, Log: log}
	if store != nil {
		o.Pictures = store
		o.Reported = func(r mcp.Report) { keepReport(store, r, log) }
	}
	return mcp.Open(o), nil
}

// keepReport stores the state of an MCP server, which every API process shows.
func keepReport(store db.ToolServers, r mcp.Report, log *slog.Logger) {
	state := db.ToolServer{Name: r.Server, State: string(r.State), Tools: r.Tools}
	for _, n := range r.Notes {
		state.Notes = append(state.Notes, db.ToolNote(n))
	}
	if err := store.PutToolServer(context.Background(), state, time.Now()); err != nil {
		log.Warn("the state of an MCP server was not stored; the page shows an older one", "server", r.Server, "error", err)
	}
}

// toolBox returns the tools of agents. The program's own tools take precedence over those of servers.
func (p *Process) toolBox(threads *workflows.Client) *tools.Box {
	store, model := p.parts.Store, p.parts.Model
	searcher := retrieval.New(store, p.model)
	own := append(lookup.Tools(store, searcher),
		tools.ReadResult(store),
		tools.ImportDocument(&imports.Jobs{Store: store, Start: threads.Import, Places: p.parts.Additions.ImportSources.Places()}, store, p.parts.Config.ImportWait),
		tools.ListImports(store),
	)
	own = append(own, tools.BoardTools(store)...)
	if painter, ok := model.(llm.Painter); ok && model.Info().Image != "" {
		own = append(own, tools.GenerateImage(painter, store, model.Info().Offline))
	}
	own = append(own, p.parts.Additions.Tools...)
	return tools.NewBox(p.parts.Log, telemetry.Tools(own, p.traces, p.counts, map[string]string{tools.GenerateImageName: model.Info().Image}),
		telemetry.Tools(p.mcp, p.traces, p.counts, nil))
}
