package intent

import (
	"slices"

	"github.com/palaver-chat/palaver/internal/language"
)

// named is a placeholder for a document's name.
const named = "\uFFFCDOC\uFFFC"

const namedWord = "doc" // named, as language.Words returns it

var (
	aboutWords  = language.NewSet("about regarding concerning")
	withinWords = language.NewSet("in from within of under")
	// generic are words for a document as a whole, not for a subject in it.
	generic = language.Union(language.TitleNouns, language.Determiners, language.Connecting, lists.Set("generic"))
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

// ComparesSubjects reports whether a question about a difference names subjects and no
// documents: "is there a difference between day and night pay?".
func ComparesSubjects(message string) bool {
	words := language.Words(language.Commands(message))
	if len(words) == 0 || !questionWords[words[0]] || hasAny(words, language.TitleNouns) || hasAny(words, language.Pointing) || hasAny(words, language.NewSet("two versus vs compare")) || slices.ContainsFunc(words, language.IsYearOrVersion) {
		return false
	}
	return len(SubjectWords(message)) > 2
}

func hasSubject(ws []string) bool {
	return slices.ContainsFunc(ws, func(w string) bool { return !generic[w] && !language.IsVersion(w) })
}

var mailNouns = language.NewSet("letter email mail memo message note")

func namesDocument(ws []string) bool {
	return slices.ContainsFunc(ws, func(w string) bool { return w == namedWord || language.TitleNouns[w] })
}
