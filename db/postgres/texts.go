package postgres

import (
	"context"
	"slices"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/rules"
	"github.com/palaver-chat/palaver/db/postgres/sqlcgen"
)

func (s *Store) PutText(ctx context.Context, owner, turnID, key, text string) error {
	return s.PutTexts(ctx, owner, turnID, []db.Text{{Key: key, Text: text}})
}

func (s *Store) PutTexts(ctx context.Context, owner, turnID string, texts []db.Text) (err error) {
	ctx, end := s.Call(ctx, "put texts", rules.Short)
	defer end(&err)
	put := sqlcgen.PutTextsParams{Owner: owner, TurnID: turnID}
	for i, t := range texts {
		if slices.ContainsFunc(texts[i+1:], func(later db.Text) bool { return later.Key == t.Key }) {
			continue // one statement cannot write a row twice
		}
		put.Keys, put.Texts, put.WrittenBy = append(put.Keys, t.Key), append(put.Texts, t.Text), append(put.WrittenBy, t.Order)
	}
	rows, err := s.q.PutTexts(ctx, put)
	if err != nil || rows == int64(len(put.Keys)) {
		return err
	}
	if err := rules.CheckOpen(ctx, queries{s.q}, owner, turnID); err != nil {
		return err
	}
	return db.ErrOutdated
}
