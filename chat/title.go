package chat

import (
	"strings"
	"unicode/utf8"
)

// MaxTitle is the length of a title made from a message, in characters.
const MaxTitle = 60

// TitleFrom is a message's beginning, cut between words: what a conversation is
// called until somebody gives it a name.
func TitleFrom(message string) string {
	title := strings.Join(strings.Fields(message), " ")
	if utf8.RuneCountInString(title) <= MaxTitle {
		return title
	}
	end, n := 0, 0 // before the last character that fits
	for end = range title {
		if n++; n == MaxTitle {
			break
		}
	}
	head := title[:end]
	if i := strings.LastIndexByte(head, ' '); i > 0 && title[end] != ' ' {
		head = head[:i]
	}
	return strings.TrimRight(head, " ,;:.-") + "…"
}
