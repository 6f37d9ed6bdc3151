package rules

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

func (s *Store) History(ctx context.Context, owner, threadID, head, before string, limit int) (h db.History, err error) {
	ctx, end := s.short(ctx, "read history")
	defer end(&err)
	limit = record.Clamp(limit, record.MaxHistory)
	err = s.db.View(ctx, func(q Queries) error {
		h = db.History{Branches: map[string][]string{}}
		b, err := findBranch(ctx, q, owner, threadID, head)
		if err != nil {
			return err
		}
		h.Head = b.end()
		if h.Messages, err = b.messages(ctx, q, before, limit); err != nil {
			return err
		}
		tree, err := q.Tree(ctx, sqlcgen.TreeParams{Owner: owner, ThreadID: threadID})
		for _, t := range tree {
			h.Branches[t.Parent] = append(h.Branches[t.Parent], t.ID)
		}
		return err
	})
	if err != nil {
		return db.History{}, err
	}
	return h, nil
}

func (s *Store) TurnOfMessage(ctx context.Context, owner, threadID, messageID string) (_ chat.Turn, err error) {
	ctx, end := s.short(ctx, "find the turn of a message")
	defer end(&err)
	id, n, ok := record.ParseMessageID(messageID)
	if !ok {
		return chat.Turn{}, db.ErrNotFound
	}
	row, err := s.db.Read.TurnOfMessage(ctx, sqlcgen.TurnOfMessageParams{Owner: owner, ThreadID: threadID, ID: id, N: n})
	if err != nil {
		return chat.Turn{}, err
	}
	return turn(row)
}

func (s *Store) Head(ctx context.Context, owner, threadID string) (head string, err error) {
	ctx, end := s.short(ctx, "read head")
	defer end(&err)
	head, err = s.db.Read.HeadOfConversation(ctx, sqlcgen.HeadOfConversationParams{Owner: owner, ThreadID: threadID})
	if err == nil && head == "" {
		head = chat.RootCheckpoint
	}
	return head, err
}

func (s *Store) Recent(ctx context.Context, owner, threadID, head string, n int) (messages []chat.Message, err error) {
	ctx, end := s.short(ctx, "read recent messages")
	defer end(&err)
	if head = chat.TurnOf(head); head != "" && head != chat.RootCheckpoint && n > 0 { // usually one statement is enough
		messages, err = branch{owner: owner, threadID: threadID, unchecked: true}.placed(ctx, s.db.Read, head, math.MaxInt64, min(n, record.MaxHistory), false)
		if err != nil || len(messages) > 0 {
			return messages, err
		}
	}
	if head == chat.RootCheckpoint {
		return nil, s.known(ctx, owner, threadID)
	}
	err = s.db.View(ctx, func(q Queries) error {
		b, err := findBranch(ctx, q, owner, threadID, head)
		if err != nil || n < 1 {
			return err
		}
		messages, err = b.placed(ctx, q, b.head, math.MaxInt64, min(n, record.MaxHistory), false)
		return err
	})
	return messages, err
}

func (s *Store) Registry(ctx context.Context, owner, threadID, head string) (docs []chat.DocRef, err error) {
	ctx, end := s.short(ctx, "read registry")
	defer end(&err)
	if at := chat.TurnOf(head); at != "" && at != chat.RootCheckpoint { // usually one statement is enough
		rows, err := s.db.Read.KnownDocuments(ctx, sqlcgen.KnownDocumentsParams{Owner: owner, ThreadID: threadID, Head: at})
		for _, row := range rows {
			if row.ID != "" {
				docs = append(docs, chat.DocRef{ID: row.ID, Title: row.Title})
			}
		}
		if err != nil || len(rows) > 0 {
			return docs, err
		}
	}
	t, err := s.snapshot(ctx, owner, threadID, head)
	if err != nil || t.ID == "" {
		return nil, err
	}
	var known []string
	if err := json.Unmarshal([]byte(t.Registry), &known); err != nil {
		return nil, fmt.Errorf("registry of turn %s: %w", t.ID, err)
	}
	if len(known) == 0 {
		return nil, nil
	}
	rows, err := s.db.Read.RegistryDocuments(ctx, owner, known)
	return inOrder(known, rows, func(r sqlcgen.RegistryDocumentsRow) string { return r.ID },
		func(r sqlcgen.RegistryDocumentsRow) chat.DocRef { return chat.DocRef(r) }), err
}

func (s *Store) Approvals(ctx context.Context, owner, threadID, head string) (tools []string, err error) {
	ctx, end := s.short(ctx, "read approvals")
	defer end(&err)
	t, err := s.snapshot(ctx, owner, threadID, head)
	if err != nil || t.ID == "" {
		return nil, err
	}
	return approvals(t.ID, t.Approvals)
}

func approvals(turnID, stored string) (tools []string, err error) {
	if err := json.Unmarshal([]byte(stored), &tools); err != nil {
		return nil, fmt.Errorf("approvals of turn %s: %w", turnID, err)
	}
	return tools, nil
}

// snapshot reads the registry and approvals at the end of a branch. A settled turn
// never changes, so the caller's next reads need no transaction.
func (s *Store) snapshot(ctx context.Context, owner, threadID, head string) (t sqlcgen.SnapshotRow, err error) {
	switch head = chat.TurnOf(head); head {
	case chat.RootCheckpoint:
		return t, s.known(ctx, owner, threadID)
	case "":
	default: // usually one statement is enough
		t, err = s.db.Read.Snapshot(ctx, sqlcgen.SnapshotParams{Owner: owner, ThreadID: threadID, Head: head})
		if !errors.Is(err, sql.ErrNoRows) {
			return t, err
		}
	}
	err = s.db.View(ctx, func(q Queries) error {
		found, err := snapshot(ctx, q, owner, threadID, head)
		t = sqlcgen.SnapshotRow{ID: found.ID, Registry: found.Registry, Approvals: found.Approvals}
		return err
	})
	return t, err
}

// snapshot is the newest settled turn of the branch that ends at head; an open
// turn has added nothing yet. It is the zero Turn when there is none.
func snapshot(ctx context.Context, q Queries, owner, threadID, head string) (sqlcgen.Turn, error) {
	b, err := findBranch(ctx, q, owner, threadID, head)
	if err != nil {
		return sqlcgen.Turn{}, err
	}
	for b.head != chat.RootCheckpoint {
		t, err := q.Turn(ctx, sqlcgen.TurnParams{Owner: owner, ID: b.head})
		if err != nil || t.SettledAt != 0 {
			return t, err
		}
		b.head = t.Parent
	}
	return sqlcgen.Turn{}, nil
}

// branch is the path from a thread's first turn to head, and the turns that wait
// after it.
type branch struct {
	owner, threadID string
	head            string         // a placed turn or RootCheckpoint
	waiting         []chat.Message // of accepted turns that have no parent yet, oldest first
	unchecked       bool           // head was not checked to be in the thread's tree
}

// findBranch resolves a checkpoint; "" is the thread's head with all waiting turns.
func findBranch(ctx context.Context, q Queries, owner, threadID, checkpoint string) (branch, error) {
	b := branch{owner: owner, threadID: threadID, head: chat.TurnOf(checkpoint)}
	if _, err := q.Conversation(ctx, sqlcgen.ConversationParams{Owner: owner, ID: threadID}); err != nil {
		return branch{}, err
	}
	if b.head == chat.RootCheckpoint {
		return b, nil
	}
	wanted := b.head
	if wanted != "" {
		t, err := q.Turn(ctx, sqlcgen.TurnParams{Owner: owner, ID: wanted})
		if err != nil {
			return branch{}, err
		}
		if t.ThreadID != threadID || t.Status == string(chat.TurnNew) || t.Hidden {
			return branch{}, db.ErrNotFound
		}
		if t.Place > 0 {
			return b, nil
		}
	}
	var err error
	if b.head, err = threadHead(ctx, q, owner, threadID); err != nil {
		return branch{}, err
	}
	rows, err := q.WaitingMessages(ctx, sqlcgen.WaitingMessagesParams{Owner: owner, ThreadID: threadID})
	if err != nil {
		return branch{}, err
	}
	parent := b.head
	for _, row := range rows {
		m, err := message(sqlcgen.BranchMessagesRow{
			TurnID: row.TurnID, N: row.N, Role: row.Role, CreatedAt: row.CreatedAt,
			Content: row.Content, Metadata: row.Metadata, Parent: parent})
		if err != nil {
			return branch{}, err
		}
		b.waiting = append(b.waiting, m)
		parent = row.TurnID
		if row.TurnID == wanted {
			break
		}
	}
	return b, nil
}

// threadHead is the newest turn of the thread's tree. Turns that wait for their
// parent are not in the tree: they will follow the head.
func threadHead(ctx context.Context, q Queries, owner, threadID string) (string, error) {
	head, err := q.Head(ctx, sqlcgen.HeadParams{Owner: owner, ThreadID: threadID})
	if errors.Is(err, sql.ErrNoRows) {
		return chat.RootCheckpoint, nil
	}
	return head, err
}

func (b branch) end() string {
	if len(b.waiting) > 0 {
		return b.waiting[len(b.waiting)-1].TurnID
	}
	return b.head
}

// messages returns the newest limit messages of the branch before a message id.
func (b branch) messages(ctx context.Context, q Queries, before string, limit int) ([]chat.Message, error) {
	head, beforeN, waiting := b.head, int64(math.MaxInt64), b.waiting
	if before != "" {
		i := slices.IndexFunc(waiting, func(m chat.Message) bool { return m.ID == before })
		waiting = waiting[:max(i, 0)]
		if i < 0 {
			turnID, n, ok := record.ParseMessageID(before)
			if !ok {
				return nil, db.ErrNotFound
			}
			// The path from there to the first turn is the same as from head.
			t, err := q.Turn(ctx, sqlcgen.TurnParams{Owner: b.owner, ID: turnID})
			if err != nil {
				return nil, err
			}
			if t.ThreadID != b.threadID || t.Place == 0 || t.Hidden {
				return nil, db.ErrNotFound
			}
			head, beforeN = turnID, n
		}
	}
	if len(waiting) >= limit {
		return waiting[len(waiting)-limit:], nil
	}
	placed, err := b.placed(ctx, q, head, beforeN, limit-len(waiting), true)
	return append(placed, waiting...), err
}

// placed reads the newest limit messages from head backwards and returns them
// oldest first; of head itself only those numbered below beforeN.
func (b branch) placed(ctx context.Context, q Queries, head string, beforeN int64, limit int, prompts bool) ([]chat.Message, error) {
	rows, err := q.BranchMessages(ctx, sqlcgen.BranchMessagesParams{
		Owner: b.owner, ThreadID: b.threadID, Head: head, OfTree: b.unchecked, BeforeN: beforeN, Prompts: prompts,
		MaxRows:  int64(limit),
		MaxTurns: int64(limit) + 1, // every turn but the first adds at least one message
	})
	if err != nil {
		return nil, err
	}
	messages := make([]chat.Message, len(rows))
	for i, row := range rows {
		if messages[len(rows)-1-i], err = message(row); err != nil {
			return nil, err
		}
	}
	return messages, nil
}

func message(row sqlcgen.BranchMessagesRow) (chat.Message, error) {
	m := chat.Message{
		ID: record.MessageID(row.TurnID, row.N), Role: row.Role, Content: row.Content,
		CreatedAt: record.Time(row.CreatedAt), TurnID: row.TurnID, Parent: row.Parent,
	}
	if row.Metadata != "" {
		if err := json.Unmarshal([]byte(row.Metadata), &m.Metadata); err != nil {
			return chat.Message{}, fmt.Errorf("metadata of message %s: %w", m.ID, err)
		}
	}
	return m, nil
}
