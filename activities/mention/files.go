package mention

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
)

// span is a part of a message, in bytes, and what is written instead of it.
type span struct {
	from, to int
	instead  string
}

// withTitles writes titles instead of the names of files, which models do not know. A
// name inside a title, or inside a longer name, stays; so does a single word that may be
// no name at all ("notes"), unless it has a file's extension or quotation marks.
func withTitles(message string, docs []chat.Document) string {
	lower := strings.ToLower(message)
	type entry struct{ name, title string }
	var entries []entry
	for _, d := range docs {
		for _, name := range namesOf(d) {
			if utf8.RuneCountInString(name) >= minTitle && strings.Contains(lower, strings.ToLower(name)) {
				entries = append(entries, entry{name, d.Title})
			}
		}
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return len(b.name) - len(a.name) })
	var spans []span
	for _, e := range entries {
		isTitle := slices.Contains(spellings(e.title), e.name)
		for i, j := language.FindName(message, e.name, 0); i >= 0; i, j = language.FindName(message, e.name, j) {
			s := span{from: i, to: j + extensionLen(message[j:]), instead: e.title}
			if isTitle {
				s.instead = message[s.from:s.to]
			}
			taken := slices.ContainsFunc(spans, func(o span) bool { return s.from < o.to && o.from < s.to })
			if !taken && (isTitle || isDistinctive(e.name) || s.to > j || language.IsQuoted(message, i, j)) {
				spans = append(spans, s)
			}
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	var out strings.Builder
	end := 0
	for _, s := range spans {
		out.WriteString(message[end:s.from] + s.instead)
		end = s.to
	}
	return out.String() + message[end:]
}

// extensionLen is the length of a file's extension at the start of s.
func extensionLen(s string) int {
	if !strings.HasPrefix(s, ".") {
		return 0
	}
	n := 1
	for n < len(s) && (s[n] >= 'a' && s[n] <= 'z' || s[n] >= 'A' && s[n] <= 'Z') {
		n++
	}
	if language.WithoutExtension("x"+s[:n]) == "x" {
		return n
	}
	return 0
}
