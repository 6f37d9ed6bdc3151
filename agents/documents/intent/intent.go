// Package intent has the rules about what a message asks for: which action, whether it
// is about one topic or about current information, and which part is a text to audit.
// Rules recognize clear cases; a model decides about the others.
package intent

import (
	_ "embed"
	"slices"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
)

//go:embed words.txt
var wordsFile string

// lists are the words that the rules of this package know.
var lists = language.ReadLists(wordsFile)

var (
	summaryWords = lists.Set("summary words")
	compareWords = lists.Set("compare words")
	auditWords   = lists.Set("audit words")
	auditVerbs   = language.Union(auditWords, lists.Set("audit verbs"))
)

// actionWords are words that ask for an action.
var actionWords = map[chat.Action]language.Set{
	chat.Summarize: summaryWords,
	chat.Compare:   compareWords,
	chat.Audit:     auditWords,
	chat.Inquire:   language.NewSet("what who when where why how which explain answer question"),
}

// Likely returns the actions that may be meant, the likeliest first, at least two: those
// that the model listed, then those that the message's words ask for, then the usual
// ones.
func Likely(answer llm.Intent, message string) []chat.Action {
	var out []chat.Action
	add := func(x chat.Action) {
		if x.Valid() && !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	if !answer.MultiAction {
		add(answer.Action)
	}
	for _, x := range answer.Actions {
		add(x)
	}
	add(answer.Action)
	ws := language.Words(language.Commands(message))
	for _, x := range []chat.Action{chat.Compare, chat.Audit, chat.Summarize, chat.Inquire} {
		if len(out) < 2 && hasAny(ws, actionWords[x]) {
			add(x)
		}
	}
	for _, x := range []chat.Action{chat.Inquire, chat.Summarize} {
		if len(out) < 2 {
			add(x)
		}
	}
	return out
}

// AsksForDocuments reports whether a message asks to summarize, compare or audit.
func AsksForDocuments(message string) bool {
	ws := language.Words(language.Commands(message))
	return hasAny(ws, summaryWords) || hasAny(ws, compareWords) || hasAny(ws, auditVerbs)
}

// OnlyMentions reports whether a message, from which the names of documents were
// removed, only connects them and asks for an action.
func OnlyMentions(rest string) bool {
	return !slices.ContainsFunc(language.Words(rest), func(w string) bool { return !language.Connecting[w] })
}

// SubjectWords returns the words that say what a message is about.
func SubjectWords(message string) []string {
	return slices.DeleteFunc(language.Words(message), func(w string) bool { return language.Common[w] })
}

// GoesOn reports whether a message says too little by itself to be searched for: "and the
// other one?", "what about last year's version".
func GoesOn(message string) bool {
	own := 0
	for _, w := range SubjectWords(message) {
		if !generic[w] && !language.IsYearOrVersion(w) && !relativeTime[w] && !stressing[w] {
			own++
		}
	}
	return own < 2
}

// stressing are words that only add emphasis: "really? also on Sundays?".
var stressing = lists.Set("stressing")

var relativeTime = language.NewSet("year years s year's now instead too")

func hasAny(words []string, of language.Set) bool {
	return slices.ContainsFunc(words, func(w string) bool { return of[w] })
}
