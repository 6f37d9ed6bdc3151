package rules

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

func (s *Store) Registry(ctx context.Context, owner, threadID, head string) (docs []chat.DocRef, err error) {
	ctx, end := s.short(ctx, "read registry")
	defer end(&err)
	see, err := s.Visible(db.InThread(ctx, threadID), owner)
	if err != nil {
		return nil, err
	}
	if at := chat.TurnOf(head); see.Owner == owner && len(see.Spaces) == 0 && at != "" && at != chat.RootCheckpoint { // usually one statement is enough
		var twins []bool
		rows, err := s.db.Read.KnownDocuments(ctx, sqlcgen.KnownDocumentsParams{Owner: owner, ThreadID: threadID, Head: at})
		for _, row := range rows {
			if row.ID != "" {
				docs, twins = append(docs, chat.DocRef{ID: row.ID, Title: row.Title}), append(twins, row.Twin)
			}
		}
		if err != nil {
			return nil, err
		}
		if len(rows) > 0 {
			return docs, s.labelRefs(ctx, see, docs, twins)
		}
	}
	t, err := s.snapshot(ctx, owner, threadID, head)
	if err != nil || t.ID == "" {
		return nil, err
	}
	known, err := registryOf(t.ID, t.Registry)
	if err != nil || len(known) == 0 {
		return nil, err
	}
	rows, err := s.db.Read.RegistryDocuments(ctx, see, known)
	if err != nil {
		return nil, err
	}
	var twins []bool
	for _, row := range inOrder(known, rows, func(r sqlcgen.RegistryDocumentsRow) string { return r.ID },
		func(r sqlcgen.RegistryDocumentsRow) sqlcgen.RegistryDocumentsRow { return r }) {
		docs, twins = append(docs, chat.DocRef{ID: row.ID, Title: row.Title}), append(twins, row.Twin)
	}
	return docs, s.labelRefs(ctx, see, docs, twins)
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

func registryOf(turnID, stored string) (ids []string, err error) {
	if err := json.Unmarshal([]byte(stored), &ids); err != nil {
		return nil, fmt.Errorf("registry of turn %s: %w", turnID, err)
	}
	return ids, nil
}

func approvals(turnID, stored string) (tools []string, err error) {
	if err := json.Unmarshal([]byte(stored), &tools); err != nil {
		return nil, fmt.Errorf("approvals of turn %s: %w", turnID, err)
	}
	return tools, nil
}

// inherited is the parent's registry of documents and its approved tools.
func inherited(ctx context.Context, q Queries, known turnsByID, row sqlcgen.Turn) (registry, tools []string, err error) {
	if row.Parent == chat.RootCheckpoint {
		return nil, nil, nil
	}
	parent, err := known.turn(ctx, q, row.Owner, row.Parent)
	if err != nil {
		return nil, nil, err
	}
	if registry, err = registryOf(parent.ID, parent.Registry); err != nil {
		return nil, nil, err
	}
	tools, err = approvals(parent.ID, parent.Approvals)
	return registry, tools, err
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
