package postgres

import (
	"context"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/postgres/sqlcgen"
)

// CreateDocument is idempotent for one owner and id.
func (s *Store) CreateDocument(ctx context.Context, d chat.Document, raw []byte) (err error) {
	ctx, end := s.longCall(ctx, "create document")
	defer end(&err)
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
			row, err := q.Document(ctx, sqlcgen.DocumentParams{Owner: d.Owner, ID: d.ID})
			return changeable(row, d.Owner, err)
		}
		return q.InsertRaw(ctx, sqlcgen.InsertRawParams{DocID: d.ID, Raw: raw})
	})
}

// ownDocument locks a document until the transaction ends. ErrForbidden for a
// public one that owner may only read.
func ownDocument(ctx context.Context, q *sqlcgen.Queries, owner, id string) error {
	row, err := q.DocumentForChange(ctx, sqlcgen.DocumentForChangeParams{Owner: owner, ID: id})
	return changeable(row, owner, err)
}

func changeable(row sqlcgen.Document, owner string, err error) error {
	if err == nil && row.Owner != owner {
		return db.ErrForbidden
	}
	return err
}

func (s *Store) RawDocument(ctx context.Context, owner, id string) (_ chat.Document, _ []byte, err error) {
	ctx, end := s.longCall(ctx, "read upload")
	defer end(&err)
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
	ctx, end := s.shortCall(ctx, "note progress")
	defer end(&err)
	rows, err := s.q.DocumentProgress(ctx, sqlcgen.DocumentProgressParams{
		Owner: owner, ID: id, Progress: int64(min(max(percent, 0), 100))})
	if err != nil || rows > 0 {
		return err
	}
	row, err := s.q.Document(ctx, sqlcgen.DocumentParams{Owner: owner, ID: id})
	return changeable(row, owner, err) // nil: no longer processing, so there is no progress to save
}

// FailDocument leaves a document that is ready as it is.
func (s *Store) FailDocument(ctx context.Context, owner, id, reason string) (err error) {
	ctx, end := s.shortCall(ctx, "fail document")
	defer end(&err)
	return s.update(ctx, func(q *sqlcgen.Queries) error {
		if err := ownDocument(ctx, q, owner, id); err != nil {
			return err
		}
		rows, err := q.FailDocument(ctx, sqlcgen.FailDocumentParams{Owner: owner, ID: id, Error: reason})
		if err != nil || rows == 0 {
			return err
		}
		return q.DeleteRaw(ctx, id)
	})
}

func (s *Store) Document(ctx context.Context, owner, id string) (_ chat.Document, err error) {
	ctx, end := s.shortCall(ctx, "read document")
	defer end(&err)
	row, err := s.q.Document(ctx, sqlcgen.DocumentParams{Owner: owner, ID: id})
	return document(row), err
}

func (s *Store) ListDocuments(ctx context.Context, owner, cur string, limit int) (_ db.Page[chat.Document], err error) {
	ctx, end := s.shortCall(ctx, "list documents")
	defer end(&err)
	from, err := record.ParseCursor(cur)
	if err != nil {
		return db.Page[chat.Document]{}, err
	}
	limit = record.Clamp(limit, 200)
	rows, err := s.q.ListDocuments(ctx, sqlcgen.ListDocumentsParams{
		Owner: owner, BeforeAt: from.At, BeforeID: from.ID, MaxRows: int64(limit) + 1})
	if err != nil {
		return db.Page[chat.Document]{}, err
	}
	return record.Page(rows, limit, document, func(r sqlcgen.Document) record.Cursor { return record.Cursor{At: r.CreatedAt, ID: r.ID} }), nil
}

func (s *Store) DeleteDocument(ctx context.Context, owner, id string) (err error) {
	ctx, end := s.longCall(ctx, "delete document")
	defer end(&err)
	return s.update(ctx, func(q *sqlcgen.Queries) error {
		if err := ownDocument(ctx, q, owner, id); err != nil {
			return err
		}
		return record.Found(q.DeleteDocument(ctx, sqlcgen.DeleteDocumentParams{Owner: owner, ID: id}))
	})
}

// DocumentText is ErrNotFound until the document is ready.
func (s *Store) DocumentText(ctx context.Context, owner, id string) (_ string, err error) {
	ctx, end := s.longCall(ctx, "read document text")
	defer end(&err)
	return s.q.DocumentText(ctx, sqlcgen.DocumentTextParams{Owner: owner, ID: id})
}

func (s *Store) VisibleDocuments(ctx context.Context, owner string) (_ []chat.Document, err error) {
	ctx, end := s.shortCall(ctx, "list visible documents")
	defer end(&err)
	rows, err := s.q.VisibleDocuments(ctx, sqlcgen.VisibleDocumentsParams{Owner: owner, MaxRows: record.MaxVisible})
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
	ctx, end := s.shortCall(ctx, "read documents")
	defer end(&err)
	rows, err := s.q.DocumentsByID(ctx, sqlcgen.DocumentsByIDParams{Owner: owner, Ids: ids})
	return inOrder(ids, rows, func(r sqlcgen.Document) string { return r.ID }, document), err
}

func document(r sqlcgen.Document) chat.Document {
	return chat.Document{
		ID: r.ID, Owner: r.Owner, Title: r.Title, Status: chat.DocStatus(r.Status), SourceType: r.SourceType,
		ExternalID: r.ExternalID, Bytes: r.Bytes, Chunks: int(r.Chunks), Progress: int(r.Progress), Error: r.Error,
		CreatedAt: record.Time(r.CreatedAt),
	}
}
