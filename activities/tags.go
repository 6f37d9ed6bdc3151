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
func (k *Kit) ReadTags(ctx context.Context, ref TurnRef, doc json.RawMessage, docs, sets []string) (tiptap.Tags, error) {
	return k.ReadTagsAmong(ctx, ref, doc, docs, sets, nil)
}

// ReadTagsAmong is ReadTags for a caller that has read some documents already.
func (k *Kit) ReadTagsAmong(ctx context.Context, ref TurnRef, doc json.RawMessage, docs, sets []string, read []chat.Document) (tiptap.Tags, error) {
	content, _ := tiptap.Read(doc) // malformed: nothing is mentioned
	t := tiptap.Tags{Names: content.Labels()}
	ids := content.IDs(tiptap.Document)
	if sets = language.Distinct(append(content.IDs(tiptap.Set), sets...)); len(sets) > 0 {
		found, err := k.Store.SetsByID(ctx, ref.Owner, sets)
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
	found, err := k.docsAmong(ctx, ref, ids, read)
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

// docsAmong is DocsByID, but it does not read when all ids are among read.
func (k *Kit) docsAmong(ctx context.Context, ref TurnRef, ids []string, read []chat.Document) ([]chat.Document, error) {
	known := make(map[string]chat.Document, len(read))
	for _, d := range read {
		known[d.ID] = d
	}
	if docs, all := inOrder(known, ids); all {
		k.rememberDocs(ref, docs)
		return docs, nil
	}
	return k.DocsByID(ctx, ref, ids)
}
