package chat

import (
	"strings"
	"unicode/utf8"
)

// MaxTitle is the length of a title made from a message, in characters.
const MaxTitle = 60

// TitleFrom returns the beginning of a message, cut between words: the title of a
// conversation until the user renames it.
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
