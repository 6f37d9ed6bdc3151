// Package db defines the Store of conversations and documents. SQL that both databases
// run lives in db/queries, other SQL in db/sqlite and db/postgres, the rules that both share
// in db/internal/rules; one conformance suite (testkit/dbtest) pins the contract for both.
//
// Every method that takes an owner sees only that owner's rows (documents also
// PublicOwner's); for another owner's row it returns ErrNotFound, as for one that does not
// exist. Only methods of Repair, AuditLog, Upkeep, FeedbackLog and Administration read rows of every
// owner. They return no texts, except reasons of feedback and the turns that people share with it. KeyByDigest and ShareByDigest
// find a row by a secret.
package db

//go:generate go run github.com/sqlc-dev/sqlc/cmd/sqlc@v1.31.1 generate
//go:generate go run ./internal/sharegen

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
)

var (
	ErrNotFound     = errors.New("not found")
	ErrTurnConflict = errors.New("client_turn_id was used with other content")
	ErrSettled      = errors.New("the turn is settled")
	ErrOutdated     = errors.New("a later attempt has written this")
	ErrTurnRuns     = errors.New("a turn of the conversation runs")
	ErrForbidden    = errors.New("not allowed") // e.g. deleting a public document
	ErrVersion      = errors.New("the stored version is a different one")
	ErrUnavailable  = errors.New("database unavailable") // wraps connection loss; try again later
)

// ErrTimeout is an ErrUnavailable of a database that did not answer in time: perhaps only this
// call is too large for the connection.
var ErrTimeout = fmt.Errorf("%w: no answer in time", ErrUnavailable)

// AnyVersion is the version that a write expects if any stored one will do.
const AnyVersion = -1

// VersionFits reports whether a write may replace the stored version. It expects the version want: 0 for
// none, nil for anything.
func VersionFits(want *int, stored int) bool {
	return want == nil || *want == stored || *want == AnyVersion && stored > 0
}

// Unavailable reports whether err means that the database cannot be reached or does not
// answer in time.
func Unavailable(err error) bool {
	return errors.Is(err, ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
}

// Page is a slice of a list; Next is empty at its end.
type Page[T any] struct {
	Items []T
	Next  string
}

// Settlement is what Settle writes at a turn's end, in one transaction.
type Settlement struct {
	Owner, ThreadID, TurnID string
	Parent                  string
	Status                  chat.TurnStatus // completed, cancelled or failed
	Text                    string          // answer or partial; a completed turn without one has an assistant message only when Metadata has results of tools
	Metadata                map[string]any  // of the assistant message
	Prompts                 []Prompt        // PalAssist prompts with the answers given to them, and notices, in order
	Events                  []chat.Event    // the whole durable log except the terminal event, numbered from 1
	Terminal                chat.Event      // the terminal event, with its N
	Registry                []string        // document ids this turn resolved, merged with the parent's registry
	Approvals               []string        // names of tools that need no approval any more, merged with the parent's
	Title                   string          // of the conversation, when it has none yet; of its first turn also in place of the one that was made from the message
	Hidden                  bool            // rolled back: no history shows the turn
	Newest                  int64           // the order of the newest text that it is made from; Settle returns ErrOutdated if the turn has another one. 0: not checked
	At                      time.Time
}

// SettledTurn is the stored terminal event of a turn. Again: the turn was settled before.
type SettledTurn struct {
	chat.Event
	Again bool
}

// Prompt is a question asked during a turn and the answer given, or a notice. They
// become messages of the history: system, then user when Answer is not empty.
type Prompt struct {
	ID, Message, Answer string
	messages.Coded                         // of Message
	Type                chat.InterruptType // of a question; empty: a notice
	Code                string             // of a notice
	Outcome             chat.Outcome       // of a question
	Channel             chat.Channel       // by which the answer came; stored in the metadata of its message
	Names               bool               // the answer has names of documents or sets, or words of a model
	At                  time.Time
	AnsweredAt          time.Time // zero: as At
}

// Draft is the text of a piece so far.
type Draft struct {
	TurnID         string
	Piece, Attempt int
	Text           string
}

// OwnNames are the names that a document's text and metadata give it.
type OwnNames struct {
	Title  string   // becomes the title, unless it is empty or a person gave the document one
	Others []string // replace the other names; nil: they stay
}

// Summary summarises a branch up to the end of a turn. An empty Text means that this part
// of the branch is left out of prompts.
type Summary struct {
	TurnID, Text string
	At           time.Time
}

// Text is a text of a turn and its key.
type Text struct {
	Key, Text string
	// Order ranks the writers of a turn: a writer does not overwrite a text that was
	// written with a higher Order. 0: always overwrite.
	Order int64
}

// ConversationChange is what ChangeConversation changes; nil fields stay as they are.
type ConversationChange struct {
	Title            *string
	Pinned, Archived *bool
	Shared           *bool // with the space of the conversation
}

// TurnContext is a turn and the state of its thread, read together.
type TurnContext struct {
	Turn      chat.Turn
	Cancelled bool        // as Turns.Cancelled
	Imports   bool        // imports of the conversation are open, or their end is to be announced
	Open      []chat.Turn // as Turns.OpenTurns, the turn itself among them when it was accepted
	Head      string      // as Turns.Head
	Approvals []string    // as Turns.Approvals at Head
	Registry  []string    // ids of the documents that were known at Head; nil: not read
	Profile   chat.Profile
}

// Newest is what a further message of a conversation must know of it.
type Newest struct {
	Any     bool // the conversation has a turn
	Content chat.Content
	Open    bool // accepted turns are not settled
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

// Store keeps everything that Palaver stores outside of Temporal. Safe for concurrent use.
type Store interface {
	Inserter
	Conversations
	Turns
	Documents
	Imports
	Files
	Boards
	Limits
	Quotas
	Visitors
	UserDeleter
	Claimer
	Repair
	AuditLog
	Upkeep
	Connections
	ToolServers
	Keys
	Shares
	Feedbacks
	FeedbackLog
	Administration
	Spaces
	// Ping reports whether the database answers; ErrUnavailable when not.
	Ping(ctx context.Context) error
	// Sync makes what was written so far survive a power failure.
	Sync(ctx context.Context) error
	Close() error
}

// Conversations keeps threads and profiles.
type Conversations interface {
	Conversation(ctx context.Context, owner, id string) (chat.Conversation, error)
	// NeverUsed reports whether the owner has and had no conversation with the id. What others
	// have does not count.
	NeverUsed(ctx context.Context, owner, id string) (bool, error)
	// AuthorInSpace returns the owner of a conversation that is shared with the space of ctx,
	// which reader reads; reader themselves for a conversation of theirs and without a space.
	AuthorInSpace(ctx context.Context, reader, id string) (string, error)
	// ListConversations lists those of the space of ctx, also shared ones of others, or those
	// in no space: the pinned ones, then the others, both by last message, newest
	// first; limit 1 to 100. q matches titles and message text, case-insensitively, and also
	// finds archived conversations; without q they are left out.
	ListConversations(ctx context.Context, owner, q, cursor string, limit int) (Page[chat.Conversation], error)
	// ArchivedConversations lists the archived ones in the same order.
	ArchivedConversations(ctx context.Context, owner, cursor string, limit int) (Page[chat.Conversation], error)
	// ChangeConversation changes a title, or marks. A pinned conversation is not archived,
	// and an archived one is not pinned. A new message makes it not archived.
	ChangeConversation(ctx context.Context, owner, id string, c ConversationChange) (chat.Conversation, error)
	// RetitleConversation replaces the title earlier by title. Nothing changes (no error)
	// when the title is another one by now, or when its owner has chosen it.
	RetitleConversation(ctx context.Context, owner, id, earlier, title string) error
	// DeleteConversation removes the thread with its turns, messages, texts,
	// drafts and tombstones. Its owner may use the id for a new conversation, in
	// which the deleted one never shows up: late writes for its turns, and its
	// messages that are sent again within a day, return ErrNotFound.
	DeleteConversation(ctx context.Context, owner, id string) error
	Profile(ctx context.Context, owner string) (chat.Profile, error) // zero when never set
	PutProfile(ctx context.Context, owner string, p chat.Profile) error
	// SessionGeneration returns the first generation of an anonymous owner's cookies that
	// is valid; 0 until EndSessions.
	SessionGeneration(ctx context.Context, owner string) (int64, error)
	// EndSessions raises the generation and returns it. DeleteUser raises it, too.
	EndSessions(ctx context.Context, owner string) (int64, error)
}

// Turns keeps turns with their messages, texts and events.
type Turns interface {
	// SaveTurn is InsertTurn for a turn that its thread accepted while the database
	// was unavailable. It replaces an unaccepted row with the same client_turn_id: a
	// retry of the message wrote that row and was answered with this turn. ErrNotFound
	// when the turn's conversation was deleted, that is, has another generation.
	// cancelled is true if a cancel came first.
	SaveTurn(ctx context.Context, t chat.Turn) (_ chat.Turn, cancelled bool, _ error)
	// Turn reads a turn in any status.
	Turn(ctx context.Context, owner, id string) (chat.Turn, error)
	// BeginTurn reads a turn and the state of its thread. Unless the turn is settled, or parent
	// returns "", it marks the turn running under that parent, as MarkTurn does, in the same
	// transaction; TurnContext.Turn then has the parent that was stored.
	BeginTurn(ctx context.Context, owner, id string, parent func(TurnContext) string) (TurnContext, error)
	// FindTurn resolves a CancelRef to a turn; ErrNotFound when there is none yet.
	FindTurn(ctx context.Context, owner string, ref CancelRef) (chat.Turn, error)
	// MarkTurn moves an unsettled turn to accepted, running or interrupted and
	// sets its parent when parent is not empty. From then on its conversation is
	// listed, with a title from its message (chat.TitleFrom) unless it has one.
	// Idempotent; a settled turn does not change (no error), nor does a running or
	// interrupted one become accepted. The parent is RootCheckpoint or a checkpoint
	// of a turn that has a parent, else ErrNotFound; a rolled back turn is replaced
	// by its own parent.
	MarkTurn(ctx context.Context, owner, id string, s chat.TurnStatus, parent string) error
	// MarkAsking is MarkTurn with the status interrupted and the type of the question.
	// The next MarkTurn clears the type.
	MarkAsking(ctx context.Context, owner, id string, asks chat.InterruptType, parent string) error
	// UnmarkTurn undoes MarkTurn for an unsettled turn: it loses its place in the
	// tree, which no other turn gets, and its status is accepted or new again. Turns
	// after it follow its parent. A settled turn does not change (no error).
	UnmarkTurn(ctx context.Context, owner, id string, s chat.TurnStatus) error
	// Cancel writes a tombstone for ref, so that a later submit finds it;
	// idempotent. A stream_run_id matches only turns sent at most a minute before or
	// after, because clients may reuse such an id. Tombstones older than a day may
	// be pruned.
	Cancel(ctx context.Context, owner string, ref CancelRef, reason chat.CancelReason) error

	// Cancelled reports whether a tombstone matches the turn: one may have been
	// written between the turn's row and its submit. The turn needs no row.
	Cancelled(ctx context.Context, t chat.Turn) (bool, error)

	// PutText upserts a text of an open turn under a key ("piece:1",
	// "web_query", "unresolved"…). ErrSettled when the turn is over.
	PutText(ctx context.Context, owner, turnID, key, text string) error
	// PutTexts upserts several texts, all or none; if a key occurs twice, the last text
	// counts. ErrOutdated when one of them was written with a higher order.
	PutTexts(ctx context.Context, owner, turnID string, texts []Text) error
	// Texts returns all texts of an open turn by key; ErrSettled when the turn is
	// settled: its texts are deleted then, and Events has their content.
	Texts(ctx context.Context, owner, turnID string) (map[string]string, error)

	// SaveDraft upserts by (turn, piece); a lower attempt than the stored one is
	// ignored. ErrSettled when the turn is over.
	SaveDraft(ctx context.Context, owner string, d Draft) error
	// Draft returns ErrNotFound when none was written.
	Draft(ctx context.Context, owner, turnID string, piece int) (Draft, error)

	// PutSummary stores the summary of a branch up to the end of a turn; a second one
	// replaces the first. ErrNotFound when there is no such turn.
	PutSummary(ctx context.Context, owner string, s Summary) error
	// Summary returns the newest summary on the branch that ends at head; ErrNotFound
	// when there is none. Summaries are deleted with their conversation.
	Summary(ctx context.Context, owner, threadID, head string) (Summary, error)
	// Summaries lists the summaries on all branches of a conversation, in the order of its
	// turns.
	Summaries(ctx context.Context, owner, threadID string) ([]Summary, error)

	// Settle ends the turn and deletes its texts and drafts. A second call for the
	// same turn changes nothing and returns the stored terminal event.
	Settle(ctx context.Context, s Settlement) (SettledTurn, error)
	// Events is the log of a settled turn after n, terminal event included;
	// ErrNotFound while the turn is open.
	Events(ctx context.Context, owner, turnID string, after int) ([]chat.Event, error)

	// Logs reads several turns, in the order of ids and without unknown ones, for a
	// page of a conversation.
	Logs(ctx context.Context, owner string, ids []string) ([]TurnLog, error)

	// AbandonTurn records that the sender got an error because the thread did not
	// accept the turn: CountOpenTurns ignores it until it is sent again or accepted.
	AbandonTurn(ctx context.Context, owner, id string) error
	// DropTurn deletes a turn that no thread has accepted and whose message was last
	// sent before a time, and its conversation if that is unlisted and has no other
	// turn. It leaves any other turn unchanged (no error).
	DropTurn(ctx context.Context, owner, id string, before time.Time) error

	// DropWaiting deletes turns of one thread that have no place yet, in one transaction.
	// Others are ignored; ErrNotFound if there are only others.
	DropWaiting(ctx context.Context, owner string, ids []string) error

	// CountOpenTurns counts an owner's queued and running turns: accepted or running,
	// and those sent within the last minute that are neither accepted nor abandoned.
	// An interrupted turn does not count. here counts those of the thread, busy the
	// other threads that have some.
	CountOpenTurns(ctx context.Context, owner, threadID string) (here, busy int, err error)

	// History reads a branch, oldest first: the newest limit messages before the
	// message id before (empty: from the end). head is a checkpoint (empty: the
	// newest accepted turn). Accepted open turns show their user message.
	// ErrNotFound when the conversation is unknown or head is not in it.
	History(ctx context.Context, owner, threadID, head, before string, limit int) (History, error)
	// TurnOfMessage finds the turn of a message, by the message's id in History.
	// ErrNotFound when no history of the thread has such a message.
	TurnOfMessage(ctx context.Context, owner, threadID, messageID string) (chat.Turn, error)
	// Head returns the newest accepted turn of a thread, settled or open, that is not
	// hidden; RootCheckpoint when there is none. A turn that waits for its parent is not
	// the head: it will follow the head.
	Head(ctx context.Context, owner, threadID string) (string, error)
	// TurnsOfRun lists the newest turns, up to 20, that were sent with a stream_run_id in
	// any of the owner's threads, newest first. It leaves out turns that no history shows.
	TurnsOfRun(ctx context.Context, owner, runID string) ([]chat.Turn, error)
	// Newest returns the message of the turn that Head returns, and whether OpenTurns lists any.
	Newest(ctx context.Context, owner, threadID string) (Newest, error)
	// Recent returns the last n user and assistant messages up to and including
	// the settled turn head, oldest first; none for RootCheckpoint.
	Recent(ctx context.Context, owner, threadID, head string, n int) ([]chat.Message, error)
	// Registry lists the documents known to a branch as of the settled turn head. It
	// leaves out those that were deleted, are not ready or are not visible to owner.
	Registry(ctx context.Context, owner, threadID, head string) ([]chat.DocRef, error)
	// Approvals lists the tools remembered as approved on a branch as of the settled
	// turn head.
	Approvals(ctx context.Context, owner, threadID, head string) ([]string, error)
	// OpenTurns lists accepted turns that are not settled, oldest first.
	OpenTurns(ctx context.Context, owner, threadID string) ([]chat.Turn, error)
	// TurnsAfter lists the turns with a higher place, in the order in which the
	// thread ran them, rolled back ones included. No turn ever gets a lower place
	// than one that was listed.
	TurnsAfter(ctx context.Context, owner, threadID string, place, limit int) ([]chat.Turn, error)
	// LastPlace returns the highest place of the thread's turns; 0 when none has one.
	LastPlace(ctx context.Context, owner, threadID string) (int, error)
}

// TurnLog is a turn and, once it is settled, its events.
type TurnLog struct {
	Turn   chat.Turn
	Events []chat.Event
}

// UnusedFor is how long a picture is kept while no message uses it, and a document of a thread
// that has not begun.
const UnusedFor = 24 * time.Hour

// Files keeps pictures and the clients' own message repositories.
type Files interface {
	// Attachment reads a picture with its bytes.
	Attachment(ctx context.Context, owner, id string) (chat.Attachment, []byte, error)
	// AttachmentInSpace returns the owner of a picture in a conversation that is shared with
	// the space of ctx, or of a message there that reader has copied; ErrNotFound else, and for
	// who does not read the space.
	AttachmentInSpace(ctx context.Context, reader, id string) (owner string, err error)
	// AttachmentsByID keeps the order of ids and leaves out unknown ones.
	AttachmentsByID(ctx context.Context, owner string, ids []string) ([]chat.Attachment, error)
	// UseAttachments assigns attachments to a conversation, so that they are deleted
	// with it, unless they belong to one already. InsertTurn does so for those of
	// its content.
	UseAttachments(ctx context.Context, owner, threadID string, ids []string) error
	// AttachmentIDs lists the ids of an owner's pictures.
	AttachmentIDs(ctx context.Context, owner string) ([]string, error)
	// UnusedAttachments counts the pictures that no message uses, for a quota.
	UnusedAttachments(ctx context.Context, owner string) (number int, bytes int64, err error)

	// Repo returns a thread's stored message repository, ErrNotFound when there is none, and while
	// owner does not read a space in the thread's scope.
	Repo(ctx context.Context, owner, threadID string) (Repo, error)
}

// Repo is a client's message repository, opaque to Palaver.
type Repo struct {
	Version   int
	SHA256    string // hex, of the JSON before compression
	Gzipped   []byte
	UpdatedAt time.Time
}

// Imports keeps what people asked to have imported, with its progress.
type Imports interface {
	ImportByID(ctx context.Context, owner, id string) (chat.Import, error)
	// OpenImports lists the imports of a document that have not ended, oldest first.
	OpenImports(ctx context.Context, owner, key string) ([]chat.Import, error)
	// ListImports lists the owner's imports, newest first, of one conversation and of one
	// turn unless these are empty; without those whose document was deleted. limit 1 to 200.
	ListImports(ctx context.Context, owner, threadID, turnID string, limit int) ([]chat.Import, error)
	// AdvanceImports changes all open imports of a document. With an outcome, only the
	// oldest import gets it; the others get the outcome that the document was known.
	AdvanceImports(ctx context.Context, owner, key string, step chat.ImportStep, at time.Time) error
	// AdvanceImport changes one import, unless it has ended.
	AdvanceImport(ctx context.Context, owner, id string, step chat.ImportStep, at time.Time) error
	// AnnounceImport sets whether the conversation is told when the import ends.
	AnnounceImport(ctx context.Context, owner, id string, announce bool) error
}

// MaxOpenImports limits the imports of one owner that have not ended.
const MaxOpenImports = 20

// Documents keeps the documents that answers are searched in. A change to a public
// document by anyone but PublicOwner returns ErrForbidden.
type Documents interface {
	// ImportedDocument returns ErrNotFound until the owner has imported the document.
	ImportedDocument(ctx context.Context, owner string, source chat.SourceType, externalID string) (chat.Document, error)
	// RawDocument returns the upload of a document that is still processing.
	RawDocument(ctx context.Context, owner, id string) (chat.Document, []byte, error)
	// DocumentAddress returns the digest of the address from which an anonymous owner has
	// sent a document; empty for others.
	DocumentAddress(ctx context.Context, owner, id string) (string, error)
	// Original returns the upload of a document that is ready.
	Original(ctx context.Context, owner, id string) ([]byte, error)
	DocumentProgress(ctx context.Context, owner, id string, percent int) error
	// SetDocumentPages sets how many pages the file of a document has that is processing, and
	// how many of them could not be read.
	SetDocumentPages(ctx context.Context, owner, id string, pages, unread int) error
	// PutScan stores what OCR has read on a page of a document that is processing; "": nothing.
	// It does nothing if another version has replaced the document, or the page is stored.
	PutScan(ctx context.Context, owner, id, version string, page int, text string) error
	// Scans returns the pages that PutScan has stored for this version. A document that failed
	// has none.
	Scans(ctx context.Context, owner, id, version string) (map[int]string, error)
	// StoreText replaces text, chunks and (when not nil) their vectors, and marks the
	// document ready, in one transaction.
	StoreText(ctx context.Context, owner, id, text string, chunks []chat.Chunk, vectors [][]float32) error
	// StoreVersion is StoreText for a version of an imported document. ErrOutdated when
	// another version has replaced it. own are the names that the text gives the document.
	// model is that of the vectors; empty: none.
	StoreVersion(ctx context.Context, owner, id, version string, own OwnNames, text string, chunks []chat.Chunk, model string, vectors [][]float32) error
	// FailDocument does not change a document that is ready.
	FailDocument(ctx context.Context, owner, id, reason string) error
	// FailVersion is FailDocument for a version of an imported document. ErrOutdated when
	// another version has replaced it.
	FailVersion(ctx context.Context, owner, id, version, reason string) error
	Document(ctx context.Context, owner, id string) (chat.Document, error)
	// ListDocuments lists the owner's and the public documents of the library, or InThread
	// those of the thread, newest first; limit 1 to 200. It, VisibleDocuments and searches of
	// all documents leave out public ones that the owner's profile hides, and those of other
	// threads; by id they are there.
	ListDocuments(ctx context.Context, owner, cursor string, limit int) (Page[chat.Document], error)
	// RenameDocument returns ErrForbidden for a public one unless owner is PublicOwner.
	RenameDocument(ctx context.Context, owner, id, title string) error
	// MoveDocument makes a document belong to a thread, or to the library (""). A thread's
	// documents are deleted with it, and a day after their upload if it never begins.
	MoveDocument(ctx context.Context, owner, id, threadID string) error
	// DeleteDocument returns ErrForbidden for a public one unless owner is PublicOwner.
	DeleteDocument(ctx context.Context, owner, id string) error
	// DocumentText returns ErrNotFound until the document is ready.
	DocumentText(ctx context.Context, owner, id string) (string, error)
	// VisibleDocuments lists every document that owner may see, with what identifies it and what
	// a turn reads of it; at most 5,000, newest first.
	VisibleDocuments(ctx context.Context, owner string) ([]chat.Document, error)
	// DocumentsByID keeps the order of ids and leaves out unknown ones.
	DocumentsByID(ctx context.Context, owner string, ids []string) ([]chat.Document, error)
	Chunk(ctx context.Context, owner, docID, chunkID string) (chat.Chunk, error)
	// ChunksByID keeps the order of ids and leaves out unknown ones.
	ChunksByID(ctx context.Context, owner string, ids []string) ([]chat.Hit, error)
	// DocumentChunks lists a document's first limit chunks in order.
	DocumentChunks(ctx context.Context, owner, docID string, limit int) ([]chat.Hit, error)
	// SearchText ranks chunks of ready documents by full text (any of the words, by the rules
	// of language.Query for the languages of the documents), best first; docIDs nil: all that owner may see. Score > 0.
	SearchText(ctx context.Context, owner string, words []Word, docIDs []string, k int) ([]chat.Hit, error)
	// SearchVector ranks by cosine similarity. Scores are exact. VectorSearch says what is
	// compared: an index may miss a hit, and without one older documents may be left out.
	SearchVector(ctx context.Context, owner string, vector []float32, docIDs []string, k int) ([]chat.Hit, error)
	// VectorSearch says how SearchVector works here, for operators: "hnsw: …" or "exact: …".
	VectorSearch() string
	// PutVectors replaces the vectors of a ready document by those of an embedding model,
	// one for each chunk. ErrNotFound when the number of its chunks is another one.
	PutVectors(ctx context.Context, owner, id, model string, vectors [][]float32) error
	// DocumentsToEmbed lists ready documents of all owners, as (id, owner), that have no
	// vectors of the model, ordered by id, from the first id greater than after.
	DocumentsToEmbed(ctx context.Context, model, after string, limit int) ([]chat.Document, error)
	// EmbeddingProgress counts the ready documents that owner may see, and those of them
	// that have vectors of the model.
	EmbeddingProgress(ctx context.Context, owner, model string) (done, total int, err error)
	// DocumentsToIndex lists ready documents of all owners, as (id, owner), that other rules than
	// language.TermsVersion have indexed, ordered by id, from the first id greater than after.
	DocumentsToIndex(ctx context.Context, after string, limit int) ([]chat.Document, error)
	// IndexDocument indexes the text and the names of a ready document again.
	IndexDocument(ctx context.Context, owner, id string) error
	// IndexProgress counts the ready documents of all owners, and those of them that the
	// rules of language.TermsVersion have indexed.
	IndexProgress(ctx context.Context) (done, total int, err error)
	// WordCounts returns in how many visible chunks each word occurs, in any form, and how
	// many visible chunks there are. With them, a caller can weigh the words of a question.
	WordCounts(ctx context.Context, owner string, words []string) (map[string]int, int, error)

	UpdateSet(ctx context.Context, s chat.DocumentSet) error
	DeleteSet(ctx context.Context, owner, id string) error
	ListSets(ctx context.Context, owner, cursor string, limit int) (Page[chat.DocumentSet], error)
	// SetsByID keeps the order of ids and leaves out unknown ones.
	SetsByID(ctx context.Context, owner string, ids []string) ([]chat.DocumentSet, error)
}
