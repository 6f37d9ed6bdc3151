package sqlite

import (
	"context"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/sqlite/sqlcgen"
)

// CreateDocument is idempotent for one owner and id.
func (s *Store) CreateDocument(ctx context.Context, d chat.Document, raw []byte) (err error) {
	defer s.wrap("create document", &err)
	if raw == nil {
		raw = []byte{}
	}
	return s.update(ctx, func(q *sqlcgen.Queries) error {
		rows, err := q.InsertDocument(ctx, sqlcgen.InsertDocumentParams{
			ID: d.ID, Owner: d.Owner, Title: d.Title, SourceType: d.SourceType,
			ExternalID: d.ExternalID, Bytes: d.Bytes, CreatedAt: record.Micros(record.OrNow(d.CreatedAt))})
		if err != nil {
			return err
		}
		if rows == 0 {
			_, err := ownDocument(ctx, q, d.Owner, d.ID)
			return err
		}
		return q.InsertRaw(ctx, sqlcgen.InsertRawParams{DocID: d.ID, Raw: raw})
	})
}

// ownDocument returns ErrForbidden for a public document that owner may only read.
func ownDocument(ctx context.Context, q *sqlcgen.Queries, owner, id string) (sqlcgen.Document, error) {
	row, err := q.Document(ctx, sqlcgen.DocumentParams{Owner: owner, ID: id})
	if err == nil && row.Owner != owner {
		return row, db.ErrForbidden
	}
	return row, err
}

func (s *Store) RawDocument(ctx context.Context, owner, id string) (_ chat.Document, _ []byte, err error) {
	defer s.wrap("read upload", &err)
	var row sqlcgen.Document
	var raw []byte
	err = s.view(ctx, func(q *sqlcgen.Queries) error {
		if row, err = q.Document(ctx, sqlcgen.DocumentParams{Owner: owner, ID: id}); err != nil {
			return err
		}
		raw, err = q.Raw(ctx, sqlcgen.RawParams{Owner: owner, DocID: id})
		return err
	})
	if err != nil {
		return chat.Document{}, nil, err
	}
	return document(row), raw, nil
}

func (s *Store) DocumentProgress(ctx context.Context, owner, id string, percent int) (err error) {
	defer s.wrap("note progress", &err)
	rows, err := s.write.DocumentProgress(ctx, sqlcgen.DocumentProgressParams{
		Owner: owner, ID: id, Progress: int64(min(max(percent, 0), 100))})
	if err != nil || rows > 0 {
		return err
	}
	_, err = ownDocument(ctx, s.write, owner, id) // nil: no longer processing, so there is no progress to save
	return err
}

// FailDocument leaves a document that is ready as it is.
func (s *Store) FailDocument(ctx context.Context, owner, id, reason string) (err error) {
	defer s.wrap("fail document", &err)
	return s.update(ctx, func(q *sqlcgen.Queries) error {
		row, err := ownDocument(ctx, q, owner, id)
		if err != nil {
			return err
		}
		rows, err := q.FailDocument(ctx, sqlcgen.FailDocumentParams{Owner: owner, ID: id, Error: reason})
		if err != nil || rows == 0 {
			return err
		}
		if err := q.DeleteRaw(ctx, id); err != nil {
			return err
		}
		return q.DeleteOtherEditions(ctx, sqlcgen.DeleteOtherEditionsParams{DocID: id, Keep: row.Edition})
	})
}

func (s *Store) Document(ctx context.Context, owner, id string) (_ chat.Document, err error) {
	defer s.wrap("read document", &err)
	row, err := s.read.Document(ctx, sqlcgen.DocumentParams{Owner: owner, ID: id})
	return document(row), err
}

func (s *Store) ListDocuments(ctx context.Context, owner, cur string, limit int) (_ db.Page[chat.Document], err error) {
	defer s.wrap("list documents", &err)
	from, err := record.ParseCursor(cur)
	if err != nil {
		return db.Page[chat.Document]{}, err
	}
	limit = record.Clamp(limit, 200)
	rows, err := s.read.ListDocuments(ctx, sqlcgen.ListDocumentsParams{
		Owner: owner, BeforeAt: from.At, BeforeID: from.ID, MaxRows: int64(limit) + 1})
	if err != nil {
		return db.Page[chat.Document]{}, err
	}
	return record.Page(rows, limit, document, func(r sqlcgen.Document) record.Cursor { return record.Cursor{At: r.CreatedAt, ID: r.ID} }), nil
}

func (s *Store) DeleteDocument(ctx context.Context, owner, id string) (err error) {
	defer s.wrap("delete document", &err)
	return s.update(ctx, func(q *sqlcgen.Queries) error {
		if _, err := ownDocument(ctx, q, owner, id); err != nil {
			return err
		}
		return record.Found(q.DeleteDocument(ctx, sqlcgen.DeleteDocumentParams{Owner: owner, ID: id}))
	})
}

// DocumentText is ErrNotFound until the document is ready.
func (s *Store) DocumentText(ctx context.Context, owner, id string) (_ string, err error) {
	defer s.wrap("read document text", &err)
	return s.read.DocumentText(ctx, sqlcgen.DocumentTextParams{Owner: owner, ID: id})
}

func (s *Store) VisibleDocuments(ctx context.Context, owner string) (_ []chat.Document, err error) {
	defer s.wrap("list visible documents", &err)
	rows, err := s.read.VisibleDocuments(ctx, sqlcgen.VisibleDocumentsParams{Owner: owner, MaxRows: record.MaxVisible})
	if err != nil {
		return nil, err
	}
	docs := make([]chat.Document, len(rows))
	for i, r := range rows {
		docs[i] = chat.Document{ID: r.ID, Owner: r.Owner, Title: r.Title, Status: chat.DocStatus(r.Status)}
	}
	return docs, nil
}

func (s *Store) DocumentsByID(ctx context.Context, owner string, ids []string) (_ []chat.Document, err error) {
	defer s.wrap("read documents", &err)
	rows, err := s.read.DocumentsByID(ctx, sqlcgen.DocumentsByIDParams{Owner: owner, Ids: record.Strings(ids)})
	if err != nil {
		return nil, err
	}
	docs := make([]chat.Document, len(rows))
	for i, row := range rows {
		docs[i] = document(row)
	}
	return docs, nil
}

func document(r sqlcgen.Document) chat.Document {
	return chat.Document{
		ID: r.ID, Owner: r.Owner, Title: r.Title, Status: chat.DocStatus(r.Status), SourceType: r.SourceType,
		ExternalID: r.ExternalID, Bytes: r.Bytes, Chunks: int(r.Chunks), Progress: int(r.Progress), Error: r.Error,
		CreatedAt: record.Time(r.CreatedAt),
	}
}
