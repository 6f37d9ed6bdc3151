// Package rules has what both databases have in common: the rules of conversations,
// turns and documents, over queries that each database has in SQL of its own. A store
// embeds Store and adds the methods that differ.
package rules

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

// Store has the methods of db.Store that are the same for every database.
type Store struct {
	db      Database
	pruned  lastPrune
	members memberships
	down    func() bool // see FailWhile; nil: never

	keepAnswers bool // db.OpenOptions.KeepAnswers
}

// New returns a Store on a database.
func New(d Database, options db.OpenOptions) *Store {
	return &Store{db: d, keepAnswers: options.KeepAnswers}
}

// Database runs queries and transactions.
type Database struct {
	Read, Write Queries // outside of a transaction

	// Update runs f in a writing transaction.
	Update func(ctx context.Context, f func(q Queries) error) error
	// View runs f in a read-only transaction on one snapshot.
	View func(ctx context.Context, f func(q Queries) error) error

	// Call begins a call of a store. Defer end: it converts an error of the driver to
	// one of package db and adds the operation. sql.ErrNoRows becomes db.ErrNotFound.
	Call func(ctx context.Context, operation string, size Size) (_ context.Context, end func(*error))
}

// Size tells how long a call may take.
type Size int

const (
	Short Size = iota // reads or writes a few rows
	Long              // moves a file, or searches
	Bulk              // stores a document with its chunks, or deletes a user
)

// Call begins a call of the store: see Database.Call.
func (s *Store) Call(ctx context.Context, operation string, size Size) (_ context.Context, end func(*error)) {
	if s.down == nil {
		return s.db.Call(ctx, operation, size)
	}
	refused := s.down()
	if refused {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		cancel() // no statement runs
	}
	ctx, finish := s.db.Call(ctx, operation, size)
	return ctx, func(err *error) {
		finish(err)
		if refused || s.down() {
			*err = fmt.Errorf("%s: %w", operation, db.ErrUnavailable)
		}
	}
}

// FailWhile simulates an unreachable database in tests: while down returns true, every call
// returns db.ErrUnavailable and has no effect. A call that is running when the outage begins
// takes effect, but also returns db.ErrUnavailable: its caller cannot know. down is called
// often and from many goroutines. Call FailWhile before the store is used.
func (s *Store) FailWhile(down func() bool) { s.down = down }

func (s *Store) short(ctx context.Context, operation string) (_ context.Context, end func(*error)) {
	return s.Call(ctx, operation, Short)
}

func (s *Store) long(ctx context.Context, operation string) (_ context.Context, end func(*error)) {
	return s.Call(ctx, operation, Long)
}

// Queries has the queries that the rules need of a database. They return the driver's
// errors, and sql.ErrNoRows when there is no row.
type Queries interface {
	sqlcgen.Queries // the same in both databases
	Locks
	Lists
	Writes
}

// Locks are held until the transaction ends. SQLite needs none: it has one writer at
// a time.
type Locks interface {
	LockThread(ctx context.Context, threadID string) error
	LockThreadOfTurn(ctx context.Context, owner, turnID string) error
	LockInsert(ctx context.Context, owner, threadID string) error
	LockCancels(ctx context.Context, owner string) error
	// LockQuotas takes locks in the order of their names in the list.
	LockQuotas(ctx context.Context, names []string) error
	// TurnsForSettle is LockThread, then TurnsByID with a lock on the rows, and the order of the
	// newest text of the turn id.
	TurnsForSettle(ctx context.Context, owner, threadID, id string, others ...string) (turns []sqlcgen.Turn, newest int64, _ error)
	// DocumentForChange is Document with a lock on the row.
	DocumentForChange(ctx context.Context, owner, id string) (sqlcgen.DocumentRow, error)
}

// Lists are queries with a list, also of owners, which each database passes in its own way. The rows
// come in any order, without unknown ids.
type Lists interface {
	AttachmentsByID(ctx context.Context, owner string, ids []string) ([]sqlcgen.AttachmentsByIDRow, error)
	ChunksByInternalID(ctx context.Context, see Visible, ids []int64) ([]sqlcgen.ChunksByInternalIDRow, error)
	ChunksByKey(ctx context.Context, see Visible, docIDs []string, ordinals []int64) ([]sqlcgen.ChunksByKeyRow, error)
	DocumentsByID(ctx context.Context, see Visible, ids []string) ([]sqlcgen.DocumentsByIDRow, error)
	// DocumentsTitled reads the visible documents with the folded titles.
	DocumentsTitled(ctx context.Context, see Visible, titles []string) ([]sqlcgen.DocumentsTitledRow, error)
	DocumentText(ctx context.Context, see Visible, id string) (string, error)
	DocumentChunks(ctx context.Context, see Visible, id string, limit int64) ([]sqlcgen.DocumentChunksRow, error)
	VisibleDocuments(ctx context.Context, see Visible, limit int64) ([]sqlcgen.VisibleDocumentsRow, error)
	EventsOfTurns(ctx context.Context, owner string, ids []string) ([]sqlcgen.EventsOfTurnsRow, error)
	RegistryDocuments(ctx context.Context, see Visible, ids []string) ([]sqlcgen.RegistryDocumentsRow, error)
	SetMembers(ctx context.Context, owner string, ids []string) ([]sqlcgen.SetMembersRow, error)
	SetsByID(ctx context.Context, owner string, ids []string) ([]sqlcgen.DocumentSet, error)
	TurnsByID(ctx context.Context, owner string, ids []string) ([]sqlcgen.Turn, error)

	RecordDeletedTurns(ctx context.Context, digests []string, at int64) error
	UseAttachments(ctx context.Context, owner, threadID string, ids []string) error
}

// Writes are one statement in Postgres, where each costs a round trip, and several
// in SQLite.
type Writes interface {
	// InsertTurn writes a turn with its first message and its stream run id.
	// sql.ErrNoRows if its id or its message has a turn already.
	InsertTurn(ctx context.Context, t sqlcgen.Turn, m sqlcgen.Message) (sqlcgen.Turn, error)
	// PlaceTurn is MarkTurn with the next place of the thread. It also runs show,
	// unless that is nil.
	PlaceTurn(ctx context.Context, t sqlcgen.Turn, show *sqlcgen.ShowConversationParams) error
	// SettleTurn writes a turn's end and deletes its texts and drafts.
	SettleTurn(ctx context.Context, e Ending) error
	// DeleteUpload deletes the raw upload of a document and the rest of its ingest.
	DeleteUpload(ctx context.Context, docID string) error
	// FillSet replaces a set's documents; db.ErrNotFound when its owner cannot see
	// one of them.
	FillSet(ctx context.Context, set chat.DocumentSet) error
}

// Ending is how a turn ends.
type Ending struct {
	Turn     sqlcgen.Turn                   // its last state
	Show     sqlcgen.ShowConversationParams // of its conversation
	Messages []sqlcgen.Message              // after the user's
	Events   []Event
	Spent    TurnSpending
}

// Event is a row of turn_events.
type Event struct {
	TurnID string
	N      int64
	Event  string
}

// known returns db.ErrNotFound for a thread that its owner does not have.
func (s *Store) known(ctx context.Context, owner, threadID string) error {
	return known(ctx, s.db.Read, owner, threadID)
}

// NeverUsed implements db.Conversations.
func (s *Store) NeverUsed(ctx context.Context, owner, id string) (_ bool, err error) {
	ctx, end := s.short(ctx, "read the use of an id")
	defer end(&err)
	state, err := s.db.Read.ConversationState(ctx, id)
	return state.Owner != owner && state.DeletedOwner != owner, err
}

// known also finds the thread of a board that has no turns yet.
func known(ctx context.Context, q Queries, owner, threadID string) error {
	_, err := q.Conversation(ctx, sqlcgen.ConversationParams{Owner: owner, ID: threadID})
	if errors.Is(err, sql.ErrNoRows) {
		_, err = q.BoardSize(ctx, sqlcgen.BoardSizeParams{Owner: owner, ID: threadID})
	}
	return err
}

// rowsTo converts rows.
func rowsTo[Row, Item any](rows []Row, err error, convert func(Row) Item) ([]Item, error) {
	if err != nil {
		return nil, err
	}
	items := make([]Item, len(rows))
	for i, row := range rows {
		items[i] = convert(row)
	}
	return items, nil
}

// inOrder returns the rows in the order of ids, repeated like them, without ids
// that have no row.
func inOrder[ID comparable, Row, Item any](ids []ID, rows []Row, id func(Row) ID, convert func(Row) Item) []Item {
	byID := make(map[ID]Row, len(rows))
	for _, row := range rows {
		byID[id(row)] = row
	}
	items := make([]Item, 0, len(rows))
	for _, want := range ids {
		if row, ok := byID[want]; ok {
			items = append(items, convert(row))
		}
	}
	return items
}
