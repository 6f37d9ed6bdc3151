package extract

import (
	"context"
	"unicode/utf8"
)

var plainText = Type{
	Name:       "txt",
	Label:      "Text",
	Extensions: []string{".txt", ".text", ".log", ".json", ".jsonl"},
	MediaTypes: []string{"text/plain", "application/json"},
	Read:       decode,
	content: func(ctx context.Context, raw []byte) (Content, error) {
		text, err := decode(ctx, raw)
		if err != nil {
			return Content{}, err
		}
		text = clean(text)
		if c, isMail, err := textMail(ctx, raw, text); isMail {
			return c, err
		}
		return textContent(text, false)
	},
}

// decode reads a text file in any encoding that can be recognised.
func decode(_ context.Context, raw []byte) (string, error) { return toUTF8(raw, "") }

// mostlyUTF8 reports whether raw is UTF-8 with a few broken bytes rather than
// another encoding.
func mostlyUTF8(raw []byte) bool {
	good, bad := 0, 0
	for len(raw) > 0 {
		r, n := utf8.DecodeRune(raw)
		switch {
		case r == utf8.RuneError && n == 1:
			bad++
		case n > 1:
			good++
		}
		raw = raw[n:]
	}
	return good > bad
}
