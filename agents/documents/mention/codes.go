package mention

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
)

const (
	maxCodes      = 3   // codes of a message that are looked up
	maxCodeWord   = 6   // letters of a word of a code
	maxCodeNumber = 6   // digits of its number
	codeHead      = 300 // characters at the beginning of a document where a code is its own
	maxCodeLabel  = 64  // bytes before a code that are read for its label
)

// Code is a part of a message that may be a document's code: "HR-POL-11", "hr pol 11".
type Code struct {
	Words []string // to search for
	keys  []code   // the longest first
}

type code struct {
	key      string
	from, to int // bytes of the message
}

// PossibleCodes returns the codes in a message that no title has. A document may have its
// code only in its text.
func PossibleCodes(message string, docs []chat.Document) []Code {
	if !strings.ContainsFunc(message, unicode.IsDigit) {
		return nil
	}
	titled := map[string]bool{}
	for _, d := range docs {
		for _, c := range codes(d.Title) {
			titled[codeKey(c)] = true
		}
	}
	var out []Code
	parts := word.FindAllStringIndex(message, -1)
	for end := range parts {
		if c := codeEndingAt(message, parts[:end+1]); len(c.keys) > 0 && len(out) < maxCodes {
			if !slices.ContainsFunc(c.keys, func(k code) bool { return titled[k.key] }) {
				out = append(out, c)
			}
		}
	}
	return out
}

// codeEndingAt returns the code that ends with the last of the parts, a number.
func codeEndingAt(message string, parts [][]int) (c Code) {
	last := parts[len(parts)-1]
	if !unicode.IsDigit(rune(message[last[0]])) || last[1]-last[0] > maxCodeNumber {
		return c
	}
	c.Words = []string{message[last[0]:last[1]]}
	for of := 2; of <= min(maxParts, len(parts)); of++ {
		run := parts[len(parts)-of:]
		w := strings.ToLower(message[run[0][0]:run[0][1]])
		key, joined := joinedCode(message, run)
		if !joined || !mayBeInCode(w) {
			break
		}
		c.Words = append(c.Words, w)
		c.Words = append(c.Words, splits(w)...)
		if utf8.RuneCountInString(key) > 2 {
			c.keys = slices.Insert(c.keys, 0, code{key, run[0][0], last[1]})
		}
	}
	return c
}

// notInCode are short words before a number that is no code.
var notInCode = language.Union(language.Common, language.TitleNouns, lists.Set("not in code"))

func mayBeInCode(w string) bool {
	return unicode.IsLetter(rune(w[0])) && utf8.RuneCountInString(w) <= maxCodeWord && !notInCode[w] && !language.IsStopWord(w)
}

// splits returns the ways to read a word as two words of a code: "hrpol" as "hr" and "pol".
func splits(w string) (out []string) {
	const shortest = 4
	for i := 1; len(w) >= shortest && i < len(w); i++ {
		if w[i] < utf8.RuneSelf && w[i-1] < utf8.RuneSelf {
			out = append(out, w[:i], w[i:])
		}
	}
	return out
}

// codeLabel matches a label before a document's own code.
var codeLabel = regexp.MustCompile(`(?i)(?:\b(?:document|doc|policy|file|reference|ref|number|no|nr|code|id|identifier)\b[.:#\s]*)+$`)

// IsOwn reports whether a passage states the code as the code of its own document. text is
// the passage, and start is where it begins in the document, in characters. from and to are
// the bytes of the message that are the code.
func (c Code) IsOwn(text string, start int) (from, to int, ok bool) {
	if !slices.ContainsFunc(c.keys, func(k code) bool { return k.endsIn(text) }) {
		return 0, 0, false
	}
	for _, m := range titleCode.FindAllStringIndex(text, -1) {
		written := codeKey(text[m[0]:m[1]])
		i := slices.IndexFunc(c.keys, func(k code) bool { return k.key == written })
		if i >= 0 && opensOwnCode(text[:m[0]], start) {
			return c.keys[i].from, c.keys[i].to, true
		}
	}
	return 0, 0, false
}

// opensOwnCode reports whether a document's own code follows: after a label, or at the start
// of a line near the beginning of the document. before is the text before the code, and
// start is where that text begins in the document.
func opensOwnCode(before string, start int) bool {
	line := strings.TrimRight(before, " \t*_#")
	if (line == "" || strings.HasSuffix(line, "\n")) && start+len(before) < codeHead {
		return true
	}
	return codeLabel.MatchString(before[max(0, len(before)-maxCodeLabel):])
}

// endsIn reports whether the last letter and the number of a code stand in a text. That is
// faster than to find all codes in the text.
func (k code) endsIn(text string) bool {
	digits := strings.LastIndexFunc(k.key, func(r rune) bool { return !unicode.IsDigit(r) }) + 1
	if digits == 0 || digits == len(k.key) {
		return false
	}
	letter, number := strings.ToUpper(k.key[digits-1:digits]), k.key[digits:]
	for rest := text; ; {
		i := strings.Index(rest, number)
		if i < 0 {
			return false
		}
		before := strings.TrimRight(text[:len(text)-len(rest)+i], "0")
		if n := len(before); n > 0 && joinsCode(before[n-1:]) {
			before = before[:n-1]
		}
		if strings.HasSuffix(before, letter) {
			return true
		}
		rest = rest[i+1:]
	}
}
