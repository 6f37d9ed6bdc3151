package activities

import (
	"context"
	"encoding/json"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/tiptap"
)

// ReadTags resolves mentions and tagged ids to documents that owner may see. It
// drops unknown ids.
func (k *Kit) ReadTags(ctx context.Context, owner string, doc json.RawMessage, docs, sets []string) (tiptap.Tags, error) {
	return k.ReadTagsAmong(ctx, owner, doc, docs, sets, nil)
}

// ReadTagsAmong is ReadTags for a caller that has read some documents already.
func (k *Kit) ReadTagsAmong(ctx context.Context, owner string, doc json.RawMessage, docs, sets []string, read []chat.Document) (tiptap.Tags, error) {
	content, _ := tiptap.Read(doc) // malformed: nothing is mentioned
	t := tiptap.Tags{Names: content.Labels()}
	ids := content.IDs(tiptap.Document)
	if sets = language.Distinct(append(content.IDs(tiptap.Set), sets...)); len(sets) > 0 {
		found, err := k.Store.SetsByID(ctx, owner, sets)
		if err != nil {
			return tiptap.Tags{}, err
		}
		for _, s := range found {
			ids = append(ids, s.DocIDs...)
			t.Names = append(t.Names, s.Name)
		}
	}
	ids = language.Distinct(append(ids, docs...))
	if len(ids) == 0 {
		return t, nil
	}
	found, err := k.DocsByID(ctx, owner, ids, tiptap.Tags{Docs: read})
	if err != nil {
		return tiptap.Tags{}, err
	}
	t.Docs = found
	for _, d := range found {
		t.Names = append(t.Names, d.Title)
	}
	t.Names = language.Distinct(t.Names)
	return t, nil
}

// Visible keeps the ids that exist and that owner may see.
func (k *Kit) Visible(ctx context.Context, owner string, ids []string) ([]chat.Document, error) {
	if ids = language.Distinct(ids); len(ids) == 0 {
		return nil, nil
	}
	return k.Store.DocumentsByID(ctx, owner, ids)
}

// DocsByID is Visible, but it does not read the store when all ids are tagged documents.
func (k *Kit) DocsByID(ctx context.Context, owner string, ids []string, tagged tiptap.Tags) ([]chat.Document, error) {
	known := map[string]chat.Document{}
	for _, d := range tagged.Docs {
		known[d.ID] = d
	}
	var docs []chat.Document
	for _, id := range language.Distinct(ids) {
		d, ok := known[id]
		if !ok {
			return k.Visible(ctx, owner, ids)
		}
		docs = append(docs, d)
	}
	return docs, nil
}
