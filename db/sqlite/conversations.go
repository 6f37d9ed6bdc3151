package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/sqlite/sqlcgen"
)

func (s *Store) CreateConversation(ctx context.Context, c chat.Conversation) (_ chat.Conversation, err error) {
	defer s.wrap("create conversation", &err)
	var row sqlcgen.ConversationRow
	err = s.update(ctx, func(q *sqlcgen.Queries) error {
		if _, err := ensureConversation(ctx, q, c, listed|reused); err != nil {
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

// ensureConversation creates c unless its owner has it already, and returns its
// generation. It is not listed while its only turn is not accepted yet.
func ensureConversation(ctx context.Context, q *sqlcgen.Queries, c chat.Conversation, how creation) (generation int64, err error) {
	there, err := q.ConversationOwner(ctx, c.ID)
	switch {
	case err == nil && there.Owner != c.Owner:
		return 0, db.ErrNotFound
	case err == nil && how&listed == 0:
		return there.Generation, nil
	case err == nil:
		// Time 0: an old conversation does not move to the top.
		if err := q.ListConversation(ctx, sqlcgen.ListConversationParams{ID: c.ID, Owner: c.Owner}); err != nil {
			return 0, err
		}
		return there.Generation, q.TitleConversation(ctx, sqlcgen.TitleConversationParams{
			ID: c.ID, Owner: c.Owner, Title: c.Title, TitleFolded: record.Fold(c.Title)})
	case !errors.Is(err, sql.ErrNoRows):
		return 0, err
	}
	before, err := q.DeletedConversation(ctx, c.ID)
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return 0, err
	case before.Owner != c.Owner || before.Owner == "" || how&reused == 0:
		return 0, db.ErrNotFound
	}
	generation = before.Generation + 1
	return generation, q.InsertConversation(ctx, sqlcgen.InsertConversationParams{
		ID: c.ID, Owner: c.Owner, Title: c.Title, TitleFolded: record.Fold(c.Title), Listed: number(how&listed != 0),
		CreatedAt: record.Micros(record.OrNow(c.CreatedAt)), Generation: generation, Places: before.Places})
}

func (s *Store) Conversation(ctx context.Context, owner, id string) (_ chat.Conversation, err error) {
	defer s.wrap("read conversation", &err)
	row, err := s.read.Conversation(ctx, sqlcgen.ConversationParams{ID: id, Owner: owner})
	return conversation(row), err
}

func (s *Store) ListConversations(ctx context.Context, owner, q, cur string, limit int) (_ db.Page[chat.Conversation], err error) {
	defer s.wrap("list conversations", &err)
	from, err := record.ParseCursor(cur)
	if err != nil {
		return db.Page[chat.Conversation]{}, err
	}
	limit = record.Clamp(limit, 100)
	var rows []sqlcgen.ConversationRow
	if q == "" {
		list, err := s.read.ListConversations(ctx, sqlcgen.ListConversationsParams{
			Owner: owner, BeforeAt: from.At, BeforeID: from.ID, MaxRows: int64(limit) + 1})
		if err != nil {
			return db.Page[chat.Conversation]{}, err
		}
		for _, row := range list {
			rows = append(rows, sqlcgen.ConversationRow(row))
		}
	} else {
		list, err := s.read.SearchConversations(ctx, sqlcgen.SearchConversationsParams{
			Owner: owner, BeforeAt: from.At, BeforeID: from.ID, Q: record.Fold(q), MaxRows: int64(limit) + 1})
		if err != nil {
			return db.Page[chat.Conversation]{}, err
		}
		for _, row := range list {
			rows = append(rows, sqlcgen.ConversationRow(row))
		}
	}
	return record.Page(rows, limit, conversation, func(r sqlcgen.ConversationRow) record.Cursor {
		return record.Cursor{At: r.LastMessageAt, ID: r.ID}
	}), nil
}

func (s *Store) RenameConversation(ctx context.Context, owner, id, title string) (_ chat.Conversation, err error) {
	defer s.wrap("rename conversation", &err)
	var row sqlcgen.ConversationRow
	err = s.update(ctx, func(q *sqlcgen.Queries) error {
		if err := record.Found(q.RenameConversation(ctx, sqlcgen.RenameConversationParams{
			Owner: owner, ID: id, Title: title, TitleFolded: record.Fold(title)})); err != nil {
			return err
		}
		row, err = q.Conversation(ctx, sqlcgen.ConversationParams{ID: id, Owner: owner})
		return err
	})
	return conversation(row), err
}

func (s *Store) DeleteConversation(ctx context.Context, owner, id string) (err error) {
	defer s.wrap("delete conversation", &err)
	return s.update(ctx, func(q *sqlcgen.Queries) error { return deleteConversation(ctx, q, owner, id) })
}

func deleteConversation(ctx context.Context, q *sqlcgen.Queries, owner, id string) error {
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
	if err := q.KeepConversationDeleted(ctx, sqlcgen.KeepConversationDeletedParams{Owner: owner, ID: id, At: record.Micros(now)}); err != nil {
		return err
	}
	if err := q.PruneDeletedTurns(ctx, record.Micros(now.Add(-record.RetriesEnd))); err != nil {
		return err
	}
	messages, err := q.MessagesOfThread(ctx, sqlcgen.MessagesOfThreadParams{Owner: owner, ThreadID: id})
	if err != nil {
		return err
	}
	digests := make([]string, len(messages))
	for i, m := range messages {
		digests[i] = record.MessageDigest(id, m.ClientTurnID, m.ContentHash)
	}
	if err := q.KeepTurnsDeleted(ctx, sqlcgen.KeepTurnsDeletedParams{Digests: record.Strings(digests), At: record.Micros(now)}); err != nil {
		return err
	}
	return record.Found(q.DeleteConversation(ctx, sqlcgen.DeleteConversationParams{Owner: owner, ID: id}))
}

func (s *Store) Profile(ctx context.Context, owner string) (_ chat.Profile, err error) {
	defer s.wrap("read profile", &err)
	row, err := s.read.Profile(ctx, owner)
	if errors.Is(err, sql.ErrNoRows) {
		return chat.Profile{}, nil
	}
	return chat.Profile(row), err
}

func (s *Store) PutProfile(ctx context.Context, owner string, p chat.Profile) (err error) {
	defer s.wrap("write profile", &err)
	return s.write.PutProfile(ctx, sqlcgen.PutProfileParams{Owner: owner, Industry: p.Industry, Location: p.Location})
}

func conversation(row sqlcgen.ConversationRow) chat.Conversation {
	return chat.Conversation{
		ID: row.ID, Owner: row.Owner, Title: row.Title,
		CreatedAt: record.Time(row.CreatedAt), LastMessageAt: record.Time(row.LastMessageAt),
		Status: [...]string{"idle", "running", "interrupted"}[row.Activity],
	}
}
