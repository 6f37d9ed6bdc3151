package postgres

import (
	"encoding/json"
	"strings"
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

// frequenciesOf returns how often each term stands in a passage, as JSON, and the number of terms. One
// in the heading counts half.
func frequenciesOf(text, heading, lang string) (frequencies string, words int64) {
	counts := map[string]float64{}
	for _, t := range record.Terms(text, lang) {
		counts[t]++
		words++
	}
	for _, t := range record.Terms(heading, lang) {
		counts[t] += 0.5
		words++
	}
	b, _ := json.Marshal(counts) // cannot fail
	return string(b), words
}
