package db

import (
	"context"
	"time"

	"github.com/palaver-chat/palaver/chat"
)

// Upkeep tells operators what uses disk space and what is old. It reads rows of every
// owner, and returns no texts.
type Upkeep interface {
	// OldThreads lists conversations without an open turn that were last used before a
	// time, ordered by id, from the first id greater than after.
	OldThreads(ctx context.Context, before time.Time, after string, limit int) ([]chat.ThreadRef, error)
	// DeleteUnusedThread deletes a conversation that OldThreads or LeftThreads has listed, as
	// DeleteConversation does. ErrNotFound: it was used since before, or is deleted.
	DeleteUnusedThread(ctx context.Context, t chat.ThreadRef, before time.Time) error
	// LeftImports counts the imports that ended before a time and whose document was deleted.
	// Such an import still has the document's address and title.
	LeftImports(ctx context.Context, before time.Time) (int64, error)
	// PruneImports removes what LeftImports counts.
	PruneImports(ctx context.Context, before time.Time) (removed int64, err error)
	// OldAudit counts what PruneAudit removes.
	OldAudit(ctx context.Context, before time.Time) (int64, error)
	// UsageByOwner lists the owners who have stored most, the largest first.
	UsageByOwner(ctx context.Context, limit int) ([]OwnerUsage, error)
	// UsageByTable lists the disk space of tables with their indexes, the largest first.
	UsageByTable(ctx context.Context) ([]TableUsage, error)
	// IndexVectors makes the index of vectors where the database can have one and an owner
	// has enough of them. It may take minutes; readers and writers do not wait.
	IndexVectors(ctx context.Context) error
	// Compact returns the space of deleted rows to the file system if that frees enough, and
	// returns how many bytes it freed. Writers wait meanwhile. On Postgres it does nothing.
	Compact(ctx context.Context) (freed int64, err error)
}

// OwnerUsage is what an owner has stored.
type OwnerUsage struct {
	Owner                                                    string
	Threads, Turns, Documents, Pictures, MessageBytes, Bytes int64 // Bytes as in Stored
}

// TableUsage is the disk space of a table.
type TableUsage struct {
	Table string
	Bytes int64
}
