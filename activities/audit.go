package activities

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/retrieval/sentence"
)

// minAuditText is the least length of a text to audit in a message, in characters,
// without names and instruction.
const minAuditText = 40

var (
	auditVerbs = union(actionWords[chat.Audit], set("check checking review reviewing verify verifying assess assessing examine examining"))
	// instructing are words of the sentence that asks for an audit.
	instructing = union(common, documentNouns, auditVerbs, set(`
attached following below here above against whether conform conforms breach breaches break breaks issue issues
problem problems finding findings severe serious tell flag point out based per violated clause clauses`))
)

// auditText splits a message into the instruction and the text to audit. free is the
// message without the names of documents. The text is "" when there is too little of
// it: then the person is asked for it.
//
// These count as text: what follows the colon in "Audit this against X: <text>", a
// quotation, the lines or sentences after the instruction, and a message without any
// instruction.
func auditText(free string) (instruction, text string) {
	free = strings.TrimSpace(free)
	if body := quotation(free); hasOwnText(body) {
		return noQuotes.Replace(strings.Replace(free, body, "", 1)), body
	}
	parts := sentence.Sentences(free)
	if len(parts) == 0 {
		return free, ""
	}
	runes := []rune(free)
	first := string(runes[:parts[0].End])
	if !asksForAudit(first) {
		if last := parts[len(parts)-1]; len(parts) > 1 && asksForAudit(last.Text) {
			return last.Text, ownTextOrEmpty(string(runes[:last.Start])) // the text came first
		}
		if len(parts) == 1 && strings.HasSuffix(first, "?") {
			return free, ""
		}
		return "", ownTextOrEmpty(free)
	}
	if i := strings.IndexAny(first, ":\n"); i >= 0 && asksForAudit(first[:i]) && hasOwnText(free[i+1:]) {
		return first[:i], strings.TrimSpace(free[i+1:])
	}
	if rest := strings.TrimSpace(string(runes[parts[0].End:])); hasOwnText(rest) {
		return first, rest
	}
	return free, ""
}

var noQuotes = strings.NewReplacer(`"`, "", "“", "", "”", "", "«", "", "»", "")

func asksForAudit(s string) bool {
	for _, w := range words(s) {
		if auditVerbs[w] {
			return true
		}
	}
	return false
}

// hasOwnText reports whether s has enough words beside those of the instruction.
func hasOwnText(s string) bool {
	own := 0
	for _, w := range words(s) {
		if !instructing[w] {
			own += utf8.RuneCountInString(w)
		}
	}
	return utf8.RuneCountInString(strings.TrimSpace(s)) > minAuditText && own > minAuditText/3
}

func ownTextOrEmpty(s string) string {
	if s = strings.TrimSpace(s); !hasOwnText(s) {
		return ""
	}
	return s
}

// quotation is the longest text within double quotes.
func quotation(s string) string {
	longest := ""
	for {
		i := strings.IndexAny(s, "\"“«")
		if i < 0 {
			return longest
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		s = s[i+size:]
		j := strings.IndexAny(s, "\"”»")
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
