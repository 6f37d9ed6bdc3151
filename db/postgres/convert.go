package postgres

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// storable replaces in texts what Postgres refuses, NUL and what is not UTF-8,
// by U+FFFD. The number of characters stays, and with it every offset.
func storable(args []any) []any {
	for i, arg := range args {
		switch v := arg.(type) {
		case string:
			args[i] = storableText(v)
		case []string:
			for j, s := range v {
				if clean := storableText(s); clean != s {
					v = append(append(append([]string{}, v[:j]...), clean), v[j+1:]...)
				}
			}
			args[i] = v
		}
	}
	return args
}

func storableText(s string) string {
	if utf8.ValidString(s) && !strings.Contains(s, "\x00") {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r == 0 {
			return utf8.RuneError
		}
		return r
	}, s)
}

// terms are the words of a text without accents, blanks between them: cut as
// SQLite cuts them, not by Postgres's parser, which takes host names, paths and
// hyphenated words whole.
func terms(text string) (string, int) {
	var b strings.Builder
	b.Grow(len(text))
	count, inWord := 0, false
	for _, r := range norm.NFD.String(text) {
		switch {
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			if !inWord {
				if b.Len() > maxTerms {
					return b.String(), count
				}
				count++
				b.WriteByte(' ')
			}
			inWord = true
			b.WriteRune(unicode.ToLower(r))
		case unicode.Is(unicode.Mn, r): // an accent
		default:
			inWord = false
		}
	}
	return b.String(), count
}

// maxTerms bounds what is indexed of one chunk, in bytes; Postgres refuses a
// tsvector of a megabyte.
const maxTerms = 256 << 10

// inOrder arranges rows as ids asks for them, as often as it does, and leaves
// out ids without a row.
func inOrder[ID comparable, Row, Item any](ids []ID, rows []Row, id func(Row) ID, convert func(Row) Item) []Item {
	byID := make(map[ID]Row, len(rows))
	for _, row := range rows {
		byID[id(row)] = row
	}
	items := make([]Item, 0, len(rows))
	for _, want := range ids {
		if row, ok := byID[want]; ok {
			items = append(items, convert(row))
		}
	}
	return items
}
