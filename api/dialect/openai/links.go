package openai

import (
	"regexp"
	"strings"
)

// links turns the pictures of an answer into links with the server's address. Other pages
// may not embed them: they are their owner's alone.
type links struct {
	origin string
	held   string // a picture that has begun
}

var (
	picture   = regexp.MustCompile(`!\[([^\]\n]*)\]\((/api/attachments/[^()\s]*)\)`)
	addressed = regexp.MustCompile(`https?://[^()/\s]*/api/attachments/`)
)

// maxHeld limits what is held back of a picture.
const maxHeld = 1000

// pass returns what can be sent. What may be the beginning of a picture is held back
// until more of the text is there; final: no more follows.
func (l *links) pass(text string, final bool) string {
	text = l.held + text
	l.held = ""
	if i := beginsPicture(text); i >= 0 && !final {
		text, l.held = text[:i], text[i:]
	}
	return picture.ReplaceAllStringFunc(text, func(s string) string {
		m := picture.FindStringSubmatch(s)
		return "[" + m[1] + "](" + l.origin + m[2] + ")"
	})
}

// beginsPicture is where a picture begins that has not ended; -1: nowhere.
func beginsPicture(text string) int {
	if strings.HasSuffix(text, "!") {
		return len(text) - 1
	}
	i := strings.LastIndex(text, "![")
	if i < 0 || len(text)-i > maxHeld || strings.ContainsAny(text[i:], ")\n") {
		return -1
	}
	return i
}

// withoutAddress drops the server's address from links, as clients may know it by several.
func withoutAddress(text string) string {
	return addressed.ReplaceAllString(text, "/api/attachments/")
}
