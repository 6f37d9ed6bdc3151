package db

import (
	"context"
	"time"
)

// AuditLog records what happened in an installation, for its operators. Entries are added
// and never changed, and removed only when they are old. Deleting a user does not remove
// theirs.
type AuditLog interface {
	// AppendAudit adds entries, all or none.
	AppendAudit(ctx context.Context, entries []AuditEntry) error
	// AuditEntries lists the matching entries with an id greater than after (0: all),
	// oldest first, at most limit.
	AuditEntries(ctx context.Context, filter AuditFilter, after int64, limit int) ([]AuditEntry, error)
	// PruneAudit removes the entries from before a time and returns how many. The database
	// refuses to remove entries younger than AuditKept.
	PruneAudit(ctx context.Context, before time.Time) (removed int64, err error)
}

// AuditKept is the minimum age at which an entry of the audit log can be removed.
const AuditKept = 30 * 24 * time.Hour

// AuditEntry is one event. It has no text that a person wrote.
type AuditEntry struct {
	ID        int64          `json:"id"`
	At        time.Time      `json:"at"`
	Kind      string         `json:"kind"`
	Owner     string         `json:"owner,omitempty"`   // the user it is about
	Channel   string         `json:"channel,omitempty"` // by which the request came: page, api, mcp, signal or command
	Address   string         `json:"address,omitempty"` // of the client
	RequestID string         `json:"request_id,omitempty"`
	Times     int            `json:"times"` // 1, or how often a counted event happened
	Detail    map[string]any `json:"detail,omitempty"`
}

// AuditFilter selects entries; empty fields select all.
type AuditFilter struct {
	Since       time.Time
	Owner, Kind string
}
