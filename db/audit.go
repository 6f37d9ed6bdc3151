package db

import (
	"context"
	"time"
)

// AuditLog keeps what those who answer for an installation may be asked about. Entries
// are added and never changed, and removed only when they are old; deleting a user leaves them.
type AuditLog interface {
	// AppendAudit adds entries, all or none.
	AppendAudit(ctx context.Context, entries []AuditEntry) error
	// AuditEntries lists the entries that match, oldest first: those after an id (0:
	// from the first), at most limit.
	AuditEntries(ctx context.Context, filter AuditFilter, after int64, limit int) ([]AuditEntry, error)
	// PruneAudit removes the entries before a time and says how many. Younger entries
	// than AuditKept are refused by the database.
	PruneAudit(ctx context.Context, before time.Time) (removed int64, err error)
}

// AuditKept is for how long nothing can remove an entry of the audit log.
const AuditKept = 30 * 24 * time.Hour

// AuditEntry is something that happened, without a text of a person.
type AuditEntry struct {
	ID        int64          `json:"id"`
	At        time.Time      `json:"at"`
	Kind      string         `json:"kind"`
	Owner     string         `json:"owner,omitempty"`   // whom it is about
	Channel   string         `json:"channel,omitempty"` // how it came: page, api, mcp, signal or command
	Address   string         `json:"address,omitempty"` // of the client
	RequestID string         `json:"request_id,omitempty"`
	Times     int            `json:"times"` // how often, for what is counted
	Detail    map[string]any `json:"detail,omitempty"`
}

// AuditFilter selects entries; empty fields select all.
type AuditFilter struct {
	Since       time.Time
	Owner, Kind string
}
