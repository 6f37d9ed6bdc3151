package rules

import (
	"context"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

func (w within) CreateSet(ctx context.Context, set chat.DocumentSet) (err error) {
	ctx, end := w.s.short(ctx, "create set")
	defer end(&err)
	return w.s.db.Update(ctx, func(q Queries) error {
		err := record.Found(q.InsertSet(ctx, sqlcgen.InsertSetParams{Owner: set.Owner, ID: set.ID, Name: set.Name, Address: w.address()}))
		if err != nil {
			return err
		}
		if err := q.FillSet(ctx, set); err != nil {
			return err
		}
		return w.checkBounds(ctx, q, set.Owner, aSet)
	})
}

func (s *Store) UpdateSet(ctx context.Context, set chat.DocumentSet) (err error) {
	ctx, end := s.short(ctx, "update set")
	defer end(&err)
	return s.db.Update(ctx, func(q Queries) error {
		err := record.Found(q.UpdateSet(ctx, sqlcgen.UpdateSetParams{Owner: set.Owner, ID: set.ID, Name: set.Name}))
		if err != nil {
			return err
		}
		return q.FillSet(ctx, set)
	})
}

func (s *Store) DeleteSet(ctx context.Context, owner, id string) (err error) {
	ctx, end := s.short(ctx, "delete set")
	defer end(&err)
	return record.Found(s.db.Write.DeleteSet(ctx, sqlcgen.DeleteSetParams{Owner: owner, ID: id}))
}

// ListSets lists sets newest first.
func (s *Store) ListSets(ctx context.Context, owner, cur string, limit int) (p db.Page[chat.DocumentSet], err error) {
	ctx, end := s.short(ctx, "list sets")
	defer end(&err)
	if owner, err = s.Library(ctx, owner); err != nil {
		return p, err
	}
	from, err := record.ParseCursor(cur)
	if err != nil {
		return p, err
	}
	limit = record.Clamp(limit, 200)
	err = s.db.View(ctx, func(q Queries) error {
		rows, err := q.ListSets(ctx, sqlcgen.ListSetsParams{Owner: owner, BeforeSeq: from.At, MaxRows: int64(limit) + 1})
		if err != nil {
			return err
		}
		p = record.Page(rows, limit, documentSet, func(r sqlcgen.DocumentSet) record.Cursor { return record.Cursor{At: r.Seq} })
		return addMembers(ctx, q, owner, p.Items)
	})
	return p, err
}

func (s *Store) SetsByID(ctx context.Context, owner string, ids []string) (sets []chat.DocumentSet, err error) {
	ctx, end := s.short(ctx, "read sets")
	defer end(&err)
	if owner, err = s.Library(ctx, owner); err != nil {
		return nil, err
	}
	err = s.db.View(ctx, func(q Queries) error {
		rows, err := q.SetsByID(ctx, owner, ids)
		if err != nil {
			return err
		}
		sets = inOrder(ids, rows, func(r sqlcgen.DocumentSet) string { return r.ID }, documentSet)
		return addMembers(ctx, q, owner, sets)
	})
	return sets, err
}

func addMembers(ctx context.Context, q Queries, owner string, sets []chat.DocumentSet) error {
	ids := make([]string, len(sets))
	for i, set := range sets {
		ids[i] = set.ID
	}
	rows, err := q.SetMembers(ctx, owner, ids)
	members := map[string][]string{}
	for _, row := range rows {
		members[row.SetID] = append(members[row.SetID], row.DocID)
	}
	for i := range sets {
		sets[i].DocIDs = members[sets[i].ID]
	}
	return err
}

func documentSet(r sqlcgen.DocumentSet) chat.DocumentSet {
	return chat.DocumentSet{ID: r.ID, Owner: r.Owner, Name: r.Name}
}
