package openai

import (
	"regexp"
	"strings"
)

// links replaces the pictures of an answer with links to this server. Pages of other
// servers cannot embed the pictures, because only their owner may load them.
type links struct {
	origin string
	held   string // the beginning of a picture whose end has not arrived
}

var (
	picture   = regexp.MustCompile(`!\[([^\]\n]*)\]\((/api/attachments/[^()\s]*)\)`)
	addressed = regexp.MustCompile(`https?://[^()/\s]*/api/attachments/`)
)

// maxHeld limits, in bytes, the text that is held back.
const maxHeld = 1000

// pass returns the text that can be sent now. It holds back a possible beginning of a
// picture until more text arrives; final means that no more text follows.
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

// beginsPicture returns the index of an unfinished picture at the end of text, -1 without
// one.
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

// withoutAddress drops the server's address from links to attachments, because clients may
// use several addresses of one server.
func withoutAddress(text string) string {
	return addressed.ReplaceAllString(text, "/api/attachments/")
}
