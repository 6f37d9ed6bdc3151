package rules

import (
	"cmp"
	"context"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
	"github.com/palaver-chat/palaver/db/internal/vector"
	"github.com/palaver-chat/palaver/internal/naming"
)

// CreateDocument is idempotent for one owner and id.
func (w within) CreateDocument(ctx context.Context, d chat.Document, raw []byte) (err error) {
	ctx, end := w.s.long(ctx, "create document")
	defer end(&err)
	return w.s.db.Update(ctx, func(q Queries) error {
		if d.ThreadID != "" {
			if err := q.PruneThreadDocuments(ctx, record.Micros(time.Now().Add(-db.UnusedFor))); err != nil {
				return err
			}
		}
		created, err := w.insertDocument(ctx, q, d, raw)
		if err != nil || created {
			return err
		}
		row, err := q.Document(ctx, sqlcgen.DocumentParams{Owner: d.Owner, ID: d.ID})
		return changeable(row, d.Owner, err)
	})
}

// insertDocument writes a document with its content, unless there is one already.
func (w within) insertDocument(ctx context.Context, q Queries, d chat.Document, raw []byte) (created bool, err error) {
	rows, err := q.InsertDocument(ctx, sqlcgen.InsertDocumentParams{
		ID: d.ID, Owner: d.Owner, Title: d.Title, Format: d.Format,
		SourceType: string(cmp.Or(d.SourceType, chat.SourceUpload)), ExternalID: d.ExternalID,
		SourceUrl: d.SourceURL, SourceVersion: d.SourceVersion, Bytes: d.Bytes, CreatedAt: record.Micros(record.OrNow(d.CreatedAt)),
		Address: w.address(), Name: d.Name, ThreadID: d.ThreadID, AddedBy: d.AddedBy})
	if err != nil || rows == 0 {
		return false, err
	}
	if err := w.checkBounds(ctx, q, d.Owner, aDocument); err != nil {
		return false, err
	}
	if err := putNames(ctx, q, d); err != nil {
		return false, err
	}
	return true, q.InsertRaw(ctx, sqlcgen.InsertRawParams{DocID: d.ID, Raw: record.Bytes(raw)})
}

func (w within) PutImport(ctx context.Context, d chat.Document, raw []byte) (id string, err error) {
	ctx, end := w.s.long(ctx, "store import")
	defer end(&err)
	err = w.s.db.Update(ctx, func(q Queries) error {
		if err := w.checkImport(ctx, q, d.Owner); err != nil {
			return err
		}
		id = d.ID
		created, err := w.insertDocument(ctx, q, d, raw)
		if err != nil || created {
			return err
		}
		row, err := q.ImportedDocument(ctx, sqlcgen.ImportedDocumentParams{
			Owner: d.Owner, SourceType: string(d.SourceType), ExternalID: d.ExternalID})
		if err != nil {
			return err
		}
		id = row.ID
		return w.replaceImport(ctx, q, sqlcgen.DocumentRow(row), d, raw)
	})
	return id, err
}

// checkImport locks the open imports until the transaction ends.
func (w within) checkImport(ctx context.Context, q Queries, owner string) error {
	if w.bounds.Import == "" {
		return nil
	}
	open, err := q.OpenImportsForChange(ctx, sqlcgen.OpenImportsForChangeParams{Owner: owner, Key: w.bounds.Import})
	if err == nil && len(open) == 0 {
		err = db.ErrNotFound
	}
	return err
}

func (w within) replaceImport(ctx context.Context, q Queries, was sqlcgen.DocumentRow, d chat.Document, raw []byte) error {
	rows, err := q.ReplaceImport(ctx, sqlcgen.ReplaceImportParams{
		ID: was.ID, Owner: d.Owner, Format: d.Format, Bytes: d.Bytes, SourceUrl: d.SourceURL, SourceVersion: d.SourceVersion, Name: d.Name})
	if err != nil || rows == 0 {
		return err
	}
	if err := w.checkBounds(ctx, q, d.Owner, aDocument); err != nil { // the new version can be larger
		return err
	}
	known := document(was)
	d.Language = known.Language // of the text that is found until the new one is read
	if d.ID = was.ID; known.Named {
		d.OtherNames = naming.Others(known.Title, append([]string{d.Title}, known.OtherNames...)...)
		d.Title, d.Named = known.Title, true
	}
	if err := putNames(ctx, q, d); err != nil {
		return err
	}
	if err := q.DeleteScans(ctx, was.ID); err != nil { // of a version that is still being processed
		return err
	}
	if err := q.DeleteRaw(ctx, was.ID); err != nil {
		return err
	}
	return q.InsertRaw(ctx, sqlcgen.InsertRawParams{DocID: was.ID, Raw: record.Bytes(raw)})
}

func (s *Store) ImportedDocument(ctx context.Context, owner string, source chat.SourceType, externalID string) (_ chat.Document, err error) {
	ctx, end := s.short(ctx, "read imported document")
	defer end(&err)
	row, err := s.db.Read.ImportedDocument(ctx, sqlcgen.ImportedDocumentParams{Owner: owner, SourceType: string(source), ExternalID: externalID})
	return s.labelled(ctx, Visible{Owner: owner}, sqlcgen.DocumentRow(row), err)
}

// OwnDocument locks a document until the transaction ends. ErrForbidden for a
// public one that owner may only read.
func OwnDocument(ctx context.Context, q Queries, owner, id string) error {
	row, err := q.DocumentForChange(ctx, owner, id)
	return changeable(row, owner, err)
}

// OwnVersion is OwnDocument for one version of an imported document (nil: any).
// ErrOutdated when another version has replaced it.
func OwnVersion(ctx context.Context, q Queries, owner, id string, version *string) error {
	row, err := q.DocumentForChange(ctx, owner, id)
	if err = changeable(row, owner, err); err == nil && version != nil && row.SourceVersion != *version {
		return db.ErrOutdated
	}
	return err
}

func changeable(row sqlcgen.DocumentRow, owner string, err error) error {
	if err == nil && row.Owner != owner {
		return db.ErrForbidden
	}
	return err
}

func (s *Store) RawDocument(ctx context.Context, owner, id string) (_ chat.Document, _ []byte, err error) {
	ctx, end := s.long(ctx, "read upload")
	defer end(&err)
	var row sqlcgen.DocumentRow
	var raw []byte
	err = s.db.View(ctx, func(q Queries) error {
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

func (s *Store) DocumentAddress(ctx context.Context, owner, id string) (_ string, err error) {
	ctx, end := s.short(ctx, "read a document's address")
	defer end(&err)
	return s.db.Read.DocumentAddress(ctx, sqlcgen.DocumentAddressParams{Owner: owner, ID: id})
}

func (s *Store) Original(ctx context.Context, owner, id string) (raw []byte, err error) {
	ctx, end := s.long(ctx, "read original")
	defer end(&err)
	see, err := s.visibleOne(ctx, owner, id)
	if err != nil {
		return nil, err
	}
	return s.db.Read.Original(ctx, sqlcgen.OriginalParams{Owner: see.Owner, Author: see.Author, ThreadID: see.Thread, DocID: id})
}

func (s *Store) DocumentProgress(ctx context.Context, owner, id string, percent int) (err error) {
	ctx, end := s.short(ctx, "save progress")
	defer end(&err)
	rows, err := s.db.Write.DocumentProgress(ctx, sqlcgen.DocumentProgressParams{
		Owner: owner, ID: id, Progress: int64(min(max(percent, 0), 100))})
	if err != nil || rows > 0 {
		return err
	}
	row, err := s.db.Read.Document(ctx, sqlcgen.DocumentParams{Owner: owner, ID: id})
	return changeable(row, owner, err) // nil: no longer processing, so there is no progress to save
}

func (s *Store) SetDocumentPages(ctx context.Context, owner, id string, pages, unread int) (err error) {
	ctx, end := s.short(ctx, "save pages")
	defer end(&err)
	rows, err := s.db.Write.SetDocumentPages(ctx, sqlcgen.SetDocumentPagesParams{
		Owner: owner, ID: id, Pages: int64(pages), UnreadPages: int64(unread)})
	if err != nil || rows > 0 {
		return err
	}
	row, err := s.db.Read.Document(ctx, sqlcgen.DocumentParams{Owner: owner, ID: id})
	return changeable(row, owner, err) // nil: no longer processing
}

func (s *Store) PutScan(ctx context.Context, owner, id, version string, page int, text string) (err error) {
	ctx, end := s.short(ctx, "save scanned page")
	defer end(&err)
	_, err = s.db.Write.PutScan(ctx, sqlcgen.PutScanParams{Owner: owner, DocID: id, Version: version, Page: int64(page), Text: text})
	return err
}

func (s *Store) Scans(ctx context.Context, owner, id, version string) (_ map[int]string, err error) {
	ctx, end := s.long(ctx, "read scanned pages")
	defer end(&err)
	rows, err := s.db.Read.Scans(ctx, sqlcgen.ScansParams{Owner: owner, DocID: id, Version: version})
	if err != nil {
		return nil, err
	}
	pages := make(map[int]string, len(rows))
	for _, r := range rows {
		pages[int(r.Page)] = r.Text
	}
	return pages, nil
}

// FailDocument leaves a document that is ready as it is.
func (s *Store) FailDocument(ctx context.Context, owner, id, reason string) error {
	return s.failDocument(ctx, owner, id, nil, reason)
}

func (s *Store) FailVersion(ctx context.Context, owner, id, version, reason string) error {
	return s.failDocument(ctx, owner, id, &version, reason)
}

func (s *Store) failDocument(ctx context.Context, owner, id string, version *string, reason string) (err error) {
	ctx, end := s.short(ctx, "fail document")
	defer end(&err)
	return s.db.Update(ctx, func(q Queries) error {
		if err := OwnVersion(ctx, q, owner, id, version); err != nil {
			return err
		}
		rows, err := q.FailDocument(ctx, sqlcgen.FailDocumentParams{Owner: owner, ID: id, Error: reason})
		if err != nil || rows == 0 {
			return err
		}
		return q.DeleteUpload(ctx, id)
	})
}

func (s *Store) Document(ctx context.Context, owner, id string) (_ chat.Document, err error) {
	ctx, end := s.short(ctx, "read document")
	defer end(&err)
	see, err := s.visibleOne(ctx, owner, id)
	if err != nil {
		return chat.Document{}, err
	}
	row, err := visibleDocument(ctx, s.db.Read, see, id)
	return s.labelled(ctx, see, row, err)
}

func visibleDocument(ctx context.Context, q Queries, see Visible, id string) (sqlcgen.DocumentRow, error) {
	rows, err := q.DocumentsByID(ctx, see, []string{id})
	if err == nil && len(rows) == 0 {
		err = db.ErrNotFound
	}
	if err != nil {
		return sqlcgen.DocumentRow{}, err
	}
	return sqlcgen.DocumentRow(rows[0]), nil
}

func (s *Store) labelled(ctx context.Context, see Visible, row sqlcgen.DocumentRow, err error) (chat.Document, error) {
	docs := []chat.Document{shown(row)}
	if err == nil {
		err = label(ctx, s.db.Read, see, docs)
	}
	return docs[0], err
}

func (s *Store) ListDocuments(ctx context.Context, owner, cur string, limit int) (_ db.Page[chat.Document], err error) {
	ctx, end := s.short(ctx, "list documents")
	defer end(&err)
	see, err := s.Visible(ctx, owner)
	if err != nil {
		return db.Page[chat.Document]{}, err
	}
	if owner = see.Owner; see.Author != "" { // what belongs to a conversation is its author's
		if owner, err = s.AuthorInSpace(ctx, see.Author, see.Thread); err != nil {
			return db.Page[chat.Document]{}, err
		}
	}
	from, err := record.ParseCursor(cur)
	if err != nil {
		return db.Page[chat.Document]{}, err
	}
	limit = record.Clamp(limit, 200)
	rows, err := s.db.Read.ListDocuments(ctx, sqlcgen.ListDocumentsParams{
		Owner: owner, ThreadID: db.ThreadOf(ctx), BeforeAt: from.At, BeforeID: from.ID, MaxRows: int64(limit) + 1})
	if err != nil {
		return db.Page[chat.Document]{}, err
	}
	page := record.Page(rows, limit, func(r sqlcgen.ListDocumentsRow) chat.Document { return shown(sqlcgen.DocumentRow(r)) },
		func(r sqlcgen.ListDocumentsRow) record.Cursor { return record.Cursor{At: r.CreatedAt, ID: r.ID} })
	return page, label(ctx, s.db.Read, see, page.Items)
}

func (s *Store) DeleteDocument(ctx context.Context, owner, id string) (err error) {
	ctx, end := s.long(ctx, "delete document")
	defer end(&err)
	return s.db.Update(ctx, func(q Queries) error {
		if err := OwnDocument(ctx, q, owner, id); err != nil {
			return err
		}
		return record.Found(q.DeleteDocument(ctx, sqlcgen.DeleteDocumentParams{Owner: owner, ID: id}))
	})
}

func (s *Store) MoveDocument(ctx context.Context, owner, id, threadID string) (err error) {
	ctx, end := s.short(ctx, "move document")
	defer end(&err)
	return s.db.Update(ctx, func(q Queries) error {
		if err := OwnDocument(ctx, q, owner, id); err != nil {
			return err
		}
		return record.Found(q.MoveDocument(ctx, sqlcgen.MoveDocumentParams{Owner: owner, ID: id, ThreadID: threadID}))
	})
}

// DocumentText returns ErrNotFound until the document is ready.
func (s *Store) DocumentText(ctx context.Context, owner, id string) (_ string, err error) {
	ctx, end := s.long(ctx, "read document text")
	defer end(&err)
	see, err := s.visibleOne(ctx, owner, id)
	if err != nil {
		return "", err
	}
	return s.db.Read.DocumentText(ctx, see, id)
}

func (s *Store) VisibleDocuments(ctx context.Context, owner string) (_ []chat.Document, err error) {
	ctx, end := s.short(ctx, "list visible documents")
	defer end(&err)
	see, err := s.Visible(ctx, owner)
	if err != nil {
		return nil, err
	}
	rows, err := s.db.Read.VisibleDocuments(ctx, see, record.MaxVisible)
	docs, err := rowsTo(rows, err, named)
	naming.Label(docs)
	return docs, err
}

func (s *Store) DocumentsByID(ctx context.Context, owner string, ids []string) (_ []chat.Document, err error) {
	ctx, end := s.short(ctx, "read documents")
	defer end(&err)
	see, err := s.Visible(ctx, owner)
	if err != nil {
		return nil, err
	}
	rows, err := s.db.Read.DocumentsByID(ctx, see, ids)
	if err != nil {
		return nil, err
	}
	docs := inOrder(ids, rows, func(r sqlcgen.DocumentsByIDRow) string { return r.ID },
		func(r sqlcgen.DocumentsByIDRow) chat.Document { return shown(sqlcgen.DocumentRow(r)) })
	return docs, label(ctx, s.db.Read, see, docs)
}

func document(r sqlcgen.DocumentRow) chat.Document {
	return chat.Document{
		ID: r.ID, Owner: r.Owner, Title: r.Title, Named: r.Named, Name: r.Name, OtherNames: otherNames(r.OtherNames), Status: chat.DocStatus(r.Status), Format: r.Format,
		SourceType: chat.SourceType(r.SourceType), ExternalID: r.ExternalID, SourceURL: r.SourceUrl,
		SourceVersion: r.SourceVersion, Bytes: r.Bytes, Chunks: int(r.Chunks), Progress: int(r.Progress), Error: r.Error,
		PageCount: int(r.Pages), UnreadPages: int(r.UnreadPages), Language: r.Language, ThreadID: r.ThreadID, CreatedAt: record.Time(r.CreatedAt),
		AddedBy: r.AddedBy, DeletedAt: record.Time(r.DeletedAt),
	}
}

// shown is a document with its title as the label if that is clear. label sets the others.
func shown(r sqlcgen.DocumentRow) chat.Document {
	d := document(r)
	if !isUnclear(d.Title, r.Twin) {
		d.Label = d.Title
	}
	return d
}

func (s *Store) Chunk(ctx context.Context, owner, docID, chunkID string) (_ chat.Chunk, err error) {
	ctx, end := s.short(ctx, "read chunk")
	defer end(&err)
	see, err := s.visibleOne(ctx, owner, docID)
	if err != nil {
		return chat.Chunk{}, err
	}
	doc, ordinal, ok := record.ParseChunkID(chunkID)
	if !ok || doc != docID {
		return chat.Chunk{}, db.ErrNotFound
	}
	rows, err := s.db.Read.ChunksByKey(ctx, see, []string{doc}, []int64{ordinal})
	if err == nil && len(rows) == 0 {
		err = db.ErrNotFound
	}
	if err != nil {
		return chat.Chunk{}, err
	}
	return chunk(rows[0]), nil
}

func (s *Store) ChunksByID(ctx context.Context, owner string, ids []string) (_ []chat.Hit, err error) {
	ctx, end := s.short(ctx, "read chunks")
	defer end(&err)
	see, err := s.Visible(ctx, owner)
	if err != nil {
		return nil, err
	}
	var docs []string
	var ordinals []int64
	for _, id := range ids {
		if doc, ordinal, ok := record.ParseChunkID(id); ok {
			docs, ordinals = append(docs, doc), append(ordinals, ordinal)
		}
	}
	rows, err := s.db.Read.ChunksByKey(ctx, see, docs, ordinals)
	if err != nil {
		return nil, err
	}
	return s.Hits(ctx, s.db.Read, see, inOrder(ids, rows, func(r sqlcgen.ChunksByKeyRow) string { return record.ChunkID(r.DocID, r.Ordinal) },
		func(r sqlcgen.ChunksByKeyRow) HitRow { return HitRow{ChunksByKeyRow: r} }))
}

func (s *Store) DocumentChunks(ctx context.Context, owner, docID string, limit int) (_ []chat.Hit, err error) {
	ctx, end := s.long(ctx, "read document chunks")
	defer end(&err)
	see, err := s.visibleOne(ctx, owner, docID)
	if err != nil {
		return nil, err
	}
	rows, err := s.db.Read.DocumentChunks(ctx, see, docID, int64(max(limit, 0)))
	if err == nil && len(rows) == 0 {
		_, err = visibleDocument(ctx, s.db.Read, see, docID)
	}
	found, err := rowsTo(rows, err, func(r sqlcgen.DocumentChunksRow) HitRow { return HitRow{ChunksByKeyRow: sqlcgen.ChunksByKeyRow(r)} })
	if err != nil {
		return nil, err
	}
	return s.Hits(ctx, s.db.Read, see, found)
}

// Ranked reads the chunks of a ranking, without those deleted since.
func (s *Store) Ranked(ctx context.Context, q Queries, see Visible, ranking []vector.Scored) ([]chat.Hit, error) {
	ids := make([]int64, len(ranking))
	scores := make(map[int64]float64, len(ranking))
	for i, r := range ranking {
		ids[i] = r.ID
		scores[r.ID] = r.Score
	}
	rows, err := q.ChunksByInternalID(ctx, see, ids)
	if err != nil {
		return nil, err
	}
	return s.Hits(ctx, q, see, inOrder(ids, rows, func(r sqlcgen.ChunksByInternalIDRow) int64 { return r.ID },
		func(r sqlcgen.ChunksByInternalIDRow) HitRow { return HitRow{sqlcgen.ChunksByKeyRow(r), scores[r.ID]} }))
}
