package prompt

import (
	"strconv"
	"strings"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/sentence"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
)

// maxComparisons is the number of comparisons of figures in a prompt.
const maxComparisons = 20

// comparisons lists the figures of the text under audit that break the limit of a rule with
// a word in common, for models that do not calculate.
func (m Material) comparisons() string {
	if m.Action != chat.Audit {
		return ""
	}
	var lines []string
	for _, t := range sentence.Sentences(m.Audited) {
		for _, p := range m.Passages {
			for _, rule := range sentence.Sentences(p.Text) {
				if len(lines) == maxComparisons {
					break
				}
				if !sharesSubject(rule.Text, t.Text) {
					continue
				}
				for _, x := range language.Beyond(rule.Text, t.Text) {
					lines = append(lines, "- "+x.String()+" ["+strconv.Itoa(p.N)+"]")
				}
			}
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return "<comparisons>\n" + llm.Data(strings.Join(language.Distinct(lines), "\n")) + "\n</comparisons>\n"
}

// sharesSubject reports whether two sentences share a word that is no amount.
func sharesSubject(a, b string) bool {
	stems := language.StemsOf(a)
	for stem := range language.StemsOf(b) {
		if stems[stem] && !language.IsAmountStem(stem) {
			return true
		}
	}
	return false
}
