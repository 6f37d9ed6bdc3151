// Package extract turns an upload into the plain text that is stored, searched
// and quoted. Its time and memory are bounded for any input.
package extract

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/palaver-chat/palaver/chat/messages"
)

// MaxText is the maximum length of a document's text, in bytes.
const MaxText = 50 << 20

// Unreadable is the error for an upload without readable text. A retry cannot help.
// Reason is a sentence for the person who uploaded it.
type Unreadable struct {
	Reason  string
	message messages.Message // the same, when it is one of Palaver's own
}

// Message returns the reason.
func (u *Unreadable) Message() messages.Message {
	if u.message.Code != "" {
		return u.message
	}
	return messages.Plain(u.Reason)
}

func unreadable(m messages.Message) *Unreadable { return &Unreadable{m.Text, m} }

func (u *Unreadable) Error() string { return "unreadable document: " + u.Reason }

var (
	errEmpty       = unreadable(messages.FileEmpty)
	errNoText      = unreadable(messages.FileNoText)
	errNotText     = unreadable(messages.FileNotText)
	errEncoding    = unreadable(messages.FileEncoding)
	errTooLarge    = unreadable(messages.FileTooLarge)
	errEncrypted   = unreadable(messages.PDFEncrypted)
	errScanned     = unreadable(messages.PDFScanned)
	errGarbled     = unreadable(messages.PDFGarbled)
	errAdobeForm   = unreadable(messages.PDFAdobeForm)
	errPictureText = unreadable(messages.PictureText)
	errDamaged     = unreadable(messages.PDFDamaged)
	errTooLong     = unreadable(messages.PDFTooSlow)

	errDamagedFile = unreadable(messages.FileDamaged)
	errOldOffice   = unreadable(messages.FileOldOffice)
	errTooSlow     = unreadable(messages.FileTooSlow)
)

// clean composes characters (NFC), normalises line ends and drops invisible characters: control characters,
// soft hyphens, byte order marks, and the noncharacter that pdfium writes for a
// hyphen at a line's end.
func clean(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	prev := rune(0)
	for _, r := range norm.NFC.String(s) {
		switch {
		case r == '\n' && prev == '\r':
		case r == '\r', r == '\f', r == '\v', r == '\u0085', r == '\u2028', r == '\u2029':
			b.WriteByte('\n')
		case r == '\n', r == '\t':
			b.WriteRune(r)
		case unicode.IsControl(r), r == '\u00ad', r == '\ufeff', r == '\ufffe', r == '\uffff':
		default:
			b.WriteRune(r)
		}
		prev = r
	}
	return b.String()
}
