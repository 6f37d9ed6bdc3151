package activities

import (
	"context"
	"encoding/json"

	"github.com/palaver-chat/palaver/agents/documents/mention"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/tiptap"
)

// readTags resolves mentions and tagged ids to documents that owner may see. It
// drops unknown ids.
func (a *Activities) readTags(ctx context.Context, owner string, doc json.RawMessage, docs, sets []string) (mention.Tags, error) {
	return a.readTagsAmong(ctx, owner, doc, docs, sets, nil)
}

// readTagsAmong is readTags for a caller that has read some documents already.
func (a *Activities) readTagsAmong(ctx context.Context, owner string, doc json.RawMessage, docs, sets []string, read []chat.Document) (mention.Tags, error) {
	content, _ := tiptap.Read(doc) // malformed: nothing is mentioned
	t := mention.Tags{Names: content.Labels()}
	ids := content.IDs(tiptap.Document)
	if sets = language.Distinct(append(content.IDs(tiptap.Set), sets...)); len(sets) > 0 {
		found, err := a.Store.SetsByID(ctx, owner, sets)
		if err != nil {
			return mention.Tags{}, err
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
	found, err := a.docsByID(ctx, owner, ids, mention.Tags{Docs: read})
	if err != nil {
		return mention.Tags{}, err
	}
	t.Docs = found
	for _, d := range found {
		t.Names = append(t.Names, d.Title)
	}
	t.Names = language.Distinct(t.Names)
	return t, nil
}
