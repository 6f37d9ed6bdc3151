package intent

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/documents/sentence"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

// minAuditText is the minimum length of a text to audit in a message, in characters,
// without names and instruction. A quotation, and what follows a colon, may be shorter,
// because the marks show which part is the text, but it must have more words than most
// titles.
const (
	minAuditText      = 40
	minQuotation      = 20
	minQuotationWords = 5
	minSentenceWords  = 3 // of a quotation that is plainly a sentence
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
	if i := strings.IndexAny(first, ":\n"); i >= 0 && AsksForAudit(first[:i]) {
		body, target := free[i+1:], ""
		if at := againstAfter.FindStringIndex(body); at != nil { // "audit this: <text>. against X"
			body, target = body[:at[0]+1], " "+body[at[0]+1:]
		}
		if hasShortText(body) {
			return first[:i] + target, strings.TrimSpace(body)
		}
	}
	if rest := strings.TrimSpace(string(runes[parts[0].End:])); HasText(rest) {
		return first, rest
	}
	return free, ""
}

// caseAsked matches the case in a question whether it keeps a rule: "… if we give away a
// bottle", "would it be fine under X to keep a tip".
var caseAsked = lazyregexp.New(`(?i)\b(?:if|when) (.+)$|\b(?:ok|okay|fine|allowed|permitted|acceptable|compliant|legal)\b.*?(\bto .+)$`)

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

var againstAfter = lazyregexp.New(`(?i)[.!?]\s+against\s[^.!?\n]+[.!?]?\s*$`)

var noQuotes = strings.NewReplacer(`"`, "", "“", "", "”", "", "«", "", "»", "")

// AsksForAudit reports whether a text has a verb that asks for an audit, or asks whether
// something keeps a rule.
func AsksForAudit(s string) bool {
	return hasAny(language.Words(language.Commands(s)), auditVerbs) || asksIfKept.MatchString(s)
}

// HasText reports whether s has enough words for a text to audit, beside those of the
// instruction.
func HasText(s string) bool { return hasText(s, minAuditText) }

// isSentence matches what is no name: it begins with a person, or ends like a sentence.
var isSentence = lazyregexp.New(`(?i)^\W*(?:i|we|you|he|she|they|it|our|my|dear|hi|hello|please|ich|wir|je|nous|yo|ik|wij)\b|[.!?]\W*$`)

// hasShortText reports whether what the marks of a message set off is a text to audit.
func hasShortText(s string) bool {
	n := len(language.Words(s))
	return n >= minQuotationWords && hasText(s, minQuotation) || n >= minSentenceWords && isSentence.MatchString(s) && hasText(s, 0)
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
