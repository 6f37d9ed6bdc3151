package tiptap

import (
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
)

// Tags are the documents that a person mentioned or tagged, in a message or an answer.
type Tags struct {
	Docs  []chat.Document // existing and visible, sets expanded, each once
	Names []string        // as they are written in the text
}

// IDs returns the ids of the documents, in order.
func (t Tags) IDs() []string {
	var ids []string
	for _, d := range t.Docs {
		ids = append(ids, d.ID)
	}
	return ids
}

// TextWithout returns text without the tagged names.
func (t Tags) TextWithout(text string) string { return language.ReplaceNames(text, t.Names, " ") }
