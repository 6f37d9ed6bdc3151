package sqlite

import (
	"context"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/rules"
	"github.com/palaver-chat/palaver/db/sqlite/sqlcgen"
)

func (s *Store) PutText(ctx context.Context, owner, turnID, key, text string) error {
	return s.PutTexts(ctx, owner, turnID, []db.Text{{Key: key, Text: text}})
}

func (s *Store) PutTexts(ctx context.Context, owner, turnID string, texts []db.Text) (err error) {
	ctx, end := s.Call(ctx, "put texts", rules.Short)
	defer end(&err)
	return s.update(ctx, func(q *sqlcgen.Queries) error {
		if err := rules.CheckOpen(ctx, queries{Queries: q}, owner, turnID); err != nil {
			return err
		}
		for _, t := range texts {
			rows, err := q.PutText(ctx, sqlcgen.PutTextParams{Owner: owner, TurnID: turnID, Key: t.Key, Text: t.Text, WrittenBy: t.Order})
			if err != nil {
				return err
			}
			if rows == 0 {
				return db.ErrOutdated
			}
		}
		return nil
	})
}
