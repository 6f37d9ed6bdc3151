// Package db is the Store: what was said and what was uploaded, in the words of
// the domain. SQL lives in db/sqlite (and db/postgres); one conformance suite
// (db/dbtest) pins the contract for both.
//
// Every method that takes an owner sees that owner's rows only (documents also
// PublicOwner's); a row of somebody else's is ErrNotFound, like one that does
// not exist. The methods that see rows of every owner are those of Audit, which
// return ids only.
package db

import (
	"context"
	"errors"
	"time"

	"github.com/palaver-chat/palaver/chat"
)

var (
	ErrNotFound     = errors.New("not found")
	ErrTurnConflict = errors.New("client_turn_id was used with other content")
	ErrSettled      = errors.New("the turn is settled")
	ErrOutdated     = errors.New("a later attempt has written this")
	ErrForbidden    = errors.New("not allowed") // e.g. deleting a public document
	ErrVersion      = errors.New("another version is there")
	ErrUnavailable  = errors.New("database unavailable") // wraps connection loss; try again later
)

// Page is a slice of a list; Next is empty at its end.
type Page[T any] struct {
	Items []T
	Next  string
}

// Settlement is all that a turn's end writes, in one transaction.
type Settlement struct {
	Owner, ThreadID, TurnID string
	Parent                  string
	Status                  chat.TurnStatus // completed, cancelled or failed
	Text                    string          // answer or partial; empty: no assistant message, unless Metadata has results of tools
	Metadata                map[string]any  // of the assistant message
	Prompts                 []Prompt        // PalAssist prompts with the answers given to them, and notices, in order
	Events                  []chat.Event    // the whole durable log but the terminal event, numbered from 1
	Terminal                chat.Event      // the terminal event, its N set
	Registry                []string        // document ids this turn resolved, merged with the parent's registry
	Approvals               []string        // names of tools that need not ask any more, merged with the parent's
	Title                   string          // of the conversation, when it has none yet
	Hidden                  bool            // rolled back: the turn leaves every history
	At                      time.Time
}

// Prompt is a question asked during a turn and the answer given; both become
// messages of the history (system, then user when Answer is not empty).
type Prompt struct {
	ID, Message, Answer string
	At                  time.Time
}

// Draft is the text of a piece so far.
type Draft struct {
	TurnID         string
	Piece, Attempt int
	Text           string
}

// Text is a text of a turn and its key.
type Text struct {
	Key, Text string
	// Order of its writer among those that write for the turn; 0: it has none, and
	// writes whatever stands there.
	Order int64
}

// Standing is a turn and what it begins beside.
type Standing struct {
	Turn      chat.Turn
	Cancelled bool        // as Turns.Cancelled
	Open      []chat.Turn // as Turns.OpenTurns, the turn itself among them when it was accepted
	Head      string      // as Turns.Head
	Approvals []string    // as Turns.Approvals at Head
}

// CancelRef names a turn to cancel before it may exist: exactly one of the
// three ids is set. ThreadID narrows ClientTurnID.
type CancelRef struct {
	ThreadID, TurnID, ClientTurnID, StreamRunID string
}

// History is a conversation along one branch.
type History struct {
	Messages []chat.Message
	Branches map[string][]string // checkpoint id or "root" → child checkpoint ids, oldest first
	Head     string              // turn id at the end of Messages; RootCheckpoint when empty
}

// Store is everything Palaver keeps outside of Temporal. Safe for concurrent use.
type Store interface {
	Conversations
	Turns
	Documents
	Files
	Limits
	UserDeleter
	Audit
	// Ping reports whether the database answers; ErrUnavailable when not.
	Ping(ctx context.Context) error
	Close() error
}

// Conversations keeps threads and profiles.
type Conversations interface {
	// CreateConversation is idempotent for one owner and id; ErrNotFound when the
	// id belongs to somebody else (so that ids cannot be probed), also after it was
	// deleted. Its owner can use the id of a deleted conversation again.
	CreateConversation(ctx context.Context, c chat.Conversation) (chat.Conversation, error)
	Conversation(ctx context.Context, owner, id string) (chat.Conversation, error)
	// ListConversations are newest first by last message; q matches titles and
	// message text, case-insensitively; limit 1 to 100.
	ListConversations(ctx context.Context, owner, q, cursor string, limit int) (Page[chat.Conversation], error)
	RenameConversation(ctx context.Context, owner, id, title string) (chat.Conversation, error)
	// DeleteConversation removes the thread with its turns, messages, texts,
	// drafts and tombstones. Its owner may begin a new conversation under its id,
	// which shows nothing of it: what is still written for the deleted one's turns
	// finds no turn (ErrNotFound), nor does a message of it that is sent again
	// within a day.
	DeleteConversation(ctx context.Context, owner, id string) error
	Profile(ctx context.Context, owner string) (chat.Profile, error) // zero when never set
	PutProfile(ctx context.Context, owner string, p chat.Profile) error
}

// Turns keeps what was said.
type Turns interface {
	// InsertTurn writes a new turn and its conversation if need be. Its status is
	// new, whatever t says: a turn that ran while the database was away is
	// inserted late, under its own id and time, and then marked and settled like
	// any other. Its place in the thread is taken when it is marked with a parent
	// or settled, so turns that ran one after another are saved in that order; a
	// late one never takes the place of one that is there.
	// The turn that comes back names the generation of its conversation, which
	// counts the conversations that have had this id, from 1.
	// An existing (owner, thread, client_turn_id) with the same hash returns that
	// turn and created=false; with another hash ErrTurnConflict. A tombstone that
	// matches the turn (Cancel) makes cancelled true: the caller submits it all
	// the same and the workflow ends it at once.
	InsertTurn(ctx context.Context, t chat.Turn) (_ chat.Turn, created, cancelled bool, err error)
	// SaveTurn is InsertTurn for a turn that its thread took while the database was
	// away. A row of the same client_turn_id that no thread has taken gives way: a
	// retry wrote it, and was then told of this turn. ErrNotFound when the turn's
	// conversation was deleted, which its generation tells.
	SaveTurn(ctx context.Context, t chat.Turn) (chat.Turn, error)
	// Turn reads one. Any caller with the owner may read it in any status.
	Turn(ctx context.Context, owner, id string) (chat.Turn, error)
	// Standing reads a turn with what it begins beside, at once.
	Standing(ctx context.Context, owner, id string) (Standing, error)
	// FindTurn resolves a CancelRef to a turn; ErrNotFound when there is none yet.
	FindTurn(ctx context.Context, owner string, ref CancelRef) (chat.Turn, error)
	// MarkTurn moves an unsettled turn to accepted, running or interrupted and
	// sets its parent when parent is not empty. Its conversation is listed from
	// now on, named after its message (chat.TitleFrom) unless it has a title. Idempotent; a settled turn stays
	// as it is (no error), and accepted takes back neither running nor
	// interrupted. The parent is RootCheckpoint or a checkpoint of a turn that
	// got its own parent before, else ErrNotFound; for a rolled back turn its
	// parent is taken.
	MarkTurn(ctx context.Context, owner, id string, s chat.TurnStatus, parent string) error
	// TakeBack undoes MarkTurn for an unsettled turn: it has no place in the tree,
	// and is accepted or, as if it had never been taken, new. Its place is given to
	// no other turn. A settled turn stays as it is (no error).
	TakeBack(ctx context.Context, owner, id string, s chat.TurnStatus) error
	// Cancel writes a tombstone for ref, so that a submit that comes later finds
	// it; idempotent. By its stream_run_id it means turns sent at most a minute
	// before or after, since a client may use such an id again. Tombstones older
	// than a day may be pruned.
	Cancel(ctx context.Context, owner string, ref CancelRef, reason chat.CancelReason) error

	// Cancelled reports whether a tombstone names the turn. It makes up for a
	// cancel that came between a turn's row and its submit.
	Cancelled(ctx context.Context, owner, turnID string) (bool, error)

	// PutText upserts a text of an open turn under a key ("piece:1",
	// "web_query", "unresolved"…). ErrSettled when the turn is over.
	PutText(ctx context.Context, owner, turnID, key, text string) error
	// PutTexts upserts several, all or none; of a key that comes twice, the last.
	// ErrOutdated when one of them was written by a higher order.
	PutTexts(ctx context.Context, owner, turnID string, texts []Text) error
	// Texts returns all texts of an open turn by key; ErrSettled when the turn is
	// over: its texts went with its end, and Events has what they said.
	Texts(ctx context.Context, owner, turnID string) (map[string]string, error)

	// SaveDraft upserts by (turn, piece); a lower attempt than the stored one is
	// ignored. ErrSettled when the turn is over.
	SaveDraft(ctx context.Context, owner string, d Draft) error
	// Draft is ErrNotFound when none was written.
	Draft(ctx context.Context, owner, turnID string, piece int) (Draft, error)

	// Settle ends the turn and deletes its texts and drafts. A second call for the
	// same turn changes nothing and returns the stored terminal event.
	Settle(ctx context.Context, s Settlement) (chat.Event, error)
	// Events is the log of a settled turn after n, terminal event included;
	// ErrNotFound while the turn is open.
	Events(ctx context.Context, owner, turnID string, after int) ([]chat.Event, error)

	// Logs reads several turns at once, in the order of ids and without unknown
	// ones: what a page of a conversation needs.
	Logs(ctx context.Context, owner string, ids []string) ([]TurnLog, error)

	// GiveUp notes that the sender of a turn was told that its thread did not take it:
	// CountOpenTurns leaves it out until it is sent again, or taken after all.
	GiveUp(ctx context.Context, owner, id string) error
	// DropTurn removes a turn that no thread has taken and whose message was sent last
	// before a time, and the conversation that it would have begun. Any other turn
	// stays as it is (no error).
	DropTurn(ctx context.Context, owner, id string, before time.Time) error

	// CountOpenTurns counts an owner's turns at work or waiting for it: accepted or
	// running, and those sent within the last minute that no workflow has accepted
	// yet and nobody has given up. One that waits for a person is none of them. here are those of the
	// thread, busy is how many other threads have some.
	CountOpenTurns(ctx context.Context, owner, threadID string) (here, busy int, err error)

	// History reads a branch, oldest first: the newest limit messages before the
	// message id before (empty: from the end). head is a checkpoint (empty: the
	// newest accepted turn). Accepted open turns show their user message.
	// ErrNotFound when the conversation is unknown or head is not in it.
	History(ctx context.Context, owner, threadID, head, before string, limit int) (History, error)
	// TurnOfMessage is the turn that a message of the thread's histories belongs
	// to, by the id that History gives it. ErrNotFound when no history shows such
	// a message.
	TurnOfMessage(ctx context.Context, owner, threadID, messageID string) (chat.Turn, error)
	// Head is the newest accepted, not hidden turn of a thread; RootCheckpoint
	// when none. Settled and open ones both count, but not one that waits for
	// its parent: the head is what it will follow.
	Head(ctx context.Context, owner, threadID string) (string, error)
	// HeadContent is the message of the turn Head names; ok is false when there is none.
	HeadContent(ctx context.Context, owner, threadID string) (_ chat.Content, ok bool, _ error)
	// Recent returns the last n user and assistant messages up to and including
	// the settled turn head, oldest first; none for RootCheckpoint.
	Recent(ctx context.Context, owner, threadID, head string, n int) ([]chat.Message, error)
	// Registry is the documents known to a branch as of the settled turn head:
	// keyed by id, only those that exist, are ready and visible to owner.
	Registry(ctx context.Context, owner, threadID, head string) ([]chat.DocRef, error)
	// Approvals are the tools remembered as approved on a branch as of the settled
	// turn head.
	Approvals(ctx context.Context, owner, threadID, head string) ([]string, error)
	// OpenTurns lists accepted turns that are not settled, oldest first.
	OpenTurns(ctx context.Context, owner, threadID string) ([]chat.Turn, error)
	// TurnsAfter lists the turns that took their place after a place, in the order
	// in which the thread ran them, whatever became of them: rolled back ones too.
	// No turn shows up later at a place that was passed.
	TurnsAfter(ctx context.Context, owner, threadID string, place, limit int) ([]chat.Turn, error)
	// LastPlace is the place of the turn that began last; 0 when none has.
	LastPlace(ctx context.Context, owner, threadID string) (int, error)
}

// TurnLog is a turn and, once it is settled, its events.
type TurnLog struct {
	Turn   chat.Turn
	Events []chat.Event
}

// UnusedFor is how long a picture is kept that no message uses.
const UnusedFor = 24 * time.Hour

// Files keeps pictures and the clients' own message repositories.
type Files interface {
	// PutAttachment stores a picture; the same id and owner again changes nothing
	// (a tool call's picture has an id made from the call's), an id of somebody
	// else's is ErrNotFound. With a ThreadID it belongs to that conversation from
	// the start, which must be there (else ErrNotFound). Pictures unused for
	// UnusedFor are removed on the way.
	PutAttachment(ctx context.Context, a chat.Attachment, data []byte) error
	// Attachment reads one with its bytes.
	Attachment(ctx context.Context, owner, id string) (chat.Attachment, []byte, error)
	// AttachmentsByID keeps the order of ids and leaves out unknown ones.
	AttachmentsByID(ctx context.Context, owner string, ids []string) ([]chat.Attachment, error)
	// UseAttachments ties attachments to a conversation, so that they go with it;
	// one that belongs to a conversation already stays there. InsertTurn does the
	// same for those of its content.
	UseAttachments(ctx context.Context, owner, threadID string, ids []string) error
	// UnusedAttachments are the pictures that no message uses, for a quota.
	UnusedAttachments(ctx context.Context, owner string) (number int, bytes int64, err error)

	// Repo is a thread's stored message repository, ErrNotFound when none.
	Repo(ctx context.Context, owner, threadID string) (Repo, error)
	// PutRepo stores the next version and drops the one before. match is the
	// version that must be there, 0 for none (ErrVersion if it is not); nil:
	// whichever. It creates the conversation if need be, but for one that was
	// deleted (ErrNotFound): it may be of a tab that still shows it. The new version
	// comes back, from 1.
	PutRepo(ctx context.Context, owner, threadID string, gzipped []byte, sha256 string, match *int) (Repo, error)
}

// Repo is a client's message repository, opaque to us.
type Repo struct {
	Version   int
	SHA256    string // hex, of the JSON before compression
	Gzipped   []byte
	UpdatedAt time.Time
}

// Documents keeps what questions are asked of. A change to a public document by
// anyone but PublicOwner is ErrForbidden.
type Documents interface {
	// CreateDocument writes a document (status processing) with its raw upload.
	CreateDocument(ctx context.Context, d chat.Document, raw []byte) error
	// RawDocument returns the upload of a document that is still processing.
	RawDocument(ctx context.Context, owner, id string) (chat.Document, []byte, error)
	DocumentProgress(ctx context.Context, owner, id string, percent int) error
	// StoreText replaces text, chunks and (when not nil) their vectors, marks the
	// document ready and drops the raw upload, in one transaction.
	StoreText(ctx context.Context, owner, id, text string, chunks []chat.Chunk, vectors [][]float32) error
	// FailDocument leaves a document that is ready as it is.
	FailDocument(ctx context.Context, owner, id, reason string) error
	Document(ctx context.Context, owner, id string) (chat.Document, error)
	// ListDocuments are the owner's and the public ones, newest first; limit 1 to 200.
	ListDocuments(ctx context.Context, owner, cursor string, limit int) (Page[chat.Document], error)
	// DeleteDocument is ErrForbidden for a public one unless owner is PublicOwner.
	DeleteDocument(ctx context.Context, owner, id string) error
	// DocumentText is ErrNotFound until the document is ready.
	DocumentText(ctx context.Context, owner, id string) (string, error)
	// VisibleDocuments lists every document that owner may see as (id, title,
	// status), for name matching; at most 5,000, newest first.
	VisibleDocuments(ctx context.Context, owner string) ([]chat.Document, error)
	// DocumentsByID keeps the order of ids and leaves out unknown ones.
	DocumentsByID(ctx context.Context, owner string, ids []string) ([]chat.Document, error)
	Chunk(ctx context.Context, owner, docID, chunkID string) (chat.Chunk, error)
	// ChunksByID keeps the order of ids and leaves out unknown ones.
	ChunksByID(ctx context.Context, owner string, ids []string) ([]chat.Hit, error)
	// DocumentChunks are a document's first limit chunks in order.
	DocumentChunks(ctx context.Context, owner, docID string, limit int) ([]chat.Hit, error)
	// SearchText ranks chunks of ready documents by full text (stemmed, any of
	// the words), best first; docIDs nil: all that owner may see. Score > 0.
	SearchText(ctx context.Context, owner string, words []string, docIDs []string, k int) ([]chat.Hit, error)
	// SearchVector ranks by cosine similarity, exactly.
	SearchVector(ctx context.Context, owner string, vector []float32, docIDs []string, k int) ([]chat.Hit, error)
	// WordCounts says in how many visible chunks each word's stem occurs, and how
	// many visible chunks there are (for weighing what a question asks).
	WordCounts(ctx context.Context, owner string, words []string) (map[string]int, int, error)

	CreateSet(ctx context.Context, s chat.DocumentSet) error
	UpdateSet(ctx context.Context, s chat.DocumentSet) error
	DeleteSet(ctx context.Context, owner, id string) error
	ListSets(ctx context.Context, owner, cursor string, limit int) (Page[chat.DocumentSet], error)
	// SetsByID keeps the order of ids and leaves out unknown ones.
	SetsByID(ctx context.Context, owner string, ids []string) ([]chat.DocumentSet, error)
}
