package imports

import (
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/palaver-chat/palaver/documents/extract"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/naming"
)

// maxTitle is the length of the longest title, in characters.
const maxTitle = 300

// title makes a document's title of a file's name or a page's title: one line without
// control characters and path separators, and without the extension of a known type.
// Without a name it is the last part of the address.
func title(name, address string, types extract.Types) string {
	t := oneLine(name)
	if t == "" {
		t = oneLine(lastPart(address))
	}
	if extension := path.Ext(t); extension != t && known(types, strings.ToLower(extension)) {
		t = strings.TrimSpace(strings.TrimSuffix(t, extension))
	}
	if t = strings.Trim(t, ". "); t == "" {
		return "Untitled"
	}
	return language.Truncate(naming.Normal(t), maxTitle)
}

// fileName returns the end of a name, which is enough to find the file's type.
func fileName(name string) string {
	name = oneLine(name)
	if runes := []rune(name); len(runes) > maxTitle {
		return string(runes[len(runes)-maxTitle:])
	}
	return name
}

func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '/' || r == '\\':
			return '-'
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r): // Cf: directions, zero widths
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Join(strings.Fields(s), " ")
}

func lastPart(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	if last := path.Base(u.Path); last != "/" && last != "." {
		return last
	}
	return u.Hostname()
}

func known(types extract.Types, extension string) bool {
	return slices.ContainsFunc(types, func(t extract.Type) bool { return slices.Contains(t.Extensions, extension) })
}
