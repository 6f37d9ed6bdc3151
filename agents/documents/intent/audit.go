package intent

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/documents/sentence"
	"github.com/palaver-chat/palaver/internal/language"
)

// minAuditText is the minimum length of a text to audit in a message, in characters,
// without names and instruction. A quotation, and what follows a colon, may be shorter,
// because the marks show which part is the text, but it must have more words than most
// titles.
const (
	minAuditText      = 40
	minQuotation      = 20
	minQuotationWords = 5
)

// instructing are words of the sentence that asks for an audit.
var instructing = language.Union(language.Common, language.TitleNouns, auditVerbs, lists.Set("instructing"))

// SplitAudit splits a message into the instruction and the text to audit. free is the
// message without the names of documents. The text is "" when there is too little of
// it: then the person is asked for it.
//
// These count as text: what follows the colon in "Audit this against X: <text>", a
// quotation, the lines or sentences after the instruction, and a message without any
// instruction.
func SplitAudit(free string) (instruction, text string) {
	free = strings.TrimSpace(free)
	if body := quotation(free); hasShortText(body) {
		return noQuotes.Replace(strings.Replace(free, body, "", 1)), body
	}
	parts := sentence.Sentences(free)
	if len(parts) == 0 {
		return free, ""
	}
	runes := []rune(free)
	first := string(runes[:parts[0].End])
	if !AsksForAudit(first) {
		if last := parts[len(parts)-1]; len(parts) > 1 && AsksForAudit(last.Text) {
			return last.Text, ownTextOrEmpty(string(runes[:last.Start])) // the text came first
		}
		if len(parts) == 1 && strings.HasSuffix(first, "?") {
			return free, ""
		}
		return "", ownTextOrEmpty(free)
	}
	if len(parts) == 1 && strings.HasSuffix(first, "?") && !strings.Contains(first, ":") {
		return splitCase(free)
	}
	if i := strings.IndexAny(first, ":\n"); i >= 0 && AsksForAudit(first[:i]) && hasShortText(free[i+1:]) {
		return first[:i], strings.TrimSpace(free[i+1:])
	}
	if rest := strings.TrimSpace(string(runes[parts[0].End:])); HasText(rest) {
		return first, rest
	}
	return free, ""
}

// caseAsked matches the case in a question whether it keeps a rule: "… if we give away a
// bottle", "would it be fine under X to keep a tip".
var caseAsked = regexp.MustCompile(`(?i)\b(?:if|when) (.+)$|\b(?:ok|okay|fine|allowed|permitted|acceptable|compliant|legal)\b.*?(\bto .+)$`)

// splitCase splits one question into instruction and text.
func splitCase(question string) (instruction, text string) {
	m := caseAsked.FindStringSubmatchIndex(question)
	if m == nil {
		return question, ""
	}
	at := max(m[2], m[4])
	if text = strings.TrimSpace(question[at:]); hasShortText(text) {
		return strings.TrimSpace(question[:at]), text
	}
	return question, ""
}

var noQuotes = strings.NewReplacer(`"`, "", "“", "", "”", "", "«", "", "»", "")

// AsksForAudit reports whether a text has a verb that asks for an audit.
func AsksForAudit(s string) bool {
	return hasAny(language.Words(language.Commands(s)), auditVerbs) || asksWhetherKept.MatchString(s)
}

// asksWhetherKept matches the question whether something keeps a rule: "does this break
// the gifts policy?", "is that in line with X?".
var asksWhetherKept = regexp.MustCompile(`(?i)\b(?:(?:do|does|did|would|will) (?:this|that|it|these|those|my|our|the)\b[^.?!\n]{0,80}\b(?:break|breach|violate|contravene|conflict with|comply|conform)|(?:is|are|was|would|be) (?:this|that|it|these|those|my|our|the)\b[^.?!\n]{0,80}\b(?:in line with|in breach of|an? (?:breach|violation) of|consistent with|compatible with|against|(?:ok|okay|fine|allowed|permitted|acceptable|compliant|legal) (?:under|with|by|according to|per))\b|against\b[^.?!:\n]{2,80}:|(?:problems|issues|mistakes|conflicts) (?:in|with) (?:this|the following|my|our)\b|which (?:rules?|clauses?|sections?|parts?)\b[^.?!\n]{0,80}\b(?:broken|violated|breached)\b|(?:are|am|is|were|was) (?:we|i|they|he|she)\b[^.?!\n]{0,40}\b(?:breaking|breaching)\b|(?:^|[.?!:"”»\n])\W*(?:in line|consistent|compliant) with\b)`)

// HasText reports whether s has enough words for a text to audit, beside those of the
// instruction.
func HasText(s string) bool { return hasText(s, minAuditText) }

// hasShortText reports whether what the marks of a message set off is a text to audit.
func hasShortText(s string) bool {
	return hasText(s, minQuotation) && len(language.Words(s)) >= minQuotationWords
}

func hasText(s string, least int) bool {
	own := 0
	for _, w := range language.Words(s) {
		if !instructing[w] {
			own += utf8.RuneCountInString(w)
		}
	}
	return utf8.RuneCountInString(strings.TrimSpace(s)) > least && own > least/3
}

func ownTextOrEmpty(s string) string {
	if s = strings.TrimSpace(s); !HasText(s) {
		return ""
	}
	return s
}

// quotation returns the longest text within double quotes.
func quotation(s string) string {
	longest := ""
	for {
		i := strings.IndexAny(s, language.OpeningDoubleQuotes)
		if i < 0 {
			return longest
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		s = s[i+size:]
		j := strings.IndexAny(s, language.ClosingDoubleQuotes)
		if j < 0 {
			return longest
		}
		if quote := strings.TrimFunc(s[:j], unicode.IsSpace); len(quote) > len(longest) {
			longest = quote
		}
		_, size = utf8.DecodeRuneInString(s[j:])
		s = s[j+size:]
	}
}
