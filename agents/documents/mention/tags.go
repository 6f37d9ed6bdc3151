package mention

import (
	"strings"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
)

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
