package intent

import (
	"regexp"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
)

var (
	// Two of these imperatives in one message ask for two actions.
	imperatives = []struct {
		action chat.Action
		re     *regexp.Regexp
	}{
		{chat.Summarize, regexp.MustCompile(`(?i)\b(?:summari[sz]e|sum up|recap|(?:give|write|make|get)(?: me)? an? (?:\w+ )?(?:summary|overview)|tl;?dr)\b`)},
		{chat.Compare, regexp.MustCompile(`(?i)\b(?:compare|contrast|comparison (?:with|to|of|between))\b`)},
		{chat.Audit, regexp.MustCompile(`(?i)\b(?:audit\s*/|audit (?:and|or|then)\b|audit[ \t]+(?:@|["“\[]|\d|(?-i:[A-Z])|(?:this|the|my|our|it|that|these|them|all|both|and|against|for)\b)|audit\b[^.?!\n]{0,160}\bagainst\b|audit[ \t]*[.!:]?$|(?:check|review|verify|assess|validate)\b[^.?!\n]{0,120}\bagainst\b)`)},
	}
	joinsActions = regexp.MustCompile(`(?i)\b(?:and|then|also|plus|afterwards|followed by|as well as)\b|[;&,/]`)

	tellAbout = regexp.MustCompile(`(?i)^(?:please |now |can you |could you )*(?:tell me (?:more )?about|talk about|describe|what about|how about|what is in|what'?s in)\s+(?:it|this|that|the|my|our|them)?\s*(?:document|doc|file|policy|contract|circular|report|one|text|pdf|it)?\s*[?.!]*$`)
)

// Classify decides by rules. A clear verb or a question has high confidence; anything else has
// medium confidence, and is an inquiry unless it goes on with another request.
func Classify(f llm.Facts) llm.Intent {
	text := language.Commands(Instruction(f.Message))
	out := classify(text, f)
	out.WebSearch = AsksForNews(text)
	if out.Confidence == chat.Low || out.Confidence == chat.Medium {
		out = followUp(out, text, f)
	}
	if out.Confidence == chat.Low && !out.MultiAction { // it is searched, and nothing is asked
		out.Confidence = chat.Medium
	}
	return out
}

// topicQuestion matches questions that ask for a fact: in them "audit", "summary" and
// "breach" are subjects.
var topicQuestion = regexp.MustCompile(`(?i)^(?:and |so |but |ok |okay |then |also |now )*(?:who|whom|whose|when|where|why|which|how (?:many|much|often|long|quickly|soon|high|large|late|far))\b[^.!\n]*\b(?:audit\w*|check\w*|review\w*|verif\w+|summar\w+|overview|outline|breach\w*|violat\w+|compl(?:y|ies|iance|iant))\b`)

// sameAgain matches a request to do the same as before.
var sameAgain = regexp.MustCompile(`(?i)^(?:please |now |then |and |can you |could you )*(?:do the same|the same|same|likewise|ditto|repeat that)\b(?: (?:for|with|to|on|of)\b|[^\pL]*$)`)

var (
	// onlyForm matches a request for the same in another form: "shorter, please".
	onlyForm = regexp.MustCompile(`(?i)^(?:(?:please|now|and|again|but|a bit|a little|much|make|can you|could you|it|that|this|once|say|put|more|just)[ ,]+)*(?:shorter|longer|briefer|simpler|clearer|in (?:a|one|two|three|four|five|\d+|a few|few) (?:sentences?|lines?|bullets?|words?|paragraphs?|bullet points)|in (?:simple|simpler|plain|easy|other|more) \w+|in more detail|again|once more)(?:,? (?:please|pls|thanks))?\W*$`)
	// inForm matches a request for a short or simple text. It asks for a summary if it is not a question.
	inForm = regexp.MustCompile(`(?i)\bin (?:short|brief|(?:simple|plain|easy) (?:words|terms|english|language))\b`)
	// givesDocument matches "give me the contract", which asks for no particular part of it.
	givesDocument = regexp.MustCompile(`(?i)^(?:please |now |then |and |can you |could you )*(?:give|show|get) me (?:[\w&'’/-]+ ){1,6}in (?:short|brief|simple|plain|easy)\b`)
	// wholeInShort matches a question for all of a document: "what does the manual cover overall?".
	wholeInShort = regexp.MustCompile(`(?i)^(?:and |so |ok |okay )*what (?:(?:(?:should|do|must|did) (?:i|we) (?:need to |have to )?know (?:about|from)|(?:happened|was said|was decided|was discussed) (?:in|at)|is in)\b.*|(?:does|do|did) .{2,80} (?:cover|say|contain|deal with|decide))[\s,]+(?:in short|in brief|briefly|overall|altogether|as a whole|in general|all in all)\W*$`)
	// ellipsis matches a question that has no subject of its own.
	ellipsis = regexp.MustCompile(`(?i)^(?:and |but |so |ok |okay )*(?:why|why not|why is that|why so|how so|how come|since when|until when|by when|by whom|who says|says who|how exactly|how much|how many|how long|how often|when|where|who)\W*$`)
)

func asksForSummary(text string) bool {
	if summarizeVerb.MatchString(text) || wholeInShort.MatchString(text) {
		return true
	}
	return inForm.MatchString(text) && !question.MatchString(text) && (!inquireVerb.MatchString(text) || givesDocument.MatchString(text))
}

// isThere matches a question whether something exists: "is there a penalty if …".
var isThere = regexp.MustCompile(`(?i)^(?:and |so |but |ok |okay |then |also |now )*(?:is|are|was|were) there\b`)

// aboutWork matches a question in which the name of an action is the subject, or somebody
// else's duty: "can breaches of the NDA be fined?", "do we have to audit Contoso?".
var aboutWork = regexp.MustCompile(`(?i)^(?:and |so |but |ok |okay |then |also |now )*(?:(?:is|are|was|were|can|could|do|does|did|will|would|may|must|shall|should) (?:(?:an?|any|the|all|our|data|serious|repeated|yearly|annual|internal|external) )*(?:breach(?:es)?|violations?|differences?|summar(?:y|ies)|audits?|reviews?)\b|(?:do|does|did|must|may|should|shall|has|have|had) (?:i|we|they|any\w+|some\w+|every\w+|nobody|(?:the |our |an? )?\w+) (?:have to |need to |got to |also |ever )*(?:audit|check|review|verify|examine|inspect)\b)`)

// whatNoun matches "what summary of …", a question for it.
var whatNoun = regexp.MustCompile(`(?i)^(?:and |so |but )?what (?:kind of )?(?:summar(?:y|ies)|overviews?|audits?|reviews?|checks?|violations?|breach(?:es)?)\b`)

// asksWhetherBroken matches "is that a breach of …", which asks for an audit.
var asksWhetherBroken = regexp.MustCompile(`(?i)\b(?:this|that|it|these|those) (?:a )?(?:breach|violation)|\bagainst\b`)

// asksForFact reports whether a question asks for a fact, whatever its subject is called.
func asksForFact(text string) bool {
	if whatNoun.MatchString(text) {
		return true
	}
	if aboutWork.MatchString(text) && !asksWhetherBroken.MatchString(text) {
		return true
	}
	return topicQuestion.MatchString(text) || isThere.MatchString(text) && !auditVerb.MatchString(text) && !summarizeVerb.MatchString(text)
}

func classify(text string, f llm.Facts) llm.Intent {
	if asksForFact(text) && !compareVerb.MatchString(text) {
		return certain(chat.Inquire, "a question whose subject is named like an action")
	}
	if several := actionsInOrder(text); len(several) > 1 {
		return llm.Intent{Action: several[0], Confidence: chat.High, MultiAction: true, Actions: several, Reasoning: "two actions are asked for"}
	}
	wh := whWord.MatchString(text)
	if sameAgain.MatchString(text) || len(f.Recent) > 0 && onlyForm.MatchString(text) { // the message before says what
		return uncertain()
	}
	if len(f.Recent) > 0 && (ellipsis.MatchString(text) || wh && HasNoSubject(text) && !continues.MatchString(text) && !asksForSummary(text) && !compareVerb.MatchString(text)) {
		return certain(chat.Inquire, "asks on about what was said")
	}
	switch {
	case auditVerb.MatchString(text), auditQuestion.MatchString(text) && !wh:
		return certain(chat.Audit, "asks to check against rules")
	case tellAbout.MatchString(text):
		return llm.Intent{Action: chat.Summarize, Confidence: chat.Medium, Actions: []chat.Action{chat.Summarize, chat.Inquire}, Reasoning: "asks about a document as a whole"}
	case compareVerb.MatchString(text), aDifference.MatchString(text) && !wh:
		return certain(chat.Compare, "asks to compare")
	case asksForSummary(text) && !wholeInShort.MatchString(text) && AsksOfTopic(text, titlesOf(f.Documents)):
		return certain(chat.Inquire, "asks for one topic of a document")
	case asksForSummary(text):
		return certain(chat.Summarize, "asks for a summary")
	case OnlyNamesDocument(text):
		return llm.Intent{Action: chat.Inquire, Confidence: chat.Medium, Actions: []chat.Action{chat.Inquire, chat.Summarize}, Reasoning: "names a document and asks nothing of it"}
	case question.MatchString(text) && (!HasNoSubject(text) || asksContent.MatchString(text)):
		return certain(chat.Inquire, "a question")
	case inquireVerb.MatchString(text) && !HasNoSubject(text):
		return certain(chat.Inquire, "asks for information")
	}
	return uncertain()
}

func certain(a chat.Action, why string) llm.Intent {
	return llm.Intent{Action: a, Confidence: chat.High, Actions: []chat.Action{a}, Reasoning: why}
}

// actionsInOrder returns the actions of different imperatives that are joined by "and",
// "then" or the like, in order.
func actionsInOrder(text string) []chat.Action {
	type found struct {
		at, end int
		action  chat.Action
	}
	var all []found
	for _, im := range imperatives {
		if m := im.re.FindStringIndex(text); m != nil {
			all = append(all, found{m[0], m[1], im.action})
		}
	}
	slices.SortFunc(all, func(a, b found) int { return a.at - b.at })
	var out []chat.Action
	for i, x := range all {
		// "check A against B and compare": the joining word may be inside the match.
		if i > 0 && !joinsActions.MatchString(text[all[i-1].at:x.at]) {
			continue
		}
		out = append(out, x.action)
	}
	return out
}

// asksContent matches a question about what a document says.
var asksContent = regexp.MustCompile(`(?i)\b(?:do|does|did)\b.*\b(?:say|state|require|mention|contain|cover|allow|prohibit|provide|specify|define|mean)s?\b`)

// OnlyNamesDocument reports whether a text continues another and has no more than a
// document: "and the 2024 one?", "what about the other policy?".
func OnlyNamesDocument(text string) bool {
	if !continues.MatchString(text) || inquireVerb.MatchString(text) {
		return false
	}
	if next := nextDocument.FindStringSubmatch(text); next != nil && (kindOfDocument[strings.ToLower(next[1])] || anyCode.MatchString(next[1])) {
		return true
	}
	return onlyVersions(otherWords(text, DocumentNouns, emptyWords, wordsOfOrder))
}

var (
	// nextDocument matches "and the travel policy?", with its last word.
	nextDocument = regexp.MustCompile(`(?i)^(?:and|now|then|next|also|what about|how about|same for|und|en|et|y)(?: now| with| for)?(?: (?:the|our|my|das|die|der|de|het|la|le|el))?(?: [\w&'’/-]+){0,4}? ([\w&'’/-]+?)(?: (?:v\d+|\d{4}))?\W*$`)
	// anyCode matches a code, or an abbreviation in capitals.
	anyCode        = regexp.MustCompile(`^(?:[A-Z][A-Z&]{1,5}s?|[A-Z]{1,6}(?:[-_/.][A-Z]{1,6})*[-_/.]?\d{1,6})$`)
	kindOfDocument = language.Union(DocumentNouns, lists.Set("kind of document"))
)

var wordsOfOrder = lists.Set("words of order")

// HasNoSubject reports whether a text has nothing to search for.
func HasNoSubject(text string) bool { return len(otherWords(text, DocumentNouns, emptyWords)) == 0 }

// SaysNothingNew reports whether a text has no subject but documents, versions and order.
func SaysNothingNew(text string) bool {
	return onlyVersions(otherWords(text, DocumentNouns, emptyWords, wordsOfOrder, pointingOn))
}

var pointingOn = lists.Set("pointing on")

// DocumentNouns are what people call documents.
var DocumentNouns = language.Union(language.DocumentNouns, lists.Set("document nouns"))

var emptyWords = lists.Set("empty words")

// uncertain takes a text without verb or question for key words of a search.
func uncertain() llm.Intent {
	return llm.Intent{Action: chat.Inquire, Confidence: chat.Low, Actions: []chat.Action{chat.Inquire, chat.Summarize}, Reasoning: "no verb and no question"}
}

// followUp reads a short message as a continuation of the last request: "and the second
// one?" after a summary asks for another.
func followUp(now llm.Intent, text string, f llm.Facts) llm.Intent {
	if len(strings.Fields(text)) > 8 {
		return now
	}
	for i := len(f.Recent) - 1; i >= 0; i-- {
		if f.Recent[i].Role != llm.User {
			continue
		}
		before := classify(language.Commands(Instruction(f.Recent[i].Text)), llm.Facts{Message: f.Recent[i].Text, Documents: f.Documents})
		if before.Confidence != chat.High || before.MultiAction {
			return now
		}
		if !continues.MatchString(text) && !onlyForm.MatchString(text) && now.Confidence == chat.Low {
			return now
		}
		other := now.Actions
		now.Action, now.Confidence, now.Reasoning = before.Action, chat.Medium, "goes on with what was asked before"
		now.Actions = []chat.Action{before.Action}
		for _, a := range other {
			if a != before.Action {
				now.Actions = append(now.Actions, a)
			}
		}
		return now
	}
	return now
}

var continues = regexp.MustCompile(`(?i)^(?:and|also|now|same|again|more|next|then|too|do the same|likewise|ditto|und|en|et|y|what about|how about|the (?:other|second|first|next|same))\b|\b(?:as well|too|again|instead)\s*[?.!]*$`)

// otherWords returns the content words of a text that are in none of the sets.
func otherWords(text string, sets ...language.Set) []string {
	return slices.DeleteFunc(language.ContentWords(text), func(w string) bool {
		return slices.ContainsFunc(sets, func(s language.Set) bool { return s[w] })
	})
}

// onlyVersions reports whether words are all numbers or versions.
func onlyVersions(words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !language.IsVersion(w) })
}

// Comparing, Auditing and OnDocuments report whether an action, or if it is empty the text,
// asks for a comparison, for an audit, or works on named documents.
func Comparing(text string, a chat.Action) bool {
	return a == chat.Compare || a == "" && compareVerb.MatchString(text) && !auditVerb.MatchString(text)
}

func Auditing(text string, a chat.Action) bool {
	return a == chat.Audit || a == "" && (auditVerb.MatchString(text) || auditQuestion.MatchString(text))
}

func OnDocuments(text string, a chat.Action) bool {
	return a == chat.Summarize || a == chat.Compare || a == chat.Audit || a == "" && !asksForFact(text) &&
		(summarizeVerb.MatchString(text) || compareVerb.MatchString(text) || auditVerb.MatchString(text))
}

// Continues reports whether a short message continues what was asked before.
func Continues(text string) bool {
	const short = 8 // words
	words := len(strings.Fields(text))
	return words <= short && (continues.MatchString(text) || onlyForm.MatchString(text) || ellipsis.MatchString(text)) ||
		words <= 2 && strings.HasSuffix(text, "?") // "meals?"
}

func titlesOf(docs []llm.Document) (titles []string) {
	for _, d := range docs {
		titles = append(titles, d.Title)
	}
	return titles
}
