package service

import (
	"fmt"
	"log/slog"

	"github.com/palaver-chat/palaver/app/config"
	"github.com/palaver-chat/palaver/app/telemetry"
	"github.com/palaver-chat/palaver/documents/retrieval"
	"github.com/palaver-chat/palaver/imports"
	"github.com/palaver-chat/palaver/internal/build"
	"github.com/palaver-chat/palaver/internal/guard"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/tools"
	"github.com/palaver-chat/palaver/tools/mcp"
	"github.com/palaver-chat/palaver/workflows"
)

// openMCP connects to the configured MCP servers in the background.
func openMCP(cfg *config.Config, pictures tools.Pictures, log *slog.Logger) (*mcp.Servers, error) {
	servers, err := mcp.Parse(cfg.MCPServers)
	if err != nil {
		return nil, fmt.Errorf("MCP_SERVERS: %w", err)
	}
	allowed, err := guard.ParsePrefixes(cfg.AllowPrivate)
	if err != nil {
		return nil, fmt.Errorf("ALLOW_PRIVATE_ADDRESSES: %w", err)
	}
	return mcp.Open(mcp.Options{Servers: servers, Secret: cfg.MCPJWTSecret, Guard: guard.New(allowed), Pictures: pictures, Version: build.Read().Version, Log: log}), nil
}

// toolBox returns the tools of agents. The program's own tools take precedence over those of servers.
func (p *Process) toolBox(threads *workflows.Client) *tools.Box {
	store, model := p.parts.Store, p.parts.Model
	searcher := retrieval.New(store, p.model)
	own := tools.List{
		tools.SearchDocuments(searcher, store),
		tools.ListDocuments(store),
		tools.ReadResult(store),
		tools.ImportDocument(&imports.Jobs{Store: store, Start: threads.Import, Places: p.parts.Additions.ImportSources.Places()}, store, p.parts.Config.ImportWait),
		tools.ListImports(store),
	}
	own = append(own, tools.BoardTools(store, searcher)...)
	if painter, ok := model.(llm.Painter); ok && model.Info().Image != "" {
		own = append(own, tools.GenerateImage(painter, store, model.Info().Offline))
	}
	own = append(own, p.parts.Additions.Tools...)
	return tools.NewBox(p.parts.Log, telemetry.Tools(own, p.traces, p.counts, map[string]string{tools.GenerateImageName: model.Info().Image}),
		telemetry.Tools(p.mcp, p.traces, p.counts, nil))
}
