package extract

import (
	"bytes"
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	utf16 "golang.org/x/text/encoding/unicode"
)

var plainText = Type{
	Name:       "txt",
	Label:      "Text",
	Extensions: []string{".txt", ".text"},
	MediaTypes: []string{"text/plain"},
	Read:       decode,
}

// decode reads plain text: UTF-8, UTF-16, else Windows-1252 (which is Latin-1
// with the quotes and dashes that people type).
func decode(_ context.Context, raw []byte) (string, error) {
	if e := utf16Order(raw); e != nil {
		return decodeWith(e, raw)
	}
	if !utf8.Valid(raw) {
		if mostlyUTF8(raw) {
			return asText(strings.ToValidUTF8(string(raw), "\ufffd"))
		}
		return decodeWith(charmap.Windows1252, raw)
	}
	return asText(string(raw))
}

func decodeWith(e encoding.Encoding, raw []byte) (string, error) {
	out, err := e.NewDecoder().Bytes(raw)
	if err != nil {
		return "", errNotText
	}
	return asText(string(out))
}

// asText returns s, or errNotText if more than one character in a hundred is a control or
// replacement character.
func asText(s string) (string, error) {
	bad, all := 0, 0
	for _, r := range s {
		all++
		if r == utf8.RuneError || unicode.IsControl(r) && !unicode.IsSpace(r) {
			bad++
		}
	}
	if bad*100 > all {
		return "", errNotText
	}
	return s, nil
}

// utf16Order recognises UTF-16 by its byte order mark, or by every other byte
// being zero as in Western text; nil when it is not UTF-16.
func utf16Order(raw []byte) encoding.Encoding {
	switch {
	case bytes.HasPrefix(raw, []byte{0xff, 0xfe}):
		return utf16.UTF16(utf16.LittleEndian, utf16.UseBOM)
	case bytes.HasPrefix(raw, []byte{0xfe, 0xff}):
		return utf16.UTF16(utf16.BigEndian, utf16.UseBOM)
	}
	head := raw[:min(len(raw), 4096)&^1]
	var zeros [2]int
	for i, b := range head {
		if b == 0 {
			zeros[i%2]++
		}
	}
	half := len(head) / 2
	switch {
	case half < 4:
	case zeros[1]*10 > half*7 && zeros[0]*10 < half:
		return utf16.UTF16(utf16.LittleEndian, utf16.IgnoreBOM)
	case zeros[0]*10 > half*7 && zeros[1]*10 < half:
		return utf16.UTF16(utf16.BigEndian, utf16.IgnoreBOM)
	}
	return nil
}

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
