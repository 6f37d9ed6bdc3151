package db

import (
	"context"
	"time"
)

// ToolServers keeps what workers report of the MCP servers, so that processes that do not connect to
// them can show it.
type ToolServers interface {
	// PutToolServer replaces what was reported of the server.
	PutToolServer(ctx context.Context, s ToolServer, at time.Time) error
	// ToolServers lists what was reported after since, ordered by name.
	ToolServers(ctx context.Context, since time.Time) ([]ToolServer, error)
}

// ToolServer is the state of an MCP server.
type ToolServer struct {
	Name  string     `json:"name"`
	State string     `json:"state"` // ok, down, starting or sign_in
	Tools int        `json:"tools"`
	Notes []ToolNote `json:"notes,omitempty"` // what of its tools is not used
}

// ToolNote says what of a tool is not used.
type ToolNote struct {
	Tool    string `json:"tool,omitempty"` // empty: the server itself
	Problem string `json:"problem"`
	LeftOut bool   `json:"left_out,omitempty"` // the tool is not offered at all
}
