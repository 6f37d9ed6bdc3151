package intent

import (
	"regexp"
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

// news matches phrases that ask for current information.
var news = regexp.MustCompile(`(?i)\b(?:latest|newest|recent(?:ly)?|current(?:ly)?|today|nowadays|these days|this (?:year|month|week)|up[- ]to[- ]date|news|right now|as of now|still (?:\w+ )?(?:enforced|valid|in force|in effect|applicable|appl(?:y|ies)|current|up))\b|\bnow\s*[?.!]?$`)

// AsksForNews reports whether a message asks for what is current now: "is this still
// enforced?".
func AsksForNews(message string) bool { return news.MatchString(message) }
