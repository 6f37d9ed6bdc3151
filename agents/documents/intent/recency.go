package intent

import (
	"slices"

	"github.com/palaver-chat/palaver/internal/language"
)

// recencyTerms are words that ask for current information.
var recencyTerms = language.NewSet("latest recent recently current currently now today")

// AsksForCurrent reports whether a text has one of the terms as a whole word. A year
// alone says nothing of the kind: documents are about years.
func AsksForCurrent(text string) bool {
	return slices.ContainsFunc(language.Words(text), func(w string) bool { return recencyTerms[w] })
}
