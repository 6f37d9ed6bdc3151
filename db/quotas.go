package db

import (
	"context"
	"fmt"
	"time"

	"github.com/palaver-chat/palaver/chat"
)

// Inserter has the methods that add something for an owner.
type Inserter interface {
	// CreateConversation is idempotent for one owner and id; ErrNotFound when the
	// id belongs to somebody else (so that ids cannot be probed), also after it was
	// deleted. Its owner can use the id of a deleted conversation again.
	CreateConversation(ctx context.Context, c chat.Conversation) (chat.Conversation, error)
	// CopyBranch makes c from a branch of a conversation that is shared with the space of ctx,
	// with the newest turns that are settled. head is a checkpoint; empty: the newest.
	CopyBranch(ctx context.Context, threadID, head string, c chat.Conversation) (chat.Conversation, error)
	// InsertTurn writes a new turn, and its conversation if needed. Its status is
	// new, whatever t.Status is: a turn that ran while the database was unavailable
	// is inserted late, with its own id and time, and then marked and settled like
	// any other. A turn gets its place in the thread when it is marked with a parent
	// or settled, so that turns are saved in the order in which they ran; a late one
	// never gets a place that is in use.
	// The returned turn has the generation of its conversation: how many
	// conversations have had this id, from 1.
	// An existing (owner, thread, client_turn_id) with the same hash returns that
	// turn and created=false; with another hash ErrTurnConflict. cancelled is true
	// if a tombstone (Cancel) matches the turn: the caller submits it nevertheless,
	// and the workflow ends it at once.
	InsertTurn(ctx context.Context, t chat.Turn) (_ chat.Turn, created, cancelled bool, err error)
	// PutAttachment stores a picture. It is idempotent for one id and owner (a tool
	// call's picture has an id made from the call's); another owner's id is
	// ErrNotFound. With a ThreadID it belongs to that conversation, which must exist
	// (else ErrNotFound). It also deletes pictures unused for UnusedFor.
	PutAttachment(ctx context.Context, a chat.Attachment, data []byte) error
	// PutRepo replaces the stored version by the next one and returns it; the first
	// is 1. match is the version that must be stored, 0 for none (else ErrVersion);
	// nil: any. It creates the conversation if needed, but not under a deleted id
	// (ErrNotFound): an old tab may still show the deleted one.
	PutRepo(ctx context.Context, owner, threadID string, gzipped []byte, sha256 string, match *int) (Repo, error)
	// MoveToSpace moves a document of owner's library into a space in which owner contributes.
	// ErrProcessing until it is ready or failed.
	MoveToSpace(ctx context.Context, owner, space, id string) error
	// LeaveSpace moves a document of a space to owner's own. They need to be a manager, or to have added it.
	LeaveSpace(ctx context.Context, owner, space, id string) error
	// RestoreInSpace brings back what DeleteInSpace has deleted.
	RestoreInSpace(ctx context.Context, owner, space, id string) error
	// CreateDocument writes a document (status processing) with its raw upload.
	CreateDocument(ctx context.Context, d chat.Document, raw []byte) error
	// PutImport writes an imported document (status processing) with its content, and
	// returns its id. An owner has one document of a SourceType and ExternalID: when
	// there is one already, it keeps its id, and another SourceVersion, or a failed
	// ingest, makes it process the new content, which takes the place of the old one.
	// The same version changes nothing.
	PutImport(ctx context.Context, d chat.Document, raw []byte) (id string, err error)
	// CreateImport records that an owner wants a document imported. It is idempotent for
	// one owner and id: it returns the import as it is now. An import of a conversation
	// without an address has that of the conversation.
	CreateImport(ctx context.Context, i chat.Import) (chat.Import, error)
	// CreateSet is idempotent for one owner and id: the last call wins.
	CreateSet(ctx context.Context, s chat.DocumentSet) error
	// CreateBoard writes a new board with revision 1. It is idempotent for one owner
	// and id: an existing board stays as it is; ErrNotFound for a deleted one.
	CreateBoard(ctx context.Context, b Board) error
	// PutBoard writes the next revision of a board and returns it. b.Revision is the
	// one that was read, else ErrVersion. Bounds count only when it has grown.
	PutBoard(ctx context.Context, b Board) (revision int, err error)
}

// Quotas bound what is stored and spent.
type Quotas interface {
	// Within returns the methods that insert, bounded: each counts in its own
	// transaction, and one that would exceed a bound inserts nothing and returns
	// *Exceeded. What was inserted before is never refused: a repeated call counts
	// nothing. The methods of the Store itself have no bounds.
	Within(b Bounds) Inserter
	// Stored counts what an owner has stored or, without an owner, what an address
	// has stored without an account.
	Stored(ctx context.Context, owner, address string) (Stored, error)
	// Spent is what an owner or, without an owner, an address has used on the UTC day of
	// a time: by settled turns, ingests and searches.
	Spent(ctx context.Context, owner, address string, on time.Time) (Spending, error)
	// SpendOnDocument adds what the ingest of an owner's document has used, for its
	// owner and the address that it came from.
	SpendOnDocument(ctx context.Context, owner, id string, s Spending, at time.Time) error
	// Spend adds what a model has used outside of turns and documents, such as for a
	// search, for an owner and, unless it is empty, an address.
	Spend(ctx context.Context, owner, address string, s Spending, at time.Time) error
	// PruneSpending deletes the records of all days before the day of a time.
	PruneSpending(ctx context.Context, before time.Time) error
}

// NoCookies is the session generation of owners with an account. No cookie has it.
const NoCookies = 1 << 62

// Visitors knows the owners who have no account: those for whom something was
// inserted with Bounds.Anonymous.
type Visitors interface {
	// Seen records a request of an owner. With account, the owner has one now: their
	// data counts for no address any more, UnusedOwners does not list them, and their session
	// generation becomes NoCookies.
	Seen(ctx context.Context, owner string, account bool, at time.Time) error
	// UnusedOwners lists owners without an account who were last seen before a time, ordered
	// by id, from the first id greater than after.
	UnusedOwners(ctx context.Context, before time.Time, after string, limit int) ([]string, error)
	// Retire ends the cookies and keys of an owner without an account who was last seen
	// before a time, so that the owner can be deleted. ErrNotFound: they were seen since.
	Retire(ctx context.Context, owner string, before time.Time) error
	// DeleteUnused is DeleteUser for such an owner. A token may still open what they have: when they
	// are seen meanwhile, it deletes no more, and returns ErrNotFound.
	DeleteUnused(ctx context.Context, owner string, before time.Time) (UserData, error)
	// LeftThreads lists the chats of deleted boards that can no longer be restored, and
	// throw-away and temporary threads that were not used for OnceKept, ordered by id, from
	// the first id greater than after.
	LeftThreads(ctx context.Context, now time.Time, after string, limit int) ([]chat.ThreadRef, error)
}

// SeenEvery is how often the time when an owner was last seen is updated, at most.
const SeenEvery = 24 * time.Hour

// Bounds are the conditions of an insert: what may be stored and spent after it. 0 means no
// bound.
type Bounds struct {
	Anonymous bool   // the owner has no account
	Address   string // rate-limit key of an anonymous owner's address; empty: none

	Owner      Quota // of the owner
	PerAddress Quota // of all that Address has stored
	Everybody  Quota // of all that is stored without an account

	Unused      Quota // of the owner's pictures that no message uses
	BusyThreads int   // threads of the owner that may run turns at the same time
	QueuedTurns int   // turns that may wait in one thread
	Daily       Spending

	// Import is the key of the import that stores a document: PutImport then returns
	// ErrNotFound if the owner has no open import with it, because the owner, or the
	// import's conversation, was deleted during the download. Empty: not checked.
	Import string
}

// Quota bounds what is stored.
type Quota struct {
	Threads, Sets, Documents, Pictures, Boards, Bytes int64
}

// Stored is what counts against a Quota. Bytes are those of documents as they were
// uploaded, pictures, message repositories and boards.
type Stored = Quota

// Spending is what models cost.
type Spending struct {
	Tokens  int64
	CostUSD float64
}

// Bound names a number of Bounds.
type Bound string

// Bounds that can be exceeded.
const (
	BoundThreads   Bound = "conversations"
	BoundSets      Bound = "document_sets"
	BoundDocuments Bound = "documents"
	BoundPictures  Bound = "pictures"
	BoundBoards    Bound = "discoveries"
	BoundBytes     Bound = "storage_bytes"
	BoundUnused    Bound = "unused_pictures"
	BoundBusy      Bound = "busy_threads"
	BoundQueued    Bound = "queued_turns"
	BoundTokens    Bound = "daily_tokens"
	BoundCost      Bound = "daily_cost_usd"

	BoundOpenImports Bound = "open_imports"
	BoundKeys        Bound = "access_keys"
	BoundShares      Bound = "shares"
)

// Scope says whose bound it is.
type Scope string

// Scopes of bounds.
const (
	OfOwner     Scope = "owner"
	OfSpace     Scope = "space" // whose quota is that of an owner
	OfAddress   Scope = "address"
	OfEverybody Scope = "everybody"
)

// Exceeded is the error of an insert that was refused because of a bound.
type Exceeded struct {
	Bound Bound
	Scope Scope
	Limit float64
}

func (e *Exceeded) Error() string {
	return fmt.Sprintf("more than %v %s of the %s", e.Limit, e.Bound, e.Scope)
}

// Exceeds returns the first bound that s exceeds; nil: none. Spending that equals its bound
// exceeds it.
func (s Spending) Exceeds(most Spending, scope Scope) *Exceeded {
	switch {
	case most.Tokens > 0 && s.Tokens >= most.Tokens:
		return &Exceeded{BoundTokens, scope, float64(most.Tokens)}
	case most.CostUSD > 0 && s.CostUSD >= most.CostUSD:
		return &Exceeded{BoundCost, scope, most.CostUSD}
	}
	return nil
}
