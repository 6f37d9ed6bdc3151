package postgres

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/db/internal/record"
)

// storable replaces NUL and invalid UTF-8, which Postgres refuses, by U+FFFD. The
// number of characters does not change, so offsets stay valid.
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

// terms returns the words of a text without accents, separated by blanks. It splits
// like SQLite, not like Postgres's parser, which keeps host names, paths and
// hyphenated words in one piece.
func terms(text string) (string, int) {
	text = record.Indexed(text)
	var b strings.Builder
	b.Grow(len(text))
	count, inWord := 0, false
	for _, r := range record.WithoutAccents(text) {
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

// maxTerms limits the bytes of one chunk that are indexed; Postgres refuses a
// tsvector of a megabyte.
const maxTerms = 256 << 10
