package intent

import (
	"regexp"
	"slices"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
)

// named is a placeholder for a document's name.
const named = "\uFFFCDOC\uFFFC"

const namedWord = "doc" // named, as language.Words returns it

var (
	aboutWords  = language.NewSet("about regarding concerning respect regards terms")
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

// OfSubjects reports whether a request that reads like an action asks about subjects and not
// for work on documents: "how do sales compare to last year?", "summarize the types of
// services". It holds unless the message means documents.
func OfSubjects(message string, a chat.Action) bool {
	text := language.Commands(message)
	words := language.Words(text)
	subject := slices.ContainsFunc(otherWords(text, DocumentNouns, emptyWords, summaryWords, compareWords, auditVerbs, generic), func(w string) bool { return !language.IsVersion(w) })
	if a == chat.Compare {
		return subject && question.MatchString(WithoutTalk(text))
	}
	return subject && !hasAny(words, DocumentNouns) && !hasAny(words, language.TitleNouns)
}
