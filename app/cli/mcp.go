package cli

import (
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/palaver-chat/palaver/app/config"
	"github.com/palaver-chat/palaver/app/service"
	"github.com/palaver-chat/palaver/tools/mcp"
)

// mcpKeysCmd prints, for each MCP server, the key that checks the tokens in our requests.
type mcpKeysCmd struct{}

func (mcpKeysCmd) Run(cfg *config.Config) error {
	if cfg.MCPJWTSecret == "" {
		return &config.Error{Variable: "MCP_JWT_SECRET", Problem: "not set, so requests to MCP servers carry no tokens"}
	}
	servers, err := mcp.Parse(cfg.MCPServers)
	if err != nil {
		return fmt.Errorf("MCP_SERVERS: %w", err)
	}
	for _, s := range servers {
		if s.Transport == mcp.Stdio {
			continue
		}
		key, err := mcp.Key(cfg.MCPJWTSecret, s.Name)
		if err != nil {
			return err
		}
		if _, err := fmt.Printf("%s\t%s\n", s.Name, key); err != nil {
			return err
		}
	}
	return nil
}

// mcpToolsCmd connects to the MCP servers, and prints their tools and what of them is not used.
type mcpToolsCmd struct {
	Wait time.Duration `default:"30s" help:"How long to wait for the servers."`
}

func (c mcpToolsCmd) Run(cfg *config.Config) error {
	servers, err := service.OpenMCP(cfg, nil, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer servers.Close()
	return mcp.Print(os.Stdout, servers.Settle(c.Wait))
}
