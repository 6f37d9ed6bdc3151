package mention

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/internal/language"
)

// mayName reports whether a message may contain the name of a document: a capital or
// a digit within a sentence, a file name, or a quotation.
func mayName(message string) bool {
	for i := 0; i < len(message); {
		r, size := utf8.DecodeRuneInString(message[i:])
		if unicode.IsSpace(r) {
			i += size
			continue
		}
		j := i + strings.IndexFunc(message[i:]+" ", unicode.IsSpace)
		word := strings.Trim(message[i:j], ".,;:!?()[]")
		switch bare := strings.ToLower(word); {
		case bare == "i" || strings.HasPrefix(bare, "i'") || strings.HasPrefix(bare, "i’"):
		case language.WithoutExtension(word) != word, strings.ContainsAny(word, language.OpeningDoubleQuotes+"`"):
			return true
		case strings.ContainsFunc(word, unicode.IsDigit) && strings.ContainsFunc(word, unicode.IsLetter):
			return true
		case strings.ContainsFunc(word, unicode.IsLetter) && looksNamed(message, i, j):
			return true
		}
		i = j
	}
	return false
}

// looksNamed reports whether message[i:j] has a digit, or a capital that does not
// begin a sentence.
func looksNamed(message string, i, j int) bool {
	for _, f := range strings.Fields(message[i:j]) {
		if strings.ContainsFunc(f, unicode.IsDigit) {
			return true
		}
		rest := f
		if first, size := utf8.DecodeRuneInString(f); unicode.IsUpper(first) {
			at := i + strings.Index(message[i:j], f)
			if !startsSentence(message[:at]) {
				return true
			}
			rest = f[size:]
		}
		if strings.ContainsFunc(rest, unicode.IsUpper) {
			return true
		}
	}
	return caseless(message[i:j])
}

func startsSentence(before string) bool {
	before = strings.TrimRight(before, " \t\"'“‘(@*-")
	if before == "" {
		return true
	}
	last, _ := utf8.DecodeLastRuneInString(before)
	return strings.ContainsRune(".!?:\n\r", last)
}

// caseless reports whether s has letters of a script without capitals, where these
// rules cannot recognize a name.
func caseless(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsLetter(r) && unicode.ToUpper(r) == unicode.ToLower(r)
	})
}

// isPlausibleName reports whether a name that a model found can name a document: the
// message has its words, and it says more than "that regulation".
func isPlausibleName(name, message string) bool {
	said := language.Words(message)
	named := language.Words(name)
	for _, w := range named {
		if !slices.Contains(said, w) {
			return false
		}
	}
	telling := slices.ContainsFunc(named, func(w string) bool {
		return !language.Determiners[w] && !language.Pointing[w] && !language.TitleNouns[w]
	})
	noun := slices.ContainsFunc(named, func(w string) bool { return language.TitleNouns[w] })
	i, j := language.FindName(message, strings.TrimSpace(name), 0)
	return telling && (noun || i >= 0 && (looksNamed(message, i, j) || language.IsQuoted(message, i, j)) || language.WithoutExtension(name) != name)
}

// mentionsDocument reports whether a message refers to a document without a name.
func mentionsDocument(message string) bool {
	return slices.ContainsFunc(language.Words(message), func(w string) bool { return language.Pointing[w] || language.TitleNouns[w] })
}

// refersBack reports whether a message refers to something said before.
func refersBack(message string) bool {
	return slices.ContainsFunc(language.Words(message), func(w string) bool { return language.Pointing[w] })
}
