package rules

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

func (w within) CreateConversation(ctx context.Context, c chat.Conversation) (_ chat.Conversation, err error) {
	ctx, end := w.s.short(ctx, "create conversation")
	defer end(&err)
	var row sqlcgen.ConversationRow
	if c.Space != "" {
		if _, err := w.s.reads(ctx, c.Owner, c.Space); err != nil {
			return chat.Conversation{}, err
		}
	}
	err = w.s.db.Update(ctx, func(q Queries) error {
		if err := w.createListed(ctx, q, c, listed|reused); err != nil {
			return err
		}
		row, err = q.Conversation(ctx, sqlcgen.ConversationParams{ID: c.ID, Owner: c.Owner})
		return err
	})
	return conversation(row), err
}

// creation has flags of ensureConversation.
type creation int

const (
	listed creation = 1 << iota // show it in lists, even if it was created without this flag
	reused                      // allow an id whose conversation the same owner has deleted
)

func (w within) createListed(ctx context.Context, q Queries, c chat.Conversation, how creation) error {
	if err := q.LockThread(ctx, c.ID); err != nil {
		return err
	}
	now, err := q.ConversationState(ctx, c.ID)
	if err != nil {
		return err
	}
	_, err = w.ensureConversation(ctx, q, c, now, how)
	return err
}

// ensureConversation creates c unless its owner has it already, and returns its
// generation. It is not listed while its only turn is not accepted yet. now was read
// under the thread's lock.
func (w within) ensureConversation(ctx context.Context, q Queries, c chat.Conversation, now sqlcgen.ConversationStateRow, how creation) (generation int64, err error) {
	exists, deleted := now.Generation > 0, now.DeletedGeneration > 0
	switch {
	case exists && now.Owner != c.Owner:
		return 0, db.ErrNotFound
	case exists && now.SpaceID != c.Space:
		return 0, db.ErrOtherSpace
	case exists && how&listed == 0:
		return now.Generation, nil
	case exists:
		// Time 0: an old conversation does not move to the top.
		return now.Generation, q.ShowConversation(ctx, sqlcgen.ShowConversationParams{
			ID: c.ID, Owner: c.Owner, Title: c.Title, TitleFolded: record.Fold(c.Title)})
	case deleted && (now.DeletedOwner != c.Owner || now.DeletedOwner == "" || how&reused == 0):
		return 0, db.ErrNotFound
	}
	generation = now.DeletedGeneration + 1
	err = q.InsertConversation(ctx, sqlcgen.InsertConversationParams{
		ID: c.ID, Owner: c.Owner, Title: c.Title, TitleFolded: record.Fold(c.Title), Listed: how&listed != 0,
		CreatedAt: record.Micros(record.OrNow(c.CreatedAt)), Generation: generation, Places: now.DeletedPlaces, Address: w.address(), Kind: string(c.Kind), SpaceID: c.Space})
	if err == nil {
		err = w.checkBounds(ctx, q, c.Owner, aThread)
	}
	return generation, err
}

func (s *Store) Conversation(ctx context.Context, owner, id string) (_ chat.Conversation, err error) {
	ctx, end := s.short(ctx, "read conversation")
	defer end(&err)
	row, err := s.db.Read.Conversation(ctx, sqlcgen.ConversationParams{ID: id, Owner: owner})
	return s.titled(ctx, conversation(row)), err
}

func (s *Store) ListConversations(ctx context.Context, owner, q, cur string, limit int) (_ db.Page[chat.Conversation], err error) {
	ctx, end := s.long(ctx, "list conversations")
	defer end(&err)
	return conversationPage(s.shownIn(ctx), q, cur, limit, func(from record.Cursor, limit int64) ([]listedRow, error) {
		if db.SpaceOf(ctx) != "" {
			return s.inSpace(ctx, owner, q, false, from, limit)
		}
		if q == "" {
			return s.listed(ctx, owner, false, from, limit)
		}
		return s.found(ctx, owner, q, from, limit)
	})
}

func (s *Store) ArchivedConversations(ctx context.Context, owner, cur string, limit int) (_ db.Page[chat.Conversation], err error) {
	ctx, end := s.short(ctx, "list archived conversations")
	defer end(&err)
	return conversationPage(s.shownIn(ctx), "", cur, limit, func(from record.Cursor, limit int64) ([]listedRow, error) {
		if db.SpaceOf(ctx) != "" {
			return s.inSpace(ctx, owner, "", true, from, limit)
		}
		return s.listed(ctx, owner, true, from, limit)
	})
}

// shownIn returns how a list shows its conversations.
func (s *Store) shownIn(ctx context.Context) func(sqlcgen.ConversationRow) chat.Conversation {
	return func(r sqlcgen.ConversationRow) chat.Conversation { return s.titled(ctx, conversation(r)) }
}

func conversationPage(show func(sqlcgen.ConversationRow) chat.Conversation, q, cur string, limit int, read func(from record.Cursor, limit int64) ([]listedRow, error)) (db.Page[chat.Conversation], error) {
	from, err := record.ParseCursor(cur)
	if err != nil {
		return db.Page[chat.Conversation]{}, err
	}
	limit = record.Clamp(limit, 100)
	rows, err := read(from, int64(limit)+1)
	if err != nil {
		return db.Page[chat.Conversation]{}, err
	}
	return record.Page(rows, limit, func(r listedRow) chat.Conversation {
		c := show(r.ConversationRow)
		c.Match = around(r.found, q)
		return c
	}, func(r listedRow) record.Cursor {
		return record.Cursor{First: r.Pinned, At: r.LastMessageAt, ID: r.ID}
	}), nil
}

// listedRow is a conversation in a list.
type listedRow struct {
	sqlcgen.ConversationRow
	found string // a message that has the words of the search
}

// Characters that are shown of a message before and after the words of a search.
const (
	beforeMatch = 30
	afterMatch  = 90
)

// around returns the words of text around q, in one line; "" when q is not in it.
func around(text, q string) string {
	// Folding maps each character to one.
	start := strings.Index(record.Fold(text), record.Fold(q))
	if start < 0 {
		return ""
	}
	start = utf8.RuneCountInString(record.Fold(text)[:start])
	all := []rune(text)
	end := start + utf8.RuneCountInString(q)
	from, to := max(0, start-beforeMatch), min(len(all), end+afterMatch)
	if i := slices.IndexFunc(all[from:start], unicode.IsSpace); from > 0 && i >= 0 { // do not begin inside a word
		from += i
	}
	if to < len(all) {
		for i := to; i > end; i-- {
			if unicode.IsSpace(all[i]) {
				to = i
				break
			}
		}
	}
	out := chat.OneLine(string(all[from:to]))
	if from > 0 {
		out = "…" + out
	}
	if to < len(all) {
		out += "…"
	}
	return out
}

func (s *Store) listed(ctx context.Context, owner string, archived bool, from record.Cursor, limit int64) ([]listedRow, error) {
	rows, err := s.db.Read.ListConversations(ctx, sqlcgen.ListConversationsParams{
		Owner: owner, Archived: archived, BeforePinned: from.First, BeforeAt: from.At, BeforeID: from.ID, Now: record.Micros(time.Now()), MaxRows: limit})
	return rowsTo(rows, err, func(r sqlcgen.ListConversationsRow) listedRow {
		return listedRow{ConversationRow: sqlcgen.ConversationRow(r)}
	})
}

func (s *Store) found(ctx context.Context, owner, q string, from record.Cursor, limit int64) ([]listedRow, error) {
	rows, err := s.db.Read.SearchConversations(ctx, sqlcgen.SearchConversationsParams{
		Owner: owner, BeforePinned: from.First, BeforeAt: from.At, BeforeID: from.ID, Q: record.Fold(q), MaxRows: limit})
	return rowsTo(rows, err, func(r sqlcgen.SearchConversationsRow) listedRow {
		return listedRow{sqlcgen.ConversationRow{ID: r.ID, Owner: r.Owner, Title: r.Title, CreatedAt: r.CreatedAt, LastMessageAt: r.LastMessageAt, Pinned: r.Pinned, Archived: r.Archived, SpaceID: r.SpaceID, Scope: r.Scope, Shared: r.Shared, Activity: r.Activity}, r.Found}
	})
}

// inSpace lists or searches the conversations of owner in the space of ctx, and those that
// others share there.
func (s *Store) inSpace(ctx context.Context, owner, q string, archived bool, from record.Cursor, limit int64) ([]listedRow, error) {
	if _, err := s.Library(ctx, owner); err != nil {
		return nil, err
	}
	rows, err := s.db.Read.ConversationsInSpace(ctx, sqlcgen.ConversationsInSpaceParams{
		Owner: owner, SpaceID: db.SpaceOf(ctx), Archived: archived, BeforePinned: from.First, BeforeAt: from.At, BeforeID: from.ID, Q: record.Fold(q), MaxRows: limit})
	return rowsTo(rows, err, func(r sqlcgen.ConversationsInSpaceRow) listedRow {
		if q == "" {
			r.Found = ""
		}
		return listedRow{sqlcgen.ConversationRow{ID: r.ID, Owner: r.Owner, Title: r.Title, CreatedAt: r.CreatedAt, LastMessageAt: r.LastMessageAt, Pinned: r.Pinned, Archived: r.Archived, SpaceID: r.SpaceID, Scope: r.Scope, Shared: r.Shared, Activity: r.Activity}, r.Found}
	})
}

func (s *Store) ChangeConversation(ctx context.Context, owner, id string, c db.ConversationChange) (_ chat.Conversation, err error) {
	ctx, end := s.short(ctx, "change conversation")
	defer end(&err)
	var row sqlcgen.ConversationRow
	err = s.db.Update(ctx, func(q Queries) error {
		if err := changeConversation(ctx, q, owner, id, c); err != nil {
			return err
		}
		if row, err = q.Conversation(ctx, sqlcgen.ConversationParams{ID: id, Owner: owner}); err == nil && c.Title != nil && row.Shared && row.SpaceID != db.SpaceOf(ctx) {
			err = db.ErrOtherSpace // who has left writes nothing that its readers read
		}
		return err
	})
	return s.titled(ctx, conversation(row)), err
}

func changeConversation(ctx context.Context, q Queries, owner, id string, c db.ConversationChange) error {
	if c.Title != nil {
		if err := record.Found(q.RenameConversation(ctx, sqlcgen.RenameConversationParams{
			Owner: owner, ID: id, Title: *c.Title, TitleFolded: record.Fold(*c.Title)})); err != nil {
			return err
		}
	}
	if c.Shared != nil {
		if err := record.Found(q.ShareConversation(ctx, sqlcgen.ShareConversationParams{Owner: owner, ID: id, Shared: *c.Shared})); err != nil {
			return err
		}
	}
	off := false
	switch { // the last mark that is set wins
	case c.Archived != nil && *c.Archived:
		c.Pinned = &off
	case c.Pinned != nil && *c.Pinned:
		c.Archived = &off
	}
	if c.Pinned != nil {
		if err := record.Found(q.PinConversation(ctx, sqlcgen.PinConversationParams{Owner: owner, ID: id, Pinned: *c.Pinned})); err != nil {
			return err
		}
	}
	if c.Archived == nil {
		return nil
	}
	return record.Found(q.ArchiveConversation(ctx, sqlcgen.ArchiveConversationParams{Owner: owner, ID: id, Archived: *c.Archived}))
}

func (s *Store) RetitleConversation(ctx context.Context, owner, id, earlier, title string) (err error) {
	ctx, end := s.short(ctx, "retitle conversation")
	defer end(&err)
	return retitle(ctx, s.db.Write, owner, id, earlier, title)
}

func retitle(ctx context.Context, q Queries, owner, id, earlier, title string) error {
	_, err := q.RetitleConversation(ctx, sqlcgen.RetitleConversationParams{
		Owner: owner, ID: id, Earlier: earlier, Title: title, TitleFolded: record.Fold(title)})
	return err
}

func (s *Store) DeleteConversation(ctx context.Context, owner, id string) (err error) {
	ctx, end := s.long(ctx, "delete conversation")
	defer end(&err)
	return s.db.Update(ctx, func(q Queries) error { return deleteConversation(ctx, q, owner, id) })
}

func deleteConversation(ctx context.Context, q Queries, owner, id string) error {
	if err := q.LockThread(ctx, id); err != nil {
		return err
	}
	// Cancels refer to turns by name only, so no cascade finds them.
	if err := q.DeleteTurnCancels(ctx, sqlcgen.DeleteTurnCancelsParams{Owner: owner, ThreadID: id}); err != nil {
		return err
	}
	if err := q.DeleteRunCancels(ctx, sqlcgen.DeleteRunCancelsParams{Owner: owner, ThreadID: id}); err != nil {
		return err
	}
	if err := q.DeleteThreadCancels(ctx, sqlcgen.DeleteThreadCancelsParams{Owner: owner, ThreadID: id}); err != nil {
		return err
	}
	now := time.Now()
	if err := q.RecordDeletedConversation(ctx, sqlcgen.RecordDeletedConversationParams{Owner: owner, ID: id, At: record.Micros(now)}); err != nil {
		return err
	}
	if err := q.PruneDeletedTurns(ctx, record.Micros(now.Add(-retryWindow))); err != nil {
		return err
	}
	messages, err := q.MessagesOfThread(ctx, sqlcgen.MessagesOfThreadParams{Owner: owner, ThreadID: id})
	if err != nil {
		return err
	}
	if err := q.DeleteThreadDocuments(ctx, sqlcgen.DeleteThreadDocumentsParams{Owner: owner, ThreadID: id}); err != nil {
		return err
	}
	digests := make([]string, len(messages))
	for i, m := range messages {
		digests[i] = messageDigest(id, m.ClientTurnID, m.ContentHash)
	}
	if err := q.RecordDeletedTurns(ctx, digests, record.Micros(now)); err != nil {
		return err
	}
	return record.Found(q.DeleteConversation(ctx, sqlcgen.DeleteConversationParams{Owner: owner, ID: id}))
}

func (s *Store) Profile(ctx context.Context, owner string) (_ chat.Profile, err error) {
	ctx, end := s.short(ctx, "read profile")
	defer end(&err)
	row, err := s.db.Read.Profile(ctx, owner)
	if errors.Is(err, sql.ErrNoRows) {
		return chat.Profile{}, nil
	}
	return chat.Profile(row), err
}

func (s *Store) PutProfile(ctx context.Context, owner string, p chat.Profile) (err error) {
	ctx, end := s.short(ctx, "write profile")
	defer end(&err)
	return s.db.Write.PutProfile(ctx, sqlcgen.PutProfileParams{Owner: owner, Industry: p.Industry, Location: p.Location, HideSamples: p.HideSamples, Instructions: p.Instructions})
}

func (s *Store) SessionGeneration(ctx context.Context, owner string) (generation int64, err error) {
	ctx, end := s.short(ctx, "read session generation")
	defer end(&err)
	return s.db.Read.SessionGeneration(ctx, sqlcgen.SessionGenerationParams{Owner: owner, Deleted: deletedOwner(owner)})
}

// deletedOwner is the owner of the row that keeps the session generation of a deleted user. No user has
// such an id, because it is not printable.
func deletedOwner(owner string) string { return "\x01" + record.Digest(owner) }

// endSessionsOfDeleted raises the session generation of a user who is being deleted.
func endSessionsOfDeleted(ctx context.Context, q Queries, owner string) error {
	deleted := deletedOwner(owner)
	sessions, err := q.SessionGeneration(ctx, sqlcgen.SessionGenerationParams{Owner: owner, Deleted: deleted})
	if err != nil {
		return err
	}
	return q.RaiseSessions(ctx, sqlcgen.RaiseSessionsParams{Owner: deleted, Sessions: sessions + 1})
}

func (s *Store) EndSessions(ctx context.Context, owner string) (generation int64, err error) {
	ctx, end := s.short(ctx, "end sessions")
	defer end(&err)
	return s.db.Write.EndSessions(ctx, sqlcgen.EndSessionsParams{Owner: owner, Deleted: deletedOwner(owner)})
}

// titled is here, unless owners keep what answers took from spaces.
func (s *Store) titled(ctx context.Context, c chat.Conversation) chat.Conversation {
	if s.keeps(ctx, c.Owner, "") {
		return c
	}
	return here(ctx, c)
}

// here leaves out the title outside of a conversation's space, where it may name a document.
func here(ctx context.Context, c chat.Conversation) chat.Conversation {
	if c.Space != "" && c.Space != db.SpaceOf(ctx) {
		c.Title = ""
	}
	return c
}

func conversation(row sqlcgen.ConversationRow) chat.Conversation {
	return chat.Conversation{
		ID: row.ID, Owner: row.Owner, Title: row.Title,
		CreatedAt: record.Time(row.CreatedAt), LastMessageAt: record.Time(row.LastMessageAt),
		Space: row.SpaceID, Scope: chat.SpacesIn(row.Scope), Shared: row.Shared, Pinned: row.Pinned, Archived: row.Archived,
		Status:   [...]string{"idle", "running", "interrupted", "interrupted"}[row.Activity],
		Approval: row.Activity == 3,
	}
}
