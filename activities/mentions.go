package activities

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/palaver-chat/palaver/activities/tiptap"
	"github.com/palaver-chat/palaver/chat"
)

// tags are the documents that a person mentioned or tagged, in a message or an answer.
type tags struct {
	docs  []chat.Document // existing and visible, sets expanded, each once
	names []string        // as they are written in the text
}

func (t tags) ids() []string { return docIDs(t.docs) }

// textWithoutTags is text without the tagged names.
func (t tags) textWithoutTags(text string) string { return replaceNames(text, t.names, " ") }

// readTags resolves mentions and tagged ids to documents that owner may see. It
// drops unknown ids.
func (a *Activities) readTags(ctx context.Context, owner string, doc json.RawMessage, docs, sets []string) (tags, error) {
	return a.readTagsAmong(ctx, owner, doc, docs, sets, nil)
}

// readTagsAmong is readTags for a caller that has read some documents already.
func (a *Activities) readTagsAmong(ctx context.Context, owner string, doc json.RawMessage, docs, sets []string, read []chat.Document) (tags, error) {
	content, _ := tiptap.Read(doc) // malformed: nothing is mentioned
	t := tags{names: content.Labels()}
	ids := content.IDs(tiptap.Document)
	if sets = unique(append(content.IDs(tiptap.Set), sets...)); len(sets) > 0 {
		found, err := a.Store.SetsByID(ctx, owner, sets)
		if err != nil {
			return tags{}, err
		}
		for _, s := range found {
			ids = append(ids, s.DocIDs...)
			t.names = append(t.names, s.Name)
		}
	}
	ids = unique(append(ids, docs...))
	if len(ids) == 0 {
		return t, nil
	}
	found, err := a.docsByID(ctx, owner, ids, tags{docs: read})
	if err != nil {
		return tags{}, err
	}
	t.docs = found
	for _, d := range found {
		t.names = append(t.names, d.Title)
	}
	t.names = unique(t.names)
	return t, nil
}

func docIDs(docs []chat.Document) []string {
	var ids []string
	for _, d := range docs {
		ids = append(ids, d.ID)
	}
	return ids
}

func processing(docs []chat.Document) bool {
	return slices.ContainsFunc(docs, func(d chat.Document) bool { return d.Status == chat.DocProcessing })
}
