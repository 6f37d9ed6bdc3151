package intent

import (
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
	"github.com/palaver-chat/palaver/llm"
)

// What asks for an action, as patterns of words.txt.
var (
	summarizes  = pattern("asks for a summary")
	compares    = pattern("asks for a comparison")
	audits      = pattern("asks for an audit")
	asksIfKept  = pattern("asks whether a rule is kept")
	targets     = pattern("names what to audit against")
	asksForFact = pattern("asks for a fact")
	whWord      = pattern("begins with a question word")
	question    = pattern("is a question")
	inquires    = pattern("asks for information")
	continues   = pattern("continues")
	onlyForm    = pattern("same in another form")
	inShort     = lazyregexp.New(`(?i)\bin (?:short|brief|(?:simple|plain|easy) (?:words|terms|english|language))\b`)
	news        = pattern("asks for news")
	imperatives = map[chat.Action]*lazyregexp.Regexp{
		chat.Summarize: pattern("summarize as an order"),
		chat.Compare:   pattern("compare as an order"),
		chat.Audit:     pattern("audit as an order"),
	}
	isThere      = lazyregexp.New(`(?i)^(?:and |so |but |ok |okay |then |also |now )*(?:is|are|was|were) there\b`)
	differences  = language.NewSet("difference differences")
	joinsActions = lazyregexp.New(`(?i)\b(?:and|then|also|plus|afterwards|followed by|as well as)\b|[;&,/]`)
)

func pattern(list string) *lazyregexp.Regexp { return lazyregexp.New(`(?i)` + lists.Pattern(list)) }

// Classify decides by rules: which action a message plainly asks for, or that it goes on with
// the action before it. Everything else is an inquiry, which is searched.
func Classify(f llm.Facts) llm.Intent {
	text := language.Commands(Instruction(f.Message))
	out := llm.Intent{Confidence: chat.High, WebSearch: AsksForNews(text)}
	if out.Actions = ordered(text); len(out.Actions) > 1 {
		out.Action, out.MultiAction, out.Reasoning = out.Actions[0], true, "two actions are asked for"
		return out
	}
	out.Action, out.Reasoning = Requested(text), "its words ask for it"
	switch {
	case out.Action == chat.Summarize && AsksOfTopic(text, titlesOf(f.Documents)):
		out.Action, out.Reasoning = chat.Inquire, "asks for one topic of a document"
	case out.Action == chat.Inquire && (!question.MatchString(text) && !inquires.MatchString(text) || NamesNext(text)):
		out.Confidence, out.Reasoning = chat.Medium, "neither an order nor a question"
		goesOn := NamesNext(text) || Continues(text) && !question.MatchString(text) && !inquires.MatchString(text)
		for _, m := range slices.Backward(f.Recent) {
			if goesOn && m.Role == llm.User {
				out.Action, out.Reasoning = Requested(language.Commands(Instruction(m.Text))), "goes on with what was asked before"
				break
			}
		}
	}
	out.Actions = []chat.Action{out.Action}
	return out
}

// Requested returns the action that the words of a text ask for; an inquiry unless they ask
// for another.
func Requested(text string) chat.Action {
	wh := whWord.MatchString(text) // then "audit", "difference" and "breach" are subjects
	switch {
	case asksForFact.MatchString(text) && !compares.MatchString(text):
		return chat.Inquire
	case audits.MatchString(text), asksIfKept.MatchString(text) && !wh && !isThere.MatchString(text):
		return chat.Audit
	case compares.MatchString(text), hasAny(language.Words(text), differences) && !wh:
		return chat.Compare
	case isThere.MatchString(text):
		return chat.Inquire
	case summarizes.MatchString(text), inShort.MatchString(text) && !question.MatchString(text) && !inquires.MatchString(text):
		return chat.Summarize
	}
	return chat.Inquire
}

// ordered returns the actions of different imperatives that are joined by "and", "then" or
// the like, in order.
func ordered(text string) (out []chat.Action) {
	type order struct {
		at     int
		action chat.Action
	}
	var all []order
	for action, re := range imperatives {
		if m := re.FindStringIndex(text); m != nil {
			all = append(all, order{m[0], action})
		}
	}
	slices.SortFunc(all, func(a, b order) int { return a.at - b.at })
	for i, x := range all {
		// "check A against B and compare": the joining word may be inside the match.
		if i == 0 || joinsActions.MatchString(text[all[i-1].at:x.at]) {
			out = append(out, x.action)
		}
	}
	return out
}

// Comparing, Auditing and OnDocuments report whether an action, or if it is empty the text,
// asks for a comparison, for an audit, or works on named documents.
func Comparing(text string, a chat.Action) bool {
	return a == chat.Compare || a == "" && Requested(text) == chat.Compare
}

func Auditing(text string, a chat.Action) bool {
	return a == chat.Audit || a == "" && Requested(text) == chat.Audit
}

// NamesTarget reports whether a text says against what to audit.
func NamesTarget(text string) bool { return targets.MatchString(text) }

func OnDocuments(text string, a chat.Action) bool {
	if a == "" {
		a = Requested(text)
	}
	return a != chat.Inquire && a != chat.Talk
}

// NamesNext reports whether a short text only names the next document to do the same with:
// "and the 2024 one?", "what about the other policy?".
func NamesNext(text string) bool {
	if !isShort(text) || !continues.MatchString(text) || inquires.MatchString(text) {
		return false
	}
	words := slices.DeleteFunc(language.Words(text), func(w string) bool { return courtesies[w] })
	return HasNoSubject(text) || len(words) > 0 && meansDocument(words[len(words)-1], text)
}

// meansDocument reports whether a word of a text is the noun of a document, or a code.
func meansDocument(word, text string) bool {
	return DocumentNouns[word] || kindOfDocument[word] || language.IsYearOrVersion(word) || anyCode.MatchString(text)
}

// NamesKind reports whether a word of a question is the noun of a document, or has a number of one.
func NamesKind(word string) bool {
	return DocumentNouns[word] || kindOfDocument[word] || language.HasNumber(word)
}

// anyCode matches a code, or an abbreviation in capitals.
var anyCode = lazyregexp.New(`\b(?:[A-Z][A-Z&]{1,5}s?|[A-Z]{1,6}(?:[-_/.][A-Z]{1,6})*[-_/.]?\d{1,6})\b`)

// isShort reports whether a text has few enough words to go on with what was asked before.
func isShort(text string) bool { return len(strings.Fields(text)) <= 8 }

// Continues reports whether a short message continues what was asked before.
func Continues(text string) bool {
	return isShort(text) && (continues.MatchString(text) || onlyForm.MatchString(text)) ||
		len(strings.Fields(text)) <= 2 && strings.HasSuffix(text, "?") // "meals?"
}

var (
	// DocumentNouns are what people call documents.
	DocumentNouns  = language.Union(language.DocumentNouns, lists.Set("document nouns"))
	kindOfDocument = language.Union(language.TitleNouns, lists.Set("kind of document"))
	noSubject      = language.Union(DocumentNouns, lists.Set("empty words"), lists.Set("words of order"), lists.Set("pointing on"))
)

// HasNoSubject reports whether a text has nothing to search for: no words but those for
// documents, versions and order.
func HasNoSubject(text string) bool {
	return !slices.ContainsFunc(language.ContentWords(text), func(w string) bool { return !noSubject[w] && !language.IsVersion(w) })
}

// AsksForNews reports whether a message asks for what is current now: "is this still
// enforced?". A year alone says nothing of the kind: documents are about years.
func AsksForNews(message string) bool { return news.MatchString(message) }

// OfSubjects reports whether a request that reads like an action asks about subjects and not
// for work on documents: "how do sales compare to last year?", "bonds versus stocks", "do we
// have to comply with the law?". Unless the message means documents, it is an inquiry.
func OfSubjects(message string, a chat.Action) bool {
	text := language.Commands(message)
	words := language.Words(text)
	about := slices.ContainsFunc(language.ContentWords(text), func(w string) bool {
		return !noSubject[w] && !generic[w] && !summaryWords[w] && !compareWords[w] && !auditVerbs[w] && !language.IsVersion(w)
	})
	asked := question.MatchString(WithoutTalk(text))
	switch a {
	case chat.Compare:
		return about && (asked || !imperatives[a].MatchString(text))
	case chat.Audit:
		return about && asked && !hasAny(words, language.Pointing) && !hasAny(words, ours)
	}
	return about && !slices.ContainsFunc(words, func(w string) bool { return DocumentNouns[w] || language.TitleNouns[w] && w != "brief" })
}

// ours are words for what a person may want to have checked.
var ours = language.NewSet("my our following we i")

func titlesOf(docs []llm.Document) (titles []string) {
	for _, d := range docs {
		titles = append(titles, d.Title)
	}
	return titles
}
