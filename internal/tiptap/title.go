package tiptap

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/chat"
)

// TitleWords returns the words of a message that can be the title of its conversation. Mentions
// at its beginning, which attached files have, are left out, unless there are no other words.
// Names of other mentions lose their "@".
func TitleWords(c chat.Content) string {
	if len(c.TipTap) == 0 {
		return c.Message
	}
	doc, err := Read(c.TipTap)
	names := doc.Labels()
	if err != nil || len(names) == 0 {
		return c.Message
	}
	slices.SortStableFunc(names, func(a, b string) int { return len(b) - len(a) })
	for i := range names {
		names[i] = regexp.QuoteMeta(names[i])
	}
	mention := "@(" + strings.Join(names, "|") + ")"
	words := regexp.MustCompile(`^\s*(?:`+mention+`(?:\s+|$))+`).ReplaceAllString(c.Message, "")
	words = cmp.Or(words, c.Message)
	return regexp.MustCompile(mention+`([^\pL\pN]|$)`).ReplaceAllString(words, "$1$2")
}
