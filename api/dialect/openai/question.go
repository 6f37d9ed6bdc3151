package openai

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/palaver-chat/palaver/chat"
)

// ShowQuestion returns a question as plain text with numbered choices.
func ShowQuestion(q chat.Interrupt) string {
	var b strings.Builder
	b.WriteString(q.Message)
	for _, c := range q.Calls {
		b.WriteString("\n\n`" + c.Name + "` with:\n\n```json\n" + strings.ReplaceAll(chat.Arguments(string(c.Arguments)), "```", "` ` `") + "\n```")
	}
	b.WriteString("\n")
	for i, o := range choices(q) {
		b.WriteString("\n" + strconv.Itoa(i+1) + ". " + o.Label)
	}
	return strings.TrimSpace(b.String())
}

const (
	approve = "approve"
	reject  = "reject"
)

// choices returns the options that a text answer can choose.
func choices(q chat.Interrupt) []chat.Option {
	if q.Type == chat.ToolApproval {
		return []chat.Option{{ID: approve, Label: "Approve"}, {ID: reject, Label: "Reject"}}
	}
	return slices.DeleteFunc(slices.Clone(q.Options), func(o chat.Option) bool {
		return q.Type == chat.RetrievalLow && o.ID == chat.OptionTagDocs // needs documents, which a text cannot tag
	})
}

var (
	number  = regexp.MustCompile(`^(?i:(?:option|choice|number|#)\s*)?\(?(\d{1,4})[.):]?(?:\s+(.*))?$`)
	ordinal = regexp.MustCompile(`^(?:the )?(first|second|third|fourth|fifth)(?: one| option| choice)?$`)
	nth     = []string{"first", "second", "third", "fourth", "fifth"}
	yes     = []string{"yes", "y", "yes please", "ok", "okay", "sure", "go ahead", "yes go ahead", "approve", "approved", "ja", "ja bitte"}
	no      = []string{"no", "n", "no thanks", "no thank you", "reject", "rejected", "nein", "nein danke"}
	afterNo = regexp.MustCompile(`(?is)^(?:no|reject|nein)\s*[,:.;-]\s*(.+)$`)
)

// ReadAnswer reads an answer to a question: the number of a choice or its words. If the
// question asks for a text, any text answers it. answers is false for other texts, which
// are new messages.
func ReadAnswer(q chat.Interrupt, text string) (_ chat.ResumeValue, answers bool) {
	text = strings.TrimSpace(text)
	if q.Type == chat.TextInput {
		return chat.ResumeValue{Type: q.Type, Value: &text}, text != ""
	}
	id, ok := chosen(choices(q), text)
	if q.Type != chat.ToolApproval {
		return chat.ResumeValue{Type: q.Type, Value: &id}, ok
	}
	reason := ""
	switch said := plain(text); {
	case ok:
	case slices.Contains(yes, said):
		id, ok = approve, true
	case slices.Contains(no, said):
		id, ok = reject, true
	default:
		if m := afterNo.FindStringSubmatch(text); m != nil && len(m[1]) <= chat.MaxReason {
			id, ok, reason = reject, true, m[1]
		}
	}
	v := chat.ResumeValue{Type: q.Type}
	for _, c := range q.Calls {
		d := chat.Decision{ID: c.ID, Decision: chat.Approved}
		if id == reject {
			d.Decision, d.Reason = chat.Rejected, reason
		}
		v.Decisions = append(v.Decisions, d)
	}
	return v, ok
}

func chosen(options []chat.Option, text string) (id string, ok bool) {
	if m := number.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1]) // cannot fail: at most four digits
		if n >= 1 && n <= len(options) && (m[2] == "" || plain(m[2]) == plain(options[n-1].Label)) {
			return options[n-1].ID, true
		}
	}
	said := plain(text)
	if m := ordinal.FindStringSubmatch(said); m != nil {
		if n := slices.Index(nth, m[1]); n < len(options) {
			return options[n].ID, true
		}
	}
	for _, o := range options {
		if said != "" && (said == plain(o.Label) || said == plain(o.ID)) {
			return o.ID, true
		}
	}
	return "", false
}

// plain returns the words of a text in lower case, without punctuation.
func plain(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r)
	}), " ")
}
