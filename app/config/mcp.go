package config

import (
	"slices"

	"github.com/palaver-chat/palaver/internal/guard"
	"github.com/palaver-chat/palaver/tools/mcp"
)

func (c *Config) checkMCP() error {
	if _, err := mcp.Parse(c.MCPServers); err != nil {
		return refuse("MCP_SERVERS", "%v", err)
	}
	if _, err := guard.ParsePrefixes(c.AllowPrivate); err != nil {
		return refuse("ALLOW_PRIVATE_ADDRESSES", "%v", err)
	}
	if c.MCPJWTSecret != "" && slices.Contains([]string{c.SupabaseJWTSecret, c.CookieSecret, c.ProxySharedSecret}, c.MCPJWTSecret) {
		// With the same secret, an MCP server could sign in to Palaver with the token it was sent.
		return refuse("MCP_JWT_SECRET", "must be a secret of its own")
	}
	return nil
}
