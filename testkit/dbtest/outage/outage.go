// Package outage simulates an unreachable database: it makes SQLite, which has no
// server to stop, fail like a stopped Postgres.
package outage

import (
	"context"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// New returns a store that passes calls to s while down returns false. Otherwise every call
// except Close returns db.ErrUnavailable. A call that is running when the outage begins
// takes effect, but also returns db.ErrUnavailable: its caller cannot know. down is called
// often and from many goroutines.
func New(s db.Store, down func() bool) db.Store { return &store{Store: s, down: down} }

type store struct {
	db.Store // only Close is promoted
	down     func() bool
}

func (o *store) ImportedDocument(ctx context.Context, owner string, source chat.SourceType, externalID string) (chat.Document, error) {
	return one(o, func() (chat.Document, error) { return o.Store.ImportedDocument(ctx, owner, source, externalID) })
}

func (o *store) PutImport(ctx context.Context, d chat.Document, raw []byte) (string, error) {
	return one(o, func() (string, error) { return o.Store.PutImport(ctx, d, raw) })
}

func (o *store) PutConnection(ctx context.Context, c db.Connection, anonymous bool) error {
	return o.none(func() error { return o.Store.PutConnection(ctx, c, anonymous) })
}

func (o *store) Connection(ctx context.Context, owner, provider string) (db.Connection, error) {
	return one(o, func() (db.Connection, error) { return o.Store.Connection(ctx, owner, provider) })
}

func (o *store) Connections(ctx context.Context, owner string) ([]db.Connection, error) {
	return one(o, func() ([]db.Connection, error) { return o.Store.Connections(ctx, owner) })
}

func (o *store) ConnectedOwners(ctx context.Context, after string, limit int) ([]string, error) {
	return one(o, func() ([]string, error) { return o.Store.ConnectedOwners(ctx, after, limit) })
}

func (o *store) RenewConnection(ctx context.Context, c db.Connection, token string, at time.Time) error {
	return o.none(func() error { return o.Store.RenewConnection(ctx, c, token, at) })
}

func (o *store) DeleteConnection(ctx context.Context, owner, provider string) error {
	return o.none(func() error { return o.Store.DeleteConnection(ctx, owner, provider) })
}

func (o *store) CreateKey(ctx context.Context, k db.Key) error {
	return o.none(func() error { return o.Store.CreateKey(ctx, k) })
}

func (o *store) Keys(ctx context.Context, owner string) ([]db.Key, error) {
	return one(o, func() ([]db.Key, error) { return o.Store.Keys(ctx, owner) })
}

func (o *store) KeyByDigest(ctx context.Context, digest string) (db.Key, error) {
	return one(o, func() (db.Key, error) { return o.Store.KeyByDigest(ctx, digest) })
}

func (o *store) UseKey(ctx context.Context, owner, id string, at time.Time) error {
	return o.none(func() error { return o.Store.UseKey(ctx, owner, id, at) })
}

func (o *store) DeleteKey(ctx context.Context, owner, id string) error {
	return o.none(func() error { return o.Store.DeleteKey(ctx, owner, id) })
}

func (o *store) TurnsOfRun(ctx context.Context, owner, runID string) ([]chat.Turn, error) {
	return one(o, func() ([]chat.Turn, error) { return o.Store.TurnsOfRun(ctx, owner, runID) })
}

func (o *store) CreateImport(ctx context.Context, i chat.Import) (chat.Import, error) {
	return one(o, func() (chat.Import, error) { return o.Store.CreateImport(ctx, i) })
}

func (o *store) ImportByID(ctx context.Context, owner, id string) (chat.Import, error) {
	return one(o, func() (chat.Import, error) { return o.Store.ImportByID(ctx, owner, id) })
}

func (o *store) OpenImports(ctx context.Context, owner, key string) ([]chat.Import, error) {
	return one(o, func() ([]chat.Import, error) { return o.Store.OpenImports(ctx, owner, key) })
}

func (o *store) ListImports(ctx context.Context, owner, threadID, turnID string, limit int) ([]chat.Import, error) {
	return one(o, func() ([]chat.Import, error) { return o.Store.ListImports(ctx, owner, threadID, turnID, limit) })
}

func (o *store) AdvanceImports(ctx context.Context, owner, key string, step chat.ImportStep, at time.Time) error {
	return o.none(func() error { return o.Store.AdvanceImports(ctx, owner, key, step, at) })
}

func (o *store) AnnounceImport(ctx context.Context, owner, id string, announce bool) error {
	return o.none(func() error { return o.Store.AnnounceImport(ctx, owner, id, announce) })
}

func (o *store) StoreVersion(ctx context.Context, owner, id, version, title, text string, chunks []chat.Chunk, vectors [][]float32) error {
	return o.none(func() error { return o.Store.StoreVersion(ctx, owner, id, version, title, text, chunks, vectors) })
}

func (o *store) none(call func() error) error {
	_, err := one(o, func() (struct{}, error) { return struct{}{}, call() })
	return err
}

func one[A any](o *store, call func() (A, error)) (a A, err error) {
	if o.down() {
		return a, db.ErrUnavailable
	}
	answer, err := call()
	if o.down() {
		return a, db.ErrUnavailable
	}
	return answer, err
}

func two[A, B any](o *store, call func() (A, B, error)) (A, B, error) {
	type both struct {
		a A
		b B
	}
	r, err := one(o, func() (both, error) {
		a, b, err := call()
		return both{a, b}, err
	})
	return r.a, r.b, err
}

func three[A, B, C any](o *store, call func() (A, B, C, error)) (A, B, C, error) {
	type last struct {
		b B
		c C
	}
	a, r, err := two(o, func() (A, last, error) {
		a, b, c, err := call()
		return a, last{b, c}, err
	})
	return a, r.b, r.c, err
}

func (o *store) Approvals(ctx context.Context, owner, threadID, head string) ([]string, error) {
	return one(o, func() ([]string, error) { return o.Store.Approvals(ctx, owner, threadID, head) })
}

func (o *store) Attachment(ctx context.Context, owner, id string) (chat.Attachment, []byte, error) {
	return two(o, func() (chat.Attachment, []byte, error) { return o.Store.Attachment(ctx, owner, id) })
}

func (o *store) AttachmentsByID(ctx context.Context, owner string, ids []string) ([]chat.Attachment, error) {
	return one(o, func() ([]chat.Attachment, error) { return o.Store.AttachmentsByID(ctx, owner, ids) })
}

func (o *store) BusyThreads(ctx context.Context, owner string, limit int) ([]string, error) {
	return one(o, func() ([]string, error) { return o.Store.BusyThreads(ctx, owner, limit) })
}

func (o *store) Cancel(ctx context.Context, owner string, ref db.CancelRef, reason chat.CancelReason) error {
	return o.none(func() error { return o.Store.Cancel(ctx, owner, ref, reason) })
}

func (o *store) Cancelled(ctx context.Context, owner, turnID string) (bool, error) {
	return one(o, func() (bool, error) { return o.Store.Cancelled(ctx, owner, turnID) })
}

func (o *store) Chunk(ctx context.Context, owner, docID, chunkID string) (chat.Chunk, error) {
	return one(o, func() (chat.Chunk, error) { return o.Store.Chunk(ctx, owner, docID, chunkID) })
}

func (o *store) ChunksByID(ctx context.Context, owner string, ids []string) ([]chat.Hit, error) {
	return one(o, func() ([]chat.Hit, error) { return o.Store.ChunksByID(ctx, owner, ids) })
}

func (o *store) Conversation(ctx context.Context, owner, id string) (chat.Conversation, error) {
	return one(o, func() (chat.Conversation, error) { return o.Store.Conversation(ctx, owner, id) })
}

func (o *store) Count(ctx context.Context, key string, n int64, window time.Duration, now time.Time) (db.Window, error) {
	return one(o, func() (db.Window, error) { return o.Store.Count(ctx, key, n, window, now) })
}

func (o *store) CountOpenTurns(ctx context.Context, owner, threadID string) (int, int, error) {
	return two(o, func() (int, int, error) { return o.Store.CountOpenTurns(ctx, owner, threadID) })
}

func (o *store) Counted(ctx context.Context, key string, window time.Duration, now time.Time) (db.Window, error) {
	return one(o, func() (db.Window, error) { return o.Store.Counted(ctx, key, window, now) })
}

func (o *store) CreateConversation(ctx context.Context, c chat.Conversation) (chat.Conversation, error) {
	return one(o, func() (chat.Conversation, error) { return o.Store.CreateConversation(ctx, c) })
}

func (o *store) CreateDocument(ctx context.Context, d chat.Document, raw []byte) error {
	return o.none(func() error { return o.Store.CreateDocument(ctx, d, raw) })
}

func (o *store) CreateSet(ctx context.Context, s chat.DocumentSet) error {
	return o.none(func() error { return o.Store.CreateSet(ctx, s) })
}

func (o *store) DeleteConversation(ctx context.Context, owner, id string) error {
	return o.none(func() error { return o.Store.DeleteConversation(ctx, owner, id) })
}

func (o *store) DeleteDocument(ctx context.Context, owner, id string) error {
	return o.none(func() error { return o.Store.DeleteDocument(ctx, owner, id) })
}

func (o *store) RenameDocument(ctx context.Context, owner, id, title string) error {
	return o.none(func() error { return o.Store.RenameDocument(ctx, owner, id, title) })
}

func (o *store) DeleteSet(ctx context.Context, owner, id string) error {
	return o.none(func() error { return o.Store.DeleteSet(ctx, owner, id) })
}

func (o *store) DeleteUser(ctx context.Context, owner string) (db.UserData, error) {
	return one(o, func() (db.UserData, error) { return o.Store.DeleteUser(ctx, owner) })
}

func (o *store) Document(ctx context.Context, owner, id string) (chat.Document, error) {
	return one(o, func() (chat.Document, error) { return o.Store.Document(ctx, owner, id) })
}

func (o *store) DocumentChunks(ctx context.Context, owner, docID string, limit int) ([]chat.Hit, error) {
	return one(o, func() ([]chat.Hit, error) { return o.Store.DocumentChunks(ctx, owner, docID, limit) })
}

func (o *store) DocumentProgress(ctx context.Context, owner, id string, percent int) error {
	return o.none(func() error { return o.Store.DocumentProgress(ctx, owner, id, percent) })
}

func (o *store) DocumentText(ctx context.Context, owner, id string) (string, error) {
	return one(o, func() (string, error) { return o.Store.DocumentText(ctx, owner, id) })
}

func (o *store) DocumentsByID(ctx context.Context, owner string, ids []string) ([]chat.Document, error) {
	return one(o, func() ([]chat.Document, error) { return o.Store.DocumentsByID(ctx, owner, ids) })
}

func (o *store) Draft(ctx context.Context, owner, turnID string, piece int) (db.Draft, error) {
	return one(o, func() (db.Draft, error) { return o.Store.Draft(ctx, owner, turnID, piece) })
}

func (o *store) DropTurn(ctx context.Context, owner, id string, before time.Time) error {
	return o.none(func() error { return o.Store.DropTurn(ctx, owner, id, before) })
}

func (o *store) Events(ctx context.Context, owner, turnID string, after int) ([]chat.Event, error) {
	return one(o, func() ([]chat.Event, error) { return o.Store.Events(ctx, owner, turnID, after) })
}

func (o *store) FailVersion(ctx context.Context, owner, id, version, reason string) error {
	return o.none(func() error { return o.Store.FailVersion(ctx, owner, id, version, reason) })
}

func (o *store) FailDocument(ctx context.Context, owner, id, reason string) error {
	return o.none(func() error { return o.Store.FailDocument(ctx, owner, id, reason) })
}

func (o *store) FindTurn(ctx context.Context, owner string, ref db.CancelRef) (chat.Turn, error) {
	return one(o, func() (chat.Turn, error) { return o.Store.FindTurn(ctx, owner, ref) })
}

func (o *store) ForgetCount(ctx context.Context, key string) error {
	return o.none(func() error { return o.Store.ForgetCount(ctx, key) })
}

func (o *store) AbandonTurn(ctx context.Context, owner, id string) error {
	return o.none(func() error { return o.Store.AbandonTurn(ctx, owner, id) })
}

func (o *store) HasOpenTurns(ctx context.Context, owner, threadID string) (bool, error) {
	return one(o, func() (bool, error) { return o.Store.HasOpenTurns(ctx, owner, threadID) })
}

func (o *store) Head(ctx context.Context, owner, threadID string) (string, error) {
	return one(o, func() (string, error) { return o.Store.Head(ctx, owner, threadID) })
}

func (o *store) HeadContent(ctx context.Context, owner, threadID string) (chat.Content, bool, error) {
	return two(o, func() (chat.Content, bool, error) { return o.Store.HeadContent(ctx, owner, threadID) })
}

func (o *store) History(ctx context.Context, owner, threadID, head, before string, limit int) (db.History, error) {
	return one(o, func() (db.History, error) { return o.Store.History(ctx, owner, threadID, head, before, limit) })
}

func (o *store) InsertTurn(ctx context.Context, t chat.Turn) (chat.Turn, bool, bool, error) {
	return three(o, func() (chat.Turn, bool, bool, error) { return o.Store.InsertTurn(ctx, t) })
}

func (o *store) ListConversations(ctx context.Context, owner, q, cursor string, limit int) (db.Page[chat.Conversation], error) {
	return one(o, func() (db.Page[chat.Conversation], error) {
		return o.Store.ListConversations(ctx, owner, q, cursor, limit)
	})
}

func (o *store) ListDocuments(ctx context.Context, owner, cursor string, limit int) (db.Page[chat.Document], error) {
	return one(o, func() (db.Page[chat.Document], error) { return o.Store.ListDocuments(ctx, owner, cursor, limit) })
}

func (o *store) ListSets(ctx context.Context, owner, cursor string, limit int) (db.Page[chat.DocumentSet], error) {
	return one(o, func() (db.Page[chat.DocumentSet], error) { return o.Store.ListSets(ctx, owner, cursor, limit) })
}

func (o *store) Logs(ctx context.Context, owner string, ids []string) ([]db.TurnLog, error) {
	return one(o, func() ([]db.TurnLog, error) { return o.Store.Logs(ctx, owner, ids) })
}

func (o *store) MarkTurn(ctx context.Context, owner, id string, s chat.TurnStatus, parent string) error {
	return o.none(func() error { return o.Store.MarkTurn(ctx, owner, id, s, parent) })
}

func (o *store) OpenTurnCounts(ctx context.Context) ([]db.OpenTurnCount, error) {
	return one(o, func() ([]db.OpenTurnCount, error) { return o.Store.OpenTurnCounts(ctx) })
}

func (o *store) OpenThreads(ctx context.Context, before time.Time, after chat.ThreadRef, limit int) ([]chat.ThreadRef, error) {
	return one(o, func() ([]chat.ThreadRef, error) { return o.Store.OpenThreads(ctx, before, after, limit) })
}

func (o *store) OpenTurns(ctx context.Context, owner, threadID string) ([]chat.Turn, error) {
	return one(o, func() ([]chat.Turn, error) { return o.Store.OpenTurns(ctx, owner, threadID) })
}

func (o *store) UnfinishedFiles(ctx context.Context, owner string) (int, error) {
	return one(o, func() (int, error) { return o.Store.UnfinishedFiles(ctx, owner) })
}

func (o *store) ClaimThread(ctx context.Context, from, to, threadID string) error {
	return o.none(func() error { return o.Store.ClaimThread(ctx, from, to, threadID) })
}

func (o *store) ClaimRest(ctx context.Context, from, to string) (documents int, done bool, err error) {
	type result struct {
		documents int
		done      bool
	}
	r, err := one(o, func() (r result, err error) {
		r.documents, r.done, err = o.Store.ClaimRest(ctx, from, to)
		return r, err
	})
	return r.documents, r.done, err
}

func (o *store) EndSessions(ctx context.Context, owner string) (int64, error) {
	return one(o, func() (int64, error) { return o.Store.EndSessions(ctx, owner) })
}

func (o *store) SessionGeneration(ctx context.Context, owner string) (int64, error) {
	return one(o, func() (int64, error) { return o.Store.SessionGeneration(ctx, owner) })
}

func (o *store) Ping(ctx context.Context) error {
	return o.none(func() error { return o.Store.Ping(ctx) })
}

func (o *store) ProcessingDocuments(ctx context.Context, before time.Time, after string, limit int) ([]db.DocumentRef, error) {
	return one(o, func() ([]db.DocumentRef, error) { return o.Store.ProcessingDocuments(ctx, before, after, limit) })
}

func (o *store) Profile(ctx context.Context, owner string) (chat.Profile, error) {
	return one(o, func() (chat.Profile, error) { return o.Store.Profile(ctx, owner) })
}

func (o *store) PutAttachment(ctx context.Context, a chat.Attachment, data []byte) error {
	return o.none(func() error { return o.Store.PutAttachment(ctx, a, data) })
}

func (o *store) PutProfile(ctx context.Context, owner string, p chat.Profile) error {
	return o.none(func() error { return o.Store.PutProfile(ctx, owner, p) })
}

func (o *store) PutRepo(ctx context.Context, owner, threadID string, gzipped []byte, sha256 string, match *int) (db.Repo, error) {
	return one(o, func() (db.Repo, error) { return o.Store.PutRepo(ctx, owner, threadID, gzipped, sha256, match) })
}

func (o *store) PutText(ctx context.Context, owner, turnID, key, text string) error {
	return o.none(func() error { return o.Store.PutText(ctx, owner, turnID, key, text) })
}

func (o *store) KeepText(ctx context.Context, owner, turnID, key, text string) (string, error) {
	return one(o, func() (string, error) { return o.Store.KeepText(ctx, owner, turnID, key, text) })
}

func (o *store) PutTexts(ctx context.Context, owner, turnID string, texts []db.Text) error {
	return o.none(func() error { return o.Store.PutTexts(ctx, owner, turnID, texts) })
}

func (o *store) Original(ctx context.Context, owner, id string) ([]byte, error) {
	return one(o, func() ([]byte, error) { return o.Store.Original(ctx, owner, id) })
}

func (o *store) RawDocument(ctx context.Context, owner, id string) (chat.Document, []byte, error) {
	return two(o, func() (chat.Document, []byte, error) { return o.Store.RawDocument(ctx, owner, id) })
}

func (o *store) Recent(ctx context.Context, owner, threadID, head string, n int) ([]chat.Message, error) {
	return one(o, func() ([]chat.Message, error) { return o.Store.Recent(ctx, owner, threadID, head, n) })
}

func (o *store) Registry(ctx context.Context, owner, threadID, head string) ([]chat.DocRef, error) {
	return one(o, func() ([]chat.DocRef, error) { return o.Store.Registry(ctx, owner, threadID, head) })
}

func (o *store) ChangeConversation(ctx context.Context, owner, id string, c db.ConversationChange) (chat.Conversation, error) {
	return one(o, func() (chat.Conversation, error) { return o.Store.ChangeConversation(ctx, owner, id, c) })
}

func (o *store) RetitleConversation(ctx context.Context, owner, id, earlier, title string) error {
	return o.none(func() error { return o.Store.RetitleConversation(ctx, owner, id, earlier, title) })
}

func (o *store) ArchivedConversations(ctx context.Context, owner, cursor string, limit int) (db.Page[chat.Conversation], error) {
	return one(o, func() (db.Page[chat.Conversation], error) {
		return o.Store.ArchivedConversations(ctx, owner, cursor, limit)
	})
}

func (o *store) CreateShare(ctx context.Context, s db.Share) error {
	return o.none(func() error { return o.Store.CreateShare(ctx, s) })
}

func (o *store) Shares(ctx context.Context, owner string) ([]db.Share, error) {
	return one(o, func() ([]db.Share, error) { return o.Store.Shares(ctx, owner) })
}

func (o *store) ShareByDigest(ctx context.Context, digest string) (db.Share, error) {
	return one(o, func() (db.Share, error) { return o.Store.ShareByDigest(ctx, digest) })
}

func (o *store) DeleteShare(ctx context.Context, owner, threadID, id string) error {
	return o.none(func() error { return o.Store.DeleteShare(ctx, owner, threadID, id) })
}

func (o *store) PutFeedback(ctx context.Context, f db.Feedback) error {
	return o.none(func() error { return o.Store.PutFeedback(ctx, f) })
}

func (o *store) DeleteFeedback(ctx context.Context, owner, threadID, turnID string) error {
	return o.none(func() error { return o.Store.DeleteFeedback(ctx, owner, threadID, turnID) })
}

func (o *store) Feedback(ctx context.Context, owner, threadID string) ([]db.Feedback, error) {
	return one(o, func() ([]db.Feedback, error) { return o.Store.Feedback(ctx, owner, threadID) })
}

func (o *store) FeedbackAfter(ctx context.Context, after time.Time, turnID string, limit int) ([]db.Feedback, error) {
	return one(o, func() ([]db.Feedback, error) { return o.Store.FeedbackAfter(ctx, after, turnID, limit) })
}

func (o *store) Repo(ctx context.Context, owner, threadID string) (db.Repo, error) {
	return one(o, func() (db.Repo, error) { return o.Store.Repo(ctx, owner, threadID) })
}

func (o *store) PutSummary(ctx context.Context, owner string, s db.Summary) error {
	return o.none(func() error { return o.Store.PutSummary(ctx, owner, s) })
}

func (o *store) Summary(ctx context.Context, owner, threadID, head string) (db.Summary, error) {
	return one(o, func() (db.Summary, error) { return o.Store.Summary(ctx, owner, threadID, head) })
}

func (o *store) Summaries(ctx context.Context, owner, threadID string) ([]db.Summary, error) {
	return one(o, func() ([]db.Summary, error) { return o.Store.Summaries(ctx, owner, threadID) })
}

func (o *store) SaveDraft(ctx context.Context, owner string, d db.Draft) error {
	return o.none(func() error { return o.Store.SaveDraft(ctx, owner, d) })
}

func (o *store) SaveTurn(ctx context.Context, t chat.Turn) (chat.Turn, error) {
	return one(o, func() (chat.Turn, error) { return o.Store.SaveTurn(ctx, t) })
}

func (o *store) SearchText(ctx context.Context, owner string, words []db.Word, docIDs []string, k int) ([]chat.Hit, error) {
	return one(o, func() ([]chat.Hit, error) { return o.Store.SearchText(ctx, owner, words, docIDs, k) })
}

func (o *store) SearchVector(ctx context.Context, owner string, vector []float32, docIDs []string, k int) ([]chat.Hit, error) {
	return one(o, func() ([]chat.Hit, error) { return o.Store.SearchVector(ctx, owner, vector, docIDs, k) })
}

func (o *store) SetsByID(ctx context.Context, owner string, ids []string) ([]chat.DocumentSet, error) {
	return one(o, func() ([]chat.DocumentSet, error) { return o.Store.SetsByID(ctx, owner, ids) })
}

func (o *store) Settle(ctx context.Context, s db.Settlement) (db.Settled, error) {
	return one(o, func() (db.Settled, error) { return o.Store.Settle(ctx, s) })
}

func (o *store) TurnContext(ctx context.Context, owner, id string) (db.TurnContext, error) {
	return one(o, func() (db.TurnContext, error) { return o.Store.TurnContext(ctx, owner, id) })
}

func (o *store) StoreText(ctx context.Context, owner, id, text string, chunks []chat.Chunk, vectors [][]float32) error {
	return o.none(func() error { return o.Store.StoreText(ctx, owner, id, text, chunks, vectors) })
}

func (o *store) PutVectors(ctx context.Context, owner, id, model string, vectors [][]float32) error {
	return o.none(func() error { return o.Store.PutVectors(ctx, owner, id, model, vectors) })
}

func (o *store) DocumentsToEmbed(ctx context.Context, model, after string, limit int) ([]chat.Document, error) {
	return one(o, func() ([]chat.Document, error) { return o.Store.DocumentsToEmbed(ctx, model, after, limit) })
}

func (o *store) EmbeddingProgress(ctx context.Context, owner, model string) (done, total int, err error) {
	return two(o, func() (int, int, error) { return o.Store.EmbeddingProgress(ctx, owner, model) })
}

func (o *store) UnmarkTurn(ctx context.Context, owner, id string, s chat.TurnStatus) error {
	return o.none(func() error { return o.Store.UnmarkTurn(ctx, owner, id, s) })
}

func (o *store) Texts(ctx context.Context, owner, turnID string) (map[string]string, error) {
	return one(o, func() (map[string]string, error) { return o.Store.Texts(ctx, owner, turnID) })
}

func (o *store) Turn(ctx context.Context, owner, id string) (chat.Turn, error) {
	return one(o, func() (chat.Turn, error) { return o.Store.Turn(ctx, owner, id) })
}

func (o *store) TurnsAfter(ctx context.Context, owner, threadID string, place, limit int) ([]chat.Turn, error) {
	return one(o, func() ([]chat.Turn, error) { return o.Store.TurnsAfter(ctx, owner, threadID, place, limit) })
}

func (o *store) LastPlace(ctx context.Context, owner, threadID string) (int, error) {
	return one(o, func() (int, error) { return o.Store.LastPlace(ctx, owner, threadID) })
}

func (o *store) TurnOfMessage(ctx context.Context, owner, threadID, messageID string) (chat.Turn, error) {
	return one(o, func() (chat.Turn, error) { return o.Store.TurnOfMessage(ctx, owner, threadID, messageID) })
}

func (o *store) UnusedAttachments(ctx context.Context, owner string) (int, int64, error) {
	return two(o, func() (int, int64, error) { return o.Store.UnusedAttachments(ctx, owner) })
}

func (o *store) UnacceptedTurns(ctx context.Context, before time.Time, after string, limit int) ([]db.TurnRef, error) {
	return one(o, func() ([]db.TurnRef, error) { return o.Store.UnacceptedTurns(ctx, before, after, limit) })
}

func (o *store) UpdateSet(ctx context.Context, s chat.DocumentSet) error {
	return o.none(func() error { return o.Store.UpdateSet(ctx, s) })
}

func (o *store) UseAttachments(ctx context.Context, owner, threadID string, ids []string) error {
	return o.none(func() error { return o.Store.UseAttachments(ctx, owner, threadID, ids) })
}

func (o *store) UserData(ctx context.Context, owner string) (db.UserData, error) {
	return one(o, func() (db.UserData, error) { return o.Store.UserData(ctx, owner) })
}

func (o *store) VisibleDocuments(ctx context.Context, owner string) ([]chat.Document, error) {
	return one(o, func() ([]chat.Document, error) { return o.Store.VisibleDocuments(ctx, owner) })
}

func (o *store) WordCounts(ctx context.Context, owner string, words []string) (map[string]int, int, error) {
	return two(o, func() (map[string]int, int, error) { return o.Store.WordCounts(ctx, owner, words) })
}

func (o *store) Stored(ctx context.Context, owner, address string) (db.Stored, error) {
	return one(o, func() (db.Stored, error) { return o.Store.Stored(ctx, owner, address) })
}

func (o *store) Spent(ctx context.Context, owner, address string, on time.Time) (db.Spending, error) {
	return one(o, func() (db.Spending, error) { return o.Store.Spent(ctx, owner, address, on) })
}

func (o *store) SpendOnDocument(ctx context.Context, owner, id string, s db.Spending, at time.Time) error {
	return o.none(func() error { return o.Store.SpendOnDocument(ctx, owner, id, s, at) })
}

func (o *store) PruneSpending(ctx context.Context, before time.Time) error {
	return o.none(func() error { return o.Store.PruneSpending(ctx, before) })
}

func (o *store) Seen(ctx context.Context, owner string, account bool, at time.Time) error {
	return o.none(func() error { return o.Store.Seen(ctx, owner, account, at) })
}

func (o *store) UnusedOwners(ctx context.Context, before time.Time, after string, limit int) ([]string, error) {
	return one(o, func() ([]string, error) { return o.Store.UnusedOwners(ctx, before, after, limit) })
}

func (o *store) AttachmentIDs(ctx context.Context, owner string) ([]string, error) {
	return one(o, func() ([]string, error) { return o.Store.AttachmentIDs(ctx, owner) })
}

func (o *store) Spend(ctx context.Context, owner, address string, s db.Spending, at time.Time) error {
	return o.none(func() error { return o.Store.Spend(ctx, owner, address, s, at) })
}

func (o *store) OldThreads(ctx context.Context, before time.Time, after string, limit int) ([]chat.ThreadRef, error) {
	return one(o, func() ([]chat.ThreadRef, error) { return o.Store.OldThreads(ctx, before, after, limit) })
}

func (o *store) LeftImports(ctx context.Context, before time.Time) (int64, error) {
	return one(o, func() (int64, error) { return o.Store.LeftImports(ctx, before) })
}

func (o *store) PruneImports(ctx context.Context, before time.Time) (int64, error) {
	return one(o, func() (int64, error) { return o.Store.PruneImports(ctx, before) })
}

func (o *store) OldAudit(ctx context.Context, before time.Time) (int64, error) {
	return one(o, func() (int64, error) { return o.Store.OldAudit(ctx, before) })
}

func (o *store) UsageByOwner(ctx context.Context, limit int) ([]db.OwnerUsage, error) {
	return one(o, func() ([]db.OwnerUsage, error) { return o.Store.UsageByOwner(ctx, limit) })
}

func (o *store) UsageByTable(ctx context.Context) ([]db.TableUsage, error) {
	return one(o, func() ([]db.TableUsage, error) { return o.Store.UsageByTable(ctx) })
}

func (o *store) IndexVectors(ctx context.Context) error {
	return o.none(func() error { return o.Store.IndexVectors(ctx) })
}

func (o *store) Compact(ctx context.Context) (int64, error) {
	return one(o, func() (int64, error) { return o.Store.Compact(ctx) })
}

func (o *store) PruneAudit(ctx context.Context, before time.Time) (int64, error) {
	return one(o, func() (int64, error) { return o.Store.PruneAudit(ctx, before) })
}

func (o *store) AppendAudit(ctx context.Context, entries []db.AuditEntry) error {
	return o.none(func() error { return o.Store.AppendAudit(ctx, entries) })
}

func (o *store) AuditEntries(ctx context.Context, filter db.AuditFilter, after int64, limit int) ([]db.AuditEntry, error) {
	return one(o, func() ([]db.AuditEntry, error) { return o.Store.AuditEntries(ctx, filter, after, limit) })
}

func (o *store) CreateBoard(ctx context.Context, b db.Board) error {
	return o.none(func() error { return o.Store.CreateBoard(ctx, b) })
}

func (o *store) PutBoard(ctx context.Context, b db.Board) (int, error) {
	return one(o, func() (int, error) { return o.Store.PutBoard(ctx, b) })
}

func (o *store) Board(ctx context.Context, owner, id string) (db.Board, error) {
	return one(o, func() (db.Board, error) { return o.Store.Board(ctx, owner, id) })
}

func (o *store) HasBoard(ctx context.Context, owner, id string) error {
	return o.none(func() error { return o.Store.HasBoard(ctx, owner, id) })
}

func (o *store) LeftThreads(ctx context.Context, now time.Time, after string, limit int) ([]chat.ThreadRef, error) {
	return one(o, func() ([]chat.ThreadRef, error) { return o.Store.LeftThreads(ctx, now, after, limit) })
}

func (o *store) ListBoards(ctx context.Context, owner, cursor string, limit int) (db.Page[db.Board], error) {
	return one(o, func() (db.Page[db.Board], error) { return o.Store.ListBoards(ctx, owner, cursor, limit) })
}

func (o *store) DeleteBoard(ctx context.Context, owner, id string) error {
	return o.none(func() error { return o.Store.DeleteBoard(ctx, owner, id) })
}

func (o *store) RestoreBoard(ctx context.Context, owner, id string) error {
	return o.none(func() error { return o.Store.RestoreBoard(ctx, owner, id) })
}
