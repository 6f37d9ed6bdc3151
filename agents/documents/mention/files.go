package mention

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
)

// span is a part of a message, in bytes, and its replacement.
type span struct {
	from, to int
	instead  string
}

// withTitles replaces file names, which models do not know, with titles. It keeps a name
// inside a title or inside a longer name. It also keeps a single word that may not be a name
// ("notes"), unless it has a file's extension or quotation marks.
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

// extensionLen returns the length of the file extension at the start of s; 0 without one.
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
