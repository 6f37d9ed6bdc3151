package mention

import (
	"strings"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
)

// Tags are the documents that a person mentioned or tagged, in a message or an answer.
type Tags struct {
	Docs  []chat.Document // existing and visible, sets expanded, each once
	Names []string        // as they are written in the text
}

// IDs returns the ids of the documents.
func (t Tags) IDs() []string { return IDs(t.Docs) }

// TextWithout returns text without the tagged names.
func (t Tags) TextWithout(text string) string { return language.ReplaceNames(text, t.Names, " ") }

// IDs returns the ids of documents, in order.
func IDs(docs []chat.Document) []string {
	var ids []string
	for _, d := range docs {
		ids = append(ids, d.ID)
	}
	return ids
}

// maxQuotedName limits a name that a question quotes, in characters.
const maxQuotedName = 80

// Quote lists names in quotation marks, for a question to the person.
func Quote(names []string) string {
	var quoted []string
	for _, n := range names {
		n = strings.Join(strings.Fields(n), " ")
		quoted = append(quoted, `"`+language.Truncate(n, maxQuotedName)+`"`)
	}
	return strings.Join(language.Distinct(quoted), ", ")
}
