// Package extract turns an upload into the plain text that is stored, searched
// and quoted. Its time and memory are bounded for any input.
package extract

import (
	"strings"
	"unicode"
)

// MaxText is the maximum length of a document's text, in bytes.
const MaxText = 50 << 20

// Unreadable is the error for an upload without readable text. A retry cannot help.
// Reason is a sentence for the person who uploaded it.
type Unreadable struct{ Reason string }

func (u *Unreadable) Error() string { return "unreadable document: " + u.Reason }

var (
	errEmpty     = &Unreadable{"The file is empty."}
	errNoText    = &Unreadable{"The file contains no text."}
	errNotText   = &Unreadable{"The file is not text, or its encoding is not known."}
	errTooLarge  = &Unreadable{"The document is too large to be read."}
	errEncrypted = &Unreadable{"The PDF is protected by a password. Please upload a copy without one."}
	errScanned   = &Unreadable{"The PDF has no text to read; it seems to be scanned. Please upload a copy with recognised text."}
	errDamaged   = &Unreadable{"The PDF is damaged and cannot be read."}
	errTooLong   = &Unreadable{"Reading the PDF took too long."}

	errDamagedFile = &Unreadable{"The file is damaged and cannot be read."}
	errOldOffice   = &Unreadable{"The file has a password, or was made for Office before 2007. Please upload a copy without one as .docx, .xlsx or .pptx."}
	errTooSlow     = &Unreadable{"Reading the file took too long."}
)

// clean normalises line ends and drops invisible characters: control characters,
// soft hyphens, byte order marks, and the noncharacter that pdfium writes for a
// hyphen at a line's end.
func clean(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	prev := rune(0)
	for _, r := range s {
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
