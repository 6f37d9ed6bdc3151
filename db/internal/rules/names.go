package rules

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
	"github.com/palaver-chat/palaver/internal/naming"
)

// putNames writes the names of a document, and what searches find them by.
func putNames(ctx context.Context, q Queries, d chat.Document) error {
	others, err := json.Marshal(append([]string{}, d.OtherNames...))
	if err != nil {
		return err
	}
	return record.Found(q.NameDocument(ctx, sqlcgen.NameDocumentParams{
		Owner: d.Owner, ID: d.ID, Title: d.Title, TitleFolded: naming.Fold(d.Title), Named: d.Named, OtherNames: string(others),
		TitleWords: record.Names(d.Language, d.Title, d.Name), OtherWords: record.Names(d.Language, d.OtherNames...), Language: d.Language,
	}))
}

// NameOwn gives a document, which the transaction has locked, the names of its text and its
// language.
func NameOwn(ctx context.Context, q Queries, owner, id string, own db.OwnNames, lang string) error {
	row, err := q.DocumentForChange(ctx, owner, id)
	if err != nil {
		return err
	}
	d := document(row)
	d.Language = lang
	if own.Title == "" && own.Others == nil {
		return putNames(ctx, q, d)
	}
	if own.Title != "" && !d.Named {
		d.Title = naming.Normal(own.Title)
	}
	if d.Named { // what it was called before a person renamed it
		own.Others = append(own.Others[:len(own.Others):len(own.Others)], d.OtherNames...)
	}
	d.OtherNames = naming.Others(d.Title, own.Others...)
	return putNames(ctx, q, d)
}

func (s *Store) RenameDocument(ctx context.Context, owner, id, title string) (err error) {
	ctx, end := s.short(ctx, "rename document")
	defer end(&err)
	return s.db.Update(ctx, func(q Queries) error {
		row, err := q.DocumentForChange(ctx, owner, id)
		if err := changeable(row, owner, err); err != nil {
			return err
		}
		d := document(row)
		d.OtherNames = naming.Others(title, append([]string{d.Title}, d.OtherNames...)...)
		d.Title, d.Named = naming.Normal(title), true
		return putNames(ctx, q, d)
	})
}

// isUnclear reports whether a title alone does not say which document is meant. twin says that
// another visible document has it, too.
func isUnclear(title string, twin bool) bool { return twin || naming.IsGenre(title) }

// label sets the labels of documents that have none yet.
func label(ctx context.Context, q Queries, see Visible, docs []chat.Document) error {
	var unclear []string
	for _, d := range docs {
		if d.Label == "" {
			unclear = append(unclear, d.Title)
		}
	}
	labels, err := labelsByID(ctx, q, see, unclear)
	for i, d := range docs {
		docs[i].Label = cmp.Or(d.Label, labels[d.ID], d.Title)
	}
	return err
}

// labelsByID returns the labels of the visible documents with some titles.
func labelsByID(ctx context.Context, q Queries, see Visible, titles []string) (map[string]string, error) {
	var folded []string
	seen := map[string]bool{}
	for _, t := range titles {
		if key := naming.Fold(t); !seen[key] {
			seen[key] = true
			folded = append(folded, key)
		}
	}
	if len(folded) == 0 {
		return nil, nil
	}
	rows, err := q.DocumentsTitled(ctx, see, folded)
	if err != nil {
		return nil, err
	}
	docs := make([]chat.Document, len(rows))
	for i, r := range rows {
		docs[i] = named(sqlcgen.VisibleDocumentsRow(r))
	}
	naming.Label(docs)
	byID := make(map[string]string, len(docs))
	for _, d := range docs {
		byID[d.ID] = d.Label
	}
	return byID, nil
}

// HitRow is a chunk as a search reads it, with what its document is called.
type HitRow struct {
	sqlcgen.ChunksByKeyRow
	Score float64
}

// Hits returns chunks that were found, in their order, with the labels of their documents.
func (s *Store) Hits(ctx context.Context, q Queries, see Visible, rows []HitRow) ([]chat.Hit, error) {
	hits := make([]chat.Hit, len(rows))
	var unclear []string
	for i, r := range rows {
		hits[i] = chat.Hit{Title: r.Title, Public: r.Owner == chat.PublicOwner, Language: r.Language, Score: r.Score, Chunk: chunk(r.ChunksByKeyRow)}
		if isUnclear(r.Title, r.Twin) {
			unclear = append(unclear, r.Title)
		}
	}
	labels, err := labelsByID(ctx, q, see, unclear)
	for i, h := range hits {
		hits[i].Title = cmp.Or(labels[h.DocID], h.Title)
	}
	return hits, err
}

func chunk(r sqlcgen.ChunksByKeyRow) chat.Chunk {
	return chat.Chunk{
		ID: record.ChunkID(r.DocID, r.Ordinal), DocID: r.DocID, Ordinal: int(r.Ordinal),
		Text: r.Text, Start: int(r.StartChar), End: int(r.EndChar), Heading: r.Heading, Pages: record.Pages(r.Pages)}
}

// labelRefs replaces the titles of references by the labels of their documents.
func (s *Store) labelRefs(ctx context.Context, see Visible, refs []chat.DocRef, twin []bool) error {
	var unclear []string
	for i, r := range refs {
		if isUnclear(r.Title, twin[i]) {
			unclear = append(unclear, r.Title)
		}
	}
	labels, err := labelsByID(ctx, s.db.Read, see, unclear)
	for i, r := range refs {
		refs[i].Title = cmp.Or(labels[r.ID], r.Title)
	}
	return err
}

// named is a document with its names only.
func named(r sqlcgen.VisibleDocumentsRow) chat.Document {
	return chat.Document{ID: r.ID, Owner: r.Owner, Title: r.Title, Status: chat.DocStatus(r.Status), Name: r.Name, Named: r.Named,
		OtherNames: otherNames(r.OtherNames), CreatedAt: record.Time(r.CreatedAt), Language: r.Language,
		Format: r.Format, SourceURL: r.SourceUrl, Chunks: int(r.Chunks), UnreadPages: int(r.UnreadPages)}
}

func otherNames(stored string) (names []string) {
	if json.Unmarshal([]byte(stored), &names) != nil || len(names) == 0 {
		return nil
	}
	return names
}
