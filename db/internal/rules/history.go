package rules

import (
	"cmp"
	"context"
	"encoding/json"
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
	return h, s.withheld(ctx, owner, h.Messages)
}

func (s *Store) Recent(ctx context.Context, owner, threadID, head string, n int) (messages []chat.Message, err error) {
	ctx, end := s.short(ctx, "read recent messages")
	defer end(&err)
	if head = chat.TurnOf(head); head != "" && head != chat.RootCheckpoint && n > 0 { // usually one statement is enough
		messages, err = branch{owner: owner, threadID: threadID, unchecked: true}.placed(ctx, s.db.Read, head, math.MaxInt64, min(n, record.MaxHistory), false)
		if err != nil || len(messages) > 0 {
			return messages, cmp.Or(err, s.withheld(ctx, owner, messages))
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
	return messages, cmp.Or(err, s.withheld(ctx, owner, messages))
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
	if err := known(ctx, q, owner, threadID); err != nil {
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
		CreatedAt: record.Time(row.CreatedAt), TurnID: row.TurnID, Parent: row.Parent, Space: row.SpaceID, Author: row.Author,
	}
	if row.Metadata != "" {
		if err := json.Unmarshal([]byte(row.Metadata), &m.Metadata); err != nil {
			return chat.Message{}, fmt.Errorf("metadata of message %s: %w", m.ID, err)
		}
	}
	if row.Author != "" && m.Role == "user" {
		m.Metadata["author"] = row.Author
	}
	return m, nil
}
