package rules

import (
	"context"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
	"github.com/palaver-chat/palaver/internal/language"
)

func (s *Store) DocumentsToEmbed(ctx context.Context, model, after string, limit int) (_ []chat.Document, err error) {
	ctx, end := s.short(ctx, "list documents to embed")
	defer end(&err)
	rows, err := s.db.Read.DocumentsToEmbed(ctx, sqlcgen.DocumentsToEmbedParams{Model: model, AfterID: after, MaxRows: int64(limit)})
	return rowsTo(rows, err, func(r sqlcgen.DocumentsToEmbedRow) chat.Document {
		return chat.Document{ID: r.ID, Owner: r.Owner}
	})
}

func (s *Store) EmbeddingProgress(ctx context.Context, owner, model string) (done, total int, err error) {
	ctx, end := s.short(ctx, "count embedded documents")
	defer end(&err)
	if owner, err = s.Library(ctx, owner); err != nil {
		return 0, 0, err
	}
	n, err := s.db.Read.EmbeddingProgress(ctx, sqlcgen.EmbeddingProgressParams{Owner: owner, Model: model})
	return int(n.Done), int(n.Total), err
}

func (s *Store) DocumentsToIndex(ctx context.Context, after string, limit int) (_ []chat.Document, err error) {
	ctx, end := s.short(ctx, "list documents to index")
	defer end(&err)
	rows, err := s.db.Read.DocumentsToIndex(ctx, sqlcgen.DocumentsToIndexParams{TermsVersion: language.TermsVersion, AfterID: after, MaxRows: int64(limit)})
	return rowsTo(rows, err, func(r sqlcgen.DocumentsToIndexRow) chat.Document {
		return chat.Document{ID: r.ID, Owner: r.Owner}
	})
}

func (s *Store) IndexProgress(ctx context.Context) (done, total int, err error) {
	ctx, end := s.short(ctx, "count indexed documents")
	defer end(&err)
	n, err := s.db.Read.IndexProgress(ctx, language.TermsVersion)
	return int(n.Done), int(n.Total), err
}
