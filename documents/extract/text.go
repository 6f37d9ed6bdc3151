package extract

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/internal/lazyregexp"
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
		return textContent(jsonLetters(text), false)
	},
}

var escapedLetters = lazyregexp.New(`\\\\|(?:\\u[0-9A-Fa-f]{4})+`)

// jsonLetters returns JSON, or lines of it, with the letters that programs write as numbers:
// "M\u00fcller". Other texts, and ASCII, stay as they are.
func jsonLetters(text string) string {
	if first := strings.TrimLeft(text, " \n"); first == "" || !strings.ContainsAny(first[:1], "{[\"") || !strings.Contains(text, `\u`) {
		return text
	}
	for in := json.NewDecoder(strings.NewReader(text)); ; {
		var value json.RawMessage
		if err := in.Decode(&value); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return text
		}
	}
	return escapedLetters.ReplaceAllStringFunc(text, func(escaped string) string {
		var letters string
		if json.Unmarshal([]byte(`"`+escaped+`"`), &letters) != nil || strings.ContainsFunc(letters, func(r rune) bool { return r <= unicode.MaxASCII || !unicode.IsGraphic(r) || r == utf8.RuneError }) {
			return escaped
		}
		return letters
	})
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
