package db

import (
	"context"
	"time"

	"github.com/palaver-chat/palaver/chat"
)

// Repair lists open turns and documents, to repair rows whose workflow is lost.
//
// OpenThreads, ProcessingDocuments, UnacceptedTurns, Claims and OpenTurnCounts read rows of every
// owner. They return only ids and numbers; changes go through methods that take the owner.
type Repair interface {
	// OpenThreads lists conversations of all owners with an accepted, unsettled turn
	// that was sent before a time, ordered by owner and id, from the first greater than
	// after (zero: from the first).
	OpenThreads(ctx context.Context, before time.Time, after chat.ThreadRef, limit int) ([]chat.ThreadRef, error)
	// ProcessingDocuments lists documents of all owners that were created before a
	// time and wait for their ingest, ordered by id, from the first id greater than after.
	ProcessingDocuments(ctx context.Context, before time.Time, after string, limit int) ([]DocumentRef, error)
	// UnacceptedTurns lists turns of all owners that no thread has accepted and whose
	// message was last sent before a time, ordered by id, from the first id greater than
	// after.
	UnacceptedTurns(ctx context.Context, before time.Time, after string, limit int) ([]TurnRef, error)
	// BusyThreads lists an owner's conversations that CountOpenTurns counts because
	// of a turn that a workflow has accepted, at most limit.
	BusyThreads(ctx context.Context, owner string, limit int) ([]string, error)
	// UnfinishedImports lists imports of all owners that have not ended and did not change
	// since a time, one for each key, ordered by key, from the first greater than after.
	UnfinishedImports(ctx context.Context, before time.Time, after string, limit int) ([]ImportRef, error)
	// Claims lists the claims of all owners that began before a time and have no end, ordered
	// by owner, from the first greater than after.
	Claims(ctx context.Context, before time.Time, after string, limit int) ([]Claim, error)
	// OwnerOfTurn returns the owner of a turn, whoever that is.
	OwnerOfTurn(ctx context.Context, id string) (string, error)
	// TakeLease takes the lease of this name for a holder, or renews it. A lease of another
	// holder is taken only if it is still as dead describes. It reports whether the holder
	// has the lease now.
	TakeLease(ctx context.Context, name, holder string, dead Lease) (bool, error)
	// Lease reads a lease; zero when nobody has it.
	Lease(ctx context.Context, name string) (Lease, error)
	// EndLease gives up a lease; it does nothing when another holder has it.
	EndLease(ctx context.Context, name, holder string) error
	// OpenTurnCounts counts the accepted, unsettled turns of all owners by status, for
	// the metrics. A status that no turn has is left out.
	OpenTurnCounts(ctx context.Context) ([]OpenTurnCount, error)
}

// OpenTurnCount is how many turns have a status, and when the oldest was sent.
type OpenTurnCount struct {
	Status chat.TurnStatus
	Number int
	Oldest time.Time
}

// Pool is the state of a store's connections.
type Pool struct {
	Used, Idle, Max int
	Waits           int64         // calls that waited for a connection
	Waited          time.Duration // together
}

// TurnRef names a turn.
type TurnRef struct{ Owner, ThreadID, TurnID string }

// ImportRef names the imports of one document by one owner.
type ImportRef struct{ Owner, Key string }

// Lease says who does work that only one process does at a time. Beat changes with each
// renewal. Clocks are not compared: who sees the same beat for long may take the lease.
type Lease struct {
	Holder string
	Beat   int64
}

// DocumentRef names a document.
type DocumentRef struct{ Owner, ID string }
