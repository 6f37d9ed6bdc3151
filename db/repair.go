package db

import (
	"context"
	"time"

	"github.com/palaver-chat/palaver/chat"
)

// Audit lists what is open, for the repair of rows whose workflow is lost.
//
// OpenThreads, ProcessingDocuments and UntakenTurns are the only methods of a Store
// that see the rows of every owner. They return ids and nothing else; whatever is done
// about them goes through methods that take the owner.
type Audit interface {
	// OpenThreads lists conversations, of all owners, with a turn that was sent
	// before a time, was accepted and is not settled: in the order of owners and
	// ids, those after one (zero: from the first).
	OpenThreads(ctx context.Context, before time.Time, after chat.ThreadRef, limit int) ([]chat.ThreadRef, error)
	// ProcessingDocuments lists documents, of all owners, that were created before
	// a time and wait for their ingest: in the order of their ids, those after one.
	ProcessingDocuments(ctx context.Context, before time.Time, after string, limit int) ([]DocumentRef, error)
	// UntakenTurns lists turns, of all owners, that no thread has taken and whose
	// message was sent last before a time: in the order of their ids, those after
	// one.
	UntakenTurns(ctx context.Context, before time.Time, after string, limit int) ([]TurnRef, error)
	// HasOpenTurns reports whether OpenTurns lists any; false for a conversation that
	// is not there.
	HasOpenTurns(ctx context.Context, owner, threadID string) (bool, error)
	// BusyThreads lists an owner's conversations that CountOpenTurns counts because
	// of a turn that a workflow has accepted, at most limit.
	BusyThreads(ctx context.Context, owner string, limit int) ([]string, error)
}

// TurnRef names a turn.
type TurnRef struct{ Owner, ThreadID, TurnID string }

// DocumentRef names a document.
type DocumentRef struct{ Owner, ID string }
