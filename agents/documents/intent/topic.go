package intent

import (
	"slices"

	"github.com/palaver-chat/palaver/internal/language"
)

// named is a placeholder for a document's name.
const named = "\uFFFCDOC\uFFFC"

const namedWord = "doc" // named, as language.Words returns it

var (
	aboutWords  = language.NewSet("about regarding concerning respect regards terms")
	withinWords = language.NewSet("in from within of under")
	// generic are words for a document as a whole, not for a subject in it.
	wholes  = language.Union(language.Determiners, language.Connecting, lists.Set("generic"))
	generic = language.Union(language.TitleNouns, wholes)
)

// AsksOfTopic is the rule "summarize X about Y is an inquiry": it reports whether a
// request for a summary is about one subject in a document. names are the documents'
// names in it. It recognizes clear cases only.
func AsksOfTopic(message string, names []string) bool {
	ws := language.Words(language.Commands(language.ReplaceNames(message, names, " "+named+" ")))
	at := slices.IndexFunc(ws, func(w string) bool { return summaryWords[w] })
	if at < 0 {
		return false
	}
	rest := ws[at+1:]
	for i, w := range rest {
		switch {
		case aboutWords[w] && i > 0 && mailNouns[rest[i-1]]: // "the email about …" is its name
		case (w == "respect" || w == "regards" || w == "terms") && (i == 0 || rest[i-1] != "with" && rest[i-1] != "in"):
		case aboutWords[w], w == "on" && i > 0 && rest[i-1] == namedWord:
			if hasSubject(rest[i+1:]) {
				return true
			}
		case withinWords[w]:
			if namesDocument(rest[i+1:]) && hasSubject(rest[:i]) {
				return true
			}
		}
	}
	return false
}

// hasSubject reports whether words have a subject. Two nouns that stand in titles are one:
// "the notice rules".
func hasSubject(ws []string) bool {
	nouns := 0
	for _, w := range ws {
		if !generic[w] && !language.IsVersion(w) {
			return true
		}
		if language.TitleNouns[w] && !wholes[w] {
			nouns++
		}
	}
	return nouns > 1
}

var mailNouns = language.NewSet("letter email mail memo message note")

func namesDocument(ws []string) bool {
	return slices.ContainsFunc(ws, func(w string) bool { return w == namedWord || language.TitleNouns[w] })
}
