package language

import (
	"strings"
	"unicode"

	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

// Token is a word of a document's name. Names are compared token by token;
// "BankNegara2024" has three.
type Token struct {
	Stem    string
	Version bool   // v2, 2024
	Raw     string // in lower case
}

// Is reports whether two tokens count as equal in a name.
func (t Token) Is(o Token) bool { return t.Stem == o.Stem && t.Version == o.Version }

// Word is a token with its place in a text.
type Word struct {
	Token
	Stop  bool // a stop word
	Start int  // in characters
	Apart bool // punctuation stands before it: a new phrase begins
}

var (
	version       = lazyregexp.New(`^(?:v\d+(?:\.\d+)*|\d+(?:\.\d+)*)$`)
	yearOrVersion = lazyregexp.New(`^(?:(?:19|20)\d\d|v\d+(?:\.\d+)*)$`)
	versionNumber = lazyregexp.New(`(?i)\b(?:version|ver|rev|revision)[ .]?(\d)`)
)

// A version whose number is written in words.
var (
	versionWord   = lazyregexp.New(`(?i)\b(?:version|revision)[ .](?:one|two|three|four|five)\b`)
	countingWords = map[string]string{"one": "1", "two": "2", "three": "3", "four": "4", "five": "5"}
)

// IsVersion reports whether a lower-case word is a number or a version such as v2.
func IsVersion(w string) bool { return version.MatchString(w) }

// IsYearOrVersion reports whether a lower-case word is a year or a version such as v2.
func IsYearOrVersion(w string) bool { return yearOrVersion.MatchString(w) }

// IsAlphanumeric reports whether a character is a letter or digit of any script.
func IsAlphanumeric(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// IsIdeograph reports whether a character belongs to a script that puts no spaces between words.
func IsIdeograph(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }

// Scan cuts a text at every character that is not a letter, its mark or a digit, between letters
// and digits, and before a capital that follows a small letter. Words have no marks that may be
// left out. In scripts without spaces, words are pairs of characters, which overlap.
func Scan(text string) []Word {
	s := scanner{runes: []rune(text)}
	for i, r := range s.runes {
		switch {
		case IsDense(r):
			s.dense(i)
			continue
		case s.isInside(i):
		case unicode.IsMark(r):
			if len(s.letters) > 0 && !isAccent(r) {
				s.letters = append(s.letters, r)
			}
			continue
		case !IsAlphanumeric(r):
			s.end()
			s.apart = s.apart || strings.ContainsRune(",;:.!?()[]{}\"“”«»\n", r)
			continue
		case s.splitsBefore(r):
			s.end()
		}
		if len(s.letters) == 0 {
			s.start = i
		}
		s.letters = append(s.letters, r)
	}
	s.end()
	return s.words
}

type scanner struct {
	runes   []rune
	words   []Word
	letters []rune // of the word that is being read
	start   int
	apart   bool
}

// isInside reports whether the character is an apostrophe or a decimal point.
func (s *scanner) isInside(i int) bool {
	switch s.runes[i] {
	case '\'', '’':
		return true
	case '.':
		return i > 0 && i+1 < len(s.runes) && unicode.IsDigit(s.runes[i-1]) && unicode.IsDigit(s.runes[i+1])
	}
	return false
}

// splitsBefore reports whether a letter or digit begins a new word without a gap.
func (s *scanner) splitsBefore(r rune) bool {
	if len(s.letters) == 0 {
		return false
	}
	last := s.letters[len(s.letters)-1]
	isV := len(s.letters) == 1 && (last == 'v' || last == 'V')
	return unicode.IsUpper(r) && unicode.IsLower(last) ||
		unicode.IsDigit(r) && unicode.IsLetter(last) && !isV ||
		unicode.IsLetter(r) && unicode.IsDigit(last)
}

// dense adds the pair of characters that begins at i, or the one at i if no other one stands
// beside it.
func (s *scanner) dense(i int) {
	s.end()
	next := i + 1
	for next < len(s.runes) && unicode.IsMark(s.runes[next]) {
		next++
	}
	switch {
	case unicode.IsMark(s.runes[i]):
		return
	case next < len(s.runes) && IsDense(s.runes[next]):
		next++
		for next < len(s.runes) && unicode.IsMark(s.runes[next]) {
			next++
		}
	case i > 0 && IsDense(s.runes[i-1]): // the last of the run
		return
	}
	s.start, s.letters = i, append(s.letters, s.runes[i:next]...)
	s.end()
}

// end adds the word that was read, if there is one.
func (s *scanner) end() {
	w := strings.ToLower(strings.Trim(string(s.letters), ".'’"))
	s.letters = s.letters[:0]
	w = strings.TrimSuffix(strings.TrimSuffix(w, "'s"), "’s")
	w = strings.ReplaceAll(w, "ß", "ss")
	if w == "" {
		return
	}
	x := Word{Token: Token{Stem: w, Version: IsVersion(w), Raw: w}, Start: s.start, Apart: s.apart}
	if !x.Version {
		x.Stem, x.Stop = Stem(w), IsStopWord(w)
	}
	s.words = append(s.words, x)
	s.apart = false
}

// NormalizeName drops a file extension at the end of a text, and writes "version 2" as
// "v2".
func NormalizeName(text string) string {
	text = versionWord.ReplaceAllStringFunc(WithoutExtension(text), func(s string) string {
		return "v" + countingWords[strings.ToLower(s[strings.IndexAny(s, " .")+1:])]
	})
	return versionNumber.ReplaceAllString(text, "v$1")
}

// TitleTokens returns the tokens of a document's name without stop words.
func TitleTokens(name string) []Token {
	var tokens []Token
	for _, w := range Scan(NormalizeName(name)) {
		if !w.Stop {
			tokens = append(tokens, w.Token)
		}
	}
	return tokens
}
