package rules

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
	"github.com/palaver-chat/palaver/documents/naming"
)

// putNames writes the names of a document, and what searches find them by.
func putNames(ctx context.Context, q Queries, d chat.Document) error {
	others, err := json.Marshal(append([]string{}, d.OtherNames...))
	if err != nil {
		return err
	}
	return record.Found(q.NameDocument(ctx, sqlcgen.NameDocumentParams{
		Owner: d.Owner, ID: d.ID, Title: d.Title, TitleFolded: naming.Fold(d.Title), Named: d.Named, OtherNames: string(others),
		TitleWords: record.Names(d.Title, d.Name), OtherWords: record.Names(d.OtherNames...),
	}))
}

// NameOwn gives a document, which the transaction has locked, the names of its text.
func NameOwn(ctx context.Context, q Queries, owner, id string, own db.OwnNames) error {
	if own.Title == "" && own.Others == nil {
		return nil
	}
	row, err := q.DocumentForChange(ctx, owner, id)
	if err != nil {
		return err
	}
	d := document(row)
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

// label sets the labels of documents that the owner sees.
func label(ctx context.Context, q Queries, owner string, docs []chat.Document) error {
	titles := make([]string, len(docs))
	for i, d := range docs {
		titles[i] = d.Title
	}
	labelled, err := labelledByID(ctx, q, owner, titles)
	for i, d := range docs {
		docs[i].Label = cmp.Or(labelled[d.ID].Label, d.Title)
	}
	return err
}

// labelledByID returns the visible documents with some titles, with their labels and owners.
func labelledByID(ctx context.Context, q Queries, owner string, titles []string) (map[string]chat.Document, error) {
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
	rows, err := q.DocumentsTitled(ctx, owner, folded)
	if err != nil {
		return nil, err
	}
	docs := make([]chat.Document, len(rows))
	for i, r := range rows {
		docs[i] = named(sqlcgen.VisibleDocumentsRow(r))
	}
	naming.Label(docs)
	byID := make(map[string]chat.Document, len(docs))
	for _, d := range docs {
		byID[d.ID] = d
	}
	return byID, nil
}

// LabelHits replaces the titles of hits by the labels of their documents, and marks those of
// public documents.
func (s *Store) LabelHits(ctx context.Context, owner string, hits []chat.Hit) error {
	titles := make([]string, len(hits))
	for i, h := range hits {
		titles[i] = h.Title
	}
	labelled, err := labelledByID(ctx, s.db.Read, owner, titles)
	for i, h := range hits {
		hits[i].Title, hits[i].Public = cmp.Or(labelled[h.DocID].Label, h.Title), labelled[h.DocID].Owner == chat.PublicOwner
	}
	return err
}

// labelRefs is LabelHits for references.
func (s *Store) labelRefs(ctx context.Context, owner string, refs []chat.DocRef) error {
	titles := make([]string, len(refs))
	for i, r := range refs {
		titles[i] = r.Title
	}
	labelled, err := labelledByID(ctx, s.db.Read, owner, titles)
	for i, r := range refs {
		refs[i].Title = cmp.Or(labelled[r.ID].Label, r.Title)
	}
	return err
}

// named is a document with its names only.
func named(r sqlcgen.VisibleDocumentsRow) chat.Document {
	return chat.Document{ID: r.ID, Owner: r.Owner, Title: r.Title, Status: chat.DocStatus(r.Status), Name: r.Name, Named: r.Named,
		OtherNames: otherNames(r.OtherNames), CreatedAt: record.Time(r.CreatedAt)}
}

func otherNames(stored string) (names []string) {
	if json.Unmarshal([]byte(stored), &names) != nil || len(names) == 0 {
		return nil
	}
	return names
}
