package chat

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// OneLine makes a name of one line: every run of blanks, line breaks and control
// characters is one blank. Characters that turn the direction of a text around are
// dropped: they could make a name look like another one. The NUL character stays, for the
// API to refuse.
func OneLine(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069':
			return -1
		case r != 0 && unicode.IsControl(r):
			return ' '
		}
		return r
	}, name)
	return strings.Join(strings.Fields(name), " ")
}

// MaxTitle is the length of a title made from a message, in characters.
const MaxTitle = 60

// TitleFrom returns the beginning of a message, cut between words: the title of a
// conversation until the user renames it.
func TitleFrom(message string) string {
	title := OneLine(message)
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
