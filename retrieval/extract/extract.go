// Package extract turns an upload into the plain text that is stored, searched
// and quoted. Whatever the bytes are, it ends in bounded time and memory.
package extract

import (
	"context"
	"fmt"
	"strings"
	"unicode"
)

// MaxText is the longest text kept of a document, in bytes.
const MaxText = 50 << 20

// Source types, as chat.Document.SourceType has them.
const (
	TXT  = "txt"
	MD   = "md"
	HTML = "html"
	PDF  = "pdf"
)

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
)

// Text returns the text of raw, which is of one of the four source types. It is
// valid UTF-8 without control characters, lines end in "\n", and headings of
// HTML stand as markdown ones. The error is *Unreadable when there is no text; any
// other error (a context that ended, a process that could not start) can be retried.
// A PDF is read for at most a minute.
func Text(ctx context.Context, sourceType string, raw []byte) (string, error) {
	if len(raw) == 0 {
		return "", errEmpty
	}
	text, err := read(ctx, sourceType, raw)
	if err != nil {
		return "", err
	}
	text = clean(text)
	switch {
	case len(text) > MaxText:
		return "", errTooLarge
	case strings.IndexFunc(text, alphanumeric) < 0:
		return "", errNoText
	}
	return text, nil
}

func read(ctx context.Context, sourceType string, raw []byte) (string, error) {
	switch sourceType {
	case TXT, MD:
		return decode(raw)
	case HTML:
		return htmlText(raw)
	case PDF:
		return pdfText(ctx, raw)
	}
	return "", fmt.Errorf("unknown source type %q", sourceType)
}

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

func alphanumeric(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
