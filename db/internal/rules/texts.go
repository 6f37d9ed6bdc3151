package rules

import (
	"context"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

func (s *Store) Texts(ctx context.Context, owner, turnID string) (_ map[string]string, err error) {
	ctx, end := s.long(ctx, "read texts") // all results of a turn's tools can be 30 MB
	defer end(&err)
	rows, err := s.db.Read.Texts(ctx, sqlcgen.TextsParams{Owner: owner, TurnID: turnID})
	if err == nil && len(rows) == 0 {
		err = CheckOpen(ctx, s.db.Read, owner, turnID)
	}
	if err != nil {
		return nil, err
	}
	texts := make(map[string]string, len(rows))
	for _, row := range rows {
		if row.Key != "" {
			texts[row.Key] = row.Text
		}
	}
	return texts, nil
}

func (s *Store) SaveDraft(ctx context.Context, owner string, d db.Draft) (err error) {
	ctx, end := s.short(ctx, "save draft")
	defer end(&err)
	rows, err := s.db.Write.SaveDraft(ctx, sqlcgen.SaveDraftParams{
		Owner: owner, TurnID: d.TurnID, Piece: int64(d.Piece), Attempt: int64(d.Attempt), Text: d.Text})
	if err != nil || rows > 0 {
		return err
	}
	return CheckOpen(ctx, s.db.Read, owner, d.TurnID)
}

func (s *Store) Draft(ctx context.Context, owner, turnID string, piece int) (_ db.Draft, err error) {
	ctx, end := s.short(ctx, "read draft")
	defer end(&err)
	row, err := s.db.Read.Draft(ctx, sqlcgen.DraftParams{Owner: owner, TurnID: turnID, Piece: int64(piece)})
	if err != nil {
		return db.Draft{}, err
	}
	return db.Draft{TurnID: turnID, Piece: piece, Attempt: int(row.Attempt), Text: row.Text}, nil
}

// CheckOpen explains why a write to a turn changed nothing: db.ErrSettled, or nil when
// the turn is open (a draft of a lower attempt).
func CheckOpen(ctx context.Context, q Queries, owner, turnID string) error {
	row, err := q.Turn(ctx, sqlcgen.TurnParams{Owner: owner, ID: turnID})
	if err == nil && row.SettledAt != 0 {
		return db.ErrSettled
	}
	return err
}
