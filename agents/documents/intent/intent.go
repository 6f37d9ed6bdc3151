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

// Likely returns the actions that may be meant, the likeliest first, at least two: those
// that the model listed, then those that the message asks for, then the usual ones.
func Likely(answer llm.Intent, message string) (out []chat.Action) {
	listed := append(slices.Clone(answer.Actions), answer.Action)
	if !answer.MultiAction {
		listed = append([]chat.Action{answer.Action}, listed...)
	}
	text := language.Commands(message)
	for i, x := range slices.Concat(listed, ordered(text), []chat.Action{Requested(text), chat.Inquire, chat.Summarize}) {
		if x.Valid() && !slices.Contains(out, x) && (i < len(listed) || len(out) < 2) {
			out = append(out, x)
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
	own, lang := 0, language.Detect(message)
	for _, w := range SubjectWords(message) {
		if !generic[w] && !language.IsYearOrVersion(w) && !language.TimeUnits[w] && !relativeTime[w] && !stressing[w] && !language.IsStopWordIn(w, lang) {
			own++
		}
	}
	return own < 2
}

// stressing are words that only add emphasis: "really? also on Sundays?".
var stressing = lists.Set("stressing")

var relativeTime = language.NewSet("s year's now instead too")

func hasAny(words []string, of language.Set) bool {
	return slices.ContainsFunc(words, func(w string) bool { return of[w] })
}
