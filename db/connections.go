package db

import (
	"context"
	"time"
)

// Connections keeps the accounts of other services that people have connected: one for
// each owner and provider.
type Connections interface {
	// PutConnection replaces the owner's connection to the provider. With anonymous, the
	// owner becomes one of the Visitors.
	PutConnection(ctx context.Context, c Connection, anonymous bool) error
	Connection(ctx context.Context, owner, provider string) (Connection, error)
	// Connections lists an owner's connections, ordered by provider.
	Connections(ctx context.Context, owner string) ([]Connection, error)
	// ConnectedOwners lists up to limit owners of connections with a token, in order, from
	// the first one greater than after.
	ConnectedOwners(ctx context.Context, after string, limit int) ([]string, error)
	// RenewConnection replaces the token of the version that was read. An empty token
	// records that the service has revoked it. ErrVersion when the connection was
	// replaced, renewed or removed since.
	RenewConnection(ctx context.Context, c Connection, token string, at time.Time) error
	DeleteConnection(ctx context.Context, owner, provider string) error
}

// Connection is an account of another service.
type Connection struct {
	Owner, Provider string
	Account         string // as its owner knows it, such as an address
	Scope           string // the permissions that the service has granted
	Token           string // encrypted; empty: the service has revoked it
	Version         int64  // set by the store
	CreatedAt       time.Time
	UpdatedAt       time.Time // when the token was stored
}
